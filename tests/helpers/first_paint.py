"""Sees from outside when a program's first window is painted: a client of the X server that watches all windows.

It speaks the X protocol itself, and asks the server's DAMAGE extension to be told of everything that is drawn. So it
needs no library, and every program is seen the same way.
"""

from __future__ import annotations

import socket
import struct
import time
from types import TracebackType

SECONDS = 60.0

_ERROR, _REPLY, _CREATED, _MAPPED = 0, 1, 16, 19
_EVENT_BYTES = 32
_SUBSTRUCTURE = 1 << 19
_ANY_CHANGE = 3


class FirstPaint:
    """A watch on the windows of a virtual screen that appear from now on. Use it as a context manager.

    `display` is a local one without authority, such as ":7".
    """

    def __init__(self, display: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(SECONDS)
        self._socket.connect(f"/tmp/.X11-unix/X{display.removeprefix(':')}")
        self._resource, root = self._set_up()
        self._major, self._damaged = self._find_damage()
        self._shown: set[int] = set()
        self._send(struct.pack("<BxHIII", 2, 4, root, 1 << 11, _SUBSTRUCTURE))  # ChangeWindowAttributes
        self._ask(struct.pack("<BxH", 43, 1))  # GetInputFocus: from its reply on, the watch is certain

    def __enter__(self) -> FirstPaint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def wait(self) -> float:
        """The `time.perf_counter()` at which something is drawn in a window that is on the screen.

        Raises:
            TimeoutError: nothing is, for a minute.
        """
        while True:
            event = self._read(_EVENT_BYTES)
            code = event[0] & 0x7F
            (window,) = struct.unpack_from("<I", event, 4 if code == self._damaged else 8)
            if code == _CREATED:
                self._resource += 1
                self._send(struct.pack("<BBHIIBxxx", self._major, 1, 4, self._resource, window, _ANY_CHANGE))
            elif code == _MAPPED:
                self._shown.add(window)
            elif code == self._damaged and window in self._shown:
                return time.perf_counter()

    def _set_up(self) -> tuple[int, int]:
        """Introduces itself; gives the first free resource number and the root window."""
        self._send(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
        accepted, length = struct.unpack("<B5xH", self._read(8))
        told = self._read(4 * length)
        if accepted != 1:
            raise ConnectionRefusedError("the X server does not take this client")
        base, vendor, formats = struct.unpack_from("<4xI8xHxxxB", told)
        (root,) = struct.unpack_from("<I", told, 32 + (vendor + 3) // 4 * 4 + 8 * formats)
        return base, root

    def _find_damage(self) -> tuple[int, int]:
        """The opcode of the DAMAGE extension, and the code of its event."""
        name = b"DAMAGE"
        reply = self._ask(struct.pack("<BxHHxx8s", 98, 4, len(name), name))
        present, major, event = struct.unpack_from("<BBB", reply, 8)
        if not present:
            raise ConnectionError("the X server lacks the extension DAMAGE")
        self._ask(struct.pack("<BBHII", major, 0, 3, 1, 1))  # its version, without which it does nothing
        return major, event

    def _ask(self, request: bytes) -> bytes:
        """Sends a request whose reply is short; gives the reply. No event may be on its way yet."""
        self._send(request)
        reply = self._read(_EVENT_BYTES)
        if reply[0] != _REPLY:
            raise ConnectionError(f"the X server answered {reply[:2]!r}")
        return reply

    def _send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the X server is gone")
            data += piece
        return data
