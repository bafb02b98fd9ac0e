"""Tool cards: streamed inputs, results of every form, decisions, subagents and tasks."""

from __future__ import annotations

from typing import Any

import pytest

from protocol import permissions, questions
from protocol.conversation import ToolItem
from tests.helpers.cli_says import (
    Talk,
    aborted,
    assistant,
    block_start,
    block_stop,
    cancel,
    json_delta,
    kinds,
    may_i,
    message_start,
    question,
    result,
    system,
    tool_result,
    tool_use,
)

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}


class TestStreaming:
    def test_the_input_streams_and_the_card_turns_from_streaming_to_running(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "tool_use", id="t1", name="Write"))
        assert (talk.tool.name, talk.tool.status, talk.tool.input) == ("Write", "streaming", {})
        talk.cli(json_delta('{"file_path": "a'), json_delta('.txt"}'))
        assert talk.tool.input_json == '{"file_path": "a.txt"}'
        talk.cli(assistant(tool_use("t1", "Write", file_path="a.txt")), block_stop())
        assert (talk.tool.status, talk.tool.input) == ("running", {"file_path": "a.txt"})

    def test_the_input_is_read_from_the_stream_until_the_whole_call_comes(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "tool_use", id="t1", name="Bash"), json_delta('{"command": "ls"}'))
        talk.cli(block_stop())
        assert (talk.tool.status, talk.tool.input) == ("running", {"command": "ls"})

    @pytest.mark.parametrize("text", ["", "{", "[1]", "null", "x"])
    def test_an_input_that_is_no_object_is_an_empty_one(self, text: str) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "tool_use", id="t1", name="Bash"), json_delta(text), block_stop())
        assert (talk.tool.status, talk.tool.input) == ("running", {})

    def test_a_call_that_streamed_and_was_given_up_never_ran(self) -> None:
        talk = Talk()
        talk.cli(message_start("m1"), block_start(0, "tool_use", id="t1", name="Bash"), json_delta('{"comm'))
        talk.cli(message_start("m2"))
        assert talk.tool.status == "interrupted"

    def test_two_calls_that_stream_in_turns_do_not_mix(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "tool_use", id="t1", name="A"))
        talk.cli(block_start(1, "tool_use", id="t2", name="B"), json_delta('{"a":1}', 0), json_delta('{"b":2}', 1))
        first, second = (item for item in talk.conversation.items if isinstance(item, ToolItem))
        assert (first.input_json, second.input_json) == ('{"a":1}', '{"b":2}')

    def test_a_readable_name_for_a_servers_tool_is_taken_over(self) -> None:
        talk = Talk()
        meta = [{"id": "t1", "display_name": "Ask User"}]
        talk.cli(assistant(tool_use("t1", "mcp__demo__ask_user"), tool_use_meta=meta))
        assert talk.tool.display_name == "Ask User"


class TestResults:
    @pytest.mark.parametrize(
        ("content", "text", "pictures"),
        [
            ("plain", "plain", 0),
            ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", 0),
            ([{"type": "text", "text": "look"}, IMAGE, IMAGE], "look", 2),
            ([IMAGE], "", 1),
            ("", "", 0),
            (None, "", 0),
            ([{"type": "hologram"}, 3], "", 0),
        ],
    )
    def test_words_and_pictures_are_shown_whatever_the_form(self, content: Any, text: str, pictures: int) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), tool_result(content=content))
        assert (talk.tool.status, talk.tool.result_text, len(talk.tool.result_images)) == ("done", text, pictures)

    @pytest.mark.parametrize("length", [70_000, 1_500_000])
    def test_a_long_result_is_kept_whole(self, length: int) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), tool_result(content="x" * length))
        assert len(talk.tool.result_text) == length

    @pytest.mark.parametrize("structured", [{"stdout": "x", "stderr": ""}, "Error: x", [1], None])
    def test_the_structured_form_is_kept_as_it_came(self, structured: Any) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), tool_result(tool_use_result=structured))
        assert talk.tool.structured == structured

    def test_a_structured_form_belongs_to_a_single_result_only(self) -> None:
        talk = Talk()
        both = tool_result("t1", tool_use_result={"stdout": "whose?"})
        both["message"]["content"] += tool_result("t2")["message"]["content"]
        talk.cli(assistant(tool_use("t1"), tool_use("t2")), both)
        items = [item for item in talk.conversation.items if isinstance(item, ToolItem)]
        assert [(item.status, item.structured) for item in items] == [("done", None), ("done", None)]

    def test_an_error_is_a_failure(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), tool_result(content="<tool_use_error>InputValidationError</…>", is_error=True))
        assert (talk.tool.status, talk.tool.is_error) == ("failed", True)

    def test_a_result_of_a_call_that_nobody_knows_does_nothing(self) -> None:
        assert Talk().cli(tool_result("stranger")) == []

    def test_a_result_within_an_answer_belongs_to_the_apis_own_tool(self) -> None:
        talk = Talk()
        search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
        found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]}
        talk.cli(assistant(search), assistant(found))
        assert (talk.tool.name, talk.tool.status) == ("web_search", "done")

    def test_a_long_running_call_tells_for_how_long(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), {"type": "tool_progress", "tool_use_id": "t1", "elapsed_time_seconds": 30.4})
        assert talk.tool.progress == "30 s"
        talk.cli(tool_result())
        assert talk.tool.progress == ""


