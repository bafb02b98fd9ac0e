"""Command line: the real CLI's flags, checked as it checks them, and the stand-in's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fake_cli.facts import VERSION

CHOSEN_MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "manual", "dontAsk", "plan")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# From `claude --help` of 2.1.332, and the hidden ones that SDKs pass.
_SWITCHES = _words(
    "--allow-dangerously-skip-permissions --ax-screen-reader --bare --brief --chrome --no-chrome "
    "--dangerously-skip-permissions --disable-slash-commands --exclude-dynamic-system-prompt-sections "
    "--fork-session --forward-subagent-text --ide --include-hook-events --include-partial-messages "
    "--no-session-persistence --replay-user-messages --restricted --safe-mode --strict-mcp-config --verbose "
    "--debug -d --print -p --continue -c --version -v --help -h --one-shot --lenient"
)
_WITH_VALUE = _words(
    "--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --betas --debug-file "
    "--effort --fallback-model --input-format --json-schema --max-budget-usd --max-turns --max-thinking-tokens "
    "--model --name -n --output-format --permission-mode --permission-prompt-tool --permission-prompts "
    "--plugin-dir --plugin-url --resume -r --resume-session-at --session-id --setting-sources --settings "
    "--system-prompt --system-prompt-file --thinking --scenario --harm --log --fake-version --one-shot-reply"
)
_WITH_VALUES = _words(
    "--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools --mcp-config --tools --file"
)
_SAME = {"-p": "--print", "-c": "--continue", "-v": "--version", "-h": "--help", "-r": "--resume", "-n": "--name"}


class UsageError(Exception):
    """What the real CLI refuses before it starts: one sentence for stderr, exit code 1."""


@dataclass
class Arguments:
    """Attributes: flags and values by the flag's long name; words that belong to no flag; harms by name."""

    switches: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    harms: dict[str, str] = field(default_factory=dict)

    def has(self, switch: str) -> bool:
        return switch in self.switches

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.values.get(name, default)


def parse(argv: Sequence[str], env: Mapping[str, str] = os.environ) -> Arguments:
    """Raises UsageError with the real CLI's words for an unknown option or a missing value."""
    found = Arguments()
    if env.get("FAKE_CLI_SCENARIO"):
        found.values["--scenario"] = env["FAKE_CLI_SCENARIO"]
    if env.get("FAKE_CLI_LOG"):
        found.values["--log"] = env["FAKE_CLI_LOG"]
    found.values["--fake-version"] = env.get("FAKE_CLI_VERSION") or VERSION
    if env.get("FAKE_CLI_LENIENT"):
        found.switches.add("--lenient")
    for harm in filter(None, env.get("FAKE_CLI_HARM", "").split(",")):
        _add_harm(found, harm)
    rest = list(argv)
    while rest:
        _take(found, rest)
    _check(found)
    return found


def _take(found: Arguments, rest: list[str]) -> None:
    word = rest.pop(0)
    if not word.startswith("-") or word == "-":
        found.words.append(word)
        return
    name, equals, inline = word.partition("=")
    name = _SAME.get(name, name)
    if name in _SWITCHES and not equals:
        found.switches.add(name)
    elif name in _WITH_VALUE:
        if not equals and not rest:
            raise UsageError(f"error: option '{name} <value>' argument missing")
        value = inline if equals else rest.pop(0)
        if name == "--harm":
            _add_harm(found, value)
        else:
            found.values[name] = value
    elif name in _WITH_VALUES:
        values = found.lists.setdefault(name, [])
        if equals:
            values.append(inline)
        while not equals and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
    else:
        raise UsageError(f"error: unknown option '{name}'")


def _add_harm(found: Arguments, text: str) -> None:
    name, _, value = text.strip().partition("=")
    found.harms[name] = value


def _check(found: Arguments) -> None:
    mode = found.get("--permission-mode")
    if mode is not None and mode not in CHOSEN_MODES:
        allowed = "acceptEdits, auto, bypassPermissions, manual, dontAsk, plan"
        raise UsageError(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. Allowed choices are {allowed}."
        )
    if found.get("--output-format") == "stream-json" and not found.has("--verbose"):
        raise UsageError("Error: When using --print, --output-format=stream-json requires --verbose")
    if found.get("--input-format") == "stream-json" and found.get("--output-format") != "stream-json":
        raise UsageError("Error: --input-format=stream-json requires output-format=stream-json.")
