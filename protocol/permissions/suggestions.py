"""The CLI's own offers of "always", each with its true scope in words.

Only these are ever echoed, and always as they came: a rule that a client makes up from a command ("everything that
begins with `git`") lets more through than the user agreed to. The words say what the raw object does, no less and
no more; what is not understood is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from protocol.permissions.visible import make_visible
from protocol.words import Words

if TYPE_CHECKING:
    from protocol.messages import CanUseTool


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One offer: `raw` goes back in `updatedPermissions` verbatim, `words` say what it does."""

    raw: dict[str, Any]
    words: Words


def suggestions(request: CanUseTool) -> tuple[Suggestion, ...]:
    """What the CLI offers to remember beside allowing this call; none where it says that nothing may be."""
    if request.suppress_always_allow_rule:
        return ()
    return tuple(Suggestion(raw, describe_update(raw)) for raw in request.permission_suggestions)


# Where a change is kept. "session" and "cliArg" live in the CLI's memory only; the others are files.
_FILES: Final = {
    "localSettings": ".claude/settings.local.json",
    "projectSettings": ".claude/settings.json",
    "userSettings": "~/.claude/settings.json",
}
_IN_MEMORY: Final = ("session", "cliArg")

_KEYS: Final = {
    **dict.fromkeys(
        ("addRules", "replaceRules", "removeRules"), frozenset({"type", "rules", "behavior", "destination"})
    ),
    **dict.fromkeys(("addDirectories", "removeDirectories"), frozenset({"type", "directories", "destination"})),
    "setMode": frozenset({"type", "mode", "destination"}),
}

_ALLOW: Final = {
    "session": "Always allow “{rule}” until this conversation is closed",
    "localSettings": "Always allow “{rule}” in this project, for you (saved in .claude/settings.local.json)",
    "projectSettings": "Always allow “{rule}” in this project, for everyone in it (saved in .claude/settings.json)",
    "userSettings": "Always allow “{rule}” in all your projects (saved in your user settings)",
}
_ALLOW_PREFIX: Final = {
    "session": "Always allow commands that start with “{rule}” until this conversation is closed",
    "localSettings": "Always allow commands that start with “{rule}” in this project, for you"
    " (saved in .claude/settings.local.json)",
    "projectSettings": "Always allow commands that start with “{rule}” in this project, for everyone in it"
    " (saved in .claude/settings.json)",
    "userSettings": "Always allow commands that start with “{rule}” in all your projects (saved in your user settings)",
}
_ALLOW_TOOL: Final = {
    "session": "Always allow every use of “{rule}” until this conversation is closed",
    "localSettings": "Always allow every use of “{rule}” in this project, for you"
    " (saved in .claude/settings.local.json)",
    "projectSettings": "Always allow every use of “{rule}” in this project, for everyone in it"
    " (saved in .claude/settings.json)",
    "userSettings": "Always allow every use of “{rule}” in all your projects (saved in your user settings)",
}
# (type, behavior) → the words for memory, and for a file.
_RULES: Final = {
    ("addRules", "deny"): (
        "Always refuse “{rule}” until this conversation is closed",
        "Always refuse “{rule}” (saved in {file})",
    ),
    ("addRules", "ask"): (
        "Always ask about “{rule}” until this conversation is closed",
        "Always ask about “{rule}” (saved in {file})",
    ),
    ("replaceRules", "allow"): (
        "Always allow “{rule}”, and nothing else that was allowed so, until this conversation is closed",
        "Always allow “{rule}”, in place of everything allowed so far in {file}",
    ),
    ("replaceRules", "deny"): (
        "Always refuse “{rule}”, and nothing else that was refused so, until this conversation is closed",
        "Always refuse “{rule}”, in place of everything refused so far in {file}",
    ),
    ("replaceRules", "ask"): (
        "Always ask about “{rule}”, and about nothing else that was asked so, until this conversation is closed",
        "Always ask about “{rule}”, in place of everything to ask about so far in {file}",
    ),
    ("removeRules", "allow"): (
        "No longer always allow “{rule}” in this conversation",
        "No longer always allow “{rule}” (taken out of {file})",
    ),
    ("removeRules", "deny"): (
        "No longer always refuse “{rule}” in this conversation",
        "No longer always refuse “{rule}” (taken out of {file})",
    ),
    ("removeRules", "ask"): (
        "No longer always ask about “{rule}” in this conversation",
        "No longer always ask about “{rule}” (taken out of {file})",
    ),
}
_ADD_DIRECTORIES: Final = {
    "session": "Add “{directory}” to the working folders until this conversation is closed",
    "localSettings": "Add “{directory}” to the working folders of this project, for you"
    " (saved in .claude/settings.local.json)",
    "projectSettings": "Add “{directory}” to the working folders of this project, for everyone in it"
    " (saved in .claude/settings.json)",
    "userSettings": "Add “{directory}” to the working folders of all your projects (saved in your user settings)",
}
_REMOVE_DIRECTORIES: Final = (
    "Take “{directory}” out of the working folders of this conversation",
    "Take “{directory}” out of the working folders (saved in {file})",
)
_MODES: Final = {
    "acceptEdits": (
        "Stop asking before file edits and simple file commands in this conversation (“accept edits” mode)",
        "Stop asking before file edits and simple file commands (“accept edits” mode, saved in {file})",
    ),
    "default": (
        "Ask before each risky step in this conversation (“ask each time” mode)",
        "Ask before each risky step (“ask each time” mode, saved in {file})",
    ),
    "plan": (
        "Only read and plan in this conversation (“plan” mode)",
        "Only read and plan (“plan” mode, saved in {file})",
    ),
    "auto": (
        "Let Claude’s own safety check decide instead of asking in this conversation (“auto” mode)",
        "Let Claude’s own safety check decide instead of asking (“auto” mode, saved in {file})",
    ),
    "dontAsk": (
        "Refuse whatever is not allowed already, without asking, in this conversation (“don’t ask” mode)",
        "Refuse whatever is not allowed already, without asking (“don’t ask” mode, saved in {file})",
    ),
    "bypassPermissions": (
        "Allow everything without asking in this conversation (“bypass permissions” mode)",
        "Allow everything without asking (“bypass permissions” mode, saved in {file})",
    ),
}
_OTHER_MODE: Final = (
    "Switch this conversation to the permission mode “{mode}”",
    "Switch to the permission mode “{mode}” (saved in {file})",
)
_UNKNOWN: Final = "Allow, and change Claude’s permissions in a way this version cannot explain: {json}"

