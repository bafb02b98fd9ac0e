"""What Claude says, as it streams and as it is told again; turns, their states and their ends."""

from __future__ import annotations

import time
from typing import Any

import pytest

from protocol.conversation import Change, Conversation, NoticeItem, TextItem, ThinkingItem, ToolItem, TurnEndItem
from protocol.messages import parse_message
from tests.helpers.cli_says import (
    Talk,
    assistant,
    block_start,
    block_stop,
    event,
    init,
    json_delta,
    kinds,
    message_start,
    message_stop,
    result,
    status,
    system,
    text_delta,
    thinking,
    thinking_delta,
    told_state,
    tool_result,
    tool_use,
    user_text,
    yes,
)


class TestWords:
    def test_deltas_and_then_the_same_text_are_shown_once(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0), text_delta("EC"), text_delta("HO"), assistant("ECHO"), block_stop())
        assert talk.texts == ["ECHO"]

    def test_they_grow_with_each_delta_and_stop_streaming_with_the_whole(self) -> None:
        talk = Talk()
        assert kinds(talk.cli(message_start(), block_start(0), text_delta("EC"))) == ["state", "state", "item_added"]
        item = talk.only(TextItem)
        assert (item.text, item.streaming, item.revision) == ("EC", True, 1)
        assert talk.cli(text_delta("HO")) == [Change("item_changed", item.id)]
        assert (item.text, item.streaming, item.revision) == ("ECHO", True, 2)
        talk.cli(assistant("ECHO"))
        assert (item.text, item.streaming) == ("ECHO", False)

    def test_the_whole_text_wins_where_it_differs(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0), text_delta("ECH"), assistant("ECHO"), text_delta("O!"), block_stop())
        assert talk.texts == ["ECHO"]

    def test_without_partial_messages_they_come_whole(self) -> None:
        talk = Talk()
        talk.cli(assistant("one"), assistant("two"))
        assert talk.texts == ["one", "two"]

    def test_several_blocks_of_one_message_are_items_of_their_own_in_their_order(self) -> None:
        talk = Talk()
        talk.cli(
            message_start(),
            *(block_start(0, "thinking"), thinking_delta("hm"), assistant(thinking("hm")), block_stop(0)),
            *(block_start(1), text_delta("first"), assistant("first"), block_stop(1)),
            *(block_start(2, "tool_use", id="t1", name="Bash"), json_delta("{}", 2)),
            *(assistant(tool_use("t1")), block_stop(2)),
            *(block_start(3), text_delta("second", 3), assistant("second"), block_stop(3), message_stop()),
        )
        assert talk.kinds == ["Thinking", "Text", "Tool", "Text"]
        assert (talk.thoughts, talk.texts) == (["hm"], ["first", "second"])

    def test_one_message_with_all_its_blocks_confirms_them_all(self) -> None:
        talk = Talk()
        talk.cli(message_start(), thinking_delta("hm"), text_delta("a", 1), text_delta("b", 2))
        talk.cli(assistant(thinking("hm"), "a", "b"))
        assert (talk.thoughts, talk.texts) == (["hm"], ["a", "b"])

    def test_deltas_without_a_start_are_shown_all_the_same(self) -> None:
        talk = Talk()
        talk.cli(text_delta("EC"), text_delta("HO"), assistant("ECHO", message_id="made up by a gateway"))
        assert talk.texts == ["ECHO"]

    def test_another_message_is_another_text_even_if_nothing_of_it_streamed(self) -> None:
        talk = Talk()
        talk.cli(message_start("m1"), text_delta("one"), assistant("two", message_id="m2"))
        assert talk.texts == ["one", "two"]

    def test_an_old_cli_that_sends_the_text_in_the_start_as_well_is_not_heard_twice(self) -> None:
        talk = Talk()
        start = message_start("m1") | {"parent_tool_use_id": None}
        start["event"]["message"]["content"] = [{"type": "text", "text": "EC"}]
        talk.cli(start, block_start(0), text_delta("EC"), text_delta("HO"), assistant("ECHO"))
        assert talk.texts == ["ECHO"]

    def test_subagents_that_stream_at_the_same_time_are_not_mixed_up(self) -> None:
        talk = Talk()
        talk.cli(
            *(message_start("m1"), message_start("m2", "agent-1"), message_start("m3", "agent-2")),
            *(text_delta("main "), text_delta("one ", 0, "agent-1"), text_delta("two ", 0, "agent-2")),
            *(text_delta("goes on"), text_delta("goes on", 0, "agent-1"), text_delta("goes on", 0, "agent-2")),
            assistant("two goes on", message_id="m3", parent="agent-2"),
            assistant("one goes on", message_id="m2", parent="agent-1"),
            assistant("main goes on", message_id="m1"),
        )
        items = [item for item in talk.conversation.items if isinstance(item, TextItem)]
        assert [(item.parent_tool_use_id, item.text) for item in items] == [
            (None, "main goes on"),
            ("agent-1", "one goes on"),
            ("agent-2", "two goes on"),
        ]

    def test_an_attempt_that_the_cli_gave_up_stays_as_cut(self) -> None:
        talk = Talk()
        talk.cli(message_start("m1"), text_delta("half a sen"), message_start("m2"), text_delta("a sentence"))
        first, second = talk.conversation.items
        assert isinstance(first, TextItem)
        assert isinstance(second, TextItem)
        assert (first.aborted, first.streaming) == (True, False)
        assert (second.aborted, second.streaming) == (False, True)

    def test_text_that_was_cut_by_an_interrupt_says_so(self) -> None:
        talk = Talk()
        talk.cli(message_start(), text_delta("word wo"), assistant("word wo", aborted=True))
        assert talk.only(TextItem).aborted is True

    @pytest.mark.parametrize("text", ["", "  \n", "(no content)"])
    def test_a_text_that_says_nothing_is_not_shown(self, text: str) -> None:
        talk = Talk()
        talk.cli(assistant(text))
        assert talk.kinds == []

    def test_a_token_costs_its_own_length_and_not_that_of_the_text(self) -> None:
        conversation = Conversation()
        piece = parse_message(text_delta("word " * 20))

        def seconds_for(count: int) -> float:
            start = time.perf_counter()
            for _ in range(count):
                conversation.apply(piece)
            return time.perf_counter() - start

        seconds_for(500)
        early = seconds_for(2000)
        seconds_for(40_000)
        late = seconds_for(2000)
        assert late < 8 * early + 0.05
        assert len(conversation.snapshot()["items"][0]["text"]) == 100 * 44_500


