"""The control protocol of the `claude` CLI, and everything else that speaks a wire. Imports no Qt.

For other programs: `protocol.Session` runs one CLI, `protocol.questions` and `protocol.permissions` answer what it
asks. The names below are loaded when they are first used, so importing `protocol` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protocol.claude import Claude, ClaudeNotFound, find_claude
    from protocol.conversation import Change, Conversation, PendingRequest, TextItem
    from protocol.process import Exit, Ladder, child_environment
    from protocol.session import RequestRefused, Session, SessionError, SessionOptions, UsageError

_HOMES = {
    "protocol.claude": ("Claude", "ClaudeNotFound", "find_claude"),
    "protocol.conversation": ("Change", "Conversation", "PendingRequest", "TextItem"),
    "protocol.process": ("Exit", "Ladder", "child_environment"),
    "protocol.session": ("RequestRefused", "Session", "SessionError", "SessionOptions", "UsageError"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Change",
    "Claude",
    "ClaudeNotFound",
    "Conversation",
    "Exit",
    "Ladder",
    "PendingRequest",
    "RequestRefused",
    "Session",
    "SessionError",
    "SessionOptions",
    "TextItem",
    "UsageError",
    "child_environment",
    "find_claude",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
