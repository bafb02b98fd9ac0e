"""One window a config folder: a second start hands its wish to the first, and ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QLockFile, QObject, Signal

if TYPE_CHECKING:
    # Loaded when it listens or tells: the right is claimed before the window appears, and that needs no network.
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

log = logging.getLogger("handraise.instance")

Answer = Literal["done", "silent", "absent"]
"""`silent`: it is there and does not answer. `absent`: it does not listen, or does not any more."""

ANSWER_MS = 4000
MOST_BYTES = 65536
_DONE = b"ok\n"


@dataclass(frozen=True)
class Wish:
    """What a start wants.

    Attributes:
        folder: to begin in; "" wants just the window in front.
        token: with which Wayland lets the window come to the front, "" elsewhere.
    """

    folder: str = ""
    token: str = ""

    def encode(self) -> bytes:
        return json.dumps({"folder": self.folder, "token": self.token}).encode() + b"\n"

    @classmethod
    def decode(cls, data: bytes) -> Wish | None:
        """None for what is no wish."""
        try:
            value: Any = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        folder, token = value.get("folder", ""), value.get("token", "")
        return cls(folder, token) if isinstance(folder, str) and isinstance(token, str) else None


def server_name(config: Path) -> str:
    """The name of the local socket of a config folder, of this user. Short: a socket's path must be."""
    import hashlib

    who = f"{os.getuid() if hasattr(os, 'getuid') else os.environ.get('USERNAME', '')}:{config.absolute()}"
    return f"handraise-{hashlib.sha256(who.encode(errors='surrogateescape')).hexdigest()[:16]}"


def _lock_in(folder: Path) -> QLockFile:
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    lock = QLockFile(str(folder / "instance.lock"))
    # Only a process that is gone makes the lock stale, however long the window stays open.
    lock.setStaleLockTime(0)
    return lock


def _is_taken(lock: QLockFile) -> bool:
    return lock.error() == QLockFile.LockError.LockFailedError


class SingleInstance(QObject):
    """The right to be the one window of a config folder.

    Attributes:
        folder: that folder.

    Signals:
        wished(Wish): another start wants something.
    """

    wished = Signal(object)

    def __init__(self, config: Path, data: Path | None = None, parent: QObject | None = None) -> None:
        """
        Args:
            config: the folder of the settings; a window with another one is another program, as it were.
            data: the folder of the drafts, where it is not below `config`: two windows must not share it, either.
        """
        super().__init__(parent)
        self.folder = config
        config.mkdir(parents=True, exist_ok=True)
        self._lock = _lock_in(config)
        self._data_lock = _lock_in(data) if data is not None else None
        self._server: QLocalServer | None = None
        self._readers: dict[QLocalSocket, bytearray] = {}

    def claim(self) -> bool:
        """Become the one; False when another is. Works before there is an application."""
        if not self._lock.tryLock(0):
            return False
        # A folder for data that cannot be written to is another trouble, which the window tells.
        if self._data_lock is not None and not self._data_lock.tryLock(0) and _is_taken(self._data_lock):
            self._lock.unlock()
            return False
        return True

    @property
    def is_taken(self) -> bool:
        """After `claim` failed: whether another is the one. Otherwise nothing can be written there."""
        return any(_is_taken(lock) for lock in filter(None, (self._lock, self._data_lock)))

    @property
    def can_be_told(self) -> bool:
        """Whether the other one has the same settings. One that shares the drafts alone listens somewhere else."""
        return _is_taken(self._lock)

    def other_pid(self) -> int:
        """The process id of the one that is, 0 when unknown."""
        for lock in filter(None, (self._lock, self._data_lock)):
            if _is_taken(lock):
                # (process id, host, program); the stubs have the success of the call before them.
                return next((value for value in lock.getLockInfo() or () if type(value) is int), 0)
        return 0

    def listen(self) -> None:
        """Hear the wishes of later starts."""
        from PySide6.QtNetwork import QLocalServer

        # What a killed window left behind would be in the way.
        QLocalServer.removeServer(server_name(self.folder))
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_connection)
        if not server.listen(server_name(self.folder)):
            log.warning("Later starts cannot be heard: %s", server.errorString())
        self._server = server

    def tell(self, wish: Wish) -> Answer:
        """Hand a wish to the one. Blocks for some seconds at most."""
        from PySide6.QtNetwork import QLocalSocket

        socket = QLocalSocket()
        socket.connectToServer(server_name(self.folder))
        if not socket.waitForConnected(ANSWER_MS):
            return "absent"
        socket.write(wish.encode())
        goes_on = socket.waitForBytesWritten(ANSWER_MS)
        while goes_on and bytes(socket.peek(len(_DONE)).data()) != _DONE:
            goes_on = socket.waitForReadyRead(ANSWER_MS)
        if goes_on:
            return "done"
        return "silent" if socket.state() == QLocalSocket.LocalSocketState.ConnectedState else "absent"

    def stop_listening(self) -> None:
        """Hear nothing any more, and be the one until the end."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for socket in list(self._readers):
            self._forget(socket)

    def release(self) -> None:
        """Give the right up."""
        self.stop_listening()
        for lock in filter(None, (self._data_lock, self._lock)):
            lock.unlock()

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            self._readers[socket] = bytearray()
            socket.readyRead.connect(lambda socket=socket: self._on_data(socket))
            socket.disconnected.connect(lambda socket=socket: self._forget(socket))
            self._on_data(socket)

    def _on_data(self, socket: QLocalSocket) -> None:
        received = self._readers.get(socket)
        if received is None:
            return
        received += bytes(socket.readAll().data())
        line, newline, _ = bytes(received).partition(b"\n")
        if newline:
            wish = Wish.decode(line)
            if wish is not None:
                socket.write(_DONE)
                socket.flush()
                self.wished.emit(wish)
            self._readers[socket] = bytearray()
        elif len(received) > MOST_BYTES:
            self._forget(socket)

    def _forget(self, socket: QLocalSocket) -> None:
        if self._readers.pop(socket, None) is not None:
            socket.abort()
            socket.deleteLater()
