"""Killed at any moment, the program finds at its next start every word that nobody had received, and no other.

What a `kill -9` leaves is what is on the disk at that moment, so it is looked at there: a copy of the folders is opened
as the next start opens them. `tests/desktop/test_application.py` kills the program for true.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtTest import QTest

from desktop.composer.attachments import Image
from desktop.conversations import OpenConversation
from tests.helpers.desk import Desk, question, texts
from tests.helpers.lies import says
from tests.helpers.sitting import Sitting

WORDS = "Words that must not be lost"
PICTURE = Image(b"\x89PNG\r\n\x1a\npixels", "image/png", "a.png")
PATIENCE = 1.3
"""Seconds after the last key until all of it is on the disk: half for the dialog's look, half for the writing."""


def after_a_kill(sitting: Sitting, tmp_path: Path) -> list[OpenConversation]:
    """What the next start offers if the program is killed now."""
    root = tmp_path / "after the kill"
    shutil.copytree(sitting.desk.root / "data", root / "data", dirs_exist_ok=True)
    next_start = Desk(sitting.desk.application, root)
    return next_start.conversations.restore()


def offered(restored: list[OpenConversation]) -> list[str]:
    """Every text that is at hand again."""
    return [text for one in restored for text in (one.draft, *one.recovered) if text]




def test_a_moment_after_the_last_key(sitting: Sitting, tmp_path: Path) -> None:
    async def story() -> None:
        await sitting.begin()
        await sitting.person.write("composer", WORDS)
        await asyncio.sleep(PATIENCE)
        assert offered(after_a_kill(sitting, tmp_path)) == [WORDS]

    sitting.play(story)


def test_while_somebody_types_without_a_pause(sitting: Sitting, tmp_path: Path) -> None:
    async def story() -> None:
        await sitting.begin()
        editor = await sitting.person.ready("composer")
        editor.setFocus()
        for _ in range(20):
            QTest.keyClicks(editor, "type ")
            await asyncio.sleep(0.1)
        (kept,) = offered(after_a_kill(sitting, tmp_path))
        assert len(kept) > 50

    sitting.play(story)


@pytest.mark.parametrize("field", ["otherText_0", "replyText", "notes_0"])
def test_while_somebody_types_into_a_question_without_a_pause(sitting: Sitting, tmp_path: Path, field: str) -> None:
    sitting.desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        if field == "replyText":
            await sitting.person.click("replyInstead")
        elif field == "notes_0":
            await sitting.person.click("option_0_0")
            await sitting.person.click("addNote")
        else:
            await sitting.person.click("other_0")
        editor = await sitting.person.ready(field)
        editor.setFocus()
        for _ in range(25):
            QTest.keyClicks(editor, "type ")
            await asyncio.sleep(0.1)
        (kept,) = offered(after_a_kill(sitting, tmp_path))
        assert len(kept) > 50

    sitting.play(story)


def test_in_the_moment_of_sending_while_claude_still_starts(sitting: Sitting, tmp_path: Path) -> None:
    sitting.desk.stand_in(harm="no-handshake")

    async def story() -> None:
        await sitting.begin(until="starting")
        await sitting.person.send(WORDS)
        assert offered(after_a_kill(sitting, tmp_path)) == [WORDS]

    sitting.play(story)


def test_between_sending_and_reading(sitting: Sitting, tmp_path: Path) -> None:
    sitting.desk.stand_in([{"stop_reading": 600}, {"silence": 600}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.until(lambda: opened.conversation.state == "running", "it is at work")
        await asyncio.sleep(0.3)
        await sitting.person.send(WORDS)
        await sitting.person.write("composer", "and the next")
        await asyncio.sleep(PATIENCE)
        assert sorted(offered(after_a_kill(sitting, tmp_path))) == sorted(["and the next", WORDS])
        assert opened.session is not None
        os.kill(opened.session.pid or 0, 9)  # it would not hear that it shall leave
        await sitting.until(lambda: opened.phase == "exited", "it is gone")

    sitting.play(story)


def test_once_claude_has_read_a_message_it_is_not_offered_again(sitting: Sitting, tmp_path: Path) -> None:
    sitting.desk.stand_in([{"text": "I have read it"}, {"silence": 600}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send(WORDS)
        await sitting.until(lambda: texts(opened) == ["I have read it"], "it was read")
        await asyncio.sleep(PATIENCE)
        assert offered(after_a_kill(sitting, tmp_path)) == []

    sitting.play(story)


def test_with_a_picture_and_a_paste_of_a_megabyte(sitting: Sitting, tmp_path: Path) -> None:
    async def story() -> None:
        await sitting.begin()
        sitting.page.composer.attachments.add_image(PICTURE)
        sitting.page.composer.add_text("z" * 1_000_000)
        await asyncio.sleep(PATIENCE)
        (restored,) = after_a_kill(sitting, tmp_path)
        assert restored.draft == "z" * 1_000_000
        assert [image.data for image in restored.texts.images] == [PICTURE.data]

    sitting.play(story)


def test_what_was_recovered_already_stays_recovered_and_comes_once(sitting: Sitting, tmp_path: Path) -> None:
    sitting.desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.click("replyInstead")
        await sitting.person.write("replyText", WORDS)
        says(sitting, {"type": "control_cancel_request", "request_id": next(iter(opened.conversation.pending))})
        await sitting.person.sees_no_more("questionDialog")
        await asyncio.sleep(PATIENCE)
        assert offered(after_a_kill(sitting, tmp_path)) == [WORDS]

    sitting.play(story)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_in_a_folder_whose_name_is_no_text_and_under_a_title_that_is_cut_in_an_emoji(
    sitting: Sitting, tmp_path: Path
) -> None:
    odd = os.fsdecode(os.fsencode(sitting.desk.root) + b"/caf\xe9")
    os.mkdir(odd)
    sitting.desk.folder = Path(odd)

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.at_rest()
        assert texts(opened) == ["echo: go"]
        # As the CLI writes it: an escape, for a line with half an emoji in it would be no UTF-8.
        says(sitting, {"type": "system", "subtype": "session_title_changed", "title": "cut \ud83d"})
        await sitting.person.write("composer", WORDS)
        await asyncio.sleep(PATIENCE)
        (restored,) = after_a_kill(sitting, tmp_path)
        assert restored.draft == WORDS
        assert restored.folder == Path(odd)
        await sitting.person.click("sendButton")
        await sitting.until(lambda: f"echo: {WORDS}" in texts(opened), "Claude has answered")

    sitting.play(story)


def test_after_the_next_start_it_stands_in_the_composer_and_goes_out_when_it_is_sent(sitting: Sitting) -> None:
    sitting.desk.stand_in(sessions=True)

    async def before() -> None:
        await sitting.begin()
        await sitting.person.send("first")
        await sitting.at_rest()
        await sitting.person.write("composer", WORDS)
        await asyncio.sleep(PATIENCE)

    async def after() -> None:
        (restored,) = sitting.desk.conversations.restore()
        sitting.window.show_conversation(restored)
        assert sitting.composer == WORDS
        assert restored.title == "first"
        assert restored.phase == "unstarted"  # nothing runs that nobody has asked for
        await sitting.person.click("sendButton")
        await sitting.until(lambda: f"echo: {WORDS}" in texts(restored), "Claude has answered")
        assert restored.session is not None
        assert restored.session.options.resume

    sitting.play(before)
    sitting.come_back()
    sitting.play(after)
