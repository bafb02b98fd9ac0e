"""Colours in code: right at once where there is time, after it is shown where there is not."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop.transcript import lexers
from desktop.transcript.block_segments import CodeSegment
from desktop.transcript.highlight import START, Part, read_parts
from tests.helpers.transcript import ShownTalk


def roles(code: str, parts: list[Part]) -> list[tuple[str, str]]:
    """(role, words) of coloured parts."""
    encoded = code.encode("utf-16-le")
    return [(part.role, encoded[part.start * 2 : (part.start + part.length) * 2].decode("utf-16-le")) for part in parts]


def test_keywords_strings_numbers_and_comments_have_colours() -> None:
    code = 'return "x", 12  # why'
    parts, _state = read_parts("python", code)
    assert roles(code, parts) == [("keyword", "return"), ("string", '"x"'), ("number", "12"), ("comment", "# why")]


def test_places_count_as_qt_does() -> None:
    code = 'x = "😀"  # 漢'
    parts, _state = read_parts("python", code)
    assert roles(code, parts) == [("string", '"😀"'), ("comment", "# 漢")]


def test_a_string_goes_on_in_the_next_chunk() -> None:
    first, state = read_parts("python", 'x = """one\ntwo')
    assert first[-1].role == "string"
    second, state = read_parts("python", 'three"""\ny = 1', state)
    assert roles('three"""\ny = 1', second) == [("string", 'three"""'), ("number", "1")]
    assert state == START


@pytest.mark.parametrize("language", ["", "nonsense", "no/such\0thing"])
def test_code_in_an_unknown_language_is_plain(language: str) -> None:
    assert read_parts(language, "x = 1") == ([], START)


def test_a_lexer_that_fails_costs_only_the_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def get_tokens_unprocessed(self, text: str) -> None:
            raise RuntimeError(text)

    monkeypatch.setattr("desktop.transcript.highlight.lexer_for", lambda language: Broken())
    assert read_parts("python", "x = 1") == ([], START)


def test_a_language_that_is_new_is_plain_first_and_coloured_soon(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = ShownTalk(qtbot)
    monkeypatch.setattr(lexers, "_ready", set())
    lexers._made.cache_clear()
    talk.says("```rust\nfn main() { let x = 1; }\n```")
    (code,) = (segment for segment in talk.row(0).segments if isinstance(segment, CodeSegment))
    plain = list(code._parts)
    qtbot.waitUntil(lambda: bool(code._parts) and not talk.list.busy)
    assert plain == []
    assert ("keyword", "fn") in roles(code.code, code._parts)


def test_code_that_streams_is_coloured_chunk_by_chunk(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    lexers.lexer_for("python")
    read: list[str] = []
    original = read_parts

    def note(language: str, text: str, state: tuple[str, ...] = START) -> tuple[list[Part], tuple[str, ...]]:
        read.append(text)
        return original(language, text, state)

    monkeypatch.setattr("desktop.transcript.block_segments.read_parts", note)
    talk = ShownTalk(qtbot)
    talk.begins_to_say("```python\n")
    for number in range(200):
        talk.goes_on(f"value_{number} = {number}\n")
    assert max(text.count("\n") for text in read) < 20
    assert sum(len(text) for text in read) < 20 * 200 * 18


def test_ten_thousand_lines_of_code_are_laid_out_where_they_are_seen(qtbot: QtBot) -> None:
    lexers.lexer_for("python")
    talk = ShownTalk(qtbot)
    talk.says("```python\n" + "".join(f"value_{number} = {number}\n" for number in range(10_000)) + "```")
    row = talk.row(0)
    assert sum(segment.laid >= 0 for segment in row.segments) < len(row.segments) / 2
    talk.bar.setValue(talk.bar.maximum() // 2)
    talk.settle()
    middle = [segment for segment in row.segments if isinstance(segment, CodeSegment) and segment.laid >= 0][-1]
    assert ("number", middle.code.split("\n")[0].split(" = ")[1]) in roles(middle.code, middle._parts)
