"""The way out: JSON lines on stdout, whole or mangled on demand, with an optional record of the traffic."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STDIN, STDOUT, STDERR = 0, 1, 2

NOISE = (
    "[debug] cache warmed in 12 ms",
    '["an", "array"]',
    "null",
    "42",
    '"a string"',
    '{"type":"assistant","message":{"role":',
    "\x1b[33mwarning:\x1b[0m a new version is available",
)
"""Lines that are not JSON objects, of the kinds that wrappers and loaders print on a shared stdout."""


class TrafficLog:
    """Appends what came in and went out to a file, one JSON object a line, for tests to read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def start(self, argv: list[str]) -> None:
        self._write({"start": {"argv": argv, "cwd": os.getcwd(), "pid": os.getpid(), "env": dict(os.environ)}})

    def received(self, value: Any) -> None:
        self._write({"in": value})

    def sent(self, value: Any) -> None:
        self._write({"out": value})

    def note(self, text: str) -> None:
        self._write({"note": text})

    def _write(self, value: dict[str, Any]) -> None:
        line = json.dumps({"t": round(time.time(), 3), **value}, ensure_ascii=True) + "\n"
        with self._path.open("a", encoding="ascii") as file:
            file.write(line)


class Output:
    """Writes to a file descriptor, so that nothing is buffered and a full pipe blocks, as with the real one.

    Attributes:
        style: "whole", "bytewise" (one byte a write), "emoji" (cut inside every character of several bytes),
            or a number of bytes a write.
        noise: whether a line that is no JSON object precedes every message.
        muted: whether everything is swallowed (for `-p` with text output).
        last_result: the newest `result` message.
    """

    def __init__(self, descriptor: int = STDOUT, log: TrafficLog | None = None) -> None:
        self._descriptor = descriptor
        self._log = log
        self._noise_index = 0
        self.style: str | int = "whole"
        self.noise = False
        self.muted = False
        self.last_result: dict[str, Any] = {}

    def send(self, value: Any) -> None:
        """One JSON line. Slashes and non-ASCII stay as they are, as Node's JSON.stringify leaves them."""
        if isinstance(value, dict) and value.get("type") == "result":
            self.last_result = value
        if self.noise:
            self.line(NOISE[self._noise_index % len(NOISE)])
            self._noise_index += 1
        if self._log:
            self._log.sent(value)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self.data(text.encode("utf-8", "replace") + b"\n")

    def line(self, text: str) -> None:
        self.data(text.encode("utf-8", "surrogateescape") + b"\n")

    def data(self, data: bytes) -> None:
        if self.muted:
            return
        for piece in _pieces(data, self.style):
            self._write_all(piece)

    def close(self) -> None:
        os.close(self._descriptor)

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError:
                # The host is gone or has closed our stdout: there is nobody left to tell.
                os._exit(1)


def write_stderr(data: bytes | str) -> None:
    """Writes straight to stderr, blocking while the pipe is full; a closed stderr is nobody's problem."""
    view = memoryview(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    while view:
        try:
            view = view[os.write(STDERR, view) :]
        except OSError:
            return


def binary_pipes() -> None:
    """On Windows the C runtime would turn every line feed into two characters; the real CLI does not."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (STDIN, STDOUT, STDERR):
            msvcrt.setmode(descriptor, os.O_BINARY)


def _pieces(data: bytes, style: str | int) -> list[bytes]:
    if style == "bytewise":
        style = 1
    if isinstance(style, int) and style > 0:
        return [data[start : start + style] for start in range(0, len(data), style)]
    if style == "emoji":
        return _split_inside_characters(data)
    return [data]


def _split_inside_characters(data: bytes) -> list[bytes]:
    pieces, start = [], 0
    for index in range(1, len(data)):
        if data[index] & 0xC0 == 0x80 and data[index - 1] & 0xC0 == 0xC0:
            pieces.append(data[start:index])
            start = index
    return [*pieces, data[start:]]
