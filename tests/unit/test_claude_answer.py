"""What the messages of a CLI amount to: pieces for whoever streams, whole words for the others, each once."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.chat_completions.backend import Event, Finished, Started, TextDelta, Usage
from protocol.chat_completions.claude_answer import MOST_CHARACTERS, Answer, usage_of
from protocol.chat_completions.errors import ApiError

Message = dict[str, Any]


def event(**fields: Any) -> Message:
    return {"type": "stream_event", "event": fields, "parent_tool_use_id": None}


def start(message_id: str = "m1") -> Message:
    return event(type="message_start", message={"id": message_id})


def delta(text: str) -> Message:
    return event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def stop(reason: str = "end_turn") -> list[Message]:
    return [event(type="message_delta", delta={"stop_reason": reason}), event(type="message_stop")]


def whole(text: str, message_id: str = "m1", **fields: Any) -> Message:
    content = [{"type": "text", "text": text}]
    message = {"id": message_id, "role": "assistant", "content": content}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def tool(message_id: str = "m1") -> Message:
    content = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]
    message = {"id": message_id, "role": "assistant", "content": content}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None}


def result(**fields: Any) -> Message:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", **fields}


def outcome(*messages: Message | list[Message], in_pieces: bool = True, structured: bool = False) -> list[Event]:
    answer = Answer(in_pieces=in_pieces, structured=structured)
    flat = [m for each in messages for m in (each if isinstance(each, list) else [each])]
    return [event for message in flat for event in answer.take(message)]


def words(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


def failure(*messages: Message | list[Message], **options: bool) -> tuple[int, str | None]:
    with pytest.raises(ApiError) as caught:
        outcome(*messages, **options)
    return caught.value.status, caught.value.code


TURN: list[Message] = [start(), delta("Hel"), delta("lo"), whole("Hello"), *stop(), result()]


class TestWords:
    def test_pieces_come_as_they_are_and_once(self) -> None:
        assert outcome(TURN) == [Started(), TextDelta("Hel"), TextDelta("lo"), Finished("stop")]

    def test_whoever_does_not_stream_gets_all_at_the_end(self) -> None:
        assert outcome(TURN, in_pieces=False) == [Started(), TextDelta("Hello"), Finished("stop")]

    @pytest.mark.parametrize("in_pieces", [True, False])
    def test_what_never_streamed_comes_whole(self, in_pieces: bool) -> None:
        events = outcome(whole("Hello"), result(), in_pieces=in_pieces)
        assert events == [Started(), TextDelta("Hello"), Finished("stop")]

    def test_what_streamed_in_part_is_completed(self) -> None:
        assert words(outcome(start(), delta("Hel"), whole("Hello"), result())) == ["Hel", "lo"]

    @pytest.mark.parametrize("in_pieces", [True, False])
    def test_several_blocks_of_one_message_follow_one_another(self, in_pieces: bool) -> None:
        events = outcome(
            start(), delta("one "), whole("one "), delta("two"), whole("two"), stop(), result(), in_pieces=in_pieces
        )
        assert "".join(words(events)) == "one two"

    @pytest.mark.parametrize("in_pieces", [True, False])
    def test_a_message_that_goes_on_where_the_last_was_cut_has_no_gap(self, in_pieces: bool) -> None:
        events = outcome(
            [start(), delta("one "), whole("one "), *stop("max_tokens")],
            [start("m2"), delta("two"), whole("two", "m2"), *stop()],
            result(),
            in_pieces=in_pieces,
        )
        assert "".join(words(events)) == "one two"

    @pytest.mark.parametrize("in_pieces", [True, False])
    def test_after_tools_a_new_paragraph_begins(self, in_pieces: bool) -> None:
        events = outcome(
            [start(), delta("I look."), whole("I look."), tool(), *stop("tool_use")],
            [start("m2"), tool("m2"), *stop("tool_use")],
            [start("m3"), delta("Found."), whole("Found.", "m3"), *stop()],
            result(),
            in_pieces=in_pieces,
        )
        assert "".join(words(events)) == "I look.\n\nFound."

    @pytest.mark.parametrize("in_pieces", [True, False])
    def test_an_answer_that_begins_with_a_tool_begins_with_words(self, in_pieces: bool) -> None:
        events = outcome(
            [start(), tool(), *stop("tool_use")],
            [start("m2"), delta("Found."), whole("Found.", "m2"), *stop()],
            result(),
            in_pieces=in_pieces,
        )
        assert "".join(words(events)) == "Found."

    def test_subagents_and_thoughts_are_no_words_of_the_answer(self) -> None:
        thought = event(type="content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm"})
        subagent = {**delta("aside"), "parent_tool_use_id": "t1"}
        events = outcome(
            start(),
            thought,
            subagent,
            whole("aside", "s1", parent_tool_use_id="t1"),
            delta("Hi"),
            whole("Hi"),
            result(),
        )
        assert words(events) == ["Hi"]

    @pytest.mark.parametrize("value", [None, 5, "x", [], {"type": None}, {"type": "content_block_delta", "delta": 5}])
    def test_events_of_no_known_shape_change_nothing(self, value: Any) -> None:
        odd = {"type": "stream_event", "event": value, "parent_tool_use_id": None}
        assert words(outcome(start(), odd, delta("Hi"), whole("Hi"), result())) == ["Hi"]


class TestBeginningAnew:
    def test_the_same_words_again_are_passed_on_once(self) -> None:
        events = outcome(start(), delta("Hello wo"), start("m2"), delta("Hel"), delta("lo world"), result())
        assert words(events) == ["Hello wo", "rld"]

    def test_also_told_whole(self) -> None:
        events = outcome(start(), delta("Hello wo"), whole("Hello world", "m2"), result())
        assert words(events) == ["Hello wo", "rld"]

    def test_also_after_a_block_that_was_complete(self) -> None:
        events = outcome(
            [start(), delta("one "), whole("one "), delta("tw")],
            [start("m2"), delta("one "), whole("one ", "m2"), delta("two"), whole("two", "m2"), *stop()],
            result(),
        )
        assert "".join(words(events)) == "one two"

    def test_other_words_end_the_answer_for_what_was_sent_cannot_be_taken_back(self) -> None:
        assert failure(start(), delta("Hello"), start("m2"), delta("Good")) == (502, "cli_failed")
        assert failure(start(), delta("Hello"), whole("Good morning", "m2")) == (502, "cli_failed")

    def test_whoever_does_not_stream_gets_only_what_was_said_in_the_end(self) -> None:
        events = outcome(
            [start(), delta("He"), whole("He"), delta("llo")],
            [start("m2"), delta("Good"), whole("Good", "m2"), *stop()],
            result(),
            in_pieces=False,
        )
        assert words(events) == ["Good"]

    def test_a_gateway_that_makes_up_its_own_ids_doubles_nothing(self) -> None:
        events = outcome(
            start(), delta("one "), whole("one ", "x1"), delta("two"), whole("two", "x2"), stop(), result()
        )
        assert "".join(words(events)) == "one two"

    def test_a_refusal_that_is_answered_once_more_is_dropped_where_it_was_not_sent(self) -> None:
        refused = {"type": "user", "refusal_retry": True, "message": {"role": "user", "content": "…"}}
        turn = [start(), delta("I wo"), whole("I wo"), *stop("refusal"), refused]
        turn += [start("m2"), delta("No."), whole("No.", "m2"), *stop(), result(stop_reason="end_turn")]
        assert words(outcome(turn, in_pieces=False)) == ["No."]
        assert words(outcome(turn)) == ["I wo", "\n\nNo."]


class TestEnd:
    @pytest.mark.parametrize(
        ("reason", "finish"),
        [
            ("end_turn", "stop"),
            ("stop_sequence", "stop"),
            ("tool_use", "stop"),
            ("something new", "stop"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("refusal", "content_filter"),
        ],
    )
    def test_the_reason_is_said_in_openais_words(self, reason: str, finish: str) -> None:
        turn = [start(), delta("Hi"), whole("Hi")]
        assert outcome(turn, result(stop_reason=reason))[-1] == Finished(finish)  # type: ignore[arg-type]
        assert outcome(turn, stop(reason), result())[-1] == Finished(finish)  # type: ignore[arg-type]

    def test_a_refusal_that_is_an_error_of_the_turn_is_a_refusal(self) -> None:
        end = result(is_error=True, subtype="success", stop_reason="refusal", result="API Error: …")
        assert outcome(start(), stop("refusal"), end) == [Started(), Finished("content_filter")]

    def test_an_answer_that_became_too_long_for_the_cli_is_cut(self) -> None:
        error = whole("API Error: too long", "x", error="max_output_tokens")
        events = outcome(start(), delta("Hi"), whole("Hi"), error, result(is_error=True))
        assert (words(events), events[-1]) == (["Hi"], Finished("length"))

    def test_a_success_without_a_word_is_none(self) -> None:
        assert failure(start(), stop(), result()) == (502, "empty_answer")
        assert failure(result(result="Unknown skill")) == (502, "empty_answer")

    def test_an_error_counts_before_the_subtype(self) -> None:
        assert failure(start(), delta("Hi"), whole("Hi"), result(is_error=True))[0] == 502
        assert failure(start(), delta("Hi"), whole("Hi"), result(subtype="error_during_execution"))[0] == 502

    def test_more_than_can_be_taken_is_an_error(self) -> None:
        million = delta("x" * 1_000_000)
        for in_pieces in (True, False):
            many = [million] * (MOST_CHARACTERS // 1_000_000 + 1)
            assert failure(start(), many, in_pieces=in_pieces) == (502, "cli_failed")

    @pytest.mark.parametrize(
        ("error", "status", "text", "expected"),
        [
            ("rate_limit", 429, "", (429, "plan_limit_reached")),
            ("unknown", None, "API Error: Request rejected (429) · over", (429, "plan_limit_reached")),
            ("authentication_failed", 401, "", (502, "cli_signed_out")),
            ("authentication_failed", None, "Not logged in", (502, "cli_signed_out")),
            ("unknown", 403, "", (502, "cli_signed_out")),
            ("oauth_org_not_allowed", None, "", (502, "cli_signed_out")),
            ("billing_error", 400, "", (502, "billing_error")),
            ("overloaded", 529, "", (502, "overloaded")),
            ("server_error", 500, "", (502, "overloaded")),
            ("unknown", None, "API Error: 503 nothing", (502, "overloaded")),
            ("model_not_found", 404, "", (400, "model_not_found")),
            ("invalid_request", 400, "Prompt is too long", (400, "context_length_exceeded")),
            ("invalid_request", 400, "messages.0: no", (502, "refused")),
            ("unknown", None, "Something", (502, "cli_failed")),
        ],
    )
    def test_what_failed_has_a_status_and_a_code_and_no_word_of_the_clis(
        self, error: str, status: int | None, text: str, expected: tuple[int, str]
    ) -> None:
        told = whole(text, "x", error=error, api_error_status=status)
        for end in (result(is_error=True, result=text), result(is_error=True, result=text, api_error_status=status)):
            with pytest.raises(ApiError) as caught:
                outcome(told, end)
            assert (caught.value.status, caught.value.code) == expected
            assert not text or text not in caught.value.message
            assert caught.value.should_retry is (None if expected[0] == 400 else False)

    def test_a_limit_says_when_it_ends(self) -> None:
        limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_800_000_000}}
        with pytest.raises(ApiError, match="2027-01-15 08:00 UTC"):
            outcome(limit, result(is_error=True, api_error_status=429))


INIT: Message = {"type": "system", "subtype": "init", "tools": ["StructuredOutput"]}


class TestSchema:
    def test_the_value_is_the_answer_and_words_around_it_are_none(self) -> None:
        events = outcome(
            [INIT, start(), delta("Let me see."), whole("Let me see."), tool(), *stop("tool_use")],
            result(structured_output={"name": "Zoë"}, stop_reason="tool_use"),
            structured=True,
        )
        assert events == [Started(), TextDelta('{"name": "Zoë"}'), Finished("stop")]

    def test_without_a_value_there_is_no_answer(self) -> None:
        turn = [start(), delta("Zoë"), whole("Zoë"), *stop()]
        assert failure(turn, result(), structured=True) == (502, "schema_not_kept")
        end = result(subtype="error_max_structured_output_retries", is_error=True)
        assert failure(turn, end, structured=True) == (502, "schema_not_kept")

    def test_a_schema_that_the_cli_did_not_take_is_wrong(self) -> None:
        assert failure({**INIT, "tools": []}, structured=True) == (400, "invalid_value")


class TestUsage:
    def test_what_was_read_is_all_that_was_read(self) -> None:
        counted = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 40,
            "cache_read_input_tokens": 500,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 2},
        }
        assert usage_of(counted) == Usage(prompt=543, completion=7, cached=500, reasoning=2)
        assert outcome(TURN[:-1], result(usage=counted))[-1] == Finished("stop", Usage(543, 7, 500, 2))

    @pytest.mark.parametrize(
        "counted",
        [
            {},
            {"input_tokens": 3},
            {"output_tokens": 3},
            {"input_tokens": 0, "output_tokens": 0},
            {"input_tokens": "3", "output_tokens": 3},
            {"input_tokens": True, "output_tokens": 3},
            {"input_tokens": -1, "output_tokens": 3},
        ],
    )
    def test_what_is_not_known_is_not_made_up(self, counted: Message) -> None:
        assert usage_of(counted) is None

    def test_details_may_be_missing(self) -> None:
        assert usage_of({"input_tokens": 3, "output_tokens": 7}) == Usage(3, 7, 0, None)
