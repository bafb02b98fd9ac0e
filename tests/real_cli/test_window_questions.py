"""Claude asks, and a person answers in the window: the true CLI below, mouse and keyboard above."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tests.helpers.app import AppUnderTest
from tests.helpers.person import Person, text_of
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel, Text
from tests.real_cli.scripts import QUESTIONS, ask, one_question


class TestEveryPinnedCli:
    @pytest.fixture
    def app(self, app_of: Callable[[RealCli], AppUnderTest], each_claude: RealCli) -> AppUnderTest:
        return app_of(each_claude)

    def test_what_is_chosen_in_the_dialog_is_exactly_what_the_model_is_told(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script([Text("Let me ask."), ask(QUESTIONS, "toolu_ask")], "Noted, thank you.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.sees("questionDialog")
            await person.click("option_0_1")
            await person.click("nextQuestion")
            await person.click("option_1_0")
            await person.click("option_1_2")
            await person.click("nextQuestion")
            await person.click_when_read("submitAnswers")
            await person.sees_no_more("questionDialog")
            await person.waits_until(lambda: "Noted, thank you." in app.transcript(), "the model's last word is there")

        app.run(scenario)

        (result,) = model.tool_results()
        assert result.tool_use_id == "toolu_ask"
        assert not result.is_error
        assert '"Which database should we use?"="SQLite"' in result.text
        assert '"Which features do you want?"=""Search, full text", Export"' in result.text
        assert model.unscripted == []
        assert [session.exit is not None for session in app.sessions] == [True]
        traffic = [request.everything for request in model.requests]
        for text in (app.log_text(), app.stderr_text(), app.seen_text, *traffic):
            assert "ZodError" not in text
            assert "invalid permission result" not in text.lower()


class TestAnswers:
    def test_dismissing_tells_the_model_so_and_the_turn_goes_on(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS), "Then I decide myself.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.click("dismissQuestions")
            await person.waits_until(lambda: "Then I decide myself." in app.transcript(), "the turn went on")

        app.run(scenario)

        (result,) = model.tool_results()
        assert result.is_error
        assert "dismissed" in result.text

    def test_escape_dismisses_too(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "Then I decide myself.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.press("questionDialog", Qt.Key.Key_Escape)
            await person.waits_until(lambda: "Then I decide myself." in app.transcript(), "the turn went on")

        app.run(scenario)

        assert "dismissed" in model.tool_results()[0].text

    def test_a_reply_instead_reaches_the_model_word_for_word(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "I will look at it.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.click("replyInstead")
            await person.write("replyText", "Neither: 先看舊的程式碼, then ask again.")
            await person.click("replyInstead")
            await person.waits_until(lambda: "I will look at it." in app.transcript(), "the turn went on")

        app.run(scenario)

        assert "Neither: 先看舊的程式碼, then ask again." in model.tool_results()[0].text

    def test_words_typed_into_the_composer_can_be_the_reply(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "I will look at it.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.sees("questionDialog")
            await person.send("Neither of these")
            await person.waits_until(lambda: "I will look at it." in app.transcript(), "the turn went on")

        app.run(scenario)

        assert "Neither of these" in model.tool_results()[0].text

    def test_free_text_is_the_answer(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Green it is.")

        async def scenario(person: Person) -> None:
            await person.send("Paint it")
            await person.click("other_0")
            await person.write("otherText_0", 'Green, "like grass"')
            await person.press("otherText_0", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await person.waits_until(lambda: "Green it is." in app.transcript(), "the turn went on")

        app.run(scenario)

        assert '"Red or blue?"="Green, "like grass""' in model.tool_results()[0].text

    def test_the_preview_is_shown_and_goes_back_with_the_note(self, app: AppUnderTest, model: ScriptedModel) -> None:
        question = one_question("Which layout?", "Rows", "Columns")
        question["options"][1]["preview"] = "| left | right |\n|---|---|\n| a | b |"
        model.script(ask([question]), "Columns it is.")

        async def scenario(person: Person) -> None:
            await person.send("Lay it out")
            await person.click("option_0_1")
            preview = await person.sees("preview")
            await person.waits_until(lambda: "right" in all_text(preview), "the preview is drawn")
            await person.click("addNote")
            await person.write("notes_0", "but narrow ones")
            await person.press("notes_0", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await person.waits_until(lambda: "Columns it is." in app.transcript(), "the turn went on")

        app.run(scenario)

        (result,) = model.tool_results()
        assert '"Which layout?"="Columns"' in result.text
        assert "| left | right |" in result.text
        assert "but narrow ones" in result.text

    def test_a_skipped_question_is_left_out(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "Noted.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.click("option_0_0")
            await person.click("nextQuestion")
            await person.click("skipQuestion")
            await person.click_when_read("submitAnswers")
            await person.waits_until(lambda: "Noted." in app.transcript(), "the turn went on")

        app.run(scenario)

        (result,) = model.tool_results()
        assert '"Which database should we use?"="PostgreSQL"' in result.text
        assert '"Which features do you want?"="' not in result.text

    def test_by_keyboard_alone(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "Noted.")

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.sees("questionDialog")
            await person.keys(Qt.Key.Key_2, Qt.Key.Key_Return, Qt.Key.Key_1, Qt.Key.Key_3)
            await person.keys(Qt.Key.Key_Return, modifier=Qt.KeyboardModifier.ControlModifier)
            await person.waits_until(lambda: "Noted." in app.transcript(), "the turn went on")

        app.run(scenario)

        (result,) = model.tool_results()
        assert '"Which database should we use?"="SQLite"' in result.text
        assert '"Which features do you want?"=""Search, full text", Export"' in result.text


class TestAtTheSameTime:
    def test_two_are_open_at_once_and_the_second_is_answered_first(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        first, second = one_question("Red or blue?", "Red", "Blue"), one_question("Tea or coffee?", "Tea", "Coffee")
        model.script([ask([first], "toolu_first"), ask([second], "toolu_second")], "Noted, both.")
        order: list[str] = []

        async def scenario(person: Person) -> None:
            await person.send("Ask me twice")
            await person.sees("manyRequests")
            await person.reads("Red or blue?")
            await person.click("nextRequest")
            await person.reads("Tea or coffee?")
            order.append("second")
            await person.click("option_0_1")
            await person.press("questionDialog", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await person.sees_no_more("manyRequests")
            await person.reads("Red or blue?")
            order.append("first")
            await person.click("option_0_0")
            await person.press("questionDialog", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await person.waits_until(lambda: "Noted, both." in app.transcript(), "the turn went on")

        app.run(scenario)

        told = {result.tool_use_id: result.text for result in model.tool_results()}
        assert order == ["second", "first"]
        assert '"Red or blue?"="Red"' in told["toolu_first"]
        assert '"Tea or coffee?"="Coffee"' in told["toolu_second"]

    def test_stopping_closes_the_question_and_the_next_turn_works(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS), "On we go.")
        bad: list[str] = []

        async def scenario(person: Person) -> None:
            await person.send("Set up the project")
            await person.sees("questionDialog")
            await person.click("stopButton")
            await person.sees_no_more("questionDialog")
            await person.sees_no_more("stopButton")
            await person.send("Carry on")
            await person.waits_until(lambda: "On we go." in app.transcript(), "the next turn was answered")
            bad.extend(app.bad_notices)

        app.run(scenario)

        assert model.main_requests[-1].last_user_text.endswith("Carry on")
        assert bad == []


def all_text(widget: QWidget) -> str:
    return "\n".join(text_of(one) for one in [widget, *widget.findChildren(QWidget)])
