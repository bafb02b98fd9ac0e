"""The list of commands or files above the field. It never takes the focus: the editor's keys steer it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout

from desktop import theme
from desktop.composer.completion import Candidate
from desktop.translations import tr
from desktop.widgets import set_role

MOST_ROWS = 8


class CompletionPopup(QFrame):
    """A list over the window's content, just above the editor.

    Signals:
        chosen(Candidate): the person took one.
    """

    chosen = Signal(object)

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self.setObjectName("completions")
        set_role(self, "card")
        self._editor = editor
        self._candidates: list[Candidate] = []
        self.list = QListWidget(self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setAccessibleName(tr("Suggestions"))
        self.list.itemClicked.connect(self._take_item)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addWidget(self.list)
        editor.installEventFilter(self)
        self.hide()

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Show candidates, or hide the list when there are none."""
        self._candidates = list(candidates)
        self.list.clear()
        if not self._candidates:
            self.hide()
            return
        for candidate in self._candidates:
            text = f"{candidate.label}   {candidate.detail}" if candidate.detail else candidate.label
            item = QListWidgetItem(text)
            item.setToolTip(candidate.detail)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._place()
        self.show()
        self.raise_()

    def _place(self) -> None:
        window = self._editor.window()
        frame = self._editor.parentWidget() or self._editor
        if self.parentWidget() is not window:
            self.setParent(window)
        row = max(self.list.sizeHintForRow(0), theme.px(20))
        height = row * min(len(self._candidates), MOST_ROWS) + 12
        width = min(frame.width(), theme.px(560))
        corner = frame.mapTo(window, QPoint(0, 0))
        self.setGeometry(corner.x(), max(0, corner.y() - height - 4), width, height)

    def _take_item(self, item: QListWidgetItem) -> None:
        self._take(self.list.row(item))

    def _take(self, row: int) -> None:
        if 0 <= row < len(self._candidates):
            candidate = self._candidates[row]
            self.hide()
            self.chosen.emit(candidate)

    def _on_key(self, event: QKeyEvent) -> bool:
        row, count = self.list.currentRow(), self.list.count()
        if event.key() == Qt.Key.Key_Down:
            self.list.setCurrentRow((row + 1) % count)
        elif event.key() == Qt.Key.Key_Up:
            self.list.setCurrentRow((row - 1) % count)
        elif event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(row)
        elif event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            return False
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._editor and not self.isHidden():
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return event.modifiers() == Qt.KeyboardModifier.NoModifier and self._on_key(event)
            if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                if event.key() == Qt.Key.Key_Escape:
                    event.accept()
                    return True
            elif event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide):
                self.hide()
        return False
