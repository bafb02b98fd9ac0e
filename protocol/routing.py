"""Requests and their answers: what this side asked, what a reply to the CLI must look like, and a session's errors.

Ids are the sender's. A request of ours is answered once, and an answer that comes late or twice is ignored (CLI
2.0.71 answers some requests twice). What the CLI asks is kept in `Conversation.pending`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any, Final

from protocol.messages import CanUseTool, ControlResponse, Elicitation, Request
from protocol.permissions import QUESTION_TOOL
from protocol.words import Sentence


class SessionError(Exception):
    """The other side failed: the CLI did not start, exited, was silent, or refused.

    Attributes:
        sentence: what happened, for the user; a `Sentence`, to be translated, where this package words it.
        detail: what the CLI said about it, "" if nothing.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence, detail)
        self.sentence = sentence
        self.detail = detail.strip()

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.detail}" if self.detail else self.sentence


SENTENCES: Final = {
    "closed": "The conversation was closed.",
    "refused": "Claude refused to start the conversation.",
    "silent at start": "Claude did not answer within {seconds} seconds of its start.",
    "silent": "Claude did not answer “{request}” within {seconds} seconds.",
    "would not stop": "Claude did not react when it was stopped, so it was ended.",
    "deaf": "Claude takes no more messages.",
    "not running": "Claude is not running.",
    "exited": "Claude exited (code {code}).",
    "no reason": "Claude refused without a reason.",
}
"""What goes wrong between a session and its CLI, as templates for a translator's catalogue."""


def failure(what: str, detail: str = "", **values: object) -> SessionError:
    """The error for one of `SENTENCES`."""
    return SessionError(Sentence(SENTENCES[what], {name: str(value) for name, value in values.items()}), detail)


class RequestRefused(SessionError):  # noqa: N818 — the CLI's answer was no; the session itself is well
    """The CLI answered a request with an error.

    Attributes:
        error: why, in the CLI's words.
        code: for machines, for example "unsupported_request"; "" from older CLIs.
    """

    def __init__(self, error: str, code: str = "") -> None:
        super().__init__(error or Sentence(SENTENCES["no reason"]))
        self.error = error
        self.code = code

    @property
    def unsupported(self) -> bool:
        """Whether this CLI does not know such a request at all, so that the feature is to be hidden."""
        return self.code == "unsupported_request" or self.error.startswith("Unsupported control request subtype")


class UsageError(ValueError):
    """We were about to do something illegal: a defect of the program, not of the CLI. Nothing was sent."""


class OwnRequests:
    """What this side asked and waits for."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)

    def open(self, loop: asyncio.AbstractEventLoop) -> tuple[str, asyncio.Future[dict[str, Any]]]:
        """A new id, and the future of its answer: the `response` object, or RequestRefused."""
        request_id = f"req_{next(self._numbers)}"
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting[request_id] = future
        return request_id, future

    def settle(self, answer: ControlResponse) -> bool:
        """Hand over an answer. False where nobody waits for it any more, or ever did."""
        future = self._waiting.pop(answer.request_id, None)
        if future is None or future.done():
            return False
        if answer.ok:
            future.set_result(answer.response)
        else:
            future.set_exception(RequestRefused(answer.error, answer.error_code))
        return True

    def forget(self, request_id: str) -> None:
        """Nobody waits any more; a late answer is ignored."""
        self._waiting.pop(request_id, None)

    def fail_all(self, error: SessionError) -> None:
        """The other side is gone: whoever waits is told why."""
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(error)
                future.exception()  # told: a request that nobody awaits any more is no lost exception


def check_reply(request: Request, response: Mapping[str, Any]) -> None:
    """Make sure that a reply has a form that every supported CLI accepts.

    A reply in another form is refused by the CLI in silence: the window would say "allowed" while the model is told
    the opposite.

    Raises:
        UsageError: it has not.
    """
    if isinstance(request, CanUseTool):
        _check_decision(request, response)
    elif isinstance(request, Elicitation):
        if response.get("action") not in ("accept", "decline", "cancel"):
            raise UsageError(f"an elicitation is accepted, declined or cancelled, not {response.get('action')!r}")
        if not isinstance(response.get("content", {}), Mapping):
            raise UsageError("the content of an elicitation's reply is an object")


def _check_decision(request: CanUseTool, response: Mapping[str, Any]) -> None:
    behavior = response.get("behavior")
    if behavior == "deny":
        message = response.get("message")
        if not isinstance(message, str) or not message.strip():
            raise UsageError("a deny needs a message: it is what the model reads")
        return
    if behavior != "allow":
        raise UsageError(f"a tool is allowed or denied, not {behavior!r}")
    updated = response.get("updatedInput")
    if not isinstance(updated, Mapping):
        raise UsageError("an allow needs updatedInput: the input that was shown is what runs")
    if request.tool_name == QUESTION_TOOL and not updated.get("answers"):
        raise UsageError("questions are never allowed without an answer; they are denied as dismissed")
