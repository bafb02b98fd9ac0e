"""Turns that users of such programs lost sight of: what waits, what is summarized, what asks after the turn is over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from desktop.notifications import Notifier
from protocol.conversation import NoticeItem, UserItem
from tests.helpers.desk import first_pending, question, sent, texts
from tests.helpers.lies import says
from tests.helpers.sitting import Sitting

TOOL = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}


def user_states(sitting: Sitting) -> dict[str, str]:
    return {item.text: item.state for item in sitting.opened.conversation.items if isinstance(item, UserItem)}


# Messages while Claude works


def test_a_message_sent_in_mid_turn_is_seen_waiting_and_gets_a_turn_of_its_own(sitting: Sitting) -> None:
    sitting.desk.stand_in([{"silence": 1.0}, {"text": "one"}], [{"text": "two"}])

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("first")
        await sitting.until(lambda: user_states(sitting).get("first") == "started", "it is at work")
        await sitting.person.send("second")
        await sitting.person.reads("Queued: Claude reads it next")
        await sitting.at_rest()
        assert "Queued" not in sitting.person.visible_text()
        assert texts(sitting.opened) == ["one", "two"]
        assert user_states(sitting) == {"first": "completed", "second": "completed"}

    sitting.play(story)


def test_a_message_sent_during_a_question_is_seen_waiting_until_the_turn_takes_it_up(sitting: Sitting) -> None:
    sitting.desk.stand_in([TOOL, {"text": "both"}])

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("first")
        await sitting.person.sees("permissionDialog")
        await sitting.person.send("by the way")
        await sitting.person.reads("Queued: Claude reads it next")
        assert sitting.person.is_seen("permissionDialog")
        await sitting.person.click_when_read("allowOnce")
        await sitting.at_rest()
        assert "Queued" not in sitting.person.visible_text()
        assert sent(sitting.opened) == ["first", "by the way"]
        assert texts(sitting.opened) == ["both"]
        assert user_states(sitting)["by the way"] == "completed"

    sitting.play(story)


def test_a_stopped_turn_says_stopped_and_is_no_error(sitting: Sitting) -> None:
    sitting.desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        await sitting.person.click("stopButton")
        await sitting.person.sees_no_more("questionDialog")
        await sitting.at_rest()
        notices = [(item.kind, item.text) for item in opened.conversation.items if isinstance(item, NoticeItem)]
        assert notices == [("stopped", "Stopped.")]
        assert sitting.offers == []
        await sitting.person.send("and now?")
        await sitting.until(lambda: texts(opened)[-1:] == ["echo: and now?"], "it goes on")

    sitting.play(story)


# Summaries


@pytest.mark.parametrize(
    "end",
    [
        {"type": "system", "subtype": "status", "status": None},
        {"type": "result", "subtype": "success", "is_error": False, "result": ""},
        {"type": "result", "subtype": "error_during_execution", "is_error": True, "errors": ["too long"]},
        {"type": "system", "subtype": "session_state_changed", "state": "idle"},
    ],
    ids=["told", "result", "error", "idle"],
)
def test_compacting_is_said_as_long_as_it_lasts(sitting: Sitting, end: dict[str, Any]) -> None:
    sitting.desk.stand_in([{"text": "so far"}, {"status": "compacting"}, {"silence": 600}])

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.reads("Compacting…")
        await asyncio.sleep(0.3)
        assert "Compacting…" in state_line(sitting)
        says(sitting, end)
        await sitting.until(lambda: "Compacting" not in state_line(sitting), "it is over")
        says(sitting, {"type": "system", "subtype": "session_state_changed", "state": "running"})  # as it is
        await asyncio.sleep(0.05)

    sitting.play(story)


def state_line(sitting: Sitting) -> str:
    sitting.window.refresh()
    return sitting.window.status.text()


# Subagents


def test_what_a_subagent_asks_after_the_turn_is_over_can_be_answered(sitting: Sitting) -> None:
    """Some hosts close stdin after the first result; everything that is asked later fails there, for hours."""
    agent = {"agent": "count the files", "background": True, "after": [{"text": "counted"}],
             "steps": [{"silence": 1.0}, TOOL]}  # fmt: skip
    sitting.desk.stand_in([agent, {"text": "I have begun"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.until(lambda: texts(opened) == ["I have begun"], "the turn is over")
        await sitting.person.sees("permissionDialog")
        assert "count the files" in sitting.person.visible_text()
        await sitting.person.click_when_read("allowOnce")
        await sitting.until(lambda: texts(opened)[-1:] == ["counted"], "the subagent is done")

    sitting.play(story)


# Notifications


def test_a_notification_leads_to_what_waits_and_answers_nothing(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.desk.stand_in([TOOL, {"text": "done"}])
    other = sitting.desk.root / "other"
    other.mkdir()

    async def story() -> None:
        notifier = Notifier(sitting.window, sitting.desk.settings, sitting.window.windowIcon(), sitting.window)
        notifier.opened.connect(sitting.window.lead_to)
        sitting.desk.conversations.request_added.connect(notifier.tell)
        monkeypatch.setattr(type(sitting.window), "isActiveWindow", lambda _self: False)
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("permissionDialog")
        elsewhere = sitting.window.open_folder(other)
        await sitting.until(lambda: elsewhere.phase == "running", "another conversation is shown")
        assert not sitting.person.is_seen("permissionDialog")
        notifier.on_clicked()
        await sitting.person.sees("permissionDialog")
        assert list(opened.conversation.pending) == [first_pending(opened)]
        notifier.on_clicked()
        assert opened.conversation.pending
        assert texts(opened) == []
        notifier.close()

    sitting.play(story)


# Who pays


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ANTHROPIC_BASE_URL": "https://proxy.example"}, "Through https://proxy.example"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "Amazon Bedrock"),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, "Google Vertex AI"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_where_the_traffic_goes_is_said_in_the_account_chip(
    sitting: Sitting, variables: dict[str, str], words: str
) -> None:
    sitting.environment(**variables)

    async def story() -> None:
        await sitting.begin()
        sitting.window.refresh()
        assert sitting.window.sidebar.account.accessibleName() == words
        for name in variables:
            assert name in sitting.window.sidebar.account.toolTip()

    sitting.play(story)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_key_that_would_be_billed_is_taken_out_and_said(sitting: Sitting, name: str) -> None:
    sitting.environment(**{name: "sk-ant-secret"})

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.sees("notice_api_key")
        assert f"{name} in your environment would bill the API instead of your plan" in sitting.says
        assert "sk-ant-secret" not in sitting.person.visible_text()
        assert opened.session is not None
        assert name not in opened.session.options.env
        sitting.window.refresh()
        assert f"Not handed to Claude: {name}" in sitting.window.sidebar.account.toolTip()

    sitting.play(story)


# Refusals


def test_a_model_and_a_mode_that_are_refused_put_the_selector_back_and_say_why(sitting: Sitting) -> None:
    async def story() -> None:
        opened = await sitting.begin()
        before = (opened.conversation.permission_mode, opened.runner.choices.mode)
        sitting.window.top_bar.mode.picked.emit("bypassPermissions")
        await sitting.person.sees("notice_refused")
        assert "not launched with" in sitting.says
        await sitting.person.reads("Ask each time")
        opened.controls.set_model("no-such-model")
        await sitting.until(lambda: "no-such-model was not found" in sitting.says, "the refusal is said")
        assert opened.runner.choices.model is None
        assert (opened.conversation.permission_mode, opened.runner.choices.mode) == before

    sitting.play(story)


def test_a_restart_shows_what_was_said_before_once(sitting: Sitting) -> None:
    sitting.desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("remember")
        await sitting.at_rest()
        before = opened.session
        opened.restart()
        await sitting.until(lambda: opened.session is not before and opened.phase == "running", "it runs again")
        await sitting.person.send("and?")
        await sitting.at_rest()
        assert sent(opened) == ["remember", "and?"]
        assert texts(opened) == ["echo: remember", "echo: and?"]

    sitting.play(story)
