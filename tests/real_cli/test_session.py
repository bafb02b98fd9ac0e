"""`protocol.Session` with the true CLI: what a host decides is what the model hears and what happens."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol import permissions, questions, requests
from protocol.conversation import PendingRequest, TextItem, ToolItem, UserItem
from protocol.messages import CanUseTool, Elicitation
from protocol.process import child_environment
from protocol.questions import Answer
from protocol.session import RequestRefused, SessionError, SessionOptions
from tests.helpers.mcp import mcp_config
from tests.helpers.peer import Listening, run
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import Hang, ScriptedModel, Text, ToolUse
from tests.real_cli.scripts import QUESTIONS, ask, one_question


def live(cli: RealCli, *extra: str, **options: object) -> Listening:
    env = child_environment(cli.env).env
    return Listening(SessionOptions(cli.argv, cli.project, env, extra_args=extra, **options))  # type: ignore[arg-type]


def tool_call(pending: PendingRequest) -> CanUseTool:
    assert isinstance(pending.request, CanUseTool)
    return pending.request


def answer(session: Listening, pending: PendingRequest, *answers: Answer) -> None:
    """Answer the questions of this request."""
    asked = questions.parse_questions(tool_call(pending).input)
    result = questions.answered(asked, answers, capabilities=session.conversation.capabilities)
    assert session.session.answer(pending.request_id, result)


def touch(path: Path) -> ToolUse:
    return ToolUse("Bash", {"command": f"touch {path}", "description": "Make a file"})


class TestEveryPinnedCli:
    def test_questions_are_answered_word_for_word(self, each_claude: RealCli, model: ScriptedModel) -> None:
        model.script(ask(QUESTIONS), "Noted.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Set up the project")
                pending = await it.next_request("question")
                answer(it, pending, Answer(("SQLite",)), Answer(("Search, full text", "Export")))
                await it.until_idle()
                assert it.texts[-1] == "Noted."
            assert it.session.exit is not None
            assert it.session.exit.code == 0

        run(test())
        (result,) = model.tool_results()
        assert not result.is_error
        assert '"Which database should we use?"="SQLite"' in result.text
        assert '"Which features do you want?"=""Search, full text", Export"' in result.text

    def test_a_dismissal_reaches_the_model_and_the_turn_goes_on(
        self, each_claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS), "I decide myself.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Set up the project")
                pending = await it.next_request("question")
                assert it.session.answer(pending.request_id, questions.dismissed())
                await it.until_idle()
                assert it.texts[-1] == "I decide myself."

        run(test())
        (result,) = model.tool_results()
        assert (result.text, result.is_error) == (questions.DISMISSED, True)

    def test_a_stop_with_a_question_open_withdraws_it_and_the_next_turn_works(
        self, each_claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS))
        model.when(text="Go on", reply="Gone on.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Set up the project")
                pending = await it.next_request("question")
                await it.session.interrupt()
                await it.until(lambda: not it.conversation.pending)
                assert not it.session.answer(pending.request_id, questions.dismissed())
                await it.until_idle()
                it.session.send("Go on")
                await it.until(lambda: "Gone on." in it.texts)

        run(test())

    def test_a_command_is_allowed_once_and_the_next_one_is_denied(
        self, each_claude: RealCli, model: ScriptedModel
    ) -> None:
        first, second = each_claude.home / "first", each_claude.home / "second"
        model.script(touch(first), touch(second), "Done.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Make them")
                pending = await it.next_request("permission")
                assert it.session.answer(pending.request_id, permissions.allow(tool_call(pending).input))
                await it.until(lambda: pending.request_id not in it.conversation.pending)
                pending = await it.next_request("permission")
                assert it.session.answer(pending.request_id, permissions.deny("One is enough."))
                await it.until_idle()

        run(test())
        assert (first.exists(), second.exists()) == (True, False)
        assert "One is enough." in model.tool_results()[1].text

    def test_a_mode_and_a_model_are_changed(self, each_claude: RealCli) -> None:
        async def test() -> None:
            async with live(each_claude) as it:
                await it.session.set_model("sonnet")
                await it.session.set_permission_mode("acceptEdits")
                assert it.conversation.permission_mode == "acceptEdits"

        run(test())

    def test_a_picture_reaches_the_model_with_its_words(self, each_claude: RealCli, model: ScriptedModel) -> None:
        picture = base64.b64decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
        )
        model.script("A dot.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send([requests.text_block("What is this?"), requests.image_block(picture, "image/png")])
                await it.until(lambda: "A dot." in it.texts, seconds=40)

        run(test())
        request = model.wait_for_request()
        assert "What is this?" in request.last_user_text
        (image,) = request.images
        assert image["media_type"] == "image/png"

    def test_a_conversation_is_gone_on_with_after_its_process_has_ended(
        self, each_claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script("The word is swordfish.", "It was swordfish.")

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Tell me a word")
                await it.until_idle()
                old = it.conversation.session_id
            async with live(each_claude, resume=old) as it:
                it.session.send("Which was it?")
                await it.until(lambda: "It was swordfish." in it.texts, seconds=40)

        run(test())
        assert "The word is swordfish." in model.main_requests[-1].everything

    def test_an_unknown_conversation_is_named_as_the_reason(self, each_claude: RealCli) -> None:
        async def test() -> None:
            it = live(each_claude, resume="00000000-0000-4000-8000-000000000000")
            with pytest.raises(SessionError, match=r"No conversation found with session ID") as caught:
                await it.session.start()
            assert "code 1" in caught.value.sentence

        run(test())


class TestQuestions:
    def test_the_preview_and_the_notes_reach_the_model(self, claude: RealCli, model: ScriptedModel) -> None:
        asked = one_question("Which layout?", "Wide", "Narrow")
        asked["options"][1]["preview"] = "```\n| narrow |\n```"
        model.script(ask([asked]), "Narrow it is.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Lay it out")
                answer(it, await it.next_request("question"), Answer(("Narrow",), notes="with a margin"))
                await it.until_idle()

        run(test())
        (result,) = model.tool_results()
        assert "| narrow |" in result.text
        assert "with a margin" in result.text

    def test_free_text_and_a_reply_instead_reach_the_model_word_for_word(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(ask([one_question("Which one?", "A", "B")]), ask([one_question("And now?", "A", "B")]), "Fine.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Choose")
                first = await it.next_request("question")
                answer(it, first, Answer(other='Neither: use "DuckDB", please'))
                await it.until(lambda: first.request_id not in it.conversation.pending)
                second = await it.next_request("question")
                assert it.session.answer(second.request_id, questions.reply_instead("First tell me why."))
                await it.until_idle()

        run(test())
        free, reply = model.tool_results()
        assert 'Neither: use "DuckDB", please' in free.text
        assert (reply.text, reply.is_error) == ("First tell me why.", True)

    def test_a_skipped_question_is_no_answer_and_its_notes_still_arrive(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS), "Noted.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Set up the project")
                pending = await it.next_request("question")
                answer(it, pending, Answer(("SQLite",)), Answer(skipped=True, notes="not before May"))
                await it.until_idle()
                (call,) = (i for i in it.conversation.items if isinstance(i, ToolItem))
                assert call.structured["answers"] == {"Which database should we use?": "SQLite"}
                assert call.structured["annotations"]["Which features do you want?"]["unanswered"] == "skipped"

        run(test())
        (result,) = model.tool_results()
        assert '"Which database should we use?"="SQLite"' in result.text
        assert '"Which features do you want?"=(no option selected) notes: not before May' in result.text

    def test_any_label_and_any_free_text_can_be_told_apart(self, claude: RealCli, model: ScriptedModel) -> None:
        asked = one_question("Which?", "a, b", "a", 'the "b"', "漢字 😀\u2028")
        asked["multiSelect"] = True
        model.script(ask([asked]), "Noted.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Choose")
                answer(
                    it, await it.next_request("question"), Answer(("a, b", 'the "b"', "漢字 😀\u2028"), other="c, d")
                )
                await it.until_idle()

        run(test())
        assert '="' + r'"a, b", "the \"b\"", 漢字 😀' + "\u2028" + ', "c, d""' in model.tool_results()[0].text

    def test_two_open_at_once_are_answered_in_reverse_order(self, claude: RealCli, model: ScriptedModel) -> None:
        model.script(
            [
                ask([one_question("Which colour?", "Red", "Blue")], "toolu_colour"),
                ask([one_question("Which size?", "Small", "Large")], "toolu_size"),
            ],
            "Both noted.",
        )

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Choose both")
                await it.until(lambda: len(it.conversation.pending) == 2, seconds=40)
                colour, size = it.conversation.pending.values()
                answer(it, size, Answer(("Large",)))
                answer(it, colour, Answer(("Blue",)))
                await it.until_idle()

        run(test())
        told = {result.tool_use_id: result.text for result in model.tool_results()}
        assert '"Which colour?"="Blue"' in told["toolu_colour"]
        assert '"Which size?"="Large"' in told["toolu_size"]


class TestPermissions:
    def test_always_is_not_asked_again(self, claude: RealCli, model: ScriptedModel) -> None:
        command = touch(claude.project / "again")
        model.script(command, command, "Done twice.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Make it twice")
                pending = await it.next_request("permission")
                offers = permissions.suggestions(tool_call(pending))
                rule = next(offer for offer in offers if offer.raw["type"] == "addRules")
                assert str(rule.words) == (
                    f"Always allow “Bash(touch {claude.project / 'again'})” in this project, for you"
                    " (saved in .claude/settings.local.json)"
                )
                assert it.session.answer(pending.request_id, permissions.allow(tool_call(pending).input, [rule.raw]))
                await it.until_idle()
                asked = [c for c in it.changes if c.kind == "pending_added"]
                assert len(asked) == 1

        run(test())
        saved = (claude.project / ".claude" / "settings.local.json").read_text()
        assert "touch" in saved
        assert [r.is_error for r in model.tool_results()] == [False, False]

    def test_deny_and_stop_ends_the_turn(self, claude: RealCli, model: ScriptedModel) -> None:
        model.script(touch(claude.project / "never"))

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Make it")
                pending = await it.next_request("permission")
                assert it.session.answer(pending.request_id, permissions.deny("Stop.", interrupt=True))
                await it.until_idle()

        run(test())
        assert not (claude.project / "never").exists()
        assert len(model.main_requests) == 1

    def test_a_mode_that_is_suggested_reaches_as_far_as_its_words_say(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(touch(claude.project / "one"), touch(claude.project / "two"), "Done.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Make them")
                pending = await it.next_request("permission")
                mode = next(o for o in permissions.suggestions(tool_call(pending)) if o.raw["type"] == "setMode")
                assert "accept edits" in str(mode.words)
                assert it.session.answer(pending.request_id, permissions.allow(tool_call(pending).input, [mode.raw]))
                await it.until_idle()  # the second `touch` is one of the simple file commands that the words name
                assert it.conversation.permission_mode == "acceptEdits"

        run(test())
        assert (claude.project / "two").exists()


class TestPlans:
    def plan(self, claude: RealCli, model: ScriptedModel) -> Listening:
        model.script(
            ToolUse("ExitPlanMode", {"plan": "# The plan\n1. Write it"}),
            ToolUse("Write", {"file_path": str(claude.project / "it.txt"), "content": "written\n"}),
            "Finished.",
        )
        return live(claude, permission_mode="plan")

    def test_an_approved_plan_with_edits_is_begun_without_further_questions(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        async def test() -> None:
            async with self.plan(claude, model) as it:
                it.session.send("Plan it")
                pending = await it.next_request("plan")
                result = permissions.approve_plan(tool_call(pending).input, "acceptEdits")
                assert it.session.answer(pending.request_id, result)
                await it.until(lambda: "Finished." in it.texts, seconds=40)
                assert [c.kind for c in it.changes].count("pending_added") == 1

        run(test())
        assert (claude.project / "it.txt").read_text() == "written\n"

    def test_the_plan_can_be_read_wherever_this_cli_puts_it(self, each_claude: RealCli, model: ScriptedModel) -> None:
        async def test() -> None:
            async with self.plan(each_claude, model) as it:
                it.session.send("Plan it")
                pending = await it.next_request("plan")
                call = next(i for i in it.conversation.items if isinstance(i, ToolItem))
                text = permissions.plan_text(
                    tool_call(pending).input, call.input, lambda path: Path(path).read_text() if path else None
                )
                assert "1. Write it" in text
                assert it.session.answer(pending.request_id, permissions.keep_planning("Add tests."))
                await it.until(lambda: len(model.main_requests) >= 2, seconds=40)
                await it.session.interrupt()

        run(test())
        assert "Add tests." in model.tool_results()[0].text


class TestElicitation:
    def test_an_accepted_form_reaches_the_server(self, claude: RealCli, model: ScriptedModel, tmp_path: Path) -> None:
        model.script(ToolUse("mcp__demo__ask_user", {"topic": "deploy"}), "Deployed.")

        async def test() -> None:
            async with live(claude, "--mcp-config", str(mcp_config(tmp_path))) as it:
                it.session.send("Deploy it")
                pending = await it.next_request("permission")
                assert it.session.answer(pending.request_id, permissions.allow(tool_call(pending).input))
                asked = await it.next_request("elicitation")
                assert isinstance(asked.request, Elicitation)
                form = permissions.elicitation_form(asked.request)
                typed = {"region": "eu", "servers": "3", "note": "", "confirm": True}
                content = {}
                for field in form.fields:
                    content[field.name], problem = permissions.check_field(field, typed[field.name])
                    assert problem is None
                assert it.session.answer(asked.request_id, permissions.accept(content))
                await it.until(lambda: "Deployed." in it.texts, seconds=40)

        run(test())
        assert '"content": {"region": "eu", "servers": 3, "confirm": true}' in model.tool_results()[0].text


class TestControls:
    def test_a_mode_that_may_not_be_chosen_is_refused_and_nothing_changes(self, claude: RealCli) -> None:
        async def test() -> None:
            async with live(claude) as it:
                before = it.conversation.permission_mode
                with pytest.raises(RequestRefused) as caught:
                    await it.session.set_permission_mode("bypassPermissions")
                assert caught.value.code == "bypass_not_launched"
                with pytest.raises(RequestRefused):
                    await it.session.set_permission_mode("noSuchMode")
                assert it.conversation.permission_mode == before

        run(test())

    def test_what_the_cli_does_not_know_is_told_apart(self, claude: RealCli) -> None:
        async def test() -> None:
            async with live(claude) as it:
                with pytest.raises(RequestRefused) as caught:
                    await it.session.request({"subtype": "no_such_subtype"})
                assert caught.value.unsupported

        run(test())

    def test_a_cli_that_does_not_answer_the_unknown_is_named_and_goes_on(
        self, claude_of: Callable[[str], RealCli], model: ScriptedModel
    ) -> None:
        model.script("Still here.")

        async def test() -> None:
            async with live(claude_of("2.0.71")) as it:
                with pytest.raises(SessionError, match="get_usage"):
                    await it.session.request(requests.get_usage(), timeout=1.0)
                assert it.session.running
                it.session.send("Are you there?")
                await it.until(lambda: "Still here." in it.texts, seconds=40)

        run(test())

    def test_a_queued_message_is_withdrawn_and_never_reaches_the_model(
        self, claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script([Text("Busy.", pieces=2), Hang()], "After.")

        async def test() -> None:
            async with live(claude) as it:
                first = it.session.send("Begin")
                await it.until(lambda: "Busy." in "".join(it.texts), seconds=40)
                second = it.session.send("Never mind")
                users = {i.uuid: i for i in it.conversation.items if isinstance(i, UserItem)}
                await it.until(lambda: users[second].state == "queued")
                assert await it.session.withdraw(second)
                assert users[second].state == "cancelled"
                assert not await it.session.withdraw(first)
                await it.session.interrupt()
                await it.until_idle()

        run(test())
        assert all("Never mind" not in request.everything for request in model.main_requests)

    def test_literal_text_is_not_expanded(self, claude: RealCli, model: ScriptedModel) -> None:
        secret = claude.project / "secret.txt"
        secret.write_text("the inside of the file")
        model.script("Seen.")

        async def test() -> None:
            async with live(claude) as it:
                it.session.send(f"@{secret} /cost", client_composed=True)
                await it.until(lambda: "Seen." in it.texts, seconds=40)

        run(test())
        assert "the inside of the file" not in model.main_requests[0].everything

    def test_streamed_text_is_one_item(self, claude: RealCli, model: ScriptedModel) -> None:
        model.script(Text("one two three four", pieces=4))

        async def test() -> None:
            async with live(claude) as it:
                it.session.send("Count")
                await it.until_idle()
                assert [i.text for i in it.conversation.items if isinstance(i, TextItem)] == ["one two three four"]

        run(test())


class TestEnds:
    def test_a_close_with_a_question_open_leaves_nothing_running(
        self, each_claude: RealCli, model: ScriptedModel
    ) -> None:
        model.script(ask(QUESTIONS))

        async def test() -> None:
            async with live(each_claude) as it:
                it.session.send("Set up the project")
                await it.next_request("question")
            assert it.session.exit is not None
            assert it.conversation.pending == {}
            assert it.conversation.state == "exited"

        run(test())

    def test_a_bad_flag_is_named_as_the_reason(self, claude: RealCli) -> None:
        async def test() -> None:
            with pytest.raises(SessionError, match="no-such-flag"):
                await live(claude, "--no-such-flag").session.start()

        run(test())
