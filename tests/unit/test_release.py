"""What is made of GitHub's answer about releases: a newer one, nothing, or a reason for the log."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.release import ADDRESS, MOST_BYTES, PAGES, OddAnswerError, Release, is_newer, newer_release


def answer(**fields: Any) -> bytes:
    page = f"{PAGES}/tag/v1.2.0"
    known = {"tag_name": "v1.2.0", "html_url": page, "body": "- one\r\n- two", "draft": False, "prerelease": False}
    return json.dumps({**known, **fields}).encode()


def test_a_newer_release_is_told_with_its_page_and_news() -> None:
    assert newer_release(answer(), "1.1.9") == Release("1.2.0", f"{PAGES}/tag/v1.2.0", "- one\n- two")


@pytest.mark.parametrize("current", ["1.2.0", "1.2.1", "1.10.0", "2.0", "2.0.0.dev1", "no version"])
def test_the_same_or_an_older_one_is_not(current: str) -> None:
    assert newer_release(answer(), current) is None


@pytest.mark.parametrize("kind", ["draft", "prerelease"])
def test_what_is_not_for_everybody_is_not_told(kind: str) -> None:
    assert newer_release(answer(**{kind: True}), "1.0.0") is None


def test_numbers_are_compared_as_numbers() -> None:
    assert is_newer("v0.10.0", "0.9.9")
    assert is_newer("1.0", "0.99.99")
    assert not is_newer("1.0", "1.0.0")
    assert is_newer("1.0.0", "1.0.0.dev3")
    assert not is_newer("1.0.0-rc1", "1.0.0")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"<html>rate limited</html>", b"[]", b"null", b"{}", b'{"tag_name": 7}', b'{"tag_name": "latest"}',
        b'{"tag_name": "v1.2.3; rm"}', b"\xff\xfe{", b"[" * 100_000, b'{"tag_name": "v1.2.' + b"9" * 5000 + b'"}',
        b" " * (MOST_BYTES + 1), b'{"message": "Not Found"}',
    ],
)  # fmt: skip
def test_an_odd_answer_is_a_reason_and_no_crash(data: bytes) -> None:
    with pytest.raises(OddAnswerError):
        newer_release(data, "1.0.0")


anything = st.binary(max_size=200) | st.dictionaries(st.text(), st.text() | st.none()).map(
    lambda values: json.dumps(values).encode()
)


@given(anything)
def test_nothing_that_anyone_sends_is_a_crash(data: bytes) -> None:
    try:
        found = newer_release(data, "1.0.0")
    except OddAnswerError:
        found = None
    assert found is None


@pytest.mark.parametrize(
    "page",
    [
        None, 7, "", "http://github.com/handraise/handraise/releases/tag/v1", "https://evil.example/handraise",
        f"{PAGES}@evil.example/", f"{PAGES}.evil.example/x", f"{PAGES}/tag/v1?next=https://evil.example",
        "javascript:alert(1)", "file:///etc/passwd", f"{PAGES}/tag/v1\n", "https://github.com/handraise/other/releases",
    ],
)  # fmt: skip
def test_a_link_to_anywhere_else_is_not_shown(page: object) -> None:
    found = newer_release(answer(html_url=page), "1.0.0")
    assert found is not None
    assert found.page == PAGES


def test_the_news_are_a_few_plain_lines() -> None:
    found = newer_release(answer(body="\u202eevil\x1b[31m\x00 text  \n" + "line\n" * 1000), "1.0.0")
    assert found is not None
    lines = found.news.split("\n")
    assert lines[0] == "evil[31m text"
    assert lines[-1] == "…"
    assert len(lines) == 31
    long = newer_release(answer(body="x" * 100_000), "1.0.0")
    assert long is not None
    assert len(long.news) < 3100


@pytest.mark.parametrize("body", [None, 7, [], ""])
def test_without_news_the_release_is_told_all_the_same(body: object) -> None:
    found = newer_release(answer(body=body), "1.0.0")
    assert found is not None
    assert found.news == ""


def test_it_is_asked_of_github_over_https() -> None:
    assert ADDRESS == "https://api.github.com/repos/handraise/handraise/releases/latest"
