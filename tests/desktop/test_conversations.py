"""An open conversation: nothing that was typed is lost, whatever the CLI does."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from desktop.composer.attachments import Image
from protocol.conversation import NoticeItem, ToolItem, UserItem
from tests.helpers.desk import Desk, first_pending, kept_files, question, sent, texts

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


# Sending


def test_a_message_is_answered_and_its_draft_is_gone(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        opened.send("hello")
        await desk.until_turn_over(opened)
        assert texts(opened) == ["echo: hello"]
        opened.texts.save()
        assert kept_files(desk.drafts.folder) == []

    desk.run(story())


def test_what_is_written_before_the_cli_is_there_is_sent_when_it_is(desk: Desk) -> None:
    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        opened.send("first")
        opened.send("second")
        assert [message.held_by for message in opened.queued] == ["us", "us"]
        await desk.until(lambda: texts(opened) == ["echo: first", "echo: second"])
        assert sent(opened) == ["first", "second"]

    desk.run(story())


def test_a_picture_goes_with_its_message(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        opened.send("look", [Image(PNG, "image/png", "a.png")])
        await desk.until_turn_over(opened)
        item = next(item for item in opened.conversation.items if isinstance(item, UserItem))
        assert item.text == "look"
        assert [image.media_type for image in item.images] == ["image/png"]

    desk.run(story())


def test_a_message_is_on_the_disk_before_it_is_sent(desk: Desk) -> None:
    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        opened.send("precious")
        kept = desk.drafts.load()
        assert [message.text for message in kept[0].outgoing] == ["precious"]
        await desk.until(lambda: texts(opened) == ["echo: precious"])

    desk.run(story())


def test_a_queued_message_can_be_taken_back(desk: Desk) -> None:
    desk.stand_in([{"wait": 30}, {"text": "done"}])

    async def story() -> None:
        opened = await desk.open()
        back: list[str] = []
        opened.texts.put_back.connect(lambda text, images: back.append(text))
        opened.send("work")
        await desk.until(lambda: opened.conversation.state == "running")
        opened.send("second thought")
        await desk.until(lambda: [one.held_by for one in opened.queued] == ["claude"])
        opened.take_back(opened.queued[0].uuid)
        await desk.until(lambda: back == ["second thought"])
        assert opened.queued == []

    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)
    desk.run(story())


def test_a_message_that_waits_for_the_start_can_be_taken_back(desk: Desk) -> None:
    desk.stand_in(harm="late-handshake=1")

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        back: list[str] = []
        opened.texts.put_back.connect(lambda text, images: back.append(text))
        opened.send("not yet")
        opened.take_back(opened.queued[0].uuid)
        assert back == ["not yet"]
        await desk.until(lambda: opened.phase == "running")
        assert sent(opened) == []

    desk.run(story())


# Questions


def test_while_a_question_is_open_the_text_can_be_the_reply(desk: Desk) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "you: ${asked.message|nothing}"}])

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.open_question is not None)
        opened.send("neither, think again", as_reply=True)
        await desk.until_turn_over(opened)
        tool = next(item for item in opened.conversation.items if isinstance(item, ToolItem))
        assert tool.decision == "replied"
        assert "neither, think again" in texts(opened)[-1]
        assert sent(opened) == ["go"]

    desk.run(story())


def test_or_it_is_queued_by_the_persons_choice(desk: Desk) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "one"}])

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.open_question is not None)
        opened.send("and then this", as_reply=False)
        assert opened.open_question is not None
        assert sent(opened) == ["go", "and then this"]

    desk.run(story())


def test_a_reply_with_a_picture_is_queued_since_an_answer_cannot_hold_one(desk: Desk) -> None:
    desk.stand_in([question("Which?", "A", "B"), {"text": "one"}])

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.open_question is not None)
        opened.send("like this", [Image(PNG, "image/png")], as_reply=True)
        assert opened.open_question is not None
        assert "like this" in sent(opened)

    desk.run(story())


def test_text_in_a_dialog_is_recovered_when_the_request_is_withdrawn(desk: Desk) -> None:
    ask = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True, "withdraw_after": 1}
    desk.stand_in([ask, {"text": "on"}])

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        opened.texts.note_typed(first_pending(opened), "because I said so")
        await desk.until(lambda: not opened.conversation.pending)
        assert opened.recovered == ["because I said so"]

    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)
    desk.run(story())


# The CLI ends


def test_a_cli_that_dies_is_said_with_its_code_and_last_words(desk: Desk) -> None:
    desk.stand_in([{"text": "half"}, {"stderr": "the roof is on fire\n"}, {"crash": 3}])

    async def story() -> None:
        opened = await desk.open()
        said: list[str] = []
        opened.failed.connect(said.append)
        opened.send("go")
        await desk.until(lambda: opened.phase == "exited")
        notice = opened.notices["start"]
        assert "code 3" in str(notice.text)
        assert "the roof is on fire" in notice.detail
        assert [action.name for action in notice.actions] == ["restart"]
        assert said == [str(notice.text)]

    desk.run(story())


def test_text_in_a_dialog_is_recovered_when_the_cli_dies(desk: Desk) -> None:
    desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        opened.typed_in_dialog = lambda request_id: "half an answer"
        assert opened.session is not None
        await asyncio.to_thread(_kill, opened.session.pid)
        await desk.until(lambda: opened.phase == "exited")
        assert opened.recovered == ["half an answer"]

    desk.run(story())


def test_a_message_that_was_never_read_returns_when_the_cli_dies(desk: Desk) -> None:
    desk.stand_in([{"stop_reading": 30}])

    async def story() -> None:
        opened = await desk.open()
        back: list[str] = []
        opened.texts.put_back.connect(lambda text, images: back.append(text))
        opened.send("go")
        await desk.until(lambda: opened.conversation.state == "running")
        await asyncio.sleep(0.3)
        opened.send("did you get this?")
        await asyncio.sleep(0.3)
        assert opened.session is not None
        await asyncio.to_thread(_kill, opened.session.pid)
        await desk.until(lambda: opened.phase == "exited")
        assert back == ["did you get this?"]
        assert opened.draft == "did you get this?"
        assert "not received" in str(opened.notices["start"].text)

    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)
    desk.run(story())


def test_a_message_written_while_the_cli_is_down_starts_it_and_is_sent(desk: Desk) -> None:
    desk.stand_in({"when": "crash", "steps": [{"crash": 3}]}, sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("first")
        await desk.until_turn_over(opened)
        opened.send("crash")
        await desk.until(lambda: opened.phase == "exited")
        opened.send("are you there")
        await desk.until(lambda: "echo: are you there" in texts(opened))
        assert opened.phase == "running"
        assert "start" not in opened.notices

    desk.run(story())


def test_a_restart_goes_on_with_the_saved_conversation_and_keeps_the_draft(desk: Desk) -> None:
    desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("remember me")
        await desk.until_turn_over(opened)
        session_id = opened.conversation.session_id
        opened.texts.set_draft("half a sentence", [])
        first = opened.session
        opened.restart()
        await desk.until(lambda: opened.session is not first and opened.phase == "running")
        assert opened.session is not None
        assert opened.session.options.resume == session_id
        assert opened.session.options.cwd == desk.folder
        assert opened.draft == "half a sentence"
        assert sent(opened) == ["remember me"]

    desk.run(story())


def test_what_claude_never_saved_is_offered_as_a_new_conversation_that_says_so(desk: Desk) -> None:
    desk.stand_in([question("Which?", "A", "B")], sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        assert opened.session is not None
        await asyncio.to_thread(_kill, opened.session.pid)
        await desk.until(lambda: opened.phase == "exited")
        opened.texts.set_draft("my next words", [])
        opened.restart()
        await desk.until(lambda: opened.phase == "failed")
        notice = opened.notices["start"]
        assert "saved nothing" in str(notice.text)
        assert [action.name for action in notice.actions] == ["start_anew"]
        opened.start_anew()
        await desk.until(lambda: opened.phase == "running")
        assert opened.draft == "my next words"
        assert "new conversation" in str(opened.notices["anew"].text)

    desk.run(story())


def _kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


# Models and modes


def test_a_mode_that_is_refused_is_told_and_the_old_one_stays(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        before = opened.conversation.permission_mode
        opened.controls.set_mode("bypassPermissions")
        await desk.until(lambda: "refused" in opened.notices)
        assert opened.conversation.permission_mode == before
        assert opened.runner.choices.mode is None
        opened.controls.set_mode("plan")
        await desk.until(lambda: opened.conversation.permission_mode == "plan")
        assert "refused" not in opened.notices

    desk.run(story())


def test_the_chosen_model_and_mode_survive_a_restart(desk: Desk) -> None:
    desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.controls.set_model("sonnet")
        opened.controls.set_mode("acceptEdits")
        await desk.until(lambda: opened.conversation.permission_mode == "acceptEdits")
        opened.restart()
        await desk.until(lambda: opened.session is not None and opened.session.options.model == "sonnet")
        assert opened.session is not None
        assert opened.session.options.permission_mode == "acceptEdits"
        await desk.until(lambda: opened.phase == "running")

    desk.run(story())


def test_the_context_is_known_after_a_turn(desk: Desk) -> None:
    desk.stand_in([{"usage": 120_000}, {"text": "much"}], context_window=200_000)

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.controls.context_percent)
        assert 55 <= (opened.controls.context_percent or 0) <= 65

    desk.run(story())


# Trust, places, folders


def test_a_folder_with_its_own_settings_is_asked_about_before_anything_starts(desk: Desk) -> None:
    (desk.folder / ".claude").mkdir()
    (desk.folder / ".claude" / "settings.json").write_text("{}", encoding="utf-8")

    async def story() -> None:
        opened = await desk.open(until="untrusted")
        assert opened.session is None
        notice = opened.notices["start"]
        assert ".claude/settings.json" in str(notice.text)
        assert not any(action.primary for action in notice.actions)
        opened.send("written meanwhile")
        assert opened.session is None
        opened.trust()
        await desk.until(lambda: texts(opened) == ["echo: written meanwhile"])
        assert desk.settings.trusts(desk.folder)

    desk.run(story())


def test_only_so_many_clis_run_at_once_and_the_next_one_says_that_it_waits(desk: Desk) -> None:
    desk.settings.change(max_processes=1)
    second_folder = desk.root / "second"
    second_folder.mkdir()

    async def story() -> None:
        first = await desk.open()
        second = desk.conversations.start(second_folder)
        await desk.until(lambda: second.phase == "queued")
        assert "1 conversations run already" in str(second.notices["start"].text)
        second.send("me too")
        await first.close()
        await desk.until(lambda: texts(second) == ["echo: me too"])
        assert "start" not in second.notices

    desk.run(story())


def test_a_cli_that_died_gives_its_place_to_the_next(desk: Desk) -> None:
    desk.stand_in([{"crash": 1}])
    desk.settings.change(max_processes=1)
    second_folder = desk.root / "second"
    second_folder.mkdir()

    async def story() -> None:
        first = await desk.open()
        second = desk.conversations.start(second_folder)
        await desk.until(lambda: second.phase == "queued")
        first.send("die")
        await desk.until(lambda: second.phase == "running")

    desk.run(story())


def test_raising_the_number_lets_the_next_one_in(desk: Desk) -> None:
    desk.settings.change(max_processes=1)
    second_folder = desk.root / "second"
    second_folder.mkdir()

    async def story() -> None:
        await desk.open()
        second = desk.conversations.start(second_folder)
        await desk.until(lambda: second.phase == "queued")
        desk.settings.change(max_processes=2)
        await desk.until(lambda: second.phase == "running")

    desk.run(story())


def test_a_conversation_that_waits_for_a_place_can_be_closed(desk: Desk) -> None:
    desk.settings.change(max_processes=1)
    second_folder = desk.root / "second"
    second_folder.mkdir()

    async def story() -> None:
        first = await desk.open()
        second = desk.conversations.start(second_folder)
        await desk.until(lambda: second.phase == "queued")
        await desk.conversations.remove(second)
        assert desk.conversations.limit.taken == 1
        assert list(desk.conversations) == [first]

    desk.run(story())


def test_a_folder_that_is_gone_is_said_and_the_draft_is_kept(desk: Desk) -> None:
    async def story() -> None:
        opened = desk.conversations.start(desk.root / "gone")
        opened.texts.set_draft("still here", [])
        await desk.until(lambda: opened.phase == "failed")
        assert "gone is not there" in str(opened.notices["start"].text)
        assert opened.draft == "still here"

    desk.run(story())


def test_an_untouched_conversation_moves_to_another_folder(desk: Desk) -> None:
    other = desk.root / "other"
    other.mkdir()

    async def story() -> None:
        opened = await desk.open()
        assert opened.is_untouched
        opened.move_to(other)
        await desk.until(lambda: opened.folder == other and opened.phase == "running")
        opened.send("where?")
        await desk.until_turn_over(opened)
        assert Path(opened.conversation.cwd) == other

    desk.run(story())


def test_a_second_wish_for_the_same_folder_uses_the_untouched_conversation(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        assert desk.conversations.start(desk.folder) is opened
        opened.send("now it is touched")
        assert desk.conversations.start(desk.folder) is not opened

    desk.run(story())


# Bad starts


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("exit-at-start=7", "7"),
        ("refuse-handshake=no way", "refused"),
    ],
)
def test_a_cli_that_does_not_start_is_said_and_what_was_written_is_kept(desk: Desk, harm: str, words: str) -> None:
    desk.stand_in(harm=harm)

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        opened.send("do not lose me")
        await desk.until(lambda: opened.phase == "failed")
        notice = opened.notices["start"]
        assert words in f"{notice.text} {notice.detail}"
        assert "restart" in [action.name for action in notice.actions]
        assert [message.text for message in opened.queued] == ["do not lose me"]
        desk.stand_in()
        opened.restart()
        await desk.until(lambda: texts(opened) == ["echo: do not lose me"])

    desk.run(story())


def test_a_cli_that_never_shakes_hands_is_given_up_in_words(desk: Desk) -> None:
    desk.stand_in(harm="no-handshake")

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        opened.runner.handshake_timeout = 0.5
        await desk.until(lambda: opened.phase == "failed")
        assert "did not answer" in str(opened.notices["start"].text)

    desk.run(story())


def test_a_missing_cli_is_said_with_what_to_do(desk: Desk) -> None:
    desk.environ["HANDRAISE_CLAUDE"] = str(desk.root / "no-such-claude")
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await desk.open(until="failed")
        names = [action.name for action in opened.notices["start"].actions]
        assert names == ["install_help", "choose_claude", "restart"]

    desk.run(story())


def test_a_cli_that_is_something_else_is_said(desk: Desk) -> None:
    desk.environ["HANDRAISE_CLAUDE"] = "/bin/false"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await desk.open(until="failed")
        assert "/bin/false" in str(opened.notices["start"].text)

    desk.run(story())


def test_a_cli_that_is_too_old_to_ask_still_chats_and_says_so(desk: Desk) -> None:
    desk.environ["FAKE_CLI_VERSION"] = "2.0.14"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await desk.open()
        assert "2.0.71" in str(opened.notices["version"].text)
        opened.send("hello")
        await desk.until_turn_over(opened)
        assert texts(opened) == ["echo: hello"]

    desk.run(story())


def test_an_api_key_is_taken_out_and_said_once_for_all_conversations(desk: Desk) -> None:
    desk.environ["ANTHROPIC_API_KEY"] = "sk-ant-secret"
    desk.surroundings.environ = dict(desk.environ)
    second_folder = desk.root / "second"
    second_folder.mkdir()

    async def story() -> None:
        first = await desk.open()
        assert "ANTHROPIC_API_KEY" in str(first.notices["api_key"].text)
        assert "sk-ant-secret" not in str(first.notices["api_key"].text)
        assert first.session is not None
        assert "ANTHROPIC_API_KEY" not in first.session.options.env
        second = desk.conversations.start(second_folder)
        await desk.until(lambda: second.phase == "running")
        assert "api_key" not in second.notices

    desk.run(story())


def test_the_setting_keeps_the_api_key(desk: Desk) -> None:
    desk.environ["ANTHROPIC_API_KEY"] = "sk-ant-secret"
    desk.surroundings.environ = dict(desk.environ)
    desk.settings.change(keep_api_key=True)

    async def story() -> None:
        opened = await desk.open()
        assert opened.session is not None
        assert opened.session.options.env["ANTHROPIC_API_KEY"] == "sk-ant-secret"
        assert "api_key" not in opened.notices

    desk.run(story())


def test_a_login_that_expired_offers_to_sign_in_and_gives_the_message_back(desk: Desk) -> None:
    desk.stand_in([{"fail": "401"}], sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("do it")
        await desk.until(lambda: "login" in opened.notices)
        assert [action.name for action in opened.notices["login"].actions] == ["sign_in"]
        await desk.until(lambda: opened.conversation.state == "idle")
        assert opened.draft == "do it"
        desk.conversations.restart_signed_out()
        await desk.until(lambda: opened.phase == "running" and "login" not in opened.notices)
        assert opened.draft == "do it"

    desk.run(story())


def test_a_long_silence_is_said_with_stop_and_restart(desk: Desk) -> None:
    desk.stand_in([{"silence": 60}])
    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await desk.open()
        opened.controls.silence_after = 0.5
        opened.send("go")
        await desk.until(lambda: "silence" in opened.notices)
        assert [action.name for action in opened.notices["silence"].actions] == ["stop", "restart"]

    desk.run(story())


def test_stop_ends_the_turn_and_not_the_conversation(desk: Desk) -> None:
    desk.stand_in([{"text": "word " * 50, "pace": 20}])
    desk.environ["FAKE_CLI_PACE"] = "1"
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: texts(opened))
        opened.stop()
        await desk.until(lambda: opened.conversation.state == "idle")
        kinds = [item.kind for item in opened.conversation.items if isinstance(item, NoticeItem)]
        assert kinds == ["stopped"]
        assert opened.phase == "running"

    desk.run(story())


def test_the_chosen_effort_survives_a_restart(desk: Desk) -> None:
    desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await desk.open()
        await desk.until(lambda: opened.controls.effort)
        opened.controls.set_effort("high")
        await desk.until(lambda: opened.controls.effort == "high")
        opened.restart()
        first = opened.session
        await desk.until(lambda: opened.session is not first and opened.phase == "running")
        await desk.until(lambda: opened.controls.effort == "high")

    desk.run(story())


def test_the_mode_of_an_approved_plan_goes_on_after_a_restart(desk: Desk) -> None:
    desk.stand_in([{"mode": "acceptEdits"}, {"text": "done"}], sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.conversation.permission_mode == "acceptEdits")
        await desk.until_turn_over(opened)
        first = opened.session
        opened.restart()
        await desk.until(lambda: opened.session is not first and opened.phase == "running")
        assert opened.session is not None
        assert opened.session.options.permission_mode == "acceptEdits"

    desk.run(story())


@pytest.mark.logs("could not be saved")
def test_a_disk_that_takes_no_drafts_is_said(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        desk.drafts.folder.parent.mkdir(parents=True, exist_ok=True)
        desk.drafts.folder.write_text("a file in the way", encoding="utf-8")
        opened.texts.set_draft("half a sentence", [])
        opened.texts.save()
        assert "a crash would lose it" in str(opened.notices["draft"].text)

    desk.run(story())


def test_an_id_that_a_resumed_cli_names_is_not_trusted_before_a_turn_has_ended(desk: Desk) -> None:
    desk.stand_in(sessions=True)

    async def story() -> None:
        opened = await desk.open()
        opened.send("remember me")
        await desk.until_turn_over(opened)
        proved = opened.conversation.session_id
        opened.runner.resume.seen("00000000-0000-4000-8000-000000000000")
        assert opened.runner.resume.candidates()[0] == proved
        opened.texts.set_draft("x", [])
        opened.texts.save()
        assert desk.drafts.load()[0].session_id == proved

    desk.run(story())
