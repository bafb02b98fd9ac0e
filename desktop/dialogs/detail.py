"""What a tool would do, in full: text or a diff that can be read, scrolled, selected and copied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QSize, Qt
from PySide6.QtGui import QFocusEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop import theme
from desktop.transcript.diffs import DiffRow, DiffView, edit_rows

_MOST = 300
_LONG_LINE = 4_000
_PIECE = 2_000
_JOINED = 1
_READABLE_BYTES = 2_000_000

if TYPE_CHECKING:
    _Text = QPlainTextEdit
else:
    _Text = object


class _GrowsWithText(_Text):
    """As high as its text, wrapped lines included, up to a limit; the rest scrolls. Nothing is ever cut."""

    def set_up(self) -> None:
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setCursorWidth(0)  # selecting by keyboard works without a caret, and nothing can be written here
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        wanted = min(self._text_height(theme.px(_MOST)) + 2 + 2 * self.frameWidth(), theme.px(_MOST))
        if wanted != self.maximumHeight():
            self.setFixedHeight(wanted)
            self.updateGeometry()

    def _text_height(self, most: int) -> int:
        """The height of the lines, or more than `most`; each counts by itself, for fallback fonts are taller."""
        height, block = 0.0, self.document().firstBlock()
        while block.isValid() and height <= most:
            height += self.blockBoundingRect(block).height()
            block = block.next()
        return math.ceil(height)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(320), self.maximumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(120), min(self.maximumHeight(), theme.px(60)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Reading starts at the top, wherever the focus came from.
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self.moveCursor(self.textCursor().MoveOperation.Start)


class DetailText(_GrowsWithText, QPlainTextEdit):
    """Text in the code font.

    Qt lays a line out as a whole, in a time that grows with its square: one of a megabyte stops the window for minutes.
    So a long line becomes several blocks, which look like a wrapped line and are joined again when they are copied.
    """

    def __init__(self, text: str, parent: QWidget) -> None:
        QPlainTextEdit.__init__(self, parent)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setProperty("role", "bare")
        self.setFont(theme.code_font())
        self._show(text)
        self.set_up()
        theme.theme.changed.connect(self._restyle)

    def _show(self, text: str) -> None:
        self._whole = text
        lines = [(line, _pieces(line)) for line in text.split("\n")]
        self.setPlainText("\n".join("\n".join(pieces) for _, pieces in lines))
        block = self.document().begin()
        for _, pieces in lines if len(lines) < self.blockCount() else ():
            for number in range(len(pieces)):
                if number < len(pieces) - 1:
                    block.setUserState(_JOINED)
                block = block.next()

    def _restyle(self) -> None:
        self.setFont(theme.code_font())
        self._fit()

    # Qt overrides

    def toPlainText(self) -> str:
        """The text as it was given."""
        return self._whole

    def createMimeDataFromSelection(self) -> QMimeData:
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        parts = []
        block = self.document().findBlock(start)
        while block.isValid() and block.position() <= end:
            first = max(start - block.position(), 0)
            parts.append(_between(block.text(), first, end - block.position()))
            if block.position() + block.length() <= end and block.userState() != _JOINED:
                parts.append("\n")
            block = block.next()
        data = QMimeData()
        data.setText("".join(parts))
        return data


def _pieces(line: str) -> list[str]:
    if len(line) <= _LONG_LINE:
        return [line]
    return [line[start : start + _PIECE] for start in range(0, len(line), _PIECE)]


def _between(text: str, start: int, end: int) -> str:
    """A part of a text, in UTF-16 units, as Qt counts."""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end].decode("utf-16-le", "replace")


class DetailDiff(_GrowsWithText, DiffView):
    """A diff by the transcript's own view."""

    def __init__(self, rows: list[DiffRow], parent: QWidget) -> None:
        DiffView.__init__(self, rows, parent)
        self.set_up()


def diff_of(tool_name: str, given: Mapping[str, Any]) -> list[DiffRow]:
    """What an editing tool would change, against the file as it is now; [] where that shows nothing.

    Nor is there a diff of lines that nobody could compare: the input itself is then shown, whole.
    """
    rows = edit_rows(tool_name, given, read_file)
    return rows if all(len(row.text) <= _LONG_LINE for row in rows) else []


def read_file(path: str) -> str | None:
    """The text of a file for comparing; None where there is none, or it is no text of a readable size."""
    try:
        file = Path(path)
        if not file.is_file() or file.stat().st_size > _READABLE_BYTES:
            return None
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except (OSError, ValueError):
        return None
