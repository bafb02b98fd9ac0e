"""The way to the local API's page, in the sidebar."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from desktop import theme
from desktop.keys import as_typed
from desktop.translations import tr
from desktop.widgets import Dot, DotState, plain_label, set_role

KEY = "Ctrl+Shift+L"


class LocalApiButton(QPushButton):
    """A row with a dot: filled while a question waits, a ring while requests are answered, green while it is on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("localApiButton")
        self.setAutoDefault(False)
        self.setCheckable(True)
        set_role(self, "row")
        self.dot = Dot(self)
        self.words = plain_label(tr("Local API"))
        self.state = plain_label("", "soft")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(7), 0, theme.px(8), 0)
        row.setSpacing(theme.px(12))
        row.addWidget(self.dot)
        row.addWidget(self.words, 1)
        row.addWidget(self.state)
        for part in (self.dot, self.words, self.state):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.show_state("rest", tr("Off"))

    def nextCheckState(self) -> None:
        """It is checked while its page is shown, not by being pressed."""

    def show_state(self, dot: DotState, words: str) -> None:
        """Show what the endpoint is at."""
        self.dot.set_state(dot, words)
        self.state.setText(words)
        whole = tr("Local API: {state}", state=words)
        self.setAccessibleName(whole)
        self.setToolTip(tr("{what} ({key})", what=whole, key=as_typed(KEY)))

    def sizeHint(self) -> QSize:
        return QSize(theme.px(120), theme.px(36))
