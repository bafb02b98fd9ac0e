"""Mouse and keyboard in the transcript: select, copy, follow links, go from message to message, find."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QAccessible, QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from desktop.transcript.hands import tool_tip
from tests.helpers.cli_says import assistant, thinking, tool_result, tool_use
from tests.helpers.transcript import ShownTalk

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def talk(qtbot: QtBot) -> ShownTalk:
    shown = ShownTalk(qtbot)
    QGuiApplication.clipboard().clear()
    return shown


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were opened in the browser."""
    addresses: list[str] = []

    def note(url: QUrl) -> bool:
        addresses.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", note)
    return addresses


def spot(talk: ShownTalk, row: int, segment: int, place: int) -> QPoint:
    """Where a character of a row is in the viewport."""
    rect = talk.list.visualRect(talk.list.transcript.index(row))
    part = talk.row(row).segments[segment]
    piece = part.pieces[-1]
    box = piece.boxes(place, place + 1)[0]
    top = rect.top() + talk.row(row).top_of(segment)
    return QPoint(round(rect.left() + part.indent + piece.x + box.left()), round(top + piece.y + box.center().y()))


# Selecting and copying


def test_words_are_selected_with_the_mouse_and_copied(talk: ShownTalk) -> None:
    talk.says("Some **bold** words")
    talk.drag(spot(talk, 0, 0, 5), spot(talk, 0, 0, 10))
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "bold "


def test_a_selection_reaches_over_several_messages(talk: ShownTalk) -> None:
    talk.user("my question")
    talk.says("First.\n\n- a\n- b\n\n```py\nx = 1\n```")
    talk.drag(spot(talk, 0, 0, 3), spot(talk, 1, 3, 3))
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "question\n\nFirst.\n\n• a\n• b\n\nx ="


def test_a_selection_upwards_is_the_same(talk: ShownTalk) -> None:
    talk.says("One two three", "Four five six")
    talk.drag(spot(talk, 1, 0, 4), spot(talk, 0, 0, 4))
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "two three\n\nFour"


def test_an_emoji_is_copied_whole(talk: ShownTalk) -> None:
    talk.says("a 😀 b")
    talk.drag(spot(talk, 0, 0, 2), spot(talk, 0, 0, 5))
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "😀 "


def test_shift_click_extends_the_selection(talk: ShownTalk) -> None:
    talk.says("One two three four")
    viewport = talk.list.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=spot(talk, 0, 0, 4))
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, SHIFT, spot(talk, 0, 0, 8))
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "two "


def test_a_double_click_selects_a_word_and_a_third_the_paragraph(talk: ShownTalk) -> None:
    talk.says("One two three\n\nFour")
    viewport, place = talk.list.viewport(), spot(talk, 0, 0, 5)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert talk.list.selection.text() == "two"
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert talk.list.selection.text() == "One two three"


def test_everything_can_be_selected(talk: ShownTalk) -> None:
    talk.says("One", "Two\n\nthree")
    talk.key(Qt.Key.Key_A, CTRL)
    talk.key(Qt.Key.Key_C, CTRL)
    assert talk.copied == "One\n\nTwo\n\nthree"


def test_a_selection_stays_while_more_text_streams(talk: ShownTalk) -> None:
    talk.says("One two three")
    talk.drag(spot(talk, 0, 0, 0), spot(talk, 0, 0, 3))
    talk.begins_to_say("More")
    talk.goes_on(" and more")
    assert talk.list.selection.text() == "One"


def test_escape_takes_the_selection_back(talk: ShownTalk) -> None:
    talk.says("One two")
    talk.key(Qt.Key.Key_A, CTRL)
    talk.key(Qt.Key.Key_Escape)
    assert talk.list.selection.text() == ""


