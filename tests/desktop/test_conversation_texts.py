"""What a person wrote survives a full disk, and a CLI that changes its mind."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from desktop.composer.attachments import Image
from protocol.conversation import UserItem
from tests.helpers.desk import Desk, texts
from tests.helpers.peer import PRELUDE

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.fixture
def desk(qapp: QApplication, tmp_path: Path) -> Desk:
    return Desk(qapp, tmp_path)


def peer(desk: Desk, script: str) -> None:
    """Let a few lines of Python run as the CLI."""
    program = desk.root / "peer.py"
    version = 'if "--version" in sys.argv:\n    print("2.1.332 (Claude Code)")\n    sys.exit(0)\n'
    program.write_text(PRELUDE + version + textwrap.dedent(script), encoding="utf-8")
    desk.environ["HANDRAISE_CLAUDE"] = json.dumps([sys.executable, "-S", str(program)])
    desk.surroundings.environ = dict(desk.environ)


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
    peer(desk, CANCELS)

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
    peer(desk, CANCELS)

    async def story() -> None:
        opened = await desk.open()
        opened.send("take this, then die")
        await desk.until(lambda: opened.phase == "exited")
        assert opened.draft == "take this, then die"
        assert opened.recovered == []
        assert texts(opened) == []

    desk.run(story())
