"""The stop scanner says what `str.find` would say of the whole answer, however the answer is cut into pieces."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.chat_completions.stop import StopScanner

letters = st.text(alphabet="ab", max_size=30)
stop_texts = st.lists(st.text(alphabet="ab", min_size=1, max_size=6), max_size=4)


def through(pieces: Sequence[str], stops: Sequence[str]) -> tuple[list[str], str, bool]:
    """What comes out for each piece, what comes out at the end, and whether a stop text was there."""
    scanner = StopScanner(stops)
    out = [scanner.feed(piece) for piece in pieces]
    return out, scanner.finish(), scanner.hit


def whole(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    places = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(places)], True) if places else (text, False)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab", max_size=5), max_size=12), stop_texts)
def test_it_finds_what_find_finds_however_the_answer_is_cut(pieces: list[str], stops: list[str]) -> None:
    out, rest, hit = through(pieces, stops)
    assert ("".join(out) + rest, hit) == whole("".join(pieces), stops)


@settings(deadline=None)
@given(st.lists(st.text(max_size=8), max_size=8), st.lists(st.text(min_size=1, max_size=3), max_size=4))
def test_so_it_does_with_any_letters(pieces: list[str], stops: list[str]) -> None:
    out, rest, hit = through(pieces, stops)
    assert ("".join(out) + rest, hit) == whole("".join(pieces), stops)


@settings(deadline=None)
@given(letters, stop_texts)
def test_nothing_is_held_back_that_can_be_no_stop(text: str, stops: list[str]) -> None:
    """Letter by letter: what is out is all of the answer but the longest end of it with which a stop text begins."""
    scanner = StopScanner(stops)
    out = ""
    for end in range(1, len(text) + 1):
        out += scanner.feed(text[end - 1])
        seen = text[:end]
        if any(stop in seen for stop in stops):
            break
        held = max((n for stop in stops for n in range(len(stop)) if seen.endswith(stop[:n])), default=0)
        assert out == seen[: len(seen) - held]


@pytest.mark.parametrize(
    ("pieces", "stops", "out", "rest", "hit"),
    [
        (["Hello", " you"], [], ["Hello", " you"], "", False),
        (["Hello EN", "D and more", "END"], ["END"], ["Hello ", "", ""], "", True),
        (["Hello EN", "T"], ["END"], ["Hello ", "ENT"], "", False),
        (["Hello EN"], ["END"], ["Hello "], "EN", False),
        (["END"], ["END"], [""], "", True),
        (["EEND"], ["END"], ["E"], "", True),
        (["a\n", "\nb"], ["\n\n"], ["a", ""], "", True),
        (["你好。", "再見"], ["。"], ["你好", ""], "", True),
        # The later one is complete first, but the earlier one may still come, and then it does.
        (["-abc", "d"], ["abcd", "bc"], ["-", ""], "", True),
        (["-abc", "x"], ["abcd", "bc"], ["-", "a"], "", True),
        (["-abc"], ["abcd", "bc"], ["-"], "a", True),
    ],
)
def test_examples(pieces: list[str], stops: list[str], out: list[str], rest: str, hit: bool) -> None:
    assert through(pieces, stops) == (out, rest, hit)


def test_it_is_known_at_once_when_nothing_earlier_can_come() -> None:
    scanner = StopScanner(["END"])
    assert scanner.feed("the END and") == "the "
    assert scanner.hit


def test_long_stop_texts_that_nearly_match_all_the_time_take_no_more_than_a_moment() -> None:
    stop = "a" * 100_000 + "b"
    answer = ("a" * 99_999 + "c") * 3
    begun = time.process_time()
    out, rest, hit = through([answer[start : start + 1000] for start in range(0, len(answer), 1000)], [stop])
    assert ("".join(out) + rest, hit) == (answer, False)
    # Below a second; anything quadratic would take minutes.
    assert time.process_time() - begun < 20
