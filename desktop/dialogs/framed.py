"""A quiet frame around something to read: a hairline, or a 2 px ring while the keyboard is in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop import theme


class Framed(QWidget):
    """Holds one text widget whose own frame is off.

    Attributes:
        column: the layout inside, for what else belongs in the frame.
    """

    def __init__(self, content: QWidget, parent: QWidget, *, ground: str = "code", pad: int = 8) -> None:
        """`ground` is a colour role, `pad` the room around the content in pixels at 100 %."""
        super().__init__(parent)
        self._content = content
        self._ground = ground
        self.column = QVBoxLayout(self)
        side = theme.px(pad)
        self.column.setContentsMargins(side + 2, side, 2, side)
        self.column.addWidget(content)
        self.setSizePolicy(content.sizePolicy())
        content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self._content.hasFocus()
        width = 2 if focused else 1
        inset = width / 2
        painter.setPen(QPen(theme.role("accent" if focused else "line"), width))
        painter.setBrush(theme.role(self._ground) if self._ground else Qt.BrushStyle.NoBrush)
        radius = theme.px(theme.CONTROL_RADIUS)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), radius, radius)
