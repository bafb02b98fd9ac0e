"""The pure middle of the Claude backend: what a CLI says goes in, the pieces of the answer come out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from protocol.chat_completions import claude_failures as failures
from protocol.chat_completions.backend import Event, Finished, FinishReason, Started, TextDelta, Usage
from protocol.chat_completions.errors import ApiError
from protocol.messages import AssistantMessage, RateLimitEvent, ResultMessage, TextBlock, ToolUseBlock, parse_message

MOST_CHARACTERS: Final = 32_000_000
"""Of an answer. No model writes as much; a CLI that does is out of order."""

_SCHEMA_TOOL: Final = "StructuredOutput"
_PARAGRAPH: Final = "\n\n"
REASONS: Final[dict[str, FinishReason]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""`finish_reason` by the model's `stop_reason`; all others are "stop"."""


class Answer:
    """What the messages of one turn amount to. Only the main conversation counts, not what subagents say.

    The CLI tells a text twice, in pieces while it streams and whole afterwards, and begins anew where the connection
    to the model breaks. A client that streams gets the pieces, for it waits for them; what it has got cannot be taken
    back, so a new beginning must say the same, and only the rest is passed on. Anybody else gets what was told whole.

    The model's messages follow one another without a gap: the CLI lets it go on where it was cut off. After tools, and
    after a refusal that the CLI lets it answer once more, a new paragraph begins.

    Attributes:
        over: whether `Finished` was given.
    """

    def __init__(self, *, in_pieces: bool, structured: bool) -> None:
        """`structured`: the answer is the value that keeps to the schema; words around it are none."""
        self.over = False
        self._in_pieces = in_pieces and not structured
        self._structured = structured
        self._started = False
        self._size = 0
        self._spoke = False  # a message before this one had words
        self._messages: list[str] = []  # those words and what is between, where they are not passed on in pieces
        self._gap = ""  # before the next words
        self._message_id = ""
        self._message_over = True
        self._parts: list[str] = []  # the words of this message that are known, over all its beginnings
        self._length = 0
        self._at = 0  # how far this beginning has come in them
        self._confirmed = 0  # how much of them was told whole
        self._stop_reason = ""
        self._error: AssistantMessage | None = None
        self._resets_at: float | None = None

    def take(self, message: Mapping[str, Any]) -> list[Event]:
        """The next message of the CLI's. Raises ApiError where it ends the answer."""
        kind = message.get("type")
        if kind == "stream_event":
            event = message.get("event")
            if message.get("parent_tool_use_id") is None and isinstance(event, dict):
                return self._on_event(event)
        elif kind == "system" and message.get("subtype") == "init" and self._structured:
            _check_schema_is_taken(message.get("tools"))
        elif kind == "user" and message.get("refusal_retry") is True:
            self._refused()
        elif kind in ("assistant", "result", "rate_limit_event"):
            parsed = parse_message(dict(message))
            if isinstance(parsed, AssistantMessage):
                return self._on_assistant(parsed)
            if isinstance(parsed, ResultMessage):
                return self._on_result(parsed)
            if isinstance(parsed, RateLimitEvent) and parsed.status == "rejected":
                self._resets_at = parsed.resets_at
        return []

    # While it streams

    def _on_event(self, event: Mapping[str, Any]) -> list[Event]:
        kind = event.get("type")
        if kind == "message_start":
            inner = event.get("message")
            message_id = inner.get("id") if isinstance(inner, dict) else ""
            self._begin(message_id if isinstance(message_id, str) else "")
            return self._start()
        delta = event.get("delta")
        if kind == "content_block_delta" and isinstance(delta, dict) and delta.get("type") == "text_delta":
            piece = delta.get("text")
            return self._piece(piece) if isinstance(piece, str) and piece else []
        if kind == "message_delta" and isinstance(delta, dict) and isinstance(delta.get("stop_reason"), str):
            self._stop_reason = delta["stop_reason"]
        elif kind == "message_stop":
            self._message_over = True
        return []

    def _start(self) -> list[Event]:
        if self._started:
            return []
        self._started = True
        return [Started()]

    def _begin(self, message_id: str) -> None:
        """A message of the model's, or another try at the one that was cut off."""
        self._message_id = message_id
        if self._message_over:
            self._put_by()
        elif not self._in_pieces:
            self._forget()
        self._message_over = False
        self._at = self._confirmed = 0

    def _put_by(self) -> None:
        """This message is over, and its words are part of the answer."""
        if self._length:
            if not self._in_pieces:
                self._messages += [self._take_gap(), *self._parts]
            self._spoke = True
        self._forget()

    def _take_gap(self) -> str:
        gap, self._gap = self._gap if self._spoke else "", ""
        return gap

    def _forget(self) -> None:
        self._parts, self._length, self._at, self._confirmed = [], 0, 0, 0

    def _piece(self, piece: str) -> list[Event]:
        if not self._in_pieces:
            self._count(len(piece))
            return []
        known = self._length - self._at
        if known:
            said = "".join(self._parts)[self._at : self._at + len(piece)]
            if not piece.startswith(said):
                raise failures.began_again()
        self._at += len(piece)
        return [*self._start(), *self._tell(piece[known:])]

    def _tell(self, words: str) -> list[Event]:
        """Words that are new."""
        if not words:
            return []
        self._count(len(words))
        gap = self._take_gap() if not self._length else ""
        self._parts.append(words)
        self._length += len(words)
        return [TextDelta(gap + words)]

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MOST_CHARACTERS:
            raise failures.too_much()

    # Told whole

    def _on_assistant(self, message: AssistantMessage) -> list[Event]:
        if message.parent_tool_use_id is not None:
            return []
        if message.error:
            self._error = message
            return []
        if message.message_id != self._message_id and not self._goes_on(message):
            self._begin(message.message_id)
        events = [*self._start(), *self._confirm(_words(message))]
        if any(isinstance(block, ToolUseBlock) for block in message.content):
            self._put_by()
            self._gap = _PARAGRAPH
        return events

    def _confirm(self, words: str) -> list[Event]:
        if not self._in_pieces:
            self._count(len(words))
            self._parts.append(words)
            self._length += len(words)
            return []
        known = "".join(self._parts)[self._confirmed :]
        if not words.startswith(known[: len(words)]):
            raise failures.began_again()
        self._confirmed += len(words)
        self._at = max(self._at, self._confirmed)
        return self._tell(words[len(known) :])

    def _goes_on(self, message: AssistantMessage) -> bool:
        """Whether it tells what has just streamed, under another id: some gateways make up their own."""
        if self._message_over or not self._in_pieces or self._confirmed == self._length:
            return False
        return _words(message) == "".join(self._parts)[self._confirmed :]

    def _refused(self) -> None:
        """The message was cut off as unsafe, and the model is let go on once, with other words."""
        if not self._in_pieces:
            self._forget()
        self._put_by()
        self._message_over, self._gap = True, _PARAGRAPH

    # The end

    def _on_result(self, result: ResultMessage) -> list[Event]:
        reason = result.stop_reason or self._stop_reason
        self._put_by()
        if reason == "refusal" and not self._structured:
            return self._finish(self._rest(), "content_filter", result)
        if result.is_error or result.subtype.startswith("error"):
            if self._is_cut():
                return self._finish(self._rest(), "length", result)
            raise self._failure(result)
        if self._structured:
            if result.structured_output is None:
                raise failures.not_in_the_schema()
            words = json.dumps(result.structured_output, ensure_ascii=False)
            return self._finish([TextDelta(words)], "stop", result)
        finish = REASONS.get(reason, "stop")
        if not self._spoke and finish == "stop":
            raise failures.said_nothing()
        return self._finish(self._rest(), finish, result)

    def _rest(self) -> list[TextDelta]:
        """What was not passed on in pieces."""
        return [TextDelta("".join(self._messages))] if self._messages else []

    def _finish(self, rest: list[TextDelta], reason: FinishReason, result: ResultMessage) -> list[Event]:
        self.over = True
        return [*self._start(), *rest, Finished(reason, usage_of(result.usage))]

    def _is_cut(self) -> bool:
        """Whether there is an answer, and its only fault is that it became too long."""
        return self._error is not None and self._error.error == "max_output_tokens" and not self._structured

    def _failure(self, result: ResultMessage) -> ApiError:
        if self._structured and result.subtype == "error_max_structured_output_retries":
            return failures.not_in_the_schema()
        error, status, text = "", result.api_error_status, result.result or "\n".join(result.errors)
        if self._error is not None:
            error = self._error.error
            told = self._error.raw.get("api_error_status")
            status = status if status is not None or not isinstance(told, int) else told
        return failures.of_the_api(error, status, text, self._resets_at)


def _check_schema_is_taken(tools: Any) -> None:
    """A schema that the CLI cannot use it passes over in silence, and the model would answer as it likes."""
    if isinstance(tools, list) and _SCHEMA_TOOL not in tools:
        raise failures.no_schema()


def _words(message: AssistantMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, TextBlock))


def usage_of(usage: Mapping[str, Any]) -> Usage | None:
    """The tokens as a CLI's `result` counts them; None where it does not, or only has zeros."""
    fresh, written = _whole(usage, "input_tokens"), _whole(usage, "output_tokens")
    if fresh is None or written is None:
        return None
    cached = _whole(usage, "cache_read_input_tokens") or 0
    prompt = fresh + cached + (_whole(usage, "cache_creation_input_tokens") or 0)
    details = usage.get("output_tokens_details")
    reasoning = _whole(details, "thinking_tokens") if isinstance(details, dict) else None
    return Usage(prompt, written, cached, reasoning) if prompt + written else None


def _whole(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
