"""What a tool call is called, with which icon, and what it is mainly about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from desktop.translations import format_count, tr
from protocol.conversation import ToolItem
from protocol.permissions import make_visible

_MAIN: dict[str, tuple[str, tuple[str, ...]]] = {
    "Bash": ("terminal", ("command",)),
    "PowerShell": ("terminal", ("command",)),
    "BashOutput": ("terminal", ("bash_id", "task_id")),
    "KillShell": ("terminal", ("shell_id", "task_id")),
    "Monitor": ("terminal", ("command", "description")),
    "Edit": ("edit", ("file_path",)),
    "MultiEdit": ("edit", ("file_path",)),
    "Write": ("edit", ("file_path",)),
    "NotebookEdit": ("edit", ("notebook_path",)),
    "Read": ("file", ("file_path",)),
    "NotebookRead": ("file", ("notebook_path",)),
    "LS": ("file", ("path",)),
    "Grep": ("search", ("pattern",)),
    "Glob": ("search", ("pattern",)),
    "ToolSearch": ("search", ("query",)),
    "WebFetch": ("web", ("url",)),
    "WebSearch": ("web", ("query",)),
    "Task": ("agent", ("description", "prompt")),
    "Agent": ("agent", ("description", "prompt")),
    "TodoWrite": ("list", ()),
    "TaskCreate": ("list", ("subject", "description")),
    "TaskUpdate": ("list", ("taskId", "status")),
    "AskUserQuestion": ("question", ()),
    "ExitPlanMode": ("plan", ()),
    "EnterPlanMode": ("plan", ()),
    "Skill": ("tool", ("skill", "command")),
    "SlashCommand": ("tool", ("command",)),
}
_USUAL = ("file_path", "path", "command", "query", "url", "pattern", "description", "name", "id", "prompt")
_NAMES = {
    "AskUserQuestion": "Question", "ExitPlanMode": "Plan", "TodoWrite": "To-do list",
    "Task": "Subagent", "Agent": "Subagent",
}
MONOSPACE = frozenset({"Bash", "PowerShell", "Monitor", "Grep", "Glob"})
AGENTS = frozenset({"Task", "Agent"})
_PATHS = frozenset({"file_path", "notebook_path", "path"})


class Header(NamedTuple):
    """What the header of a card says."""

    icon: str
    name: str
    argument: str


def header(item: ToolItem, cwd: str) -> Header:
    """The icon, name and main argument of a call. Hidden characters in them are visible."""
    icon, keys = _MAIN.get(item.name, ("tool", _USUAL))
    name = item.display_name or item.name
    if item.name in _NAMES:
        name = tr(_NAMES[item.name])
    elif item.name.startswith("mcp__") and not item.display_name:
        name = " · ".join(part for part in item.name[5:].split("__") if part)
    if item.name == "AskUserQuestion" and item.status == "waiting":
        return Header(icon, make_visible(name), make_visible(" ".join(question_texts(item.input))[:600]))
    for key in keys:
        words = argument(item, key)
        if words:
            shown = short_path(words, cwd) if key in _PATHS else words
            return Header(icon, make_visible(name), make_visible(shown[:600]))
    return Header(icon, make_visible(name), "")


def argument(item: ToolItem, key: str) -> str:
    """One argument as text, also while the input still streams."""
    value: Any = item.input.get(key) if isinstance(item.input, Mapping) else None
    if value is None and not item.input and item.status == "streaming":
        return _streamed(item.input_json[:4000], key)
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def question_texts(call: Mapping[str, Any]) -> list[str]:
    """The questions of an AskUserQuestion, as far as they are texts."""
    questions = call.get("questions")
    found = []
    for question in questions if isinstance(questions, list) else ():
        if isinstance(question, Mapping) and isinstance(question.get("question"), str):
            found.append(question["question"])
    return found


def _streamed(text: str, key: str) -> str:
    match = re.search(rf'"{re.escape(key)}"\s*:\s*"((?:[^"\\]|\\.)*)', text)
    if not match:
        return ""
    try:
        return str(json.loads(f'"{match.group(1)}"'))
    except ValueError:
        return match.group(1)


def short_path(path: str, cwd: str) -> str:
    """A path as seen from the conversation's folder, where it is inside."""
    folder = cwd.rstrip("/\\")
    if folder and path.startswith(folder) and path[len(folder) : len(folder) + 1] in ("/", "\\"):
        return path[len(folder) + 1 :] or path
    return path


_DECISIONS: dict[str, tuple[str, str]] = {
    "allowed once": ("✓ allowed once", "good"),
    "allowed always": ("✓ always allowed", "good"),
    "denied": ("✕ denied", "bad"),
    "answered": ("✓ answered", "good"),
    "dismissed": ("dismissed", "soft"),
    "replied": ("replied instead", "soft"),
    "approved": ("✓ approved", "good"),
    "kept planning": ("keeps planning", "soft"),
}
REFUSALS = ("denied", "dismissed", "replied", "kept planning")
"""Decisions after which the call did not run."""

WAITING = ("● waiting for you", "accent")
_STATUSES: dict[str, tuple[str, str]] = {
    "streaming": ("writing…", "soft"),
    "waiting": WAITING,
    "running": ("running…", "soft"),
    "failed": ("✕ failed", "bad"),
    "denied": ("✕ denied", "bad"),
    "interrupted": ("■ stopped", "soft"),
}


def status(item: ToolItem) -> tuple[str, str]:
    """What became of a call: words, and the theme's role for them."""
    if item.status == "running" and item.progress:
        return tr("running… {progress}", progress=make_visible(item.progress)), "soft"
    if item.status in ("waiting", "streaming", "running", "failed", "interrupted"):
        if item.status == "failed" and item.decision in REFUSALS:
            words, tone = _DECISIONS[item.decision]
            return tr(words), tone
        words, tone = _STATUSES[item.status]
        return tr(words), tone
    if item.decision in _DECISIONS:
        words, tone = _DECISIONS[item.decision]
        return tr(words), tone
    if item.status == "denied":
        return tr(_STATUSES["denied"][0]), "bad"
    return summary(item), "soft"


def summary(item: ToolItem) -> str:
    """A few quiet words about a result, for the tools where its size says something."""
    structured = item.structured if isinstance(item.structured, Mapping) else {}
    if item.name == "Read" and isinstance(structured.get("file"), Mapping):
        lines = structured["file"].get("numLines")
        return _lines(lines) if isinstance(lines, int) else ""
    if item.name in ("Grep", "Glob") and isinstance(structured.get("numFiles"), int):
        count = structured["numFiles"]
        return tr("1 file") if count == 1 else tr("{count} files", count=format_count(count))
    if item.name in ("Read", "Bash", "Grep", "Glob") and item.result_text:
        return _lines(item.result_text.rstrip("\n").count("\n") + 1)
    return ""


def _lines(count: int) -> str:
    return tr("1 line") if count == 1 else tr("{count} lines", count=format_count(count))
