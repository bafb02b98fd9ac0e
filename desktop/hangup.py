"""The end of a terminal, and those who want to outlive it. No Qt in here: `serve` has none."""

from __future__ import annotations

import signal


def is_unwanted(number: int) -> bool:
    """Whether a signal is the hangup, and whoever started this program wants it ignored, as `nohup` does."""
    return number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN
