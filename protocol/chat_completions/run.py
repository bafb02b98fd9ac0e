"""One answer that is being written: its place in the gate, the backend's generator, its deadline, its questions."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Literal

from protocol.chat_completions.backend import Ask, Backend, Caller, Event, Finished, Question
from protocol.chat_completions.errors import SERVER, ApiError, cli_failed, timed_out
from protocol.chat_completions.gate import Gate, Slot, busy
from protocol.chat_completions.request import CompletionRequest

log = logging.getLogger(__name__)

_AHEAD: Final = 256
"""How many events a backend may be ahead of its client."""

RunState = Literal["running", "asking"]


def internal_error() -> ApiError:
    """A defect of ours. What it was is in the log, not in the reply."""
    return ApiError(500, "The server has failed.", kind=SERVER, code="internal_error", should_retry=False)


def log_defect(request_id: str, error: BaseException) -> None:
    """Logs a defect without its message, which may hold a piece of what was asked."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: unexpected %s\n%s", request_id, type(error).__name__, frames)


class Run:
    """Runs a backend's generator in a task of its own, which ends when everything that belongs to it is gone.

    So a client can be told at once what went wrong, or go, while the CLI is still being ended; and the place in the
    gate is free only afterwards.

    Args:
        gate: whose place it takes.
        backend: answers.
        request: what to answer.
        caller: who asks; `ask` is wrapped so that the deadline rests while a person is asked.
        deadline: by the loop's clock.
        on_state: is told when it begins to run, asks, and goes on.
    """

    def __init__(
        self,
        gate: Gate,
        backend: Backend,
        request: CompletionRequest,
        caller: Caller,
        *,
        deadline: float,
        on_state: Callable[[RunState], None],
    ) -> None:
        self._gate = gate
        self._backend = backend
        self._request = request
        self._caller = replace(caller, ask=self._asking(caller.ask))
        self._on_state = on_state
        self._deadline = _Deadline(deadline, self._overdue)
        self._events: deque[Event] = deque()
        self._error: ApiError | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._has_slot = False
        self._over = False
        self._cut_off = False
        self.task = asyncio.create_task(self._produce(), name=f"answer {caller.request_id}")

    async def next(self, until: float | None = None) -> Event | None:
        """The next event of the answer.

        Args:
            until: how long to wait, by the loop's clock; None for as long as it takes.

        Returns:
            The event, None if none had come in that time.

        Raises:
            ApiError: there is none because something went wrong.
        """
        while not self._events:
            if self._error is not None:
                raise self._error
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return None
        self._room.set()
        return self._events.popleft()

    def end(self, error: ApiError | None = None) -> None:
        """Ends it, whatever it does; returns at once. `task` is done when everything is gone.

        Args:
            error: what `next` raises after the events that have come already.
        """
        self._fail(error or cli_failed("The answer was ended."))
        if not self._over:  # else it only tidies up: it does so undisturbed, unless that takes too long
            self.cut_off()

    def cut_off(self) -> None:
        """Ends it also while it tidies up."""
        self._deadline.stop()
        if not self._cut_off:
            self._cut_off = True
            self.task.cancel()

    def _fail(self, error: ApiError) -> None:
        if self._error is None:
            self._error = error
        self._news.set()

    def _overdue(self) -> None:
        self._fail(timed_out("The answer took too long.") if self._has_slot else busy())
        self.cut_off()

    async def _produce(self) -> None:
        try:
            async with self._gate.enter() as slot:
                self._has_slot = True
                self._on_state("running")
                async with aclosing(self._backend.complete(self._request, self._caller)) as events:
                    await self._hand_on(events, slot)
            self._fail(cli_failed("The CLI stopped in the middle of its answer."))
        except ApiError as error:
            self._fail(error)
        except asyncio.CancelledError:
            # Cancelled by `end`, which has said why; or by whoever ends the whole loop.
            self._fail(cli_failed("The answer was ended."))
        except Exception as error:
            log_defect(self._caller.request_id, error)
            self._fail(internal_error())
        finally:
            self._deadline.stop()

    async def _hand_on(self, events: AsyncGenerator[Event, None], slot: Slot) -> None:
        async for event in events:
            if self._over:
                continue
            while len(self._events) >= _AHEAD:
                self._room.clear()
                await self._room.wait()
            if isinstance(event, Finished):
                self._over = True
                slot.leaving()
            self._events.append(event)
            self._news.set()

    def _asking(self, ask: Ask | None) -> Ask | None:
        if ask is None:
            return None

        async def asking(question: Question) -> dict[str, Any] | None:
            limit = asyncio.timeout_at(self._caller.question_deadline)
            if self._deadline.rest():
                self._on_state("asking")
            try:
                async with limit:
                    return await ask(question)
            except TimeoutError:
                if not limit.expired():
                    raise
                return None
            finally:
                if self._deadline.go_on():
                    self._on_state("running")

        return asking


class _Deadline:
    """A time at which something is called, which moves on while it rests."""

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = call
        self._left = 0.0
        self._resting = 0
        self._handle: asyncio.TimerHandle | None = self._loop.call_at(at, call)

    def rest(self) -> bool:
        """Whether it begins to rest with this call."""
        self._resting += 1
        if self._handle is not None:
            self._left = max(0.0, self._handle.when() - self._loop.time())
            self._cancel()
        return self._resting == 1

    def go_on(self) -> bool:
        """Ends one rest; whether it was the last one."""
        self._resting -= 1
        if self._resting == 0 and self._left >= 0:
            self._handle = self._loop.call_later(self._left, self._call)
        return self._resting == 0

    def stop(self) -> None:
        """It never comes."""
        self._left = -1.0
        self._cancel()

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
