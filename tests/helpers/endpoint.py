"""A local endpoint in this process, a backend that plays what a test says, and clients of bad manners."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from protocol.chat_completions.backend import Ask, Caller, Event, Finished, Started, TextDelta, Usage
from protocol.chat_completions.journal import Entry, Journal
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.request import CompletionRequest
from protocol.chat_completions.server import EndpointServer
from protocol.chat_completions.thread import EndpointThread

TOKEN = "0123456789abcdef" * 4
USAGE = Usage(prompt=12, completion=3, cached=4)
HELLO = {"model": "cli-demo", "messages": [{"role": "user", "content": "Hello"}]}
CHAT = "/v1/chat/completions"

SECONDS = 20.0
"""How long a test waits for what must come; long, since the computer may be busy."""


class Hold:
    """A place in a script where it waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._lock = threading.Lock()
        self._released = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def release(self) -> None:
        """Lets the script go on."""
        with self._lock:
            self._released = True
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    def wait_until_reached(self) -> None:
        """Waits until the script is here."""
        assert self._reached.wait(SECONDS), "the script did not get to its hold"

    async def pass_through(self) -> None:
        """For the script."""
        event = asyncio.Event()
        with self._lock:
            if self._released:
                event.set()
            self._waiting.append((asyncio.get_running_loop(), event))
        self._reached.set()
        await event.wait()


Step = Event | Hold | BaseException | float
Play = Callable[[CompletionRequest, Caller], AsyncGenerator[Event, None]]


def answer(*pieces: str, usage: Usage | None = USAGE) -> list[Step]:
    """The steps of a good answer."""
    return [Started(), *(TextDelta(piece) for piece in pieces), Finished("stop", usage)]


class ScriptedBackend:
    """Plays steps: events are given, exceptions raised, a hold waited for, a number of seconds slept.

    Args:
        steps: of each answer; or a function that makes a generator of its own.
        models: the names, or what is raised instead.
        tidying: what happens before an answer counts as gone.

    Attributes:
        requests, callers: of each answer that was begun.
        running: how many are on their way, `most_running` the most at once.
        ended: how many are gone.
        closed: whether `close` was called.
    """

    def __init__(
        self,
        steps: Iterable[Step] | Play = (),
        *,
        models: tuple[str, ...] | Exception = ("cli-demo",),
        supports: frozenset[str] = frozenset(),
        tidying: Hold | None = None,
    ) -> None:
        self._play = steps if callable(steps) else None
        self._steps = [] if callable(steps) else list(steps)
        self._models = models
        self._tidying = tidying
        self.supports = supports
        self.requests: list[CompletionRequest] = []
        self.callers: list[Caller] = []
        self.running = 0
        self.most_running = 0
        self.ended = 0
        self.started = False
        self.closed = False

    async def start(self) -> None:
        """Gets ready."""
        self.started = True

    async def models(self) -> tuple[str, ...]:
        """The names."""
        if isinstance(self._models, Exception):
            raise self._models
        return self._models

    async def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        """One answer."""
        self.requests.append(request)
        self.callers.append(caller)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            async for event in self._play(request, caller) if self._play else self._play_steps():
                yield event
        finally:
            if self._tidying is not None:
                await self._tidying.pass_through()
            self.running -= 1
            self.ended += 1

    async def close(self) -> None:
        """Ends everything."""
        self.closed = True

    async def _play_steps(self) -> AsyncGenerator[Event, None]:
        for step in self._steps:
            if isinstance(step, Hold):
                await step.pass_through()
            elif isinstance(step, BaseException):
                raise step
            elif isinstance(step, float | int):
                await asyncio.sleep(step)
            else:
                yield step


