"""Replies that several tests let the model give."""

from __future__ import annotations

from typing import Any

from tests.real_cli.model import ToolUse

QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "Which database should we use?",
        "header": "Database",
        "options": [
            {"label": "PostgreSQL", "description": "A server"},
            {"label": "SQLite", "description": "A file"},
        ],
        "multiSelect": False,
    },
    {
        "question": "Which features do you want?",
        "header": "Features",
        "options": [
            {"label": "Search, full text", "description": "Slow to build"},
            {"label": "Search", "description": "By title"},
            {"label": "Export", "description": "As CSV"},
        ],
        "multiSelect": True,
    },
]
"""A single choice, and a multiple one with a label that holds a comma."""


def ask(questions: list[dict[str, Any]], tool_id: str = "") -> ToolUse:
    return ToolUse("AskUserQuestion", {"questions": questions}, id=tool_id)


def one_question(text: str, *labels: str) -> dict[str, Any]:
    """A single-choice question."""
    options = [{"label": label, "description": f"About {label}"} for label in labels]
    return {"question": text, "header": "Choice", "options": options, "multiSelect": False}
