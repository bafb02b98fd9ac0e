"""Requests and tool calls as no CLI should send them: each is shown, can be refused, and is answered once at most."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from protocol.messages import parse_message
from tests.helpers.desk import first_pending, question, texts
from tests.helpers.lies import Wire, emits, goes_on, lie, says, tools
from tests.helpers.sitting import Sitting

RULE = {"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "r" * 300_000}]}  # fmt: skip


def test_results_of_calls_that_nobody_made_show_nothing(sitting: Sitting) -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_nobody", "content": "boo"}
    lie(sitting, *emits({"type": "user", "message": {"role": "user", "content": [block, block]}}))
    assert "boo" not in sitting.person.visible_text()


def test_two_calls_with_one_id_are_one_card(sitting: Sitting) -> None:
    use = {"type": "tool_use", "id": "toolu_same", "name": "Bash", "input": {"command": "ls"}}
    message = {"type": "assistant", "message": {"id": "m1", "content": [use, use]}}
    lie(sitting, *emits(message, message))
    assert len(tools(sitting)) == 1


def test_calls_that_are_each_others_parents_do_not_go_round_for_ever(sitting: Sitting) -> None:
    def use(tool_use_id: str, parent: str | None) -> Wire:
        block = {"type": "tool_use", "id": tool_use_id, "name": "Agent", "input": {"description": tool_use_id}}
        return {"type": "assistant", "message": {"id": tool_use_id, "content": [block]}, "parent_tool_use_id": parent}

    lie(sitting, *emits(use("a", "b"), use("b", "a"), use("c", "c"), use("d", "nobody")))


def test_answers_to_requests_that_were_never_made_and_second_answers_are_ignored(sitting: Sitting) -> None:
    def answer(request_id: Any, **response: Any) -> Wire:
        return {"type": "control_response", "response": {"request_id": request_id, "subtype": "success", **response}}

    again = answer("req_1", response={"commands": [{"name": "lies"}], "models": [{"value": "lies"}]})
    lie(sitting, *emits(answer("req_999"), answer(""), answer(None), answer(5), again, {"type": "control_response"}))
    assert "lies" not in [model.value for model in sitting.opened.conversation.models]


def test_cancelling_what_was_never_asked_does_nothing(sitting: Sitting) -> None:
    lie(sitting, *emits({"type": "control_cancel_request", "request_id": "nobody"}, {"type": "control_cancel_request"}))


def test_a_request_that_comes_twice_with_one_id_is_asked_and_answered_once(sitting: Sitting) -> None:
    sitting.desk.stand_in(
        [{"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}, {"text": "said"}],
        harm="duplicate-requests",
    )

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.click_when_read("allowOnce")
        await goes_on(sitting)  # the stand-in ends at a second answer
        assert [tool.decision for tool in tools(sitting)] == ["allowed once"]
        assert not opened.conversation.pending

    sitting.play(story)


def test_an_answer_in_the_moment_of_the_withdrawal_is_not_sent_and_its_words_are_kept(sitting: Sitting) -> None:
    ask = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True, "withdraw_after": 0.7}
    sitting.desk.stand_in([ask, {"text": "said"}])
    sitting.environment(FAKE_CLI_PACE="1")

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.write("denyReason", "not now")
        dialog = sitting.page.slot.shown
        assert dialog is not None
        # The CLI's word has been read, and the window not told of it yet, while the person presses the button.
        cancel = {"type": "control_cancel_request", "request_id": first_pending(opened)}
        changes = opened.conversation.apply(parse_message(cancel))
        dialog.decide({"behavior": "deny", "message": "not now"})
        opened._on_changes(changes)
        assert opened.recovered == ["not now"]
        assert sitting.page.slot.shown is None
        await sitting.until(lambda: "said" in texts(opened), "the turn went on")

    sitting.play(story)


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "Bash", "input": {}},
        {"tool_name": "Bash", "input": {"command": ["rm", "-rf"]}},
        {"tool_name": "Bash", "input": {"command": "x" * 1_000_000}},
        {"tool_name": "Write", "input": {"file_path": "/a", "content": "y" * 1_000_000}},
        {"tool_name": "Odd", "input": {"text": "z" * 1_000_000, "deep": [[["z" * 100_000]]]}},
        {"tool_name": "W" * 200_000, "input": {"a": "b"}, "display_name": "D" * 200_000, "title": "T" * 200_000},
        {"tool_name": "Bash", "input": {"command": "l1", "description": "d" * 90_000}, "decision_reason": "r" * 90_000},
        {"tool_name": "Bash", "input": {"command": "l2"}, "blocked_path": "/" * 300_000, "agent_id": "a" * 300_000},
        {"tool_name": "Bash", "input": {"command": "l3"}, "permission_suggestions": [RULE, {**RULE, "x": "y" * 9_000}]},
        {"tool_name": "ExitPlanMode", "input": {"plan": "p" * 1_000_000}},
        {"tool_name": "Edit", "input": {"file_path": "a\0b", "old_string": "\ud83d", "new_string": "\ud83d"}},
        {"tool_name": "Edit", "input": {"file_path": "/dev/zero", "old_string": "a", "new_string": "b"}},
        {"tool_name": "Write", "input": {"file_path": "{fifo}", "content": "a"}},
        {"tool_name": "", "input": {"a": 1}},
        {"tool_name": "mcp____", "input": {"a": [[[[{}]]]]}, "mcp_server": 5, "display_name": ["x"]},
        {"tool_name": "ExitPlanMode", "input": {"planFilePath": "{fifo}"}},
        {"tool_name": "ExitPlanMode", "input": {"planFilePath": "a\0b", "plan": 7}},
        {"tool_name": "Bash", "input": {"command": "ls"}, "permission_suggestions": ["all", {}, {"type": 1}] * 30},
        {"tool_name": "Bash", "input": {"command": "ls"}, "title": {}, "description": 1, "agent_id": [], "x": 0},
    ],
    ids=lambda fields: f"{fields['tool_name'][:9]} {str(fields['input'])[:24]}",
)  # fmt: skip
def test_a_request_of_any_form_is_shown_and_can_be_refused(sitting: Sitting, fields: Wire) -> None:
    fifo = sitting.desk.root / "fifo"
    if hasattr(os, "mkfifo"):
        os.mkfifo(fifo)
    fields = json.loads(json.dumps(fields).replace("{fifo}", str(fifo)))
    request = {"subtype": "can_use_tool", "tool_use_id": "toolu_x", **fields}
    sitting.desk.stand_in([{"request": {"subtype": "can_use_tool", **request}, "id": "lie-1"}, {"text": "said"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.until(lambda: sitting.page.slot.shown is not None, "it is shown")
        await sitting.reacts(0.2, longest=1.0)
        shown = sitting.page.slot.shown
        assert shown is not None
        shown.refuse()
        await sitting.until(lambda: "said" in texts(opened), "the turn went on")
        await goes_on(sitting)

    sitting.play(story)


@pytest.mark.logs("Lost exception in answering a request")
def test_an_input_that_json_cannot_say_can_be_refused_and_is_never_allowed_as_something_else(sitting: Sitting) -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Odd", "tool_use_id": "t", "input": {"x": float("nan")}}
    sitting.desk.stand_in([{"request": {"subtype": "x"}, "id": "gone", "wait": False}, {"text": "said"}])
    line = json.dumps({"type": "control_request", "request_id": "nan-1", "request": request})
    sitting.desk.stand_in([{"raw": line}, {"silence": 600}])
    sitting.environment(FAKE_CLI_LENIENT="1")

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.click_when_read("allowOnce")
        assert list(opened.conversation.pending) == ["nan-1"]
        await sitting.person.click_when_read("deny")
        assert not opened.conversation.pending
        assert tools(sitting)[0].decision == "denied"

    sitting.play(story)


@pytest.mark.parametrize("subtype", ["hook_callback", "mcp_message", "future_x", ""])
def test_requests_that_nobody_knows_are_refused_at_once_and_never_shown(sitting: Sitting, subtype: str) -> None:
    lie(
        sitting,
        {"request": {"subtype": subtype, "x": 1}, "as": "asked"},
        {"choose": "asked.decision", "cases": {"error": [{"text": "said"}]}},
    )


def test_a_cleared_conversation_in_mid_question_closes_the_dialog_and_keeps_its_text(sitting: Sitting) -> None:
    asks = question("Which?", "A", "B")
    sitting.desk.stand_in([{"together": [asks, {**asks, "as": "second"}]}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.click("replyInstead")
        await sitting.person.write("replyText", "half a reply")
        says(sitting, {"type": "conversation_reset", "new_conversation_id": "other"})
        await sitting.person.sees_no_more("questionDialog")
        assert opened.recovered == ["half a reply"]
        assert sitting.window.status.text() != ""

    sitting.play(story)
