"""From a JSON object to a typed message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from protocol.messages.base import Message, UnknownMessage
from protocol.messages.control import ControlCancelRequest, ControlRequest, ControlResponse
from protocol.messages.system import SYSTEM_MESSAGES, SystemMessage
from protocol.messages.turns import (
    AssistantMessage,
    AuthStatus,
    CommandLifecycle,
    ConversationReset,
    KeepAlive,
    PromptSuggestion,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    ToolProgress,
    UserMessage,
)

_MESSAGES: dict[str, type[Message]] = {
    "stream_event": StreamEvent,
    "assistant": AssistantMessage,
    "user": UserMessage,
    "result": ResultMessage,
    "control_request": ControlRequest,
    "control_response": ControlResponse,
    "control_cancel_request": ControlCancelRequest,
    "rate_limit_event": RateLimitEvent,
    "conversation_reset": ConversationReset,
    "prompt_suggestion": PromptSuggestion,
    "tool_progress": ToolProgress,
    "command_lifecycle": CommandLifecycle,
    "auth_status": AuthStatus,
    "keep_alive": KeepAlive,
}

# The models' own readers, in pydantic's core.
_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    kind: model.__pydantic_validator__.validate_python for kind, model in _MESSAGES.items()
}
_SYSTEM_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    subtype: model.__pydantic_validator__.validate_python for subtype, model in SYSTEM_MESSAGES.items()
}


def fast_json(line: bytes) -> Any:
    """The bytes of one line of JSON to its value, in pydantic's core. For `LineReader(parse=…)`.

    Raises:
        ValueError: no JSON; also where the standard library is milder (surrogates, invalid UTF-8, deep nesting).
    """
    return from_json(line, cache_strings="keys")  # values (pieces of text, ids) hardly ever come twice


def parse_message(value: dict[str, Any]) -> Message:
    """Reads one object from the CLI.

    Never raises: an unknown type, or an object without what its type needs, becomes an `UnknownMessage`, so a new
    CLI cannot break an old client.
    """
    try:
        kind = value["type"]
        reader = _SYSTEM_READERS[value["subtype"]] if kind == "system" else _READERS[kind]
        message: Message = reader(value)
    except Exception:  # a stranger's object; whatever is wrong with it must not end the conversation
        return _parse_odd(value)
    message.__dict__["raw"] = value
    return message


def _parse_odd(value: object) -> Message:
    if not isinstance(value, dict):
        return UnknownMessage.keep({}, {"value": value})
    kind, subtype = value.get("type"), value.get("subtype")
    if kind == "system" and not (isinstance(subtype, str) and subtype in SYSTEM_MESSAGES):
        return SystemMessage.read(value)
    return UnknownMessage.keep({"type": kind if isinstance(kind, str) else ""}, value)
