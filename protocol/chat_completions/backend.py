"""What answers a completion: the interface that the server knows, and the words the two talk in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from protocol.chat_completions.request import CompletionRequest
from protocol.conversation import PendingRequest

FinishReason = Literal["stop", "length", "content_filter"]

IMAGES: Final = "images"
JSON_SCHEMA: Final = "json_schema"
REASONING_EFFORT: Final = "reasoning_effort"
"""What a backend may be able to do beyond text, the members of `Backend.supports`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the CLI counted them; never an estimate.

    Attributes:
        prompt: all tokens read: fresh ones, those written to the cache and those read from it.
        completion: tokens written, the thinking included.
        cached: of `prompt`, those read from the cache.
        reasoning: of `completion`, those thought; None where the CLI does not say.
    """

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The CLI runs and the model has begun to answer: from here on it is no failure of the start."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete; nothing comes after it."""

    reason: FinishReason = "stop"
    usage: Usage | None = None


Event = Started | TextDelta | Finished


@dataclass(frozen=True, slots=True)
class Question:
    """Something that the CLI wants decided while it answers a client.

    Attributes:
        pending: the request of the CLI.
        client: what the client calls itself, short and printable.
        cwd: the folder that the CLI works in.
        capabilities: what the CLI's `system/init` declared.
        plan: the text of the plan where a plan is to be approved, else "".
    """

    pending: PendingRequest
    client: str
    cwd: Path
    capabilities: frozenset[str] = frozenset()
    plan: str = ""


Ask = Callable[[Question], Awaitable[dict[str, Any] | None]]
"""Puts a question to the person and returns the reply for the CLI (as `protocol.questions` and `protocol.permissions`
make it), None when nobody answers. Cancelled when the answer is not wanted any more: the dialog has to go then."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for a completion.

    Attributes:
        request_id: as in `x-request-id`.
        client: what the client calls itself, short and printable.
        ask: the way to the person, None where there is none (headless).
        question_deadline: when, by the loop's clock, an answer of the person comes too late; None for never.
    """

    request_id: str
    client: str = ""
    ask: Ask | None = field(default=None, compare=False)
    question_deadline: float | None = None


class Backend(Protocol):
    """One way to get an answer. All methods run on the server's own loop.

    Attributes:
        supports: which of `IMAGES`, `JSON_SCHEMA` and `REASONING_EFFORT` it can do.
    """

    @property
    def supports(self) -> frozenset[str]:
        """What it can do beyond text."""

    async def start(self) -> None:
        """Get ready in the background: returns at once and never raises; what is wrong is said per request."""

    async def models(self) -> tuple[str, ...]:
        """The names of the models. Raises ApiError (502) where the CLI will not say."""

    def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        """The answer, piece by piece: `Started`, any number of `TextDelta`, one `Finished`.

        Raises ApiError. However the generator ends (exhausted, closed, cancelled), everything that it had started is
        gone when it has ended.
        """

    async def close(self) -> None:
        """End everything that runs, also what is kept warm. May be called again."""
