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


@pytest.mark.parametrize("target", ["amd64-unicode", "x86-unicode"])
def test_makensis_makes_an_installer_of_it_without_a_warning(tmp_path: Path, target: str) -> None:
    if shutil.which("makensis") is None:
        reason = "makensis is not installed; Debian's package nsis brings it."
        if os.environ.get("HANDRAISE_REQUIRE_NSIS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    source = tmp_path / "handraise"
    (source / "_internal" / "下層").mkdir(parents=True)
    for name in ("handraise.exe", "handraise-cli.exe", "_internal/base_library.zip", "_internal/下層/字.txt"):
        (source / name).write_bytes(b"MZ")
    made = tmp_path / "handraise-setup.exe"
    words = {"TARGET": target, "VERSION": __version__, "SOURCE": str(source), "OUTPUT": str(made)}
    done = subprocess.run(
        ["makensis", "-V2", "-WX", *(f"-D{name}={value}" for name, value in words.items()),
         str(WINDOWS / "handraise.nsi")],
        # WORKAROUND: NSIS 3.08 crashes on a name that is not ASCII when the locale is C.
        env=os.environ | {"LC_ALL": "C.UTF-8"}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    data = made.read_bytes()
    assert data[:2] == b"MZ"
    assert "Handraise Setup".encode("utf-16-le") in data
