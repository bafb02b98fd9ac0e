"""The report of what was found on a computer: for people, for programs, and as an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop import doctor, paths
from protocol.claude import places

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are shell scripts")

ROOT = Path(__file__).resolve().parents[2]
Env = dict[str, str]

SIGNED_IN = '{"loggedIn": true, "authMethod": "claude.ai", "email": "me@example.org", "subscriptionType": "max"}'
SIGNED_OUT = '{"loggedIn": false, "authMethod": "none"}'


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Env:
    """A world in which there is no CLI, no login shell and no settings."""
    monkeypatch.setattr(places, "SYSTEM_FOLDERS", ())
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "SHELL": "/nowhere/sh",
        "HANDRAISE_CONFIG_DIR": str(tmp_path / "config"),
        "HANDRAISE_DATA_DIR": str(tmp_path / "data"),
    }


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Path]:
    """Writes a program that answers as a CLI does."""

    def write(name: str = "claude", version: str = "2.1.332 (Claude Code)", status: str = SIGNED_IN) -> Path:
        path = tmp_path / "tools" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'#!/bin/sh\ncase "$*" in\n--version) echo "{version}";;\n'
            f"'auth --help') echo '  status  Show authentication status';;\n"
            f"'auth status') echo '{status}';;\n*) exit 66;;\nesac\n"
        )
        path.chmod(0o755)
        return path

    return write


def test_all_is_well(env: Env, install: Callable[..., Path], tmp_path: Path) -> None:
    claude = install()
    report = doctor.report({**env, "PATH": f"{claude.parent}:/usr/bin:/bin"})
    assert report.ok
    assert report.notes == []
    assert report.as_text().splitlines()[2:] == [
        f"Claude:      {claude} (PATH), version 2.1.332",
        "Login:       signed in as me@example.org (claude.ai, max)",
        f"Settings:    {tmp_path}/config",
        f"Data:        {tmp_path}/data",
        f"Log:         {tmp_path}/data/handraise.log",
        "",
        "Handraise can work with this.",
    ]
    assert not (tmp_path / "config").exists()
    assert not (tmp_path / "data").exists()


def test_the_same_for_programs(env: Env, install: Callable[..., Path], tmp_path: Path) -> None:
    claude = install()
    found = json.loads(json.dumps(doctor.report({**env, "HANDRAISE_CLAUDE": str(claude)}).as_json()))
    assert found["ok"] is True
    assert found["claude"] == {
        "path": str(claude),
        "argv": [str(claude)],
        "source": "HANDRAISE_CLAUDE",
        "version": "2.1.332",
    }
    assert found["login"]["logged_in"] is True
    assert found["folders"] == {"config": f"{tmp_path}/config", "data": f"{tmp_path}/data"}
    assert found["log"] == f"{tmp_path}/data/handraise.log"
    assert found["environment"] == {"removed": [], "notable": {}}


def test_without_a_cli_it_says_what_to_install(env: Env) -> None:
    report = doctor.report(env)
    assert not report.ok
    assert "Claude Code was not found. Install it" in report.problems[0]
    assert "Claude:      not found" in report.as_text()
    assert report.as_json()["claude"] is None
    assert report.as_json()["login"] is None


def test_the_login_shell_is_asked_where_nothing_else_helps(env: Env, install: Callable[..., Path]) -> None:
    claude = install()
    shell = install("shell")
    shell.write_text(f'#!/bin/sh\nexport PATH="{claude.parent}:$PATH"; eval "$4"\n')
    report = doctor.report({**env, "SHELL": str(shell)})
    assert report.claude is not None
    assert (report.claude.argv, report.claude.source) == ((str(claude),), "login shell")


def test_a_cli_that_fails_is_a_problem_with_its_own_words(env: Env, tmp_path: Path) -> None:
    broken = tmp_path / "claude"
    broken.write_text("#!/bin/sh\necho no such library >&2; exit 3\n")
    broken.chmod(0o755)
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(broken)})
    assert "Claude exited (code 3)" in report.problems[0]
    assert "no such library" in report.problems[0]
    assert "version unknown" in report.as_text()


def test_a_version_that_is_too_old_is_a_note_for_one_can_still_chat(env: Env, install: Callable[..., Path]) -> None:
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(install(version="2.0.70 (Claude Code)"))})
    assert report.ok
    assert "too old to ask you questions" in report.notes[0]


def test_signed_out_is_a_problem(env: Env, install: Callable[..., Path]) -> None:
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(install(status=SIGNED_OUT))})
    assert report.problems == ["You are not signed in to Claude. Sign in with: claude auth login"]
    assert "signed out" in report.as_text()


def test_a_login_that_cannot_be_told_is_a_note(env: Env, install: Callable[..., Path]) -> None:
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(install(status="what?"))})
    assert report.ok
    assert report.notes == ["Claude did not say who is signed in."]


def test_variables_that_change_the_account_are_shown_without_secrets(env: Env, install: Callable[..., Path]) -> None:
    extra = {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": "https://gateway.example", "CLAUDECODE": "1"}
    report = doctor.report({**env, **extra, "HANDRAISE_CLAUDE": str(install())})
    text = report.as_text() + json.dumps(report.as_json())
    assert "sk-secret" not in text
    assert "Removed:     ANTHROPIC_API_KEY\nRemoved:     CLAUDECODE\n" in text
    assert "Passed on:   ANTHROPIC_BASE_URL=https://gateway.example" in text
    assert [note for note in report.notes if "bill the API" in note]


def test_the_settings_choose_the_cli_and_keep_the_key(env: Env, install: Callable[..., Path], tmp_path: Path) -> None:
    claude = install("my claude")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text(json.dumps({"claude": str(claude), "keep_api_key": True}))
    report = doctor.report({**env, "ANTHROPIC_API_KEY": "sk-secret"})
    assert report.claude is not None
    assert (report.claude.argv, report.claude.source) == ((str(claude),), "settings")
    assert report.environment.removed == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"claude": 7}', "\ud800"])
def test_damaged_settings_are_reported_and_left_alone(
    env: Env, install: Callable[..., Path], tmp_path: Path, text: str
) -> None:
    settings = tmp_path / "config" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(text.encode("utf-8", "surrogatepass"))
    before = settings.read_bytes()
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(install())})
    assert any("settings" in sentence for sentence in [*report.notes, *report.problems])
    assert settings.read_bytes() == before
    assert list(settings.parent.iterdir()) == [settings]


def test_a_folder_that_cannot_be_made_is_a_problem(env: Env, install: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env |= {"HANDRAISE_CLAUDE": str(install()), "HANDRAISE_DATA_DIR": str(tmp_path / "file" / "data")}
    assert doctor.report(env).problems == [f"{tmp_path}/file/data cannot be used: {tmp_path}/file is not a folder."]


def test_a_folder_that_the_system_cannot_even_look_at_ends_no_report(env: Env, install: Callable[..., Path]) -> None:
    folder = Path("/") / ("x" * 300) / "data"
    report = doctor.report({**env, "HANDRAISE_CLAUDE": str(install()), "HANDRAISE_DATA_DIR": str(folder)})
    assert report.data == folder
    assert report.claude is not None


def run_doctor(env: Env, argument: str) -> subprocess.CompletedProcess[bytes]:
    code = f"import sys; from desktop.doctor import main; rc = main({argument}); "
    code += "assert not [name for name in sys.modules if name.startswith('PySide6')]; sys.exit(rc)"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", **env}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("json_output", [False, True])
def test_the_exit_code_says_whether_it_can_work(env: Env, install: Callable[..., Path], json_output: bool) -> None:
    claude = str(install(status=SIGNED_IN.replace("me@", "我@")))
    well = run_doctor({**env, "HANDRAISE_CLAUDE": claude}, str(json_output))
    assert (well.returncode, well.stderr) == (0, b"")
    ill = run_doctor({**env, "HANDRAISE_CLAUDE": "/bin/false"}, str(json_output))
    assert (ill.returncode, ill.stderr) == (1, b"")
    assert b"/bin/false" in ill.stdout
    if json_output:
        assert json.loads(well.stdout)["login"]["email"] == "我@example.org"


def test_a_packaged_app_without_a_console_still_has_an_exit_code(env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", None)
    assert doctor.main() == 1


class TestPaths:
    def test_variables_put_files_elsewhere(self, tmp_path: Path) -> None:
        env = {"HANDRAISE_CONFIG_DIR": "/c", "HANDRAISE_DATA_DIR": "~/d", "HANDRAISE_LOG": "log.txt"}
        assert paths.config_dir(env) == Path("/c")
        assert paths.data_dir(env) == Path.home() / "d"
        assert paths.log_file(env) == Path(os.getcwd()) / "log.txt"

    def test_the_log_follows_the_data(self) -> None:
        assert paths.log_file({"HANDRAISE_DATA_DIR": "/d"}) == Path("/d/handraise.log")

    def test_otherwise_the_system_says_where(self) -> None:
        folders = [paths.config_dir({}), paths.data_dir({}), paths.log_file({})]
        assert all(folder.is_absolute() and "handraise" in str(folder).lower() for folder in folders)
        assert paths.log_file({}).name == "handraise.log"
