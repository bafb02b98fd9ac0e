"""Freezes the app once for all tests of this folder."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 600


@pytest.fixture(scope="session")
def frozen_app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of a fresh build by `build.spec`.

    Skips where PyInstaller is not installed (`pip install '.[package]'`), unless HANDRAISE_REQUIRE_PACKAGE=1 wants
    that to be a failure.
    """
    if importlib.util.find_spec("PyInstaller") is None:
        reason = "PyInstaller is not installed; pip install '.[package]' brings it."
        if os.environ.get("HANDRAISE_REQUIRE_PACKAGE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("frozen")
    folders = ["--distpath", str(folder / "dist"), "--workpath", str(folder / "work")]
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", *folders]
    command.append(str(ROOT / "build.spec"))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    program = folder / "dist" / "handraise" / "handraise"
    assert program.is_file()
    return program
