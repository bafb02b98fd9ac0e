"""What waits for the person, in the window: in order, answered by id, and no text is ever lost."""

from __future__ import annotations

import asyncio
import os
import signal

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QPlainTextEdit, QPushButton

from desktop.conversations import OpenConversation
from desktop.dialogs.base import RequestDialog
from desktop.window.main_window import MainWindow
from desktop.window.page import ConversationPage
from protocol.conversation import ToolItem
from tests.helpers.desk import Desk, first_pending, question, sent, texts


async def begin(desk: Desk, window: MainWindow, text: str = "go") -> tuple[OpenConversation, ConversationPage]:
    """A conversation in which Claude has asked something."""
    opened = window.open_folder(desk.folder)
    await desk.until(lambda: opened.phase == "running")
    assert window.page is not None
    type_and_send(window.page, text)
    await desk.until(lambda: opened.conversation.pending)
    return opened, window.page


def type_and_send(page: ConversationPage, text: str) -> None:
    page.composer.editor.setFocus()
    page.composer.editor.set_text(text)
    QTest.keyClick(page.composer.editor, Qt.Key.Key_Return)


def click(page: ConversationPage, name: str) -> None:
    shown = page.slot.shown
    assert shown is not None
    button = shown.findChild(QAbstractButton, name)
    assert button is not None, name
    button.click()


def test_a_question_is_answered_in_the_window(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "you took ${asked.answers.0}"}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        assert page.slot.shown is not None
        assert page.slot.shown.objectName() == "questionDialog"
        click(page, "option_0_1")
        click(page, "submitAnswers")
        if page.slot.shown is not None:  # the review comes first
            click(page, "submitAnswers")
        await desk.until_turn_over(opened)
        assert texts(opened) == ["you took B"]
        assert page.slot.shown is None
        assert not page.slot.isVisible()

    desk.run(story())


