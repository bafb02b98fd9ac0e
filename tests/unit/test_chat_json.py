"""A request's bytes: what is JSON by the letter is read, all else is the same 400, and nothing else is ever raised."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.json_reader import MAX_DEPTH, MAX_DIGITS, read_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def outcome(data: bytes) -> tuple[Any, ApiError | None]:
    """The value, or the refusal."""
    try:
        return read_json(data), None
    except ApiError as error:
        return None, error


def refusal(data: bytes) -> str:
    """The sentence with which the bytes are refused."""
    _, error = outcome(data)
    assert error is not None
    assert (error.status, error.kind, error.param, error.code) == (400, "invalid_request_error", None, "invalid_json")
    return error.message


@settings(deadline=None)
@given(json_values, st.booleans(), st.sampled_from([None, 2]))
def test_whatever_is_json_is_read_as_it_is(value: Any, ascii_only: bool, indent: int | None) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()) == value


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet='[]{}":,\\u0dD8eE+-1.ntf \ufeff', max_size=60).map(str.encode))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    value, error = outcome(data)
    if error is None:
        # What passed says the same to any other reader.
        assert json.loads(json.dumps(value, ensure_ascii=False).encode()) == value
    else:
        assert error.code == "invalid_json"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it is empty"),
        (b" \r\n\t", "it is empty"),
        (b"nothing", "Expecting value at line 1, column 1"),
        (b'{"a": 1', "line 1, column 8"),
        (b'{"a": 1} x', "Extra data"),
        (b"{'a': 1}", "in double quotes"),
        (b'["a\nb"]', "Invalid control character"),
        (b"\xff{}", "not UTF-8 at byte 0"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8 at byte 7"),
        (b'{"a": "\xc0\xaf"}', "not UTF-8 at byte 7"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ('{"a": 1}'.encode("utf-16-le"), "Expecting property name"),
        ('{"a": 1}'.encode("utf-32-le"), "Expecting property name"),
        ('{"a": "é"}'.encode("latin-1"), "not UTF-8 at byte 7"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"a": NaN}', "NaN is no JSON value"),
        (b"[Infinity]", "Infinity is no JSON value"),
        (b"[-Infinity]", "-Infinity is no JSON value"),
        (b"[1e999]", "a number is too large"),
        (b"[-1e999]", "a number is too large"),
        (b"[" + b"1" * 5000 + b"]", "more than 100 digits"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' stands twice"),
        (b'{"a": {"\\u0061": 1, "a": 1}}', "the key 'a' stands twice"),
        (rb'["\ud800"]', "half of a surrogate pair"),
        (rb'["\uDFFF"]', "half of a surrogate pair"),
        (rb'["\udc00\ud800"]', "half of a surrogate pair"),
        (rb'[{"x": [{"\ud83d": 1}]}]', "half of a surrogate pair"),
        (b"[" * 100_000, "more than 64 levels"),
        (b'{"a":' * 100_000, "more than 64 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "more than 64 levels"),
    ],
)
def test_what_is_not_json_is_refused_with_its_reason(data: bytes, says: str) -> None:
    assert says in refusal(data)


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud800", "😀", "\u2028\u2029\u0085", "\\u0000"])
def test_what_only_looks_like_half_a_pair_is_read(text: str) -> None:
    data = f'["{text}"]'.encode()
    assert read_json(data) == json.loads(data)


def test_the_limits_themselves_are_allowed() -> None:
    nested = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert json.dumps(read_json(nested)).encode() == nested
    assert read_json(b"9" * MAX_DIGITS) == int("9" * MAX_DIGITS)


def test_brackets_in_strings_are_no_nesting() -> None:
    value = ["[" * 500 + '"\\' + "{" * 500, {"}": "]"}]
    assert read_json(json.dumps(value).encode()) == value


def test_a_key_that_stands_twice_is_told_short_and_printable() -> None:
    key = json.dumps("\x1b[31m" + "k" * 1000)
    sentence = refusal(f"{{{key}: 1, {key}: 2}}".encode())
    assert sentence.isprintable()
    assert "'?[31mkkkk" in sentence
    assert len(sentence) < 150


@pytest.mark.parametrize(
    "data",
    [
        b'["' + b"\\" * 1_000_000,
        b'["' + b'\\"' * 500_000,
        b'"' * 1_000_001,
        b"[" + b"[]," * 330_000 + b"[]]",
        b"[" + b"1" * 1_000_000 + b"]",
        b"[0." + b"1" * 1_000_000 + b"]",
    ],
    ids=["backslashes", "escaped quotes", "quotes", "empty arrays", "digits", "decimals"],
)
def test_a_megabyte_of_anything_takes_no_more_than_a_moment(data: bytes) -> None:
    begun = time.process_time()
    outcome(data)
    # Some tenths of a second at most; anything quadratic would take minutes.
    assert time.process_time() - begun < 10
