"""Telling the person that something waits while the window is not in front.

A notification only leads to the dialog. It never carries buttons that answer: what is allowed must have been read.
"""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from desktop.conversations import OpenConversation
from desktop.settings import SettingsStore
from desktop.translations import tr
from protocol.conversation import PendingRequest

log = logging.getLogger("handraise.notifications")

SHOWN_MS = 15_000


def notification_words(opened: OpenConversation | None, request: PendingRequest) -> tuple[str, str]:
    """Title and text. The text names the conversation, and nothing of what is asked: screens are seen by others.

    Args:
        opened: the conversation; None for a request of a program that uses the local API.
        request: what waits.
    """
    titles = {
        "question": tr("Claude has a question"),
        "permission": tr("Claude asks for permission"),
        "plan": tr("Claude has a plan for you to read"),
        "elicitation": tr("Claude needs something from you"),
    }
    title = titles.get(request.kind, tr("Claude is waiting for you"))
    return title, opened.title if opened is not None else tr("Local API")


class Notifier(QObject):
    """Shows one notification at a time, the newest.

    Signals:
        opened(OpenConversation | None, request_id): the person clicked it, to be led to the dialog; None for the
            local API.
    """

    opened = Signal(object, str)

    def __init__(self, window: QWidget, settings: SettingsStore, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._settings = settings
        self._about: tuple[OpenConversation | None, str] | None = None
        self._tray: QSystemTrayIcon | None = None
        self._icon = icon

    def tell(self, opened: OpenConversation, request_id: str) -> None:
        """Something waits. Nothing happens while the person looks at the window."""
        request = opened.conversation.pending.get(request_id)
        if request is not None:
            self._tell(opened, request_id, request)

    def tell_of_local_api(self, key: str, request: PendingRequest) -> None:
        """The same for a request of a program that uses the local API."""
        self._tell(None, key, request)

    def _tell(self, opened: OpenConversation | None, request_id: str, request: PendingRequest) -> None:
        if self._window.isActiveWindow() or not self._settings.settings.notify:
            return
        QApplication.alert(self._window)
        self._about = (opened, request_id)
        title, text = notification_words(opened, request)
        tray = self._tray_icon()
        if tray is not None:
            tray.show()
            tray.showMessage(title, text, self._icon, SHOWN_MS)
        log.info("Told the person that %s waits", request.kind)

    def close(self) -> None:
        """Take the icon away."""
        if self._tray is not None:
            self._tray.hide()
            self._tray.deleteLater()
            self._tray = None

    def _tray_icon(self) -> QSystemTrayIcon | None:
        if self._tray is None and QSystemTrayIcon.isSystemTrayAvailable():
            self._tray = QSystemTrayIcon(self._icon, self)
            self._tray.setToolTip("Handraise")
            self._tray.messageClicked.connect(self.on_clicked)
            self._tray.activated.connect(lambda _: self.on_clicked())
        return self._tray

    def on_clicked(self) -> None:
        """The person clicked the notification or the icon: lead to what waits, and answer nothing."""
        if self._about is not None:
            opened, request_id = self._about
            self._about = None
            self.opened.emit(opened, request_id)
        else:
            self._window.show()
            self._window.raise_()
            self._window.activateWindow()
