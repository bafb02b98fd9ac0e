"""What a one-shot CLI printed, and which answer it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from protocol.chat_completions.backend import FinishReason, Usage
from protocol.chat_completions.claude_answer import REASONS, usage_of
from protocol.chat_completions.errors import cli_failed

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Output:
    """An answer.

    Attributes:
        text: never blank.
        reason: why it ends, as far as the CLI says (`stop_reason`).
        usage: the tokens, where the CLI counts them as Claude Code does.
    """

    text: str
    reason: FinishReason = "stop"
    usage: Usage | None = None


def read_output(data: bytes) -> Output:
    """The answer in what a CLI printed: one JSON object, or JSON lines whose last assistant or result message counts.

    A result is an object with `result` (its text, or with `is_error` the reason why there is none) or with `type`
    "result"; an assistant message has `type` or `role` "assistant", and its text in `content`, its own or that of its
    `message`. Other lines, also those that are no JSON, are passed over.

    Raises:
        ApiError: 502; it is no UTF-8, there is no such object, its text is missing or blank, or it says `is_error`.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise cli_failed("The CLI printed something that is no UTF-8.", "no_answer") from None
    if not text.strip():
        raise cli_failed("The CLI printed nothing.", "no_answer")
    whole = _parse(text)
    found = (
        [whole] if whole is not None else [value for line in text.split("\n") if (value := _parse(line)) is not None]
    )
    answer = _last(found)
    if answer is None:
        raise cli_failed("The CLI printed no JSON object with a result.", "no_answer")
    return _read(answer)


def _parse(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _last(values: Iterable[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    last = None
    for value in values:
        if value is None:
            continue
        if "result" in value or "is_error" in value or value.get("type") == "result" or _is_assistant(value):
            last = value
    return last


def _is_assistant(value: Mapping[str, Any]) -> bool:
    return "assistant" in (value.get("type"), value.get("role"))


def _read(value: Mapping[str, Any]) -> Output:
    if value.get("is_error", False) is not False:
        raise cli_failed("The CLI says that it failed.")
    text = value.get("result", _MISSING)
    if text is _MISSING and _is_assistant(value):
        inner = value.get("message")
        text = _text_of((inner if isinstance(inner, dict) else value).get("content"))
    if not isinstance(text, str):
        raise cli_failed("The CLI gave no result that is a text.", "no_answer")
    if not text.strip():
        raise cli_failed("The CLI gave an empty answer.", "empty_answer")
    if _has_lone_surrogate(text):
        raise cli_failed("The CLI gave an answer that is no valid text.", "no_answer")
    stop, usage = value.get("stop_reason"), value.get("usage")
    reason: FinishReason = REASONS.get(stop, "stop") if isinstance(stop, str) else "stop"
    return Output(text, reason, usage_of(usage) if isinstance(usage, dict) else None)


def _text_of(content: Any) -> Any:
    """Of an assistant message: a text, or a list of blocks of which those of text are joined."""
    if not isinstance(content, list):
        return content
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _has_lone_surrogate(text: str) -> bool:
    """JSON can write half a character (`\\ud800`), UTF-8 cannot."""
    return any("\ud800" <= character <= "\udfff" for character in text)
