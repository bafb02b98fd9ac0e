"""The text field of the dialogs: grows with its text, and leaves Enter to the dialog."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop import theme
from desktop.widgets import set_role


class WritingField(QPlainTextEdit):
    """A plain text field of one to a few lines. Shift+Enter breaks a line; Enter is the dialog's, unless `free_enter`.

    Signals:
        looked_at(bool): it got the focus (True) or lost it (False).
    """

    looked_at = Signal(bool)

    def __init__(
        self, name: str, label: str, hint: str = "", parent: QWidget | None = None, *,
        least_lines: int = 1, most_lines: int = 6, free_enter: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setPlaceholderText(hint)
        self._lines = (least_lines, most_lines)
        self._free_enter = free_enter
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        """What is written, as it is."""
        return self.toPlainText()

    def setText(self, text: str) -> None:
        """Replace what is written, and put the cursor behind it."""
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.setTextCursor(cursor)

    def set_problem(self, problem: bool) -> None:
        """Mark the field as the one that a sentence beside it is about."""
        set_role(self, problem=problem)

    def wanted_height(self) -> int:
        """The height for what is written, within the field's limits."""
        least, most = self._lines
        lines = max(least, min(most, int(self.document().size().height())))
        return lines * self.fontMetrics().lineSpacing() + theme.px(16)

    def _fit(self) -> None:
        height = self.wanted_height()
        if height != self.maximumHeight():
            self.setFixedHeight(height)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(120), self.wanted_height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.looked_at.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.looked_at.emit(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if shift or (plain and self._free_enter):
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            event.ignore()