def test_a_code_block_is_copied_exactly_by_its_button(talk: ShownTalk) -> None:
    code = "def f():\n\n    return 1  # 漢字\n" + "\n".join(f"x{number} = {number}" for number in range(100))
    talk.says(f"Look:\n\n```python\n{code}\n```\n\nand\n\n```\nother\n```")
    talk.bar.setValue(0)
    talk.click_words("Copy this code")
    assert talk.copied == code


def test_a_message_is_copied_as_markdown_from_its_menu(talk: ShownTalk) -> None:
    talk.says("Some **bold** `words`")
    menu = talk.list.hands.make_menu(0)
    entries = {action.text(): action for action in menu.actions()}
    assert list(entries) == ["Copy", "Copy message", "Select all", "", "Find…"]
    assert not entries["Copy"].isEnabled()
    entries["Copy message"].trigger()
    menu.deleteLater()
    assert talk.copied == "Some **bold** `words`"


def test_c_copies_the_current_message(talk: ShownTalk) -> None:
    talk.says("*One*", "*Two*")
    talk.key(Qt.Key.Key_Down)
    talk.key(Qt.Key.Key_Home)
    talk.key(Qt.Key.Key_C)
    assert talk.copied == "*One*"


# Links


def test_a_web_link_opens_in_the_browser(talk: ShownTalk, opened: list[str]) -> None:
    talk.says("See [the page](https://example.org/page).")
    talk.click_words("https://example.org/page")
    assert opened == ["https://example.org/page"]


def test_a_file_link_is_told_and_not_opened(talk: ShownTalk, opened: list[str], qtbot: QtBot) -> None:
    talk.says("See [the file](src/a%20b.py).")
    assert talk.view is not None
    with qtbot.waitSignal(talk.view.file_link) as told:
        talk.click_words("src/a%20b.py")
    assert told.args == ["src/a b.py"]
    assert opened == []


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "ms-settings:x", "//host/share"])
def test_any_other_link_is_no_link(talk: ShownTalk, target: str) -> None:
    talk.says(f"See [this]({target}).")
    assert talk.actions() == []


def test_the_tooltip_of_a_link_is_where_it_leads_as_plain_text(talk: ShownTalk) -> None:
    talk.says("[https://bank.example](https://evil.example/<b>x</b>)")
    (action,) = talk.actions()
    assert action.data.startswith("https://evil.example/")
    assert tool_tip(action).startswith("https://evil.example/")
    assert "<" not in tool_tip(action)


def test_dragging_over_a_link_selects_and_does_not_open_it(talk: ShownTalk, opened: list[str]) -> None:
    talk.says("See [the page](https://example.org).")
    talk.drag(spot(talk, 0, 0, 5), spot(talk, 0, 0, 11))
    assert talk.list.selection.text() == "he pag"
    assert opened == []


# Keyboard


def test_arrows_go_from_message_to_message(talk: ShownTalk) -> None:
    talk.says("One", "Two", "Three")
    talk.key(Qt.Key.Key_Home)
    assert talk.list.currentIndex().row() == 0
    talk.key(Qt.Key.Key_Down)
    talk.key(Qt.Key.Key_Down)
    talk.key(Qt.Key.Key_Down)
    assert talk.list.currentIndex().row() == 2
    talk.key(Qt.Key.Key_Up)
    assert talk.list.currentIndex().row() == 1


def test_a_message_taller_than_the_window_is_scrolled_through(talk: ShownTalk) -> None:
    talk.says("\n\n".join(f"Paragraph {number}" for number in range(80)), "Two")
    talk.key(Qt.Key.Key_Home)
    steps = 0
    while talk.list.currentIndex().row() == 0 and steps < 50:
        before = talk.bar.value()
        talk.key(Qt.Key.Key_Down)
        assert talk.list.currentIndex().row() == 1 or talk.bar.value() > before
        steps += 1
    assert talk.list.currentIndex().row() == 1
    assert steps > 3


