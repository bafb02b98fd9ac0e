"""How a reply is put on the wire: its headers, its body, a stream's pieces; and clients that do not read."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.reply import json_bytes

_PIECE: Final = 64 * 1024
"""Bytes that are handed to the client at once."""

_COMMON: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "handraise"}


class ClientTooSlowError(Exception):
    """The client did not read what there was for it; its connection is gone."""


def new_request_id() -> str:
    """An id for `x-request-id` and the log."""
    return "req_" + secrets.token_hex(12)


def json_response(
    body: Mapping[str, Any], request_id: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A reply in one piece."""
    return web.Response(
        body=json_bytes(body),
        status=status,
        content_type="application/json",
        headers={**_COMMON, "x-request-id": request_id, **(headers or {})},
    )


def error_response(error: ApiError, request_id: str, *, allow: str | None = None) -> web.Response:
    """The reply that says what went wrong.

    Args:
        error: what.
        request_id: of the request.
        allow: the method that the path knows, for a 405.
    """
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.should_retry is not None:
        headers["x-should-retry"] = "true" if error.should_retry else "false"
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if allow is not None and error.status == 405:
        headers["Allow"] = allow
    return json_response(error.body(), request_id, status=error.status, headers=headers)


class Wire:
    """The way to one client.

    Args:
        request: its request.
        request_id: the request's id.
        write_timeout: seconds that the client may read nothing.

    Attributes:
        status: of the reply; 0 while none has begun.
        bytes_out: of the reply's body so far.
    """

    def __init__(self, request: web.BaseRequest, request_id: str, write_timeout: float) -> None:
        self._request = request
        self._request_id = request_id
        self._write_timeout = write_timeout
        self._stream: web.StreamResponse | None = None
        self.status = 0
        self.bytes_out = 0

    @property
    def begun(self) -> bool:
        """Whether the status is out."""
        return self.status != 0

    async def send(self, response: web.Response) -> web.StreamResponse:
        """Sends a whole reply.

        Raises:
            ClientTooSlowError: the client does not read it.
            ConnectionError: the client has gone.
        """
        self.status = response.status
        body = response.body if isinstance(response.body, bytes) else b""
        if len(body) > _PIECE:
            return await self._send_slowly(response, body)
        async with self._in_time():
            await response.prepare(self._request)
            await response.write_eof()
        self.bytes_out = len(body)
        return response

    async def _send_slowly(self, response: web.Response, body: bytes) -> web.StreamResponse:
        """Sends a long body in pieces: whoever reads slowly, but reads, gets all of it."""
        slow = web.StreamResponse(status=response.status, headers=response.headers)
        slow.content_length = len(body)
        async with self._in_time():
            await slow.prepare(self._request)
        await self._write_pieces(slow, body)
        async with self._in_time():
            await slow.write_eof()
        return slow

    async def open_stream(self, headers: Mapping[str, str]) -> None:
        """Begins a reply of events. Raises as `send`."""
        self._stream = web.StreamResponse(headers={**_COMMON, "x-request-id": self._request_id, **headers})
        self._stream.content_type = "text/event-stream"
        self._stream.charset = "utf-8"
        self.status = 200
        async with self._in_time():
            await self._stream.prepare(self._request)

    async def write(self, data: bytes) -> None:
        """Sends a piece of the stream. Raises as `send`."""
        assert self._stream is not None
        await self._write_pieces(self._stream, data)

    async def close_stream(self, *, keep_connection: bool = True) -> web.StreamResponse:
        """Ends the stream. Raises as `send`."""
        assert self._stream is not None
        if not keep_connection:
            self._stream.force_close()
        async with self._in_time():
            await self._stream.write_eof()
        return self._stream

    async def _write_pieces(self, response: web.StreamResponse, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            async with self._in_time():
                await response.write(piece)
                await self._request.writer.drain()
            self.bytes_out += len(piece)

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        limit = asyncio.timeout(self._write_timeout)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            transport = self._request.transport
            if transport is not None:
                transport.abort()
            raise ClientTooSlowError from None