class TestThoughts:
    def test_they_are_shown_once_and_know_their_duration(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "thinking", thinking=""), thinking_delta("I pon"))
        talk.cli(thinking_delta("der."), event("content_block_delta", index=0, delta={"type": "signature_delta"}))
        talk.cli(assistant(thinking("I ponder."), thinking_duration_ms=1200))
        assert talk.thoughts == ["I ponder."]
        assert talk.only(ThinkingItem).duration_ms == 1200

    def test_a_signature_without_words_is_not_shown(self) -> None:
        talk = Talk()
        talk.cli(message_start(), block_start(0, "thinking"), assistant(thinking(""), {"type": "redacted_thinking"}))
        assert talk.kinds == []

    def test_words_that_streamed_are_kept_where_the_whole_has_none(self) -> None:
        talk = Talk()
        talk.cli(message_start(), thinking_delta("hm"), assistant(thinking("")))
        assert talk.thoughts == ["hm"]


class TestState:
    def test_it_starts_until_the_handshake_is_answered(self) -> None:
        talk = Talk(handshake=False)
        assert talk.conversation.state == "starting"
        talk.sends({"type": "control_request", "request_id": "q", "request": {"subtype": "initialize"}})
        assert talk.conversation.state == "starting"
        assert "state" in kinds(talk.cli(yes("q")))
        assert talk.conversation.state == "idle"

    def test_a_turn_runs_from_the_message_to_its_result(self) -> None:
        talk = Talk()
        assert "state" in kinds(talk.user())
        assert talk.conversation.state == "running"
        talk.cli(init(), assistant("hi"))
        assert talk.conversation.state == "running"
        assert "state" in kinds(talk.cli(result()))
        assert (talk.conversation.state, talk.conversation.activity) == ("idle", "")

    def test_a_cli_that_tells_its_state_is_believed_and_not_its_results(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(told_state("running"), assistant("hi"), result())
        assert talk.conversation.state == "running"
        talk.cli(told_state("idle"))
        assert talk.conversation.state == "idle"

    def test_a_state_that_nobody_knows_changes_nothing(self) -> None:
        talk = Talk()
        talk.cli(told_state("levitating"))
        assert talk.conversation.state == "idle"

    def test_it_runs_on_while_turns_are_queued(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(queued_turn_count=1))
        assert talk.conversation.state == "running"
        talk.cli(init(), result(queued_turn_count=0))
        assert talk.conversation.state == "idle"

    def test_a_turn_that_nobody_asked_for_runs_too(self) -> None:
        talk = Talk()
        talk.cli(init(), assistant("The agent is done."))
        assert talk.conversation.state == "running"

    def test_an_init_alone_is_no_turn(self) -> None:
        talk = Talk()
        talk.cli(init())
        assert talk.conversation.state == "idle"

    def test_what_claude_does_is_told_step_by_step(self) -> None:
        talk = Talk()
        seen: list[str] = []
        for value in [
            *(init(), status("requesting"), message_start(), block_start(0, "thinking"), block_start(1)),
            *(block_start(2, "tool_use", id="t1", name="Bash"), assistant(tool_use("t1")), tool_result("t1")),
            *(message_start("m2"), block_start(0), result()),
        ]:
            talk.user() if not seen else None
            talk.cli(value)
            seen.append(talk.conversation.activity)
        assert seen == [
            *("requesting", "requesting", "requesting", "thinking", "writing", "tool", "tool", "requesting"),
            *("requesting", "writing", ""),
        ]

    def test_the_current_tool_is_the_main_conversations_newest(self) -> None:
        talk = Talk()
        talk.cli(assistant(tool_use("t1", "Read"), tool_use("t2", "Bash")))
        assert talk.conversation.current_tool == "Bash"
        talk.cli(assistant(tool_use("t3", "Grep"), parent="t1"))
        assert talk.conversation.current_tool == "Bash"
        talk.cli(tool_result("t2"))
        assert talk.conversation.current_tool == "Read"
        talk.cli(tool_result("t1"))
        assert talk.conversation.current_tool == ""


class TestCompaction:
    @pytest.mark.parametrize(
        "end", [status(None), result(), result(is_error=True)], ids=["null", "result", "error result"]
    )
    def test_compacting_is_over_with_null_a_result_or_an_error(self, end: dict[str, Any]) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(status("compacting"))
        assert talk.conversation.activity == "compacting"
        talk.cli(end)
        assert talk.conversation.activity != "compacting"

    def test_the_summary_is_the_notices_detail_and_nobodys_message(self) -> None:
        talk = Talk()
        talk.begins()
        boundary = {"trigger": "auto", "pre_tokens": 150_000}
        talk.cli(system("compact_boundary", compact_metadata=boundary))
        talk.cli(user_text("This session is being continued …", isSynthetic=True))
        notice = talk.only(NoticeItem)
        assert (notice.kind, notice.values) == ("compacted", {"trigger": "auto", "tokens": 150_000})
        assert notice.detail == "This session is being continued …"
        assert talk.kinds == ["User", "Notice"]

    def test_a_failure_nobody_asked_for_is_told(self) -> None:
        talk = Talk()
        talk.begins("go on")
        talk.cli(status("compacting"), status(None, compact_result="failed", compact_error="Too short."))
        assert talk.notices == ["warning"]

    def test_the_failure_of_a_compact_command_is_told_by_its_output_alone(self) -> None:
        talk = Talk()
        talk.begins("/compact")
        talk.cli(status("compacting"), status(None, compact_result="failed", compact_error="Too short."))
        talk.cli(assistant("Too short."))
        assert (talk.notices, talk.texts) == ([], ["Too short."])


class TestTurnEnds:
    def test_a_turn_ends_with_its_duration_and_its_own_cost(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant("hi"), result(duration_ms=1500, total_cost_usd=0.25, num_turns=2, usage={"input_tokens": 3}))
        talk.begins("again")
        talk.cli(assistant("hi"), result(duration_ms=500, total_cost_usd=0.75))
        ends = [item for item in talk.conversation.items if isinstance(item, TurnEndItem)]
        assert [(end.duration_ms, end.cost_usd) for end in ends] == [(1500, 0.25), (500, 0.5)]
        assert (ends[0].num_turns, ends[0].usage) == (2, {"input_tokens": 3})
        assert talk.conversation.total_cost_usd == 0.75

    def test_the_first_turn_of_a_resumed_session_does_not_cost_what_came_before(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(total_cost_usd=5.0, model_usage_since_last_result={"claude-x": {"costUSD": 0.25}}))
        assert talk.only(TurnEndItem).cost_usd == 0.25

    def test_a_total_that_starts_anew_is_the_turns_cost(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(total_cost_usd=5.0))
        talk.begins("in a new process")
        talk.cli(result(total_cost_usd=0.5))
        assert talk.conversation.items[-1].cost_usd == 0.5  # type: ignore[attr-defined]

    def test_a_result_that_was_shown_nowhere_else_is_shown(self) -> None:
        talk = Talk()
        talk.begins("/nosuch")
        talk.cli(result(result="Unknown skill: nosuch"))
        assert talk.texts == ["Unknown skill: nosuch"]

    def test_a_result_that_repeats_the_answer_is_not_shown(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant("hi"), result(result="hi"))
        assert talk.texts == ["hi"]


class TestLookingAtIt:
    def test_items_are_found_by_their_ids(self) -> None:
        talk = Talk()
        talk.cli(assistant("one", tool_use("t1"), "two"))
        for index, item in enumerate(talk.conversation.items):
            assert talk.conversation.index_of(item.id) == index
            assert talk.conversation.item(item.id) is item
        with pytest.raises(KeyError):
            talk.conversation.item("nobody")

    def test_an_item_knows_when_it_came(self) -> None:
        talk = Talk()
        talk.cli(assistant("hi"), at=12.5)
        assert talk.only(TextItem).at == 12.5

    def test_several_changes_of_one_item_in_one_message_are_one_change(self) -> None:
        talk = Talk()
        changes = talk.cli(assistant(tool_use("t1")))
        assert kinds(changes).count("item_added") == 1
        assert "item_changed" not in kinds(changes)

    def test_the_host_can_add_a_notice_of_its_own(self) -> None:
        conversation = Conversation()
        (change,) = conversation.notice("warning", "{name} is gone.", "detail", name="The file")
        notice = conversation.item(change.id)
        assert isinstance(notice, NoticeItem)
        assert (notice.kind, notice.text, notice.values) == ("warning", "{name} is gone.", {"name": "The file"})

    def test_messages_of_the_future_change_nothing(self) -> None:
        talk = Talk()
        assert talk.cli({"type": "hologram"}, system("hologram"), {"type": "keep_alive"}, {}) == []

    @pytest.mark.logs("could not apply")
    def test_a_bug_of_ours_does_not_end_the_conversation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        conversation = Conversation()

        def broken(*_: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr(conversation._speech, "message", broken)
        assert conversation.apply(parse_message(assistant("hi"))) == []
        assert conversation.faults == ["AssistantMessage: RuntimeError('a bug')"]
        assert kinds(conversation.apply(parse_message(result(result="hi")))) == ["item_added"]

    def test_a_tool_item_takes_its_fields_by_name(self) -> None:
        item = ToolItem("x", name="Bash", input_json='{"a":')
        assert (item.input_json, item.status, item.text if hasattr(item, "text") else None) == (
            '{"a":',
            "running",
            None,
        )
