"""Bytes to lines and back: whatever the CLI prints and however the pipe cuts it, no line is lost and nothing raises."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.messages import fast_json
from protocol.wire import MAX_LINE_BYTES, DamagedLine, Line, LineReader, WireError, encode_line


def read(data: bytes, *, size: int = 0, max_line: int = MAX_LINE_BYTES) -> list[Line]:
    """All lines of `data`, fed in pieces of `size` bytes (0: at once), to the end of the stream.

    By the standard library's parser and by the fast one, which must agree on everything.
    """
    by_parser = []
    for parse in (None, fast_json):
        reader = LineReader(max_line, parse=parse)
        lines: list[Line] = []
        step = size or max(1, len(data))
        for start in range(0, len(data), step):
            lines += reader.feed(data[start : start + step])
        by_parser.append(lines + reader.finish())
    standard, fast = by_parser
    assert repr(standard) == repr(fast)  # by repr, since NaN is not equal to itself
    return fast


def values(lines: list[Line]) -> list[Any]:
    return [line.kind if isinstance(line, DamagedLine) else line for line in lines]


# Framing


@pytest.mark.parametrize("length", [70_000, 300_000, 1_500_000, 12_000_000])
def test_a_line_of_any_length_below_the_cap_comes_whole_and_what_follows_is_intact(length: int) -> None:
    text = "漢" * (length // 3)
    data = encode_line({"a": text}) + b'{"b":1}\n'
    assert values(read(data, size=65_536)) == [{"a": text}, {"b": 1}]


def test_a_damaged_line_knows_its_size_in_bytes() -> None:
    (line,) = read('{"a":"漢😀"\n'.encode())
    assert isinstance(line, DamagedLine)
    assert line.size == len('{"a":"漢😀"'.encode())


@pytest.mark.parametrize("text", ["😀", "漢", "a😀漢b", "\u2028", "é"])
def test_a_character_that_is_cut_anywhere_arrives_byte_exact(text: str) -> None:
    data = json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
    for cut in range(1, len(data)):
        reader = LineReader()
        assert values(reader.feed(data[:cut]) + reader.feed(data[cut:])) == [{"text": text}]
    assert values(read(data, size=1)) == [{"text": text}]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\u001c", "\u000b", "\u000c", "\u001e"])
def test_only_a_newline_ends_a_line(character: str) -> None:
    raw = f'{{"a":"x{character}y"}}\n{{"b":2}}\n'.encode()
    lines = read(raw)
    if character < " ":  # JSON wants these escaped; the line is damaged, but it is one line
        assert [type(line) for line in lines] == [DamagedLine, dict]
        assert isinstance(lines[0], DamagedLine)
        assert lines[0].size == len(raw) - len(b'{"b":2}\n') - 1
    else:
        assert values(lines) == [{"a": f"x{character}y"}, {"b": 2}]


def test_windows_line_ends_and_blank_lines_are_no_lines_of_their_own() -> None:
    assert values(read(b'\n\r\n{"a":1}\r\n   \n\t\n{"b":2}\n\n')) == [{"a": 1}, {"b": 2}]


def test_a_flood_of_blank_lines_is_not_even_parsed() -> None:
    tried: list[bytes] = []
    reader = LineReader(parse=lambda data: tried.append(data))
    assert list(reader.lines(b"\n" * 1000 + b" \r\n" * 1000)) == []
    assert tried == []


def test_a_byte_order_mark_does_not_spoil_the_first_line() -> None:
    assert values(read(b'\xef\xbb\xbf{"a":1}\n{"b":2}\n')) == [{"a": 1}, {"b": 2}]


def test_a_last_line_without_its_newline_still_counts() -> None:
    assert values(read(b'{"a":1}\n{"b":2}')) == [{"a": 1}, {"b": 2}]


def test_nothing_more_comes_after_the_end() -> None:
    reader = LineReader()
    reader.feed(b'{"a":1}')
    assert values(reader.finish()) == [{"a": 1}]
    assert reader.finish() == []


# Damage


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Welcome to Claude Code!", "not_json"),
        ("[debug] starting", "not_json"),
        ("{'a': 1}", "not_json"),
        ('{"a":1} trailing', "not_json"),
        ('{"a":1}{"b":2}', "not_json"),
        ("[1, 2, 3]", "not_an_object"),
        ("42", "not_an_object"),
        ('"text"', "not_an_object"),
        ("null", "not_an_object"),
        ("true", "not_an_object"),
    ],
)
def test_what_is_no_object_comes_out_named_and_the_line_after_it_is_not_lost(text: str, kind: str) -> None:
    lines = read(f'{{"a":1}}\n{text}\n{{"b":2}}\n'.encode())
    assert lines[1] == DamagedLine(kind, text, len(text.encode()))  # type: ignore[arg-type]
    assert values([lines[0], lines[2]]) == [{"a": 1}, {"b": 2}]


def test_a_stream_that_ends_inside_an_object_says_so() -> None:
    assert read(b'{"a":1}\n{"type":"assist')[1] == DamagedLine("truncated", '{"type":"assist', 15)


def test_a_stream_that_ends_inside_a_banner_is_a_banner() -> None:
    assert values(read(b"Segmentation fault")) == ["not_json"]


def test_invalid_utf8_is_replaced_and_the_line_still_parses() -> None:
    assert values(read(b'{"a":"x\xff\xfey"}\n')) == [{"a": "x��y"}]


def test_half_an_emoji_as_an_escape_comes_through() -> None:
    assert values(read(b'{"a":"\\ud83d"}\n')) == [{"a": "\ud83d"}]


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_line_past_the_cap_is_named_and_what_follows_is_intact(size: int) -> None:
    long = json.dumps({"a": "x" * 5000}).encode()
    lines = read(long + b'\n{"b":2}\n', size=size, max_line=1000)
    assert lines == [DamagedLine("too_long", long.decode()[:2000], len(long)), {"b": 2}]


def test_a_line_of_exactly_the_cap_is_taken() -> None:
    line = b'{"a":"' + b"x" * 92 + b'"}'
    assert len(line) == 100
    assert values(read(line + b"\n", max_line=100, size=3)) == [{"a": "x" * 92}]
    assert values(read(line + b" \n", max_line=100, size=3)) == ["too_long"]


def test_a_line_past_the_cap_does_not_fill_the_memory() -> None:
    reader = LineReader(max_line=10_000)
    for _ in range(1000):
        assert reader.feed(b"x" * 10_000) == []
    assert len(reader._tail) <= 10_000
    (line,) = reader.feed(b"\n")
    assert (line.size, len(line.text) if isinstance(line, DamagedLine) else 0) == (10_000_000, 2000)


def test_only_the_beginning_of_a_damaged_line_is_kept() -> None:
    (line,) = read(b"x" * 100_000 + b"\n")
    assert line == DamagedLine("not_json", "x" * 2000, 100_000)


@pytest.mark.parametrize("line", [b"[" * 200_000, b'{"a":' * 200_000, b'{"a":' + b"9" * 10_000 + b"}"])
def test_nesting_and_numbers_beyond_the_parser_are_damage_and_not_an_exception(line: bytes) -> None:
    assert values(read(line + b'\n{"b":2}\n')) == ["not_json", {"b": 2}]


def test_nan_and_infinity_do_not_raise() -> None:
    (line,) = read(b'{"a":NaN,"b":-Infinity}\n')
    assert str(line) == "{'a': nan, 'b': -inf}"


# Sending


def test_what_is_sent_is_one_line_with_its_end() -> None:
    data = encode_line({"a": "x\ny", "b": [1, {"c": None}]})
    assert data == b'{"a":"x\\ny","b":[1,{"c":null}]}\n'


@pytest.mark.parametrize("character", ["\n", "\r", "\u2028", "\u2029", "\u0085", "\u001c"])
def test_no_reader_can_take_a_character_inside_a_string_for_the_end_of_the_line(character: str) -> None:
    data = encode_line({"a": character})
    assert data.decode().splitlines(keepends=True) == [data.decode()]
    assert json.loads(data) == {"a": character}


def test_text_is_sent_as_itself_and_not_as_escapes() -> None:
    assert encode_line({"a": "漢字 😀"}) == '{"a":"漢字 😀"}\n'.encode()


def test_a_lone_surrogate_is_replaced_because_a_bad_line_ends_the_session() -> None:
    assert json.loads(encode_line({"a\ud83d": "x\udcffy"})) == {"a�": "x�y"}


def test_a_pair_of_surrogates_is_the_character_that_it_means() -> None:
    assert json.loads(encode_line({"a": "\ud83d\ude00"})) == {"a": "😀"}


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": b"x"}, {"a": {1, 2}}, {("a",): 1}, {"a": object()}])
def test_what_json_cannot_say_is_our_error_and_nothing_is_sent(value: Any) -> None:
    with pytest.raises(WireError, match="cannot be said in JSON"):
        encode_line(value)


def test_a_cycle_is_our_error_as_well() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    with pytest.raises(WireError):
        encode_line(value)


# Properties

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(st.text(), json_values, max_size=5)
pieces_of_a_stream = st.one_of(
    st.binary(max_size=40),
    json_objects.map(encode_line),
    st.sampled_from([b"\n", b"\r\n", b"null\n", b"[]\n", b"{", b'"', b"\xf0\x9f\x98", b"\x80\n", b"\xef\xbb\xbf"]),
)


@given(st.lists(pieces_of_a_stream, max_size=12), st.lists(st.integers(0, 400), max_size=12))
def test_any_bytes_cut_anywhere_parse_as_the_uncut_bytes_do(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    whole = read(data)
    bounds = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = LineReader()
    lines: list[Line] = []
    for start, end in pairwise(bounds):
        lines += reader.feed(data[start:end])
    lines += reader.finish()
    assert repr(lines) == repr(whole)  # by repr, since NaN is not equal to itself
    assert repr(read(data, size=1)) == repr(whole)


@given(st.binary(max_size=300), st.integers(1, 40), st.integers(1, 9))
def test_a_small_cap_changes_nothing_about_that(data: bytes, max_line: int, size: int) -> None:
    whole = read(data, max_line=max_line)
    assert repr(read(data, max_line=max_line, size=size)) == repr(whole)
    for line in whole:
        assert isinstance(line, dict) or (line.size > max_line) == (line.kind == "too_long")


@given(st.lists(json_objects, max_size=6))
def test_what_is_encoded_comes_back_line_for_line(objects: list[dict[str, Any]]) -> None:
    data = b"".join(encode_line(value) for value in objects)
    assert data.count(b"\n") == len(objects)
    assert values(read(data, size=13)) == objects


@given(
    st.dictionaries(
        st.text(alphabet=st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=()))
    )
)
def test_any_text_can_be_sent_surrogates_and_all(value: dict[str, str]) -> None:
    (line,) = read(encode_line(value))
    assert isinstance(line, dict)
    assert not any("\ud800" <= character <= "\udfff" for text in line.values() for character in text)
