"""Somebody who does anything at any moment, while CLIs die under it: no word is lost, nothing fails, no place is kept.

    HANDRAISE_TEST_SEEDS=20 pytest tests/faults/test_anything_at_any_moment.py     a longer look
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.conversations import OpenConversation
from desktop.dialogs.permission import PermissionDialog
from desktop.window.page import ConversationPage
from protocol.conversation import ToolItem, UserItem
from tests.helpers.desk import question
from tests.helpers.sitting import Sitting

SEEDS = int(os.environ.get("HANDRAISE_TEST_SEEDS", "2"))
STEPS = 50
TOOL = {"tool": "Bash", "input": {"command": "ls"}, "result": "ok", "ask": True}
TURNS = (
    {"when": "ask", "steps": [question("Which?", "A", "B"), {"text": "asked"}]},
    {"when": "tool", "steps": [TOOL, {"text": "done"}]},
    {"when": "two", "steps": [{"together": [TOOL, TOOL]}]},
    {"when": "slow", "steps": [{"text": "slow " * 20, "pace": 200}]},
    {"when": "crash", "steps": [{"text": "x"}, {"crash": 3}]},
    {"when": "fail", "steps": [{"fail": "529"}]},
)
MESSAGES = ("ask", "tool", "two", "slow", "crash", "fail", "hello", "hello")


class Somebody:
    """Presses and types at random.

    Attributes:
        words: everything that was typed.
    """

    def __init__(self, sitting: Sitting, folders: list[Path], seed: int) -> None:
        self.sitting = sitting
        self.folders = folders
        self.random = random.Random(seed)
        self.words: list[str] = []
        often: list[Callable[[], None]] = [self.send, self.answer]
        rarely: list[Callable[[], None]] = [
            self.type, self.stop, self.restart, self.kill, self.choose_mode, self.choose_model, self.open, self.switch,
            self.move, self.take_back, self.use_recovered, self.press_a_notice, self.refuse,
        ]  # fmt: skip
        self.actions = often * 4 + rarely

    @property
    def page(self) -> ConversationPage:
        return self.sitting.page

    @property
    def opened(self) -> OpenConversation:
        return self.page.opened

    def act(self) -> None:
        self.random.choice(self.actions)()

    def type(self, kind: str = "hello") -> None:
        self.words.append(f"word{len(self.words)}x {kind}")
        self.page.composer.add_text(self.words[-1])

    def send(self) -> None:
        self.type(self.random.choice(MESSAGES))
        self.page.composer.submit()

    def answer(self) -> None:
        shown = self.page.slot.shown
        if isinstance(shown, PermissionDialog):
            shown.allow_button.click()
        elif shown is not None:
            shown.refuse()

    def refuse(self) -> None:
        if self.page.slot.shown is not None:
            self.page.slot.shown.refuse()

    def stop(self) -> None:
        self.opened.stop()

    def restart(self) -> None:
        self.opened.restart()

    def kill(self) -> None:
        session = self.opened.session
        if session is not None and session.running and session.pid is not None:
            os.kill(session.pid, 9)

    def choose_mode(self) -> None:
        self.opened.controls.set_mode(self.random.choice(("plan", "default", "bypassPermissions", "acceptEdits")))

    def choose_model(self) -> None:
        self.opened.controls.set_model(self.random.choice(("sonnet", "opus", "no-such-model")))

    def open(self) -> None:
        self.sitting.window.open_folder(self.random.choice(self.folders))

    def switch(self) -> None:
        self.sitting.window.show_conversation(self.random.choice(list(self.sitting.desk.conversations)))

    def move(self) -> None:
        self.sitting.window.actions_of_window.work_in(self.random.choice(self.folders))

    def take_back(self) -> None:
        if self.opened.queued:
            self.opened.take_back(self.random.choice(self.opened.queued).uuid)

    def use_recovered(self) -> None:
        if self.opened.recovered:
            self.page.recovered.use.emit(self.opened.recovered[0])

    def press_a_notice(self) -> None:
        for key, notice in list(self.opened.notices.items()):
            for action in notice.actions:
                if action.name in ("restart", "stop", "start_anew"):
                    self.page.notices.acted.emit(key, action.name)
                    return


def all_words(sitting: Sitting) -> str:
    """Every word that is said, waits, or is at hand somewhere."""
    found: list[str] = []
    for one in sitting.desk.conversations:
        items = one.conversation.items
        found += [item.text for item in items if isinstance(item, UserItem)]
        found += [item.reply for item in items if isinstance(item, ToolItem)]
        found += [one.draft, *one.recovered, *(message.text for message in one.texts.outbox.messages)]
    return "\n".join(found)


@pytest.mark.skipif(os.name == "nt", reason="kills as POSIX does")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_is_pressed_no_word_is_lost(sitting: Sitting, tmp_path: Path, seed: int) -> None:
    folders = [sitting.desk.folder, tmp_path / "one", tmp_path / "two"]
    for folder in folders[1:]:
        folder.mkdir()
    sitting.desk.stand_in(*TURNS, sessions=True)
    sitting.environment(FAKE_CLI_PACE="1")
    sitting.desk.settings.change(max_processes=2)
    somebody = Somebody(sitting, folders, seed)

    async def story() -> None:
        await sitting.begin()
        for _ in range(STEPS):
            somebody.act()
            await asyncio.sleep(somebody.random.choice((0.0, 0.0, 0.01, 0.05, 0.2)))
        await asyncio.sleep(0.3)
        words = all_words(sitting)
        assert [word for word in somebody.words if word not in words] == []
        assert [one.conversation.faults for one in sitting.desk.conversations if one.conversation.faults] == []
        assert sitting.desk.conversations.limit.taken <= 2

    sitting.play(story)
    assert sitting.desk.conversations.limit.taken == 0
