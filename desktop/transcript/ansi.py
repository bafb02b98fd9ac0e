"""Output of commands: terminal escapes become colours or go, other hidden characters become visible."""

from __future__ import annotations

import re
from typing import NamedTuple

from desktop.transcript.inline import utf16_length
from protocol.permissions import make_visible

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colours
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[@-Z\\-_=>()][AB012]?|\x9b[0-?]*[ -/]*[@-~]"
)
_REWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_BACKSPACE = re.compile(r"[^\n\x08]\x08")
_ROLES = {1: "bad", 2: "good", 3: "careful", 4: "accent", 5: "accent", 6: "accent"}


class Coloured(NamedTuple):
    """A part of a text in a colour of the theme, counted in UTF-16 code units."""

    start: int
    length: int
    role: str


def read_output(text: str) -> tuple[str, list[Coloured]]:
    """What a terminal would show of a text, and which parts of it are coloured.

    Cursor movements are dropped; a line that a carriage return rewrites shows its last state.
    """
    if "\r" in text:
        text = _REWRITTEN.sub("", text.replace("\r\n", "\n").rstrip("\r"))
    if "\b" in text:
        text = _BACKSPACE.sub("", text)
    if "\x1b" not in text and "\x9b" not in text:
        return make_visible(text), []
    parts: list[str] = []
    found: list[Coloured] = []
    at = place = 0
    role = ""
    for match in _ESCAPE.finditer(text):
        place = _add(parts, found, text[at : match.start()], place, role)
        at = match.end()
        if match.group(1) is not None:
            role = _role_after(role, match.group(1))
    _add(parts, found, text[at:], place, role)
    return "".join(parts), found


def _add(parts: list[str], found: list[Coloured], text: str, place: int, role: str) -> int:
    shown = make_visible(text)
    length = utf16_length(shown)
    if role and length:
        found.append(Coloured(place, length, role))
    parts.append(shown)
    return place + length


def _role_after(role: str, codes: str) -> str:
    """The colour after a sequence of codes. Extended colours (38;5;…, 38;2;…) are passed over."""
    numbers = [int(code) if code.isdigit() else 0 for code in re.split("[;:]", codes or "0")]
    index = 0
    while index < len(numbers):
        code = numbers[index]
        if code in (38, 48):
            index += 3 if numbers[index + 1 : index + 2] == [5] else 5
            continue
        if code in (0, 39, 30, 37, 97):
            role = ""
        elif 31 <= code <= 36 or 91 <= code <= 96:
            role = _ROLES[code % 10]
        elif code in (2, 90):
            role = "soft"
        index += 1
    return role
