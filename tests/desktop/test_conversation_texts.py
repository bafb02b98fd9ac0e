"""What a person wrote survives a full disk, and a CLI that changes its mind."""

from __future__ import annotations

import asyncio

import pytest

from desktop.composer.attachments import Image
from desktop.conversations import OpenConversation
from desktop.window.main_window import MainWindow
from desktop.window.page import ConversationPage
from protocol.conversation import UserItem
from tests.helpers.desk import Desk, question, texts

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.mark.logs("could not be saved")
def test_a_picture_arrives_though_the_disk_takes_nothing(desk: Desk) -> None:
    async def story() -> None:
        opened = await desk.open()
        desk.drafts.folder.parent.mkdir(parents=True, exist_ok=True)
        desk.drafts.folder.write_text("a file in the way", encoding="utf-8")
        opened.send("look", [Image(PNG, "image/png", "a.png")])
        await desk.until_turn_over(opened)
        item = next(item for item in opened.conversation.items if isinstance(item, UserItem))
        assert [image.media_type for image in item.images] == ["image/png"]
        assert "a crash would lose it" in str(opened.notices["draft"].text)

    desk.run(story())


CANCELS = """
    def lifecycle(message, state):
        say({"type": "command_lifecycle", "command_uuid": message["uuid"], "state": state})

    shake()
    while True:
        message = read()
        if message is None:
            break
        if message["type"] == "control_request":
            no(message, "Unsupported control request subtype: x", "unsupported_request")
            continue
        lifecycle(message, "queued")
        lifecycle(message, "cancelled")
        if "then die" in message["message"]["content"]:
            sys.exit(0)
"""


def test_a_message_that_the_cli_lets_go_of_unasked_returns_to_the_composer(desk: Desk) -> None:
    desk.peer(CANCELS)

    async def story() -> None:
        opened = await desk.open()
        opened.send("my message")
        opened.texts.set_draft("half a sentence", [])
        await desk.until(lambda: "my message" in opened.draft)
        assert opened.draft == "half a sentence\nmy message"
        assert opened.texts.outbox.messages == []
        assert [draft.text for draft in desk.drafts.load()] == [opened.draft]

    desk.run(story())


def test_a_message_that_is_let_go_of_by_a_cli_that_dies_then_returns_once(desk: Desk) -> None:
    desk.peer(CANCELS)

    async def story() -> None:
        opened = await desk.open()
        opened.send("take this, then die")
        await desk.until(lambda: opened.phase == "exited")
        assert opened.draft == "take this, then die"
        assert opened.recovered == []
        assert texts(opened) == []

    desk.run(story())


# Closing for good


async def ask(desk: Desk, window: MainWindow) -> tuple[OpenConversation, ConversationPage]:
    """A conversation in the window in which Claude has asked something."""
    desk.stand_in([question("Which?", "A", "B")])
    opened = window.open_folder(desk.folder)
    await desk.until(lambda: opened.phase == "running")
    opened.send("go")
    await desk.until(lambda: opened.conversation.pending)
    assert window.page is not None
    return opened, window.page


def test_a_conversation_can_be_closed_with_a_question_open(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened, _ = await ask(desk, window)
        assert opened.session is not None
        window.actions_of_window.close_conversation(opened)
        await desk.until(lambda: len(desk.conversations) == 0)
        await desk.until(lambda: opened.session is not None and opened.session.exit)
        await asyncio.sleep(0.2)

    desk.run(story())


def test_a_conversation_with_text_in_a_question_is_not_closed_for_good(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        opened, _ = await ask(desk, window)
        opened.texts.note_typed(next(iter(opened.conversation.pending)), "my own words")
        window.actions_of_window.close_conversation(opened)
        await asyncio.sleep(0.1)
        assert list(desk.conversations) == [opened]
        assert "not sent" in str(opened.notices["close"].text)

    desk.run(story())
