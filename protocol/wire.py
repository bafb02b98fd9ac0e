"""Bytes to JSON lines and back, without I/O.

The CLI speaks NDJSON: one JSON object a line, UTF-8, and `\\n` alone ends a line. U+2028, U+2029, U+0085 and U+001C
are legal inside strings, so bytes are split on ``b"\\n"`` before they are decoded. Whatever is no JSON object comes
out as a value (`DamagedLine`), in its place in the stream, and the line after it is intact.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line kept, in bytes. The CLI echoes images as base64, so lines of many megabytes are normal."""

DAMAGED_TEXT_CHARACTERS = 2000
"""How much of a damaged line is kept for the log, in characters."""

_SHORT = 8
_DAMAGED_TEXT_BYTES = 4 * DAMAGED_TEXT_CHARACTERS
_BEFORE_JSON = "\ufeff \t\r\n"

# Node's readline ends a line at U+2028 and U+2029 as well, Python's splitlines at U+0085 too. They can only stand
# inside a JSON string, where the escape means the same, so no reader at the other end can be misled.
_ESCAPED_LINE_ENDS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"}


class WireError(ValueError):
    """We were about to send something that JSON cannot say; nothing was sent."""


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """One line that held no JSON object.

    Attributes:
        kind: `not_json` (a banner, a warning, garbage), `not_an_object` (an array, a number, `null`), `too_long`
            (past the reader's cap) or `truncated` (the stream ended inside an object).
        text: its first 2000 characters; invalid UTF-8 is replaced.
        size: the line's length in bytes, all of it, without its end.
    """

    kind: Literal["not_json", "not_an_object", "too_long", "truncated"]
    text: str
    size: int


Line = dict[str, Any] | DamagedLine
"""One line: the JSON object that it held, or what it was instead."""


class LineReader:
    """Cuts a byte stream into lines and parses them. Never raises, whatever the bytes are and however they are cut.

    Memory is bounded by the cap: of a line past it only the beginning is kept.

    Args:
        max_line: longest line that is parsed, in bytes.
        parse: a faster reader of one line of JSON, such as `protocol.messages.fast_json`. What it refuses, by any
            exception, is read again by the standard library, which has the last word.
    """

    def __init__(self, max_line: int = MAX_LINE_BYTES, *, parse: Callable[[bytes], Any] | None = None) -> None:
        self._max_line = max_line
        self._parse = parse or _standard_json
        self._tail = bytearray()
        self._tail_size = 0  # also counts what was dropped from a line past the cap

    def feed(self, data: bytes) -> list[Line]:
        """Takes the next bytes of the stream and returns the lines that they complete. Blank lines are skipped."""
        return list(self.lines(data))

    def lines(self, data: bytes) -> Iterator[Line]:
        """As `feed`, but parses each line only when it is asked for. To be exhausted before the next bytes come."""
        pieces = data.split(b"\n")
        rest = pieces.pop()
        if pieces and self._tail_size:
            self._keep(pieces[0])
            pieces[0], size = self._take_tail()
            if size > self._max_line:
                yield _too_long(pieces[0], size)
                pieces[0] = b""  # blank, so skipped below
        parse, max_line = self._parse, self._max_line
        for piece in pieces:
            size = len(piece)
            value = None
            if size <= max_line:
                if size < _SHORT and not piece.strip():  # a flood of blank lines must cost next to nothing
                    continue
                try:
                    value = parse(piece)
                except Exception:  # whatever it raises: this line wants a second look
                    value = None
            if type(value) is dict:
                yield value
            elif (line := self._read(piece, size)) is not None:
                yield line
        if rest:
            self._keep(rest)

    def finish(self) -> list[Line]:
        """Says that the stream has ended; returns what its unfinished last line held, if anything."""
        line = self._read(*self._take_tail())
        if isinstance(line, DamagedLine) and line.kind == "not_json" and line.text.lstrip().startswith("{"):
            line = DamagedLine("truncated", line.text, line.size)
        return [] if line is None else [line]

    def _keep(self, piece: bytes) -> None:
        """Adds to the unfinished line, dropping what lies past the cap."""
        self._tail_size += len(piece)
        if self._tail_size <= self._max_line:
            self._tail += piece
            return
        missing = _DAMAGED_TEXT_BYTES - len(self._tail)
        if missing > 0:
            self._tail += piece[:missing]
        del self._tail[_DAMAGED_TEXT_BYTES:]

    def _take_tail(self) -> tuple[bytes, int]:
        """The unfinished line, or its beginning if it is past the cap, and its true size."""
        tail = bytes(self._tail), self._tail_size
        self._tail, self._tail_size = bytearray(), 0
        return tail

    def _read(self, data: bytes, size: int) -> Line | None:
        """A patient look at one line: blank (None), after a byte order mark, with invalid UTF-8, or damaged."""
        if size > self._max_line:
            return _too_long(data, size)
        text = data.decode("utf-8", "replace")
        stripped = text.lstrip(_BEFORE_JSON)
        if not stripped or stripped.isspace():
            return None
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            return _damaged("not_json", text, size)
        return value if type(value) is dict else _damaged("not_an_object", text, size)


def encode_line(value: Mapping[str, Any]) -> bytes:
    """Makes one line, with its end, of one JSON object.

    Lone surrogates (half an emoji, a file name that is no UTF-8) become U+FFFD: one malformed line on stdin ends the
    CLI's session. Pairs of them are joined into the character that they mean.

    Raises:
        WireError: the value holds what JSON cannot say (NaN, bytes, a cycle, …).
    """
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"this cannot be said in JSON: {error}") from error
    for character, escape in _ESCAPED_LINE_ENDS.items():
        if character in text:
            text = text.replace(character, escape)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"


def _standard_json(data: bytes) -> Any:
    return json.loads(data.decode())


def _too_long(data: bytes, size: int) -> DamagedLine:
    return _damaged("too_long", data[:_DAMAGED_TEXT_BYTES].decode("utf-8", "replace"), size)


def _damaged(kind: Literal["not_json", "not_an_object", "too_long"], text: str, size: int) -> DamagedLine:
    return DamagedLine(kind, text[:DAMAGED_TEXT_CHARACTERS], size)
