"""The archive in a person's own home: a desktop finds it there, and it is replaced while it runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import __version__
from tests.packaged.packages import Packages, missing
from tests.packaged.upgrade import CHANGED, STRAY, busy_window, make_older

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the archive is for Linux"),
]

METAINFO = "io.github.handraise.handraise.metainfo.xml"
SECONDS = 120


@pytest.fixture
def unpacked(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("unpacked")
    yield packages.unpack(folder)
    shutil.rmtree(folder)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home") / "工作 資料夾"
    home.mkdir()
    yield home
    shutil.rmtree(home)


def world(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"} | more


def install(unpacked: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(unpacked / "install.sh")], env=world(home), capture_output=True, text=True, timeout=SECONDS, check=False
    )


def checked_by(*command: str) -> None:
    if shutil.which(command[0]) is None:
        missing(f"{command[0]} is not installed.")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_menus_entry_is_valid_where_the_prefix_has_spaces_and_chinese(prefix: Path) -> None:
    checked_by("desktop-file-validate", str(prefix / "share" / "applications" / "handraise.desktop"))


def test_what_software_centres_read_is_valid(prefix: Path) -> None:
    checked_by("appstreamcli", "validate", "--no-net", "--pedantic", str(prefix / "share" / "metainfo" / METAINFO))


def test_an_older_version_is_replaced_while_it_runs_in_a_home_with_spaces_and_chinese(
    unpacked: Path, home: Path, tmp_path: Path
) -> None:
    of_older = tmp_path / "older"
    shutil.copytree(unpacked, of_older, symlinks=True)
    make_older(of_older)
    done = install(of_older, home)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(of_older)
    installed = home / ".local"
    program, log, traffic = installed / "bin" / "handraise", home / "handraise.log", home / "traffic"
    assert (installed / STRAY).is_file()
    offscreen = world(home, QT_QPA_PLATFORM="offscreen", HANDRAISE_LOG=str(log), FAKE_CLI_LOG=str(traffic))

    with busy_window([str(program), "--demo", "--smoke-test"], traffic, cwd=home, env=offscreen) as older:
        done = install(unpacked, home)
        assert (done.returncode, older.poll()) == (0, None), done.stderr

    words = older.communicate(timeout=SECONDS)
    assert (older.returncode, words) == (0, ("", "")), log.read_text("utf-8")
    assert "Smoke test: one request with 2 questions was answered" in log.read_text("utf-8")
    assert not (installed / STRAY).exists()
    assert (installed / CHANGED).read_bytes() == (unpacked / CHANGED).read_bytes()
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert said == f"Handraise {__version__}\n"


def test_a_version_that_cannot_start_here_changes_nothing_and_says_what_it_needs(unpacked: Path, home: Path) -> None:
    kept = home / ".local" / "lib" / "handraise" / "handraise"
    kept.parent.mkdir(parents=True)
    kept.write_text("an older version", encoding="utf-8")
    (unpacked / "lib" / "handraise" / "handraise").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")

    done = install(unpacked, home)

    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert "It needs glibc 2." in done.stderr
    assert [path for path in (home / ".local").rglob("*") if path.is_file()] == [kept]
    assert kept.read_text("utf-8") == "an older version"
