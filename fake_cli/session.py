"""One conversation: reads the host's lines, runs turns, asks the host, ends the way the real CLI ends."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_cli import controls, shapes, strict, structured
from fake_cli.arguments import Arguments
from fake_cli.facts import INIT_CAPABILITIES, KNOWS_COMPOSED, MODELS, TOOLS, resolve_model, version_tuple
from fake_cli.memory import Memory
from fake_cli.output import STDIN, Output, TrafficLog, write_stderr
from fake_cli.scenario import Scenario

RC_VIOLATION = 3
Check = Callable[[dict[str, Any]], "str | None"]


class Stopped(BaseException):
    """The turn ends here, because the host said so (a deny with interrupt) or because it has gone.

    Not an Exception, so that no step's own error handling can swallow it.
    """


@dataclass
class Reply:
    """What became of a request to the host: a `response`, an `error` text, or withdrawn by the CLI itself."""

    response: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    withdrawn: bool = False


@dataclass
class Pending:
    """A request to the host. `check` says what is wrong with a reply; `background`: it survives the end of a turn."""

    request_id: str
    request: dict[str, Any]
    future: asyncio.Future[Reply]
    check: Check | None
    background: bool = False


@dataclass
class Queued:
    """A user message that waits for its turn."""

    text: str
    content: Any
    uuid: str | None
    composed: bool


class Session:
    """Attributes:
        facts: what `${…}` in a scenario can name.
        harms: name to value, from `--harm`, FAKE_CLI_HARM and the scenario's options.
        pending: requests that wait for the host, by id.
        background: subagents that outlive their turn, by task id.
        follow_ups: turns that no user message starts (a background subagent is done).
    """

    def __init__(self, arguments: Arguments, scenario: Scenario, output: Output, log: TrafficLog | None) -> None:
        options = scenario.options
        self.arguments = arguments
        self.scenario = scenario
        self.options: dict[str, Any] = options
        self.output = output
        self.log = log
        self.harms: dict[str, str] = {**_harms_of(options), **arguments.harms}
        self.version: str = options.get("version") or arguments.get("--fake-version") or ""
        self.models: list[dict[str, Any]] = options.get("models") or MODELS
        self.model: str = resolve_model(arguments.get("--model") or options.get("model")) or "claude-opus-5-5"
        mode = arguments.get("--permission-mode", "default")
        bypass = arguments.has("--dangerously-skip-permissions")
        self.mode = "bypassPermissions" if bypass else {"manual": "default"}.get(mode or "", mode or "default")
        self.mode_before_plan = "default"
        self.tools = options.get("tools") or [
            tool for tool in TOOLS if tool != "AskUserQuestion" or version_tuple(self.version) >= (2, 0, 71)
        ]
        self.tools = _chosen_tools(arguments, self.tools)
        self.capabilities: list[str] = options.get("capabilities", INIT_CAPABILITIES)
        self.rules: list[dict[str, Any]] = []
        self.partial = arguments.has("--include-partial-messages")
        self.pace_factor = max(0.0, float(os.environ.get("FAKE_CLI_PACE") or 1))
        self.reports_state = os.environ.get("CLAUDE_CODE_SDK_READS_SESSION_STATE") == "1"
        self.memory = Memory(arguments, options)
        self.memory.restore(scenario)
        self.session_id = self.memory.session_id
        self.title: str | None = None
        self.facts: dict[str, Any] = {"cwd": os.getcwd(), "session_id": self.session_id, "user": "", "turn": 0,
                                      "system": "", "effort": "medium"}
        self.pending: dict[str, Pending] = {}
        self.background: dict[str, asyncio.Task[None]] = {}
        self.follow_ups: list[Callable[[], Any]] = []
        self.queue: list[Queued] = []
        self.taken: list[Queued] = []
        self.initialized: dict[str, Any] | None = None
        self.usage: dict[str, float] = {"input": 0, "output": 0, "cost": 0.0, "results": 0, "context": 2177}
        self.last_was_error = False
        self.input_closed = False
        self.exit_after_turn: int | None = None
        self.reading = threading.Event()
        self.turn_task: asyncio.Task[None] | None = None
        self.turn_begun = self.stop_wanted = False
        self._over: set[str] = set()
        self._answered: set[str] = set()
        self._uuids: set[str] = set()
        self._state = "idle"
        self._buffer = b""
        self._replays: list[Queued] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- life -----------------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Until the end; returns the exit code."""
        self._prepare()
        if self.memory.is_unknown:
            self.output.send(shapes.no_conversation(self.session_id) | {"uuid": new_id()})
            write_stderr(f"No conversation found with session ID: {self.session_id}\n")
            return 1
        self.reading.set()
        threading.Thread(target=self._read_input, daemon=True).start()
        return await self.finished

    def begin_without_host(self, prompt: str) -> None:
        """One turn, with a stdin that has ended already: whoever is asked is not there."""
        self._prepare()
        self.queue.append(Queued(prompt, prompt, None, composed=False))
        self.input_closed = True
        self.go_on()

    def _prepare(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.loop.set_exception_handler(self._failed)
        self.finished: asyncio.Future[int] = self.loop.create_future()

    def finish(self, code: int, reason: str = "") -> None:
        if reason:
            write_stderr(reason.rstrip("\n") + "\n")
            if self.log:
                self.log.note(f"exit {code}: {reason}")
        if not self.finished.done():
            self.finished.set_result(code)

    def violation(self, reason: str) -> None:
        """The host broke the protocol: end at once and say so, unless told to put up with it."""
        if not self.arguments.has("--lenient"):
            self.finish(RC_VIOLATION, f"The host broke the control protocol: {reason}")

    def spawn(self, coroutine: Any) -> asyncio.Task[Any]:
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.finish(70, f"The stand-in itself failed: {task.exception()!r}")

    def _failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A mistake of ours must end a test at once, not leave it waiting."""
        self.finish(70, f"The stand-in itself failed: {context.get('exception') or context['message']!r}")

    async def pause(self, seconds: float) -> None:
        """Waits, at the scenario's pace; with pace 0 only lets what came in be handled."""
        await asyncio.sleep(max(0.0, seconds) * self.pace_factor)

    @property
    def schema(self) -> dict[str, Any] | None:
        """What answers have to keep to; None where they are free, or the schema is none."""
        schema = (self.initialized or {}).get("jsonSchema")
        return schema if structured.is_schema(schema) else None

    def go_on(self) -> None:
        """Begins the next turn, if none is running; ends when there is nothing left and nobody to hear from."""
        from fake_cli.turn import Turn

        if self.turn_task is not None or self.finished.done():
            return
        self.turn_begun = self.stop_wanted = False
        if self.queue:
            self.turn_task = self.spawn(Turn(self, [self.queue.pop(0)]).run())
        elif self.follow_ups:
            self.turn_task = self.spawn(self.follow_ups.pop(0)())
        else:
            self.update_state()
            if self.input_closed and not self.background:
                self.finish(1 if self.last_was_error else 0)
            return
        self.turn_task.add_done_callback(self._turn_over)

    def _turn_over(self, _task: asyncio.Task[None]) -> None:
        self.turn_task = None
        if self.exit_after_turn is not None:
            self.finish(self.exit_after_turn)
        self.go_on()

    # -- what comes in --------------------------------------------------------------------------------------

    def _read_input(self) -> None:
        while True:
            self.reading.wait()
            try:
                data = os.read(STDIN, 65536)
            except OSError:
                data = b""
            try:
                self.loop.call_soon_threadsafe(self._feed, data)
            except RuntimeError:  # the loop is closed: we are ending
                return
            if not data:
                return

    def _feed(self, data: bytes) -> None:
        if not data:
            self._input_ended()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            if self.finished.done():
                return
            if line.strip():
                self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            value = json.loads(line.decode("utf-8"))
            if strict.has_lone_surrogate(value):
                raise ValueError("half a surrogate pair")
        except (ValueError, RecursionError):
            self.finish(1, f"Error parsing streaming input line (type=unknown, {len(line)} chars): SyntaxError")
            return
        if self.log:
            self.log.received(value)
        if "silent" in self.harms:
            return
        if not isinstance(value, dict):
            self.violation(f"A line on stdin is no object: {str(value)[:80]}")
            return
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "user": self._user, "control_request": self._control_request,
            "control_response": self._control_response, "control_cancel_request": _ignore, "keep_alive": _ignore,
        }
        handler = handlers.get(str(value.get("type")))
        if handler is None:
            self.violation(f"A message without an envelope or of an unknown type: {json.dumps(value)[:200]}")
            return
        handler(value)

    def _user(self, message: dict[str, Any]) -> None:
        inner = message.get("message")
        role = inner.get("role") if isinstance(inner, dict) else None
        if role != "user":
            # So does the real one, with these words.
            self.finish(1, f"Error: Expected message role 'user', got '{'undefined' if role is None else role}'")
            return
        problem = strict.user_message(message)
        if not problem and message.get("uuid") in self._uuids:
            problem = f"Two user messages have the same uuid: {message['uuid']}."
        if problem:
            self.violation(problem)
            return
        queued = Queued(_text_of(message["message"]["content"]), message["message"]["content"], message.get("uuid"),
                        bool(message.get("client_composed")) and version_tuple(self.version) >= KNOWS_COMPOSED)
        if queued.uuid:
            self._uuids.add(queued.uuid)
            self.lifecycle(queued, "queued")
        self.queue.append(queued)
        self.go_on()

    def _control_request(self, message: dict[str, Any]) -> None:
        problem = strict.control_request(message)
        if problem:
            self.violation(problem)
            return
        controls.handle(self, message["request_id"], message["request"])

    def _control_response(self, message: dict[str, Any]) -> None:
        problem = strict.control_response(message)
        if problem:
            self.violation(problem)
            return
        response = message["response"]
        request_id = response["request_id"]
        pending = self.pending.get(request_id)
        if pending is None:
            if request_id in self._answered:
                self.violation(f"The request {request_id} was answered twice.")
            elif request_id not in self._over:
                self.violation(f"A reply to a request that was never made: {request_id!r}.")
            return  # an answer that comes after the cancel is ignored, as the real one does
        body = response.get("response") if isinstance(response.get("response"), dict) else {}
        if response["subtype"] == "success" and pending.check and (problem := pending.check(body)):
            self.violation(problem)
            if not self.arguments.has("--lenient"):
                return
        del self.pending[request_id]
        self._answered.add(request_id)
        self.update_state()
        pending.future.set_result(Reply(response=body, error=response.get("error")))

    def _input_ended(self) -> None:
        if "hang-at-eof" in self.harms:
            return
        self.input_closed = True
        if self._buffer.strip():
            self._line(self._buffer)
        if self.pending:
            self.withdraw_all(background=True)
            self.stop_turn()
            for task in list(self.background.values()):
                task.cancel()
        self.go_on()

    # -- requests to the host -------------------------------------------------------------------------------

    def ask(self, request: dict[str, Any], check: Check | None = None, *, background: bool = False,
            request_id: str | None = None) -> Pending:
        """Sends a request and returns at once; its `future` is the Reply."""
        if self.input_closed:
            raise Stopped
        pending = Pending(request_id or new_id(), request, self.loop.create_future(), check, background)
        self.pending[pending.request_id] = pending
        self.update_state()
        message = {"type": "control_request", "request_id": pending.request_id, "request": request}
        self.output.send(message)
        if "duplicate-requests" in self.harms:
            self.output.send(message)
        return pending

    def withdraw(self, pending: Pending) -> None:
        """Takes a request back; a late answer to it will be ignored."""
        if self.pending.pop(pending.request_id, None) is None:
            return
        self._over.add(pending.request_id)
        self.output.send({"type": "control_cancel_request", "request_id": pending.request_id})
        if not pending.future.done():
            pending.future.set_result(Reply(withdrawn=True))

    def withdraw_all(self, *, background: bool) -> None:
        for pending in list(self.pending.values()):
            if background or not pending.background:
                self.withdraw(pending)

    def stop_turn(self) -> None:
        if self.turn_task is not None and self.turn_begun:
            self.turn_task.cancel()
        elif self.turn_task is not None:
            self.stop_wanted = True  # cancelled now, it would not even say that it was stopped

    # -- what goes out --------------------------------------------------------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        """Adds what every message carries."""
        self.output.send({**message, "session_id": self.session_id, "uuid": new_id()})

    def system(self, subtype: str, **fields: Any) -> None:
        self.send({"type": "system", "subtype": subtype, **fields})

    def user(self, content: Any, *, parent: str | None = None, **extra: Any) -> None:
        message = {"role": "user", "content": content}
        self.send({"type": "user", "message": message, "parent_tool_use_id": parent,
                   "timestamp": shapes.now(), **extra})

    def lifecycle(self, queued: Queued, state: str) -> None:
        if queued.uuid:
            self.send({"type": "command_lifecycle", "command_uuid": queued.uuid, "state": state})

    def set_mode(self, mode: str) -> None:
        if mode == "plan" and self.mode != "plan":
            self.mode_before_plan = self.mode
        self.mode = mode
        self.system("status", status=None, permissionMode=mode)

    def update_state(self) -> None:
        """Reports running, requires_action and idle, where the host asked for it by its environment variable."""
        busy = self.turn_task is not None or self.queue or self.follow_ups or self.background
        state = "requires_action" if self.pending else "running" if busy else "idle"
        if state != self._state:
            self._state = state
            if self.reports_state:
                self.system("session_state_changed", state=state, sdk_host_only=True)

    def take_queued(self) -> list[Queued]:
        """Messages that came while a request was open are folded into the running turn."""
        taken, self.queue = self.queue, []
        self._replays.extend(taken)
        return taken

    def replay_later(self, queued: list[Queued]) -> None:
        self._replays.extend(queued)

    def replay_taken_messages(self) -> None:
        """With --replay-user-messages each message comes back when the model gets it (recording queued_messages)."""
        replays, self._replays = self._replays, []
        if self.arguments.has("--replay-user-messages"):
            for queued in replays:
                self.user(queued.content, isReplay=True)

    def count_usage(self, input_tokens: int, output_tokens: int) -> None:
        self.usage["input"] += input_tokens
        self.usage["output"] += output_tokens
        self.usage["context"] += input_tokens + output_tokens
        self.usage["cost"] = round(self.usage["cost"] + input_tokens * 4e-6 + output_tokens * 2e-5, 6)


def _ignore(_message: dict[str, Any]) -> None:
    """Known, and nothing to do."""


def new_id() -> str:
    return str(uuid.uuid4())


def _harms_of(options: dict[str, Any]) -> dict[str, str]:
    harm = options.get("harm", {})
    names = harm if isinstance(harm, dict) else dict.fromkeys(harm, "")
    return {name: str(value) for name, value in names.items()}


def _chosen_tools(arguments: Arguments, usual: list[str]) -> list[str]:
    """`--tools ""` leaves none, `--tools Bash,Read` these."""
    chosen = arguments.lists.get("--tools")
    if chosen is None or chosen == ["default"]:
        return usual
    names = [name for text in chosen for name in text.replace(" ", ",").split(",") if name]
    return [tool for tool in usual if tool in names]


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
