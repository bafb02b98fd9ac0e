"""A model's Markdown inside a dialog, by the transcript's own renderer: no HTML, no images, links by allow-list."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop import theme
from desktop.transcript.markdown import MarkdownView


class ProseView(MarkdownView):
    """As high as its text, up to a limit; the rest scrolls. It can be read and scrolled by keyboard."""

    def __init__(self, name: str, label: str, parent: QWidget, *, limit: int) -> None:
        """`limit` is the most height it asks for, in pixels at 100 %."""
        super().__init__("", parent)
        self._limit = limit
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setProperty("role", "bare")
        self.setTabChangesFocus(True)
        self.setCursorWidth(0)
        self.document().setDocumentMargin(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        height = round(self.document().size().height() + 0.49) + 2 * self.frameWidth() + theme.px(4)
        return QSize(theme.px(240), min(height, theme.px(self._limit)))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(120), min(self.sizeHint().height(), theme.px(64)))
