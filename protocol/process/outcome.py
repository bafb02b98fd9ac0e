"""How a CLI is ended, and how it ended: values without a process in them."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass
from typing import Literal, NamedTuple

How = Literal["by itself", "eof", "terminated", "killed"]


class StartError(Exception):
    """The CLI could not be started. The text is a sentence for the user."""


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

    def __str__(self) -> str:
        if self.code is not None:
            return f"Claude exited (code {self.code})."
        if self.signal is not None:
            return f"Claude was ended by {_signal_name(self.signal)}."
        return "Claude could not be ended."


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
