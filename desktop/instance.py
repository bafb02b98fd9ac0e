"""One window a config folder: a second start hands its wish to the first, and ends."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

log = logging.getLogger("handraise.instance")

ANSWER_MS = 4000
MOST_BYTES = 65536
_DONE = b"ok\n"


@dataclass(frozen=True)
class Wish:
    """What a start wants: a folder to begin in, or just the window in front (folder "")."""

    folder: str = ""

    def encode(self) -> bytes:
        return json.dumps({"folder": self.folder}).encode() + b"\n"

    @classmethod
    def decode(cls, data: bytes) -> Wish | None:
        """None for what is no wish."""
        try:
            value: Any = json.loads(data)
        except (ValueError, RecursionError):
            return None
        folder = value.get("folder", "") if isinstance(value, dict) else None
        return cls(folder) if isinstance(folder, str) else None


def server_name(config: Path) -> str:
    """The name of the local socket of a config folder, of this user. Short: a socket's path must be."""
    who = f"{os.getuid() if hasattr(os, 'getuid') else os.environ.get('USERNAME', '')}:{config.absolute()}"
    return f"handraise-{hashlib.sha256(who.encode(errors='surrogateescape')).hexdigest()[:16]}"


class SingleInstance(QObject):
    """The right to be the one window of a config folder.

    Signals:
        wished(Wish): another start wants something.
    """

    wished = Signal(object)

    def __init__(self, config: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = server_name(config)
        config.mkdir(parents=True, exist_ok=True)
        self._lock = QLockFile(str(config / "instance.lock"))
        # Only a process that is gone makes the lock stale, however long the window stays open.
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None
        self._readers: dict[QLocalSocket, bytearray] = {}

    def claim(self) -> bool:
        """Become the one; False when another is. Works before there is an application."""
        return self._lock.tryLock(0)

    def other_pid(self) -> int:
        """The process id of the one that is, 0 when unknown."""
        if self._lock.error() != QLockFile.LockError.LockFailedError:
            return 0
        known, pid, *_ = self._lock.getLockInfo()
        return int(pid) if known else 0

    def listen(self) -> None:
        """Hear the wishes of later starts."""
        # What a killed window left behind would be in the way.
        QLocalServer.removeServer(self._name)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_connection)
        if not server.listen(self._name):
            log.warning("Later starts cannot be heard: %s", server.errorString())
        self._server = server

    def tell(self, wish: Wish) -> bool:
        """Hand a wish to the one; False when it does not answer. Blocks for some seconds at most."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(ANSWER_MS):
            return False
        socket.write(wish.encode())
        if not socket.waitForBytesWritten(ANSWER_MS):
            return False
        while bytes(socket.peek(len(_DONE)).data()) != _DONE:
            if not socket.waitForReadyRead(ANSWER_MS):
                return False
        return True

    def release(self) -> None:
        """Give the right up."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for socket in list(self._readers):
            self._forget(socket)
        self._lock.unlock()

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
