"""One option of a question as a full row: marker, label, description under it, its key at the right.

The rows are real radio buttons and check boxes to Qt and to assistive tools; only the painting is ours. Nothing is
said by colour alone: a chosen row has a filled marker besides its border and tint, a focused one a ring outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QRadioButton, QSizePolicy, QWidget

from desktop import theme

RING = 4
"""Room around a row for the focus ring, in logical pixels: it lies outside the row's own border."""
_PAD = 11

_MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Home: -1000,
    Qt.Key.Key_End: 1000,
}


def lay_out(text: str, font: QFont, width: int) -> QTextLayout:
    """Plain text broken into lines of a width, inside words too when they are longer than a line."""
    layout = QTextLayout(text.replace("\n", "\u2028"), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    y = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(width, 16))
        line.setPosition(QPointF(0, y))
        y += line.height()
    layout.endLayout()
    return layout


def text_height(layout: QTextLayout) -> int:
    """The height of laid out text, in whole pixels."""
    return round(layout.boundingRect().height() + 0.49)

_CHORD = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)

if TYPE_CHECKING:

    class _Button(QAbstractButton):
        moved: Signal
        looked_at: Signal
        pointed_at: Signal
else:
    _Button = object


class OptionRow(_Button):
    """What radio and check rows share: everything but the class that Qt and assistive tools know them by.

    Signals of the two concrete classes:
        moved(int): an arrow key wants the focus so many rows down (negative: up).
        looked_at(bool): the row is focused (True), or no longer focused or hovered (False).
        pointed_at(QPoint): the pointer moves over the row, and is there on the screen. A row that appears under a
            pointer at rest is entered by it, but not pointed at.
    """

    one_of = True
    """Whether only one of the rows may be chosen."""

    def set_up(self, label: str, description: str, key: str) -> None:
        """Give the row its words: plain text, shown as it is. `key` is what its badge says, or ""."""
        self._label, self._description, self._key = label, description, key
        self._laid_out: tuple[object, QTextLayout, QTextLayout] | None = None
        # Not QAbstractButton.text: it would read `&` as a shortcut.
        self.setAccessibleName(label)
        self.setAccessibleDescription(description)
        self.setCheckable(True)
        # To assistive tools this alone tells a radio button from a check box.
        self.setAutoExclusive(self.one_of)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_checked(self, checked: bool) -> None:
        """Show whether it is chosen. Unlike a person, a program may take back the one choice of several."""
        # A checked button of an exclusive group cannot be unchecked.
        self.setAutoExclusive(False)
        self.setChecked(checked)
        self.setAutoExclusive(self.one_of)

    def text(self) -> str:
        """The label."""
        return self._label

    def description(self) -> str:
        return self._description

    def _text_width(self, width: int) -> int:
        badge = theme.px(36) if self._key else theme.px(12)
        return width - 2 * RING - theme.px(41) - badge

    def _words(self, width: int) -> tuple[QTextLayout, QTextLayout]:
        """Label and description laid out for a width; kept, since a row is measured and painted far more often."""
        inner = self._text_width(width)
        key = (inner, theme.theme.scale)
        if self._laid_out is None or self._laid_out[0] != key:
            label = lay_out(self._label, theme.text_font(semibold=True), inner)
            self._laid_out = (key, label, lay_out(self._description, _small_font(), inner))
        return self._laid_out[1:]

    def row_height(self, width: int) -> int:
        """The height the row needs at a width."""
        label, description = self._words(width)
        height = text_height(label)
        if self._description:
            height += theme.px(3) + text_height(description)
        return height + 2 * theme.px(_PAD) + 2 * RING

    def paint_row(self) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(self.rect()).adjusted(RING, RING, -RING, -RING)
        radius = theme.px(theme.CARD_RADIUS)
        chosen = self.isChecked()
        if self.hasFocus():
            painter.setPen(QPen(theme.role("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(card.adjusted(-2.5, -2.5, 2.5, 2.5), radius + 2.5, radius + 2.5)
        painter.setPen(QPen(theme.role("accent" if chosen else "line"), 1))
        hovered = self.underMouse() and self.isEnabled()
        painter.setBrush(theme.role("accent_tint" if chosen else "background" if hovered else "card"))
        painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        self._paint_marker(painter, card, chosen)
        self._paint_words(painter, self.width())
        if self._key:
            self._paint_key(painter, card)

    def _paint_marker(self, painter: QPainter, card: QRectF, chosen: bool) -> None:
        size = theme.px(16)
        box = QRectF(card.x() + theme.px(13), card.y() + theme.px(_PAD) + 1, size, size)
        accent, card_colour = theme.role("accent"), theme.role("card")
        painter.setPen(QPen(accent if chosen else theme.role("soft"), 1.2))
        painter.setBrush(accent if chosen else card_colour)
        if self.one_of:
            painter.drawEllipse(box)
            if chosen:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.role("on_accent"))
                painter.drawEllipse(box.center(), size * 0.19, size * 0.19)
            return
        painter.drawRoundedRect(box, size / 4, size / 4)
        if chosen:
            stroke = QPen(theme.role("on_accent"), max(1.6, size / 8))
            stroke.setCapStyle(Qt.PenCapStyle.RoundCap)
            stroke.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.setPen(stroke)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            points = ((0.25, 0.53), (0.43, 0.71), (0.76, 0.32))
            painter.drawPolyline(
                QPolygonF([QPointF(box.x() + x * size, box.y() + y * size) for x, y in points])
            )

    def _paint_words(self, painter: QPainter, width: int) -> None:
        label, description = self._words(width)
        x, y = RING + theme.px(41), RING + theme.px(_PAD)
        painter.setPen(theme.role("text"))
        label.draw(painter, QPointF(x, y))
        if self._description:
            y += text_height(label) + theme.px(3)
            painter.setPen(theme.role("soft"))
            description.draw(painter, QPointF(x, y))

    def _paint_key(self, painter: QPainter, card: QRectF) -> None:
        size = theme.px(20)
        badge = QRectF(card.right() - size - theme.px(12), card.y() + theme.px(_PAD) - 1, size, size)
        painter.setPen(QPen(theme.role("line"), 1))
        painter.setBrush(theme.role("card"))
        painter.drawRoundedRect(badge.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setFont(theme.text_font(12))
        painter.setPen(theme.role("soft"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, self._key)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.row_height(width)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(320), self.row_height(max(self.width(), theme.px(200))))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(160), theme.px(40))

    def hitButton(self, position: QPoint) -> bool:
        """The whole row can be clicked, not only its marker."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paint_row()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = None if event.modifiers() & _CHORD else _MOVES.get(Qt.Key(event.key()))
        if step is not None:
            self.moved.emit(step)
        elif event.key() == Qt.Key.Key_Space:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.looked_at.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.looked_at.emit(False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        # With a button held down the row gets the moves outside it too.
        if self.rect().contains(event.position().toPoint()):
            self.pointed_at.emit(event.globalPosition().toPoint())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.looked_at.emit(False)


def _small_font() -> QFont:
    return theme.text_font(theme.SECONDARY_SIZE)


class RadioRow(OptionRow, QRadioButton):
    """An option of which only one may be chosen."""

    moved = Signal(int)
    looked_at = Signal(bool)
    pointed_at = Signal(QPoint)

    def __init__(self, label: str, description: str, key: str, parent: QWidget | None = None) -> None:
        QRadioButton.__init__(self, parent)
        self.set_up(label, description, key)


class CheckRow(OptionRow, QCheckBox):
    """An option of which several may be chosen."""

    one_of = False
    moved = Signal(int)
    looked_at = Signal(bool)
    pointed_at = Signal(QPoint)

    def __init__(self, label: str, description: str, key: str, parent: QWidget | None = None) -> None:
        QCheckBox.__init__(self, parent)
        self.set_up(label, description, key)


def option_row(label: str, description: str, key: str, *, several: bool, parent: QWidget) -> RadioRow | CheckRow:
    """The row for an option of a question where one, or several, may be chosen."""
    return (CheckRow if several else RadioRow)(label, description, key, parent)
