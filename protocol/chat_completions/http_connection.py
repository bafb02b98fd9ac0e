"""One connection of a client, on aiohttp's: its deadlines, its errors as JSON, and no more connections than may be."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from protocol.chat_completions.errors import SERVER, ApiError
from protocol.chat_completions.guards import wrong_host
from protocol.chat_completions.http_reply import error_response, new_request_id
from protocol.chat_completions.options import EndpointOptions

log = logging.getLogger(__name__)

_HEADS: Final = 4
"""How many times the longest head may come before it is seen that it does not end."""

_quiet = logging.Logger("aiohttp of the local endpoint", logging.CRITICAL + 1)
"""What aiohttp logs by itself holds requests' lines and headers. What is a defect of ours never gets that far."""


class Connection(web.RequestHandler):
    """aiohttp's handling of one connection, and what it lacks.

    * Headers have a deadline of their own; aiohttp has one only for a whole idle connection.
    * Errors of aiohttp's own are JSON objects, too.
    * Requests on top of one that runs (HTTP pipelining, which no client uses) are not taken: their bytes would fill the
      buffer, reading would stop, and that the client has gone would not be noticed.
    * A first head that does not end is cut off by its size, too. (Whoever gets further holds the token.)
    * What was written has left this program when a write returns. So no connection that is closed lingers because its
      client does not read.

    Attributes:
        surplus: it is one of more connections than may be.
    """

    __slots__ = ("_answering", "_busy", "_head_deadline", "_head_left", "_options", "_server", "surplus")

    def __init__(self, server: Server, options: EndpointOptions, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(
            server,
            loop=loop,
            keepalive_timeout=options.idle_connection,
            logger=_quiet,
            access_log=None,  # type: ignore[arg-type]
            auto_decompress=False,
            lingering_time=2.0,
        )
        self._server = server
        self._options = options
        self._head_deadline: asyncio.TimerHandle | None = None
        self._head_left: int | None = _HEADS * options.max_headers
        self._busy = False
        self._answering = False
        self.surplus = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        assert isinstance(transport, asyncio.Transport)
        others = len(self._server.connections)
        if others >= 2 * self._options.max_connections:
            self.force_close()
            transport.abort()
            return
        self.surplus = others >= self._options.max_connections
        transport.set_write_buffer_limits(high=0)
        self._server.transports[self] = transport
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        """The client has gone, or was sent away."""
        self._expect_no_head()
        self._server.transports.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        if self._answering:
            if data:
                self.close()  # after this answer: what follows it is not read
            return
        if data and not self._busy and self._head_deadline is None:
            self._expect_head()
        super().data_received(data)
        if self._messages:
            self._head_left = None
        elif self._head_left is not None:
            self._head_left -= len(data)
            if self._head_left < 0:
                self.force_close()

    def begin_request(self) -> None:
        """A head is complete, and its request is looked at."""
        self._busy = True
        self._expect_no_head()

    def begin_answer(self) -> None:
        """The request is complete: until its end, nothing more is expected of the client but that it goes."""
        self._answering = True
        if self._messages:  # requests that came together with this one
            self._messages.clear()
            self.close()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()  # paused for what has come already, it would not see the client go

    def end_request(self) -> None:
        """The reply is out, or nobody waits for it."""
        self._busy = self._answering = False

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The reply to what is no HTTP, or to what went wrong outside of our own handling."""
        self._expect_no_head()
        if isinstance(exc, ConnectionError):
            raise exc
        if request.writer.output_size > 0:
            raise ConnectionResetError("a reply has begun already")
        request_id = new_request_id()
        if status == 500:
            log.error("%s: aiohttp failed to handle a request (%s)", request_id, type(exc).__name__)
            error = ApiError(500, "The server has failed.", kind=SERVER, code="internal_error", should_retry=False)
        elif isinstance(exc, LineTooLong):
            error = ApiError(431, "The request's line or a header is too long.", code="headers_too_large")
        elif "Missing 'Host'" in (message or ""):
            error = wrong_host(self._server.port)
        else:
            error = ApiError(400, "This is no valid HTTP request.", code="bad_request")
        log.info("%s other: %s %s", request_id, error.status, error.code)
        response = error_response(error, request_id)
        response.force_close()
        return response

    def _expect_head(self) -> None:
        self._head_deadline = self._loop.call_later(self._options.header_timeout, self._head_missing)

    def _expect_no_head(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _head_missing(self) -> None:
        self._head_deadline = None
        if not self._busy:
            self.force_close()


class Server(web.Server):
    """aiohttp's server of such connections. Handlers are cancelled when their client goes.

    Args:
        handler: answers one request.
        options: the limits.
        port: the one that is listened on.

    Attributes:
        transports: of the connections that are not quite gone.
    """

    def __init__(self, handler: Any, options: EndpointOptions, port: int) -> None:
        super().__init__(handler, handler_cancellation=True)
        self.port = port
        self.transports: dict[Connection, asyncio.Transport] = {}
        self._options = options

    def __call__(self) -> Connection:
        """A new connection."""
        return Connection(self, self._options, loop=self._loop)

    async def abort(self) -> None:
        """Ends what is left of all connections: closed ones stay until their clients have read the rest."""
        for transport in list(self.transports.values()):
            transport.abort()
        for _ in range(3):  # each is told so in the loop's next round
            await asyncio.sleep(0)
