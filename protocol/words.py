"""Sentences for people that a window can still translate: an English template and the values in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Words:
    """An English template with `{names}`, and the values for them; `str()` is the English sentence."""

    template: str
    values: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format_map(self.values)


class Sentence(str):
    """An English sentence that still knows its `words`, for a caller that wants to translate it."""

    __slots__ = ("words",)

    words: Words

    def __new__(cls, template: str, values: Mapping[str, str] | None = None) -> Sentence:
        words = Words(template, dict(values or {}))
        sentence = super().__new__(cls, str(words))
        sentence.words = words
        return sentence
