"""The endpoint itself: listens on 127.0.0.1, hands requests on, and ends in seconds."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Iterable
from typing import Any, Final

from aiohttp import web

from protocol.chat_completions.backend import Ask, Backend
from protocol.chat_completions.exchange import Exchange, House, shutting_down
from protocol.chat_completions.gate import Gate
from protocol.chat_completions.http_connection import Server
from protocol.chat_completions.journal import Journal
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.run import log_defect
from protocol.words import Sentence

log = logging.getLogger(__name__)

ADDRESS: Final = "127.0.0.1"
_BACKLOG: Final = 128
_LAST_WORDS: Final = 2.0
"""Seconds that the replies may still take when the server ends."""


SENTENCES: Final = {
    "in use": "Port {port} is in use by another program. Choose another port, or end that program.",
    "not allowed": "Port {port} may not be used by this user. Choose one above 1023.",
    "failed": "Cannot listen on port {port}: {reason}.",
    "not in time": "The endpoint did not start in time.",
    "not running": "The endpoint does not run.",
}
"""Why there is no endpoint, as templates for a translator's catalogue."""


class EndpointError(Exception):
    """The endpoint cannot listen. The text is a `Sentence`."""

    def __init__(self, what: str, **values: object) -> None:
        """Of `SENTENCES[what]`."""
        self.sentence = Sentence(SENTENCES[what], {name: str(value) for name, value in values.items()})
        super().__init__(self.sentence)


class EndpointServer:
    """An OpenAI-compatible endpoint for one backend. All methods run on the loop that `start` was awaited on.

    Args:
        backend: answers; it is started and closed with the server.
        options: the limits.
        token: opens the endpoint.
        ask: puts a question of the CLI to the person, None where there is none.
        journal: gets every request; one of its own where none is given.
    """

    def __init__(
        self,
        backend: Backend,
        options: EndpointOptions,
        token: str,
        *,
        ask: Ask | None = None,
        journal: Journal | None = None,
    ) -> None:
        if not token:
            raise ValueError("an endpoint without a token would be open to everybody")
        gate = Gate(options.max_concurrent, options.queue)
        self._house = House(backend, options, token, ask, journal or Journal(), gate)
        self._server: Server | None = None
        self._runner: web.ServerRunner | None = None
        self._replies: set[asyncio.Task[Any]] = set()

    @property
    def journal(self) -> Journal:
        """The requests so far."""
        return self._house.journal

    @property
    def gate(self) -> Gate:
        """Who runs and who waits."""
        return self._house.gate

    @property
    def port(self) -> int:
        """The port it listens on; 0 before `start`."""
        return self._house.port

    def use_token(self, token: str) -> None:
        """From now on, this token opens the endpoint, and the one before does not. From any thread."""
        if not token:
            raise ValueError("an endpoint without a token would be open to everybody")
        self._house.token = token

    async def start(self) -> str:
        """Listens.

        Returns:
            What a client takes as its base URL, `http://127.0.0.1:PORT/v1`.

        Raises:
            EndpointError: the port is taken, or may not be used.
        """
        listener = _listen(self._house.options.port)
        self._house.port = listener.getsockname()[1]
        self._house.created = int(time.time())
        self._server = Server(self._handle, self._house.options, self._house.port)
        self._runner = web.ServerRunner(self._server, handle_signals=False, shutdown_timeout=_LAST_WORDS)
        await self._runner.setup()
        await web.SockSite(self._runner, listener, backlog=_BACKLOG).start()
        await self._house.backend.start()
        return f"http://{ADDRESS}:{self._house.port}/v1"

    async def run_until(self, event: asyncio.Event) -> None:
        """Serves until the event is set, then stops. `start` comes before."""
        try:
            await event.wait()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Ends everything: replies that run end as a 503 or as an error event. May be called again."""
        house, runner, server = self._house, self._runner, self._server
        if house.stopping or runner is None or server is None:
            return
        house.stopping = True
        runs = list(house.runs)
        for run in runs:
            run.end(shutting_down())
        for asking in list(house.lists):
            asking.cancel()
        for late in await _wait_for(self._replies, _LAST_WORDS):
            late.cancel()
        if left := await _wait_for([run.task for run in runs], house.options.closing):
            log.error("%d answers had not ended %.0f s after they were told to", len(left), house.options.closing)
            for run in runs:
                run.cut_off()
        await self._close_backend()
        await runner.cleanup()
        await server.abort()

    async def _close_backend(self) -> None:
        try:
            async with asyncio.timeout(self._house.options.closing):
                await self._house.backend.close()
        except Exception as error:  # whatever it was, the rest has to end, too
            log_defect("the end of the backend", error)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)
        return await Exchange(self._house, request).reply()


async def _wait_for(tasks: Iterable[asyncio.Task[Any]], seconds: float) -> set[asyncio.Task[Any]]:
    """Waits until all are done, for so long at most; returns those that are not."""
    waiting = set(tasks)
    return (await asyncio.wait(waiting, timeout=seconds))[1] if waiting else set()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # What lets a port be used again soon on POSIX, lets others listen on the same port on Windows.
        option = socket.SO_REUSEADDR if os.name == "posix" else getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
        if option is not None:
            listener.setsockopt(socket.SOL_SOCKET, option, 1)
        listener.bind((ADDRESS, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _why(port, error) from error
    return listener


def _why(port: int, error: Exception) -> EndpointError:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return EndpointError("in use", port=port)
    if number == errno.EACCES:
        return EndpointError("not allowed", port=port)
    return EndpointError("failed", port=port, reason=getattr(error, "strerror", None) or error)
