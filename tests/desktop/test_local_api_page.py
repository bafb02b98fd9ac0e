"""The page of the local API: switch, address, token, what requests may do, what was asked, and the questions."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QWidget

from desktop import loop
from desktop.local_api.request_rows import ROW_ROLE, RequestRow, RequestsModel, outcome_words, row_of
from protocol.chat_completions.journal import Entry
from tests.helpers.api_client import MODEL, Client
from tests.helpers.desk import Desk, question
from tests.helpers.local_api import ApiSitting

NAMES = (
    "localApiSwitch", "localApiAddress", "localApiCopyAddress", "localApiToken", "localApiShowToken",
    "localApiCopyToken", "localApiRenewToken", "localApiLenient", "localApiTools", "localApiChooseFolder",
    "localApiPort", "localApiRequests",
)  # fmt: skip


@pytest.fixture
def sitting(desk: Desk) -> Iterator[ApiSitting]:
    made = ApiSitting(desk)
    yield made
    made.leave()


def endpoint_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "local endpoint"]


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def rows(sitting: ApiSitting) -> list[RequestRow]:
    model = sitting.page.requests.rows
    return [model.data(model.index(number), ROW_ROLE) for number in range(model.rowCount())]


# The way there


def test_it_is_off_until_the_person_switches_it_on(sitting: ApiSitting) -> None:
    async def story() -> None:
        sitting.api.begin()
        await sitting.person.click("localApiButton")
        assert (sitting.api.state, endpoint_threads()) == ("off", [])
        assert not sitting.api.token_file.path.exists()
        assert "Off" in sitting.window.sidebar.local_api.accessibleName()
        assert sitting.page.access.address.field.text() == ""

    sitting.play(story)


def test_the_page_is_reached_and_left_by_keyboard(sitting: ApiSitting) -> None:
    async def story() -> None:
        opened = sitting.window.open_folder(sitting.desk.folder)
        await sitting.until(lambda: opened.phase == "running", "the conversation runs")
        keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        await sitting.person.keys(Qt.Key.Key_L, modifier=keys)
        assert sitting.window.windowTitle() == "Local API — Handraise"
        assert focused().objectName() == "localApiSwitch"
        assert sitting.window.sidebar.local_api.isChecked()
        await sitting.person.keys(Qt.Key.Key_L, modifier=keys)
        assert sitting.window.current is opened
        assert not sitting.window.sidebar.local_api.isChecked()

    sitting.play(story)


def test_everything_on_it_is_named_and_tab_leads_through_it_from_top_to_bottom(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        for name in ("localApiPage", *NAMES):
            found = sitting.window.findChildren(QWidget, name)
            assert len(found) == 1, name
            assert found[0].accessibleName() != "", name
        sitting.page.access.switch.setFocus()
        passed = [focused().objectName()]
        while passed[-1] != NAMES[-1] and len(passed) < 40:
            QTest.keyClick(focused(), Qt.Key.Key_Tab)
            passed.append(focused().objectName())
        assert passed == list(NAMES)

    sitting.play(story)


# On and off


def test_a_token_that_was_exported_for_programs_is_not_in_the_environment_of_the_cli(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        for _ in range(2):
            token = sitting.api.token()
            sitting.desk.surroundings.environ |= {"OPENAI_API_KEY": token, "OPENAI_BASE_URL": sitting.api.url}
            sitting.desk.surroundings.forget()
            assert sitting.backend.find is not None
            env = (await loop.on_thread(sitting.backend.find)).env
            assert env["OPENAI_BASE_URL"] == sitting.api.url
            assert [name for name, value in env.items() if token in value] == []
            sitting.api.renew_token()

    sitting.play(story)


def test_switched_on_it_answers_who_has_the_token_and_nobody_else(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        assert sitting.page.access.address.field.text() == sitting.api.url
        assert sitting.api.url.startswith("http://127.0.0.1:")
        assert (await sitting.models()).status == 200
        assert (await sitting.models(token="wrong")).status == 401
        assert (await sitting.completed("Hello")).text == "Hello"
        await sitting.person.click("localApiSwitch")
        await sitting.until(lambda: sitting.api.state == "off", "it is off")
        assert endpoint_threads() == []
        assert sitting.page.access.address.field.text() == ""

    sitting.play(story)


def test_it_is_on_again_at_the_next_start(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        await sitting.api.close()
        assert endpoint_threads() == []
        sitting.leave()
        sitting.desk.open_up()
        sitting.open()
        sitting.api.begin()
        await sitting.until(lambda: sitting.api.state == "on", "it is on")
        assert (await sitting.models()).status == 200

    sitting.play(story)


def test_a_port_in_use_is_told_with_what_to_do(sitting: ApiSitting, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            sitting.desk.settings.change(local_api_port=port)
            sitting.window.local_api.show()
            await sitting.person.click("localApiSwitch")
            await sitting.person.reads(f"Port {port} is in use by another program.")
        assert sitting.page.access.state.text() == "Could not start"
        await sitting.person.click("localApiTryAgain")
        await sitting.until(lambda: sitting.api.state == "on", "it is on")
        assert sitting.api.url.endswith(f":{port}/v1")
        assert not sitting.page.access.problem.isVisible()

    sitting.play(story)
    assert "could not be started" in caplog.text
    caplog.clear()


def test_a_typed_port_is_used_and_what_is_no_port_is_not(sitting: ApiSitting) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        free = other.getsockname()[1]

    async def story() -> None:
        await sitting.switched_on()
        before = sitting.api.url
        for wrong in ("99999", "abc"):
            sitting.page.options.port.clear()
            await sitting.person.write("localApiPort", wrong)
            await sitting.person.press("localApiPort", Qt.Key.Key_Return)
            assert (sitting.page.options.port.text(), sitting.api.url) == ("", before)
        await sitting.person.write("localApiPort", str(free))
        await sitting.person.press("localApiPort", Qt.Key.Key_Return)
        await sitting.until(lambda: sitting.api.url.endswith(f":{free}/v1"), "it listens at the port")
        assert (await sitting.models()).status == 200

    sitting.play(story)


def test_the_end_of_the_window_ends_it_also_with_streams_open(sitting: ApiSitting) -> None:
    clients: list[Client] = []

    async def story() -> None:
        await sitting.switched_on()
        for _ in range(2):
            clients.append(sitting.client())
        calls = [loop.on_thread(lambda one=one: one.complete("hang", stream=True)) for one in clients]
        running = [loop.spawn(call, "a client") for call in calls]
        await sitting.until(lambda: sitting.backend.at_work == 2, "both are being answered")
        began = time.monotonic()
        await sitting.api.close()
        assert time.monotonic() - began < 12
        assert (endpoint_threads(), sitting.backend.at_work) == ([], 0)
        for task in running:
            await task

    sitting.play(story)
    assert ["shutting_down" in one.body.get("raw", json.dumps(one.body)) for one in clients] == [True, True]


# The token


def test_address_and_token_are_copied_and_the_token_is_hidden_until_wanted(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        clipboard, token = QGuiApplication.clipboard(), sitting.page.access.token.field
        await sitting.person.click("localApiCopyAddress")
        assert clipboard.text() == sitting.api.url
        assert sitting.page.access.copy_address.accessibleName() == "Copied"
        assert token.echoMode() == QLineEdit.EchoMode.Password
        await sitting.person.click("localApiCopyToken")
        assert clipboard.text() == sitting.api.token()
        await sitting.person.click("localApiShowToken")
        assert (token.echoMode(), token.displayText()) == (QLineEdit.EchoMode.Normal, sitting.api.token())
        sitting.window.local_api.toggle()
        sitting.window.local_api.show()
        assert token.echoMode() == QLineEdit.EchoMode.Password

    sitting.play(story)


def test_the_token_is_renewed_only_after_a_question(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        old = sitting.api.token()
        await sitting.person.click("localApiRenewToken")
        assert focused().objectName() == "localApiKeep"
        await sitting.person.keys(Qt.Key.Key_Escape)
        assert not sitting.person.is_seen("localApiConfirm")
        assert sitting.api.token() == old
        assert focused().objectName() == "localApiRenewToken"
        await sitting.person.click("localApiRenewToken")
        await sitting.person.click("localApiConfirmed")
        await sitting.until(lambda: sitting.api.token() != old, "there is a new token")
        assert sitting.page.access.token.field.text() == sitting.api.token()
        assert (await sitting.models(token=old)).status == 401
        assert (await sitting.models()).status == 200

    sitting.play(story)


def test_a_token_file_that_others_can_read_is_refused_in_words(
    sitting: ApiSitting, caplog: pytest.LogCaptureFixture
) -> None:
    path = sitting.api.token_file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a" * 64)
    path.chmod(0o644)

    async def story() -> None:
        sitting.window.local_api.show()
        await sitting.person.click("localApiSwitch")
        await sitting.until(lambda: sitting.api.state == "failed", "it failed")
        assert "can be read by other users" in sitting.page.access.problem.text()
        assert not sitting.page.access.copy_token.isEnabled()

    sitting.play(story)
    assert "could not be started" in caplog.text
    caplog.clear()


# What requests may do


def test_sampling_parameters_are_refused_until_they_are_ignored_on_purpose(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        strict = await sitting.completed("Hello", temperature=0)
        assert (strict.status, strict.code) == (400, "unsupported_parameter")
        await sitting.person.click("localApiLenient")
        await sitting.until(lambda: sitting.api.state == "on" and len(sitting.backend.configurations) == 2, "it is on")
        lenient = await sitting.completed("Hello", temperature=0)
        assert (lenient.status, lenient.headers["x-handraise-ignored"]) == (200, "temperature")
        assert sitting.page.options.lenient.isChecked()

    sitting.play(story)


def test_tools_need_a_folder_that_the_person_chose(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        await sitting.person.click("localApiTools")
        dialog = await sitting.person.sees("localApiFolderDialog")
        assert isinstance(dialog, QFileDialog)
        assert not sitting.page.options.tools.isChecked()
        dialog.fileSelected.emit(str(sitting.desk.folder))
        dialog.reject()
        await sitting.until(lambda: sitting.backend.configurations[-1].folder == sitting.desk.folder, "it is used")
        assert sitting.page.options.tools.isChecked()
        assert sitting.page.options.folder.whole_text() == str(sitting.desk.folder)
        await sitting.person.click("localApiTools")
        await sitting.until(lambda: sitting.backend.configurations[-1].folder is None, "there are no tools any more")
        await sitting.until(lambda: sitting.api.state == "on", "it is on")

    sitting.play(story)


def test_what_would_end_requests_that_run_asks_first(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("hang")), "a client")
        await sitting.until(lambda: sitting.backend.at_work, "it is being answered")
        await sitting.person.click("localApiLenient")
        await sitting.person.reads("1 request is under way and would end.")
        await sitting.person.click("localApiKeep")
        assert not sitting.desk.settings.settings.local_api_lenient
        assert not sitting.page.options.lenient.isChecked()
        await sitting.person.click("localApiSwitch")
        await sitting.person.click("localApiConfirmed")
        await call
        assert (client.status, client.code) == (503, "shutting_down")
        await sitting.until(lambda: sitting.api.state == "off", "it is off")

    sitting.play(story)


def test_a_question_about_requests_that_have_ended_meanwhile_needs_no_answer(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("hang")), "a client")
        await sitting.until(lambda: sitting.backend.at_work, "it is being answered")
        await sitting.person.click("localApiSwitch")
        await sitting.person.sees("localApiConfirm")
        client.hang_up()
        await call
        await sitting.until(lambda: sitting.api.state == "off", "it is off")
        assert not sitting.person.is_seen("localApiConfirm")

    sitting.play(story)


# The list


def test_requests_are_listed_as_they_go(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        assert sitting.page.requests.nothing.isVisible()
        client = sitting.client("llm/0.36")
        call = loop.spawn(loop.on_thread(lambda: client.complete("hang")), "a client")
        await sitting.until(lambda: [row.words for row in rows(sitting)] == ["Working"], "it is listed")
        (row,) = rows(sitting)
        assert (row.who, row.model, row.dot) == ("llm/0.36", MODEL, "working")
        await sitting.until(lambda: rows(sitting)[0].seconds >= 1, "its time goes on")
        client.hang_up()
        await call
        await sitting.until(lambda: [row.words for row in rows(sitting)] == ["The program hung up"], "it is over")
        await sitting.completed("Hello", temperature=0)
        await sitting.completed("Hello")
        wanted = ["Answered", "Refused: asks for something unsupported", "The program hung up"]
        await sitting.until(lambda: [row.words for row in rows(sitting)] == wanted, "all are listed")
        assert not sitting.page.requests.nothing.isVisible()

    sitting.play(story)


def test_a_flood_of_requests_is_a_few_refreshes(sitting: ApiSitting) -> None:
    refreshed: list[float] = []

    async def story() -> None:
        await sitting.switched_on()
        sitting.api.requests_changed.connect(lambda: refreshed.append(time.monotonic()))
        client = sitting.client()

        def flood() -> float:
            began = time.monotonic()
            for _ in range(100):
                client.models()
            return time.monotonic() - began

        took = await loop.on_thread(flood)
        await sitting.until(lambda: len(rows(sitting)) == 100, "all are listed")
        # Four a second by the journal and one by the clock, and those at the ends.
        assert len(refreshed) <= 5 * (took + 1) + 2

    sitting.play(story)


def test_the_button_says_that_requests_are_at_work(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        button = sitting.window.sidebar.local_api
        await sitting.until(lambda: button.accessibleName() == "Local API: On", "the button says it")
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("hang")), "a client")
        await sitting.until(lambda: button.accessibleName() == "Local API: 1 at work", "the button says it")
        client.hang_up()
        await call

    sitting.play(story)


def row(key: str, **more: object) -> RequestRow:
    return RequestRow(key, "curl", MODEL, "running", "", 0, 1.0, "12:00:00", **more)


def test_new_rows_come_on_top_and_the_rest_stays_where_it_is() -> None:
    model = RequestsModel()
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    for keys in ("ba", "cba", "dcb", "dcb"):
        model.show([row(key) for key in keys])
        assert [one.key for one in model.rows] == list(keys)
    assert resets == []
    model.show([row("d"), row("b")])
    assert ([one.key for one in model.rows], len(resets)) == (["d", "b"], 1)


def test_a_row_says_everything_in_words() -> None:
    entry = Entry("req_1", "POST", "completion", "aider/0.86", "opus", state="done", outcome="timeout", status=504,
                  arrived=1_000_000.0, ended=1_000_065.0)  # fmt: skip
    assert row_of(entry, 2_000_000.0).whole.endswith(", aider/0.86, opus, Took too long, 1:05")
    assert outcome_words("some_new_code", 400) == "Refused (some_new_code)"
    assert outcome_words("some_new_code", 502) == "Failed (some_new_code)"


# Questions


def test_a_question_names_its_client_and_is_answered_by_hand(sitting: ApiSitting) -> None:
    async def story() -> None:
        opened = sitting.window.open_folder(sitting.desk.folder)
        await sitting.until(lambda: opened.phase == "running", "the conversation runs")
        await sitting.switched_on()
        sitting.window.show_conversation(opened)
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("ask")), "a client")
        await sitting.until(lambda: "1 question through the local API · Ctrl+J" in sitting.window.status.text(), "told")
        assert not sitting.person.is_seen("questionDialog")
        await sitting.person.keys(Qt.Key.Key_J, modifier=Qt.KeyboardModifier.ControlModifier)
        await sitting.person.sees("questionDialog")
        await sitting.person.reads("openai-python/3.57 asks through the local API · waiting 0:")
        assert "Waiting for your answer" in sitting.window.status.text()
        await sitting.until(lambda: rows(sitting)[0].words == "Waiting for your answer", "the list says it")
        await sitting.person.click_when_read("option_0_1")
        await sitting.person.keys(Qt.Key.Key_Return, modifier=Qt.KeyboardModifier.ControlModifier)
        await call
        assert json.loads(client.text)["updatedInput"]["answers"] == {"Pick a colour?": "Blue"}
        await sitting.person.sees_no_more("questionDialog")
        assert "local API" not in sitting.window.status.text()

    sitting.play(story)


def test_ctrl_j_goes_through_conversations_and_the_local_api_in_turn(sitting: ApiSitting) -> None:
    sitting.desk.stand_in([question("Which way?", "Left", "Right")])

    async def story() -> None:
        opened = sitting.window.open_folder(sitting.desk.folder)
        await sitting.until(lambda: opened.phase == "running", "the conversation runs")
        opened.send("decide")
        await sitting.until(lambda: opened.conversation.pending, "it asks")
        await sitting.switched_on()
        clients = [sitting.client(), sitting.client("llm/0.36")]
        calls = [loop.spawn(loop.on_thread(lambda one=one: one.complete("ask")), "a client") for one in clients]
        await sitting.until(lambda: len(sitting.api.asker.pending) == 2, "both ask")
        sitting.window.show_conversation(opened)
        words = "1 question in this conversation, 2 through the local API · Ctrl+J"
        await sitting.until(lambda: words in sitting.window.status.text(), "all are counted")
        seen = []
        for _ in range(3):
            sitting.window.go_to_next_waiting()
            seen.append(sitting.window.local_api.shown_id or "conversation")
        assert seen == [*sitting.api.asker.pending, "conversation"]
        for one in clients:
            one.hang_up()
        for call in calls:
            await call

    sitting.play(story)


def test_a_client_that_hangs_up_closes_its_dialog_and_the_words_stay_at_hand(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("ask")), "a client")
        await sitting.person.sees("questionDialog")
        await sitting.person.click_when_read("other_0")
        await sitting.person.write("otherText_0", "A colour of my own")
        client.hang_up()
        await call
        await sitting.person.sees_no_more("questionDialog")
        await sitting.until(lambda: sitting.backend.at_work == 0, "nothing runs")
        await sitting.person.reads("A colour of my own")
        await sitting.person.click("copyRecovered_0")
        assert QGuiApplication.clipboard().text() == "A colour of my own"
        assert not sitting.person.is_seen("useRecovered_0")  # there is no message to put it into
        await sitting.person.click("forgetRecovered_0")
        await sitting.person.sees_no_more("recovered")
        assert sitting.api.texts.is_empty

    sitting.play(story)


def test_what_was_typed_outlives_the_program(sitting: ApiSitting) -> None:
    async def story() -> None:
        await sitting.switched_on()
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("ask")), "a client")
        await sitting.person.sees("questionDialog")
        await sitting.person.click_when_read("other_0")
        await sitting.person.write("otherText_0", "A colour of my own")
        await sitting.api.close()
        await call
        assert (client.status, client.code) in ((502, "question_unanswered"), (503, "shutting_down"))
        sitting.leave()
        sitting.open()
        sitting.window.local_api.show()
        await sitting.person.reads("A colour of my own")

    sitting.play(story)


def test_a_notification_about_the_local_api_leads_to_its_question(sitting: ApiSitting) -> None:
    from PySide6.QtGui import QIcon

    from desktop.notifications import Notifier, notification_words

    notifier = Notifier(QWidget(), sitting.desk.settings, QIcon())
    notifier.opened.connect(sitting.window.lead_to)
    sitting.api.asker.request_added.connect(notifier.tell_of_local_api)

    async def story() -> None:
        sitting.api.set_on(True)
        await sitting.until(lambda: sitting.api.state == "on", "it is on")
        client = sitting.client()
        call = loop.spawn(loop.on_thread(lambda: client.complete("ask")), "a client")
        await sitting.until(lambda: sitting.api.asker.pending, "it asks")
        (request,) = sitting.api.asker.pending.values()
        assert notification_words(None, request) == ("Claude has a question", "Local API")
        notifier.on_clicked()
        await sitting.person.sees("questionDialog")
        client.hang_up()
        await call

    sitting.play(story)
    notifier.close()
