"""A scripted Messages API on loopback: the model that the true `claude` talks to in tests.

A test says what the model answers (`model.script(...)` for one reply after the other, `model.when(...)` for replies
that depend on the request), lets the CLI run, and then reads what the model was sent (`model.tool_results()`,
`model.requests`). Requests that the CLI makes on the side (titles, topics, quota checks, token counts) are answered
harmlessly and never use up the script.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAIN = "main"
SIDE = "side"
COUNT = "count_tokens"
OTHER = "other"


@dataclass(frozen=True)
class Text:
    """A text block. `pieces` splits it into that many deltas, `pace` seconds apart."""

    text: str
    pieces: int = 1
    pace: float = 0.0


@dataclass(frozen=True)
class Thinking:
    """A thinking block with a signature, as the API sends it."""

    text: str
    pieces: int = 1
    pace: float = 0.0


@dataclass(frozen=True)
class ToolUse:
    """A tool call. Several in one reply are parallel calls. `id` is made up when it is not given."""

    name: str
    input: dict[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Pause:
    """The stream is silent for that long, or until `ScriptedModel.release()`."""

    seconds: float


@dataclass(frozen=True)
class Hang:
    """The stream goes silent and stays so until the client goes, `release()`, or the end of the test."""


@dataclass(frozen=True)
class Cut:
    """The connection breaks off here, in the middle of the stream."""


@dataclass(frozen=True)
class Fail:
    """An HTTP error instead of a message."""

    status: int
    type: str = "api_error"
    message: str = "scripted failure"
    retry_after: str | None = None


@dataclass(frozen=True)
class End:
    """Why the message ends, in place of the usual reason, and which tokens it says it took, in place of the usual."""

    stop_reason: str = ""
    usage: dict[str, Any] = field(default_factory=dict)


Block = Text | Thinking | ToolUse | Pause | Hang | Cut | Fail | End
Reply = tuple[Block, ...]


def make_reply(value: Any) -> Reply:
    """One reply from what is handy to write: a string, a block, or a list of both."""
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, Block):
        return (value,)
    return tuple(Text(block) if isinstance(block, str) else block for block in value)


@dataclass(frozen=True)
class ToolResult:
    """What the CLI told the model about one of its tool calls."""

    tool_use_id: str
    text: str
    is_error: bool
    raw: dict[str, Any]


def _plain(content: Any) -> str:
    """The text of a `content` field, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and part.get("type") == "text")


