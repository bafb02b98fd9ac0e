"""From a JSON object to a typed message."""

from __future__ import annotations

from typing import Any

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


def parse_message(value: dict[str, Any]) -> Message:
    """Reads one object from the CLI.

    Never raises: an unknown type, or an object without what its type needs, becomes an `UnknownMessage`, so a new
    CLI cannot break an old client.
    """
    kind: object = None
    try:
        kind = value.get("type")
        model: type[Message] | None = None
        if kind == "system":
            subtype = value.get("subtype")
            model = SYSTEM_MESSAGES.get(subtype, SystemMessage) if isinstance(subtype, str) else SystemMessage
        elif isinstance(kind, str):
            model = _MESSAGES.get(kind)
        if model is not None:
            return model.read(value)
    except Exception:  # a stranger's object; whatever is wrong with it must not end the conversation
        pass
    return UnknownMessage(
        type=kind if isinstance(kind, str) else "", raw=value if isinstance(value, dict) else {"value": value}
    )
