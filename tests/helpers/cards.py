"""A conversation's page with a request's card above a composer, as the window has it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.dialogs.base import RequestDialog
from tests.helpers import requests


class Page(QWidget):
    """Holds cards above a composer.

    Attributes:
        composer: a text field that has the focus until a card takes it.
        answers: what the cards decided, in order.
    """

    def __init__(self, qtbot: QtBot, width: int = 900, height: int = 700) -> None:
        super().__init__()
        self._qtbot = qtbot
        qtbot.addWidget(self)
        self.answers: list[dict[str, Any]] = []
        self._column = QVBoxLayout(self)
        self._column.addStretch(1)
        self.composer = QPlainTextEdit(self)
        self.composer.setMaximumHeight(48)
        self.composer.setTabChangesFocus(True)
        self._column.addWidget(self.composer)
        self.resize(width, height)
        self.show()
        qtbot.waitExposed(self)
        self.activateWindow()
        self.composer.setFocus()
        qtbot.waitUntil(self.composer.hasFocus)

    def put(self, request: dict[str, Any], **context: Any) -> RequestDialog:
        """Show the card for a request."""
        card = requests.dialog(request, self, **context)
        card.decided.connect(self.answers.append)
        self._column.insertWidget(1, card, 0, Qt.AlignmentFlag.AlignHCenter)
        card.show()
        self._qtbot.waitUntil(card.isVisible)
        settle()
        return card


def settle() -> None:
    """Let the layouts and the queued signals of this moment happen."""
    for _ in range(5):
        QTest.qWait(1)
