"""The preview of an option, as Markdown in a panel of its own."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.framed import Framed
from desktop.dialogs.layouts import UNLIMITED
from desktop.dialogs.option_row import RING
from desktop.dialogs.prose import ProseView
from desktop.translations import tr
from desktop.widgets import plain_label

_LEAST, _MOST = 96, 300
STRIP = 72
"""The height, at 100 %, that it keeps under the options where there is no room for both."""


class PreviewPanel(QWidget):
    """Shows one preview, or a hint where there is none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("preview")
        self._shown = ""
        self.prose = ProseView("previewText", tr("Preview"), self, limit=_MOST)
        frame = Framed(self.prose, self, pad=6)
        frame.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        inner = frame.column
        self._hint = plain_label("", "soft", wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        inner.insertWidget(0, self._hint)
        inner.setStretch(1, 1)
        self._outer = QVBoxLayout(self)
        self._outer.addWidget(frame)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def show_preview(self, label: str, markdown: str) -> None:
        """Show an option's preview."""
        words = tr("Preview of “{label}”", label=label)
        self.setAccessibleName(words)
        self.prose.setAccessibleName(words)
        self._hint.hide()
        self.prose.show()
        if markdown != self._shown:
            self._shown = markdown
            self.prose.set_markdown(markdown)
            self.prose.verticalScrollBar().setValue(0)

    def show_hint(self, sentence: str) -> None:
        """Say why there is no preview to be seen."""
        self.setAccessibleName(sentence)
        self.prose.hide()
        self._hint.setText(sentence)
        self._hint.show()

    def set_beside(self, width: int | None) -> None:
        """Stand beside the options at a width, or under them (None)."""
        # The rows keep room for their focus ring; the panel keeps the same, so that the borders are in line.
        if width is not None:
            self._outer.setContentsMargins(0, RING, 0, RING)
            self.setFixedWidth(width)
        else:
            self._outer.setContentsMargins(RING, RING, RING, RING)
            self.setMinimumWidth(0)
            self.setMaximumWidth(UNLIMITED)

    def heightForWidth(self, width: int) -> int:
        return max(super().heightForWidth(width), theme.px(_LEAST))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width(), max(hint.height(), theme.px(_LEAST)))
