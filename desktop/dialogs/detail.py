"""What a tool would do, in full: text or a diff that can be read, scrolled, selected and copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop import theme
from desktop.transcript.diffs import DiffRow, DiffView, edit_rows

_MOST = 300
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
        # The document of a QPlainTextEdit measures itself in lines.
        lines = max(1, int(self.document().size().height()))
        wanted = min(lines * self.fontMetrics().lineSpacing() + 2, theme.px(_MOST))
        if wanted != self.maximumHeight():
            self.setFixedHeight(wanted)
            self.updateGeometry()

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
    """Text in the code font."""

    def __init__(self, text: str, parent: QWidget) -> None:
        QPlainTextEdit.__init__(self, parent)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setProperty("role", "bare")
        self.setFont(theme.code_font())
        self.setPlainText(text)
        self.set_up()
        theme.theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.setFont(theme.code_font())
        self._fit()


class DetailDiff(_GrowsWithText, DiffView):
    """A diff by the transcript's own view."""

    def __init__(self, rows: list[DiffRow], parent: QWidget) -> None:
        DiffView.__init__(self, rows, parent)
        self.set_up()


def diff_of(tool_name: str, given: Mapping[str, Any]) -> list[DiffRow]:
    """What an editing tool would change, against the file as it is now; [] where that shows nothing."""
    return edit_rows(tool_name, given, read_file)


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
