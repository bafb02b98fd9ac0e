"""Threads at the pipes: one reads, one writes from a queue, one drains stderr. No Qt, no asyncio.

In the desktop the reader is a QThread; the loop it runs is `read_stream`, the same as everywhere.
"""

from __future__ import annotations

import logging
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger(__name__)

CHUNK_BYTES = 256 * 1024
"""The most that one read takes: into the same memory each time, since fresh memory of this size costs more than the
reading (a tenth of the time from the pipe to typed messages, see `tests.benchmarks.wire`)."""
_GIVE_UP_CHECK = 0.1


class Readable(Protocol):
    """The reading end of a pipe, raw: `readinto` waits for data and takes what there is, nothing at the end."""

    def readinto(self, buffer: bytearray, /) -> int | None:
        """The number of bytes put into `buffer`."""


class Writable(Protocol):
    """The writing end of a pipe, raw: `write` may take a part, or return None when a pipe is full."""

    def write(self, data: bytes | memoryview, /) -> int | None:
        """The number of bytes taken."""

    def close(self) -> None:
        """The other end sees the end of the stream."""


class ThreadHandle(Protocol):
    """A running thread, of Qt or of Python."""

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds; True when the thread has ended."""


RunThread = Callable[[Callable[[], None], str], ThreadHandle]
"""Runs a function on a thread of the given name."""


class _PlainThread:
    def __init__(self, function: Callable[[], None], name: str) -> None:
        self._function = function
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def join(self, timeout: float) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._function()
        except Exception:
            log.exception("the thread %s failed", self._thread.name)


def run_plain_thread(function: Callable[[], None], name: str) -> ThreadHandle:
    """Run `function` on a Python thread that does not keep the program alive; failures are logged."""
    return _PlainThread(function, name)


def read_stream(stream: Readable, on_data: Callable[[bytes], None]) -> None:
    """Hand over everything that `stream` yields; return when it ends or is closed.

    Never raises. A failing `on_data` is logged and does not stop the reading: a full pipe would stop the CLI.
    """
    buffer = bytearray(CHUNK_BYTES)
    view = memoryview(buffer)
    while True:
        try:
            size = stream.readinto(buffer)
        except (OSError, ValueError):
            return
        if not size:
            return
        data = bytes(view[:size])
        try:
            on_data(data)
        except Exception:
            log.exception("the receiver of %d bytes failed", len(data))


class StreamWriter:
    """The only writer to a pipe: whole pieces, in the order they were put, on its own thread.

    Attributes:
        failed: what ended the writing (the other end is gone), None while all is well.
    """

    def __init__(
        self, stream: Writable, *, name: str = "stdin writer", run_thread: RunThread = run_plain_thread
    ) -> None:
        self._stream = stream
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._given_up = False
        self._failed: OSError | ValueError | None = None
        self._thread = run_thread(self._run, name)

    @property
    def failed(self) -> OSError | ValueError | None:
        """The error that ended the writing."""
        return self._failed

    def put(self, data: bytes) -> bool:
        """Queue `data`; never blocks. False when it cannot be written any more."""
        with self._changed:
            if self._closing or self._failed is not None:
                return False
            self._queue.append(data)
            self._changed.notify()
        return True

    def close(self, timeout: float) -> bool:
        """Write what is queued, then close the stream; at most `timeout` seconds, then the rest is given up.

        True when everything was written and the stream is closed. May be called again, and from any thread.
        """
        with self._changed:
            self._closing = True
            self._changed.notify()
        if not self._thread.join(timeout):
            self._given_up = True
            return False
        return self._failed is None and not self._queue

    def _run(self) -> None:
        try:
            while (data := self._next()) is not None:
                self._write(data)
        except (OSError, ValueError) as error:
            self._failed = error
        finally:
            try:
                self._stream.close()
            except OSError as error:
                log.debug("closing the stream: %s", error)

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return self._queue.popleft() if self._queue else None

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = self._stream.write(rest)
            if written is None:
                self._wait_for_room()
            rest = rest[written or 0 :]

    def _wait_for_room(self) -> None:
        """The pipe is full: wait until the other end reads, or until nobody wants the rest any more."""
        poll = select.poll()
        poll.register(self._stream.fileno(), select.POLLOUT)  # type: ignore[attr-defined]
        while not poll.poll(_GIVE_UP_CHECK * 1000):
            if self._given_up:
                raise BrokenPipeError("given up: the other end does not read")


class StderrTail:
    """Drains a stream on its own thread, for a CLI stalls when nobody does, and keeps its last bytes."""

    def __init__(
        self,
        stream: Readable,
        max_bytes: int = 16384,
        *,
        name: str = "stderr reader",
        run_thread: RunThread = run_plain_thread,
    ) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._kept = b""
        self._cut = False
        self._thread = run_thread(lambda: read_stream(stream, self._keep), name)

    def text(self) -> str:
        """The last lines: whole ones, unless one line alone is longer than what is kept."""
        with self._lock:
            kept, cut = self._kept, self._cut
        if cut:
            _, newline, rest = kept.partition(b"\n")
            kept = rest if newline and rest else kept
        return kept.decode("utf-8", errors="replace")

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end of the stream; True when all of it was read."""
        return self._thread.join(timeout)

    def _keep(self, data: bytes) -> None:
        with self._lock:
            kept = self._kept + data
            self._cut = self._cut or len(kept) > self._max_bytes
            self._kept = kept[-self._max_bytes :]
