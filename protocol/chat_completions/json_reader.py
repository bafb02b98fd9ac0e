"""A request's bytes to Python values, without what `json.loads` lets pass.

`json.loads` guesses UTF-16 and UTF-32, and takes a byte order mark, `NaN`, the same key twice (the last one wins) and
half of a surrogate pair, which no UTF-8 can carry on. Deep nesting ends it with a RecursionError and an integer of
thousands of digits with a ValueError. Here each of these is the same ApiError as any other damage.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.words import shown

MAX_DEPTH: Final = 64
"""Objects and arrays inside one another. A request needs 5, and a schema in it seldom more than 30."""

MAX_DIGITS: Final = 100
"""Digits of an integer. The longest that any parameter takes has 19."""

CODE: Final = "invalid_json"

# A string is skipped in one step, closed or not, and nothing is tried twice (possessive): linear on any input.
_STRUCTURE: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(data: bytes) -> Any:
    """The value that a JSON text (RFC 8259) says.

    Args:
        data: the body, UTF-8 without a byte order mark.

    Raises:
        ApiError: 400 with the code `invalid_json`, whatever is wrong; nothing else, whatever the bytes are.
    """
    text = _decoded(data)
    _check_depth(text)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_real
        )
    except json.JSONDecodeError as error:
        raise _invalid(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    if _SURROGATE_ESCAPE.search(text) and _has_half_a_pair(value):
        raise _invalid("a string holds half of a surrogate pair")
    return value


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"it is not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise _invalid("it begins with a byte order mark")
    if not text.strip(" \t\r\n"):
        raise _invalid("it is empty")
    return text


def _check_depth(text: str) -> None:
    """Before the parser, whose own limit differs between versions of Python and is that of the calling stack."""
    depth = 0
    for match in _STRUCTURE.finditer(text):
        mark = text[match.start()]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _invalid(f"it nests more than {MAX_DEPTH} levels deep")
        elif mark in "]}":
            depth -= 1


def _has_half_a_pair(value: Any) -> bool:
    """Whether any string in a value has no UTF-8. As text came in as UTF-8, only escapes can have brought one."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and not item.isascii():
            try:
                item.encode()
            except UnicodeEncodeError:
                return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _invalid(f"the key {shown(key)} stands twice in one object")
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise _invalid(f"{name} is no JSON value")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _invalid(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _invalid("a number is too large")
    return value


def _invalid(what: str) -> ApiError:
    return ApiError(400, f"The body is not valid JSON: {what}.", code=CODE)
