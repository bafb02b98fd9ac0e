"""The field one types in: it grows with the text, Enter sends, and input methods are left in peace."""

from __future__ import annotations

import math

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from desktop import theme
from desktop.composer import attachments
from desktop.translations import tr
from desktop.widgets import set_role

MOST_LINES = 10

ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Editor(QPlainTextEdit):
    """A plain text field.

    Signals:
        submitted: Enter, without Shift, outside an input method's composition.
        older_wanted, newer_wanted: Up on the first, Down on the last line.
        images_offered: a mime data object's pictures: list of QImage or file path.
        long_text_pasted: a text that is too long for the field.
        resized: the field is wider or narrower.
    """

    submitted = Signal()
    older_wanted = Signal()
    newer_wanted = Signal()
    images_offered = Signal(list)
    long_text_pasted = Signal(str)
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAccessibleName(tr("Message to Claude"))
        set_role(self, "bare")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self._composing = False
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.theme.changed.connect(self._fit)
        self._fit()

    @property
    def composing(self) -> bool:
        """Whether an input method holds text that is not yet part of the document."""
        return self._composing

    def set_text(self, text: str) -> None:
        """Replace the text so that Undo brings the old one back, with the cursor at the end."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.setTextCursor(cursor)

    def _fit(self) -> None:
        margins = self.contentsMargins()
        height = self._text_height() + 2 * int(self.document().documentMargin()) + 2
        self.setFixedHeight(height + margins.top() + margins.bottom())

    def _text_height(self) -> int:
        """The height of the lines, of `MOST_LINES` at most. They differ: Chinese ones are taller than Latin ones."""
        line = self.fontMetrics().lineSpacing()
        most, height, block = MOST_LINES * line, 0.0, self.document().firstBlock()
        while block.isValid() and height < most:
            height += self.blockBoundingRect(block).height()
            block = block.next()
        return max(line, min(most, math.ceil(height)))

    def _insert_paths(self, source: QMimeData) -> bool:
        """Dropped or pasted files: pictures are attached, the others named by their path."""
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if not paths:
            return False
        images = [path for path in paths if attachments.is_image_name(path)]
        others = [path for path in paths if path not in images]
        if images:
            self.images_offered.emit(images)
        if others:
            self.insertPlainText(" ".join(f'"{path}"' if " " in path else path for path in others) + " ")
        return True

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasImage() or source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasUrls() and self._insert_paths(source):
            return
        # Office programs put a picture of the copied text beside the text: the text is what was meant.
        if source.hasImage() and not source.hasText():
            self.images_offered.emit([source.imageData()])
            return
        text = source.text()
        if attachments.is_long(text):
            self.long_text_pasted.emit(text)
        elif text:
            self.insertPlainText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            # Qt breaks the lines anew without a word about how many there are now.
            self._fit()
            self.resized.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            if self._composing:
                return  # the input method's own key to confirm; it commits its text by itself
            if event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier):
                self.insertPlainText("\n")
                self.ensureCursorVisible()
            elif not event.isAutoRepeat():
                self.submitted.emit()
            return
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        if plain and event.key() == Qt.Key.Key_Up and self._on_edge(QTextCursor.MoveOperation.Up):
            self.older_wanted.emit()
            return
        if plain and event.key() == Qt.Key.Key_Down and self._on_edge(QTextCursor.MoveOperation.Down):
            self.newer_wanted.emit()
            return
        super().keyPressEvent(event)

    def _on_edge(self, move: QTextCursor.MoveOperation) -> bool:
        cursor = self.textCursor()
        return not cursor.hasSelection() and not cursor.movePosition(move)
