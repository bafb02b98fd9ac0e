"""Starting, restarting and closing a conversation at any moment: one CLI at the most, and a phase that is true."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from desktop.conversations import OpenConversation
from desktop.conversations.drafts import Draft, new_key
from tests.helpers.desk import Desk, texts


def clis() -> list[int]:
    """The process ids of the conversations' CLIs that run now; what is asked for its version does not count."""
    found = []
    for child in psutil.Process().children():
        try:
            words = child.cmdline()
            if "--input-format" in words and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child.pid)
        except psutil.Error:
            continue
    return found


async def is_settled(desk: Desk, opened: OpenConversation) -> None:
    """Wait until it runs, and a moment longer: a second CLI would come up after the first."""
    await desk.until(lambda: opened.phase == "running")
    await asyncio.sleep(1.5)
    assert opened.phase == "running"
    assert opened.session is not None
    assert clis() == [opened.session.pid]
    assert opened.conversation.state == "idle"
    assert desk.conversations.limit.taken == 1


def test_two_restarts_at_once_make_one_cli(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        opened.restart()
        opened.restart()
        await asyncio.sleep(0.05)
        opened.restart()
        await is_settled(desk, opened)

    desk.run(story())
    assert clis() == []


def test_a_restart_while_the_cli_is_still_looked_for_makes_one_cli(desk: Desk) -> None:
    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.phase == "starting")
        await asyncio.sleep(0.05)
        assert opened.session is None
        opened.restart()
        await is_settled(desk, opened)

    desk.run(story())
    assert clis() == []


def test_a_restart_in_the_handshake_makes_one_cli(desk: Desk) -> None:
    desk.stand_in(harm="late-handshake=1")

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.session is not None and opened.session.pid)
        desk.stand_in()
        opened.restart()
        await is_settled(desk, opened)

    desk.run(story())


def test_closing_while_the_cli_is_looked_for_starts_none(desk: Desk) -> None:
    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await asyncio.sleep(0.05)
        assert opened.session is None
        await opened.close()
        for _ in range(20):
            await asyncio.sleep(0.1)
            assert clis() == []
        assert opened.session is None

    desk.run(story())


def test_what_is_sent_while_the_old_cli_ends_reaches_the_new_one_once(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        opened.restart()
        await asyncio.sleep(0)
        opened.send("in between")
        await desk.until(lambda: texts(opened) == ["echo: in between"])
        await is_settled(desk, opened)
        assert texts(opened) == ["echo: in between"]
        assert opened.draft == ""

    desk.run(story())


def test_a_folder_that_the_system_cannot_even_look_at_is_said_and_can_be_tried_again(desk: Desk) -> None:
    folder = Path(os.sep) / ("x" * 300)  # as with a network drive that is gone: an error of its own, not "not there"

    async def story() -> None:
        opened = desk.conversations.start(folder)
        opened.send("keep me")
        await desk.until(lambda: opened.phase == "failed")
        assert "restart" in [action.name for action in opened.notices["start"].actions]
        assert [message.text for message in opened.queued] == ["keep me"]

    desk.run(story())


@pytest.mark.logs("Lost exception in starting Claude")
def test_a_start_that_fails_in_an_unforeseen_way_can_be_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise RuntimeError("can't start new thread")

    async def story() -> None:
        monkeypatch.setattr(desk.surroundings, "prepare", broken)
        opened = await desk.open(until="failed")
        assert "can't start new thread" in opened.notices["start"].detail
        assert desk.conversations.limit.taken == 0
        monkeypatch.undo()
        opened.restart()
        await is_settled(desk, opened)

    desk.run(story())


def test_what_was_cleared_does_not_come_back_with_a_restart(desk: Desk) -> None:
    desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("forget this")
        await desk.until_turn_over(opened)
        before = opened.conversation.session_id
        opened.send("/clear")
        await desk.until(lambda: opened.conversation.session_id != before)
        await desk.until_turn_over(opened)
        assert before not in opened.runner.resume.candidates()

    desk.run(story())


# What was chosen


def test_what_is_chosen_while_the_cli_comes_up_is_told_to_it(desk: Desk) -> None:
    desk.stand_in(harm="late-handshake=1")

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.session is not None)
        opened.controls.set_mode("plan")
        opened.controls.set_model("sonnet")
        assert opened.runner.choices.mode == "plan"
        await desk.until(lambda: opened.conversation.permission_mode == "plan")
        await desk.until(lambda: opened.runner.choices.model == "sonnet")
        assert "sonnet" in opened.conversation.model
        assert opened.session is not None
        assert opened.session.options.permission_mode is None
        assert opened.runner.choices.mode == "plan"

    desk.run(story())


def test_a_choice_that_the_cli_refuses_when_it_is_up_counts_for_nothing(desk: Desk) -> None:
    desk.stand_in(harm="late-handshake=1")

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.session is not None)
        opened.controls.set_mode("bypassPermissions")
        await desk.until(lambda: "refused" in opened.notices)
        assert opened.runner.choices.mode is None

    desk.run(story())


def test_what_is_chosen_while_no_cli_runs_is_what_the_next_one_starts_with(desk: Desk) -> None:
    desk.stand_in({"when": "crash", "steps": [{"crash": 3}]}, sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("hello")
        await desk.until_turn_over(opened)
        opened.send("crash")
        await desk.until(lambda: opened.phase == "exited")
        assert opened.conversation.permission_mode == "default"
        opened.controls.set_mode("plan")
        opened.restart()
        await desk.until(lambda: opened.phase == "running")
        assert opened.session is not None
        assert opened.session.options.permission_mode == "plan"
        assert opened.runner.choices.mode == "plan"

    desk.run(story())


def test_a_model_that_is_refused_leaves_the_one_before(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        opened.controls.set_model("sonnet")
        await desk.until(lambda: opened.runner.choices.model == "sonnet")
        opened.controls.set_model("no-such-model")
        await desk.until(lambda: "refused" in opened.notices)
        assert opened.runner.choices.model == "sonnet"

    desk.run(story())


def test_a_mode_that_the_next_cli_does_not_take_is_not_said_to_be_in_force(desk: Desk) -> None:
    desk.peer("""
        shake()
        while (message := read()) is not None:
            if message["type"] == "control_request":
                no(message, "Unsupported control request subtype: x", "unsupported_request")
                continue
            say({"type": "system", "subtype": "init", "session_id": "s1", "permissionMode": "default"})
            text("done")
            result()
    """)

    async def story() -> None:
        opened = await desk.open()
        opened.send("one")
        await desk.until_turn_over(opened)
        assert opened.runner.choices.mode == "default"
        await opened.runner.stop_for_restart()
        opened.controls.set_mode("auto")
        opened.start()
        await desk.until(lambda: opened.phase == "running")
        assert opened.session is not None
        assert opened.session.options.permission_mode == "auto"
        opened.send("two")
        await desk.until_turn_over(opened)
        assert opened.runner.choices.mode == "default"

    desk.run(story())


def test_a_new_conversation_is_none_that_goes_on_with_a_saved_one(desk: Desk) -> None:
    desk.drafts.save(Draft(key=new_key(), folder=str(desk.folder), session_id="saved", text="half a sentence"))

    async def story() -> None:
        [restored] = desk.conversations.restore()
        restored.texts.set_draft("", [])
        opened = desk.conversations.start(desk.folder)
        assert opened is not restored
        await is_settled(desk, opened)
        assert opened.session is not None
        assert opened.session.options.resume is None

    desk.run(story())
