"""Errors and what to do about them, retries, limits, stops, damage on the wire, and the end of the process."""

from __future__ import annotations

from typing import Any

import pytest

from protocol import permissions, requests
from protocol.conversation import NOTICE_TEXTS, Change, NoticeItem, TextItem, ToolItem, notices
from protocol.wire import DamagedLine
from tests.helpers.cli_says import (
    Talk,
    aborted,
    assistant,
    init,
    kinds,
    may_i,
    message_start,
    result,
    status,
    system,
    text_delta,
    tool_result,
    tool_use,
    user_text,
    yes,
)


def retry(attempt: int, delay: float = 600) -> dict[str, Any]:
    return system(
        "api_retry", attempt=attempt, max_retries=3, retry_delay_ms=delay, error_status=529, error="overloaded"
    )


def told(talk: Talk) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in talk.conversation.items if isinstance(item, NoticeItem)]


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "text"),
        [
            ("authentication_failed", notices.SIGN_IN),
            ("rate_limit", notices.USAGE_LIMIT),
            ("billing_error", notices.BILLING),
            ("overloaded", notices.OVERLOADED),
            ("server_error", notices.OVERLOADED),
            ("model_not_found", notices.NO_MODEL),
            ("invalid_request", notices.REFUSED),
            ("max_output_tokens", notices.CUT),
            ("of_the_future", notices.NO_ANSWER),
        ],
    )
    def test_each_says_what_to_do_and_keeps_the_clis_words(self, error: str, text: str) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant("The CLI's own words", error=error), result(is_error=True, result="The CLI's own words"))
        assert told(talk) == [("error", text)]
        assert talk.only(NoticeItem).detail == "The CLI's own words"
        assert talk.texts == []
        assert talk.conversation.state == "idle"

    @pytest.mark.parametrize(
        ("api_status", "text"),
        [
            *((401, notices.SIGN_IN), (403, notices.SIGN_IN), (402, notices.BILLING), (404, notices.NO_MODEL)),
            *((429, notices.USAGE_LIMIT), (400, notices.REFUSED), (500, notices.OVERLOADED), (529, notices.OVERLOADED)),
        ],
    )
    def test_is_error_counts_before_a_subtype_of_success(self, api_status: int, text: str) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(subtype="success", is_error=True, api_error_status=api_status, result="API Error"))
        assert told(talk) == [("error", text)]
        assert talk.texts == []  # the CLI's words about it are no answer of Claude's

    def test_an_old_cli_hides_the_status_in_its_words(self) -> None:
        talk = Talk()
        talk.begins()
        words = 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}'
        talk.cli(assistant(words, error="unknown"), result(is_error=True, result=words))
        assert told(talk) == [("error", notices.USAGE_LIMIT)]

    def test_the_result_may_know_what_the_message_did_not(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant("Something went wrong", error="unknown"))
        assert told(talk) == [("error", notices.NO_ANSWER)]
        changes = talk.cli(result(is_error=True, api_error_status=529, result="Something went wrong"))
        assert told(talk) == [("error", notices.OVERLOADED)]
        assert "item_changed" in kinds(changes)

    def test_an_error_that_only_the_result_tells_is_told(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(subtype="error_during_execution", is_error=True, errors=["It broke.", "Badly."]))
        assert told(talk) == [("error", notices.FAILED)]
        assert talk.only(NoticeItem).detail == "It broke.\nBadly."

    @pytest.mark.parametrize(
        ("subtype", "text"),
        [("error_max_turns", notices.TURN_LIMIT), ("error_max_budget_usd", notices.BUDGET_LIMIT)],
    )
    def test_a_limit_that_was_set_is_no_error(self, subtype: str, text: str) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(result(subtype=subtype, is_error=False))
        assert told(talk) == [("warning", text)]

    def test_a_conversation_that_was_never_saved_is_named_before_any_handshake(self) -> None:
        talk = Talk(handshake=False)
        talk.sends(requests.control_request("q", requests.initialize()))
        error = "No conversation found with session ID: 00000000-0000-4000-8000-000000000000"
        talk.cli(result(subtype="error_during_execution", is_error=True, errors=[error]))
        assert told(talk) == [("error", notices.NOT_FOUND)]
        assert talk.only(NoticeItem).detail == error
        assert talk.conversation.state == "starting"
        talk.conversation.apply_exit(1, "")
        assert talk.conversation.state == "exited"

    def test_a_subagents_error_is_its_own_words_and_not_the_turns(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant("API Error", error="overloaded", parent="agent"), assistant("Done without it."), result())
        assert talk.notices == []
        assert talk.texts == ["API Error", "Done without it."]

    def test_every_text_is_a_sentence_for_the_catalogue(self) -> None:
        assert len(set(NOTICE_TEXTS)) == len(NOTICE_TEXTS)
        constants = {value for name, value in vars(notices).items() if name.isupper() and isinstance(value, str)}
        assert constants - set(NOTICE_TEXTS) == {notices.FROM_CLAUDE}
        assert all(text.endswith(".") for text in NOTICE_TEXTS)


