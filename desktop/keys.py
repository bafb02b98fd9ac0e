"""Keys as the person's keyboard names them."""

from __future__ import annotations

import sys

_ON_A_MAC = (("Ctrl+Shift+", "⇧⌘"), ("Ctrl+Enter", "⌘↩"), ("Ctrl+", "⌘"))


def as_typed(text: str, platform: str = sys.platform) -> str:
    """A text with keys in it, for example "Settings (Ctrl+,)"; Qt's Ctrl is the command key on a Mac."""
    if platform == "darwin":
        for ours, theirs in _ON_A_MAC:
            text = text.replace(ours, theirs)
    return text
