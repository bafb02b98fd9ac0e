"""The frozen app on a Wayland compositor, and on X where the compositor that is named has gone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.window_systems import missing, wayland

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Wayland is a thing of Linux"),
]


def play(program: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    variables = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "FAKE_CLI_PACE": "0", **more}
    return subprocess.run(
        [str(program), "--demo", "--smoke-test"], cwd=home, env=variables, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip


def test_it_plays_the_demo_on_wayland_without_being_told_which_window_system_it_is(
    frozen_app: Path, tmp_path: Path
) -> None:
    if shutil.which("weston") is None:
        missing("weston is not installed.")
    with wayland(tmp_path / "run") as variables:
        done = play(frozen_app, tmp_path, **variables)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_falls_back_to_x_where_no_compositor_answers(frozen_app: Path, display: str, tmp_path: Path) -> None:
    left_behind = {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path), "XDG_SESSION_TYPE": "wayland"}
    done = play(frozen_app, tmp_path, DISPLAY=display, **left_behind)
    assert (done.returncode, done.stderr) == (0, "")


def test_where_neither_answers_it_says_so_in_one_sentence(frozen_app: Path, tmp_path: Path) -> None:
    done = play(frozen_app, tmp_path, WAYLAND_DISPLAY="wayland-9", XDG_RUNTIME_DIR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("There is no display")
    assert done.stderr.count("\n") == 1
