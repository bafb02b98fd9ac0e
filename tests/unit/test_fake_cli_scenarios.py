"""What a scenario can make the stand-in do, step by step."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_cli import FakeCli, write_json, write_scenario

STATES = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
COLOUR = [
    {"question": "Colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}], "multiSelect": False}
]
LS: dict[str, Any] = {"tool": "Bash", "input": {"command": "ls"}, "result": "a\nb", "ask": True}


def tool_results(cli: FakeCli) -> list[Any]:
    contents = [message["message"]["content"] for message in cli.of_type("user")]
    return [content[0]["content"] for content in contents if content[0]["type"] == "tool_result"]


# Turns


def test_without_a_scenario_it_echoes() -> None:
    with FakeCli() as cli:
        cli.initialize()
        cli.say("hello 😀")
        assert cli.result()["result"] == cli.streamed() == "echo: hello 😀"


def test_turns_are_taken_in_order_and_by_pattern(tmp_path: Path) -> None:
    scenario = write_json(
        tmp_path,
        {
            "turns": [
                [{"text": "first"}],
                {"when": "^deploy", "steps": [{"text": "deploying"}]},
                {"when": "once", "once": True, "steps": [{"text": "only once"}]},
                [{"text": "second"}],
            ],
            "otherwise": [{"text": "nothing left for ${user}"}],
        },
    )
    with FakeCli(scenario=scenario, partial=False) as cli:
        said = ["a", "deploy it", "once", "once", "deploy it", "b"]
        for number, text in enumerate(said):
            cli.say(text)
            cli.result(number)
    expected = ["first", "deploying", "only once", "second", "deploying", "nothing left for b"]
    assert [result["result"] for result in cli.of_type("result")] == expected


def test_later_steps_can_tell_of_earlier_outcomes(tmp_path: Path) -> None:
    steps = [
        {"question": COLOUR, "as": "colour"},
        {"choose": "colour.answers.0", "cases": {"Blue": [{"text": "blue it is"}], "*": [{"text": "not blue"}]}},
        {**LS, "as": "ls"},
        {"choose": "ls.decision", "cases": {"denied": [{"text": "because: ${ls.message}"}]}},
        {"text": "${nobody.knows|a default}"},
    ]
    with FakeCli(scenario=write_scenario(tmp_path, steps), partial=False) as cli:
        cli.say("go")
        cli.allow(cli.next_request(), answers={"Colour?": "Blue"})
        cli.deny(cli.next_request(number=1), "too early")
        cli.result()
    assert cli.texts() == ["blue it is", "because: too early", "a default"]


def test_steps_can_be_repeated(tmp_path: Path) -> None:
    with FakeCli(scenario=write_scenario(tmp_path, [{"repeat": 3, "steps": [{"text": "${i}"}]}])) as cli:
        cli.say("go")
        cli.result()
    assert cli.texts() == ["0", "1", "2"]


def test_text_comes_at_the_pace_that_was_asked_for(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, [{"text": "x" * 100, "pace": 200, "chunk": 10}])
    with FakeCli(scenario=scenario, pace=1) as cli:
        began = time.monotonic()
        cli.say("go")
        cli.result()
        assert time.monotonic() - began >= 0.45
    deltas = [m for m in cli.of_type("stream_event") if m["event"]["type"] == "content_block_delta"]
    assert len(deltas) == 10


# Tools


def test_results_have_the_form_of_the_tool(tmp_path: Path) -> None:
    edit = {"file_path": "/a.py", "old_string": "one\ntwo", "new_string": "one\n2"}
    steps = [
        {"tool": "Read", "input": {"file_path": "/a.py"}, "result": "one\ntwo"},
        {"tool": "Edit", "input": edit, "line": 12},
        {"tool": "Bash", "input": {"command": "true"}},
        {"tool": "Write", "input": {"file_path": "/b.py", "content": "x"}},
        {"todos": [["completed", "Read"], ["pending", "Write"]]},
    ]
    with FakeCli(scenario=write_scenario(tmp_path, steps), partial=False) as cli:
        cli.say("go")
        cli.result()
    structured = [m["tool_use_result"] for m in cli.of_type("user")]
    assert tool_results(cli)[0] == "     1→one\n     2→two"
    assert structured[0]["file"]["content"] == "one\ntwo"
    assert structured[1]["structuredPatch"][0]["lines"] == [" one", "-two", "+2"]
    assert structured[1]["structuredPatch"][0]["oldStart"] == 12
    assert (tool_results(cli)[2], structured[2]["noOutputExpected"]) == ("(Bash completed with no output)", True)
    assert structured[3]["type"] == "create"
    assert [todo["status"] for todo in structured[4]["newTodos"]] == ["completed", "pending"]


def test_a_tool_can_return_a_picture_and_an_error(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    steps = [
        {"tool": "Read", "input": {"file_path": "/a.png"}, "result": [picture]},
        {"tool": "Bash", "input": {"command": "false"}, "result": "Exit code 1", "is_error": True},
    ]
    with FakeCli(scenario=write_scenario(tmp_path, steps), partial=False) as cli:
        cli.say("go")
        cli.result()
    assert tool_results(cli) == [[picture], "Exit code 1"]
    assert cli.of_type("user")[1]["message"]["content"][0]["is_error"] is True


def test_a_long_tool_reports_its_progress(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, [{"tool": "Bash", "input": {"command": "make"}, "takes": 3, "progress": True}])
    with FakeCli(scenario=scenario) as cli:
        cli.say("go")
        cli.result()
    assert [m["elapsed_time_seconds"] for m in cli.of_type("tool_progress")] == [1, 2]


def test_an_always_holds_for_the_same_command_afterwards(tmp_path: Path) -> None:
    rule = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "allow",
            "destination": "localSettings"}  # fmt: skip
    step = {**LS, "ask": {"permission_suggestions": [rule]}}
    with FakeCli(scenario=write_scenario(tmp_path, [step, step, {"text": "done"}])) as cli:
        cli.say("go")
        request = cli.next_request()
        body = {"behavior": "allow", "updatedInput": request["request"]["input"], "updatedPermissions": [rule]}
        cli.reply(request, body)
        assert cli.result()["result"] == "done"
        assert cli.ask("list_permission_rules")["response"]["state"]["rules"] == rule["rules"]
    assert len(cli.requests()) == 1


def test_the_mode_decides_who_is_asked(tmp_path: Path) -> None:
    edit = {"tool": "Edit", "input": {"file_path": "/a", "old_string": "a", "new_string": "b"}, "ask": True}
    steps = [{"mode": "acceptEdits"}, edit, {**LS, "as": "ls"}, {"mode": "bypassPermissions"}, LS]
    with FakeCli(scenario=write_scenario(tmp_path, steps)) as cli:
        cli.say("go")
        cli.allow(cli.next_request())
        cli.result()
    assert [request["request"]["tool_name"] for request in cli.requests()] == ["Bash"]


def test_two_requests_can_be_open_at_once_and_be_answered_in_any_order(tmp_path: Path) -> None:
    steps = [{"together": [{"question": COLOUR, "as": "q"}, {**LS, "as": "ls"}]}, {"text": "${q.answers.0}"}]
    with FakeCli(scenario=write_scenario(tmp_path, steps)) as cli:
        cli.say("go")
        question, command = cli.next_request(), cli.next_request(number=1)
        cli.allow(command)
        cli.wait_until(lambda: "a\nb" in tool_results(cli))
        cli.allow(question, answers={"Colour?": "Red"})
        assert cli.result()["result"] == "Red"
    messages = {m["message"]["id"] for m in cli.of_type("assistant")[:2]}
    assert len(messages) == 1


def test_a_request_can_be_taken_back(tmp_path: Path) -> None:
    steps = [{"question": COLOUR, "withdraw_after": 0.2, "as": "q"}, {"text": "${q.decision}"}]
    with FakeCli(scenario=write_scenario(tmp_path, steps)) as cli:
        cli.say("go")
        request = cli.next_request()
        assert cli.result()["result"] == "withdrawn"
        cli.allow(request, answers={"Colour?": "Red"})  # too late, and no fault of the host
        cli.say("still there?")
        assert cli.result(1)["result"] == "echo: still there?"
    assert [m["request_id"] for m in cli.of_type("control_cancel_request")] == [request["request_id"]]


@pytest.mark.parametrize(
    ("within", "shown"),
    [
        ("tool_use", {}),
        ("input", {"plan": "# P"}),
        ("file", {"planFilePath": "/home/user/.claude/plans/quirky-tide.md"}),
    ],
)
def test_a_plan_can_be_in_three_places(tmp_path: Path, within: str, shown: dict[str, str]) -> None:
    with FakeCli(scenario=write_scenario(tmp_path, [{"plan": "# P", "within": within}])) as cli:
        cli.say("go")
        request = cli.next_request()
        assert request["request"]["input"] == shown
        assert cli.of_type("assistant")[0]["message"]["content"][0]["input"] == {"plan": "# P"}
        cli.deny(request, "not yet")
        cli.result()


def test_a_question_can_be_put_in_a_form_that_no_cli_should_send(tmp_path: Path) -> None:
    raw = {"questions": '["not", "a", "list"]'}
    with FakeCli(scenario=write_scenario(tmp_path, [{"question": [], "raw": raw}])) as cli:
        cli.say("go")
        request = cli.next_request()
        assert request["request"]["input"] == raw
        cli.deny(request, "unusable")
        assert cli.result()["permission_denials"][0]["tool_input"] == raw


def test_a_url_elicitation_carries_its_address(tmp_path: Path) -> None:
    step = {"elicitation": "Sign in", "url": "https://example.com/login"}
    with FakeCli(scenario=write_scenario(tmp_path, [step])) as cli:
        cli.say("go")
        request = cli.next_request("elicitation")
        assert (request["request"]["mode"], request["request"]["url"]) == ("url", "https://example.com/login")
        cli.reply(request, {"action": "accept"})
        cli.result()


# Subagents


def test_a_subagent_asks_in_its_own_name_and_reports_back(tmp_path: Path) -> None:
    agent = {"agent": "Look around", "steps": [{"text": "looking"}, {"question": COLOUR, "as": "q"}],
             "result": "They like ${q.answers.0}.", "as": "agent"}  # fmt: skip
    with FakeCli(scenario=write_scenario(tmp_path, [agent, {"text": "${agent.result}"}])) as cli:
        cli.say("go")
        request = cli.next_request()
        started = cli.of_type("system", subtype="task_started")[0]
        assert request["request"]["agent_id"] == started["task_id"]
        cli.allow(request, answers={"Colour?": "Red"})
        assert cli.result()["result"] == "They like Red."
    parents = {m["parent_tool_use_id"] for m in cli.of_type("assistant")}
    assert parents == {None, started["tool_use_id"]}
    assert cli.of_type("system", subtype="task_notification")[0]["status"] == "completed"


def test_a_subagent_in_the_background_outlives_its_turn(tmp_path: Path) -> None:
    agent = {"agent": "Slow", "background": True, "steps": [LS], "after": [{"text": "my helper is done"}]}
    scenario = write_scenario(tmp_path, [agent, {"text": "meanwhile"}])
    with FakeCli(scenario=scenario, env=STATES) as cli:
        cli.say("go")
        assert cli.result()["result"] == "meanwhile"
        cli.say("and I go on")
        assert cli.result(1)["result"] == "echo: and I go on"
        cli.allow(cli.next_request())
        last = cli.result(2)
        assert (last["result"], last["origin"]["kind"]) == ("my helper is done", "task-notification")
        cli.wait_for(lambda m: m.get("state") == "idle")


def test_a_subagent_can_be_stopped_by_name(tmp_path: Path) -> None:
    agent = {"agent": "Slow", "background": True, "steps": [LS]}
    with FakeCli(scenario=write_scenario(tmp_path, [agent])) as cli:
        cli.initialize(perTaskStopAffordance=True)
        cli.say("go")
        request = cli.next_request()
        cli.ask("stop_task", task_id=request["request"]["agent_id"])
        cli.wait_for(lambda m: m.get("subtype") == "task_notification" and m["status"] == "stopped")
    assert [m["request_id"] for m in cli.of_type("control_cancel_request")] == [request["request_id"]]


# Stop, queue, withdraw


def test_a_stop_keeps_or_ends_background_agents_as_the_host_asked_at_the_start(tmp_path: Path) -> None:
    agent = {"agent": "Slow", "background": True, "steps": [LS], "after": [{"text": "done"}]}
    for keeps in (True, False):
        scenario = write_scenario(tmp_path, [agent, {"silence": 60}])
        with FakeCli(scenario=scenario, exit_code=0 if keeps else 1) as cli:
            cli.initialize(perTaskStopAffordance=keeps)
            cli.say("go")
            request = cli.next_request()
            cli.ask("interrupt")
            cli.result()
            if keeps:
                cli.allow(request)
                assert cli.result(1)["result"] == "done"
            else:
                cli.wait_for(lambda m: m.get("subtype") == "task_notification" and m["status"] == "stopped")


def test_a_stop_that_comes_with_the_message_still_ends_with_a_result(tmp_path: Path) -> None:
    with FakeCli(scenario=write_scenario(tmp_path, [{"silence": 60}]), exit_code=1) as cli:
        cli.say("go")
        cli.request("interrupt")
        assert cli.result()["terminal_reason"] == "aborted_streaming"


def test_a_deny_that_stops_takes_the_other_request_back_as_well(tmp_path: Path) -> None:
    steps = [{"together": [{"question": COLOUR}, LS]}, {"text": "never said"}]
    with FakeCli(scenario=write_scenario(tmp_path, steps), exit_code=1) as cli:
        cli.say("go")
        question = cli.next_request()
        cli.deny(cli.next_request(number=1), "Stop.", interrupt=True)
        assert cli.result()["terminal_reason"] == "aborted_tools"
    assert [m["request_id"] for m in cli.of_type("control_cancel_request")] == [question["request_id"]]
    assert len(tool_results(cli)) == 2


def test_a_message_during_a_question_is_folded_into_the_turn(tmp_path: Path) -> None:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    with FakeCli(scenario=write_scenario(tmp_path, [{"question": COLOUR}, {"text": "heard: ${folded}"}])) as cli:
        cli.say("go", uuid=first)
        request = cli.next_request()
        cli.say("by the way", uuid=second)
        cli.wait_for(lambda m: m.get("command_uuid") == second)
        cli.allow(request, answers={"Colour?": "Red"})
        result = cli.result()
        cli.wait_for(lambda m: m.get("command_uuid") == second and m["state"] == "completed")
    assert (result["result"], result["user_message_uuids"]) == ("heard: by the way", [first, second])
    assert len(cli.of_type("result")) == 1


def test_a_queued_message_can_be_withdrawn_until_its_turn_begins(tmp_path: Path) -> None:
    running, waiting = str(uuid.uuid4()), str(uuid.uuid4())
    with FakeCli(scenario=write_scenario(tmp_path, [{"silence": 1}, {"text": "done"}])) as cli:
        cli.say("go", uuid=running)
        cli.say("later", uuid=waiting)
        assert cli.ask("cancel_async_message", message_uuid=running)["response"] == {"cancelled": False}
        assert cli.ask("cancel_async_message", message_uuid=waiting)["response"]["cancelled"] is True
        assert cli.result()["result"] == "done"
    states = [m["state"] for m in cli.of_type("command_lifecycle", command_uuid=waiting)]
    assert states == ["queued", "cancelled"]


def test_a_stop_can_drop_the_queue_as_well(tmp_path: Path) -> None:
    with FakeCli(scenario=write_scenario(tmp_path, [{"silence": 60}]), exit_code=1) as cli:
        cli.say("go", uuid=str(uuid.uuid4()))
        cli.say("later", uuid=str(uuid.uuid4()))
        cli.wait_for(lambda m: m.get("subtype") == "init")
        assert cli.ask("interrupt", cancel_queued=True)["response"] == {"still_queued": []}
        cli.result()


# What the CLI tells about itself


def test_states_are_reported_only_to_hosts_that_read_them(tmp_path: Path) -> None:
    for env, expected in ((STATES, ["running", "requires_action", "running", "idle"]), ({}, [])):
        with FakeCli(scenario=write_scenario(tmp_path, [LS]), env=env) as cli:
            cli.say("go")
            cli.allow(cli.next_request())
            cli.result()
        assert [m["state"] for m in cli.of_type("system", subtype="session_state_changed")] == expected


def test_it_tells_of_compacting_limits_titles_and_suggestions(tmp_path: Path) -> None:
    steps = [{"compact": 2}, {"rate_limit": {"status": "allowed_warning", "utilization": 0.9}, "resets_in": 60},
             {"title": "A title"}, {"suggest": "Go on"}, {"usage": 1000}]  # fmt: skip
    with FakeCli(scenario=write_scenario(tmp_path, steps)) as cli:
        cli.initialize(promptSuggestions=True)
        before = cli.ask("get_context_usage")["response"]["totalTokens"]
        cli.say("go")
        cli.result()
        assert cli.ask("get_context_usage")["response"]["totalTokens"] >= before + 1000
    assert [m["status"] for m in cli.of_type("system", subtype="status")] == ["compacting", None]
    assert cli.of_type("system", subtype="compact_boundary")
    assert cli.of_type("rate_limit_event")[0]["rate_limit_info"]["resetsAt"] > time.time()
    assert cli.of_type("system", subtype="session_title_changed")[0]["title"] == "A title"
    assert cli.of_type("prompt_suggestion")[0]["suggestion"] == "Go on"


@pytest.mark.parametrize(("command", "composed", "echoed"), [("/cost", False, False), ("/cost", True, True)])
def test_slash_commands_run_unless_the_message_is_composed(command: str, composed: bool, echoed: bool) -> None:
    with FakeCli() as cli:
        cli.say(command, client_composed=composed)
        assert (cli.result()["result"] == f"echo: {command}") is echoed


def test_clear_begins_a_new_conversation() -> None:
    with FakeCli() as cli:
        cli.say("/clear")
        cli.result()
        reset = cli.of_type("conversation_reset")[0]
        cli.say("hi")
        assert cli.result(1)["session_id"] == reset["new_conversation_id"]


def test_conversations_can_be_kept_and_resumed(tmp_path: Path) -> None:
    scenario = write_json(tmp_path, [[{"text": "one"}], [{"text": "two"}]])
    env = {"FAKE_CLI_SESSIONS": str(tmp_path / "kept")}
    with FakeCli(scenario=scenario, env=env) as cli:
        cli.say("go")
        first = cli.result()
    with FakeCli("--resume", first["session_id"], scenario=scenario, env=env) as cli:
        cli.say("go on")
        result = cli.result()
    assert (result["result"], result["session_id"]) == ("two", first["session_id"])
