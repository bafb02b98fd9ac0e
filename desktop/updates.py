"""Asking GitHub once a day whether there is a newer release, if the person wants that. Nothing is installed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QSettings, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest

from desktop import __version__
from desktop.release import ADDRESS, MOST_BYTES, OddAnswerError, Release, newer_release
from desktop.settings import Settings, SettingsStore

log = logging.getLogger("handraise.updates")

DAY = 24 * 60 * 60.0
FIRST_MS = 15_000
"""The first look comes after everything that the person waits for."""
AGAIN_MS = 60 * 60 * 1000
TIMEOUT_MS = 20_000
_ASKED, _SKIPPED = "updates/asked", "updates/skipped"


class UpdateCheck(QObject):
    """Looks for a release. Whatever goes wrong is a line in the log; the person is told of releases only.

    Signals:
        found(Release): there is one that the person was not told to leave alone.
    """

    found = Signal(object)

    def __init__(
        self,
        settings: SettingsStore,
        memory: QSettings,
        parent: QObject | None = None,
        *,
        address: str = ADDRESS,
        current: str = __version__,
        now: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            settings: `check_updates` decides; it is read before each look.
            memory: keeps when was asked last, and what is not to be told again.
            address: what is asked.
            current: the version of this program.
            now: the time in seconds.
        """
        super().__init__(parent)
        self._settings = settings
        self._memory = memory
        self._address = address
        self._current = current
        self._now = now
        self._reply: QNetworkReply | None = None
        self._manager: QNetworkAccessManager | None = None
        self._data = bytearray()
        self._told: Release | None = None
        self._timer = QTimer(self, interval=FIRST_MS)
        self._timer.timeout.connect(self._on_timer)
        self._timer.start()
        self._was_on = settings.settings.check_updates
        settings.subscribe(self._on_settings)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is waited for."""
        return self._reply is not None

    def look_if_due(self) -> bool:
        """Ask, unless the person does not want it or it was done within a day; returns whether it asks."""
        if not self._settings.settings.check_updates or self._reply is not None or not self._is_due():
            return False
        # Before the answer: a request that fails is not repeated before tomorrow, either.
        self._memory.setValue(_ASKED, repr(self._now()))
        self._memory.sync()
        self._ask()
        return True

    def skip(self) -> None:
        """The person has put the word about a release away: it is not told again."""
        if self._told is not None:
            self._memory.setValue(_SKIPPED, self._told.version)
            self._memory.sync()

    def _is_due(self) -> bool:
        try:
            asked = float(str(self._memory.value(_ASKED, "0")))
        except ValueError:
            return True
        # A clock that was put back counts as a day gone by.
        return not 0 <= self._now() - asked < DAY

    def _on_timer(self) -> None:
        self._timer.setInterval(AGAIN_MS)
        self.look_if_due()

    def _on_settings(self, settings: Settings) -> None:
        was_on, self._was_on = self._was_on, settings.check_updates
        if settings.check_updates and not was_on:
            self.look_if_due()
        elif not settings.check_updates and self._reply is not None:
            self._reply.abort()

    def _ask(self) -> None:
        if self._manager is None:
            self._manager = QNetworkAccessManager(self)
        self._data.clear()
        reply = self._manager.get(request_to(self._address))
        # Never more than this lies in memory, however much is sent.
        reply.setReadBufferSize(MOST_BYTES + 1)
        reply.readyRead.connect(self._on_data)
        reply.finished.connect(self._on_finished)
        self._reply = reply

    def _on_data(self) -> None:
        reply = self._reply
        if reply is None:
            return
        self._data += bytes(reply.readAll().data())
        if len(self._data) > MOST_BYTES:
            log.info("The answer about releases is too long")
            reply.abort()

    def _on_finished(self) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        reply.deleteLater()
        if reply.error() != QNetworkReply.NetworkError.NoError:
            log.info("Releases could not be asked about: %s", reply.errorString())
            return
        try:
            release = newer_release(bytes(self._data + bytes(reply.readAll().data())), self._current)
        except OddAnswerError as error:
            log.info("The answer about releases cannot be used: %s", error)
            return
        if release is not None and release.version != self._memory.value(_SKIPPED, ""):
            self._told = release
            self.found.emit(release)


def request_to(address: str) -> QNetworkRequest:
    """One GET that says which program asks, and nothing about who."""
    request = QNetworkRequest(QUrl(address))
    request.setRawHeader(b"User-Agent", f"Handraise/{__version__}".encode())
    request.setRawHeader(b"Accept", b"application/vnd.github+json")
    # Qt would send the person's language, and take a small answer that unpacks to a huge one.
    request.setRawHeader(b"Accept-Language", b"*")
    request.setRawHeader(b"Accept-Encoding", b"identity")
    attribute = QNetworkRequest.Attribute
    request.setAttribute(attribute.RedirectPolicyAttribute, QNetworkRequest.RedirectPolicy.SameOriginRedirectPolicy)
    request.setAttribute(attribute.CookieLoadControlAttribute, QNetworkRequest.LoadControl.Manual)
    request.setAttribute(attribute.CookieSaveControlAttribute, QNetworkRequest.LoadControl.Manual)
    request.setMaximumRedirectsAllowed(3)
    request.setTransferTimeout(TIMEOUT_MS)
    return request
