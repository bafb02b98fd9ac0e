"""Reads scenario files. A wrong one is refused with the place and the reason, so that a typo cannot pass as a test."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.-]*)(?:\|([^}]*))?\}")

OPTIONS = frozenset((
    "version", "model", "models", "commands", "tools", "capabilities", "account", "mcp_servers", "session_id", "pace",
    "chunk", "harm", "resume", "context_window", "replies",
))

COMMON_ATTRIBUTES = frozenset(("as", "name", "comment"))
"""Every step may keep its outcome under `as`, be named for `--harm crash-at=NAME:CODE`, and carry a comment."""


class ScenarioError(Exception):
    """The scenario file is wrong; the text names the place."""


@dataclass(frozen=True)
class Step:
    """Attributes: `kind` is the key that names the step, `value` what stands under it, `options` the other keys."""

    kind: str
    value: Any
    options: dict[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        return self.options.get(key, default)


@dataclass
class TurnScript:
    """The steps of one turn, and the messages that it is for: those with the pattern `when`, or the next one."""

    steps: tuple[Step, ...]
    when: re.Pattern[str] | None = None
    once: bool = False
    used: bool = False


@dataclass
class Scenario:
    """Attributes: `options` as in the file; `turns` in order; `otherwise` for messages that no turn takes."""

    options: dict[str, Any] = field(default_factory=dict)
    turns: list[TurnScript] = field(default_factory=list)
    otherwise: tuple[Step, ...] = (Step("text", "echo: ${user}", {}),)

    def script_for(self, text: str) -> tuple[Step, ...]:
        """A turn whose pattern is found in the text comes first, then the next one without a pattern."""
        for turn in self.turns:
            if turn.when is not None and not (turn.once and turn.used) and turn.when.search(text):
                turn.used = True
                return turn.steps
        for turn in self.turns:
            if turn.when is None and not turn.used:
                turn.used = True
                return turn.steps
        return self.otherwise


def load(path: Path, kinds: Mapping[str, frozenset[str]]) -> Scenario:
    """Reads and checks a file. `kinds` says which keys a step of each kind may have beside its own."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"The scenario {path} cannot be read: {error}") from error
    try:
        return parse(value, kinds)
    except ScenarioError as error:
        raise ScenarioError(f"The scenario {path} is wrong: {error}") from error


def parse(value: Any, kinds: Mapping[str, frozenset[str]]) -> Scenario:
    """A scenario from plain JSON: an object, or a bare list of turns."""
    if isinstance(value, list):
        value = {"turns": value}
    if not isinstance(value, dict):
        raise ScenarioError("it must be an object or a list of turns.")
    _only(value, {"options", "turns", "otherwise", "comment"}, "the scenario")
    options = value.get("options", {})
    _only(options, OPTIONS, "options")
    scenario = Scenario(options=options)
    for index, turn in enumerate(value.get("turns", [])):
        scenario.turns.append(_parse_turn(turn, f"turn {index}", kinds))
    if "otherwise" in value:
        scenario.otherwise = parse_steps(value["otherwise"], "otherwise", kinds)
    return scenario


def _parse_turn(turn: Any, where: str, kinds: Mapping[str, frozenset[str]]) -> TurnScript:
    if isinstance(turn, list):
        turn = {"steps": turn}
    if not isinstance(turn, dict) or "steps" not in turn:
        raise ScenarioError(f"{where} must be a list of steps, or an object with `steps`.")
    _only(turn, {"when", "once", "steps", "comment"}, where)
    try:
        when = re.compile(turn["when"]) if "when" in turn else None
    except (re.error, TypeError) as error:
        raise ScenarioError(f"{where}: the pattern {turn['when']!r} is no regular expression: {error}") from error
    return TurnScript(parse_steps(turn["steps"], where, kinds), when, bool(turn.get("once")))


def parse_steps(value: Any, where: str, kinds: Mapping[str, frozenset[str]]) -> tuple[Step, ...]:
    if not isinstance(value, list):
        raise ScenarioError(f"{where}: steps must be a list.")
    return tuple(_parse_step(step, f"{where}, step {index}", kinds) for index, step in enumerate(value))


def _parse_step(value: Any, where: str, kinds: Mapping[str, frozenset[str]]) -> Step:
    if not isinstance(value, dict):
        raise ScenarioError(f"{where} must be an object.")
    # The kind is the first key that names one, so that a step may have an option that is also a kind's name.
    kind = next((key for key in value if key in kinds), None)
    if kind is None:
        raise ScenarioError(f"{where}: none of {sorted(value)} is a kind of step. Kinds: {', '.join(sorted(kinds))}.")
    _only(value, kinds[kind] | COMMON_ATTRIBUTES | {kind}, f"{where} ({kind})")
    options = {key: item for key, item in value.items() if key != kind}
    inner = value[kind]
    if kind in ("together", "repeat_steps"):
        inner = parse_steps(inner, f"{where} ({kind})", kinds)
    for key in ("steps", "then", "after"):
        if key in options:
            options[key] = parse_steps(options[key], f"{where} ({key})", kinds)
    if "cases" in options:
        cases = options["cases"]
        if not isinstance(cases, dict):
            raise ScenarioError(f"{where}: cases must be an object.")
        options["cases"] = {name: parse_steps(steps, f"{where}, case {name!r}", kinds) for name, steps in cases.items()}
    return Step(kind, inner, options)


def _only(value: Any, known: frozenset[str] | set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise ScenarioError(f"{where} must be an object.")
    unknown = sorted(set(value) - known)
    if unknown:
        raise ScenarioError(f"{where} has unknown keys: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")


def look_up(path: str, facts: Mapping[str, Any]) -> Any:
    """`db.answers.0` in nested mappings and lists; None for what is not there."""
    value: Any = facts
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, (list, tuple)) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def fill(value: Any, facts: Mapping[str, Any]) -> Any:
    """Replaces `${path}` and `${path|otherwise}` in every string of a JSON value."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _as_text(look_up(match[1], facts), match[2]), value)
    if isinstance(value, list):
        return [fill(item, facts) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, facts) for key, item in value.items()}
    return value


def _as_text(value: Any, otherwise: str | None) -> str:
    if value is None or value == "" or value == []:
        return otherwise or ""
    if isinstance(value, (list, tuple)):
        return "; ".join(_as_text(item, "") for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
