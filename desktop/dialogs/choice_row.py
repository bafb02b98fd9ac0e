"""A button as wide as the card, whose text wraps and is never cut."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QTextLayout
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from desktop import theme
from desktop.dialogs.option_row import RING, lay_out, text_height


class ChoiceRow(QPushButton):
    """One thing that can be done, said in a whole sentence."""

    def __init__(self, words: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._laid_out: tuple[object, QTextLayout] | None = None
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setAutoDefault(False)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        """The sentence."""
        return self._words

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return text_height(self._layout(width)) + 2 * theme.px(8) + 2 * RING

    def sizeHint(self) -> QSize:
        return QSize(theme.px(320), self.heightForWidth(max(self.width(), theme.px(240))))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(160), theme.px(36))

    def _layout(self, width: int) -> QTextLayout:
        """The sentence laid out for a width; kept, since a row is measured and painted far more often."""
        key = (width, theme.theme.scale)
        if self._laid_out is None or self._laid_out[0] != key:
            room = width - 2 * RING - 2 * theme.px(12)
            self._laid_out = (key, lay_out(self._words, theme.text_font(theme.SECONDARY_SIZE), room))
        return self._laid_out[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(self.rect()).adjusted(RING, RING, -RING, -RING)
        radius = theme.px(theme.CONTROL_RADIUS)
        if self.hasFocus():
            painter.setPen(QPen(theme.role("accent"), 2))
            painter.drawRoundedRect(card.adjusted(-2.5, -2.5, 2.5, 2.5), radius + 2.5, radius + 2.5)
        painter.setPen(QPen(theme.role("line"), 1))
        ground = "line" if self.isDown() else "panel" if self.underMouse() else "card"
        painter.setBrush(theme.role(ground))
        painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setPen(theme.role("text"))
        self._layout(self.width()).draw(painter, QPointF(RING + theme.px(12), RING + theme.px(8)))
