"""The frozen app, started as a stranger would start it: nothing of this checkout or its Python is in sight."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(900)


def clean_environment(home: Path) -> dict[str, str]:
    """What a login without a desktop session would give; offscreen, since there is no screen in a test run."""
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "QT_QPA_PLATFORM": "offscreen",
        "FAKE_CLI_PACE": "0",
        "HANDRAISE_LOG": str(home / "handraise.log"),
    }


def run(program: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments], cwd=home, env=clean_environment(home), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def test_it_starts_plays_one_question_and_ends(frozen_app: Path, tmp_path: Path) -> None:
    home = tmp_path / "工作 資料夾"
    home.mkdir()
    done = run(frozen_app, home, "--demo", "--smoke-test")
    log = home / "handraise.log"
    assert (done.returncode, done.stderr) == (0, ""), log.read_text("utf-8") if log.exists() else "no log"
    assert "Smoke test: one request with 2 questions was answered" in log.read_text("utf-8")


def test_it_says_its_version(frozen_app: Path, tmp_path: Path) -> None:
    from desktop import __version__

    assert run(frozen_app, tmp_path, "--version").stdout == f"Handraise {__version__}\n"


def test_its_doctor_says_that_there_is_no_claude(frozen_app: Path, tmp_path: Path) -> None:
    done = run(frozen_app, tmp_path, "doctor", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["claude"] is None


def test_its_stand_in_is_the_one_that_the_demo_runs(frozen_app: Path, tmp_path: Path) -> None:
    assert "(Claude Code)" in run(frozen_app, tmp_path, "--fake-cli", "--version").stdout


def test_it_speaks_every_language_of_the_interface(frozen_app: Path) -> None:
    from desktop.translations import LANGUAGES

    folder = frozen_app.parent / "_internal" / "resources" / "translations"
    assert {path.name for path in folder.iterdir()} == {code for code in LANGUAGES if code != "en"}
    assert all(any((folder / code).glob("*.json")) for code in LANGUAGES if code != "en")
