"""What mouse and keyboard do in the transcript: select, copy, open, follow links, go from message to message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip

from desktop import theme
from desktop.transcript.block_segments import CodeSegment
from desktop.transcript.flow import MarkdownRow
from desktop.transcript.inline import link_kind, link_path
from desktop.transcript.row_store import can_open
from desktop.transcript.segments import Action
from desktop.transcript.selection import Spot
from desktop.translations import tr

if TYPE_CHECKING:
    from desktop.transcript.list_view import TranscriptList

COPIED_MS = 1500


class Hands(QObject):
    """Mouse and keyboard of a `TranscriptList`."""

    def __init__(self, view: TranscriptList) -> None:
        super().__init__(view)
        self._view = view
        self._selecting = False
        self._pressed: tuple[str, int, Action] | None = None
        self._moved = False
        self._clicks = 0
        self._mouse = QPointF()
        self._action: tuple[str, int, int] | None = None
        self._keyboard = False
        self._scroller = QTimer(self, interval=40)
        self._scroller.timeout.connect(self._scroll_on)

    # Where the mouse is

    def _spot(self, position: QPointF) -> Spot | None:
        view = self._view
        index = view.row_at(position.y())
        if index < 0:
            return None
        rect = view.visualRect(view.transcript.index(index))
        place = view.row(index).hit(position.x() - rect.left(), position.y() - rect.top())
        return Spot(view.transcript.id_of(index), *place)

    def _action_at(self, position: QPointF) -> tuple[str, int, Action] | None:
        view = self._view
        index = view.row_at(position.y())
        if index < 0:
            return None
        rect = view.visualRect(view.transcript.index(index))
        if not rect.contains(position.toPoint()):
            return None
        found = view.row(index).action_at(position.x() - rect.left(), position.y() - rect.top())
        return (view.transcript.id_of(index), found[0], found[2]) if found else None

    # Mouse

    def press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._keyboard, self._action, self._moved = False, None, False
        self._pressed = self._action_at(event.position())
        spot = self._spot(event.position())
        if spot is not None:
            self._go_to(self._view.transcript.row_of(spot.item_id), scroll=False)
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._view.selection.extend(spot)
            elif self._clicks == 2 and self._near(event.position()):
                self._view.selection.select_block(spot, self._view.row(self._view.transcript.row_of(spot.item_id)))
                self._clicks = 0
                self._view.viewport().update()
                return
            else:
                self._view.selection.start(spot)
            self._selecting = True
        self._mouse = event.position()
        self._view.viewport().update()

    def _near(self, position: QPointF) -> bool:
        return (position - self._mouse).manhattanLength() < QApplication.startDragDistance()

    def move(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._selecting and event.buttons() & Qt.MouseButton.LeftButton:
            self._moved = self._moved or not self._near(position)
            if self._moved:
                self._mouse = position
                self._extend()
                outside = not 0 <= position.y() < self._view.viewport().height()
                if outside != self._scroller.isActive():
                    self._scroller.start() if outside else self._scroller.stop()
            return
        over = self._action_at(position)
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor
        left, width = self._view.column()
        if not over and not left <= position.x() <= left + width:
            shape = Qt.CursorShape.ArrowCursor
        if self._view.viewport().cursor().shape() != shape:
            self._view.viewport().setCursor(shape)

    def _extend(self) -> None:
        spot = self._spot(self._mouse)
        if spot is not None:
            self._view.selection.extend(spot)
            self._view.viewport().update()

    def _scroll_on(self) -> None:
        """The mouse is above or below while selecting: scroll, faster the further it is."""
        y, height = self._mouse.y(), self._view.viewport().height()
        step = int(y if y < 0 else y - height)
        bar = self._view.verticalScrollBar()
        bar.setValue(bar.value() + max(-60, min(60, step)))
        self._extend()

    def release(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._selecting = False
        self._scroller.stop()
        pressed, self._pressed = self._pressed, None
        if pressed is not None and not self._moved:
            now = self._action_at(event.position())
            if now is not None and now[:2] == pressed[:2]:
                self._view.selection.clear()
                self.do(now[0], now[1], now[2])
        self._offer_selection()

    def _offer_selection(self) -> None:
        """On X11 and Wayland, selected text can be pasted with the middle button."""
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and self._view.selection.bounds() is not None:
            clipboard.setText(self._view.selection.text(), clipboard.Mode.Selection)

    def double_click(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._action_at(event.position()):
            return
        spot = self._spot(event.position())
        if spot is None:
            return
        self._view.selection.select_word(spot, self._view.row(self._view.transcript.row_of(spot.item_id)))
        self._mouse, self._clicks = event.position(), 2
        QTimer.singleShot(QApplication.doubleClickInterval(), self, self._forget_clicks)
        self._view.viewport().update()

    def _forget_clicks(self) -> None:
        self._clicks = 0

    def tool_tip(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            found = self._action_at(QPointF(event.pos()))
            words = tool_tip(found[2]) if found else ""
            QToolTip.showText(event.globalPos(), words, self._view.viewport())
        return True

    def scrolled(self) -> None:
        QToolTip.hideText()

    # Doing

    def do(self, item_id: str, segment: int, action: Action) -> None:
        """Carry an action out."""
        view = self._view
        if action.kind == "toggle":
            view.toggle(item_id)
        elif action.kind == "show_all":
            view.store.show_all(action.data)
            view.rebuild(view.transcript.row_of(item_id))
        elif action.kind == "copy":
            self._copy_code(item_id, segment)
        elif action.kind == "link":
            kind = link_kind(action.data)
            if kind == "web":
                view.link.emit(action.data)
            elif kind == "file":
                view.file_link.emit(link_path(action.data))

    def _copy_code(self, item_id: str, index: int) -> None:
        row = self._view.store.have(item_id)
        if not isinstance(row, MarkdownRow):
            return
        QGuiApplication.clipboard().setText(row.code_around(index))
        segment = row.segments[index]
        if isinstance(segment, CodeSegment):
            segment.show_copied(True)
            QTimer.singleShot(COPIED_MS, self, lambda: self._uncopied(segment))
            self._view.viewport().update()

    def _uncopied(self, segment: CodeSegment) -> None:
        segment.show_copied(False)
        self._view.viewport().update()

    def copy(self) -> None:
        """Copy the selected words; without a selection, the current message as it was written."""
        text = self._view.selection.text()
        if not text:
            row = self._view.currentIndex().row()
            text = self._view.selection.message(row) if row >= 0 else ""
        if text:
            QGuiApplication.clipboard().setText(text)

    def copy_message(self, row: int) -> None:
        QGuiApplication.clipboard().setText(self._view.selection.message(row))

    def select_all(self) -> None:
        self._view.selection.select_all()
        self._view.viewport().update()

    def menu(self, event: QContextMenuEvent) -> None:
        """The menu of a message."""
        view = self._view
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        row = view.row_at(event.pos().y()) if by_mouse else view.currentIndex().row()
        over = self._action_at(QPointF(event.pos())) if by_mouse else None
        menu = self.make_menu(row, over)
        where = event.globalPos()
        if not by_mouse and row >= 0:
            where = view.viewport().mapToGlobal(view.visualRect(view.transcript.index(row)).topLeft())
        menu.popup(where)

    def make_menu(self, row: int, over: tuple[str, int, Action] | None = None) -> QMenu:
        """The menu's entries for a row and what is under the mouse."""
        view = self._view
        menu = QMenu(view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(tr("Copy"), self.copy)
        copy.setEnabled(view.selection.bounds() is not None)
        if row >= 0:
            menu.addAction(tr("Copy message"), lambda: self.copy_message(row))
        if over is not None and over[2].kind == "link":
            menu.addAction(tr("Copy link"), lambda: QGuiApplication.clipboard().setText(over[2].data))
        menu.addAction(tr("Select all"), self.select_all)
        item = view.transcript.item(row) if row >= 0 else None
        if item is not None and can_open(item):
            menu.addSeparator()
            words = tr("Fold") if view.store.is_open(item) else tr("Unfold")
            menu.addAction(words, lambda: view.toggle(item.id))
        menu.addSeparator()
        menu.addAction(tr("Find…"), view.find_wanted.emit)
        return menu

    # Keyboard

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; returns whether it was ours."""
        view = self._view
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.matches(QKeySequence.StandardKey.Find):
            view.find_wanted.emit()
        elif event.key() == Qt.Key.Key_Escape and view.selection.bounds() is not None:
            view.selection.clear()
            view.viewport().update()
        elif event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            return False
        else:
            return self._plain_key(event.key())
        return True

    def _plain_key(self, key: int) -> bool:
        view = self._view
        bar = view.verticalScrollBar()
        page = max(view.viewport().height() - theme.px(40), theme.px(40))
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar.setValue(bar.value() + (-page if key == Qt.Key.Key_PageUp else page))
        elif key == Qt.Key.Key_Home:
            bar.setValue(0)
            self._go_to(self._neighbour(-1, 1))
        elif key == Qt.Key.Key_End:
            view.follow()
            self._go_to(self._neighbour(view.transcript.rowCount(), -1), scroll=False)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._press_key()
        elif key == Qt.Key.Key_C:
            self.copy()
        else:
            return False
        return True

    def _neighbour(self, row: int, step: int) -> int:
        """The next row in a direction that is not hidden; -1 for none."""
        view = self._view
        row += step
        while 0 <= row < view.transcript.rowCount():
            if view.heights[row]:
                return row
            row += step
        return -1

    def _step(self, direction: int) -> None:
        """To the next message; a message that is taller than the window is scrolled through first."""
        view = self._view
        self._keyboard = True
        current = view.currentIndex().row()
        height = view.viewport().height()
        if current < 0 or not -view.heights[current] < view.top_of(current) < height:
            current = view.row_at(height - 1 if direction < 0 else 0)
            self._go_to(current)
            return
        top = view.top_of(current)
        beyond = top + view.heights[current] - height if direction > 0 else -top
        if beyond > theme.px(8):
            bar = view.verticalScrollBar()
            bar.setValue(bar.value() + direction * min(beyond + theme.px(8), height - theme.px(60)))
            return
        row = self._neighbour(current, direction)
        if row >= 0:
            self._go_to(row)

    def _go_to(self, row: int, *, scroll: bool = True) -> None:
        view = self._view
        if row < 0:
            return
        self._action = None
        view.setCurrentIndex(view.transcript.index(row))
        if scroll:
            self._keyboard = True
            view.show_row(row, 0, min(view.heights[row], view.viewport().height() // 2))
        view.viewport().update()

    def _press_key(self) -> None:
        """Enter: the action that has the keyboard, else the card opens or closes."""
        view = self._view
        row = view.currentIndex().row()
        if row < 0:
            return
        item_id = view.transcript.id_of(row)
        focused = self.focused_action(item_id)
        if focused:
            action = view.row(row).segments[focused[0]].actions()[focused[1]]
            self.do(item_id, focused[0], action)
        elif can_open(view.transcript.item(row)):
            view.toggle(item_id)

    def tab(self, forward: bool) -> bool:
        """Tab goes through the links and buttons of the current message; past the last one it leaves."""
        view = self._view
        row = view.currentIndex().row()
        if row < 0 or not view.heights[row]:
            return False
        item_id = view.transcript.id_of(row)
        actions = [(segment, index) for segment, index, _action in view.row(row).all_actions()]
        held = self._action[1:] if self._action and self._action[0] == item_id else None
        at = actions.index(held) if held in actions else (-1 if forward else len(actions))
        at += 1 if forward else -1
        if not 0 <= at < len(actions):
            self._action = None
            view.viewport().update()
            return False
        self._keyboard = True
        self._action = (item_id, *actions[at])
        segment = view.row(row).segments[actions[at][0]]
        view.show_row(row, view.row(row).top_of(actions[at][0]), segment.height)
        view.viewport().update()
        return True

    def focused(self, reason: Qt.FocusReason) -> None:
        view = self._view
        if reason in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._keyboard = True
            if view.currentIndex().row() < 0 and view.transcript.rowCount():
                self._go_to(view.row_at(view.viewport().height() - 1), scroll=False)
        view.viewport().update()

    def rings(self, row: int) -> bool:
        """Whether a row shows that it has the keyboard."""
        return (self._keyboard and self._action is None and self._view.hasFocus()
                and self._view.currentIndex().row() == row)

    def focused_action(self, item_id: str) -> tuple[int, int] | None:
        """The action of an item that has the keyboard: segment, index."""
        if self._action is None or self._action[0] != item_id or not self._view.hasFocus():
            return None
        return self._action[1:]

    def focused_words(self) -> str:
        """What the action with the keyboard is called."""
        if self._action is None:
            return ""
        row = self._view.store.have(self._action[0])
        if row is None or self._action[1] >= len(row.segments):
            return ""
        actions = row.segments[self._action[1]].actions()
        return actions[self._action[2]].words if self._action[2] < len(actions) else ""


def tool_tip(action: Action) -> str:
    """Where a link leads. Without `<`, since a tooltip would take it for HTML."""
    return action.data.replace("<", "‹") if action.kind == "link" else ""
