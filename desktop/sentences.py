"""Sentences that are made before, or elsewhere than, they are shown: a template and its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from desktop.translations import tr


@dataclass(frozen=True)
class Sentence:
    """What the person will read, in whatever language is in force when it is shown.

    Attributes:
        template: the English sentence with `{named}` values; the key of the catalogue.
        values: the values. Plain text, also when they come from a model or a program.
    """

    template: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return tr(self.template, **self.values)


def sentence(template: str, /, **values: Any) -> Sentence:
    """A sentence to be shown later."""
    return Sentence(template, values)


def said(words: object) -> Sentence:
    """What an error of `protocol` says, so that it can be translated where the catalogue knows it.

    Args:
        words: an exception, a `protocol.words.Sentence`, or plain text.
    """
    if isinstance(words, BaseException):
        words = getattr(words, "sentence", None) or (words.args[0] if words.args else type(words).__name__)
    known = getattr(words, "words", None)
    if known is not None and hasattr(known, "template"):
        # A sentence can stand in a sentence: what failed, and the reason.
        return Sentence(known.template, {name: _value(value) for name, value in known.values.items()})
    # Without values a text is never read as a template: a brace in it stays a brace.
    return Sentence(str(words))


def _value(value: object) -> object:
    return said(value) if hasattr(value, "words") else value
