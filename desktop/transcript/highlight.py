"""Colours in code: which part of a text is a keyword, a string, a comment.

Code is read in chunks. A chunk starts in the state in which the chunk before it ended, so a string over many lines
keeps its colour, and a block that grows is never read again from its beginning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

from pygments.lexer import Lexer, RegexLexer
from pygments.token import Comment, Error, Generic, Keyword, Literal, Name, Number, String, Token, _TokenType
from PySide6.QtGui import QColor

from desktop import theme
from desktop.transcript.lexers import lexer_for

log = logging.getLogger("handraise.transcript")

State = tuple[str, ...]
START: State = ("root",)

_COLOURS = {
    "keyword": "accent", "string": "good", "number": "careful", "comment": "soft", "attribute": "careful",
    "inserted": "good", "deleted": "bad", "heading": "accent",
}
_ROLES: dict[_TokenType, str] = {
    Keyword: "keyword",
    Name.Tag: "keyword",
    Name.Builtin: "keyword",
    Name.Decorator: "attribute",
    Name.Attribute: "attribute",
    Name.Constant: "number",
    String: "string",
    Literal: "string",
    Number: "number",
    Comment: "comment",
    Generic.Inserted: "inserted",
    Generic.Deleted: "deleted",
    Generic.Heading: "heading",
    Generic.Subheading: "heading",
    Generic.Output: "comment",
    Generic.Prompt: "comment",
}
_role_cache: dict[_TokenType, str] = {}


class Budget:
    """How long reading colours may take until the next frame. What does not fit is plain first and coloured after.

    Attributes:
        left: seconds; infinite outside of a frame.
    """

    def __init__(self) -> None:
        self.left = float("inf")
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, *error: object) -> None:
        self.left -= perf_counter() - self._started


budget = Budget()
FRAME_SECONDS = 0.003
"""What `budget` is set to for a frame."""


class Part(NamedTuple):
    """A part of a chunk with a colour: start and length in UTF-16 code units, and its role."""

    start: int
    length: int
    role: str


def colour(role: str) -> QColor:
    """The colour of a role of code in the scheme in force."""
    return theme.role(_COLOURS[role])


def read_parts(language: str, text: str, state: State = START) -> tuple[list[Part], State]:
    """The coloured parts of one chunk of complete lines, and the state in which it ended. Never raises."""
    lexer = lexer_for(language) if language else None
    if lexer is None or not text:
        return [], state
    tokens: list[tuple[int, _TokenType, str]] = []
    try:
        state = _read(lexer, text + "\n", state, tokens)
    except Exception:  # a lexer is third-party code that reads a model's text: it may only cost the colours
        log.debug("The lexer for %s gave up", language, exc_info=True)
        return [], START
    return list(_parts(text, tokens)), state


def _read(lexer: Lexer, text: str, state: State, tokens: list[tuple[int, _TokenType, str]]) -> State:
    if type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed:
        tokens.extend(lexer.get_tokens_unprocessed(text))
        return START
    stack = list(state)
    rules: dict[str, list[Any]] = lexer._tokens  # type: ignore[attr-defined]
    if any(name not in rules for name in stack):
        stack = list(START)
    at, end = 0, len(text)
    while at < end:
        for match_at, action, target in rules[stack[-1]]:
            match = match_at(text, at)
            if not match:
                continue
            if type(action) is _TokenType:
                tokens.append((at, action, match.group()))
            elif action is not None:
                tokens.extend(action(lexer, match))
            at = match.end()
            if target is not None:
                _move(stack, target)
            break
        else:
            if text[at] == "\n":
                stack = list(START)
            at += 1
    return tuple(stack[-20:])


def _move(stack: list[str], target: Any) -> None:
    """What Pygments does between states: a count to pop, `#pop`, `#push`, or names to enter."""
    if isinstance(target, int):
        del stack[max(1, len(stack) + target) :]
        return
    for name in (target,) if isinstance(target, str) else target:
        if name == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif name == "#push":
            stack.append(stack[-1])
        else:
            stack.append(name)


def _parts(text: str, tokens: Iterable[tuple[int, _TokenType, str]]) -> Iterator[Part]:
    wide = not text.isascii() and max(text) > "\uffff"
    at = length = 0
    last = ""
    for start, kind, value in tokens:
        role = _role(kind)
        size = len(value)
        if wide:
            size += sum(1 for character in value if character > "\uffff")
            start += sum(1 for character in text[:start] if character > "\uffff")
        if role == last and start == at + length:
            length += size
            continue
        if last and length:
            yield Part(at, length, last)
        at, length, last = start, size, role
    if last and length:
        yield Part(at, length, last)


def _role(kind: _TokenType) -> str:
    found = _role_cache.get(kind)
    if found is None:
        walk: _TokenType | None = kind
        while walk is not None and walk is not Token and walk not in _ROLES and walk is not Error:
            walk = walk.parent
        found = _role_cache[kind] = _ROLES.get(walk, "") if walk is not None else ""
    return found
