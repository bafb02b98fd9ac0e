"""From a backend's events to a client's reply, in one piece or as a stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from protocol.chat_completions.backend import Finished, Started, TextDelta
from protocol.chat_completions.errors import ApiError, cli_failed
from protocol.chat_completions.http_reply import Wire, json_response
from protocol.chat_completions.reply import DONE, KEEPALIVE, Chunks, completion, error_event, new_id, sse
from protocol.chat_completions.request import CompletionRequest
from protocol.chat_completions.run import Run
from protocol.chat_completions.stop import StopScanner


class _Text:
    """An answer's text on its way out: cut at the client's stop texts, and not longer than it may be."""

    def __init__(self, request: CompletionRequest, most: int) -> None:
        self._scanner = StopScanner(request.stop)
        self._left = most
        self._empty = True

    def feed(self, text: str) -> str:
        """What may go out of the next piece. Raises ApiError (502) when it is too much."""
        self._left -= len(text.encode("utf-8", "surrogatepass"))
        if self._left < 0:
            raise cli_failed("The answer is longer than this endpoint passes on.", "output_too_large")
        self._empty = self._empty and not text
        return self._scanner.feed(text)

    @property
    def stopped(self) -> bool:
        """Whether a stop text has come."""
        return self._scanner.hit

    def finish(self, finished: Finished) -> tuple[str, Finished]:
        """The rest of the text, and how the answer ends. Raises ApiError (502) when there is no answer at all.

        A model that refuses or that thought until its limit says nothing, too; that is true, and known by its reason.
        """
        if self._empty and finished.reason == "stop":
            raise cli_failed("The CLI gave an empty answer.", "empty_answer")
        rest = self._scanner.finish()
        return rest, Finished("stop") if self._scanner.hit else finished


async def whole(
    run: Run, request: CompletionRequest, wire: Wire, *, request_id: str, headers: Mapping[str, str], max_output: int
) -> web.StreamResponse:
    """Answers in one piece.

    Raises:
        ApiError: there is no answer.
        ClientTooSlowError, ConnectionError: the client does not read it, or has gone.
    """
    text = _Text(request, max_output)
    pieces: list[str] = []
    finished = Finished("stop")  # as it ends at a stop text: how much was used until there, nobody has said
    while not text.stopped:
        event = await run.next()
        if isinstance(event, TextDelta):
            pieces.append(text.feed(event.text))
        elif isinstance(event, Finished):
            rest, finished = text.finish(event)
            pieces.append(rest)
            break
    body = completion(new_id(), int(time.time()), request.model, "".join(pieces), finished.reason, finished.usage)
    return await wire.send(json_response(body, request_id, headers=headers))


class Stream:
    """Answers in pieces.

    The status is held back until the backend has proved that it started, or until clients might think that nobody is
    there. What fails until then is a status, what fails later is an event, after which nothing more comes.

    Args:
        run: the answer.
        request: what it answers.
        wire: the way to the client.
        headers: what the reply's head says besides.
        keepalive: seconds between two signs of life.
        max_output: bytes that the text may have.
    """

    def __init__(
        self,
        run: Run,
        request: CompletionRequest,
        wire: Wire,
        *,
        headers: Mapping[str, str],
        keepalive: float,
        max_output: int,
    ) -> None:
        self._run = run
        self._wire = wire
        self._headers = headers
        self._keepalive = keepalive
        self._include_usage = request.include_usage
        self._text = _Text(request, max_output)
        self._chunks = Chunks(new_id(), int(time.time()), request.model, request.include_usage)
        self._role_said = False
        self._loop = asyncio.get_running_loop()

    async def answer(self) -> web.StreamResponse:
        """Sends all of it.

        Raises:
            ApiError: there is no answer, or no more of it. Where the status is out already, `error` tells it.
            ClientTooSlowError, ConnectionError: the client does not read it, or has gone.
        """
        finished = Finished("stop")
        last_sign = self._loop.time()
        while not self._text.stopped:
            event = await self._run.next(last_sign + self._keepalive)
            if event is None:
                await self._sign_of_life()
            elif isinstance(event, Started):
                await self._say_role()
            elif isinstance(event, TextDelta):
                if not await self._say(self._text.feed(event.text)):
                    continue
            else:
                rest, finished = self._text.finish(event)
                await self._say(rest)
                break
            last_sign = self._loop.time()
        return await self._finish(finished)

    async def error(self, error: ApiError) -> web.StreamResponse:
        """Tells a client, whose stream has begun, that it gets no more, and why."""
        await self._wire.write(error_event(error))
        return await self._wire.close_stream(keep_connection=False)

    async def _finish(self, finished: Finished) -> web.StreamResponse:
        await self._say_role()
        last: list[dict[str, Any] | None] = [self._chunks.finish(finished.reason), self._chunks.usage(finished.usage)]
        await self._wire.write(b"".join(sse(chunk) for chunk in last if chunk is not None) + DONE)
        return await self._wire.close_stream()

    async def _sign_of_life(self) -> None:
        await self._open()
        await self._wire.write(KEEPALIVE)

    async def _say_role(self) -> None:
        await self._open()
        if not self._role_said:
            self._role_said = True
            await self._wire.write(sse(self._chunks.role()))

    async def _say(self, text: str) -> bool:
        if not text:
            return False
        await self._say_role()
        await self._wire.write(sse(self._chunks.content(text)))
        return True

    async def _open(self) -> None:
        if not self._wire.begun:
            await self._wire.open_stream(self._headers)
