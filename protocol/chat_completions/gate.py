"""Who may run now, who waits, and who is sent away."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from protocol.chat_completions.errors import RATE_LIMIT, ApiError

RETRY_AFTER = 5
"""Seconds that a client is told to wait. A guess: nobody knows how long the answers before it will take."""


def busy() -> ApiError:
    """As many requests run and wait as may. Waiting and asking again is right, so nothing tells a client not to."""
    message = "This endpoint is answering as many requests as it may, and its queue is full. Try again shortly."
    return ApiError(429, message, kind=RATE_LIMIT, code="server_busy", retry_after=RETRY_AFTER)


class Gate:
    """Lets `max_concurrent` run, lets `queue` more wait their turn, first come first served, and refuses the rest.

    Args:
        max_concurrent: at least one.
        queue: how many may wait; 0 for none.

    Attributes:
        max_concurrent: see above.
    """

    def __init__(self, max_concurrent: int, queue: int) -> None:
        self.max_concurrent = max(1, max_concurrent)
        self._free = self.max_concurrent
        self._queue = max(0, queue)
        self._leaving = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not turn.done() for turn in self._waiting)

    @property
    def free(self) -> int:
        """How many may come in at once."""
        return self._free

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[Slot]:
        """A place to run in, for as long as the block lasts.

        Whoever is cancelled while waiting frees its place in the queue.

        Raises:
            ApiError: 429, no place to run in and none to wait in.
        """
        await self._take()
        slot = Slot(self)
        try:
            yield slot
        finally:
            slot._free()

    async def _take(self) -> None:
        if self._free:
            self._free -= 1
            return
        if self.waiting >= self._queue + self._leaving:
            raise busy()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.cancelled():  # its turn had come in the same moment
                self._give()
            raise

    def _give(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # else whoever waits was cancelled, and has had no time yet to take it back
                turn.set_result(None)
                return
        self._free += 1


class Slot:
    """A place to run in."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._leaving = False

    def leaving(self) -> None:
        """The answer is out and only the tidying is left.

        One more may wait from now on: a client that asks one thing after the other is not sent away because its last
        CLI has not quite gone.
        """
        if not self._leaving:
            self._leaving = True
            self._gate._leaving += 1

    def _free(self) -> None:
        if self._leaving:
            self._gate._leaving -= 1
        self._gate._give()
