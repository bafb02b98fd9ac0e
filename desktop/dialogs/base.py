"""What every request to a person is: a card of its conversation that can be moved out, and is answered once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.card import SHADOW, AwayNotice, CardQuestion, MoveOutButton, paint_card
from desktop.dialogs.guard import Guard
from desktop.dialogs.layouts import SplitRow
from desktop.durations import elapsed
from desktop.translations import tr
from desktop.widgets import hairline, plain_label
from protocol import permissions

ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True)
class DialogContext:
    """What a dialog should know besides its request.

    Attributes:
        conversation_title: shown when the dialog is a window of its own.
        agent: what the asking subagent is called, or "" when Claude itself asks.
        client: what the program is called that asks through the local API, or "" for a conversation's own request.
        since: epoch seconds at which the request came; 0 for now.
        capabilities: what the CLI's `system/init` declared.
        cwd: the conversation's folder, or "".
        plan: the text of the plan, for a plan request.
        many: words about the queue this request stands in ("1 of 3"), or "".
        clock: the time in epoch seconds.
    """

    conversation_title: str = ""
    agent: str = ""
    client: str = ""
    since: float = 0.0
    capabilities: Collection[str] = frozenset()
    cwd: str = ""
    plan: str = ""
    many: str = ""
    clock: Callable[[], float] = field(default=time.time, compare=False)


class RequestDialog(QDialog):
    """A request to a person, embedded in its conversation above the composer.

    The host adds it to a layout with `Qt.AlignHCenter`; it asks for the width of the column plus `SHADOW` at both
    sides, for the height its content needs at that width, and scrolls inside when it gets less. It is never modal.

    What its keys do: Enter presses the focused button, or else calls `enter_pressed`; Ctrl+Enter calls
    `submit_pressed`; Esc is the refusal of each kind (`refuse`), and asks first, inside the card, when something was
    typed. See `guard` for keys that were meant for another widget.

    Signals:
        decided(dict): the answer to send, emitted at most once. The dialog has hidden itself after it.
        page_wanted(str): the person asked to open this http or https address; the host opens it.
        file_link(str): the person clicked a link to this path; the host asks before anything is opened.
        moved_out(bool): it became a window of its own (True), or a card again (False).
    """

    decided = Signal(object)
    page_wanted = Signal(str)
    file_link = Signal(str)
    moved_out = Signal(bool)

    def __init__(self, name: str, context: DialogContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName(name)
        self.context = context
        self.is_over = False
        self._since = context.since or context.clock()
        self._placeholder: AwayNotice | None = None
        self._question: CardQuestion | None = None
        self.guard = Guard(self)
        self._build()
        self._clock_timer = QTimer(self)
        self._clock_timer.setInterval(1000)
        self._clock_timer.timeout.connect(self._show_waiting)
        self._show_waiting()

    # What a kind of request fills in.

    def first_focus(self) -> QWidget:
        """The widget that gets the focus when the dialog may take it."""
        return self

    def refuse(self) -> None:
        """Send the refusal of this kind of request; what Esc does."""
        self.decide(permissions.deny(""))

    def refusal(self) -> tuple[str, str]:
        """The question before a refusal that throws words away, and the words on its button."""
        return tr("Throw away what you wrote?"), tr("Throw away")

    def enter_pressed(self) -> None:
        """What Enter does outside a button. Nothing, unless a kind of request says otherwise."""

    def submit_pressed(self) -> None:
        """What Ctrl+Enter does. Nothing, unless a kind of request says otherwise."""

    def key_pressed(self, event: QKeyEvent) -> bool:
        """Another key. Returns whether it was used."""
        return False

    def typed(self) -> str:
        """What the person has written so far, so that it can be kept when the request goes away; else ""."""
        return ""

    # What the host calls.

    def withdraw(self) -> None:
        """Close without sending anything: the request is no longer there. `typed()` still tells what was written."""
        if not self.is_over:
            self._end(QDialog.DialogCode.Rejected)

    def take_focus(self) -> None:
        """Bring it to the front because the person asked for it."""
        if self._placeholder is not None:
            self.raise_()
            self.activateWindow()
        self.first_focus().setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def is_moved_out(self) -> bool:
        """Whether it is a window of its own."""
        return self._placeholder is not None

    def move_out(self) -> None:
        """Become a window of its own. A notice keeps its place in the conversation."""
        host = self.parentWidget()
        if self._placeholder is not None or self.is_over or host is None:
            return
        size, focused, corner = self.size(), self.focusWidget(), self.mapToGlobal(QPoint(0, 0))
        self._placeholder = AwayNotice(self.summary(), host)
        self._placeholder.bring_back.connect(self.move_back)
        self._placeholder.show_window.connect(self.take_focus)
        layout = host.layout()
        if layout is not None:
            layout.replaceWidget(self, self._placeholder)
        self._placeholder.show()
        self.setParent(host.window(), Qt.WindowType.Window)
        self.setWindowTitle(self._window_title())
        self._set_embedded(False)
        self.resize(size)
        # Qt would take its place in the conversation for one on the screen: at the top, with the title out of reach.
        self.move(corner)
        self.show()
        (focused or self.first_focus()).setFocus(Qt.FocusReason.OtherFocusReason)
        self.moved_out.emit(True)

    def move_back(self) -> None:
        """Become a card of the conversation again."""
        notice, self._placeholder = self._placeholder, None
        if notice is None:
            return
        host, focused = notice.parentWidget(), self.focusWidget()
        self.setParent(host, Qt.WindowType.Widget)
        self._set_embedded(True)
        layout = host.layout() if host is not None else None
        if layout is not None:
            layout.replaceWidget(notice, self)
            layout.setAlignment(self, Qt.AlignmentFlag.AlignHCenter)
        notice.hide()
        notice.deleteLater()
        self.show()
        self.activateWindow()
        (focused or self.first_focus()).setFocus(Qt.FocusReason.OtherFocusReason)
        self.moved_out.emit(False)

    # For the kinds.

    def summary(self) -> str:
        """What this request is, in a few words, for the notice in its place."""
        return tr("Claude’s request is open in a window of its own.")

    def decide(self, result: dict[str, Any]) -> None:
        """Answer the request and close. Only the first answer counts."""
        if self.is_over:
            return
        self.is_over = True
        self.decided.emit(result)
        self._end(QDialog.DialogCode.Accepted)

    def ask_in_card(self, sentence: str, confirm: str, action: Callable[[], None]) -> None:
        """Ask something inside the card, in place of the buttons, and do `action` if it is confirmed."""
        if self._question is not None:
            return
        back_to = self.focusWidget()
        self._question = CardQuestion(sentence, confirm, self)
        self._question.confirmed.connect(action)
        self._question.kept.connect(lambda: self._keep_writing(back_to))
        self.footer.hide()
        self._foot.insertWidget(0, self._question)
        self._question.keep.setFocus(Qt.FocusReason.OtherFocusReason)

    def escape(self) -> None:
        """Esc: refuse, after a question inside the card when something was typed."""
        if self._question is not None:
            self._question.kept.emit()
        elif self.typed():
            self.ask_in_card(*self.refusal(), self.refuse)
        else:
            self.refuse()

    def _keep_writing(self, back_to: QWidget | None) -> None:
        if self._question is not None:
            self._question.hide()
            self._question.deleteLater()
            self._question = None
        self.footer.show()
        (back_to or self.first_focus()).setFocus(Qt.FocusReason.OtherFocusReason)

    def _build(self) -> None:
        self._outer = QVBoxLayout(self)
        self._outer.setSpacing(0)
        self.header = SplitRow(self, right_first=True)
        self.header.setContentsMargins(0, 0, 0, 0)
        self.waiting = plain_label("", "soft")
        self.waiting.setObjectName("requestWaiting")
        self.header.right.addWidget(self.waiting)
        self.move_button = MoveOutButton(self)
        self.move_button.clicked.connect(lambda: self.move_back() if self.is_moved_out else self.move_out())
        self.header.right.addWidget(self.move_button)
        self.body = QVBoxLayout()
        self.body.setSpacing(theme.px(8))
        self.footer = SplitRow(self)
        self._foot = QVBoxLayout()
        self._foot.addWidget(self.footer)
        side = theme.px(16)
        head = QVBoxLayout()
        head.setContentsMargins(side, theme.px(9), theme.px(10), theme.px(9))
        head.addWidget(self.header)
        self.body.setContentsMargins(0, theme.px(12), 0, theme.px(8))
        self._foot.setContentsMargins(side, theme.px(10), side, theme.px(10))
        self._outer.addLayout(head)
        self._outer.addWidget(hairline(self))
        self._outer.addLayout(self.body, 1)
        self._outer.addWidget(hairline(self))
        self._outer.addLayout(self._foot)
        self._set_embedded(True)

    def _set_embedded(self, embedded: bool) -> None:
        left, top, right, bottom = (SHADOW, SHADOW // 2, SHADOW, SHADOW) if embedded else (0, 0, 0, 0)
        # One pixel for the card's own line, so that nothing inside paints over it.
        self._outer.setContentsMargins(left + 1, top + 1, right + 1, bottom + 1)
        self.move_button.set_out(not embedded)
        self._show_waiting()

    def _window_title(self) -> str:
        return self.context.conversation_title or tr("Claude asks")

    def _show_waiting(self) -> None:
        seconds = elapsed(self.context.clock() - self._since)
        if self.context.client:
            text = tr("{client} asks through the local API · waiting {time}", client=self.context.client, time=seconds)
        elif self.context.agent:
            text = tr("Subagent “{agent}” asks · waiting {time}", agent=self.context.agent, time=seconds)
        else:
            text = tr("Claude asks · waiting {time}", time=seconds)
        if self.context.many:
            text = f"{self.context.many} · {text}"
        if self.is_moved_out and self.context.conversation_title:
            title = self.waiting.fontMetrics().elidedText(
                self.context.conversation_title, Qt.TextElideMode.ElideRight, theme.px(240)
            )
            text = f"{title} · {text}"
        self.waiting.setText(text)

    def _end(self, code: QDialog.DialogCode) -> None:
        self.is_over = True
        self._clock_timer.stop()
        notice, self._placeholder = self._placeholder, None
        if notice is not None:
            notice.hide()
            notice.deleteLater()
        self.done(code)

    # Qt's own.

    def sizeHint(self) -> QSize:
        width = theme.column_width() + 2 * SHADOW
        # Before the first layout there is no width yet; the column's is then the best guess.
        present = self.width() if self.testAttribute(Qt.WidgetAttribute.WA_Resized) else width
        return QSize(width, self._outer.totalHeightForWidth(min(present, width)))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(280), min(theme.px(220), self.sizeHint().height()))

    def hasHeightForWidth(self) -> bool:
        """Not in Qt's sense: a layout would then take the preferred height for the least one, and never scroll."""
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.is_over:
            self._show_waiting()
            self._clock_timer.start()
        if self.guard.appeared() and not event.spontaneous():
            self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock_timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(self, embedded=not self.is_moved_out)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing the window of its own decides nothing: the card goes back to its conversation."""
        if self.is_moved_out and not self.is_over:
            event.ignore()
            self.move_back()
        else:
            event.accept()

    def reject(self) -> None:
        """Qt's word for Esc."""
        self.escape()

    def event(self, event: QEvent) -> bool:
        overrides = event.type() == QEvent.Type.ShortcutOverride
        if overrides and isinstance(event, QKeyEvent) and event.key() in (*ENTER_KEYS, Qt.Key.Key_Escape):
            # Without this, a shortcut of the window (Esc to stop) would win over the dialog that has the focus.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()
        if self.is_over:
            return
        if event.key() == Qt.Key.Key_Escape:
            self.escape()
        elif event.key() in ENTER_KEYS:
            self._enter(event)
        elif self._question is not None or not self.key_pressed(event):
            event.ignore()

    def _enter(self, event: QKeyEvent) -> None:
        focused = QApplication.focusWidget()
        if self._question is not None:
            if isinstance(focused, QAbstractButton) and self._question.isAncestorOf(focused):
                focused.click()
        elif event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier):
            self.submit_pressed()
        elif isinstance(focused, QAbstractButton) and not focused.isCheckable() and self.isAncestorOf(focused):
            if not event.isAutoRepeat():
                focused.click()
        else:
            self.enter_pressed()
