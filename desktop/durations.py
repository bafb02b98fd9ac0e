"""Durations as a person reads them."""

from __future__ import annotations


def elapsed(seconds: float) -> str:
    """A duration: `0:42`, `12:05`, `2:00:07`. Negative ones (a clock set back) are 0:00."""
    whole = max(0, int(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
