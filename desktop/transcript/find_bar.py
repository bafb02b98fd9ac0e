"""Searching in the conversation: a line above the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from desktop import theme
from desktop.transcript.item_rows import source_text
from desktop.transcript.row_store import can_open
from desktop.translations import format_count, tr
from desktop.widgets import button, plain_label

if TYPE_CHECKING:
    from desktop.transcript.list_view import TranscriptList


class FindBar(QWidget):
    """Looks for words, in closed cards too: what is found there is opened."""

    def __init__(self, view: TranscriptList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = view
        self._rows: list[str] = []
        self.field = QLineEdit(self)
        self.field.setObjectName("findText")
        self.field.setPlaceholderText(tr("Find in this conversation"))
        self.field.setAccessibleName(tr("Find in this conversation"))
        self.count = plain_label("", "soft", parent=self)
        self.back = button(tr("Previous match"), "findPrevious", "quiet", self)
        self.forward = button(tr("Next match"), "findNext", "quiet", self)
        self.done = button(tr("Close"), "findClose", "quiet", self)
        layout = QHBoxLayout(self)
        side, line = theme.px(16), theme.px(8)
        layout.setContentsMargins(side, line, side, line)
        layout.addWidget(self.field, 1)
        for widget in (self.count, self.back, self.forward, self.done):
            layout.addWidget(widget)
        self._timer = QTimer(self, singleShot=True, interval=120)
        self._timer.timeout.connect(self.search)
        self.field.textChanged.connect(lambda _text: self._timer.start())
        self.back.clicked.connect(lambda: self.step(-1))
        self.forward.clicked.connect(lambda: self.step(1))
        self.done.clicked.connect(self.close_bar)

    def open(self) -> None:
        """Show the bar with the keyboard in it."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if self.field.text():
            self.search()

    def close_bar(self) -> None:
        """Hide the bar and the marks."""
        self._timer.stop()
        had = self.field.hasFocus()
        self.hide()
        self._list.selection.needle = ""
        self._list.selection.current = None
        self._list.viewport().update()
        if had:
            self._list.setFocus()

    def search(self) -> None:
        """Look for the words anew and go to the last place before the end."""
        needle = self.field.text()
        selection, model = self._list.selection, self._list.transcript
        selection.needle, selection.current, self._rows = needle, None, []
        if needle:
            low = needle.lower()
            items = (model.item(row) for row in range(model.rowCount()))
            self._rows = [item.id for item in items if low in source_text(item).lower()]
        self._show_count()
        if self._rows:
            self.step(-1)
        self._list.viewport().update()

    def _show_count(self) -> None:
        count = len(self._rows)
        words = tr("In 1 message") if count == 1 else tr("In {count} messages", count=format_count(count))
        self.count.setText("" if not self._list.selection.needle else words if count else tr("Nothing found"))

    def step(self, direction: int) -> None:
        """To the next place where the words stand, -1 for the one before."""
        selection, model = self._list.selection, self._list.transcript
        rows = [item_id for item_id in self._rows if model.row_of(item_id) >= 0]
        if not rows:
            return
        current = selection.current
        at = rows.index(current[0]) if current and current[0] in rows else (len(rows) if direction < 0 else -1)
        if current and 0 <= at < len(rows):
            matches = selection.matches(self._list.row(model.row_of(rows[at])))
            inside = matches.index(current[1]) + direction if current[1] in matches else len(matches)
            if 0 <= inside < len(matches):
                self._go(rows[at], inside)
                return
        for _attempt in range(len(rows)):
            at = (at + direction) % len(rows)
            places = self._open(rows[at])
            if places:
                self._go(rows[at], 0 if direction > 0 else places - 1)
                return

    def _open(self, item_id: str) -> int:
        """Open what hides the words in an item; returns how many places there are."""
        view = self._list
        item = view.transcript.item_of(item_id)
        if item is None:
            return 0
        parent = view.transcript.parent_of(item_id)
        while parent:
            outer = view.transcript.item_of(parent)
            if outer is not None and not view.store.is_open(outer):
                view.toggle(parent)
            parent = view.transcript.parent_of(parent)
        row = view.transcript.row_of(item_id)
        view.row(row).complete()
        if not view.selection.matches(view.row(row)) and can_open(item):
            view.store.open(item, whole=True)
            view.rebuild(row)
        return len(view.selection.matches(view.row(row)))

    def _go(self, item_id: str, number: int) -> None:
        view = self._list
        index = view.transcript.row_of(item_id)
        row = view.row(index)
        match = view.selection.matches(row)[number]
        view.selection.current = (item_id, match)
        view.lay_out_to(index, match.segment)
        segment = row.segments[match.segment]
        view.show_row(index, row.top_of(match.segment), min(segment.height, theme.px(80)))
        view.viewport().update()

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)
