"""Completions asked of a backend directly, and what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocol.chat_completions.backend import Backend, Caller, Event, Finished, Question, Started, TextDelta
from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.request import CompletionRequest, Part, TextPart, Turn

CALLER = Caller("req-of-the-test", "a test")


def text_turn(role: Any, *texts: str) -> Turn:
    return Turn(role, tuple(TextPart(text) for text in texts))


def request(*turns: Turn | Part | str, model: str = "default", **fields: Any) -> CompletionRequest:
    """A request; words and images alone are a single user message."""
    if turns and not isinstance(turns[0], Turn):
        turns = (Turn("user", tuple(TextPart(part) if isinstance(part, str) else part for part in turns)),)  # type: ignore[misc]
    return CompletionRequest(model, turns, **fields)  # type: ignore[arg-type]


@dataclass
class Outcome:
    """What a backend gave.

    Attributes:
        events: all of them, in order.
        error: what ended it instead of `Finished`.
        answered_after, gone_after: seconds until the answer or the error, and until everything was gone.
    """

    events: list[Event] = field(default_factory=list)
    error: ApiError | None = None
    answered_after: float = 0.0
    gone_after: float = 0.0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def pieces(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, TextDelta)]

    @property
    def finished(self) -> Finished:
        """The end, and a look at the order: it began, spoke, and finished once."""
        assert self.error is None, f"{self.error.status} {self.error.code}: {self.error}"
        first, *_, last = self.events
        assert isinstance(first, Started)
        assert isinstance(last, Finished)
        assert all(isinstance(event, TextDelta) and event.text for event in self.events[1:-1])
        return last

    @property
    def failure(self) -> tuple[int, str | None]:
        """Status and code of the error."""
        assert self.error is not None, f"it was answered: {self.events}"
        assert not any(isinstance(event, Finished) for event in self.events)
        return self.error.status, self.error.code


async def complete(backend: Backend, asked: CompletionRequest, caller: Caller = CALLER) -> Outcome:
    """Asks, and takes everything."""
    outcome = Outcome()
    loop = asyncio.get_running_loop()
    began = loop.time()
    events = backend.complete(asked, caller)
    try:
        async for event in events:
            outcome.events.append(event)
            outcome.answered_after = loop.time() - began
    except ApiError as error:
        outcome.error = error
    outcome.gone_after = loop.time() - began
    outcome.answered_after = outcome.answered_after or outcome.gone_after
    return outcome


@dataclass
class Person:
    """Answers questions by a function, and remembers them.

    Attributes:
        withdrawn: how many were taken back before there was an answer.
    """

    decide: Callable[[Question], dict[str, Any] | None] | None
    asked: list[Question] = field(default_factory=list)
    withdrawn: int = 0
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, question: Question) -> dict[str, Any] | None:
        self.asked.append(question)
        self.was_asked.set()
        if self.decide is not None:
            return self.decide(question)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        return None

    def caller(self, seconds: float | None = None) -> Caller:
        """A caller behind whom this person sits; `seconds` from now an answer comes too late."""
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        return Caller("req-of-the-test", "a test", self.ask, deadline)


def own_folders(folder: Path) -> list[str]:
    """The empty folders of CLIs that are still there."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("handraise-"))
