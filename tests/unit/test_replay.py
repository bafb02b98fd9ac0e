"""Every recording of the true CLI, whole and byte by byte, and what a conversation must make of it."""

from __future__ import annotations

import json

import pytest

from protocol.conversation import (
    Change,
    Conversation,
    NoticeItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    TurnEndItem,
    UserItem,
    notices,
)
from protocol.messages import parse_message
from protocol.wire import DamagedLine, LineReader
from tests.helpers import recordings

ALL = recordings.names()
VERSIONS = sorted({version for version, _ in ALL}, key=lambda version: [int(part) for part in version.split(".")])
STOPPED = ["ask_interrupted", "interrupt_streaming", "bash_deny_interrupt"]


def replayed(version: str, scenario: str) -> Conversation:
    return recordings.replay(recordings.load(version, scenario))


def shown(conversation: Conversation) -> list[str]:
    """The transcript in short: one line an item, without what differs from version to version."""
    lines = []
    for item in conversation.items:
        match item:
            case UserItem():
                lines.append(f"user {item.state}: {item.text}")
            case TextItem():
                who = f" of {item.parent_tool_use_id}" if item.parent_tool_use_id else ""
                lines.append(f"text{who}{' cut' if item.aborted else ''}: {item.text[:30]}")
            case ThinkingItem():
                lines.append(f"thinking: {item.text}")
            case ToolItem():
                decision = f", {item.decision}" if item.decision else ""
                agent = f", for {item.agent}" if item.agent else ""
                lines.append(f"tool {item.name}: {item.status}{decision}{agent}")
            case NoticeItem():
                lines.append(f"notice {item.kind}")
            case TurnEndItem():
                lines.append("end")
    return lines


# Whole and byte by byte


@pytest.mark.parametrize(("version", "scenario"), ALL)
def test_a_recording_gives_the_same_whole_and_cut_anywhere(version: str, scenario: str) -> None:
    recording = recordings.load(version, scenario)
    whole = recordings.replay(recording)
    assert whole.faults == []
    assert whole.damaged == 0
    snapshot = json.dumps(whole.snapshot(), sort_keys=True)
    for chunk in (1, 7, 4096):
        cut = recordings.replay(recording, chunk=chunk)
        assert json.dumps(cut.snapshot(), sort_keys=True) == snapshot


@pytest.mark.parametrize(("version", "scenario"), ALL)
def test_all_its_output_at_once_is_the_same_lines(version: str, scenario: str) -> None:
    recording = recordings.load(version, scenario)
    printed = [entry.value for entry in recording.entries if entry.direction == "out"]
    output = recording.output
    for size in (1, 1000, len(output) or 1):
        reader = LineReader()
        lines = []
        for start in range(0, len(output), size):
            lines += reader.feed(output[start : start + size])
        lines += reader.finish()
        assert lines == printed
        assert len(lines) == len(printed)


@pytest.mark.parametrize(("version", "scenario"), ALL)
def test_the_changes_tell_the_whole_story(version: str, scenario: str) -> None:
    """A view that only follows the changes shows the same items in the same order as one that looks at the end."""
    conversation = Conversation()
    order: list[str] = []
    waiting: list[str] = []
    seen: dict[str, int] = {}
    for _, changes in recordings.replay_steps(recordings.load(version, scenario), conversation):
        for change in changes:
            match change.kind:
                case "item_added":
                    order.append(change.id)
                case "item_changed":
                    assert change.id in order
                case "item_removed":
                    order.remove(change.id)
                case "items_reset":
                    order = [item.id for item in conversation.items]
                case "pending_added":
                    waiting.append(change.id)
                case "pending_removed":
                    waiting.remove(change.id)
                    assert change.reason in ("answered", "withdrawn", "exited")
        assert list(dict.fromkeys(order)) == [item.id for item in conversation.items]
        assert waiting == list(conversation.pending)
        for item in conversation.items:
            told = Change("item_changed", item.id) in changes or Change("item_added", item.id) in changes
            assert told or seen.get(item.id, item.revision) == item.revision or Change("items_reset") in changes
            seen[item.id] = item.revision


@pytest.mark.parametrize(("version", "scenario"), ALL)
def test_when_it_is_over_nothing_streams_waits_or_runs(version: str, scenario: str) -> None:
    conversation = replayed(version, scenario)
    conversation.apply_exit(0, "")
    for item in conversation.items:
        assert not getattr(item, "streaming", False)
        if isinstance(item, ToolItem):
            assert item.status in ("done", "failed", "denied", "interrupted")
        if isinstance(item, UserItem):
            assert item.state in ("completed", "cancelled")
    assert conversation.pending == {}
    assert conversation.state == "exited"


