"""Characters that a person cannot see, made visible.

A command is decided on by what is seen. Bidirectional controls reorder it, zero-width characters hide inside it, and
terminal escapes rewrite it; so whatever is shown for a decision goes through `make_visible` first.
"""

from __future__ import annotations

import re
from typing import Final

# Each can hide something; those in the last line of the class are fine in some company, see `_is_fine`.
_SUSPECTS: Final = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 and C1 controls, ESC among them; \n and \t stay
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"  # soft hyphen, joiners, fillers
    "\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, separators, bidirectional controls
    "\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # blanks that are not spaces, variants, byte order mark
    "\ud800-\udfff"  # lone surrogates
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical controls, tags and supplementary variants
    "\r\u200c\u200d\ufe0e\ufe0f"
    "]"
)
# Where the two joiners shape what is seen: Arabic and Indic scripts, emoji made of several.
_JOINABLE: Final = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
)


def hidden_characters(text: str) -> bool:
    """Whether `make_visible` would change the text."""
    return any(not _is_fine(match) for match in _SUSPECTS.finditer(text))


def make_visible(text: str) -> str:
    """The text with every hidden character as ⟨U+202E⟩; line feeds and tabs stay.

    For showing only. What is sent back to the CLI is always the original.
    """
    return _SUSPECTS.sub(_show, text)


def _show(match: re.Match[str]) -> str:
    character = match.group()
    return character if _is_fine(match) else f"⟨U+{ord(character):04X}⟩"


def _is_fine(match: re.Match[str]) -> bool:
    """Whether a suspect does in this place what it is for."""
    character, text, at = match.group(), match.string, match.start()
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if character == "\r":  # a Windows line end; alone it takes a terminal back to the start of the line
        return after == "\n"
    if character in "\u200c\u200d":
        return _JOINABLE.match(before) is not None and _JOINABLE.match(after) is not None
    if character in "\ufe0e\ufe0f":  # text or emoji? A switch on what has both forms
        return before in set("0123456789#*") or (before >= "\u00a9" and not "\ufe00" <= before <= "\ufe0f")
    return False
