"""The window by keyboard alone: where Tab leads, and what stays where the person has put it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop.conversations import OpenConversation
from desktop.window.main_window import MainWindow
from desktop.window.sidebar_model import CONVERSATION_ROLE
from tests.helpers.desk import Desk, question


@pytest.fixture(autouse=True)
def in_front(window: MainWindow) -> None:
    window.activateWindow()


def walk(window: MainWindow, key: Qt.Key) -> list[str]:
    """Press a key until the focus is where it began; the areas that it came through, one after the other."""
    areas: list[QWidget] = [window.sidebar, window.top_bar, *(window.page.parts if window.page else [window.welcome])]
    begun = focused()
    passed: list[str] = []
    for _ in range(100):
        QTest.keyClick(focused(), key)
        name = next((area.objectName() for area in areas if area.isAncestorOf(focused())), "?")
        if name not in passed[-1:]:
            passed.append(name)
        if focused() is begun:
            return passed
    raise AssertionError(f"no way back to {begun.objectName()}: {passed}")


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


async def ask(desk: Desk, window: MainWindow) -> OpenConversation:
    desk.stand_in([{"text": "Let me ask."}, question("Which?", "A", "B"), {"text": "Thank you."}])
    opened = window.open_folder(desk.folder)
    await desk.until(lambda: opened.phase == "running")
    opened.send("go")
    await desk.until(lambda: window.page is not None and window.page.slot.shown is not None)
    return opened


def test_tab_goes_through_the_window_as_one_reads_it_and_comes_back(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        await ask(desk, window)
        window.sidebar.new_button.setFocus()
        forward = walk(window, Qt.Key.Key_Tab)
        assert forward == ["sidebar", "topBar", "transcript", "dialogSlot", "composerFrame", "sidebar"]

    desk.run(story())


def test_shift_tab_goes_the_other_way_round(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        await ask(desk, window)
        window.sidebar.new_button.setFocus()
        backward = walk(window, Qt.Key.Key_Backtab)
        assert backward == ["composerFrame", "dialogSlot", "transcript", "topBar", "sidebar"]

    desk.run(story())


def test_tab_leads_round_the_welcome_page_too(desk: Desk, window: MainWindow) -> None:
    window.sidebar.new_button.setFocus()
    assert walk(window, Qt.Key.Key_Tab) == ["sidebar", "welcome", "sidebar"]


def test_find_opens_from_the_message_field(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        window.page.composer.editor.setFocus()
        QTest.keyClick(window.page.composer.editor, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        assert window.page.transcript.find_bar.field.hasFocus()
        assert window.page.composer.text() == ""

    desk.run(story())


def test_walking_the_list_is_not_undone_by_what_happens_meanwhile(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        first = window.open_folder(desk.folder)
        second = window.open_folder(desk.folder)
        await desk.until(lambda: first.phase == second.phase == "running")
        sidebar = window.sidebar
        sidebar.list.setFocus()
        sidebar.list.setCurrentIndex(sidebar.model.index(sidebar.model.row_of(first.key)))
        sidebar.refresh()
        assert sidebar.list.currentIndex().data(CONVERSATION_ROLE) == first.key
        assert window.page is not None
        window.page.composer.editor.setFocus()
        sidebar.refresh()
        assert sidebar.list.currentIndex().data(CONVERSATION_ROLE) == second.key

    desk.run(story())


def test_an_empty_conversation_says_where_claude_works_until_something_is_said(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        empty = window.page.empty
        assert empty.isVisible()
        assert desk.folder.name in empty.title.text()
        opened.send("hello")
        await desk.until_turn_over(opened)
        assert not empty.isVisible()

    desk.run(story())


def test_the_keyboard_may_go_into_a_preview_without_taking_it_away(desk: Desk, window: MainWindow) -> None:
    options = [{"label": "A", "description": "", "preview": "the look of A"}, {"label": "B", "description": ""}]
    asks = {"question": [{"question": "Which?", "header": "Head", "options": options, "multiSelect": False}]}
    desk.stand_in([asks, {"text": "Thank you."}])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("go")
        await desk.until(lambda: focused().objectName() == "option_0_0")
        QTest.keyClick(focused(), Qt.Key.Key_Tab)
        assert focused().objectName() == "previewText"
        assert focused().isVisible()

    desk.run(story())


def test_escape_clears_the_search_and_then_leaves_the_sidebar(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.resize(480, 700)
        QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        search = window.sidebar.search
        assert search.hasFocus()
        search.setText("ledger")
        QTest.keyClick(search, Qt.Key.Key_Escape)
        assert search.text() == ""
        assert window.sidebar.isVisible()
        QTest.keyClick(search, Qt.Key.Key_Escape)
        assert not window.sidebar.isVisible()
        assert window.page is not None
        assert window.page.composer.editor.hasFocus()

    desk.run(story())


def test_the_message_field_grows_when_the_window_gets_narrow(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        editor = window.page.composer.editor
        window.resize(1240, 860)
        editor.set_text("帳本搬家 " * 14)
        await desk.until(lambda: editor.verticalScrollBar().maximum() == 0)
        before = editor.height()
        window.resize(480, 700)
        await desk.until(lambda: editor.height() > before)
        assert editor.verticalScrollBar().maximum() == 0

    desk.run(story())