class TestRetries:
    def test_there_is_one_notice_for_all_of_them_and_it_is_updated_in_place(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(retry(1))
        notice = talk.only(NoticeItem)
        assert (notice.kind, notice.values) == ("retry", {"attempt": 1, "max_retries": 3, "seconds": 1})
        assert talk.conversation.activity == "retrying"
        assert talk.cli(retry(2, 4000)) == [Change("item_changed", notice.id)]
        assert talk.only(NoticeItem) is notice
        assert notice.values == {"attempt": 2, "max_retries": 3, "seconds": 4}

    @pytest.mark.parametrize(
        "success", [message_start(), assistant("hi"), result()], ids=["stream", "message", "result"]
    )
    def test_it_is_gone_when_the_answer_comes(self, success: dict[str, Any]) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(retry(1))
        assert "item_removed" in kinds(talk.cli(success))
        assert talk.notices == []

    def test_it_gives_way_to_the_error_when_they_are_given_up(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(retry(1), assistant("API Error: 529", error="overloaded"), result(is_error=True))
        assert told(talk) == [("error", notices.OVERLOADED)]

    def test_items_below_it_keep_their_places(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(retry(1))
        talk.user("meanwhile")
        talk.cli(message_start(), text_delta("hi"))
        assert talk.kinds == ["User", "User", "Text"]
        for index, item in enumerate(talk.conversation.items):
            assert talk.conversation.index_of(item.id) == index

    def test_the_next_row_of_retries_has_its_own(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(retry(1), message_start(), retry(1))
        assert talk.notices == ["retry"]


class TestStops:
    @pytest.mark.parametrize("reason", ["aborted_streaming", "aborted_tools"])
    def test_a_stopped_turn_is_no_error(self, reason: str) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(message_start(), text_delta("word wo"), aborted(reason))
        assert told(talk) == [("stopped", notices.STOPPED)]
        assert talk.only(TextItem).streaming is False
        assert talk.conversation.state == "idle"

    def test_an_old_cli_tells_it_by_a_made_up_message(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(message_start(), text_delta("word wo"), user_text("[Request interrupted by user]"))
        talk.cli(result(subtype="error_during_execution", is_error=False))
        assert talk.notices == ["stopped"]
        assert talk.only(TextItem).aborted is True

    def test_an_old_cli_that_says_nothing_stopped_because_it_was_asked_to(self) -> None:
        talk = Talk()
        talk.begins()
        talk.sends(requests.control_request("q", requests.interrupt()))
        talk.cli(yes("q"), result(subtype="error_during_execution"))
        assert talk.notices == ["stopped"]

    def test_a_denial_that_ends_the_turn_is_a_stop(self) -> None:
        talk = Talk()
        talk.begins()
        talk.cli(assistant(tool_use("t1")), may_i("r1", "t1"))
        talk.answers("r1", permissions.deny("Stop.", interrupt=True))
        talk.cli(tool_result("t1", "Stop.", is_error=True), result(subtype="error_during_execution"))
        assert talk.notices == ["stopped"]
        assert talk.tool.status == "denied"

    def test_a_turn_that_was_done_before_the_stop_reached_it_is_done(self) -> None:
        talk = Talk()
        talk.begins()
        talk.sends(requests.control_request("q", requests.interrupt()))
        talk.cli(assistant("hi"), result(), yes("q"))
        assert talk.notices == []

    def test_a_stop_between_turns_does_not_stop_the_next(self) -> None:
        talk = Talk()
        talk.sends(requests.control_request("q", requests.interrupt()))
        talk.begins()
        talk.cli(result(subtype="error_during_execution", is_error=True, errors=["It broke."]))
        assert told(talk) == [("error", notices.FAILED)]


class TestLimits:
    def event(self, limit: str, **fields: Any) -> dict[str, Any]:
        return {"type": "rate_limit_event", "rate_limit_info": {"status": limit, "resetsAt": 1_796_045_115, **fields}}

    def test_one_that_comes_near_is_told_once(self) -> None:
        talk = Talk()
        talk.cli(self.event("allowed"), self.event("allowed_warning", utilization=0.871))
        assert told(talk) == [("warning", notices.LIMIT_USED)]
        assert talk.only(NoticeItem).values == {"percent": 87, "resets_at": 1_796_045_115}
        assert kinds(talk.cli(self.event("allowed_warning", utilization=0.88))) == ["info"]
        assert talk.conversation.rate_limit is not None
        assert talk.conversation.rate_limit.utilization == 0.88

    def test_one_that_is_reached_is_told(self) -> None:
        talk = Talk()
        talk.cli(self.event("allowed_warning"), self.event("rejected"))
        assert told(talk) == [("warning", notices.LIMIT_NEAR), ("warning", notices.LIMIT_REACHED)]

    def test_one_that_is_far_away_is_not(self) -> None:
        talk = Talk()
        talk.cli(self.event("allowed"), {"type": "rate_limit_event"})
        assert talk.notices == []


class TestOtherNotices:
    def test_what_the_cli_wants_to_be_told_is_told_in_its_words(self) -> None:
        talk = Talk()
        talk.cli(system("notification", text="{An} update is ready."), system("notification"))
        assert talk.only(NoticeItem).values == {"message": "{An} update is ready."}

    def test_a_sign_in_that_failed_is_told(self) -> None:
        talk = Talk()
        talk.cli({"type": "auth_status", "isAuthenticating": True}, {"type": "auth_status", "error": "Denied."})
        assert told(talk) == [("error", notices.SIGN_IN_FAILED)]


class TestDamage:
    def test_a_line_past_the_cap_is_named_because_something_was_lost(self) -> None:
        talk = Talk()
        (change,) = talk.conversation.apply_damage(DamagedLine("too_long", '{"type":"assis', 80_000_000))
        notice = talk.only(NoticeItem)
        assert change == Change("item_added", notice.id)
        assert (notice.kind, notice.text, notice.values) == ("warning", notices.TOO_LONG, {"size": 80_000_000})

    @pytest.mark.parametrize("kind", ["not_json", "not_an_object", "truncated"])
    def test_other_damage_is_kept_for_the_log_and_not_shown(self, kind: Any) -> None:
        talk = Talk()
        line = DamagedLine(kind, "Welcome!", 8)
        assert talk.conversation.apply_damage(line) == []
        assert (talk.conversation.damaged, list(talk.conversation.damaged_lines)) == (1, [line])

    def test_a_flood_of_it_does_not_fill_the_memory(self) -> None:
        talk = Talk()
        for number in range(1000):
            talk.conversation.apply_damage(DamagedLine("not_json", str(number), 3))
        assert talk.conversation.damaged == 1000
        assert [line.text for line in talk.conversation.damaged_lines] == [str(number) for number in range(980, 1000)]


class TestExit:
    def busy(self) -> Talk:
        talk = Talk()
        talk.begins("one")
        talk.user("two")
        talk.cli(message_start(), text_delta("word wo"), assistant(tool_use("t1"), message_id="m2"), may_i("r1", "t1"))
        talk.cli(system("background_tasks_changed", tasks=[{"task_id": "a1"}]))
        talk.cli(assistant(tool_use("agent", "Agent"), message_id="m3"))
        talk.cli(tool_result("agent", tool_use_result={"status": "async_launched"}))
        return talk

    def test_nothing_waits_runs_or_streams_any_more(self) -> None:
        talk = self.busy()
        changes = talk.conversation.apply_exit(-9, "")
        assert Change("pending_removed", "r1", "exited") in changes
        assert (talk.conversation.pending, talk.conversation.tasks) == ({}, {})
        assert (talk.conversation.state, talk.conversation.activity) == ("exited", "")
        assert talk.conversation.current_tool == ""
        assert talk.messages == {"one": "completed", "two": "cancelled"}  # the first was read, the second never
        assert talk.only(TextItem).streaming is False
        tools = [item for item in talk.conversation.items if isinstance(item, ToolItem)]
        assert [item.status for item in tools] == ["interrupted", "interrupted"]

    @pytest.mark.parametrize(
        ("code", "text", "values"), [(1, notices.EXITED_CODE, {"code": 1}), (None, notices.EXITED, {})]
    )
    def test_it_is_told_with_the_end_of_stderr(self, code: int | None, text: str, values: dict[str, Any]) -> None:
        talk = Talk()
        talk.conversation.apply_exit(code, "TypeError: x is not a function")
        notice = talk.only(NoticeItem)
        assert (notice.kind, notice.text, notice.values) == ("exited", text, values)
        assert notice.detail == "TypeError: x is not a function"

    def test_an_end_that_the_person_asked_for_is_no_news(self) -> None:
        talk = self.busy()
        talk.conversation.apply_exit(0, "", asked=True)
        assert talk.conversation.state == "exited"
        assert not [item for item in talk.conversation.items if isinstance(item, NoticeItem) and item.kind == "exited"]

    def test_a_message_after_the_end_is_still_shown(self) -> None:
        talk = Talk()
        talk.conversation.apply_exit(0, "")
        talk.cli(assistant("late"))
        assert talk.texts == ["late"]
        assert talk.conversation.state == "exited"

    def test_it_is_told_once(self) -> None:
        talk = Talk()
        talk.conversation.apply_exit(1, "")
        assert talk.conversation.apply_exit(1, "") == []

    def test_an_answer_after_the_end_goes_nowhere(self) -> None:
        talk = self.busy()
        talk.conversation.apply_exit(1, "")
        assert talk.answers("r1", permissions.allow({})) == []

    def test_a_new_process_goes_on_below(self) -> None:
        talk = self.busy()
        talk.conversation.apply_exit(1, "")
        before = len(talk.conversation.items)
        talk.sends(requests.control_request("again", requests.initialize(title="T")))
        assert (talk.conversation.state, talk.conversation.title) == ("starting", "T")
        talk.cli(yes("again"))
        assert talk.conversation.state == "idle"
        talk.user("three")
        talk.cli(init(), status("requesting"), message_start(), text_delta("hi"), assistant("hi"), result())
        assert talk.kinds[before:] == ["User", "Text", "TurnEnd"]
        assert talk.messages["three"] == "completed"
        assert talk.conversation.state == "idle"

    def test_a_new_process_has_its_own_permission_mode_and_has_not_told_it_yet(self) -> None:
        talk = Talk()
        talk.cli(init(permissionMode="acceptEdits"))
        assert talk.conversation.permission_mode == "acceptEdits"
        talk.conversation.apply_exit(0)
        talk.sends(requests.control_request("again", requests.initialize()))
        assert talk.conversation.permission_mode == ""
