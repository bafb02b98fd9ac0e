"""How a CLI is ended, and how it ended: values without a process in them."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from protocol.words import Sentence

How = Literal["by itself", "eof", "terminated", "killed"]


SENTENCES: Final = {
    "no command": "No command was given for Claude.",
    "no folder": "The folder {folder} does not exist.",
    "not in PATH": "The program {program} was not found in PATH.",
    "no interpreter": "{program} cannot be started: the interpreter named in its first line is missing.",
    "no program": "The program {program} does not exist.",
    "is a folder": "{program} is a folder, not a program.",
    "closed folder": "The folder {folder} may not be entered.",
    "not executable": "{program} is not executable. Make it so with: chmod +x",
    "other computer": "{program} is not a program for this computer.",
    "arguments too long": "The arguments for Claude are too long for this system.",
    "failed": "{program} could not be started: {reason}",
}
"""Why a program does not start, as templates for a translator's catalogue."""


class StartError(Exception):
    """The CLI could not be started. The text is a `Sentence` for the user, to be translated."""

    def __init__(self, what: str, **values: object) -> None:
        """Of `SENTENCES[what]`."""
        self.sentence = Sentence(SENTENCES[what], {name: str(value) for name, value in values.items()})
        super().__init__(self.sentence)


ENDS: Final = {
    "exited": "Claude exited (code {code}).",
    "signal": "Claude was ended by {signal}.",
    "still there": "Claude could not be ended.",
}
"""How it ended, as templates for a translator's catalogue."""


class Ladder(NamedTuple):
    """Seconds granted to each step of an ending: stdin closed, asked to terminate, killed."""

    eof: float = 3.0
    term: float = 3.0
    kill: float = 3.0


@dataclass(frozen=True)
class Exit:
    """The end of a CLI.

    `code` is its exit code, None when a signal ended it (then `signal` is its number) or when it could not be
    ended at all. `how` says which step of the ladder it took. `str()` is what the user reads.
    """

    code: int | None
    signal: int | None = None
    how: How = "by itself"
    stderr_tail: str = ""

    @classmethod
    def from_returncode(cls, returncode: int | None, how: How, stderr_tail: str = "") -> Exit:
        """From the number `subprocess` reports: negative for a signal, None for a process that still runs."""
        if returncode is not None and returncode < 0:
            return cls(None, -returncode, how, stderr_tail)
        return cls(returncode, None, how, stderr_tail)

    @property
    def sentence(self) -> Sentence:
        """What the user reads."""
        if self.code is not None:
            return Sentence(ENDS["exited"], {"code": str(self.code)})
        if self.signal is not None:
            return Sentence(ENDS["signal"], {"signal": _signal_name(self.signal)})
        return Sentence(ENDS["still there"])

    def __str__(self) -> str:
        return str(self.sentence)


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
