"""How names and values of a client appear in sentences: short, printable, in quotes."""

from __future__ import annotations

from typing import Any, Final

LONGEST: Final = 60
"""Characters of a client's own word that are repeated in a message."""


def printable(text: str) -> str:
    """At most 60 characters of it on one line, everything else as `?`, cut off with an ellipsis."""
    clean = "".join(character if character.isprintable() else "?" for character in text[: LONGEST + 1])
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"


def shown(text: str) -> str:
    """The same in quotes."""
    return f"'{printable(text)}'"


def kind_of(value: Any) -> str:
    """What JSON calls the value: `null`, `a boolean`, `a number`, `a string`, `an array` or `an object`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for kinds, name in (((int, float), "a number"), ((str,), "a string"), ((list,), "an array")):
        if isinstance(value, kinds):
            return name
    return "an object"
