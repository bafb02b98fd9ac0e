"""One started CLI in reserve, so that a request does not wait for a program to come up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from protocol.chat_completions.claude_cli import IN_THE_MIDDLE, Cli
from protocol.claude import ClaudeNotFound
from protocol.session import SessionError

log = logging.getLogger(__name__)

OLDEST_SECONDS: Final = 1800.0
"""So long a started CLI is kept: the login, the settings and the program itself may be others by now."""
_LIVES_WELL_SECONDS: Final = 10.0
"""A CLI that died sooner than that is not replaced before it is needed: the next one would die, too."""


class Pool:
    """Hands out CLIs that are started and were told nothing yet; each is handed out once.

    All methods belong to one loop. Whoever takes a CLI closes it.
    """

    def __init__(self, make: Callable[[], Cli], *, oldest: float = OLDEST_SECONDS) -> None:
        """`make` makes a CLI that is not started. `oldest`: seconds until one in reserve is replaced."""
        self._make = make
        self._oldest = oldest
        self._reserve: Cli | None = None
        self._since = 0.0
        self._keeper: asyncio.Task[None] | None = None
        self._ends: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def reserve(self) -> Cli | None:
        """The CLI in reserve, None where there is none."""
        return self._reserve

    def refill(self) -> None:
        """See to it, in the background, that there is a CLI in reserve."""
        if self._closed or (self._reserve is not None and self._is_good(self._reserve)):
            return
        self._drop()
        loop = asyncio.get_running_loop()
        self._reserve, self._since = self._make(), loop.time()
        self._keeper = loop.create_task(self._keep(self._reserve), name="keeper of the endpoint's CLI in reserve")

    def take(self) -> tuple[Cli, bool]:
        """A CLI, and whether it was in reserve; else it is not even started: call its `spawn()`."""
        reserve = self._reserve
        if reserve is not None and self._is_good(reserve):
            self._reserve = None
            self._dismiss_keeper()
            return reserve, True
        self._drop()
        return self._make(), False

    def fresh(self) -> Cli:
        """A CLI that is not started, where the one in reserve turned out to be of no use."""
        return self._make()

    async def close(self) -> None:
        """End what is in reserve; from now on nothing is kept. May be called again."""
        self._closed = True
        self._drop()
        while self._ends:
            await asyncio.wait(set(self._ends))

    def _is_good(self, cli: Cli) -> bool:
        return cli.alive and asyncio.get_running_loop().time() - self._since < self._oldest

    def _dismiss_keeper(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()

    def _drop(self) -> None:
        """End the one in reserve, in the background."""
        self._dismiss_keeper()
        reserve, self._reserve = self._reserve, None
        if reserve is None:
            return
        task = asyncio.get_running_loop().create_task(reserve.close(IN_THE_MIDDLE), name="end of a CLI in reserve")
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)

    async def _keep(self, cli: Cli) -> None:
        """Start it, and replace it when it has died or become old. Cancelled when it is taken."""
        try:
            async with asyncio.timeout_at(self._since + self._oldest):
                await cli.spawn()
                await cli.ended()
        except TimeoutError:
            pass
        except (SessionError, ClaudeNotFound, OSError):
            log.info("no CLI could be started in reserve; the next request will say why")
        if self._reserve is not cli:
            return
        lived = asyncio.get_running_loop().time() - self._since
        self._keeper = None  # this task, which goes on
        self._drop()
        if lived >= min(_LIVES_WELL_SECONDS, self._oldest):
            self.refill()
