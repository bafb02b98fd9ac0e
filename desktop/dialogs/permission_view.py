"""What a permission request says to a person, before anything is drawn. No Qt.

What is shown is what runs: every key of the input is either in the detail or in the lines under it. Only the
model's own description of a command is told apart, since it is a claim and not what will run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from desktop.sentences import Sentence, sentence
from protocol.messages import CanUseTool
from protocol.permissions import hidden_characters, make_visible

EDIT_TOOLS = ("Write", "Edit", "MultiEdit", "NotebookEdit")

_SHELLS = ("Bash", "PowerShell")
_FILE_KEYS = ("file_path", "notebook_path")
_SHOWN_IN_DIFF: Mapping[str, frozenset[str]] = {
    "Write": frozenset({"file_path", "content"}),
    "Edit": frozenset({"file_path", "old_string", "new_string"}),
    "MultiEdit": frozenset({"file_path", "edits"}),
    "NotebookEdit": frozenset({"notebook_path", "new_source"}),
}


@dataclass(frozen=True)
class PermissionView:
    """A permission request in words.

    Attributes:
        tool: the tool's name as people know it.
        server: the MCP server it belongs to, or "".
        question: what is to be decided.
        kind: "command" and "input" show `detail` as text; "edit" shows a diff of the input, under `path`.
        detail: the whole of what runs, hidden characters made visible.
        path: the file an edit is about, or "".
        lines: what else is to be known, in order; CLI and model texts in them are made visible.
        has_hidden: whether the input holds characters that cannot be seen.
    """

    tool: str
    server: str
    question: Sentence
    kind: Literal["command", "edit", "input"]
    detail: str
    path: str
    lines: tuple[Sentence, ...]
    has_hidden: bool


def permission_view(request: CanUseTool) -> PermissionView:
    """Read a request. Never raises: an input of an unexpected shape is shown as JSON."""
    kind = _kind(request)
    path = _path(request.input)
    detail = request.input["command"] if kind == "command" else readable_json(request.input)
    return PermissionView(
        tool=make_visible(request.display_name or request.tool_name),
        server=make_visible(request.mcp_server or _server_of(request.tool_name)),
        question=_question(request, kind),
        kind=kind,
        detail=make_visible(detail),
        path=make_visible(path),
        lines=tuple(_lines(request, kind, path)),
        has_hidden=any(hidden_characters(text) for text in _texts([request.tool_name, request.input])),
    )


def readable_json(value: Any) -> str:
    """A value as indented JSON with its own characters, not their escapes."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _kind(request: CanUseTool) -> Literal["command", "edit", "input"]:
    given = request.input
    if request.tool_name in _SHELLS and isinstance(given.get("command"), str) and given["command"]:
        return "command"
    if request.tool_name in EDIT_TOOLS and _path(given) and _is_editable(request.tool_name, given):
        return "edit"
    return "input"


def _is_editable(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a diff would show the whole of the input's texts."""
    if tool == "Write":
        return isinstance(given.get("content"), str)
    if tool == "Edit":
        return isinstance(given.get("old_string"), str) and isinstance(given.get("new_string"), str)
    if tool == "NotebookEdit":
        return isinstance(given.get("new_source"), str)
    edits = given.get("edits")
    return isinstance(edits, list) and bool(edits) and all(
        isinstance(edit, Mapping)
        and isinstance(edit.get("old_string"), str)
        and isinstance(edit.get("new_string"), str)
        for edit in edits
    )  # fmt: skip


def _path(given: Mapping[str, Any]) -> str:
    return next((given[key] for key in _FILE_KEYS if isinstance(given.get(key), str)), "")


def _server_of(tool_name: str) -> str:
    """The server in `mcp__server__tool`, for CLIs that do not send it apart."""
    parts = tool_name.split("__", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "mcp" else ""


def _question(request: CanUseTool, kind: str) -> Sentence:
    name = make_visible(request.display_name or request.tool_name)
    if server := request.mcp_server or _server_of(request.tool_name):
        return sentence(
            "Let Claude use “{tool}” of the MCP server “{server}”?", tool=name, server=make_visible(server)
        )
    if kind == "command":
        return sentence("Let Claude run this command?")
    if kind == "edit":
        return sentence("Let Claude write this file?" if request.tool_name == "Write" else "Let Claude edit this file?")
    match request.tool_name:
        case "Read":
            return sentence("Let Claude read this file?")
        case "WebFetch":
            return sentence("Let Claude fetch this page?")
        case "WebSearch":
            return sentence("Let Claude search the web for this?")
    return sentence("Let Claude use the tool “{tool}”?", tool=name)


def _lines(request: CanUseTool, kind: str, path: str) -> Iterator[Sentence]:
    description = make_visible(request.description.strip())
    if description and not path.endswith(description):
        yield sentence("Claude says: {text}", text=description)
    if request.title.strip():
        yield sentence("{text}", text=make_visible(request.title.strip()))
    if request.decision_reason.strip():
        yield sentence("Why it asks: {text}", text=make_visible(request.decision_reason.strip()))
    if request.blocked_path:
        yield sentence("Path that needs permission: {path}", path=make_visible(request.blocked_path))
    if request.default_to_no:
        yield sentence("Claude Code finds this risky and advises against it.")
    for key, value in _remaining(request, kind).items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        yield sentence("{name}: {value}", name=make_visible(str(key)), value=make_visible(shown))


def _remaining(request: CanUseTool, kind: str) -> dict[str, Any]:
    """What of the input the detail does not show."""
    if kind == "input":
        return {}
    shown = frozenset({"command"}) if kind == "command" else _SHOWN_IN_DIFF[request.tool_name]
    rest = {key: value for key, value in request.input.items() if key not in shown}
    if rest.get("description") == request.description:
        rest.pop("description", None)
    for number, edit in enumerate(request.input["edits"] if request.tool_name == "MultiEdit" else (), start=1):
        rest.update({f"{key} ({number})": edit[key] for key in edit if key not in ("old_string", "new_string")})
    return rest


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            stack.extend(item)