def test_several_requests_come_in_order_of_arrival_and_are_answered_by_id(desk: Desk, window: MainWindow) -> None:
    first = {"tool": "Bash", "input": {"command": "echo one"}, "result": "one", "ask": True}
    second = {"tool": "Bash", "input": {"command": "echo two"}, "result": "two", "ask": True}
    desk.stand_in([{"together": [first, second]}, {"text": "both"}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        await desk.until(lambda: len(opened.conversation.pending) == 2)
        ids = list(opened.conversation.pending)
        assert page.slot.shown_id == ids[0]
        assert page.slot.many.text() == "1 of 2"
        page.slot.next.click()
        assert page.slot.shown_id == ids[1]
        click(page, "deny")
        assert page.slot.shown_id == ids[0]
        assert not page.slot.many.isVisible()
        click(page, "allowOnce")
        await desk.until_turn_over(opened)
        tools = [item for item in opened.conversation.items if isinstance(item, ToolItem)]
        assert [(tool.input["command"], tool.decision) for tool in tools] == [
            ("echo one", "allowed once"),
            ("echo two", "denied"),
        ]

    desk.run(story())


def test_what_was_begun_in_one_request_is_there_after_a_look_at_another(desk: Desk, window: MainWindow) -> None:
    tool = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}
    desk.stand_in([{"together": [tool, tool]}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        await desk.until(lambda: len(opened.conversation.pending) == 2)
        write_reason(page, "not today")
        page.slot.next.click()
        assert page.slot.shown is not None
        assert page.slot.shown.typed() == ""
        page.slot.previous.click()
        assert page.slot.shown is not None
        assert "not today" in page.slot.shown.typed()

    desk.run(story())


def write_reason(page: ConversationPage, text: str) -> None:
    shown = page.slot.shown
    assert shown is not None
    field = shown.findChild(QLineEdit, "denyReason") or shown.findChild(QPlainTextEdit, "denyReason")
    assert field is not None
    field.setFocus()
    QTest.keyClicks(field, text)


def test_a_request_that_claude_takes_back_closes_by_itself_and_its_text_is_offered(
    desk: Desk, window: MainWindow
) -> None:
    desk.stand_in([{"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True, "withdraw_after": 1.5}])
    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened, page = await begin(desk, window)
        write_reason(page, "because it is late")
        await desk.until(lambda: not opened.conversation.pending)
        assert page.slot.shown is None
        assert opened.recovered == ["because it is late"]
        assert page.recovered.isVisible()
        use = page.recovered.findChild(QPushButton, "useRecovered_0")
        assert use is not None
        use.click()
        assert page.composer.text() == "because it is late"
        assert not page.recovered.isVisible()

    desk.run(story())


def test_a_cli_that_dies_with_a_question_open_closes_the_dialog_and_says_why(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened, page = await begin(desk, window)
        assert opened.session is not None
        assert opened.session.pid is not None
        page.composer.editor.set_text("a draft")
        await asyncio.to_thread(os.kill, opened.session.pid, signal.SIGKILL)
        await desk.until(lambda: opened.phase == "exited")
        assert page.slot.shown is None
        words = " ".join(label.text() for label in page.notices.findChildren(QLabel))
        assert "Restart" in words
        assert page.composer.text() == "a draft"
        restart = page.notices.findChild(QPushButton, "restart_start")
        assert restart is not None
        assert restart.isVisible()

    desk.run(story())


def test_typing_while_a_question_is_open_becomes_the_reply_and_stops_nothing(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "thinking again"}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        assert page.composer.send_button.text() == "Reply" or not page.composer.send_button.isVisible()
        type_and_send(page, "neither of them")
        await desk.until_turn_over(opened)
        tool = next(item for item in opened.conversation.items if isinstance(item, ToolItem))
        assert (tool.decision, tool.reply) == ("replied", "neither of them")
        assert texts(opened) == ["thinking again"]
        assert page.composer.text() == ""

    desk.run(story())


def test_or_it_is_queued_when_the_person_says_so(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "one"}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        page.composer.switch_button.click()
        assert desk.settings.settings.while_question_open == "queue"
        type_and_send(page, "for later")
        assert first_pending(opened)
        assert sent(opened) == ["go", "for later"]
        assert page.slot.shown is not None

    desk.run(story())


def test_the_composer_keeps_the_focus_and_the_keys_when_a_question_arrives(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"wait": 0.5}, question("Which?", "A", "B")])
    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        page = window.page
        assert page is not None
        type_and_send(page, "go")
        QTest.keyClicks(page.composer.editor, "while I am typing")
        await desk.until(lambda: opened.conversation.pending)
        QTest.keyClicks(QApplication.focusWidget() or page.composer.editor, " 1")
        assert page.composer.text() == "while I am typing 1"

    desk.run(story())


def test_a_dialog_moved_out_is_answered_from_its_own_window(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}, {"text": "done"}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        dialog = page.slot.shown
        assert isinstance(dialog, RequestDialog)
        dialog.move_out()
        assert dialog.isWindow()
        assert page.slot.isVisible()
        click(page, "allowOnce")
        await desk.until_turn_over(opened)
        assert texts(opened) == ["done"]
        assert page.slot.shown is None

    desk.run(story())


def test_a_moved_out_dialog_closes_with_its_request(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}])

    async def story() -> None:
        opened, page = await begin(desk, window)
        dialog = page.slot.shown
        assert isinstance(dialog, RequestDialog)
        dialog.move_out()
        await opened.close()
        await desk.until(lambda: page.slot.shown is None)
        assert [
            one for one in QApplication.topLevelWidgets() if isinstance(one, RequestDialog) and one.isVisible()
        ] == []

    desk.run(story())


def test_a_plan_is_found_wherever_the_cli_put_it(desk: Desk, window: MainWindow) -> None:
    for within in ("tool_use", "input", "file"):
        desk.stand_in([{"plan": "# The plan\n\nFirst the roof.", "within": within}, {"text": "done"}])

        async def story() -> None:
            opened, page = await begin(desk, window)
            assert page.slot.shown is not None
            assert page.slot.shown.objectName() == "planDialog"
            assert "First the roof" in page.slot.shown.context.plan
            click(page, "approveAskEach")
            await desk.until_turn_over(opened)
            assert texts(opened) == ["done"]
            await desk.conversations.remove(opened)

        desk.run(story())


def test_a_large_paste_keeps_the_window_alive_and_arrives_whole(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"text": "much"}])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        window.page.composer.add_text("z" * 1_000_000)
        window.page.composer.submit()
        await desk.until_turn_over(opened)
        assert sent(opened) == ["z" * 1_000_000]

    desk.run(story())


def test_files_are_offered_by_the_cli_where_it_can(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        found = await opened.controls.files("ledger/m")
        assert found == ["ledger/migrations.py", "ledger/models.py"]
        assert window.page is not None
        window.page.composer.editor.setFocus()
        QTest.keyClicks(window.page.composer.editor, "@ledger/m")
        await desk.until(lambda: window.page is not None and not window.page.composer.popup.isHidden())

    desk.run(story())
