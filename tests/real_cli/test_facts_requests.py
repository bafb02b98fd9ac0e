"""What the CLI asks its host, and what it makes of the replies: on bare pipes, with every pinned CLI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.raw_cli import Message, RawCli
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel, ToolUse
from tests.real_cli.scripts import QUESTIONS, ask, one_question


def allow(request: Message, answers: dict[str, str] | None = None, **more: Any) -> Message:
    shown = request["request"]["input"]
    updated = shown if answers is None else {**shown, "answers": answers}
    return {"behavior": "allow", "updatedInput": updated, **more}


@pytest.fixture
def raw(each_claude: RealCli) -> Iterator[RawCli]:
    with RawCli(each_claude) as session:
        session.initialize()
        yield session


class TestQuestions:
    def test_answers_reach_the_model_word_for_word(self, raw: RawCli, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "Noted.")
        raw.say("Ask me")
        request = raw.wait_for_permission("AskUserQuestion")
        answers = {
            "Which database should we use?": "SQLite",
            "Which features do you want?": '"Search, full text", Export',
        }
        raw.reply(request, allow(request, answers))

        assert raw.wait_for_result()["result"] == "Noted."
        (result,) = model.tool_results()
        assert '"Which database should we use?"="SQLite"' in result.text
        assert '"Which features do you want?"=""Search, full text", Export"' in result.text
        assert "ZodError" not in raw.everything

    def test_two_sets_of_questions_can_be_open_at_once_and_are_answered_in_any_order(
        self, raw: RawCli, model: ScriptedModel
    ) -> None:
        first, second = one_question("Red or blue?", "Red", "Blue"), one_question("Tea or coffee?", "Tea", "Coffee")
        model.script([ask([first], "toolu_first"), ask([second], "toolu_second")], "Noted.")
        raw.say("Ask me twice")
        one = raw.wait_for_permission("AskUserQuestion")
        two = raw.wait_for_permission("AskUserQuestion")
        raw.reply(two, allow(two, {"Tea or coffee?": "Coffee"}))
        raw.reply(one, allow(one, {"Red or blue?": "Blue"}))
        raw.wait_for_result()

        told = {result.tool_use_id: result.text for result in model.tool_results()}
        assert '"Red or blue?"="Blue"' in told["toolu_first"]
        assert '"Tea or coffee?"="Coffee"' in told["toolu_second"]

    def test_a_key_that_differs_in_one_character_counts_as_not_answered(
        self, raw: RawCli, model: ScriptedModel
    ) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Noted.")
        raw.say("Ask me")
        request = raw.wait_for_permission("AskUserQuestion")
        raw.reply(request, allow(request, {"Red or blue ?": "Blue"}))
        raw.wait_for_result()

        assert '"Red or blue?"="Blue"' not in model.tool_results()[0].text

    def test_an_answer_without_the_input_is_refused_or_empty(self, raw: RawCli, model: ScriptedModel) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Noted.")
        raw.say("Ask me")
        raw.reply(raw.wait_for_permission("AskUserQuestion"), {"behavior": "allow"})
        raw.wait_for_result()

        told = model.tool_results()[0].text
        if raw.cli.numbers >= (2, 1, 300):
            assert "did not answer" in told
        else:
            assert "ZodError" in told or "invalid_type" in told or "invalid_union" in told

    def test_the_old_form_of_an_approval_is_refused(self, raw: RawCli, model: ScriptedModel) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Noted.")
        raw.say("Ask me")
        raw.reply(raw.wait_for_permission("AskUserQuestion"), {"allow": True})
        raw.wait_for_result()

        assert model.tool_results()[0].is_error

    def test_a_denial_tells_the_model_its_message_and_the_turn_goes_on(
        self, raw: RawCli, model: ScriptedModel
    ) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Then I decide.")
        raw.say("Ask me")
        deny = {"behavior": "deny", "message": "The person closed the questions."}
        raw.reply(raw.wait_for_permission("AskUserQuestion"), deny)

        assert raw.wait_for_result()["result"] == "Then I decide."
        assert "The person closed the questions." in model.tool_results()[0].text

    def test_a_reply_with_the_id_in_the_wrong_place_leaves_the_cli_waiting(
        self, raw: RawCli, model: ScriptedModel
    ) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "Noted.")
        raw.say("Ask me")
        request = raw.wait_for_permission("AskUserQuestion")
        response = {"subtype": "success", "response": allow(request, {"Red or blue?": "Red"})}
        raw.send({"type": "control_response", "request_id": request["request_id"], "response": response})

        with pytest.raises(AssertionError, match="nothing matched"):
            raw.wait_for(lambda m: m["type"] == "result", timeout=1.5)
        raw.reply(request, allow(request, {"Red or blue?": "Red"}))
        assert raw.wait_for_result()["result"] == "Noted."

    def test_an_interrupt_withdraws_the_question_and_the_next_turn_works(
        self, raw: RawCli, model: ScriptedModel
    ) -> None:
        model.script(ask([one_question("Red or blue?", "Red", "Blue")]), "On we go.")
        raw.say("Ask me")
        request = raw.wait_for_permission("AskUserQuestion")
        assert raw.ask("interrupt")["subtype"] == "success"
        cancel = raw.wait_for(lambda m: m["type"] == "control_cancel_request")
        result = raw.wait_for_result()
        raw.say("Carry on")

        assert cancel["request_id"] == request["request_id"]
        assert result["subtype"] == "error_during_execution"
        assert raw.wait_for_result()["result"] == "On we go."

    def test_without_the_permission_tool_the_newest_cli_does_not_offer_the_question(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script("Hello.")
        argv = claude.stream_argv()
        del argv[argv.index("--permission-prompt-tool") : argv.index("--permission-prompt-tool") + 2]
        with RawCli(claude, argv=argv) as raw:
            raw.initialize()
            raw.say("Hello")
            raw.wait_for_result()

        assert "Bash" in model.main_requests[0].tools
        assert "AskUserQuestion" not in model.main_requests[0].tools


class TestPermissions:
    COMMAND = "touch made_by_the_test"

    def test_what_is_allowed_runs(self, raw: RawCli, model: ScriptedModel) -> None:
        model.script(ToolUse("Bash", {"command": self.COMMAND, "description": "Make a file"}), "Made.")
        raw.say("Make it")
        request = raw.wait_for_permission("Bash")
        assert not (raw.cli.project / "made_by_the_test").exists()
        raw.reply(request, allow(request))
        raw.wait_for_result()

        assert (raw.cli.project / "made_by_the_test").exists()

    def test_what_is_denied_does_not_run_and_the_model_hears_why(self, raw: RawCli, model: ScriptedModel) -> None:
        model.script(ToolUse("Bash", {"command": self.COMMAND, "description": "Make a file"}), "As you wish.")
        raw.say("Make it")
        raw.reply(raw.wait_for_permission("Bash"), {"behavior": "deny", "message": "Not in this folder."})

        assert raw.wait_for_result()["result"] == "As you wish."
        assert not (raw.cli.project / "made_by_the_test").exists()
        (result,) = model.tool_results()
        assert result.is_error
        assert "Not in this folder." in result.text

    def test_a_suggestion_that_is_sent_back_is_not_asked_again(self, raw: RawCli, model: ScriptedModel) -> None:
        call = ToolUse("Write", {"file_path": str(raw.cli.project / "a.txt"), "content": "one\n"})
        again = ToolUse("Write", {"file_path": str(raw.cli.project / "b.txt"), "content": "two\n"})
        model.script(call, again, "Both written.")
        raw.say("Write two files")
        request = raw.wait_for_permission("Write")
        suggestions = request["request"]["permission_suggestions"]
        raw.reply(request, allow(request, updatedPermissions=suggestions))

        assert raw.wait_for_result()["result"] == "Both written."
        asked = [m for m in raw.messages if m["type"] == "control_request"]
        assert len(asked) == 1
        assert (raw.cli.project / "b.txt").read_text() == "two\n"

    def test_the_newest_cli_refuses_a_mode_that_does_not_exist(self, claude: RealCli) -> None:
        """Older ones say "success" to it, so the app offers only modes that it knows."""
        with RawCli(claude) as raw:
            raw.initialize()
            answer = raw.ask("set_permission_mode", mode="no_such_mode")

        assert answer["subtype"] == "error"

    def test_a_mode_that_exists_is_taken(self, raw: RawCli) -> None:
        assert raw.ask("set_permission_mode", mode="acceptEdits")["subtype"] == "success"