class TestDecisions:
    def ask(self, **fields: Any) -> Talk:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1", "Bash", command="ls")), may_i("r1", "t1", input={"command": "ls"}, **fields))
        assert talk.tool.status == "waiting"
        return talk

    def test_allowed_once(self) -> None:
        talk = self.ask()
        talk.answers("r1", permissions.allow({"command": "ls"}))
        assert (talk.tool.status, talk.tool.decision) == ("running", "allowed once")
        talk.cli(tool_result())
        assert (talk.tool.status, talk.tool.decision) == ("done", "allowed once")

    def test_allowed_always(self) -> None:
        talk = self.ask()
        rule = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
        talk.answers("r1", permissions.allow({"command": "ls"}, [rule]))
        assert talk.tool.decision == "allowed always"

    def test_always_with_another_mode_is_that_mode_from_now_on(self) -> None:
        talk = self.ask()
        mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        assert "info" in kinds(talk.answers("r1", permissions.allow({"command": "ls"}, [mode])))
        assert talk.conversation.permission_mode == "acceptEdits"

    def test_the_card_shows_what_was_allowed_to_run(self) -> None:
        talk = self.ask()
        talk.answers("r1", permissions.allow({"command": "ls -l"}))
        talk.cli(assistant(tool_use("t1", "Bash", command="ls")), tool_result())
        assert talk.tool.input == {"command": "ls -l"}

    def test_denied_with_a_reason(self) -> None:
        talk = self.ask()
        talk.answers("r1", permissions.deny("Not in this folder."))
        assert (talk.tool.status, talk.tool.decision, talk.tool.reply) == ("denied", "denied", "Not in this folder.")
        talk.cli(tool_result(content="Not in this folder.", is_error=True))
        assert (talk.tool.status, talk.tool.is_error) == ("denied", True)

    def test_refused_with_an_error_reply(self) -> None:
        talk = self.ask()
        talk.sends(
            {"type": "control_response", "response": {"subtype": "error", "request_id": "r1", "error": "broken"}}
        )
        assert (talk.tool.status, talk.tool.decision, talk.tool.reply) == ("denied", "", "broken")

    def test_denied_by_the_cli_itself(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), system("permission_denied", tool_use_id="t1", message="don't ask mode"))
        assert (talk.tool.status, talk.tool.decision, talk.tool.reply) == ("denied", "", "don't ask mode")
        talk.cli(tool_result(content="Permission … denied", is_error=True))
        assert talk.tool.status == "denied"

    def test_denied_by_a_rule_that_only_the_result_tells(self) -> None:
        talk = Talk()
        meta = [{"id": "t1", "non_execution_kind": "permission-rule"}]
        talk.cli(assistant(tool_use()), tool_result(is_error=True, tool_result_meta=meta))
        assert talk.tool.status == "denied"

    def test_a_request_before_its_call_makes_the_card(self) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1", "Bash", input={"command": "ls"}, display_name="Bash"))
        assert (talk.tool.name, talk.tool.status, talk.tool.input) == ("Bash", "waiting", {"command": "ls"})
        talk.cli(assistant(tool_use("t1", "Bash", command="ls")))
        assert talk.kinds == ["Tool"]
        assert talk.tool.status == "waiting"


