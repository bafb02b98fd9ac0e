"""What the text before the cursor asks to complete."""

from __future__ import annotations

import pytest

from desktop.composer.completion import (
    Candidate,
    Wanted,
    completed,
    file_candidates,
    matching_commands,
    wanted_at,
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/", Wanted("command", 0, "")),
        ("/comp", Wanted("command", 0, "comp")),
        ("/mcp__server:tool", Wanted("command", 0, "mcp__server:tool")),
        ("say /comp", None),
        ("/usr/bin", None),
        ("/compact now", None),
        ("@", Wanted("file", 0, "")),
        ("look at @src/ma", Wanted("file", 8, "src/ma")),
        ("line\n@a", Wanted("file", 5, "a")),
        ('open @"my do', Wanted("file", 5, "my do")),
        ("mail me@example.org", None),
        ("@done ", None),
        ("漢字 @檔", Wanted("file", 3, "檔")),
        ("", None),
    ],
)
def test_what_is_wanted_at_the_end_of_a_text(text: str, wanted: Wanted | None) -> None:
    assert wanted_at(text, len(text)) == wanted


def test_only_the_text_before_the_cursor_counts() -> None:
    assert wanted_at("@ab cd", 2) == Wanted("file", 0, "a")


def test_commands_that_begin_with_the_query_come_first() -> None:
    found = matching_commands([("recompact", ""), ("compact", "d"), ("clear", "")], "comp")
    assert [one.label for one in found] == ["/compact", "/recompact"]


def test_a_folder_can_be_gone_on_with_and_a_file_is_finished() -> None:
    assert [one.insert for one in file_candidates(["src/", "a.py"])] == ["@src/", "@a.py "]


def test_a_completion_keeps_what_stands_behind_the_cursor() -> None:
    text, place = completed("see @a and more", Wanted("file", 4, "a"), 6, Candidate("@a.py ", "a.py"))
    assert (text, place) == ("see @a.py and more", 10)
