"""The Windows installer's script: what it may touch, what it says, and that makensis makes an installer of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from desktop import __version__

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = ROOT / "resources" / "windows"


def test_the_installer_needs_no_administrator_and_removes_by_name_only() -> None:
    script = (WINDOWS / "handraise.nsi").read_text("utf-8")
    assert "RequestExecutionLevel user" in script
    assert not re.search(r"^\s*\w+.*\bHKLM\b", script, re.MULTILINE)
    removed = set(re.findall(r"^\s*RMDir /r (.+)$", script, re.MULTILINE))
    assert removed == {'"$INSTDIR\\_internal"', '"${DATA}"'}


def test_the_uninstaller_removes_the_data_folder_of_the_program() -> None:
    """platformdirs on Windows: %LOCALAPPDATA%, and the name alone, since there is no author's folder."""
    paths = (ROOT / "desktop" / "paths.py").read_text("utf-8")
    assert '_NAME = "handraise"' in paths
    assert "appauthor=False" in paths
    assert '!define DATA "$LOCALAPPDATA\\handraise"' in (WINDOWS / "handraise.nsi").read_text("utf-8")


def test_every_sentence_of_the_installer_is_defined_and_used() -> None:
    script = (WINDOWS / "handraise.nsi").read_text("utf-8")
    defined = re.findall(r"^!insertmacro WORDS (\w+) ", (WINDOWS / "words.nsh").read_text("utf-8"), re.MULTILINE)
    used = set(re.findall(r"\$\((\w+)\)", script))
    assert used == set(defined)
    assert len(defined) == len(set(defined))


def test_every_file_has_a_path_that_windows_can_split_and_must_be_there() -> None:
    """There makensis looks for the last backslash alone, and finds nothing at a path with a slash."""
    script = (WINDOWS / "handraise.nsi").read_text("utf-8")
    files = re.findall(r"^\s*File ((?:/\S+ )*)(.+)$", script, re.MULTILINE)
    assert [path for _, path in files] == [
        r'"${SOURCE}\${PROGRAM}"', r'"${SOURCE}\${CONSOLE}"', r'"${SOURCE}\_internal"',
    ]  # fmt: skip
    assert {options.strip() for options, _ in files} == {"", "/r"}
    assert not re.search(r"__FILEDIR__\}\S*/", script)


def source_folder(folder: Path) -> Path:
    """What PyInstaller makes, in small."""
    source = folder / "handraise"
    (source / "_internal" / "下層").mkdir(parents=True)
    for name in ("handraise.exe", "handraise-cli.exe", "_internal/base_library.zip", "_internal/下層/字.txt"):
        (source / name).write_bytes(b"MZ")
    return source


def makensis(source: Path, made: Path, target: str = "amd64-unicode") -> subprocess.CompletedProcess[str]:
    """A run of it; skips without it, unless HANDRAISE_REQUIRE_NSIS=1 wants that to be a failure."""
    if shutil.which("makensis") is None:
        reason = "makensis is not installed; Debian's package nsis brings it."
        if os.environ.get("HANDRAISE_REQUIRE_NSIS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    words = {"TARGET": target, "VERSION": __version__, "SOURCE": str(source), "OUTPUT": str(made)}
    return subprocess.run(
        ["makensis", "-V2", "-WX", *(f"-D{name}={value}" for name, value in words.items()),
         str(WINDOWS / "handraise.nsi")],
        # WORKAROUND: NSIS 3.08 crashes on a name that is not ASCII when the locale is C.
        env=os.environ | {"LC_ALL": "C.UTF-8"}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("target", ["amd64-unicode", "x86-unicode"])
def test_makensis_makes_an_installer_of_it_without_a_warning(tmp_path: Path, target: str) -> None:
    made = tmp_path / "handraise-setup.exe"
    done = makensis(source_folder(tmp_path), made, target)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    data = made.read_bytes()
    assert data[:2] == b"MZ"
    assert "Handraise Setup".encode("utf-16-le") in data
    # An icon's pictures stand in a program as they stand in their own file.
    assert (ROOT / "resources" / "icons" / "handraise.ico").read_bytes()[-500:] in data


@pytest.mark.parametrize("name", ["handraise.exe", "handraise-cli.exe", "_internal"])
def test_an_installer_without_one_of_its_parts_is_not_made(tmp_path: Path, name: str) -> None:
    source = source_folder(tmp_path)
    (source / name).rename(tmp_path / "elsewhere")
    done = makensis(source, tmp_path / "handraise-setup.exe")
    assert done.returncode == 1
    assert name in done.stdout + done.stderr
    assert not (tmp_path / "handraise-setup.exe").exists()
