"""The line at the bottom: what the conversation is at, what waits for the person, where the plan stands."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop import theme
from desktop.widgets import Dot, DotState, ElidedLabel, plain_label, set_role


class StatusLine(QWidget):
    """Three texts in a row.

    Signals:
        waiting_clicked: the person wants to be led to what waits.
    """

    waiting_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusLine")
        self.dot = Dot(self)
        self.state = plain_label("", "soft")
        self.state.setObjectName("statusState")
        self.waiting = ElidedLabel("", "soft", self)
        self.waiting.setObjectName("statusWaiting")
        self.waiting.setCursor(Qt.CursorShape.PointingHandCursor)
        self.plan = plain_label("", "soft")
        self.plan.setObjectName("statusPlan")
        self.plan.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(16), theme.px(4), theme.px(16), theme.px(4))
        row.setSpacing(theme.px(4))
        row.addWidget(self.dot)
        row.addWidget(self.state)
        row.addSpacing(theme.px(12))
        row.addWidget(self.waiting, 1)
        row.addWidget(self.plan)

    def show_words(self, dot: DotState, state: str, waiting: str, plan: str) -> None:
        """Show the three texts. The dot's colour is the state's, and never the only sign of it."""
        if (state, waiting, plan) == (self.state.text(), self.waiting.whole_text(), self.plan.text()):
            return
        self.dot.set_state(dot, state)
        self.dot.setVisible(dot != "rest")
        tone = {"waiting": "accent", "failed": "bad"}.get(dot, "")
        if self.state.property("tone") != tone:
            set_role(self.state, tone=tone)
        self.state.setText(state)
        self.waiting.set_whole_text(waiting)
        self.plan.setText(plan)
        self.setAccessibleName(self.text())

    def text(self) -> str:
        """All that it says, in one string."""
        return "  ".join(part for part in (self.state.text(), self.waiting.whole_text(), self.plan.text()) if part)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.waiting.geometry().contains(event.position().toPoint()) and self.waiting.whole_text():
            self.waiting_clicked.emit()
