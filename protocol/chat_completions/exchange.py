"""One request, from its head to the last byte of its reply, whatever happens in between."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import HttpVersion11, web

from protocol.chat_completions import guards
from protocol.chat_completions.answer import Stream, whole
from protocol.chat_completions.backend import Ask, Backend, Caller
from protocol.chat_completions.checks import read_request
from protocol.chat_completions.errors import SERVER, ApiError, timed_out
from protocol.chat_completions.gate import Gate
from protocol.chat_completions.http_connection import Connection
from protocol.chat_completions.http_reply import ClientTooSlowError, Wire, error_response, json_response, new_request_id
from protocol.chat_completions.journal import CLIENT_GONE, CLIENT_TOO_SLOW, OK, SHUTTING_DOWN, Entry, Journal
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.reply import model_object, models_object
from protocol.chat_completions.request import CompletionRequest
from protocol.chat_completions.run import Run, internal_error, log_defect
from protocol.permissions import make_visible

_STRANGER: Final = (401, 403, 421, 431)
"""After such an error the connection ends: whoever may not ask shall hold nothing here."""


@dataclass(slots=True)
class House:
    """What all requests share.

    Attributes:
        backend: answers.
        options: the limits.
        token: opens the endpoint; may change.
        ask: puts a question to the person, None where there is none.
        journal: gets every request.
        gate: who runs and who waits.
        port: that we listen on.
        created: when we began to listen, seconds since 1970.
        stopping: no new request is answered.
        runs: the answers that are being written or tidied up.
        lists: the questions for models that are on their way.
    """

    backend: Backend
    options: EndpointOptions
    token: str = field(repr=False)
    ask: Ask | None
    journal: Journal
    gate: Gate
    port: int = 0
    created: int = 0
    stopping: bool = False
    runs: set[Run] = field(default_factory=set)
    lists: set[asyncio.Task[tuple[str, ...]]] = field(default_factory=set)


def shutting_down() -> ApiError:
    """The server ends."""
    return ApiError(503, "The endpoint is shutting down.", kind=SERVER, code=SHUTTING_DOWN, should_retry=False)


def too_many_connections() -> ApiError:
    """More clients hold a connection than may."""
    message = "There are more connections to this endpoint than it serves."
    return ApiError(503, message, kind=SERVER, code="too_many_connections", retry_after=1)


class Exchange:
    """One request and its reply.

    Args:
        house: what it shares with others.
        request: as aiohttp read it; the body is not read yet.
    """

    def __init__(self, house: House, request: web.BaseRequest) -> None:
        connection = request.protocol
        assert isinstance(connection, Connection)
        self._house = house
        self._options = house.options
        self._request = request
        self._connection = connection
        self._id = new_request_id()
        self._wire = Wire(request, self._id, house.options.write_timeout)
        self._head = _head(request)
        self._arrived = asyncio.get_running_loop().time()
        self._outcome = CLIENT_GONE
        self._stream: Stream | None = None
        connection.begin_request()

    async def reply(self) -> web.StreamResponse:
        """Answers.

        Raises:
            ConnectionError: the client has gone, or is sent away because it does not read.
        """
        head, journal = self._head, self._house.journal
        journal.begin(Entry(self._id, method=head.method[:16], what=head.what, client=head.client))
        try:
            return await self._answer_or_error()
        except ClientTooSlowError:
            self._outcome = CLIENT_TOO_SLOW
            raise ConnectionResetError(CLIENT_TOO_SLOW) from None
        except asyncio.CancelledError:
            if self._house.stopping:
                self._outcome = SHUTTING_DOWN
            raise
        finally:
            self._connection.end_request()
            journal.end(self._id, self._outcome, status=self._wire.status, bytes_out=self._wire.bytes_out)

    async def _answer_or_error(self) -> web.StreamResponse:
        try:
            return await self._answer()
        except ApiError as error:
            failure = error
        except (ConnectionError, ClientTooSlowError):
            raise
        except Exception as error:
            log_defect(self._id, error)
            failure = internal_error()
        sent = await self._tell(failure)
        self._outcome = failure.code or str(failure.status)
        return sent

    async def _tell(self, failure: ApiError) -> web.StreamResponse:
        """What went wrong, as far as the reply has not gone too far for that."""
        if self._wire.begun and self._stream is not None:
            return await self._stream.error(failure)
        if self._wire.begun:  # a defect in the middle of a reply: nothing but its end can be told
            raise ConnectionResetError("the reply had begun")
        response = error_response(failure, self._id, allow=self._head.allowed_method)
        if self._house.stopping or self._connection.surplus or failure.status in _STRANGER:
            response.force_close()
        return await self._wire.send(response)

    async def _answer(self) -> web.StreamResponse:
        house, head = self._house, self._head
        guards.check(head, house.port, house.token, self._options.max_headers)
        if house.stopping:
            raise shutting_down()
        if self._connection.surplus:
            raise too_many_connections()
        if head.path != guards.CHAT:
            return await self._send(await self._models())
        guards.check_body(head, self._options.max_body)
        body = await self._read_body()
        self._connection.begin_answer()
        house.journal.update(self._id, bytes_in=len(body))
        wanted = read_request(body, lenient=self._options.lenient, supports=house.backend.supports)
        model = make_visible(wanted.model[: guards.LONGEST_CLIENT])
        house.journal.update(self._id, model=model, stream=wanted.stream)
        return await self._complete(wanted)

    async def _send(self, body: dict[str, Any]) -> web.StreamResponse:
        sent = await self._wire.send(json_response(body, self._id))
        self._outcome = OK
        return sent

    async def _read_body(self) -> bytes:
        most, body = self._options.max_body, bytearray()
        limit = asyncio.timeout(self._options.body_timeout)
        try:
            async with limit:
                if self._head.wants_to_be_told and self._request.version >= HttpVersion11:
                    await self._request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                    self._request.writer.output_size = 0
                # Piece by piece: what is over the limit is not kept.
                while piece := await self._request.content.readany():
                    body += piece
                    if len(body) > most:
                        raise guards.too_large(most)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ApiError(408, "The body did not come in time.", code="body_timeout", should_retry=False) from None
        except RuntimeError:  # aiohttp's word for a connection that was closed in this moment
            if self._connection.transport is not None:
                raise
            raise ConnectionResetError("closed while its body was read") from None
        except web.RequestPayloadError:
            raise ApiError(400, "The body is no valid HTTP.", code="bad_request") from None
        return bytes(body)

    async def _models(self) -> dict[str, Any]:
        self._connection.begin_answer()
        self._house.journal.update(self._id, state="running")
        names = await self._names()
        if self._head.path == guards.MODELS:
            return models_object(names, self._house.created)
        name = self._head.path.removeprefix(guards.MODELS + "/")
        if name not in names:
            raise ApiError(404, "There is no model of this name.", param="model", code="model_not_found")
        return model_object(name, self._house.created)

    async def _names(self) -> tuple[str, ...]:
        limit = asyncio.timeout(self._options.models_timeout)
        asking = asyncio.create_task(self._ask_for_names(), name=f"models {self._id}")
        self._house.lists.add(asking)
        asking.add_done_callback(self._house.lists.discard)
        try:
            async with limit:
                return await asking
        except TimeoutError:
            if not limit.expired():
                raise
            raise timed_out("The CLI did not say in time which models it has.") from None
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self._house.stopping and me is not None and not me.cancelling():
                raise shutting_down() from None
            raise

    async def _ask_for_names(self) -> tuple[str, ...]:
        return await self._house.backend.models()

    async def _complete(self, wanted: CompletionRequest) -> web.StreamResponse:
        if self._house.stopping:  # since the head came
            raise shutting_down()
        run, options = self._start(wanted), self._options
        headers = {"x-handraise-ignored": ", ".join(wanted.ignored)} if wanted.ignored else {}
        try:
            if wanted.stream:
                self._stream = Stream(
                    run, wanted, self._wire, headers=headers, keepalive=options.keepalive, max_output=options.max_output
                )
                sent = await self._stream.answer()
            else:
                sent = await whole(
                    run, wanted, self._wire, request_id=self._id, headers=headers, max_output=options.max_output
                )
            self._outcome = OK
            return sent
        finally:
            run.end()

    def _start(self, wanted: CompletionRequest) -> Run:
        house, options = self._house, self._options
        patience = options.stream_question_seconds if wanted.stream else options.question_seconds
        caller = Caller(self._id, self._head.client, house.ask, self._arrived + patience)
        run = Run(
            house.gate,
            house.backend,
            wanted,
            caller,
            deadline=self._arrived + options.timeout,
            on_state=lambda state: house.journal.update(self._id, state=state),
        )
        house.runs.add(run)
        run.task.add_done_callback(lambda _: house.runs.discard(run))
        return run


def _head(request: web.BaseRequest) -> guards.Head:
    headers: dict[str, list[str]] = {}
    for name, value in request.headers.items():
        headers.setdefault(name.lower(), []).append(value)
    return guards.Head(request.method, request.raw_path, headers)
