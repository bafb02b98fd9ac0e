"""`Session`: one CLI process and the conversation in it.

The only place where time, tasks and bytes meet. It runs on asyncio alone (a window's qasync loop will do), knows no
Qt, and leaves all meaning to the pure rooms: what the CLI says goes into a `Conversation`, and whoever listens hears
what changed. A session ends once, with its process; to go on, a new one is started with `resume`.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid as uuids
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from protocol import requests
from protocol.conversation import Change, Conversation
from protocol.incoming import Incoming
from protocol.jobs import run_job, settled
from protocol.messages import (
    ControlRequest,
    ControlResponse,
    InitializeReply,
    ResultMessage,
    UnknownRequest,
    parse_initialize_reply,
    parse_message,
)
from protocol.options import SessionOptions
from protocol.process import CliProcess, Exit, Ladder, StartError
from protocol.pump import RunThread, StderrTail, StreamWriter, ThreadHandle, read_stream, run_plain_thread
from protocol.routing import (
    OwnRequests,
    RequestRefused,
    SessionError,
    UsageError,
    check_reply,
    failure,
)
from protocol.wire import DamagedLine, Line, encode_line

__all__ = [
    "RequestRefused",
    "Session",
    "SessionError",
    "SessionOptions",
    "UsageError",
    "WireLog",
]

log = logging.getLogger(__name__)

WireLog = Callable[[Literal["in", "out"], Mapping[str, Any]], None]
"""Sees every message: "in" is what the host wrote to stdin, "out" what the CLI printed. Damage comes as
`{"damaged": kind, "text": beginning, "size": bytes}`. User text is in it; keep it off unless asked for."""

_POLL_SECONDS: Final = 0.25
_POLL_AFTER_EOF_SECONDS: Final = 0.02
_EOF_GRACE_SECONDS: Final = 5.0
_JOIN_SECONDS: Final = 3.0
_DRAIN_SECONDS: Final = 10.0
_REASON_CHARACTERS: Final = 2000


class Session:
    """One CLI process.

    Everything belongs to the loop that called `spawn()` or `start()`: methods are called there, and so is `on_changes`.

    Attributes:
        conversation: what is known; it outlives the process.
        initialize_reply: what the CLI offers; empty before the handshake.
        exit: how the process ended; None while it has not.
        gave_up: why this side ended it although nobody had asked for its end; None otherwise.
    """

    def __init__(
        self,
        options: SessionOptions,
        *,
        conversation: Conversation | None = None,
        on_changes: Callable[[Sequence[Change]], None] = lambda changes: None,
        run_thread: RunThread = run_plain_thread,
        log: WireLog | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.options = options
        self.conversation = Conversation() if conversation is None else conversation
        self.initialize_reply = InitializeReply()
        self.exit: Exit | None = None
        self.gave_up: SessionError | None = None
        self._on_changes = on_changes
        self._run_thread = run_thread
        self._wire_log = log
        self._clock = clock
        self._process: CliProcess | None = None
        self._started = self._ready = False
        self._ours = OwnRequests()
        self._changes: list[Change] = []
        self._seen_json = False
        self._reason = ""  # what was said instead of a handshake: text that is no JSON, the errors of an early result
        self._cut_off_at: float | None = None  # when the first of its pipes was found to be over
        self._watching: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[Exit] | None = None
        self._end_begun = asyncio.Event()
        self._spawned = asyncio.Event()  # or failed to
        self._close_asked = False
        self._ladder = options.ladder
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> bool:
        """Whether messages can be sent: the handshake is done and the end has not begun."""
        return self._ready and self._ending is None

    @property
    def pid(self) -> int | None:
        """The process id of the CLI, None before it was started."""
        return self._process.pid if self._process is not None else None

    # Start

    @property
    def alive(self) -> bool:
        """Whether the process was started and runs: asked now, and so earlier than its end is noticed."""
        return self._process is not None and self._ending is None and self._process.poll() is None

    async def spawn(self) -> None:
        """Start the process alone, for a `start()` that then only has to shake hands. Until then nothing is said.

        Raises:
            SessionError: it could not be started.
            UsageError: this session was started before.
        """
        if self._loop is not None:
            raise UsageError("a session starts once; make a new one to go on")
        self._loop = asyncio.get_running_loop()
        try:
            await self._spawn()
        except BaseException:
            await self._undo_start()
            raise
        finally:
            self._spawned.set()

    async def start(self, initialize: Mapping[str, Any] | None = None) -> None:
        """Start the CLI, unless `spawn()` has done it, and shake hands.

        Args:
            initialize: the handshake, made by `requests.initialize`, where more is to be said than the title.

        Raises:
            SessionError: it could not be started, exited, or said nothing in time; the text holds its own reason.
            UsageError: this session was started before.
        """
        if self._started:
            raise UsageError("a session starts once; make a new one to go on")
        self._started = True
        if self._loop is None:
            await self.spawn()
        if self.exit is not None:
            raise failure("closed") if self._close_asked else self._ended_error(self.exit)
        try:
            await self._shake_hands(initialize or requests.initialize(title=self.options.title))
        except BaseException:
            await self._undo_start()
            raise

    async def _undo_start(self) -> None:
        if self._process is not None:
            await asyncio.shield(self._begin_end(asked=True))

    async def _spawn(self) -> None:
        assert self._loop is not None
        options, command = self.options, self.options.command()
        job = run_job(self._loop, lambda: CliProcess.start(command, options.cwd, options.env), "claude start")
        cancelled = await settled(job)
        try:
            self._attach(job.result())  # even when given up meanwhile: then it is ours to end
        except StartError as error:
            raise SessionError(error.sentence) from error
        finally:
            if cancelled:
                raise asyncio.CancelledError
        if self._close_asked:
            raise failure("closed")

    def _attach(self, process: CliProcess) -> None:
        """Put the threads at the pipes."""
        assert self._loop is not None
        self._process = process
        self._incoming = Incoming(self._loop, self._take_line, self._tell)
        incoming = self._incoming

        def read() -> None:
            read_stream(process.stdout, incoming.put)
            incoming.end()

        self._reader: ThreadHandle = self._run_thread(read, "claude stdout")
        self._tail = StderrTail(process.stderr, name="claude stderr", run_thread=self._run_thread)
        self._writer = StreamWriter(process.stdin, name="claude stdin", run_thread=self._run_thread)
        self._watch()

    async def _shake_hands(self, request: Mapping[str, Any]) -> None:
        try:
            reply = await self._ask(request, self.options.handshake_timeout)
        except RequestRefused as error:
            raise failure("refused", error.error) from error
        except TimeoutError:
            reason = self._reason or self._tail.text()
            raise failure("silent at start", reason, seconds=f"{self.options.handshake_timeout:g}") from None
        self.initialize_reply = parse_initialize_reply(reply)
        self._ready = True

    # What the host says

    def send(
        self,
        content: str | Sequence[Mapping[str, Any]],
        *,
        client_composed: bool = False,
        uuid: str | None = None,
    ) -> str:
        """Send a user message; during a turn the CLI queues it. Returns its uuid, for `withdraw`.

        Args:
            content: text, or blocks made by `requests.text_block` and `requests.image_block`.
            client_composed: take the text literally; for text that another program wrote.

        Raises:
            SessionError: the session is not running.
        """
        uuid = str(uuids.uuid4()) if uuid is None else uuid
        self._check_running()
        if not self._write(requests.user_message(content, uuid=uuid, client_composed=client_composed)):
            raise failure("deaf")
        return uuid

    async def request(self, request: Mapping[str, Any], timeout: float | None = None) -> dict[str, Any]:
        """Send a control request (see `protocol.requests`) and return what the CLI answered.

        Args:
            timeout: seconds, `request_timeout` where left out. CLIs before 2.1 do not answer what they do not know.

        Raises:
            RequestRefused: the CLI said no.
            SessionError: the session is not running, ended meanwhile, or the CLI was silent.
        """
        self._check_running()
        timeout = self.options.request_timeout if timeout is None else timeout
        try:
            return await self._ask(request, timeout)
        except TimeoutError:
            raise failure("silent", request=request.get("subtype", ""), seconds=f"{timeout:g}") from None

    def answer(self, request_id: str, response: Mapping[str, Any]) -> bool:
        """Answer a request of the CLI. False where it needs no answer any more; then nothing is sent.

        Raises:
            UsageError: the CLI would refuse a reply of this form; nothing is sent, and the request stays open.
        """
        pending = self.conversation.pending.get(request_id)
        if pending is None or not self.running:
            return False
        check_reply(pending.request, response)
        return self._write(requests.success(request_id, response))

    def refuse(self, request_id: str, error: str) -> bool:
        """Answer a request of the CLI with an error. False where it needs no answer any more."""
        if request_id not in self.conversation.pending or not self.running:
            return False
        return self._write(requests.error(request_id, error))

    async def interrupt(self, cancel_queued: bool = False) -> dict[str, Any]:
        """Stop the running turn; the reply of newer CLIs tells what is `still_queued`.

        A CLI that does not acknowledge in time is ended, by the ladder.

        Raises:
            SessionError: it had to be ended, or was not running.
        """
        self._check_running()
        try:
            return await self._ask(requests.interrupt(cancel_queued), self.options.interrupt_timeout)
        except TimeoutError:
            self.gave_up = failure("would not stop")
            await self.close()
            raise self.gave_up from None

    async def withdraw(self, uuid: str) -> bool:
        """Take back a message that is still queued; False where the CLI has begun it, or cannot take back."""
        try:
            reply = await self.request(requests.cancel_async_message(uuid), self.options.interrupt_timeout)
        except RequestRefused:
            return False
        return reply.get("cancelled") is True

    async def set_model(self, model: str | None) -> None:
        """Change the model; None is the default. Raises RequestRefused, and then nothing has changed."""
        await self.request(requests.set_model(model))

    async def set_permission_mode(self, mode: str) -> None:
        """Change the permission mode. Raises RequestRefused, and then nothing has changed."""
        await self.request(requests.set_permission_mode(mode))

    # End

    async def close(self, ladder: Ladder | None = None) -> Exit | None:
        """End the CLI and everything it started, by the ladder, and join the threads. May be called again.

        Cancelling the caller does not stop the ending. Returns how it ended; None where no CLI was ever started.

        Args:
            ladder: instead of the options' one; it counts where the ending has not begun.
        """
        self._close_asked = True
        self._ladder = ladder or self._ladder
        if self._loop is not None:
            await self._spawned.wait()
        if self._process is None:
            return None
        return await asyncio.shield(self._begin_end(asked=True))

    async def wait_closed(self) -> Exit:
        """Wait until the session has ended, by itself or otherwise.

        Raises:
            UsageError: nothing was started.
        """
        if self._process is None:
            raise UsageError("the session was not started")
        await self._end_begun.wait()
        return await asyncio.shield(self._begin_end(asked=True))

    def _begin_end(self, *, asked: bool) -> asyncio.Task[Exit]:
        assert self._loop is not None
        assert self._process is not None
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(self._process, asked), name="end of a Claude session")
            self._end_begun.set()
        return self._ending

    async def _end(self, process: CliProcess, asked: bool) -> Exit:
        """The process first, then what it still had to say, then everybody who waits."""
        assert self._loop is not None
        if self._watching is not None:
            self._watching.cancel()
        ladder, tail, reader = self._ladder, self._tail, self._reader
        try:
            exit_ = await run_job(self._loop, lambda: process.close(self._writer, ladder, tail=tail), "claude close")
        except Exception:  # whoever waits must be told even then
            log.exception("claude %d could not be ended properly", process.pid)
            exit_ = Exit.from_returncode(process.poll(), "killed", tail.text())
        if not await self._incoming.finished(_DRAIN_SECONDS):
            log.warning("claude %d: the rest of its output was given up", process.pid)
        self._incoming.stop()
        await run_job(self._loop, lambda: reader.join(_JOIN_SECONDS), "claude join")
        self.exit = exit_
        self._changes += self.conversation.apply_exit(
            exit_.code, exit_.stderr_tail, self._clock(), asked=self._close_asked
        )
        if asked:
            self._ours.fail_all(failure("closed"))
        else:
            self._ours.fail_all(self._ended_error(exit_))
        self._tell()
        return exit_

    def _watch(self) -> None:
        """Look for the exit: it is the end, for something the CLI started may hold stdout open.

        A CLI that says or hears nothing any more and stays nevertheless is ended.
        """
        assert self._loop is not None
        assert self._process is not None
        wait = _POLL_SECONDS
        if self._incoming.at_end or self._writer.failed is not None:
            wait = _POLL_AFTER_EOF_SECONDS
            self._cut_off_at = self._cut_off_at or self._loop.time()
        useless = self._cut_off_at is not None and self._loop.time() - self._cut_off_at > _EOF_GRACE_SECONDS
        if self._process.poll() is not None or useless:
            self._begin_end(asked=False)
        elif self._ending is None:
            self._watching = self._loop.call_later(wait, self._watch)

    # What the CLI says

    def _take_line(self, line: Line) -> None:
        if isinstance(line, DamagedLine):
            self._log("out", {"damaged": line.kind, "text": line.text, "size": line.size})
            if not self._seen_json:
                self._keep_reason(line.text)
            self._changes += self.conversation.apply_damage(line, self._clock())
            return
        self._seen_json = True
        self._log("out", line)
        message = parse_message(line)
        if isinstance(message, ControlRequest):
            self._tell()  # an id can come again: first everybody knows that the request before it is gone
        self._changes += self.conversation.apply(message, self._clock())
        if isinstance(message, ControlResponse):
            if not self._ours.settle(message):
                log.debug("an answer that nobody waits for: %s", message.request_id)
        elif isinstance(message, ControlRequest) and isinstance(message.request, UnknownRequest):
            self._refuse_unknown(message.request_id, message.request)
        elif isinstance(message, ResultMessage) and not self._ready:
            self._keep_reason("\n".join(message.errors))  # such as "No conversation found with session ID …"

    def _refuse_unknown(self, request_id: str, request: UnknownRequest) -> None:
        """The CLI waits for every request; the one exception is a dialog of a kind that was not declared."""
        if request.subtype != "request_user_dialog":
            self._write(requests.error(request_id, f"Unsupported control request subtype: {request.subtype}"))

    def _keep_reason(self, text: str) -> None:
        if len(self._reason) < _REASON_CHARACTERS:
            self._reason = f"{self._reason}\n{text}".strip("\n")[:_REASON_CHARACTERS]

    def _ended_error(self, end: Exit) -> SessionError:
        detail = self._reason or end.stderr_tail[-_REASON_CHARACTERS:]
        return SessionError(end.sentence, detail) if end.code is None else failure("exited", detail, code=end.code)

    # Plumbing

    async def _ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """One request and its answer; TimeoutError where none comes.

        A request that is given up is only forgotten. Taking it back (`control_cancel_request`) would end the session:
        CLIs up to 2.0.76 exit at a type of message they do not know.
        """
        assert self._loop is not None
        request_id, answer = self._ours.open(self._loop)
        try:
            if not self._write(requests.control_request(request_id, request)):
                log.debug("claude takes no more input; its exit will say why")
            async with asyncio.timeout(timeout):
                return await answer
        finally:
            self._ours.forget(request_id)

    def _write(self, value: Mapping[str, Any]) -> bool:
        """Queue one message; False when it cannot be written any more. Raises WireError for what is no JSON."""
        line = encode_line(value)
        if not self._writer.put(line):
            return False
        self._log("in", value)
        self._changes += self.conversation.apply_sent(value, self._clock())
        self._tell()
        return True

    def _check_running(self) -> None:
        if self.running:
            return
        if self.exit is not None:
            raise self._ended_error(self.exit)
        raise failure("not running")

    def _tell(self) -> None:
        """Let the listener know what has changed since the last time."""
        if not self._changes:
            return
        changes, self._changes = self.conversation.current(self._changes), []
        try:
            self._on_changes(changes)
        except Exception as error:  # a defect of the listener must not end the conversation
            assert self._loop is not None
            context = {"message": "a listener of a Claude session failed", "exception": error}
            self._loop.call_exception_handler(context)

    def _log(self, direction: Literal["in", "out"], message: Mapping[str, Any]) -> None:
        if self._wire_log is not None:
            self._wire_log(direction, message)