@dataclass(frozen=True)
class ModelRequest:
    """One request as it came. Header names are lower case."""

    kind: str
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def tools(self) -> list[str]:
        return [str(tool.get("name", "")) for tool in self.body.get("tools") or []]

    @property
    def system_text(self) -> str:
        return _plain(self.body.get("system"))

    @property
    def last_user_blocks(self) -> list[dict[str, Any]]:
        """The blocks of the newest user message; system messages that newer CLIs put after it are passed over."""
        for message in reversed(self.body.get("messages") or []):
            if message.get("role") != "user":
                continue
            content = message.get("content")
            return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
        return []

    @property
    def last_user_text(self) -> str:
        """What the person wrote last, without the reminders that the CLI wraps around it."""
        texts = [str(block.get("text", "")) for block in self.last_user_blocks if block.get("type") == "text"]
        return "\n".join(text for text in texts if not text.lstrip().startswith("<system-reminder>"))

    @property
    def has_tool_result(self) -> bool:
        return any(block.get("type") == "tool_result" for block in self.last_user_blocks)

    @property
    def tool_results(self) -> list[ToolResult]:
        """Every tool result in this request's history, oldest first."""
        found = []
        for message in self.body.get("messages") or []:
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if block.get("type") == "tool_result":
                    text = _plain(block.get("content"))
                    error = bool(block.get("is_error"))
                    found.append(ToolResult(str(block["tool_use_id"]), text, error, block))
        return found

    @property
    def images(self) -> list[dict[str, Any]]:
        """The `source` of every image anywhere in the history."""
        messages = self.body.get("messages") or []
        blocks = [b for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
        return [block["source"] for block in blocks if block.get("type") == "image"]

    @property
    def everything(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


@dataclass
class _Rule:
    matches: Callable[[ModelRequest], bool]
    reply: Reply
    times: int | None


@dataclass
class ScriptedModel:
    """The server. Use it as a context manager.

    `requests` grows while the CLI runs; `unscripted` holds main requests that found no reply left (they were
    answered with a plain sentence, so that the CLI ends its turn); `errors` holds what went wrong in here.
    """

    requests: list[ModelRequest] = field(default_factory=list)
    unscripted: list[ModelRequest] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _replies: deque[Reply] = field(default_factory=deque)
    _rules: list[_Rule] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _released: threading.Event = field(default_factory=threading.Event)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> ScriptedModel:
        model = self

        class Handler(_Handler):
            owner = model

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="scripted-model")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._released.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    @property
    def url(self) -> str:
        assert self._server is not None, "the model is not running"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    # What the model says

    def script(self, *replies: Any) -> None:
        """Adds replies for the next main requests, one each: `script([ToolUse(...)], "Thanks.")`."""
        with self._changed:
            self._replies.extend(make_reply(reply) for reply in replies)

    def clear_script(self) -> None:
        """Forgets the replies that are left; rules stay."""
        with self._changed:
            self._replies.clear()

    def when(
        self,
        matches: Callable[[ModelRequest], bool] | None = None,
        *,
        text: str | None = None,
        tool_result: bool | None = None,
        model: str | None = None,
        system: str | None = None,
        reply: Any,
        times: int | None = None,
    ) -> None:
        """A rule for main requests, tried before the script, in the order added.

        All conditions given must hold: `text` in what the person wrote last, a tool result in the newest message,
        `model` in the model's name, `system` in the system prompt. `times` limits how often the rule serves.
        """

        def rule(request: ModelRequest) -> bool:
            return (
                (matches is None or matches(request))
                and (text is None or text in request.last_user_text)
                and (tool_result is None or tool_result == request.has_tool_result)
                and (model is None or model in request.model)
                and (system is None or system in request.system_text)
            )

        with self._changed:
            self._rules.append(_Rule(rule, make_reply(reply), times))

    def release(self) -> None:
        """Ends every `Pause` and `Hang` of this moment."""
        self._released.set()
        self._released = threading.Event()

    # What the model was told

    @property
    def main_requests(self) -> list[ModelRequest]:
        return [request for request in list(self.requests) if request.kind == MAIN]

    @property
    def script_left(self) -> int:
        return len(self._replies)

    def tool_results(self) -> list[ToolResult]:
        """Every tool result that reached the model, each once, in the order of arrival."""
        found: dict[str, ToolResult] = {}
        for request in self.main_requests:
            for result in request.tool_results:
                found.setdefault(result.tool_use_id, result)
        return list(found.values())

    def find_request(self, matches: Callable[[ModelRequest], bool] | None = None) -> ModelRequest | None:
        """The first main request that matches, if it came already. Never blocks: for use with `qtbot.waitUntil`."""
        return next((r for r in self.main_requests if matches is None or matches(r)), None)

    def wait_for_request(
        self, matches: Callable[[ModelRequest], bool] | None = None, timeout: float = 30.0
    ) -> ModelRequest:
        """Blocks until a main request that matches has come (also one that came before). Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.find_request(matches) is not None, timeout):
                raise TimeoutError(f"no such request in {timeout} s; {len(self.requests)} came: {self.summary()}")
        request = self.find_request(matches)
        assert request is not None
        return request

    def summary(self) -> str:
        return "; ".join(f"{r.kind} {r.method} {r.path} {r.last_user_text[-80:]!r}" for r in list(self.requests))

    # From the server's threads

    def take(self, request: ModelRequest) -> Reply:
        """Records the request and picks its reply."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            if request.kind != MAIN:
                return (Text('{"title": "A scripted title", "isNewTopic": false}'),)
            for rule in self._rules:
                if rule.times != 0 and rule.matches(request):
                    if rule.times is not None:
                        rule.times -= 1
                    return rule.reply
            if self._replies:
                return self._replies.popleft()
            self.unscripted.append(request)
            return (Text("The script has no more replies."),)

    def wait_out(self, seconds: float) -> None:
        self._released.wait(seconds)

    def new_id(self) -> int:
        return next(self._ids)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is an everyday event here: the handler has noted everything else."""


def classify(method: str, path: str, body: dict[str, Any]) -> str:
    """Which of the CLI's requests this is. Main-loop requests, and only these, offer tools to the model."""
    bare = path.split("?", 1)[0]
    if method == "POST" and bare.endswith("/count_tokens"):
        return COUNT
    if method != "POST" or not bare.endswith("/v1/messages"):
        return OTHER
    is_main = body.get("tools") or _tells_the_surroundings(body)
    return MAIN if is_main and body.get("max_tokens", 0) > 1 else SIDE


def _tells_the_surroundings(body: dict[str, Any]) -> bool:
    """Whether the CLI tells of its folder and the date: it does so in the conversation itself, also without tools."""
    messages = [message for message in body.get("messages") or [] if message.get("role") == "system"]
    return any(_plain(message.get("content")).startswith("# Environment") for message in messages)


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, count)))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


class _ClientGoneError(Exception):
    pass


