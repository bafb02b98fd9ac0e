"""What a CLI is started with, where a menu or the Dock has given the program no PATH of the person's own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from desktop import loop
from desktop.conversations import Surroundings
from desktop.conversations.surroundings import Prepared
from desktop.settings import SettingsStore
from protocol.claude import ClaudeNotFound

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has one PATH for all")

BARE = "/usr/bin:/bin"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def prepared(application: QApplication, folder: Path, env: Mapping[str, str], platform: str) -> Prepared:
    """What is found with this environment."""
    surroundings = Surroundings(SettingsStore(folder / "settings.json"), env, platform)
    found: list[Prepared] = []

    async def main() -> int:
        found.append(await surroundings.prepare())
        return 0

    loop.run(main(), application)
    return found[0]


def shell_that_says(folder: Path, path: str) -> str:
    """A login shell whose start-up files set this PATH and print a greeting."""
    return str(program(folder / "shell", f'echo hello; export PATH={path}; shift 3; eval "$1"'))


def test_the_login_shells_path_finds_the_cli_and_goes_to_it_and_its_servers(qapp: QApplication, tmp_path: Path) -> None:
    tools = program(tmp_path / "tools" / "claude", 'echo "2.1.332 (Claude Code)"').parent
    env = {"PATH": BARE, "HOME": str(tmp_path), "SHELL": shell_that_says(tmp_path, f"{tools}:/opt/node/bin:{BARE}")}
    found = prepared(qapp, tmp_path, env, "darwin")
    assert found.claude.argv == (str(tools / "claude"),)
    assert found.environment.env["PATH"].split(":") == [str(tools), "/opt/node/bin", "/usr/bin", "/bin"]


def test_started_from_the_dock_a_cli_in_a_known_place_gets_the_login_shells_path_too(
    qapp: QApplication, tmp_path: Path
) -> None:
    program(tmp_path / "home" / ".local" / "bin" / "claude", 'echo "2.1.332 (Claude Code)"')
    shell = shell_that_says(tmp_path, f"/opt/node/bin:{BARE}")
    env = {"PATH": BARE, "HOME": str(tmp_path), "SHELL": shell}
    found = prepared(qapp, tmp_path, env, "darwin")
    own = str(tmp_path / "home" / ".local" / "bin")
    assert found.environment.env["PATH"].split(":") == ["/opt/node/bin", "/usr/bin", "/bin", own]


def test_elsewhere_the_login_shell_is_asked_only_where_nothing_else_helps(qapp: QApplication, tmp_path: Path) -> None:
    tools = program(tmp_path / "tools" / "claude", 'echo "2.1.332 (Claude Code)"').parent
    env = {"PATH": BARE, "HOME": str(tmp_path), "SHELL": shell_that_says(tmp_path, f"{tools}:{BARE}")}
    found = prepared(qapp, tmp_path, env, "linux")
    assert found.claude.argv == (str(tools / "claude"),)
    assert found.environment.env["PATH"].split(":") == ["/usr/bin", "/bin", str(tools)]


def test_started_from_a_terminal_the_persons_own_path_is_left_alone(qapp: QApplication, tmp_path: Path) -> None:
    tools = program(tmp_path / "tools" / "claude", 'echo "2.1.332 (Claude Code)"').parent
    own = f"{tools}:{BARE}"
    env = {"PATH": own, "HOME": str(tmp_path), "SHELL": "/no/such/shell", "TERM": "xterm"}
    assert prepared(qapp, tmp_path, env, "darwin").environment.env["PATH"] == own


def test_a_shell_that_says_nothing_leaves_the_sentence_about_installing(qapp: QApplication, tmp_path: Path) -> None:
    env = {"PATH": "/nowhere", "HOME": str(tmp_path), "SHELL": str(program(tmp_path / "shell", "exit 1"))}
    with pytest.raises(ClaudeNotFound, match="Install it"):
        prepared(qapp, tmp_path, env, "darwin")