class TestQuestions:
    ASK = question("Which?", "A", "B")

    def ask(self) -> Talk:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1", "AskUserQuestion", **self.ASK)))
        talk.cli(may_i("r1", "t1", "AskUserQuestion", input=self.ASK))
        assert talk.conversation.pending["r1"].kind == "question"
        return talk

    def test_the_card_shows_what_was_chosen(self) -> None:
        talk = self.ask()
        answer = questions.Answer(labels=("A",), notes="quickly")
        talk.answers("r1", questions.answered(questions.parse_questions(self.ASK), [answer]))
        assert (talk.tool.status, talk.tool.decision) == ("running", "answered")
        assert talk.tool.chosen == [("Which?", "A\nquickly")]
        assert talk.tool.input == self.ASK
        talk.cli(tool_result(content="The user answered …"))
        assert talk.tool.status == "done"

    def test_dismissed(self) -> None:
        talk = self.ask()
        talk.answers("r1", questions.dismissed())
        assert (talk.tool.status, talk.tool.decision) == ("denied", "dismissed")

    def test_replied_to_instead(self) -> None:
        talk = self.ask()
        talk.answers("r1", questions.reply_instead("Neither; use a file."))
        assert (talk.tool.decision, talk.tool.reply) == ("replied", "Neither; use a file.")

    def test_refused_because_nobody_could_show_them(self) -> None:
        talk = self.ask()
        talk.answers("r1", questions.unusable("There are none."))
        assert (talk.tool.decision, talk.tool.reply) == ("denied", questions.unusable("There are none.")["message"])

    def test_an_answer_to_questions_of_no_form_is_shown_as_it_was_sent(self) -> None:
        talk = Talk()
        odd = {"questions": []}
        talk.cli(assistant(tool_use("t1", "AskUserQuestion")), may_i("r1", "t1", "AskUserQuestion", input=odd))
        talk.answers("r1", {"behavior": "allow", "updatedInput": {**odd, "answers": {"What?": "This"}}})
        assert talk.tool.chosen == [("What?", "This")]


class TestPlans:
    def ask(self) -> Talk:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1", "ExitPlanMode", plan="# Plan")), may_i("r1", "t1", "ExitPlanMode"))
        assert talk.conversation.pending["r1"].kind == "plan"
        assert talk.tool.input == {"plan": "# Plan"}
        return talk

    def test_approved(self) -> None:
        talk = self.ask()
        talk.answers("r1", permissions.approve_plan({}, "acceptEdits"))
        assert (talk.tool.status, talk.tool.decision) == ("running", "approved")
        assert talk.conversation.permission_mode == "acceptEdits"
        assert talk.tool.input == {"plan": "# Plan"}

    def test_kept(self) -> None:
        talk = self.ask()
        feedback = permissions.keep_planning("Add tests.")
        talk.answers("r1", feedback)
        assert (talk.tool.decision, talk.tool.reply) == ("kept planning", feedback["message"])


class TestInterrupted:
    def test_a_call_whose_turn_was_stopped_was_interrupted(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1"), tool_use("t2")), tool_result("t1"), aborted("aborted_tools"))
        items = [item for item in talk.conversation.items if isinstance(item, ToolItem)]
        assert [item.status for item in items] == ["done", "interrupted"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"tool_result_meta": [{"id": "t1", "non_execution_kind": "user-rejected"}]},
            {"content": "The user doesn't want to proceed with this tool use. The tool use was rejected …"},
            {"content": "Tool permission request failed: AbortError"},
        ],
        ids=["2.1.332", "2.1.76", "2.0.71"],
    )
    def test_the_result_of_a_stopped_call_is_no_failure_with_any_version(self, fields: dict[str, Any]) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), tool_result(is_error=True, **fields))
        assert talk.tool.status == "interrupted"

    def test_a_question_that_was_withdrawn_and_then_failed_was_interrupted(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), may_i("r1", "t1"), cancel("r1"))
        assert talk.tool.status == "running"
        talk.cli(tool_result(content="whatever a new version says", is_error=True))
        assert talk.tool.status == "interrupted"

    def test_a_question_that_was_withdrawn_because_it_is_allowed_now_is_done(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use()), may_i("r1", "t1"), cancel("r1"), tool_result())
        assert talk.tool.status == "done"