class _Handler(BaseHTTPRequestHandler):
    owner: ScriptedModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """The test's output stays the test's."""

    def do_HEAD(self) -> None:
        self._serve("HEAD")

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        try:
            self._answer(method)
        except (_ClientGoneError, ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            self.owner.errors.append(f"{method} {self.path}: {error!r}")
            self.close_connection = True

    def _answer(self, method: str) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: Any = {}
        with contextlib.suppress(ValueError):
            body = json.loads(raw) if raw else {}
        body = body if isinstance(body, dict) else {"": body}
        kind = classify(method, self.path, body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.owner.take(ModelRequest(kind, method, self.path, headers, body, time.monotonic()))
        if kind == COUNT:
            self._send_json(200, {"input_tokens": 10})
        elif kind == OTHER:
            self._send_json(200 if method == "HEAD" else 404, {} if method == "HEAD" else _error_body(_NOT_FOUND))
        else:
            self._send_message(reply, body)

    def _send_json(self, status: int, value: dict[str, Any], extra: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in (extra or {}).items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_message(self, reply: Reply, body: dict[str, Any]) -> None:
        for block in reply:
            if isinstance(block, Pause):
                self.owner.wait_out(block.seconds)
                reply = reply[1:]
            elif isinstance(block, Fail):
                extra = {"retry-after": block.retry_after} if block.retry_after is not None else None
                return self._send_json(block.status, _error_body(block), extra)
            else:
                break
        number = self.owner.new_id()
        if not body.get("stream"):
            return self._send_json(200, _whole_message(number, reply, str(body.get("model", ""))))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("request-id", f"req_{number:04d}")
        self.end_headers()
        for event in _events(number, reply, str(body.get("model", ""))):
            if isinstance(event, Pause):
                self.owner.wait_out(event.seconds)
            elif isinstance(event, Hang):
                self._hang()
            elif isinstance(event, Cut):
                self.connection.shutdown(2)
                raise _ClientGoneError
            else:
                self._chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self._chunk(b"")
        return None

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _hang(self) -> None:
        """Silent, but for a comment line now and then, by which one notices that the client has gone."""
        released = self.owner._released
        while not released.wait(0.25):
            self._chunk(b": waiting\n\n")


_NOT_FOUND = Fail(404, "not_found_error", "not scripted")


def _error_body(fail: Fail) -> dict[str, Any]:
    return {"type": "error", "error": {"type": fail.type, "message": fail.message}}


def _block_start(number: int, index: int, block: Block) -> dict[str, Any]:
    if isinstance(block, ToolUse):
        tool_id = block.id or f"toolu_{number:04d}{index}"
        return {"type": "tool_use", "id": tool_id, "name": block.name, "input": {}}
    if isinstance(block, Thinking):
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _deltas(block: Block) -> Iterator[dict[str, Any] | Pause]:
    if isinstance(block, ToolUse):
        for piece in _pieces(json.dumps(block.input, ensure_ascii=False), 4):
            yield {"type": "input_json_delta", "partial_json": piece}
    elif isinstance(block, Text | Thinking):
        kind, key = ("text_delta", "text") if isinstance(block, Text) else ("thinking_delta", "thinking")
        for piece in _pieces(block.text, block.pieces):
            yield {"type": kind, key: piece}
            if block.pace:
                yield Pause(block.pace)
    if isinstance(block, Thinking):
        yield {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}


def _end_of(reply: Reply) -> End:
    return next((block for block in reply if isinstance(block, End)), End())


def _stop_reason(reply: Reply) -> str:
    if told := _end_of(reply).stop_reason:
        return told
    return "tool_use" if any(isinstance(block, ToolUse) for block in reply) else "end_turn"


def _message(
    number: int, model: str, content: list[dict[str, Any]], stop_reason: str | None, told: dict[str, Any]
) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "output_tokens": 20 if stop_reason else 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        **told,
    }
    return {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _events(number: int, reply: Reply, model: str) -> Iterator[dict[str, Any] | Pause | Hang | Cut]:
    yield {"type": "message_start", "message": _message(number, model, [], None, _end_of(reply).usage)}
    index = 0
    for block in reply:
        if isinstance(block, Pause | Hang | Cut):
            yield block
            continue
        if isinstance(block, End):
            continue
        yield {"type": "content_block_start", "index": index, "content_block": _block_start(number, index, block)}
        for delta in _deltas(block):
            if isinstance(delta, Pause):
                yield delta
            else:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20} | _end_of(reply).usage}
    yield {"type": "message_stop"}


def _whole_message(number: int, reply: Reply, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for index, block in enumerate(reply):
        start = _block_start(number, index, block)
        if isinstance(block, Text):
            content.append({**start, "text": block.text})
        elif isinstance(block, Thinking):
            content.append({**start, "thinking": block.text, "signature": "c2lnbmF0dXJl"})
        elif isinstance(block, ToolUse):
            content.append({**start, "input": block.input})
    return _message(number, model, content, _stop_reason(reply), _end_of(reply).usage)
