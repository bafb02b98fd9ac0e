"""Freezes the app, packs it and installs it, each once for all tests of this folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.window_systems import virtual_screen
from tests.packaged.packages import BUILD_SECONDS, ROOT, Packages, freeze, missing, recorded_sizes


@pytest.fixture(scope="session")
def frozen_app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of a fresh build by `build.spec`, or of the folder that HANDRAISE_FROZEN_APP names.

    Skips where PyInstaller is not installed (`pip install '.[package]'`), unless HANDRAISE_REQUIRE_PACKAGE=1 wants
    that to be a failure.
    """
    if made := os.environ.get("HANDRAISE_FROZEN_APP"):
        program = Path(made).absolute() / "handraise"
        assert program.is_file(), f"HANDRAISE_FROZEN_APP names {made}, in which there is no program"
        return program
    if importlib.util.find_spec("PyInstaller") is None:
        missing("PyInstaller is not installed; pip install '.[package]' brings it.")
    folder = tmp_path_factory.mktemp("frozen")
    program = freeze(ROOT / "build.spec", folder) / "handraise"
    assert program.is_file()
    return program


@pytest.fixture(scope="session")
def packages(frozen_app: Path, tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The files that are given to people, made from the frozen app."""
    if not sys.platform.startswith("linux"):
        pytest.skip("these are the packages for Linux")
    if shutil.which("dpkg-deb") is None:
        missing("dpkg-deb is not installed.")
    folder = tmp_path_factory.mktemp("packages")
    script = ROOT / "resources" / "linux" / "package.py"
    command = [sys.executable, str(script), str(frozen_app.parent), "--into", str(folder), "--quick-deb"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    (archive,) = folder.glob("*.tar.xz")
    (deb,) = folder.glob("*.deb")
    return Packages(archive, deb)


@pytest.fixture(scope="session")
def prefix(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix into which the archive was installed as its reader is told to."""
    folder = tmp_path_factory.mktemp("installed")
    unpacked = packages.unpack(folder)
    prefix = folder / "前綴 prefix"
    subprocess.run([str(unpacked / "install.sh"), str(prefix)], check=True, timeout=300, capture_output=True)
    shutil.rmtree(unpacked)
    return prefix


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """The name of a virtual screen of this test's own."""
    if shutil.which("Xvfb") is None:
        missing("Xvfb is not installed.")
    with virtual_screen(tmp_path / "xvfb.log") as name:
        yield name


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The sizes, also of a green run, whose tests print nothing."""
    if recorded_sizes:
        terminalreporter.section("sizes of what people download and install")
    for size in recorded_sizes:
        terminalreporter.line(str(size))
