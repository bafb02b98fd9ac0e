"""A list of rows of any height: it lays out what is in sight, and keeps in place what the person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from desktop import theme
from desktop.transcript import fonts
from desktop.transcript.block_segments import colour_pale, lexer_came, pale
from desktop.transcript.heights import Heights
from desktop.transcript.highlight import FRAME_SECONDS, budget
from desktop.transcript.lexers import loader
from desktop.transcript.model import TranscriptModel
from desktop.transcript.pictures import Pictures
from desktop.transcript.row_store import RowStore, estimated_height
from desktop.transcript.rows import Row

AnyIndex = QModelIndex | QPersistentModelIndex
FRAME = 0.033
"""Seconds between two renderings of text that streams: at most 30 a second."""
NONE = 1 << 30
PAD_TOP, PAD_BOTTOM, PAD_SIDE, NESTED = 20, 8, 16, 24


class RowList(QListView):
    """Rows of any height, of which only those in sight are laid out. Others have the height they had, or a guess.

    Scrolling is by the pixel. What is at the top stays where it is when heights above it turn out different; at the
    bottom, new text keeps the bottom in sight.

    Attributes:
        following: whether the bottom is kept in sight.

    Signals:
        followed: `following` changed.
    """

    followed = Signal(bool)

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.transcript = model
        self.pictures = Pictures(self)
        self.store = RowStore(model, self.pictures)
        self.heights = Heights()
        self.following = True
        self._busy = False
        self._line = (80, 21)
        self._known_width = -1
        self._stale: int | None = 0
        self._painted = 0
        self._settled = 0.0
        self._owed = False
        self._unread: dict[str, None] = {}
        self._reserves: dict[int, int] = {}
        self._reader = QTimer(self, interval=0)
        self._reader.timeout.connect(self._read_on)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAutoScroll(False)
        self.verticalScrollBar().setSingleStep(theme.px(48))
        self.setModel(model)
        model.rowsInserted.connect(self._rows_inserted)
        model.rowsRemoved.connect(self._rows_removed)
        model.modelReset.connect(self._reset)
        self.pictures.changed.connect(self.viewport().update)
        theme.theme.changed.connect(self._restyle)
        loader().loaded.connect(self._lexer_came)

    # Geometry

    def column(self) -> tuple[int, int]:
        """The column's left edge in the viewport, and its width."""
        room = self.viewport().width() - 2 * theme.px(PAD_SIDE)
        width = max(min(theme.column_width(), room), theme.px(160))
        # In the middle of the view with its scroll bar, as the composer and the dialogs below are.
        left = min((self.width() - width) // 2, self.viewport().width() - width - theme.px(PAD_SIDE))
        return max(left, theme.px(PAD_SIDE)), width

    def shift_of(self, item_id: str) -> int:
        """How far a row of a subagent is from the column's left edge."""
        return theme.px(NESTED) * self.transcript.depth_of(item_id)

    def hidden(self, row: int) -> bool:
        """Whether a row is inside a subagent's card that is closed."""
        parent = self.transcript.parent_of(self.transcript.id_of(row))
        while parent:
            item = self.transcript.item_of(parent)
            if item is not None and not self.store.is_open(item):
                return True
            parent = self.transcript.parent_of(parent)
        return False

    def row(self, index: int) -> Row:
        """A row, made and with a height for the width there is; its segments may still be guesses."""
        item = self.transcript.item(index)
        row = self.store.row(item)
        width = self.column()[1] - self.shift_of(item.id)
        if row.width != width:
            row.prepare(width)
        return row

    def top_of(self, index: int) -> int:
        """Where a row begins in the viewport."""
        return self.heights.top(index) + theme.px(PAD_TOP) - self.verticalScrollBar().value()

    def whole_text(self, index: int) -> str:
        """All words of a row."""
        row = self.row(index)
        row.complete()
        return row.text()

    def row_at(self, y: float) -> int:
        """The row at a height of the viewport, or the nearest; -1 without rows."""
        if not len(self.heights):
            return -1
        return self.heights.at(int(y) - theme.px(PAD_TOP) + self.verticalScrollBar().value())

    def rows_in(self, top: int, bottom: int) -> Iterator[tuple[int, int]]:
        """(row, its top) of the rows between two heights of the viewport, hidden ones left out."""
        index = self.row_at(top)
        if index < 0:
            return
        y = self.top_of(index)
        while index < len(self.heights) and y < bottom:
            height = self.heights[index]
            if height:
                yield index, y
            y += height
            index += 1

    # Heights

    def _guess(self, index: int) -> int:
        if self.hidden(index):
            return 0
        columns, pitch = self._line
        return estimated_height(self.transcript.item(index), lambda length: (length // columns + 1) * pitch)

    def _measure_line(self) -> None:
        body = fonts.face("body")
        self._line = (max(int(self.column()[1] / body.average), 8), body.pitch)

    def start(self) -> None:
        """Show what the model has."""
        self._reset()

    def _reset(self) -> None:
        self._measure_line()
        self.store.clear(opened=True)
        self._touch(0)
        self.heights.reset(self._guess(index) for index in range(self.transcript.rowCount()))
        self.following = True
        self.settle()

    def _restyle(self) -> None:
        fonts.forget()
        self.store.clear()
        self._measure_line()
        self._touch(0)
        self.settle()

    def _rows_inserted(self, parent: AnyIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            above = row < len(self.heights) and self.top_of(row) < 0
            height = self._guess(row)
            self._touch(self.heights.top(row))
            self.heights.insert(row, height)
            if above:
                self._move(height)

    def _rows_removed(self, parent: AnyIndex, first: int, last: int) -> None:
        top = self.heights.top(first)
        gone = self.heights.top(last + 1) - top
        above = self.top_of(first) + gone <= 0
        self._touch(0)
        self.heights.remove(first, last)
        if above:
            self._move(-gone)

    def show_changes(self, ids: Sequence[str]) -> None:
        """Items changed: only their rows are made anew, and what is read stays in its place."""
        waiting = 0
        for item_id in ids:
            index, row = self.transcript.row_of(item_id), self.store.have(item_id)
            if index < 0:
                continue
            self.store.refresh(self.transcript.item(index))
            if row is not None and row.more:
                self._unread[item_id] = None
                waiting += 1
            elif row is not None and not self.hidden(index):
                self._take_height(index)
        if waiting:
            self._reader.start()  # much came at once: it is read in slices, and shown at the usual pace
        if not ids or waiting < len(ids):
            self.settle()

    def _read_on(self) -> None:
        """A turn of what does not fit into one: read a slice, or lay out what was read, or colour what had no time."""
        if self._owed and (not self._unread or perf_counter() - self._settled > FRAME):
            self.settle()
        elif self._unread:
            self._owed = True
            item_id = next(iter(self._unread))
            row, index = self.store.have(item_id), self.transcript.row_of(item_id)
            if row is not None:
                self._reserves[index] = row.reserve + row.below
            if row is None or index < 0 or not row.advance():
                del self._unread[item_id]
            if row is not None and index >= 0 and not self.hidden(index):
                self._take_height(index)
        elif pale:
            budget.left = FRAME_SECONDS
            colour_pale()
            budget.left = float("inf")
            self._touch(0)
            self._show()
        if not (self._unread or self._owed or pale):
            self._reader.stop()

    def _lexer_came(self, language: str) -> None:
        if lexer_came(language):
            self._reader.start()

    def _take_height(self, index: int) -> None:
        """A row has changed. Above the viewport it pushes nothing that is read."""
        row = self.row(index)
        # What comes is added where the row was read up to: below what is seen, or above it.
        above = self.top_of(index) + self.heights[index] - self._reserves.pop(index, 0) <= 0
        delta = self.heights.set(index, row.height)
        if delta and above:
            self._move(delta)
        inside = row.top_of(row.changed) if row.changed < len(row.segments) else row.height - row.below
        self._touch(self.heights.top(index) + (inside if row.changed else 0))
        row.changed = len(row.segments)

    def _touch(self, y: int) -> None:
        """What lies below a height of the content has to be painted again."""
        self._stale = y if self._stale is None else min(self._stale, y)

    def _show(self) -> None:
        """Have painted what looks different: what moved is moved on the screen, the rest is painted."""
        value, stale = self.verticalScrollBar().value(), self._stale
        moved, self._painted, self._stale = value - self._painted, value, None
        height = self.viewport().height()
        if abs(moved) >= height or stale == 0:
            self.viewport().update()
            return
        if moved:
            self.viewport().scroll(0, -moved)
        if stale is not None:
            y = max(stale + theme.px(PAD_TOP) - value - theme.px(24), 0)
            if y < height:
                self.viewport().update(0, y, self.viewport().width(), height - y)

    def _move(self, delta: int) -> None:
        bar = self.verticalScrollBar()
        value = bar.value() + delta  # before the range cuts it
        self._busy, before = True, self._busy
        bar.setRange(0, max(bar.maximum() + delta, 0))
        bar.setValue(value)
        self._busy = before

    def _update_range(self) -> None:
        bar = self.verticalScrollBar()
        total = self.heights.total + theme.px(PAD_TOP) + theme.px(PAD_BOTTOM)
        self._busy, before = True, self._busy
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, total - self.viewport().height()))
        self._busy = before

    def settle(self) -> None:
        """Lay out what is in sight, correct the heights, and stay where the person is."""
        bar = self.verticalScrollBar()
        self._busy, before = True, self._busy
        budget.left = FRAME_SECONDS
        for _attempt in range(12):
            self._update_range()
            if self.following:
                bar.setValue(bar.maximum())
            if not self._lay_out_visible():
                break
        self._update_range()
        if self.following:
            bar.setValue(bar.maximum())
        self._busy = before
        budget.left = float("inf")
        self._settled, self._owed = perf_counter(), False
        if (self._unread or pale) and not self._reader.isActive():
            self._reader.start()
        self._show()

    def _lay_out_visible(self) -> bool:
        """Lay out the rows in sight. Returns whether a height changed, so that others may be in sight now.

        The first thing in sight that was laid out before stays where it is.
        """
        changed = False
        bottom = self.viewport().height()
        anchor = self._anchor(bottom)
        index = max(self.row_at(0), 0)
        while index < len(self.heights) and self.top_of(index) < bottom:
            if self.heights[index]:
                row = self.row(index)
                if row.more:
                    self._unread[self.transcript.id_of(index)] = None
                above = self.top_of(index) < 0 if anchor is None else index < anchor[0]
                changed = self._correct(index, row.height - self.heights[index] if above else 0) or changed
                stays = None if anchor is None else anchor[1] if index == anchor[0] else NONE if above else 0
                top = self.top_of(index)
                first, moved = row.lay_out(-top, bottom - top, stays)
                if first >= 0:
                    self._touch(self.heights.top(index) + first)
                changed = self._correct(index, moved) or changed
            index += 1
        return changed

    def lay_out_to(self, index: int, segment: int) -> None:
        """Give a row its true heights down to a segment, so that its place is known."""
        row = self.row(index)
        row.lay_out(0, row.top_of(segment), 0)
        self._take_height(index)

    def _anchor(self, bottom: int) -> tuple[int, int] | None:
        """The first segment in sight that is laid out: row, number."""
        for index, top in self.rows_in(0, bottom):
            row = self.store.have(self.transcript.id_of(index))
            number = row.first_laid(-top, bottom - top) if row is not None else -1
            if number >= 0:
                return index, number
        return None

    def _correct(self, index: int, moved: int) -> bool:
        """Take a row's height, and scroll by how much what is read would move. Returns whether it was different."""
        delta = self.heights.set(index, self.row(index).height)
        if moved and not self.following:
            self._move(moved)
        return delta != 0

    @property
    def busy(self) -> bool:
        """Whether something that came is not shown yet."""
        return bool(self._unread or self._owed or pale)

    def follow(self) -> None:
        """Go to the bottom and stay there."""
        self._set_following(True)
        self.settle()

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.followed.emit(following)

    def toggle(self, item_id: str) -> None:
        """Open or close an item's card. It stays where it is; what follows moves."""
        item = self.transcript.item_of(item_id)
        index = self.transcript.row_of(item_id)
        if item is None or index < 0:
            return
        self.store.toggle(item)
        self.rebuild(index)

    def rebuild(self, index: int) -> None:
        """A row has to look different: make it anew, and show or hide what is inside it."""
        self._set_following(False)
        self._touch(self.heights.top(index))
        self.heights.set(index, self.row(index).height)
        below = index + 1
        depth = self.transcript.depth_of(self.transcript.id_of(index))
        while below < len(self.heights) and self.transcript.depth_of(self.transcript.id_of(below)) > depth:
            self.heights.set(below, self._guess(below))
            below += 1
        self.settle()
        self._set_following(self.verticalScrollBar().value() >= self.verticalScrollBar().maximum())

    # Qt overrides

    def visualRect(self, index: AnyIndex) -> QRect:
        if not index.isValid() or index.row() >= len(self.heights):
            return QRect()
        left, width = self.column()
        shift = self.shift_of(self.transcript.id_of(index.row()))
        return QRect(left + shift, self.top_of(index.row()), width - shift, self.heights[index.row()])

    def indexAt(self, point: QPoint) -> QModelIndex:
        row = self.row_at(point.y())
        return self.transcript.index(row) if row >= 0 else QModelIndex()

    def isIndexHidden(self, index: AnyIndex) -> bool:
        return self.hidden(index.row())

    def doItemsLayout(self) -> None:
        # QListView's own layout would ask for the size of every row, however many there are.
        QAbstractItemView.doItemsLayout(self)

    def dataChanged(self, first: AnyIndex, last: AnyIndex, roles: Sequence[int] = ()) -> None:
        # Qt would paint the whole row again; `show_changes` knows which part of it is new.
        if QAccessible.isActive():
            super().dataChanged(first, last, list(roles))

    def updateGeometries(self) -> None:
        if not self._busy:
            self._update_range()

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:
        return 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        anchor = self.row_at(0)
        inside = -self.top_of(anchor) if anchor >= 0 else 0
        width = self.column()[1]
        if width != self._known_width:
            first, self._known_width = self._known_width < 0, width
            self._measure_line()
            if first:  # it was guessed for a window that nobody has seen
                self.heights.reset(self._guess(row) for row in range(self.transcript.rowCount()))
        self._touch(0)
        self.settle()
        if anchor >= 0 and not self.following:
            self._move(self.top_of(anchor) + min(inside, self.heights[anchor]))
            self.settle()
