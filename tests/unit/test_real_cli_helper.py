"""What happens where the true CLI is not there: said in words, skipped by default, failed where it is required."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.helpers import real_cli
from tests.helpers.real_cli import CannotInstallError, clean_environment, install, pinned_versions


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(real_cli, "_CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def fake_npm(monkeypatch: pytest.MonkeyPatch, code: int = 0, creates: bool = True) -> list[list[str]]:
    """npm that installs an empty `claude`, or fails."""
    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if creates:
            folder = Path(command[command.index("--prefix") + 1]) / "node_modules" / ".bin"
            folder.mkdir(parents=True)
            (folder / real_cli.executable("").name).touch()
        return subprocess.CompletedProcess(command, code, "", "registry says no")

    monkeypatch.setattr(real_cli.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(real_cli.subprocess, "run", run)
    return calls


def test_the_pinned_versions_are_the_lines_of_one_file_oldest_first() -> None:
    numbers = [tuple(map(int, version.split("."))) for version in pinned_versions()]

    assert len(numbers) == 5
    assert numbers == sorted(numbers)


def test_a_version_is_fetched_once_and_then_found(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_npm(monkeypatch)

    assert install("1.2.3") == install("1.2.3") == cache / "claude" / "1.2.3" / "node_modules" / ".bin" / "claude"
    assert [command[-1] for command in calls] == ["@anthropic-ai/claude-code@1.2.3"]


@pytest.mark.parametrize(("system", "name"), [("win32", "claude.cmd"), ("darwin", "claude"), ("linux", "claude")])
def test_what_npm_lays_down_has_another_name_on_windows(
    cache: Path, monkeypatch: pytest.MonkeyPatch, system: str, name: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(real_cli.sys, "platform", system)
        found = real_cli.executable("1.2.3")

    assert found == cache / "claude" / "1.2.3" / "node_modules" / ".bin" / name


def test_without_npm_the_reason_names_the_version_and_the_place(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_cli.shutil, "which", lambda name: None)

    with pytest.raises(CannotInstallError, match=r"claude 1\.2\.3 is not in .*cache, and npm or node is not installed"):
        install("1.2.3")


def test_a_failed_installation_says_what_npm_said_and_leaves_nothing_half_done(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_npm(monkeypatch, code=1, creates=False)

    with pytest.raises(CannotInstallError, match="registry says no"):
        install("1.2.3")
    assert [path.name for path in (cache / "claude").iterdir()] == [".lock"]


def test_an_installation_that_was_cut_off_is_done_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "claude" / "1.2.3" / "node_modules").mkdir(parents=True)
    fake_npm(monkeypatch)

    assert install("1.2.3").exists()


def test_the_child_sees_nothing_of_the_login_or_the_session_around_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"):
        monkeypatch.setenv(name, "of the machine")

    env = clean_environment(tmp_path / "home", "http://127.0.0.1:1", "mark")

    assert "of the machine" not in env.values()
    assert Path(env["HOME"]) == tmp_path / "home"
    assert Path(env["CLAUDE_CONFIG_DIR"]).is_relative_to(tmp_path)
