"""The parts of a request's card that are the same for every kind: its ground, and the notices about it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.layouts import SplitRow
from desktop.translations import tr
from desktop.widgets import button, plain_label

SHADOW = 16
"""Room around the card in which its shadow falls, in logical pixels."""


def paint_card(widget: QWidget, *, embedded: bool) -> None:
    """Paint the ground of a request: a round card with a soft shadow, or a plain sheet in a window of its own."""
    painter = QPainter(widget)
    if not embedded:
        painter.fillRect(widget.rect(), theme.role("card"))
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    card = QRectF(widget.rect()).adjusted(SHADOW, SHADOW // 2, -SHADOW, -SHADOW)
    radius = float(theme.px(theme.DIALOG_RADIUS))
    painter.setPen(Qt.PenStyle.NoPen)
    # Painted, not a QGraphicsEffect: an effect renders the whole card off screen at each key stroke.
    for spread in range(SHADOW, 0, -1):
        nearness = 1 - spread / SHADOW
        painter.setBrush(QColor(0, 0, 0, 1 + round((9 if theme.is_dark() else 2.6) * nearness * nearness)))
        grown = card.adjusted(-spread + 1, -spread / 2 + 2, spread - 1, spread)
        painter.drawRoundedRect(grown, radius + spread, radius + spread)
    painter.setBrush(theme.role("card"))
    painter.setPen(QPen(theme.role("line"), 1))
    painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)


class MoveOutButton(QAbstractButton):
    """Moves the card out into a window of its own, and back."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("moveOut")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._out = False
        self.set_out(False)

    def set_out(self, out: bool) -> None:
        """Say whether the card is out."""
        self._out = out
        words = tr("Move back into the conversation") if out else tr("Move out into a window of its own")
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(28), theme.px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(theme.role("accent"), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.role("panel"))
            painter.drawRoundedRect(area, theme.px(6), theme.px(6))
        unit = area.width() / 26
        painter.translate(area.center())
        painter.scale(unit, unit)
        painter.setPen(QPen(theme.role("text" if self.underMouse() else "soft"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(*p) for p in ((-1, -5), (-6, -5), (-6, 6), (5, 6), (5, 1))]))
        tip, tail = (QPointF(6, -6), QPointF(-1, 1))
        if self._out:
            tip, tail = tail, tip
        painter.drawLine(tail, tip)
        turn = -1 if self._out else 1
        painter.drawLine(tip, QPointF(tip.x() - 5 * turn, tip.y()))
        painter.drawLine(tip, QPointF(tip.x(), tip.y() + 5 * turn))

    def enterEvent(self, event: object) -> None:
        self.update()

    def leaveEvent(self, event: object) -> None:
        self.update()


class CardQuestion(SplitRow):
    """A question asked inside the card, in place of its buttons. Nothing is done by itself; `keep` has the focus.

    Signals: confirmed, kept.
    """

    confirmed = Signal()
    kept = Signal()

    def __init__(self, sentence: str, confirm: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("cardQuestion")
        label = plain_label(sentence, "semibold")
        self.setAccessibleName(sentence)
        self.left.addWidget(label)
        self.keep = button(tr("Keep writing"), "keepWriting")
        self.keep.setAccessibleDescription(sentence)
        self.confirm = button(confirm, "throwAway", "danger")
        self.right.addWidget(self.keep)
        self.right.addWidget(self.confirm)
        self.keep.clicked.connect(self.kept)
        self.confirm.clicked.connect(self.confirmed)


class AwayNotice(QFrame):
    """Stands in the conversation for a card that was moved out.

    Signals: bring_back, show_window.
    """

    bring_back = Signal()
    show_window = Signal()

    def __init__(self, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("movedOutNotice")
        self.setProperty("role", "notice")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(12), theme.px(8), theme.px(12), theme.px(8))
        row.addWidget(plain_label(words, "soft", wrap=True), 1)
        show = button(tr("Show it"), "showMovedOut", "quiet")
        back = button(tr("Bring it back"), "bringBack", "quiet")
        show.clicked.connect(self.show_window)
        back.clicked.connect(self.bring_back)
        row.addWidget(show)
        row.addWidget(back)
        self.setMaximumWidth(theme.column_width())

    def sizeHint(self) -> QSize:
        return QSize(theme.column_width(), super().sizeHint().height())
