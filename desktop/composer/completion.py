"""What the person is about to name: a `/command` at the beginning, or an `@file` anywhere. Pure, no widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MAX_SHOWN = 50

_COMMAND = re.compile(r"/([^\s/]*)\Z")
_FILE = re.compile(r"(?:^|(?<=\s))@(?:\"([^\"\n]*)|(\S*))\Z")


@dataclass(frozen=True)
class Wanted:
    """What is being typed at the cursor.

    Attributes:
        kind: a command of the CLI or a file of the folder.
        start: where its sign (`/` or `@`) stands in the text.
        query: what follows the sign.
    """

    kind: Literal["command", "file"]
    start: int
    query: str


@dataclass(frozen=True)
class Candidate:
    """One line of the list: what is put in, and what is said beside it."""

    insert: str
    label: str
    detail: str = ""


def wanted_at(text: str, position: int) -> Wanted | None:
    """What the text before the cursor asks to complete, or None.

    Args:
        text: the whole text.
        position: the cursor, in characters of `text`.
    """
    before = text[:position]
    command = _COMMAND.match(before)
    if command:
        return Wanted("command", 0, command.group(1))
    line = before[before.rfind("\n") + 1 :]
    file = _FILE.search(line)
    if file is None:
        return None
    query = file.group(1) if file.group(1) is not None else file.group(2)
    return Wanted("file", position - len(line) + file.start(), query)


def matching_commands(commands: Sequence[tuple[str, str]], query: str) -> list[Candidate]:
    """Commands for a query: those that begin with it first, then those that contain it.

    Args:
        commands: (name without the slash, description), in the CLI's order.
        query: what was typed after the slash.
    """
    needle = query.casefold()
    begins, contains = [], []
    for name, description in commands:
        candidate = Candidate(f"/{name} ", f"/{name}", " ".join(description.split()))
        if name.casefold().startswith(needle):
            begins.append(candidate)
        elif needle in name.casefold():
            contains.append(candidate)
    return (begins + contains)[:MAX_SHOWN]


def file_candidates(paths: Sequence[str]) -> list[Candidate]:
    """Files as candidates; a path with a space is quoted, as the CLI reads it. A folder can be gone on with."""
    made = []
    for path in paths[:MAX_SHOWN]:
        insert = f'@"{path}"' if " " in path else f"@{path}"
        made.append(Candidate(insert if path.endswith("/") else insert + " ", path))
    return made


def completed(text: str, wanted: Wanted, position: int, candidate: Candidate) -> tuple[str, int]:
    """The text with a candidate put in, and where the cursor stands then."""
    head = text[: wanted.start] + candidate.insert
    tail = text[position:]
    if candidate.insert.endswith(" ") and tail.startswith(" "):
        tail = tail[1:]
    return head + tail, len(head)


class History:
    """The sent messages, walked through with Up and Down.

    It is only entered from an empty field, and left by any other change, so that no typed word is ever replaced.
    """

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._place: int | None = None

    def add(self, text: str) -> None:
        """Remember a sent message; a repeated one only once in a row."""
        self._place = None
        if text.strip() and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)

    def older(self, shown: str) -> str | None:
        """The message before the shown one, or None when the key means something else."""
        if not self._entries or not self._may_walk(shown):
            return None
        place = len(self._entries) if self._place is None else self._place
        if place == 0:
            return None
        self._place = place - 1
        return self._entries[self._place]

    def newer(self, shown: str) -> str | None:
        """The message after the shown one ("" after the newest), or None when the key means something else."""
        if self._place is None or not self._may_walk(shown):
            return None
        self._place += 1
        if self._place >= len(self._entries):
            self._place = None
            return ""
        return self._entries[self._place]

    def _may_walk(self, shown: str) -> bool:
        if self._place is not None and shown == self._entries[self._place]:
            return True
        self._place = None
        return shown == ""
