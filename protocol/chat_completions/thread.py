"""The endpoint in a thread and on a loop of its own, so that a busy window never delays a client."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from protocol.chat_completions.server import EndpointError, EndpointServer

T = TypeVar("T")


class EndpointThread:
    """Runs one server, once. Its methods are for other threads; they block, `call` excepted.

    Args:
        make: makes the server; called on the thread's loop.
    """

    def __init__(self, make: Callable[[], EndpointServer]) -> None:
        self._make = make
        self._thread = threading.Thread(target=self._run, name="local endpoint", daemon=True)
        self._up: concurrent.futures.Future[str] = concurrent.futures.Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._server: EndpointServer | None = None

    @property
    def running(self) -> bool:
        """Whether the thread lives."""
        return self._thread.is_alive()

    @property
    def server(self) -> EndpointServer | None:
        """The server, from `start` on. What it offers for any thread may be used; the rest goes through `call`."""
        return self._server

    def start(self, timeout: float = 30.0) -> str:
        """Listens.

        Args:
            timeout: seconds.

        Returns:
            The base URL for clients.

        Raises:
            EndpointError: it cannot, with a sentence that says why.
        """
        self._thread.start()
        try:
            return self._up.result(timeout)
        except TimeoutError:
            self.stop(0)
            raise EndpointError("not in time") from None

    def stop(self, timeout: float = 20.0) -> bool:
        """Ends it.

        Args:
            timeout: seconds that it is waited for.

        Returns:
            Whether the thread has ended.
        """
        self.ask_to_stop()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def ask_to_stop(self) -> None:
        """Begins to end it and returns at once."""
        loop, end = self._loop, self._end
        if loop is None or end is None:
            return
        try:
            loop.call_soon_threadsafe(end.set)
        except RuntimeError:  # its loop is closed: it has ended
            return

    def call(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Runs a coroutine on the server's loop; its result comes in the future.

        Raises:
            EndpointError: it does not run. The coroutine is closed.
        """
        loop = self._loop
        if loop is not None and self._thread.is_alive():
            try:
                return asyncio.run_coroutine_threadsafe(coroutine, loop)
            except RuntimeError:  # closed in this moment
                pass
        coroutine.close()
        raise EndpointError("not running")

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._up.done():
                raise
            self._up.set_exception(error)

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._server = self._make()
        url = await self._server.start()
        self._up.set_result(url)
        await self._server.run_until(self._end)
