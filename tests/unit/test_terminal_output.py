"""Output of commands: colours stay, escapes go, what hides becomes visible."""

from __future__ import annotations

import pytest

from desktop.transcript.ansi import Coloured, read_output


def test_colours_become_roles_of_the_theme() -> None:
    assert read_output("\x1b[32mPASS\x1b[0m a \x1b[1;31mFAIL\x1b[39m b") == (
        "PASS a FAIL b", [Coloured(0, 4, "good"), Coloured(7, 4, "bad")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[2Kb", "ab"),
        ("\x1b[?25lx\x1b[10;20Hy", "xy"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("10 %\r55 %\r100 %\ndone", "100 %\ndone"),
        ("windows\r\nline", "windows\nline"),
        ("ab\x08c", "ac"),
        ("\x1b[38;5;196mred\x1b[48;2;1;2;3mx", "redx"),
        ("plain", "plain"),
        ("bell\x07", "bell⟨U+0007⟩"),
        ("left\u202eright", "left⟨U+202E⟩right"),
    ],
)
def test_only_what_a_terminal_would_show_is_left(raw: str, shown: str) -> None:
    assert read_output(raw)[0] == shown


def test_colours_are_counted_as_qt_does() -> None:
    assert read_output("😀\x1b[33m!\x1b[m")[1] == [Coloured(2, 1, "careful")]
