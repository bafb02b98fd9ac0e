"""Requests as the CLI sends them, and the dialogs they become, for tests and for looking at."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtWidgets import QWidget

from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.registry import dialog_for
from protocol.conversation import PendingRequest
from protocol.messages import CanUseTool, Elicitation, UnknownRequest
from protocol.messages.control import parse_request

SQL = (
    "```sql\nCREATE TABLE entry (\n  id      INTEGER PRIMARY KEY,\n  tenant  TEXT NOT NULL,\n"
    "  amount  INTEGER NOT NULL\n);\n```"
)
DATABASE = {
    "question": "Which database should the ledger use?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "PostgreSQL", "description": "Relational, already run by the platform team"},
        {"label": "SQLite", "description": "Embedded, one file for each tenant", "preview": SQL},
    ],
}
FEATURES = {
    "question": "Which features do you want?",
    "header": "Features",
    "multiSelect": True,
    "options": [
        {"label": "Auth", "description": "Login"},
        {"label": "Search", "description": "Full text"},
        {"label": "Export", "description": "CSV"},
    ],
}
COLOUR = {
    "question": "Pick a colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cool"}],
    "multiSelect": False,
}


def ask(*questions: Any, **more: Any) -> dict[str, Any]:
    """The inner request of an AskUserQuestion call."""
    return tool("AskUserQuestion", {"questions": list(questions)}, requires_user_interaction=True, **more)


def tool(name: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The inner request that asks whether a tool may run."""
    return {"subtype": "can_use_tool", "tool_name": name, "input": given, "tool_use_id": "toolu_1", **more}


def pending(request: dict[str, Any], request_id: str = "request-1") -> PendingRequest:
    """A request as the conversation keeps it while it waits."""
    parsed = parse_request(request)
    kind = "unknown"
    if isinstance(parsed, Elicitation):
        kind = "elicitation"
    elif isinstance(parsed, CanUseTool):
        kind = {"AskUserQuestion": "question", "ExitPlanMode": "plan"}.get(parsed.tool_name, "permission")
    assert isinstance(parsed, (CanUseTool, Elicitation, UnknownRequest))
    return PendingRequest(request_id, kind, parsed, at=time.time())  # type: ignore[arg-type]


def dialog(request: dict[str, Any], parent: QWidget | None = None, **context: Any) -> RequestDialog:
    """The dialog for an inner request."""
    return dialog_for(pending(request), DialogContext(**context), parent)
