"""An answer in OpenAI's words: the completion, the chunks of a stream, the list of models, and their bytes.

The shapes are those of OpenAI's published API description; every member that it requires is always there. `usage` is
the one that may be missing: it is what the CLI counted, or nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final

from protocol.chat_completions.backend import FinishReason, Usage
from protocol.chat_completions.errors import ApiError

DONE: Final = b"data: [DONE]\n\n"
"""The end of a stream that succeeded. After an error it must not come."""

KEEPALIVE: Final = b": k\n"
"""A comment between two events. Clients have stumbled over every other kind of sign of life."""

OWNER: Final = "handraise"
"""`owned_by` of each model: who serves it here. Who made it, the CLI does not say."""


def new_id() -> str:
    """An id for a completion, `chatcmpl-` and 29 characters as OpenAI's."""
    return "chatcmpl-" + secrets.token_hex(15)[:29]


def completion(
    completion_id: str, created: int, model: str, text: str, reason: FinishReason, usage: Usage | None = None
) -> dict[str, Any]:
    """The body of an answer in one piece.

    Args:
        completion_id: as `new_id` makes it.
        created: seconds since 1970.
        model: as the client named it.
        text: the whole answer.
        reason: why it ended there.
        usage: as the CLI counted; None leaves it out.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    body: dict[str, Any] = {
        "id": completion_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
    }
    if usage is not None:
        body["usage"] = usage_object(usage)
    return body


class Chunks:
    """The chunks of one stream, all with the same id, time and model. In order: `role`, `content` …, `finish`, `usage`.

    Args:
        completion_id: as `new_id` makes it.
        created: seconds since 1970.
        model: as the client named it.
        include_usage: whether the client asked for the usage: then every chunk but the last has `usage: null`.
    """

    def __init__(self, completion_id: str, created: int, model: str, include_usage: bool) -> None:
        self._head = {"id": completion_id, "object": "chat.completion.chunk", "created": created, "model": model}
        self._include_usage = include_usage

    def role(self) -> dict[str, Any]:
        """The first chunk: who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def content(self, text: str) -> dict[str, Any]:
        """The next piece of the answer."""
        return self._chunk({"content": text})

    def finish(self, reason: FinishReason) -> dict[str, Any]:
        """The chunk that says why the answer ends. A stream without it has failed."""
        return self._chunk({}, reason)

    def usage(self, usage: Usage | None) -> dict[str, Any] | None:
        """The last chunk; None where the client did not ask for it or nobody knows."""
        if usage is None or not self._include_usage:
            return None
        return {**self._head, "choices": [], "usage": usage_object(usage)}

    def _chunk(self, delta: dict[str, Any], reason: FinishReason | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        chunk: dict[str, Any] = {**self._head, "choices": [choice]}
        if self._include_usage:
            chunk["usage"] = None
        return chunk


def usage_object(usage: Usage) -> dict[str, Any]:
    """The tokens; `reasoning_tokens` only where the CLI counted them."""
    counted: dict[str, Any] = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }
    if usage.reasoning is not None:
        counted["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return counted


def model_object(name: str, created: int) -> dict[str, Any]:
    """One model; `created` in seconds since 1970 (the CLI does not say when, so the server's start will do)."""
    return {"id": name, "object": "model", "created": created, "owned_by": OWNER}


def models_object(names: Iterable[str], created: int) -> dict[str, Any]:
    """The list of models, in the given order."""
    return {"object": "list", "data": [model_object(name, created) for name in names]}


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """The value as JSON, in ASCII.

    Some clients cut a stream of text at U+2028, U+0085 and the like, which JSON may hold as they are (httpx's
    `iter_lines`, for one); and half of a surrogate pair from the CLI has no UTF-8. Escaped, neither is a problem.
    """
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def sse(value: Mapping[str, Any]) -> bytes:
    """One server-sent event: one `data:` line and an empty one, no `id:`, no `event:`."""
    return b"data: " + json_bytes(value) + b"\n\n"


def error_event(error: ApiError) -> bytes:
    """What a stream that fails ends with: the error object, no `finish_reason`, no `[DONE]`."""
    return sse(error.body())