@dataclass
class Reply:
    """What a client got."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error object, looked at whether it is complete."""
        body = self.json
        assert set(body) == {"error"}, body
        error = body["error"]
        assert set(error) == {"message", "type", "param", "code"}, error
        assert isinstance(error["message"], str)
        assert error["message"]
        return dict(error)

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The chunks of a stream, without `[DONE]`."""
        return [json.loads(data) for data in self.events if data != "[DONE]"]

    @property
    def events(self) -> list[str]:
        """The data of each event of a stream."""
        text = self.body.decode()
        return [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]

    @property
    def text(self) -> str:
        """The answer's text, of a completion or of a stream."""
        if self.headers.get_content_type() == "text/event-stream":
            choices = [choice for chunk in self.chunks for choice in chunk.get("choices", ())]
            return "".join(choice["delta"].get("content", "") for choice in choices)
        return str(self.json["choices"][0]["message"]["content"])


@dataclass
class Endpoint:
    """A running endpoint, seen from outside."""

    thread: EndpointThread
    backend: Any
    url: str
    port: int
    journal: Journal
    changes: list[Entry] = field(default_factory=list)

    @property
    def server(self) -> EndpointServer:
        """The server."""
        assert self.thread.server is not None
        return self.thread.server

    def head(self, **headers: str | None) -> dict[str, str]:
        """The headers of a good request; names with `_` for `-`, None leaves one out."""
        good: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
        }
        good.update({name.replace("_", "-"): value for name, value in headers.items()})
        return {name: value for name, value in good.items() if value is not None}

    def ask(
        self,
        method: str = "POST",
        path: str = CHAT,
        body: bytes | Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = SECONDS,
    ) -> Reply:
        """One request on a connection of its own."""
        if method == "POST" and body is None:
            body = HELLO
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = dict(self.head() if headers is None else headers)
            if data is not None:
                sent.setdefault("Content-Length", str(len(data)))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(data)
            return read_reply(connection.getresponse())
        finally:
            connection.close()

    def chat(self, **changes: Any) -> Reply:
        """A completion of a good request with some members changed or added."""
        return self.ask(body={**HELLO, **changes})

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)

    def request_bytes(self, body: bytes | Mapping[str, Any] = HELLO, **headers: str | None) -> bytes:
        """A good request as it goes over the wire."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"POST {CHAT} HTTP/1.1"]
        head = {**self.head(), "Content-Length": str(len(data)), **{k.replace("_", "-"): v for k, v in headers.items()}}
        lines += [f"{name}: {value}" for name, value in head.items() if value is not None]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data

    def talk(self, data: bytes, timeout: float = SECONDS) -> Reply:
        """Sends bytes as they are and reads the reply to them."""
        with self.connect() as client:
            client.settimeout(timeout)
            client.sendall(data)
            return read_raw_reply(client)

    def wait_until(self, what: Callable[[], bool], why: str) -> None:
        """Waits for something to become true."""
        end = time.monotonic() + SECONDS
        while not what():
            assert time.monotonic() < end, f"it did not come that {why}"
            time.sleep(0.005)

    def wait_until_idle(self) -> None:
        """Waits until nothing runs and all places are free again."""
        backend, gate = self.backend, self.server.gate
        self.wait_until(
            lambda: backend.running == 0 and gate.free == gate.max_concurrent and gate.waiting == 0,
            "the endpoint has become idle",
        )


def read_reply(response: http.client.HTTPResponse) -> Reply:
    """All of a reply."""
    body = response.read()
    return Reply(response.status, response.headers, body)


def read_raw_reply(client: socket.socket, method: str = "POST") -> Reply:
    """The reply on a bare connection."""
    response = http.client.HTTPResponse(client, method=method)
    response.begin()
    return read_reply(response)


@contextmanager
def serving(backend: Any, *, ask: Ask | None = None, token: str = TOKEN, **options: Any) -> Iterator[Endpoint]:
    """An endpoint with this backend and these options, on a free port, in a thread of its own."""
    changes: list[Entry] = []
    journal = Journal(on_change=changes.append)
    settings = EndpointOptions(**{"port": 0, **options})
    thread = EndpointThread(lambda: EndpointServer(backend, settings, token, ask=ask, journal=journal))
    url = thread.start()
    try:
        assert thread.server is not None
        yield Endpoint(thread, backend, url, thread.server.port, journal, changes)
    finally:
        assert thread.stop(), "the endpoint's thread did not end"