def test_pages_home_and_end(talk: ShownTalk) -> None:
    talk.says(*(f"Message {number}" for number in range(60)))
    talk.key(Qt.Key.Key_Home)
    assert talk.bar.value() == 0
    talk.key(Qt.Key.Key_PageDown)
    assert 400 < talk.bar.value() < 600
    talk.key(Qt.Key.Key_PageUp)
    assert talk.bar.value() == 0
    talk.key(Qt.Key.Key_End)
    assert talk.bar.value() == talk.bar.maximum()
    assert talk.list.currentIndex().row() == 59


def test_enter_opens_and_closes_a_card(talk: ShownTalk) -> None:
    talk.cli(assistant(thinking("Hidden thought")))
    talk.key(Qt.Key.Key_Home)
    talk.key(Qt.Key.Key_Return)
    assert "Hidden thought" in talk.text()
    talk.key(Qt.Key.Key_Return)
    assert "Hidden thought" not in talk.text()


def test_tab_reaches_the_buttons_and_links_of_a_message(talk: ShownTalk, opened: list[str]) -> None:
    talk.says("[one](https://one.example)\n\n```py\nx\n```\n\n[two](https://two.example)")
    talk.list.setFocus()
    talk.key(Qt.Key.Key_Home)
    talk.key(Qt.Key.Key_Tab)
    assert talk.list.hands.focused_words() == "https://one.example"
    talk.key(Qt.Key.Key_Tab)
    assert talk.list.hands.focused_words() == "Copy this code"
    talk.key(Qt.Key.Key_Return)
    assert talk.copied == "x"
    talk.key(Qt.Key.Key_Tab)
    talk.key(Qt.Key.Key_Return)
    assert opened == ["https://two.example"]
    talk.key(Qt.Key.Key_Backtab)
    assert talk.list.hands.focused_words() == "Copy this code"


def test_tab_leaves_the_transcript_after_the_last_button(talk: ShownTalk, qtbot: QtBot) -> None:
    field = QLineEdit(talk.view)
    field.show()
    talk.says("No links")
    talk.list.setFocus()
    qtbot.waitUntil(talk.list.hasFocus)
    talk.key(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not talk.list


# Finding


def find(talk: ShownTalk, words: str) -> Any:
    bar = talk.view.find_bar  # type: ignore[union-attr]
    talk.key(Qt.Key.Key_F, CTRL)
    bar.field.setText(words)
    bar.search()
    return bar


def test_finding_goes_to_the_last_place_and_then_upwards(talk: ShownTalk) -> None:
    talk.says(*(f"Message {number} " + ("with a Needle" if number in (3, 40) else "") for number in range(60)))
    bar = find(talk, "needle")
    assert bar.isVisible()
    assert bar.count.text() == "In 2 messages"
    top = talk.list.top_of(40)
    assert 0 <= top < talk.list.viewport().height()
    QTest.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
    assert 0 <= talk.list.top_of(3) < talk.list.viewport().height()
    assert talk.list.selection.current is not None
    assert talk.list.selection.current[0] == talk.list.transcript.id_of(3)


def test_what_is_found_in_a_closed_card_is_opened(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="ls")), tool_result("t1", "\n".join(["x"] * 50 + ["needle"])))
    find(talk, "needle")
    assert "needle" in talk.text()


def test_finding_nothing_says_so_and_escape_closes(talk: ShownTalk) -> None:
    talk.says("hay")
    bar = find(talk, "needle")
    assert bar.count.text() == "Nothing found"
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert talk.list.selection.needle == ""


# Assistive tools


def test_screen_readers_find_each_message(talk: ShownTalk) -> None:
    talk.user("my question")
    talk.says("the answer")
    reader = QAccessible.queryAccessibleInterface(talk.list)
    assert reader.role() == QAccessible.Role.List
    assert reader.text(QAccessible.Text.Name) == "Messages"
    spoken = [reader.child(index).text(QAccessible.Text.Name) for index in range(reader.childCount())]
    assert spoken == ["You: my question", "Claude: the answer"]
    assert reader.child(1).rect().height() > 0
