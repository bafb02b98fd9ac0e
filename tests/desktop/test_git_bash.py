"""Claude Code on Windows needs Git Bash: where it finds none, the person can say where it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from desktop.conversations import Surroundings
from desktop.conversations.notices import claude_broken, start_failed
from desktop.settings_file import GIT_BASH, with_git_bash
from desktop.window.git_bash import likely_folder
from desktop.window.main_window import MainWindow
from protocol.claude import ClaudeBroken
from tests.helpers.desk import Desk

MISSING = "Claude Code on Windows requires git-bash (https://git-scm.com/downloads/win). If installed …"
NEEDS_BASH = f"""
import os
if not os.path.isfile(os.environ.get({GIT_BASH!r}, "")):
    print({MISSING!r}, file=sys.stderr)
    sys.exit(1)
"""


def test_only_windows_gets_the_variable() -> None:
    assert with_git_bash({"A": "b"}, r"C:\Git\bin\bash.exe", "win32") == {"A": "b", GIT_BASH: r"C:\Git\bin\bash.exe"}
    for platform in ("linux", "darwin"):
        assert with_git_bash({"A": "b"}, r"C:\Git\bin\bash.exe", platform) == {"A": "b"}


@pytest.mark.parametrize("setting", ["", None, 7, ["bash.exe"]])
def test_a_setting_that_is_none_leaves_the_persons_own_variable(setting: object) -> None:
    assert with_git_bash({GIT_BASH: "mine"}, setting, "win32") == {GIT_BASH: "mine"}


@pytest.mark.skipif(sys.platform == "win32", reason="the program of this test is a shell script")
def test_what_was_chosen_reaches_the_cli_at_its_next_start(desk: Desk) -> None:
    program = desk.root / "claude.exe"
    program.write_text('#!/bin/sh\necho "2.1.332 (Claude Code)"\n', encoding="utf-8")
    program.chmod(0o755)

    async def story() -> None:
        surroundings = Surroundings(desk.settings, {**desk.environ, "HANDRAISE_CLAUDE": str(program)}, "win32")
        assert GIT_BASH not in (await surroundings.prepare()).environment.env
        desk.settings.change(git_bash="/chosen/bash.exe")
        assert (await surroundings.prepare()).environment.env[GIT_BASH] == "/chosen/bash.exe"

    desk.run(story())


def test_the_notice_offers_to_choose_it() -> None:
    for notice in (claude_broken(ClaudeBroken("It failed.", MISSING)), start_failed("It failed.", MISSING)):
        assert [action.name for action in notice.actions] == ["choose_git_bash", "restart"]
    other = claude_broken(ClaudeBroken("It failed.", "TypeError"))
    assert [action.name for action in other.actions] == ["restart", "choose_claude"]


def test_choosing_it_in_the_window_starts_claude(
    desk: Desk, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The stand-in runs on this system; only the setting's way to it is that of Windows.
    monkeypatch.setattr(
        "desktop.conversations.surroundings.with_git_bash",
        lambda env, setting, platform: with_git_bash(env, setting, "win32"),
    )
    desk.peer(NEEDS_BASH + "shake()\nuntil_end()")
    bash = desk.root / "Git Bash" / "bash.exe"

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "failed")
        assert window.page is not None
        window.page.refresh()
        shown = window.page.notices.findChild(QPushButton, "choose_git_bash_start")
        assert shown is not None
        shown.click()
        dialog = window.findChild(QFileDialog, "gitBashDialog")
        assert dialog is not None
        dialog.close()
        chooser = window.actions_of_window.git_bash
        chooser.take(str(bash))
        assert "There is no file" in " ".join(label.text() for label in window.notices.findChildren(QLabel))
        assert desk.settings.settings.git_bash == ""
        bash.parent.mkdir()
        bash.write_bytes(b"MZ")
        chooser.take(str(bash))
        assert desk.settings.settings.git_bash == str(bash)
        assert "git_bash" not in window.actions_of_window.notices
        await desk.until(lambda: opened.phase == "running")

    desk.run(story())


def test_the_dialog_begins_where_git_is(tmp_path: Path) -> None:
    git = tmp_path / "Local" / "Programs" / "Git" / "bin"
    git.mkdir(parents=True)
    env = {"ProgramFiles": str(tmp_path / "Program Files"), "LOCALAPPDATA": str(tmp_path / "Local")}
    assert likely_folder(env) == str(git)
    assert likely_folder({"ProgramFiles": "C:\\Program Files"}) == "C:\\Program Files"
    assert likely_folder({}) == ""
