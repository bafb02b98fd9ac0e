"""From the reading thread to the event loop: bytes in, lines out, a few milliseconds at a time.

A CLI can print faster than anybody reads. Three measures keep a loop alive that also draws a window: wake-ups are
coalesced (one for many pieces), a turn of the loop works for `SLICE_SECONDS` at most, and a reader that is far ahead
waits, so that the flood backs up into the pipe and slows down its source.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from protocol.messages import fast_json
from protocol.wire import Line, LineReader

SLICE_SECONDS = 0.004
"""How long one turn of the loop may parse and apply lines. A single huge line can take longer."""

MOST_WAITING_BYTES = 4 * 1024 * 1024
"""How much may wait for the loop before the reading thread pauses."""

_CHECK_SECONDS = 0.2


class Incoming:
    """What a reading thread brings, as lines on the loop.

    `put` and `end` belong to the thread, everything else to the loop.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[Line], None],
        on_pause: Callable[[], None],
    ) -> None:
        """`on_line` gets each line; `on_pause` is called whenever a run of them is over."""
        self._loop = loop
        self._on_line = on_line
        self._on_pause = on_pause
        self._reader = LineReader(parse=fast_json)
        self._lines: Iterator[Line] = iter(())  # of the piece at hand; each is parsed when its turn comes
        self._changed = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._taken = 0
        self._awake = False
        self._over = False
        self._flushed = False
        self._stopped = False
        self._finished = asyncio.Event()

    @property
    def at_end(self) -> bool:
        """Whether the thread has seen the end of the stream; lines may still be waiting."""
        return self._over

    # The thread's side

    def put(self, data: bytes) -> None:
        """Hand over bytes. Waits while too much is waiting, unless nobody will ever take it."""
        with self._changed:
            while self._waiting > MOST_WAITING_BYTES and not self._stopped and not self._loop.is_closed():
                self._changed.wait(_CHECK_SECONDS)
            if self._stopped:
                return
            self._pieces.append(data)
            self._waiting += len(data)
            self._wake()

    def end(self) -> None:
        """The stream has ended."""
        with self._changed:
            self._over = True
            self._wake()

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            try:
                self._loop.call_soon_threadsafe(self._work)
            except RuntimeError:  # the loop is closed: the program is going, and nobody wants the rest
                self._stopped = True

    # The loop's side

    async def finished(self, patience: float, most: float = 60.0) -> bool:
        """Wait until everything up to the end of the stream was handed over.

        False when nothing has come for `patience` seconds, or when there is no end of it after `most` seconds: what
        outlives even SIGKILL can go on printing.
        """
        until = self._loop.time() + most
        taken = -1
        while taken != self._taken and self._loop.time() < until:
            taken = self._taken
            try:
                await asyncio.wait_for(self._finished.wait(), patience)
            except TimeoutError:
                continue
            return True
        return False

    def stop(self) -> None:
        """Drop what else may come, and let a waiting reader go."""
        with self._changed:
            self._stopped = True
            self._pieces.clear()
            self._waiting = 0
            self._changed.notify_all()
        self._lines = iter(())

    def _work(self) -> None:
        """One turn: lines until the time is up, then the loop's other business, then more."""
        until = time.perf_counter() + SLICE_SECONDS
        more = True
        while more and time.perf_counter() < until:
            line = next(self._lines, None)
            if line is not None:
                self._hand_over(line)
            else:
                more = self._next_piece()
        self._on_pause()
        if more:
            self._loop.call_soon(self._work)

    def _hand_over(self, line: Line) -> None:
        self._taken += 1
        try:
            self._on_line(line)
        except Exception as error:  # one line that nobody can take must not stop the others
            self._loop.call_exception_handler({"message": "a line of the CLI was lost", "exception": error})

    def _next_piece(self) -> bool:
        """Parse the next piece; False when there is none and the thread has to wake the loop again."""
        with self._changed:
            if self._pieces:
                data = self._pieces.popleft()
                self._waiting -= len(data)
                self._changed.notify_all()
            elif self._over and not self._flushed:
                self._flushed = True
                self._lines = iter(self._reader.finish())
                return True
            else:
                self._awake = False
                if self._flushed:
                    self._finished.set()
                return False
        self._lines = self._reader.lines(data)
        return True