TEMPLATES: Final[tuple[str, ...]] = (
    *_ALLOW.values(),
    *_ALLOW_PREFIX.values(),
    *_ALLOW_TOOL.values(),
    *(template for pair in _RULES.values() for template in pair),
    *_ADD_DIRECTORIES.values(),
    *_REMOVE_DIRECTORIES,
    *(template for pair in _MODES.values() for template in pair),
    *_OTHER_MODE,
    _UNKNOWN,
)
"""Every template that `describe_update` can give, for a translator's catalogue."""


def describe_update(raw: Mapping[str, Any]) -> Words:
    """What a permission update does, in words. Values are shown with hidden characters made visible."""
    words = _known_words(raw)
    if words is not None:
        return words
    return Words(_UNKNOWN, {"json": make_visible(json.dumps(raw, ensure_ascii=False, default=str))})


def _known_words(raw: Mapping[str, Any]) -> Words | None:
    """The words for an update that is understood down to its last key: a key nobody knows may change its scope."""
    kind, destination = raw.get("type"), raw.get("destination")
    if not isinstance(kind, str) or not isinstance(destination, str) or set(raw) - _KEYS.get(kind, frozenset()):
        return None
    if destination not in _FILES and destination not in _IN_MEMORY:
        return None
    place = "session" if destination in _IN_MEMORY else destination
    if kind == "setMode":
        return _mode_words(raw, place)
    if kind in ("addDirectories", "removeDirectories"):
        return _directory_words(raw, kind, place)
    return _rule_words(raw, kind, place)


def _pick(pair: tuple[str, str], place: str, **values: str) -> Words:
    values = {name: make_visible(value) for name, value in values.items()}
    if place == "session":
        return Words(pair[0], values)
    return Words(pair[1], {**values, "file": _FILES[place]})


def _rule_words(raw: Mapping[str, Any], kind: str, place: str) -> Words | None:
    rules = raw.get("rules")
    behavior = raw.get("behavior")
    if not isinstance(rules, list) or not rules or behavior not in ("allow", "deny", "ask"):
        return None
    parsed = [_rule(rule) for rule in rules]
    if any(rule is None for rule in parsed):
        return None
    pairs = [rule for rule in parsed if rule is not None]
    text = ", ".join(tool if content is None else f"{tool}({content})" for tool, content in pairs)
    if (kind, behavior) != ("addRules", "allow"):
        return _pick(_RULES[kind, behavior], place, rule=text)
    if all(content is None for _, content in pairs):
        return Words(_ALLOW_TOOL[place], {"rule": make_visible(text)})
    tool, content = pairs[0]
    if len(pairs) == 1 and tool in ("Bash", "PowerShell") and content is not None and content.endswith(":*"):
        return Words(_ALLOW_PREFIX[place], {"rule": make_visible(content.removesuffix(":*"))})
    # Among rules with a content, one without it stands for every use of its tool: said as the CLI writes it.
    text = ", ".join(f"{tool}({'*' if content is None else content})" for tool, content in pairs)
    return Words(_ALLOW[place], {"rule": make_visible(text)})


def _rule(value: Any) -> tuple[str, str | None] | None:
    """(tool, content) of a rule; the content is None for a rule about every use of the tool."""
    if not isinstance(value, Mapping):
        return None
    tool, content = value.get("toolName"), value.get("ruleContent")
    if not isinstance(tool, str) or not tool or not (content is None or isinstance(content, str)):
        return None
    return tool, content or None


def _directory_words(raw: Mapping[str, Any], kind: str, place: str) -> Words | None:
    directories = raw.get("directories")
    if not isinstance(directories, list) or not directories or not all(isinstance(d, str) for d in directories):
        return None
    text = ", ".join(directories)
    if kind == "removeDirectories":
        return _pick(_REMOVE_DIRECTORIES, place, directory=text)
    return Words(_ADD_DIRECTORIES[place], {"directory": make_visible(text)})


def _mode_words(raw: Mapping[str, Any], place: str) -> Words | None:
    mode = raw.get("mode")
    if not isinstance(mode, str) or not mode:
        return None
    if mode in _MODES:
        return _pick(_MODES[mode], place)
    return _pick(_OTHER_MODE, place, mode=mode)
