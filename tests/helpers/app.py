"""The app under test: the real window in this process, or the real program in one of its own.

A scenario is a coroutine on the window's own event loop, beside the application's main coroutine, so nothing here
turns the loop by hand. `application.main` is what runs, from its first line to its last.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from desktop import application
from desktop.conversations import OpenConversation
from protocol.conversation import Conversation, NoticeItem, TextItem
from protocol.session import Session
from tests.helpers.person import Person
from tests.helpers.pictures import save_pictures
from tests.helpers.real_cli import RealCli

SCENARIO_SECONDS = 90

Scenario = Callable[[Person], Awaitable[None]]


def app_environment(cli: RealCli, folder: Path) -> dict[str, str]:
    """What the app finds in its environment: the CLI's clean world, and folders of its own below `folder`."""
    screen = {name: os.environ[name] for name in ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY") if name in os.environ}
    return cli.env | screen | {
        "HANDRAISE_CLAUDE": json.dumps(cli.argv),
        "HANDRAISE_CONFIG_DIR": str(folder / "config"),
        "HANDRAISE_DATA_DIR": str(folder / "data"),
        "HANDRAISE_LOG": str(folder / "handraise.log"),
        "HANDRAISE_LOG_WIRE": "1",
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
    }


class Play:
    """A scenario beside the application's own main coroutine, and what came of it."""

    def __init__(self, scenario: Scenario, stage: AppUnderTest | None = None) -> None:
        self.scenario = scenario
        self.stage = stage
        self.problem: BaseException | None = None
        self.reports: list[str] = []

    def application_class(self) -> type[application.Application]:
        """The application, with a person before it."""
        play = self

        class Played(application.Application):
            async def run(self, left_by_crash: str) -> int:
                playing = asyncio.create_task(play.perform(self), name="the scenario")
                try:
                    code = await super().run(left_by_crash)
                except BaseException:
                    playing.cancel()
                    raise
                await playing
                play.reports.extend(self._hooks.reports)
                return code

        return Played

    async def perform(self, running: application.Application) -> None:
        """Waits for the window, plays, and closes the window whatever happened."""
        person = Person()
        if self.stage is not None:
            self.stage.running = running
        try:
            await person.sees("mainWindow")
            await person.sees("composer")
            # pytest's own deadline raises inside whatever Qt calls at that moment, which swallows it.
            async with asyncio.timeout(SCENARIO_SECONDS):
                await self.scenario(person)
            if self.stage is not None:
                self.stage.seen_text = person.visible_text()
                self.stage.sessions = [opened.session for opened in running.conversations if opened.session is not None]
        except BaseException as problem:
            self.problem = problem
            save_pictures(os.environ.get("PYTEST_CURRENT_TEST", "a scenario"))
        finally:
            running.window.close()

    def verdict(self) -> None:
        """Raises what the scenario raised, or what failed inside the app."""
        if self.problem is not None:
            raise self.problem
        assert self.reports == [], "\n".join(self.reports)


class AppUnderTest:
    """The window with one CLI, in folders of the test.

    Attributes:
        cli: what it runs.
        env: the environment that the app is given; a test may add to it before `run`.
        seen_text: everything that could be read in the window at the end of the scenario.
        sessions: what ran at the end of the scenario.
    """

    def __init__(self, cli: RealCli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cli = cli
        self.folder = folder
        self.env = app_environment(cli, folder)
        self.seen_text = ""
        self.sessions: list[Session] = []
        self._monkeypatch = monkeypatch
        self.running: application.Application | None = None

    def run(self, scenario: Scenario) -> None:
        """Opens the window on the CLI's project, plays the scenario, closes the window, and expects a clean end."""
        for name, value in self.env.items():
            self._monkeypatch.setenv(name, value)
        played = Play(scenario, self)
        self._monkeypatch.setattr(application, "Application", played.application_class())
        code = application.main(self.cli.project, env=self.env)
        self.running = None
        played.verdict()
        assert code == 0

    # Inside the app, for what a person cannot see or do

    @property
    def application(self) -> application.Application:
        assert self.running is not None, "only while the scenario runs"
        return self.running

    @property
    def opened(self) -> OpenConversation:
        """The conversation that is shown."""
        shown = self.application.window.current
        assert shown is not None
        return shown

    @property
    def conversation(self) -> Conversation:
        return self.opened.conversation

    def transcript(self) -> str:
        """What Claude said so far, and what the window says of the turns."""
        items = self.conversation.items
        return "\n".join(item.text for item in items if isinstance(item, TextItem | NoticeItem))

    @property
    def bad_notices(self) -> list[str]:
        """The errors that are shown."""
        shown = [item.text for item in self.conversation.items if isinstance(item, NoticeItem) and item.kind == "error"]
        return shown + [str(notice.text) for notice in self.opened.notices.values() if notice.tone == "bad"]

    def composer_text(self) -> str:
        page = self.application.window.page
        return str(page.composer.text()) if page is not None else ""

    def session_pid(self) -> int | None:
        """The process id of the CLI, while one runs."""
        session = self.opened.session
        if session is None or not session.running or session.pid is None:
            return None
        return int(session.pid)

    def kill_the_cli(self) -> None:
        pid = self.session_pid()
        assert pid is not None, "no CLI runs"
        os.kill(pid, signal.SIGKILL)

    def forget_what_the_cli_saved(self) -> None:
        """As if it had not come to saving anything: which moment that is differs from version to version."""
        shutil.rmtree(self.cli.config_dir / "projects", ignore_errors=True)

    def signs_in(self) -> None:
        """What happens when the person has signed in, in the browser, which a test does not have."""
        self.application.conversations.restart_signed_out()

    async def mcp_is_connected(self) -> bool:
        session = self.opened.session
        if session is None or not session.running:
            return False
        status = await session.request({"subtype": "mcp_status"})
        return any(server.get("status") == "connected" for server in status.get("mcpServers", []))

    # What it left

    def stderr_text(self) -> str:
        """What the CLIs wrote to stderr last."""
        return "\n".join(session.exit.stderr_tail for session in self.sessions if session.exit is not None)

    def log_text(self) -> str:
        path = self.folder / "handraise.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    @property
    def requests_asked(self) -> int:
        """How many requests the CLI has put to the person."""
        return sum('"subtype": "can_use_tool"' in line for line in self.log_text().splitlines())


