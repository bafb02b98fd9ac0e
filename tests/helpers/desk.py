"""A desk to test at: settings, drafts and conversations of one test, on the window's loop, with the stand-in."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from desktop import loop
from desktop.conversations import Conversations, DraftStore, OpenConversation, Surroundings
from desktop.settings import SettingsStore
from protocol.conversation import TextItem, UserItem
from tests.helpers.peer import PRELUDE

ROOT = Path(__file__).resolve().parents[2]
Turn = list[Any] | dict[str, Any]


class Desk:
    """Everything below the window.

    Attributes:
        folder: an empty folder to work in.
        root: where settings, drafts and the stand-in's files lie.
    """

    def __init__(self, application: QApplication, root: Path) -> None:
        self.application = application
        self.root = root
        self.folder = root / "project"
        self.folder.mkdir(exist_ok=True)
        self.environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "LANG", "SYSTEMROOT") if name in os.environ},
            "HOME": str(root / "home"),
            "CLAUDE_CONFIG_DIR": str(root / "home" / ".claude"),
            "PYTHONPATH": str(ROOT),
            "FAKE_CLI_PACE": "0",
        }
        self.stand_in()
        self.open_up()

    def stand_in(self, *turns: Turn, harm: str = "", sessions: bool = False, **options: Any) -> None:
        """What runs as `claude` from the next start on: a scenario, a harm; `sessions` keeps conversations."""
        script = self.root / f"scenario-{time.monotonic_ns()}.json"
        script.write_text(json.dumps({"options": options, "turns": list(turns)}), encoding="utf-8")
        words = [sys.executable, "-S", "-m", "fake_cli", *(["--scenario", str(script)] if turns or options else [])]
        self.environ["HANDRAISE_CLAUDE"] = json.dumps(words)
        self.environ["FAKE_CLI_HARM"] = harm
        if sessions:
            self.environ["FAKE_CLI_SESSIONS"] = str(self.root / "sessions")
        if hasattr(self, "surroundings"):
            self.surroundings.environ = dict(self.environ)
            self.surroundings.forget()

    def peer(self, script: str) -> None:
        """Let a few lines of Python run as `claude` from the next start on; `tests.helpers.peer` has their words."""
        program = self.root / f"peer-{time.monotonic_ns()}.py"
        version = 'if "--version" in sys.argv:\n    print("2.1.332 (Claude Code)")\n    sys.exit(0)\n'
        program.write_text(PRELUDE + version + textwrap.dedent(script), encoding="utf-8")
        self.environ["HANDRAISE_CLAUDE"] = json.dumps([sys.executable, "-S", str(program)])
        self.surroundings.environ = dict(self.environ)
        self.surroundings.forget()

    def open_up(self) -> None:
        """As a start of the program does: read what is on the disk."""
        self.settings = SettingsStore(self.root / "config" / "settings.json")
        self.surroundings = Surroundings(self.settings, self.environ)
        self.drafts = DraftStore(self.root / "data" / "drafts")
        self.conversations = Conversations(self.settings, self.surroundings, self.drafts)

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        """Run a test's story on the window's loop, and close every conversation after it."""

        async def main() -> int:
            try:
                await story
            finally:
                await self.conversations.close_all()
                await loop.cancel_spawned()
            return 0

        assert loop.run(main(), self.application) == 0

    async def open(self, *, until: str = "running") -> OpenConversation:
        """Open a conversation in the folder and wait until its CLI is there."""
        opened = self.conversations.start(self.folder)
        await self.until(lambda: opened.phase == until)
        return opened

    async def until(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait until something is true."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not become true in time"
            await asyncio.sleep(0.01)

    async def until_turn_over(self, opened: OpenConversation) -> None:
        """Wait until Claude has said what it had to say."""
        await self.until(lambda: opened.conversation.state == "idle" and not opened.queued)


def texts(opened: OpenConversation) -> list[str]:
    """What Claude said."""
    return [item.text for item in opened.conversation.items if isinstance(item, TextItem)]


def sent(opened: OpenConversation) -> list[str]:
    """What the person said."""
    return [item.text for item in opened.conversation.items if isinstance(item, UserItem)]


def question(text: str, *labels: str) -> dict[str, Any]:
    """A step of the stand-in that asks."""
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": [{"question": text, "header": "Head", "options": options, "multiSelect": False}], "as": "asked"}


def first_pending(opened: OpenConversation) -> str:
    """The id of the first request that waits."""
    return next(iter(opened.conversation.pending))


def kept_files(folder: Path) -> Sequence[Path]:
    """The draft files in a folder."""
    return sorted(folder.glob("*.json"))
