"""Texts of a model as they are shown: hidden characters made visible, and no text so long that the window stands still.

Only what explains a choice is ever shortened. What is allowed to run is always shown whole.
"""

from __future__ import annotations

from desktop.translations import tr
from protocol.permissions import make_visible

LABEL, DESCRIPTION, QUESTION, PREVIEW = 2_000, 8_000, 16_000, 40_000
"""Most characters shown of each. The CLI asks for 12 to some hundreds; laying out 100,000 takes a minute."""


def shown(text: str, most: int) -> str:
    """A text for the screen. What is sent is never taken from it."""
    if len(text) <= most:
        return make_visible(text)
    return make_visible(text[:most]) + tr("… ({count} more characters)", count=len(text) - most)