class TestSubagents:
    def start(self) -> Talk:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("agent", "Agent", description="Look around", prompt="…")))
        return talk

    def test_their_calls_know_whose_they_are(self) -> None:
        talk = self.start()
        talk.cli(assistant(tool_use("t1", "Bash"), message_id="m2", parent="agent"))
        call = talk.conversation.items[-1]
        assert isinstance(call, ToolItem)
        assert (call.parent_tool_use_id, call.agent) == ("agent", "Look around")

    def test_their_prompt_is_not_the_users_message(self) -> None:
        talk = self.start()
        prompt = {"role": "user", "content": [{"type": "text", "text": "SUBASK please"}]}
        talk.cli({"type": "user", "message": prompt, "parent_tool_use_id": "agent"})
        assert talk.kinds == ["User", "Tool"]

    def test_one_in_the_background_runs_on_after_the_turn_and_gets_its_true_result(self) -> None:
        talk = self.start()
        launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
        talk.cli(system("task_started", task_id="a1", tool_use_id="agent", description="Look around"))
        talk.cli(tool_result("agent", "Async agent launched", tool_use_result=launched))
        talk.cli(assistant(tool_use("t1", "Bash"), message_id="m2", parent="agent"), assistant("ok"), result())
        agent, call = (item for item in talk.conversation.items if isinstance(item, ToolItem))
        assert (agent.status, call.status) == ("running", "running")
        assert talk.conversation.current_tool == ""
        talk.cli(system("task_progress", task_id="a1", description="Running Touch"))
        assert agent.progress == "Running Touch"
        talk.cli(tool_result("t1", parent="agent"))
        talk.cli(system("task_notification", task_id="a1", status="completed", summary="Found two files."))
        assert (agent.status, agent.result_text, agent.progress) == ("done", "Found two files.", "")

    @pytest.mark.parametrize(
        ("status", "shown"), [("failed", "failed"), ("stopped", "interrupted"), ("odd", "interrupted")]
    )
    def test_one_in_the_background_that_does_not_finish_says_so(self, status: str, shown: str) -> None:
        talk = self.start()
        talk.cli(system("task_started", task_id="a1", tool_use_id="agent"))
        talk.cli(tool_result("agent", tool_use_result={"status": "async_launched"}))
        talk.cli(system("task_notification", task_id="a1", tool_use_id="agent", status=status))
        assert talk.tool.status == shown

    def test_one_that_is_waited_for_is_interrupted_with_its_turn(self) -> None:
        talk = self.start()
        talk.cli(assistant(tool_use("t1", "Bash"), message_id="m2", parent="agent"), aborted("aborted_tools"))
        items = [item for item in talk.conversation.items if isinstance(item, ToolItem)]
        assert [item.status for item in items] == ["interrupted", "interrupted"]


class TestTasks:
    def test_a_task_lives_from_its_start_to_its_notification(self) -> None:
        talk = Talk()
        talk.cli(system("task_started", task_id="a1", description="Look", task_type="local_agent"), at=3.0)
        task = talk.conversation.tasks["a1"]
        assert (task.description, task.kind, task.status, task.at) == ("Look", "local_agent", "running", 3.0)
        talk.cli(system("task_progress", task_id="a1", description="Reading"))
        assert task.progress == "Reading"
        talk.cli(system("task_updated", task_id="a1", patch={"status": "completed"}))
        assert task.status == "completed"
        talk.cli(system("task_notification", task_id="a1", status="completed"))
        assert talk.conversation.tasks == {}

    def test_the_set_of_background_tasks_is_replaced(self) -> None:
        talk = Talk()
        talk.cli(system("background_tasks_changed", tasks=[{"task_id": "a"}, {"task_id": "b", "description": "B"}, {}]))
        assert sorted(talk.conversation.tasks) == ["a", "b"]
        talk.cli(system("background_tasks_changed", tasks=[{"task_id": "b"}]))
        assert {key: task.description for key, task in talk.conversation.tasks.items()} == {"b": "B"}
        talk.cli(system("background_tasks_changed", tasks=[]))
        assert talk.conversation.tasks == {}

    def test_a_task_that_is_waited_for_is_not_part_of_that_set(self) -> None:
        talk = Talk()
        talk.cli(system("task_started", task_id="a"), system("background_tasks_changed", tasks=[{"task_id": "b"}]))
        assert sorted(talk.conversation.tasks) == ["a", "b"]
        talk.cli(system("task_updated", task_id="a", patch={"is_backgrounded": True}))
        talk.cli(system("background_tasks_changed", tasks=[]))
        assert talk.conversation.tasks == {}

    def test_a_task_that_is_waited_for_ends_with_its_turn_and_one_in_the_background_does_not(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(
            system("task_started", task_id="a", tool_use_id="t1"), system("task_started", task_id="b", tool_use_id="t2")
        )
        talk.cli(assistant(tool_use("t1", "Agent"), tool_use("t2", "Agent")))
        talk.cli(tool_result("t2", tool_use_result={"status": "async_launched"}), tool_result("t1"), result())
        assert list(talk.conversation.tasks) == ["b"]
