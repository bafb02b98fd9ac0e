"""What waits for a person, and the user's own messages: queued, begun, folded in, taken back."""

from __future__ import annotations

from typing import Any

import pytest

from protocol import permissions, questions, requests
from protocol.conversation import Change, UserItem
from protocol.messages import Elicitation
from tests.helpers.cli_says import (
    Talk,
    aborted,
    assistant,
    cancel,
    init,
    kinds,
    may_i,
    message_start,
    question,
    result,
    system,
    text_delta,
    told_state,
    tool_result,
    tool_use,
    user_text,
    yes,
)

ALLOW = permissions.allow({})


def lifecycle(uuid: str, state: str) -> dict[str, Any]:
    return {"type": "command_lifecycle", "command_uuid": uuid, "state": state}


class TestPending:
    def test_a_request_waits_with_its_kind_its_time_and_its_card(self) -> None:
        talk = Talk()
        changes = talk.cli(assistant(tool_use("t1")), may_i("r1", "t1"), at=7.0)
        assert Change("pending_added", "r1") in changes
        pending = talk.conversation.pending["r1"]
        assert (pending.kind, pending.at, pending.tool_item_id) == ("permission", 7.0, talk.tool.id)
        assert talk.conversation.state == "requires_action"

    @pytest.mark.parametrize(
        ("tool", "kind"),
        [
            ("AskUserQuestion", "question"),
            ("ExitPlanMode", "plan"),
            ("Bash", "permission"),
            ("mcp__x__y", "permission"),
        ],
    )
    def test_its_kind_is_that_of_its_tool(self, tool: str, kind: str) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1", tool))
        assert talk.conversation.pending["r1"].kind == kind

    @pytest.mark.parametrize(
        ("tool", "result", "reply"),
        [
            ("Bash", permissions.deny("  "), ""),
            ("Bash", permissions.deny("Use rg."), "Use rg."),
            ("ExitPlanMode", permissions.keep_planning(""), ""),
            ("ExitPlanMode", permissions.keep_planning("Smaller steps."), "Smaller steps."),
            ("AskUserQuestion", questions.dismissed(), ""),
        ],
    )
    def test_only_the_persons_own_words_are_shown_as_such(self, tool: str, result: dict[str, Any], reply: str) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use("t1", tool)), may_i("r1", "t1", tool))
        talk.answers("r1", result)
        assert talk.tool.reply == reply

    def test_an_elicitation_waits_without_a_card(self) -> None:
        talk = Talk()
        inner = {"subtype": "elicitation", "mcp_server_name": "demo", "message": "Deploy?"}
        talk.cli({"type": "control_request", "request_id": "r1", "request": inner})
        pending = talk.conversation.pending["r1"]
        assert isinstance(pending.request, Elicitation)
        assert (pending.kind, pending.tool_item_id) == ("elicitation", None)
        assert talk.answers("r1", permissions.accept({})) == [
            Change("pending_removed", "r1", "answered"),
            Change("state"),
        ]

    @pytest.mark.parametrize("subtype", ["hook_callback", "mcp_message", "request_user_dialog", "future_x"])
    def test_a_request_that_this_host_cannot_answer_waits_for_nobody(self, subtype: str) -> None:
        talk = Talk()
        assert talk.cli({"type": "control_request", "request_id": "r1", "request": {"subtype": subtype}}) == []

    def test_several_wait_in_order_of_arrival_and_are_answered_in_any(self) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1"), may_i("r2", "t2"), may_i("r3", "t3"))
        assert list(talk.conversation.pending) == ["r1", "r2", "r3"]
        assert Change("pending_removed", "r2", "answered") in talk.answers("r2", ALLOW)
        assert list(talk.conversation.pending) == ["r1", "r3"]
        assert talk.conversation.state == "requires_action"

    def test_the_same_request_twice_waits_once(self) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1"))
        assert talk.cli(may_i("r1", "t1")) == []

    def test_one_that_the_cli_takes_back_is_withdrawn_and_a_late_answer_changes_nothing(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(may_i("r1", "t1"), may_i("r2", "t2"))
        assert Change("pending_removed", "r1", "withdrawn") in talk.cli(cancel("r1"))
        assert list(talk.conversation.pending) == ["r2"]
        assert talk.answers("r1", ALLOW) == []

    def test_taking_back_what_is_not_there_changes_nothing(self) -> None:
        assert Talk().cli(cancel("stranger")) == []

    def test_one_whose_tool_has_its_result_is_withdrawn_because_old_clis_do_not_say_so(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use("t1")), may_i("r1", "t1"))
        changes = talk.cli(tool_result("t1", "Tool permission stream closed", is_error=True))
        assert Change("pending_removed", "r1", "withdrawn") in changes
        assert talk.tool.status == "interrupted"

    def test_the_end_of_the_turn_withdraws_what_the_main_conversation_asked(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1")), may_i("r1", "t1"), may_i("r2", "t2", agent_id="a1"))
        assert Change("pending_removed", "r1", "withdrawn") in talk.cli(aborted())
        assert list(talk.conversation.pending) == ["r2"]
        assert talk.conversation.state == "requires_action"

    def test_what_still_waited_before_a_reconnect_waits_again(self) -> None:
        talk = Talk(handshake=False)
        talk.sends(requests.control_request("q", requests.initialize()))
        again = {"request_id": "r1", "request": may_i("r1", "t1")["request"]}
        talk.cli(yes("q", {"pending_permission_requests": [again, {"odd": 1}]}))
        assert list(talk.conversation.pending) == ["r1"]

    def test_it_runs_again_once_the_answer_is_sent(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(told_state("running"), told_state("requires_action"), may_i("r1", "t1"))
        talk.answers("r1", ALLOW)
        assert talk.conversation.state == "running"

    def test_a_cli_that_says_it_needs_somebody_is_believed_before_the_request_comes(self) -> None:
        talk = Talk()
        talk.cli(told_state("requires_action"))
        assert talk.conversation.state == "requires_action"


class TestWhoAsks:
    def test_a_subagent_is_named_by_what_it_was_told(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use("agent", "Task", description="Look around", prompt="…")))
        talk.cli(assistant(tool_use("t1", "Bash"), message_id="m2", parent="agent"))
        talk.cli(may_i("r1", "t1", agent_id="a69167e"))
        assert talk.conversation.pending["r1"].agent == "Look around"

    def test_a_subagent_whose_call_was_never_seen_is_named_by_its_task(self) -> None:
        talk = Talk()
        talk.cli(system("task_started", task_id="a1", description="Look around"), may_i("r1", "t1", agent_id="a1"))
        assert talk.conversation.pending["r1"].agent == "Look around"
        assert talk.tool.agent == "Look around"

    def test_a_subagent_that_nobody_knows_is_named_by_its_id(self) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1", agent_id="a1"))
        assert talk.conversation.pending["r1"].agent == "a1"

    def test_the_main_conversation_needs_no_name(self) -> None:
        talk = Talk()
        talk.cli(may_i("r1", "t1"))
        assert talk.conversation.pending["r1"].agent == ""


class TestTheUsersMessages:
    def test_one_sent_while_idle_is_begun_and_completed(self) -> None:
        talk = Talk()
        talk.user("hello")
        assert talk.messages == {"hello": "sent"}
        talk.cli(init())
        assert talk.messages == {"hello": "started"}
        talk.cli(result())
        assert talk.messages == {"hello": "completed"}

    def test_its_words_and_pictures_are_shown(self) -> None:
        talk = Talk()
        blocks = [
            requests.text_block("what is this"),
            requests.image_block(b"x", "image/png"),
            requests.text_block("?"),
        ]
        talk.sends(requests.user_message(blocks, uuid="u1"))
        item = talk.only(UserItem)
        assert (item.text, item.uuid) == ("what is this\n\n?", "u1")
        assert [(image.media_type, image.data) for image in item.images] == [("image/png", "eA==")]

    def test_a_new_cli_tells_what_becomes_of_each(self) -> None:
        talk = Talk()
        talk.user("one", "u1")
        talk.cli(lifecycle("u1", "queued"), lifecycle("u1", "started"), init(), message_start(), text_delta("word"))
        talk.user("two", "u2")
        talk.user("three", "u3")
        talk.cli(lifecycle("u2", "queued"), lifecycle("u3", "queued"))
        assert talk.messages == {"one": "started", "two": "queued", "three": "queued"}
        talk.cli(lifecycle("u3", "cancelled"), result(), lifecycle("u1", "completed"))
        assert talk.messages == {"one": "completed", "two": "queued", "three": "cancelled"}
        assert talk.conversation.state == "running"
        talk.cli(lifecycle("u2", "started"), init(), assistant("hi"), result(), lifecycle("u2", "completed"))
        assert talk.messages["two"] == "completed"
        assert talk.conversation.state == "idle"

    def test_an_old_cli_gives_one_sent_in_mid_turn_a_turn_of_its_own(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.user("two")
        assert talk.messages == {"one": "started", "two": "queued"}
        talk.cli(result())
        assert talk.messages == {"one": "completed", "two": "sent"}
        talk.cli(init())
        assert talk.messages == {"one": "completed", "two": "started"}
        assert talk.conversation.state == "running"

    def test_one_that_waited_moves_below_the_turn_that_it_waited_for(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.user("two")
        talk.cli(assistant("answer to one"), result())
        assert talk.kinds == ["User", "User", "Text", "TurnEnd"]
        two = talk.conversation.items[1]
        changes = talk.cli(init())
        assert talk.kinds == ["User", "Text", "TurnEnd", "User"]
        assert changes[:2] == [Change("item_removed", two.id), Change("item_added", two.id)]
        assert talk.conversation.index_of(two.id) == 3

    def test_one_sent_during_a_question_is_folded_into_the_turn_and_the_cli_says_so(self) -> None:
        talk = Talk()
        talk.user("one", "u1")
        ask = question()
        talk.cli(lifecycle("u1", "started"), init(), assistant(tool_use("t1", "AskUserQuestion", **ask)))
        talk.cli(may_i("r1", "t1", "AskUserQuestion", input=ask))
        talk.user("by the way", "u2")
        talk.cli(lifecycle("u2", "queued"))
        assert talk.messages["by the way"] == "queued"
        answer = questions.Answer(labels=("A",))
        talk.answers("r1", questions.answered(questions.parse_questions(ask), [answer]))
        talk.cli(tool_result("t1"), lifecycle("u2", "started"))
        assert talk.messages["by the way"] == "started"
        talk.cli(assistant("both"), lifecycle("u2", "completed"), result(), lifecycle("u1", "completed"))
        assert talk.messages == {"one": "completed", "by the way": "completed"}
        assert talk.conversation.state == "idle"

    def test_one_that_an_old_cli_folded_in_silently_is_completed_when_the_next_is_sent(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.user("by the way")
        talk.cli(assistant("both"), result())
        assert talk.messages["by the way"] == "sent"
        talk.user("next")
        assert talk.messages == {"one": "completed", "by the way": "completed", "next": "sent"}

    def test_one_that_was_taken_back_is_cancelled_also_where_only_the_reply_tells(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.user("two", "u2")
        talk.sends(requests.control_request("q", requests.cancel_async_message("u2")))
        talk.cli(yes("q", {"cancelled": True}))
        assert talk.messages["two"] == "cancelled"

    def test_one_that_was_too_late_to_take_back_goes_on(self) -> None:
        talk = Talk()
        talk.user("one", "u1")
        talk.sends(requests.control_request("q", requests.cancel_async_message("u1")))
        talk.cli(yes("q", {"cancelled": False}))
        assert talk.messages["one"] == "sent"

    def test_one_whose_turn_was_stopped_was_not_taken_back(self) -> None:
        talk = Talk()
        talk.user("one", "u1")
        talk.cli(lifecycle("u1", "started"), init(), aborted(), lifecycle("u1", "cancelled"))
        assert talk.messages["one"] == "completed"

    @pytest.mark.parametrize("value", [lifecycle("stranger", "started"), lifecycle("u1", "levitating")])
    def test_news_of_strangers_and_unknown_states_change_nothing(self, value: dict[str, Any]) -> None:
        talk = Talk()
        talk.user("one", "u1")
        assert talk.cli(value) == []

    def test_a_replay_says_that_its_message_was_taken_up(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.user("two", "u2")
        replay = user_text("rewritten by the CLI", isReplay=True, uuid="u2")
        talk.cli(replay)
        assert talk.messages == {"one": "started", "two": "started"}

    def test_a_replay_without_our_uuid_is_found_by_its_text(self) -> None:
        talk = Talk()
        talk.user("one")
        talk.user("two")
        talk.cli(user_text("two", isReplay=True, uuid="the CLI's own"))
        assert talk.messages == {"one": "sent", "two": "started"}

    def test_a_late_replay_of_what_runs_already_changes_nothing(self) -> None:
        talk = Talk()
        talk.begins("one")
        assert talk.cli(user_text("one", isReplay=True, uuid="the CLI's own")) == []

    def test_a_replay_that_the_cli_rewrote_is_that_of_the_oldest_that_waits(self) -> None:
        talk = Talk()
        talk.user("@file what is this")
        talk.cli(user_text("what is this", isReplay=True))
        assert talk.messages == {"@file what is this": "started"}

    def test_another_clients_message_is_shown(self) -> None:
        talk = Talk()
        talk.cli(user_text("from the phone", isReplay=True))
        assert talk.messages == {"from the phone": "started"}

    @pytest.mark.parametrize(
        "value",
        [
            user_text("Base directory for this skill: …", isSynthetic=True),
            user_text("<task-notification>…</task-notification>", isReplay=True),
            user_text("<command-name>/context</command-name>", isReplay=True),
            user_text("[Request interrupted by user]"),
            user_text("[Request interrupted by user for tool use]"),
            user_text("said to the model in the user's name"),
        ],
    )
    def test_what_nobody_typed_is_not_shown_as_the_users(self, value: dict[str, Any]) -> None:
        talk = Talk()
        talk.cli(value)
        assert talk.kinds == []


class TestLocalCommands:
    def test_their_output_is_shown(self) -> None:
        talk = Talk()
        talk.begins("/context")
        talk.cli(
            user_text("<local-command-stdout>## Context\n\n| a | b |</local-command-stdout>", isReplay=True), result()
        )
        assert talk.texts == ["## Context\n\n| a | b |"]

    def test_output_that_was_cut_is_shown_too(self) -> None:
        talk = Talk()
        talk.cli(user_text("<local-command-stdout>## Context …", isReplay=True))
        assert talk.texts == ["## Context …"]

    def test_their_errors_are_notices(self) -> None:
        talk = Talk()
        talk.cli(user_text("<local-command-stderr>Error: no {such} file</local-command-stderr>", isReplay=True))
        assert talk.notices == ["error"]
        assert talk.conversation.items[0].values == {"message": "Error: no {such} file"}  # type: ignore[attr-defined]

    @pytest.mark.parametrize("output", ["", "Compacted ", "\n"])
    def test_output_that_says_nothing_new_is_not_shown(self, output: str) -> None:
        talk = Talk()
        talk.cli(user_text(f"<local-command-stdout>{output}</local-command-stdout>", isReplay=True))
        assert talk.kinds == []


class TestClearing:
    def test_a_cleared_conversation_starts_anew(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.cli(assistant("hi", tool_use("t1")), may_i("r1", "t1"), result())
        talk.user("/clear", "u2")
        reset = {"type": "conversation_reset", "new_conversation_id": "s2", "user_message_uuid": "u2"}
        changes = talk.cli(reset)
        assert "items_reset" in kinds(changes)
        assert (talk.kinds, talk.notices) == (["Notice"], ["info"])
        assert talk.conversation.session_id == "s2"
        talk.cli(init(session_id="s2"), result())
        assert talk.conversation.state == "idle"

    def test_a_host_that_tells_changes_in_batches_never_tells_of_an_item_that_is_gone(self) -> None:
        talk = Talk()
        talk.begins("one")
        batch = talk.cli(assistant("hi", tool_use("t1")), {"type": "conversation_reset"}, assistant("again"))
        told = talk.conversation.current(batch)
        added = [change.id for change in told if change.kind == "item_added"]
        assert len([change for change in batch if change.kind == "item_added"]) > len(added)
        assert [talk.conversation.item(item_id).id for item_id in added] == added
        assert "items_reset" in kinds(told)

    def test_messages_that_wait_survive_it(self) -> None:
        talk = Talk()
        talk.user("/clear", "u1")
        talk.cli(lifecycle("u1", "started"))
        talk.user("next", "u2")
        talk.cli(lifecycle("u2", "queued"), {"type": "conversation_reset", "user_message_uuid": "u1"})
        assert talk.messages == {"next": "queued"}
        talk.cli(lifecycle("u2", "started"))
        assert talk.messages == {"next": "started"}

    def test_a_cli_that_does_not_tell_is_found_out_by_its_new_session_id(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.cli(assistant("hi"), result())
        talk.user("/clear the-next-one")
        talk.cli(init(session_id="s2"), assistant("(no content)"), result())
        assert talk.kinds == ["Notice", "TurnEnd"]

    def test_a_new_session_id_alone_clears_nothing(self) -> None:
        talk = Talk()
        talk.begins("one")
        talk.cli(assistant("hi"), result())
        talk.user("go on")
        talk.cli(init(session_id="s2"))
        assert talk.kinds == ["User", "Text", "TurnEnd", "User"]

    def test_late_news_of_what_was_cleared_away_does_nothing(self) -> None:
        talk = Talk()
        talk.cli(init(), assistant(tool_use("t1")), {"type": "conversation_reset"})
        talk.cli(tool_result("t1"))
        assert talk.kinds == ["Notice"]
