"""Characters that a person cannot see, made visible.

A command is decided on by what is seen. Bidirectional controls reorder it, zero-width characters hide inside it, and
terminal escapes rewrite it; so whatever is shown for a decision goes through `make_visible` first.
"""

from __future__ import annotations

import re
from typing import Final

# Where the two joiners shape what is seen: Arabic and Indic scripts, emoji made of several.
_JOINABLE: Final = "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"

_HIDDEN: Final = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 and C1 controls, ESC among them; \n and \t stay, \r see below
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"  # soft hyphen, joiners, fillers
    "\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, separators, bidirectional controls
    "\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # blanks that are not spaces, variants, byte order mark
    "\ud800-\udfff"  # lone surrogates
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical controls, tags and supplementary variants
    "]"
    f"|(?<!{_JOINABLE})[\u200c\u200d]|[\u200c\u200d](?!{_JOINABLE})"
    "|\r(?!\n)"  # alone it takes a terminal back to the start of the line; before \n it is a Windows line end
    "|(?<![0-9#*\u00a9-\U0010ffff])[\ufe0e\ufe0f]"  # the emoji switch, where there is no emoji to switch
    "|(?<=[\ufe00-\ufe0f])[\ufe0e\ufe0f]"
)


def hidden_characters(text: str) -> bool:
    """Whether `make_visible` would change the text."""
    return _HIDDEN.search(text) is not None


def make_visible(text: str) -> str:
    """The text with every hidden character as ⟨U+202E⟩; line feeds and tabs stay.

    For showing only. What is sent back to the CLI is always the original.
    """
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)
