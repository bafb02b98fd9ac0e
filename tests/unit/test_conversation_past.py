"""A conversation of an earlier day, read back from the lines that the CLI keeps on disk."""

from __future__ import annotations

import time
from typing import Any

import pytest

from protocol import questions
from protocol.conversation import Change, Conversation, NoticeItem, ToolItem, notices
from tests.helpers.cli_says import Talk, assistant, init, message_start, question, text_delta, tool_result, tool_use

Entry = dict[str, Any]


def on_disk(value: Entry, **fields: Any) -> Entry:
    """A message as the CLI keeps it."""
    common = {"isSidechain": False, "userType": "external", "sessionId": "s", "version": "2.1.332"}
    return {**value, **common, "timestamp": "2026-11-30T16:43:52.695Z", **fields}


def said(text: str, **fields: Any) -> Entry:
    return on_disk({"type": "user", "message": {"role": "user", "content": text}, "uuid": "u1"}, **fields)


def load(*entries: Entry) -> Talk:
    talk = Talk()
    assert talk.conversation.load(entries) == [Change("items_reset")]
    assert talk.conversation.faults == []
    return talk


def test_it_shows_who_said_what_and_when() -> None:
    talk = load(said("first"), on_disk(assistant("Running.", tool_use("t1"))), on_disk(tool_result("t1")))
    assert talk.kinds == ["User", "Text", "Tool"]
    assert talk.messages == {"first": "completed"}
    assert talk.tool.status == "done"
    assert talk.conversation.items[0].at == pytest.approx(1796057032.695)


def test_nothing_of_it_runs() -> None:
    talk = load(said("first"), on_disk(assistant(tool_use("t1"))))
    assert talk.tool.status == "interrupted"
    assert (talk.conversation.state, talk.conversation.activity) == ("idle", "")


def test_the_present_goes_on_below_it() -> None:
    talk = load(said("first"), on_disk(assistant("hi")))
    talk.user("second")
    talk.cli(init(), message_start("m2"), text_delta("hi again"), assistant("hi again", message_id="m2"))
    assert talk.kinds == ["User", "Text", "User", "Text"]
    assert talk.texts == ["hi", "hi again"]
    assert talk.messages == {"first": "completed", "second": "started"}


@pytest.mark.parametrize(
    "entry",
    [
        said("Caveat: the messages below …", isMeta=True),
        said("Warmup", isSidechain=True),
        on_disk(assistant("A subagent's words"), isSidechain=True),
        said("<task-notification>…</task-notification>"),
        said("<local-command-stdout></local-command-stdout>"),
        {"type": "queue-operation", "operation": "enqueue", "content": "first"},
        {"type": "attachment", "attachment": {"type": "date", "date": "2026-11-30"}},
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "x", "commandMode": "bash"}},
        {"type": "attachment"},
        {"type": "api-request", "params": {}},
        {"type": "system", "subtype": "turn_duration"},
        {"type": "file-history-snapshot"},
        {},
    ],
)
def test_what_was_no_part_of_the_conversation_is_not_shown(entry: Entry) -> None:
    assert load(entry).kinds == []


def test_a_message_that_was_folded_into_a_turn_is_shown_where_it_was_taken_up() -> None:
    folded = {"type": "queued_command", "prompt": "by the way", "source_uuid": "u2", "commandMode": "prompt"}
    talk = load(said("first"), on_disk({"type": "attachment", "attachment": folded}), on_disk(assistant("both")))
    assert talk.messages == {"first": "completed", "by the way": "completed"}
    assert talk.kinds == ["User", "User", "Text"]


def test_a_command_is_shown_as_it_was_typed_and_with_its_output() -> None:
    command = "<command-name>/model</command-name>\n  <command-message>model</command-message>\n  <command-args>opus"
    output = "<local-command-stdout>Set model to opus</local-command-stdout>"
    talk = load(said(f"{command}</command-args>"), said(output))
    assert talk.messages == {"/model opus": "completed"}
    assert talk.texts == ["Set model to opus"]


def test_a_new_cli_keeps_both_as_system_entries() -> None:
    command = {"type": "system", "subtype": "local_command", "content": "<command-name>/context</command-name>"}
    output = {"type": "system", "subtype": "local_command", "content": "<local-command-stdout>## Usage"}
    talk = load(on_disk(command), on_disk(output))
    assert (list(talk.messages), talk.texts) == (["/context"], ["## Usage"])


def test_an_error_of_that_day_still_says_what_it_was() -> None:
    talk = load(on_disk(assistant("API Error: 429 …"), isApiErrorMessage=True))
    assert talk.only(NoticeItem).text == notices.USAGE_LIMIT


def test_a_stop_of_that_day_is_a_stop() -> None:
    assert load(said("[Request interrupted by user]")).notices == ["stopped"]


def test_a_summary_is_a_notice_with_the_summary_in_it() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "manual", "preTokens": 30},
    }
    talk = load(on_disk(boundary), said("This session is being continued …", isCompactSummary=True))
    notice = talk.only(NoticeItem)
    assert (notice.kind, notice.values) == ("compacted", {"trigger": "manual", "tokens": 30})
    assert notice.detail == "This session is being continued …"


class TestDecisions:
    def of(self, name: str, content: str, is_error: bool, **fields: Any) -> ToolItem:
        given = on_disk(tool_result("t1", content, is_error=is_error), **fields)
        return load(on_disk(assistant(tool_use("t1", name, **question()))), given).tool

    @pytest.mark.parametrize(
        ("name", "decision", "source", "shown", "status"),
        [
            ("Bash", "accept", "user_temporary", "allowed once", "done"),
            ("Bash", "accept", "user_permanent", "allowed always", "done"),
            ("Bash", "accept", "config", "", "done"),
            ("Bash", "reject", "user_reject", "denied", "denied"),
            ("ExitPlanMode", "accept", "user_temporary", "approved", "done"),
            ("ExitPlanMode", "reject", "user_reject", "kept planning", "denied"),
            ("AskUserQuestion", "reject", "user_reject", "replied", "denied"),
        ],
    )
    def test_they_are_still_known(self, name: str, decision: str, source: str, shown: str, status: str) -> None:
        rejected = decision == "reject"
        told = {"decision": decision, "source": source}
        item = self.of(name, "words", rejected, permissionDecision=told)
        assert (item.decision, item.status, item.reply) == (shown, status, "words" if rejected else "")

    def test_dismissed_questions_too(self) -> None:
        told = {"decision": "reject", "source": "user_reject"}
        item = self.of("AskUserQuestion", questions.DISMISSED, True, permissionDecision=told)
        assert item.decision == "dismissed"

    def test_answers_are_known_from_every_version(self) -> None:
        item = self.of("AskUserQuestion", "…", False, toolUseResult={"answers": {"Which?": "A", "Odd?": 3}})
        assert (item.decision, item.chosen) == ("answered", [("Which?", "A")])

    def test_a_denial_by_rule_is_nobodys(self) -> None:
        item = self.of("Bash", "Permission denied", True, toolDenialKind="permission-rule")
        assert (item.decision, item.status) == ("", "denied")


def test_an_odd_time_is_no_time() -> None:
    for timestamp in ("yesterday", 3, None, "9999999-01-01"):
        assert load(said("x", timestamp=timestamp)).conversation.items[0].at == 0.0


def test_a_long_one_is_read_in_no_time() -> None:
    entries = [on_disk(assistant(f"line {number}", tool_use(f"t{number}"))) for number in range(5000)]
    conversation = Conversation()
    start = time.perf_counter()
    conversation.load(entries)
    assert len(conversation.items) == 10_000
    assert time.perf_counter() - start < 5
