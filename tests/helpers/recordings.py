"""Recordings of the true CLI: one object a line, what the host wrote (`in`), what the CLI printed (`out`), its exit.

They live in `tests/data/recordings/<CLI version>/<scenario>.jsonl`. Long texts are cut with `…`, lists shortened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from protocol.conversation import Change, Conversation
from protocol.messages import parse_message
from protocol.wire import DamagedLine, Line, LineReader, encode_line

RECORDINGS = Path(__file__).parent.parent / "data" / "recordings"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a recording.

    Attributes:
        at: seconds since the CLI's start.
        direction: `in` is what the host wrote, `out` what the CLI printed, `exit` its end.
        value: the object; {} for an exit.
        code: the exit code; None but for an exit.
    """

    at: float
    direction: Literal["in", "out", "exit"]
    value: dict[str, Any]
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """One scenario with one version of the CLI."""

    version: str
    scenario: str
    entries: tuple[Entry, ...]

    def __str__(self) -> str:
        return f"{self.version}/{self.scenario}"

    @property
    def output(self) -> bytes:
        """The CLI's stdout, as bytes again."""
        return b"".join(encode_line(entry.value) for entry in self.entries if entry.direction == "out")


def load(version: str, scenario: str) -> Recording:
    """Reads one recording."""
    entries = []
    for line in (RECORDINGS / version / f"{scenario}.jsonl").read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        entries.append(Entry(fields.get("t", 0.0), fields["dir"], fields.get("msg", {}), fields.get("code")))
    return Recording(version, scenario, tuple(entries))


def names() -> list[tuple[str, str]]:
    """(version, scenario) of every recording, sorted."""
    return sorted((path.parent.name, path.stem) for path in RECORDINGS.glob("*/*.jsonl"))


def versions(scenario: str) -> list[str]:
    """The CLI versions that have a recording of this scenario."""
    return [version for version, name in names() if name == scenario]


def replay(recording: Recording, *, conversation: Conversation | None = None, chunk: int = 0) -> Conversation:
    """Feeds a whole recording into a conversation, byte for byte through the wire.

    Args:
        conversation: the one to feed; a new one by default.
        chunk: how many bytes at a time; 0 feeds each line whole.
    """
    conversation = conversation or Conversation()
    for _ in replay_steps(recording, conversation, chunk=chunk):
        pass
    return conversation


def replay_steps(
    recording: Recording, conversation: Conversation, *, chunk: int = 0
) -> Iterator[tuple[Entry, list[Change]]]:
    """As `replay`, one entry at a time, with what it changed."""
    reader = LineReader()
    for entry in recording.entries:
        changes: list[Change] = []
        if entry.direction == "in":
            changes = conversation.apply_sent(entry.value, entry.at)
        elif entry.direction == "exit":
            changes = conversation.apply_exit(entry.code, "", entry.at)
        else:
            data = encode_line(entry.value)
            size = chunk or len(data)
            for start in range(0, len(data), size):
                for line in reader.feed(data[start : start + size]):
                    changes += _apply(conversation, line, entry.at)
        yield entry, changes


def until_question(recording: Recording, conversation: Conversation) -> str:
    """Replays until the CLI asks for the first time; returns the request's id."""
    for _ in replay_steps(recording, conversation):
        if conversation.pending:
            return next(iter(conversation.pending))
    raise AssertionError(f"{recording} asks nothing")


def _apply(conversation: Conversation, line: Line, at: float) -> list[Change]:
    if isinstance(line, DamagedLine):
        return conversation.apply_damage(line, at)
    return conversation.apply(parse_message(line), at)
