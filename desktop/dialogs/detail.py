"""What a tool would do, in full: text that can be read, scrolled, selected and copied."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop import theme
from desktop.widgets import set_role

_MOST = 300


class DetailText(QPlainTextEdit):
    """Text in the code font, as high as its content up to a limit; the rest scrolls. Nothing is ever cut."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_role(self, "code")
        self.setFont(theme.code_font())
        self.document().setDocumentMargin(theme.px(2))
        self.setPlainText(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = max(1, int(self.document().size().height()))
        height = lines * self.fontMetrics().lineSpacing() + theme.px(22)
        wanted = min(height, theme.px(_MOST))
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
