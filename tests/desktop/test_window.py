"""The window around a conversation: sidebar, top bar, status line, sizes."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QWidget

from desktop.window.main_window import MainWindow
from desktop.window.sidebar_model import CONVERSATION_ROLE
from tests.helpers.desk import Desk, first_pending, question, texts


def rows(window: MainWindow) -> list[str]:
    model = window.sidebar.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def accessible(window: MainWindow) -> list[str]:
    model = window.sidebar.model
    role = Qt.ItemDataRole.AccessibleTextRole
    return [model.data(model.index(row), role) for row in range(model.rowCount())]


def test_everything_that_outsiders_rely_on_has_its_name(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        names = (
            "sidebar", "newConversation", "transcript", "composer", "sendButton", "stopButton", "modelSelector",
            "modeSelector", "statusLine",
        )  # fmt: skip
        for name in names:
            found = window.findChildren(QWidget, name)
            assert len(found) == 1, name
            assert found[0].accessibleName() != "", name

    desk.run(story())


# The sidebar


def test_the_list_groups_by_folder_and_the_latest_comes_first(desk: Desk, window: MainWindow) -> None:
    other = desk.root / "other"
    other.mkdir()

    async def story() -> None:
        first = window.open_folder(desk.folder)
        await desk.until(lambda: first.phase == "running")
        first.send("tidy the attic")
        second = window.open_folder(other)
        await desk.until(lambda: second.phase == "running")
        second.send("paint the door")
        await desk.until(lambda: len(texts(second)) == 1 and len(texts(first)) == 1)
        second.touched = first.touched + 10
        window.sidebar.refresh()
        assert rows(window) == ["other", "paint the door", "project", "tidy the attic"]
        first.touched = second.touched + 10
        window.sidebar.refresh()
        assert rows(window) == ["project", "tidy the attic", "other", "paint the door"]

    desk.run(story())


def test_a_row_says_what_it_is_in_words_and_not_by_colour_alone(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("decide")
        await desk.until(lambda: opened.conversation.pending)
        window.sidebar.refresh()
        assert accessible(window) == ["Folder project", "decide, Waiting for your answer, now"]
        tip = window.sidebar.model.data(window.sidebar.model.index(1), Qt.ItemDataRole.ToolTipRole)
        assert "Waiting for your answer" in tip

    desk.run(story())


def test_a_turn_that_ended_unseen_is_marked_done_until_it_is_looked_at(desk: Desk, window: MainWindow) -> None:
    other = desk.root / "other"
    other.mkdir()

    async def story() -> None:
        first = window.open_folder(desk.folder)
        await desk.until(lambda: first.phase == "running")
        second = window.open_folder(other)
        await desk.until(lambda: second.phase == "running")
        first.send("work in the background")
        await desk.until_turn_over(first)
        window.sidebar.refresh()
        assert any("work in the background, Done" in row for row in accessible(window))
        window.show_conversation(first)
        window.sidebar.refresh()
        assert any("work in the background, At rest" in row for row in accessible(window))

    desk.run(story())


def test_search_finds_titles_and_contents_and_says_when_there_is_nothing(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"text": "The ladder is in the cellar."}])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("tidy the attic")
        await desk.until_turn_over(opened)
        for query, found in (("ATTIC", True), ("ladder cellar", True), ("attic ladder", True), ("spaceship", False)):
            window.sidebar.search.setText(query)
            assert ("tidy the attic" in rows(window)) is found, query
            assert window.sidebar.nothing.isVisible() is not found

    desk.run(story())


def test_the_list_is_walked_with_the_keyboard(desk: Desk, window: MainWindow) -> None:
    other = desk.root / "other"
    other.mkdir()

    async def story() -> None:
        first = window.open_folder(desk.folder)
        second = window.open_folder(other)
        await desk.until(lambda: first.phase == second.phase == "running")
        first.send("one")
        await desk.until_turn_over(first)
        row = window.sidebar.model.row_of(first.key)
        window.sidebar.list.setCurrentIndex(window.sidebar.model.index(row))
        QTest.keyClick(window.sidebar.list, Qt.Key.Key_Return)
        assert window.current is first
        assert window.sidebar.list.currentIndex().data(CONVERSATION_ROLE) == first.key

    desk.run(story())


def test_a_new_conversation_begins_in_the_shown_ones_folder(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("something")
        await desk.until_turn_over(opened)
        button = window.findChild(QPushButton, "newConversation")
        assert button is not None
        button.click()
        assert window.current is not opened
        assert window.current is not None
        assert window.current.folder == desk.folder
        await desk.until(lambda: window.current is not None and window.current.phase == "running")

    desk.run(story())


def test_closing_a_conversation_ends_its_cli_and_shows_another(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        first = window.open_folder(desk.folder)
        await desk.until(lambda: first.phase == "running")
        first.send("one")
        await desk.until_turn_over(first)
        second = desk.conversations.start(desk.folder)
        await desk.until(lambda: second.phase == "running")
        window.actions_of_window.close_conversation(first)
        await desk.until(lambda: first.phase == "closed" and desk.conversations.limit.taken == 1)
        assert window.current is second

    desk.run(story())


def test_a_conversation_with_unsent_text_is_not_closed_by_accident(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.texts.set_draft("half a thought", [])
        window.actions_of_window.close_conversation(opened)
        assert opened in list(desk.conversations)
        assert "not sent" in str(opened.notices["close"].text)

    desk.run(story())


def test_the_account_is_in_words(desk: Desk, window: MainWindow) -> None:
    desk.stand_in(account={"email": "me@example.com", "subscriptionType": "max", "tokenSource": "oauth"})

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.refresh()
        assert window.sidebar.account.accessibleName() == "Signed in · Max plan"
        assert "me@example.com" in window.sidebar.account.toolTip()

    desk.run(story())


# The top bar


def selector(window: MainWindow, name: str) -> QComboBox:
    found = window.findChild(QComboBox, name)
    assert found is not None
    return found


def pick(box: QComboBox, words: str) -> None:
    index = box.findText(words)
    assert index >= 0, [box.itemText(number) for number in range(box.count())]
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_a_mode_that_is_refused_puts_the_selector_back(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.refresh()
        mode = selector(window, "modeSelector")
        assert mode.currentText() == "Ask each time"
        pick(mode, "Allow everything")
        await desk.until(lambda: "refused" in opened.notices)
        await desk.until(lambda: mode.currentText() == "Ask each time")
        pick(mode, "Plan first")
        await desk.until(lambda: opened.conversation.permission_mode == "plan")
        await desk.until(lambda: mode.currentText() == "Plan first")

    desk.run(story())


def test_the_models_are_the_clis_own_and_a_choice_is_in_force(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.refresh()
        model = selector(window, "modelSelector")
        offered = [model.itemText(number) for number in range(model.count())]
        assert offered == [one.display_name for one in opened.conversation.models]
        pick(model, "Sonnet")
        await desk.until(lambda: "sonnet" in opened.conversation.model)
        window.refresh()
        assert model.currentText() == "Sonnet"

    desk.run(story())


def test_effort_is_offered_only_where_the_model_has_it(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        await desk.until(lambda: opened.controls.effort)
        window.refresh()
        assert selector(window, "effortSelector").isVisibleTo(window)
        opened.controls.effort = ""
        window.refresh()
        assert not selector(window, "effortSelector").isVisibleTo(window)

    desk.run(story())


def test_an_untouched_conversation_moves_when_another_folder_is_picked(desk: Desk, window: MainWindow) -> None:
    other = desk.root / "other"
    other.mkdir()

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.top_bar.folder_chosen.emit(other)
        await desk.until(lambda: opened.folder == other and opened.phase == "running")
        assert len(desk.conversations) == 1
        opened.send("now it belongs here")
        await desk.until_turn_over(opened)
        window.top_bar.folder_chosen.emit(desk.folder)
        assert len(desk.conversations) == 2
        assert opened.folder == other
        await desk.until(lambda: window.current is not None and window.current.phase == "running")

    desk.run(story())


# The status line


def test_the_status_line_counts_what_waits_here_and_elsewhere(desk: Desk, window: MainWindow) -> None:
    other = desk.root / "other"
    other.mkdir()
    tool = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}
    desk.stand_in({"when": "both", "steps": [{"together": [tool, tool]}]}, {"when": "one", "steps": [tool]})

    async def story() -> None:
        first = window.open_folder(desk.folder)
        await desk.until(lambda: first.phase == "running")
        first.send("both")
        second = window.open_folder(other)
        await desk.until(lambda: second.phase == "running")
        second.send("one")
        await desk.until(lambda: len(desk.conversations.waiting()) == 3)
        window.show_conversation(first)
        assert "2 requests in this conversation, 1 in another · Ctrl+J" in window.status.text()
        assert "Waiting for your answer" in window.status.text()
        seen = set()
        for _ in range(3):
            window.go_to_next_waiting()
            assert window.page is not None
            seen.add((window.page.opened.key, window.page.slot.shown_id))
        assert len(seen) == 3

    desk.run(story())


def test_the_plans_limit_is_in_the_status_line(desk: Desk, window: MainWindow) -> None:
    info = {"status": "allowed", "utilization": 0.41, "rateLimitType": "five_hour", "resetsAt": 1_800_000_000}
    desk.stand_in([{"rate_limit": info}, {"text": "done"}])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("go")
        await desk.until_turn_over(opened)
        window.refresh()
        assert "Plan: 41 % of 5 h · resets" in window.status.text()

    desk.run(story())


# Sizes


def test_in_a_narrow_window_the_sidebar_makes_way_and_comes_back_on_demand(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.resize(480, 600)
        assert not window.sidebar.isVisible()
        assert window.top_bar.sidebar_button.isVisible()
        assert window.page is not None
        assert window.page.width() == window.width()
        window.top_bar.sidebar_button.click()
        assert window.sidebar.isVisible()
        assert window.page.width() == window.width()
        window.show_conversation(opened)
        assert not window.sidebar.isVisible()
        window.resize(1200, 800)
        assert window.sidebar.isVisible()
        assert not window.top_bar.sidebar_button.isVisible()

    desk.run(story())


@pytest.mark.parametrize("size", [(480, 640), (900, 500), (1240, 860)])
def test_a_request_never_covers_all_of_the_transcript(desk: Desk, window: MainWindow, size: tuple[int, int]) -> None:
    lines = "\n".join(f"line {number}" for number in range(200))
    desk.stand_in([{"tool": "Bash", "input": {"command": lines}, "result": "ok", "ask": True}])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        window.resize(*size)
        opened.send("go")
        await desk.until(lambda: window.page is not None and window.page.slot.shown_id)
        page = window.page
        assert page is not None
        await asyncio.sleep(0.05)  # not QTest.qWait: a loop within the loop loses a task that wakes in it
        assert page.transcript.height() >= 40
        assert page.slot.geometry().bottom() <= page.height()
        assert page.transcript.geometry().bottom() <= page.slot.geometry().top()
        assert page.composer.isVisible()
        assert page.slot.shown_id == first_pending(opened)

    desk.run(story())


def test_the_window_opens_where_it_was(desk: Desk, window: MainWindow, qapp: QApplication) -> None:
    window.resize(711, 653)
    window.close()
    settings = QSettings(str(desk.root / "w.ini"), QSettings.Format.IniFormat)
    again = MainWindow(settings).furnish(desk.conversations, desk.settings)
    try:
        assert (again.width(), again.height()) == (711, 653)
    finally:
        again.deleteLater()
