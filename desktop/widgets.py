"""Small widgets that every room uses. Labels are plain text here; only the Markdown renderer makes rich text."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QSizePolicy, QStyledItemDelegate, QWidget

from desktop import theme

ButtonRole = Literal["primary", "outline", "quiet", "danger", "chip"]
DotState = Literal["waiting", "working", "done", "failed", "rest"]


def set_role(widget: QWidget, role: str = "", **properties: str | bool) -> None:
    """Give a widget a role of the style sheet, and other properties it selects by (`tone`, `problem`)."""
    if role:
        widget.setProperty("role", role)
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def style_popup(box: QComboBox) -> None:
    """Let the style sheet draw a combo box's list; the delegate that Qt gives it takes the style's own colours."""
    box.setItemDelegate(QStyledItemDelegate(box))


def plain_label(text: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """A label that shows its text as it is. QLabel alone guesses, and would take a model's `<b>` for HTML."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(wrap)
    if wrap:
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.MinimumExpanding)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    if role:
        label.setProperty("role", role)
    return label


def button(text: str, name: str = "", role: ButtonRole = "outline", parent: QWidget | None = None) -> QPushButton:
    """A push button that Enter does not press by itself.

    Args:
        text: what it says; an `&` is shown as such, since the texts can come from outside.
        name: its object name, by which tests and assistive tools find it.
        role: how it looks. There is no default button anywhere: what Enter does is decided by the dialog.
    """
    made = QPushButton(text.replace("&", "&&"), parent)
    made.setObjectName(name)
    made.setProperty("role", role)
    made.setAutoDefault(False)
    made.setDefault(False)
    made.setAccessibleName(text)
    return made


def hairline(parent: QWidget | None = None, *, vertical: bool = False) -> QFrame:
    """A line of one pixel between two areas."""
    line = QFrame(parent)
    line.setProperty("role", "hairline")
    line.setFrameShape(QFrame.Shape.NoFrame)
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line


class ElidedLabel(QLabel):
    """One line of plain text that ends in `…` where there is no room; the whole text is its tooltip then."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if role:
            self.setProperty("role", role)
        self._whole = ""
        self.set_whole_text(text)

    def set_whole_text(self, text: str) -> None:
        """Show a text; line breaks become spaces."""
        self._whole = " ".join(text.split())
        self.setAccessibleName(self._whole)
        self._elide()

    def whole_text(self) -> str:
        return self._whole

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, max(self.width(), 0))
        super().setText(shown)
        self.setToolTip(self._whole if shown != self._whole else "")

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, hint.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()


class Dot(QWidget):
    """The dot before a conversation. A shape as well as a colour: filled, ring, or none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: DotState = "rest"
        self.setFixedSize(theme.px(10), theme.px(10))

    def set_state(self, state: DotState, words: str) -> None:
        """Show a state. `words` say it for the tooltip and for screen readers."""
        self._state = state
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_dot(QPainter(self), QRectF(self.rect()), self._state)


def paint_dot(painter: QPainter, rect: QRectF, state: DotState) -> None:
    """Paint a conversation's dot into a square, for widgets and delegates alike."""
    colours = {"waiting": "accent", "working": "accent", "done": "good", "failed": "bad"}
    if state not in colours:
        return
    colour: QColor = theme.role(colours[state])
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state == "working":
        painter.setPen(QPen(colour, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(rect.adjusted(2, 2, -2, -2))
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(rect.adjusted(1, 1, -1, -1))
    painter.restore()