@pytest.mark.parametrize(("version", "scenario"), ALL)
def test_nothing_is_said_twice(version: str, scenario: str) -> None:
    """Each text that Claude finished is shown once; what streamed before it is the same item."""
    said: list[str] = []
    shown_texts: dict[str, TextItem] = {}
    conversation = Conversation()
    for entry, _ in recordings.replay_steps(recordings.load(version, scenario), conversation):
        if entry.direction == "out" and entry.value.get("type") == "assistant" and not entry.value.get("error"):
            content = entry.value["message"]["content"]
            said += [block["text"] for block in content if block["type"] == "text" and block["text"] != "(no content)"]
        shown_texts |= {item.id: item for item in conversation.items if isinstance(item, TextItem) and item.message_id}
    # Where a turn was stopped, 2.0.x does not tell again what had streamed.
    told = [item.text for item in shown_texts.values() if not item.aborted or item.text in said]
    assert told == said


# What must come of them


@pytest.mark.parametrize("version", VERSIONS)
def test_hello(version: str) -> None:
    conversation = replayed(version, "hello")
    assert shown(conversation) == [
        "user completed: MD1",
        "text: # Plan\n\nHere is **bold**, *ita",
        "end",
        "user completed: and again",
        "text: echo: and again",
        "end",
        "notice exited",
    ]
    assert "😀" in conversation.items[1].text  # type: ignore[attr-defined]
    assert conversation.cli_version == version
    assert conversation.session_id
    assert conversation.models
    assert conversation.context_window >= 200_000
    assert conversation.total_cost_usd > 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("scenario", "decision", "status"),
    [
        ("ask", "answered", "done"),
        ("ask_free_text", "answered", "done"),
        ("ask_dismissed", "dismissed", "denied"),
        ("bash_allow", "allowed once", "done"),
        ("bash_deny", "denied", "denied"),
        ("bash_deny_interrupt", "denied", "denied"),
        ("plan_approved", "approved", "done"),
        ("plan_rejected", "kept planning", "denied"),
    ],
)
def test_what_was_decided_stays_on_the_card(version: str, scenario: str, decision: str, status: str) -> None:
    tools = [item for item in replayed(version, scenario).items if isinstance(item, ToolItem)]
    assert [(tool.decision, tool.status) for tool in tools] == [(decision, status)]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_chosen_answers_stay_on_the_card(version: str) -> None:
    (tool,) = (item for item in replayed(version, "ask").items if isinstance(item, ToolItem))
    assert tool.chosen[0][0] == "Which database should we use?"
    assert tool.chosen[0][1].startswith("SQLite")
    assert tool.chosen[1] == ("Which features do you want?", "Auth\nExport")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_always_is_an_always_and_the_next_call_asks_nobody(version: str) -> None:
    conversation = replayed(version, "write_always_allow")
    tools = [item for item in conversation.items if isinstance(item, ToolItem)]
    assert [(tool.decision, tool.status) for tool in tools] == [("allowed always", "done"), ("", "done")]
    assert conversation.permission_mode == "acceptEdits"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", STOPPED)
def test_a_stop_is_a_stop_with_every_version(version: str, scenario: str) -> None:
    conversation = replayed(version, scenario)
    kinds = [item.kind for item in conversation.items if isinstance(item, NoticeItem)]
    assert kinds == ["stopped", "exited"]
    assert not [item for item in conversation.items if isinstance(item, UserItem) and "interrupted" in item.text]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_question_whose_turn_is_stopped_closes_and_the_session_goes_on(version: str) -> None:
    conversation = Conversation()
    reasons = []
    for _, changes in recordings.replay_steps(recordings.load(version, "ask_interrupted"), conversation):
        reasons += [change.reason for change in changes if change.kind == "pending_removed"]
    assert reasons == ["withdrawn"]
    assert [line.split(":")[0] for line in shown(conversation)] == [
        *("user completed", "text", "tool AskUserQuestion", "notice stopped", "end"),
        *("user completed", "text", "end", "notice exited"),
    ]
    assert "tool AskUserQuestion: interrupted" in shown(conversation)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_question_whose_cli_loses_its_stdin_closes(version: str) -> None:
    conversation = Conversation()
    reasons = []
    for _, changes in recordings.replay_steps(recordings.load(version, "ask_stdin_closed"), conversation):
        reasons += [change.reason for change in changes if change.kind == "pending_removed"]
    assert reasons == ["withdrawn"]
    (tool,) = (item for item in conversation.items if isinstance(item, ToolItem))
    assert tool.status == "interrupted"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        ("api_err401", notices.SIGN_IN),
        ("api_err429", notices.USAGE_LIMIT),
        ("api_overloaded_retry", notices.OVERLOADED),
    ],
)
def test_a_failure_of_the_api_is_one_error_that_says_what_to_do(version: str, scenario: str, text: str) -> None:
    conversation = replayed(version, scenario)
    told = [(item.kind, item.text) for item in conversation.items if isinstance(item, NoticeItem)]
    assert told == [("error", text), ("exited", notices.EXITED_CODE)]
    assert not [item for item in conversation.items if isinstance(item, TextItem)]


