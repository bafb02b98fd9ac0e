"""What an edit changes, as rows: before it runs, and from what the tool reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.transcript.diffs import DiffRow, edit_rows, result_rows, shown_text, unified_rows

FILE = "".join(f"line {number}\n" for number in range(1, 41))


def read(files: dict[str, str]) -> Any:
    return files.get


def edit(old: str, new: str, before: str | None = None, **more: Any) -> list[DiffRow]:
    """The rows of one edit in a file that reads `before`; None: nobody can read it."""
    call = {"file_path": "a", "old_string": old, "new_string": new, **more}
    return edit_rows("Edit", call, None if before is None else read({"a": before}))


def short(rows: list[DiffRow]) -> list[str]:
    return [f"{row.number or '·'} {shown_text(row)}".rstrip() for row in rows]


def test_an_edit_shows_the_line_before_and_after_with_three_lines_around() -> None:
    assert short(edit("line 12\n", "LINE 12\n", FILE)) == [
        "9   line 9", "10   line 10", "11   line 11", "12 - line 12", "12 + LINE 12", "13   line 13", "14   line 14",
        "15   line 15",
    ]  # fmt: skip


def test_an_edit_inside_a_line_shows_whole_lines() -> None:
    assert short(edit("e 1\n", "e one\n", "line 1\n")) == ["1 - line 1", "1 + line one"]


def test_without_the_file_the_lines_are_compared_but_not_numbered() -> None:
    assert short(edit("x\ny\n", "x\nz\n")) == ["·   x", "· - y", "· + z"]


def test_replacing_everywhere_shows_every_place() -> None:
    rows = edit("line 2", "row 2", FILE, replace_all=True)
    assert [row.text for row in rows if row.kind == "added"] == ["row 2", *(f"row 2{digit}" for digit in range(10))]
    assert [row.kind for row in rows].count("gap") == 1


def test_replacing_everywhere_in_an_unknown_file_says_so() -> None:
    assert edit("x", "y", replace_all=True)[-1] == DiffRow("note", "Everywhere in the file")


def test_an_old_text_that_is_not_in_the_file_is_still_shown() -> None:
    assert short(edit("gone", "new", FILE)) == ["· - gone", "· + new"]


def test_several_edits_show_their_sum_with_a_gap_between_distant_places() -> None:
    edits = [{"old_string": "line 5\n", "new_string": "five\n"}, {"old_string": "line 30\n", "new_string": ""}]
    rows = edit_rows("MultiEdit", {"file_path": "a", "edits": edits}, read({"a": FILE}))
    assert [row.text for row in rows if row.kind in ("added", "removed")] == ["line 5", "five", "line 30"]
    assert [row.kind for row in rows].count("gap") == 1


def test_a_new_file_is_all_added() -> None:
    assert short(edit_rows("Write", {"file_path": "a", "content": "x\ny\n"}, read({}))) == ["1 + x", "2 + y"]


def test_writing_over_a_file_shows_the_difference() -> None:
    rows = edit_rows("Write", {"file_path": "a", "content": FILE.replace("line 40", "end")}, read({"a": FILE}))
    assert short(rows)[-2:] == ["40 - line 40", "40 + end"]


def test_a_missing_last_line_break_is_told() -> None:
    rows = edit_rows("Write", {"file_path": "a", "content": "x"}, read({"a": "x\n"}))
    assert rows == [DiffRow("note", "No line break at the end of the file")]


def test_a_notebook_cell_shows_its_new_source() -> None:
    rows = edit_rows("NotebookEdit", {"notebook_path": "n", "cell_id": "c1", "new_source": "x = 1"})
    assert short(rows) == ["· Replaces cell c1", "· + x = 1"]


@pytest.mark.parametrize("tool", ["Bash", "Read", "mcp__x__edit"])
def test_other_tools_have_no_rows(tool: str) -> None:
    assert edit_rows(tool, {"file_path": "a", "old_string": "x", "new_string": "y"}) == []


@pytest.mark.parametrize(
    "call",
    [{}, {"file_path": 7}, {"edits": "no list"}, {"edits": [1, {"old_string": None}]}, {"content": ["x"]}],
)
def test_a_strange_input_gives_few_rows_and_no_error(call: dict[str, Any]) -> None:
    for tool in ("Edit", "MultiEdit", "Write", "NotebookEdit"):
        assert len(edit_rows(tool, call, read({}))) <= 2


def test_hidden_characters_are_visible() -> None:
    rows = edit_rows("Write", {"file_path": "a", "content": "safe\u202e// evil\n"}, read({}))
    assert rows[0].text == "safe⟨U+202E⟩// evil"


def test_the_reported_patch_has_its_own_numbers() -> None:
    lines = [" DATABASES = {", '-    "a"', '+    "b"', "\\ No newline at end of file"]
    rows = result_rows({"structuredPatch": [
        {"oldStart": 12, "newStart": 14, "lines": lines}, {"oldStart": 90, "newStart": 92, "lines": [" x"]},
    ]})  # fmt: skip
    assert short(rows) == [
        "14   DATABASES = {", '13 -     "a"', '15 +     "b"', "· No line break at the end of the file", "· ⋯", "92   x",
    ]  # fmt: skip


@pytest.mark.parametrize("structured", [None, "text", {}, {"structuredPatch": None}, {"structuredPatch": [3, {}]}])
def test_a_result_without_a_patch_has_no_rows(structured: Any) -> None:
    assert result_rows(structured) == []


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_the_rows_lead_from_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    rows = unified_rows(before, after)
    result = list(old)
    for row in sorted((row for row in rows if row.kind == "removed"), key=lambda row: -(row.old or 0)):
        assert result.pop((row.old or 0) - 1) == row.text
    for row in rows:
        if row.kind == "added":
            result.insert((row.new or 0) - 1, row.text)
    assert result == new


def test_two_long_files_that_share_nothing_are_told_at_once() -> None:
    rows = unified_rows("".join(f"a{n}\n" for n in range(20_000)), "".join(f"b{n}\n" for n in range(20_000)))
    assert len(rows) == 40_000
