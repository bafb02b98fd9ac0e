"""Ctrl-C and SIGTERM while Qt's loop runs: Python's handlers alone would wait for the next event."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier

from desktop.hangup import is_unwanted

_HARD_EXIT = 130


class SignalWatcher(QObject):
    """Calls `on_signal(number)` on the GUI thread for each SIGINT and SIGTERM (SIGHUP, too: the terminal is gone).

    A third one ends the process at once, for a person whose patience is over.
    """

    def __init__(self, on_signal: Callable[[int], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_signal = on_signal
        self._count = 0
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._before: dict[int, Any] = {}
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
            number = getattr(signal, name, None)
            if number is not None and not is_unwanted(number):
                self._before[number] = signal.signal(number, self._handle)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_ready)

    def close(self) -> None:
        """Put everything back as it was."""
        self._notifier.setEnabled(False)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: object) -> None:
        self._count += 1
        if self._count >= 3:
            os._exit(_HARD_EXIT)

    def _on_ready(self) -> None:
        numbers = b""
        with contextlib.suppress(OSError):
            numbers = self._reader.recv(64)
        for number in numbers:
            if number in self._before:
                self._on_signal(number)