def test_not_being_signed_in_is_told_with_what_to_do() -> None:
    conversation = replayed("2.1.332", "not_logged_in")
    (notice,) = (item for item in conversation.items if isinstance(item, NoticeItem) and item.kind == "error")
    assert (notice.text, notice.detail) == (notices.SIGN_IN, "Not logged in · Please run /login")
    assert conversation.state == "idle"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_conversation_that_cannot_be_resumed_ends_before_it_begins(version: str) -> None:
    recording = recordings.load(version, "resume_unknown")
    conversation = recordings.replay(recording)
    told = [item.text for item in conversation.items if isinstance(item, NoticeItem)]
    silent = not [entry for entry in recording.entries if entry.direction == "out"]  # 2.0.x only says it on stderr
    assert told == [notices.EXITED_CODE] if silent else [notices.NOT_FOUND, notices.EXITED_CODE]
    assert [item.state for item in conversation.items if isinstance(item, UserItem)] == ["cancelled"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_subagents_request_says_who_asks(version: str) -> None:
    conversation = Conversation()
    request_id = recordings.until_question(recordings.load(version, "subagent_permission"), conversation)
    pending = conversation.pending[request_id]
    assert (pending.kind, pending.agent) == ("permission", "Look around")
    card = conversation.item(pending.tool_item_id or "")
    assert isinstance(card, ToolItem)
    assert (card.agent, card.status) == ("Look around", "waiting")
    assert card.parent_tool_use_id


def test_a_subagent_in_the_background_finishes_after_the_turn() -> None:
    assert shown(replayed("2.1.332", "subagent_permission"))[:-1] == [
        "user completed: AGENT1",
        "tool Agent: done",
        "text of toolu_00440: Sub thinking.",
        "tool Bash: done, allowed once, for Look around",
        'text: RESULT:[{"tool_use_id": "toolu',
        "end",
        'text of toolu_00440: RESULT:[{"tool_use_id": "toolu',
        "text: echo: .</note>\n<result>RESULT:",
        "end",
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_two_requests_are_answered_by_their_ids(version: str) -> None:
    conversation = replayed(version, "parallel_requests")
    decisions = {item.name: item.decision for item in conversation.items if isinstance(item, ToolItem)}
    assert decisions == {"AskUserQuestion": "answered", "Bash": "allowed once"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_message_sent_in_mid_turn_has_its_own_turn_below(version: str) -> None:
    assert [line[:30] for line in shown(replayed(version, "queued_messages"))] == [
        "user completed: SLOW",
        "text: word word word word word",
        "end",
        "user completed: second while busy"[:30],
        "text: echo: second while busy",
        "end",
        "notice exited",
    ]


def test_messages_with_ids_are_followed_and_can_be_taken_back() -> None:
    assert shown(replayed("2.1.332", "queued_messages_with_uuid")) == [
        "user completed: SLOW",
        "text cut: word word word word word word ",
        "user cancelled: third",
        "notice stopped",
        "end",
        "user completed: second",
        "text: echo: [Request interrupted by ",
        "end",
    ]


def test_the_state_is_the_clis_own_where_it_tells() -> None:
    conversation = Conversation()
    states = []
    for _ in recordings.replay_steps(recordings.load("2.1.332", "session_state_and_rename"), conversation):
        if not states or states[-1] != conversation.state:
            states.append(conversation.state)
    assert states == ["starting", "idle", "running", "requires_action", "running", "idle"]
    assert conversation.title == "My title"


@pytest.mark.parametrize("version", VERSIONS)
def test_thoughts_are_shown_once(version: str) -> None:
    conversation = replayed(version, "thinking")
    assert [item.text for item in conversation.items if isinstance(item, ThinkingItem)] == ["I ponder."]
    assert [item.text for item in conversation.items if isinstance(item, TextItem)] == ["Thought."]


@pytest.mark.parametrize("version", VERSIONS)
def test_slash_commands_show_their_output(version: str) -> None:
    recording = recordings.load(version, "slash_commands")
    conversation = Conversation()
    texts: dict[str, str] = {}
    for _ in recordings.replay_steps(recording, conversation):
        texts |= {item.id: item.text for item in conversation.items if isinstance(item, TextItem)}
    assert sum(text.startswith("## Context Usage") for text in texts.values()) == 1
    assert not [text for text in texts.values() if "<local-command" in text[:20] or text == "(no content)"]


@pytest.mark.parametrize(("version", "cleared"), [("2.1.197", True), ("2.1.332", True), ("2.0.71", False)])
def test_clear_clears_where_the_cli_knows_it(version: str, cleared: bool) -> None:
    lines = shown(replayed(version, "slash_commands"))
    assert ("user completed: /context" not in lines) is cleared
    assert "user completed: /nosuch" in lines


@pytest.mark.parametrize("version", VERSIONS)
def test_controls_have_their_effect_and_refused_ones_have_none(version: str) -> None:
    conversation = replayed(version, "controls")
    is_refused = version not in ("2.0.71", "2.0.76")  # those grant bypassPermissions to everybody
    assert conversation.permission_mode == ("acceptEdits" if is_refused else "bypassPermissions")
    assert "sonnet" in conversation.model


def test_an_elicitation_is_asked_within_its_tool() -> None:
    conversation = Conversation()
    asked = []
    for _, changes in recordings.replay_steps(recordings.load("2.1.332", "mcp_elicitation"), conversation):
        for change in changes:
            if change.kind == "pending_added":
                asked.append(conversation.pending[change.id].kind)
    assert asked == ["permission", "elicitation"]
    (tool,) = (item for item in conversation.items if isinstance(item, ToolItem))
    assert (tool.display_name, tool.status, tool.decision) == ("Ask User", "done", "allowed once")


@pytest.mark.parametrize("mode", ["acceptEdits", "auto", "bypassPermissions", "dontAsk", "plan"])
def test_questions_come_in_every_mode_but_one(mode: str) -> None:
    conversation = Conversation()
    asked = []
    for _, changes in recordings.replay_steps(recordings.load("2.1.332", f"ask_in_mode_{mode}"), conversation):
        asked += [change for change in changes if change.kind == "pending_added"]
    (tool,) = (item for item in conversation.items if isinstance(item, ToolItem))
    assert len(asked) == (0 if mode == "dontAsk" else 1)
    assert tool.decision == ("" if mode == "dontAsk" else "answered")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_picture_that_was_sent_is_shown_with_its_words(version: str) -> None:
    (item,) = (item for item in replayed(version, "image_input").items if isinstance(item, UserItem))
    assert item.text == "what is this"
    assert [image.media_type for image in item.images] == ["image/png"]


# Damage in between


@pytest.mark.parametrize("noise", [b"Welcome!\n", b"[debug] x\n", b"[1]\n", b"42\n", b"null\n", b"\n", b"\xff\xfe\n"])
def test_noise_between_the_lines_changes_nothing(noise: bytes) -> None:
    recording = recordings.load("2.1.332", "ask")
    quiet = recordings.replay(recording)
    conversation = Conversation()
    reader = LineReader()
    for entry in recording.entries:
        if entry.direction == "in":
            conversation.apply_sent(entry.value, entry.at)
        elif entry.direction == "exit":
            conversation.apply_exit(entry.code, "", entry.at)
        else:
            line = json.dumps(entry.value).encode() + b"\n"
            for read in reader.feed(noise + line + noise):
                if isinstance(read, DamagedLine):
                    conversation.apply_damage(read, entry.at)
                else:
                    conversation.apply(parse_message(read), entry.at)
    assert conversation.damaged == (0 if noise == b"\n" else 2 * sum(e.direction == "out" for e in recording.entries))
    assert {**conversation.snapshot(), "damaged": 0} == quiet.snapshot()
