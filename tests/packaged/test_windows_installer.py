"""The Windows installer's whole life on a Windows: install, answer a question, upgrade, remove.

    HANDRAISE_WINDOWS_SETUP=C:\\…\\handraise-0.1.0-setup.exe pytest tests/packaged/test_windows_installer.py

It installs for the user that runs it, below their own `Programs`, so it runs only where it is told which installer to
try, and stops before it touches anything where a Handraise is installed already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from desktop import __version__
from tests.helpers.processes import describe, kill_all, marked_processes, wait_until_gone
from tests.helpers.real_cli import clean_environment, install, pinned_versions
from tests.packaged.packages import record_size
from tests.real_cli.model import ScriptedModel, Text
from tests.real_cli.scripts import QUESTIONS, ask

if sys.platform != "win32":
    pytest.skip("needs Windows", allow_module_level=True)
if "HANDRAISE_WINDOWS_SETUP" not in os.environ:
    pytest.skip("HANDRAISE_WINDOWS_SETUP does not name an installer to try", allow_module_level=True)

import winreg

pytestmark = pytest.mark.timeout(600)

SETUP = Path(os.environ["HANDRAISE_WINDOWS_SETUP"])
LIMIT = 35e6
LOCAL = Path(os.environ["LOCALAPPDATA"])
DEFAULT_FOLDER = LOCAL / "Programs" / "Handraise"
DATA = LOCAL / "handraise"
LINK = Path(os.environ["APPDATA"], "Microsoft", "Windows", "Start Menu", "Programs", "Handraise.lnk")
ENTRY = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Handraise"
VERBS = tuple(rf"Software\Classes\{kind}\shell\Handraise" for kind in ("Directory", r"Directory\Background", "Drive"))
PLUGINS = {
    "platforms": {"qwindows", "qoffscreen"},
    "styles": {"qmodernwindowsstyle"},
    "iconengines": {"qsvgicon"},
    "imageformats": {"qsvg", "qjpeg", "qgif", "qwebp", "qico"},
    "tls": {"qopensslbackend", "qschannelbackend"},
}
"""Every plugin of Qt that the package has, and no other."""
SECONDS = 180


def value_of(key: str, name: str = "") -> str | None:
    """What the current user's registry has there; None where there is no such key."""
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
            return str(winreg.QueryValueEx(opened, name)[0])
    except FileNotFoundError:
        return None


def traces() -> set[Path]:
    """Every file and folder of the user's that bears the program's name, but for its data; and its start menu entry."""
    below = [path for top in (LOCAL / "Programs", LINK.parent) for path in top.rglob("*")]
    return {path for path in below if "handraise" in str(path).lower()}


def entries() -> set[str]:
    return {key for key in (ENTRY, *VERBS, rf"{VERBS[0]}\command") if value_of(key) is not None or is_key(key)}


def is_key(key: str) -> bool:
    try:
        winreg.CloseKey(winreg.OpenKey(winreg.HKEY_CURRENT_USER, key))
    except FileNotFoundError:
        return False
    return True


def world(**more: str) -> dict[str, str]:
    """The environment of this Windows, with nothing that these tests themselves tell Qt: a real window is wanted."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QT_")} | more


def run(program: Path, *arguments: str, last: str = "", **more: str) -> int:
    """Runs a program to its end. `last` goes to its command line as it is: NSIS wants `/D=` without quotes."""
    line = f"{subprocess.list2cmdline([str(program), *arguments])} {last}".strip()
    return subprocess.run(line, timeout=SECONDS, check=False, env=world(**more)).returncode


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"after {seconds} s it does not hold that {what}"
        time.sleep(0.2)


class Installed:
    """A Handraise that the installer under test has put into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "handraise.exe"
        self.console = folder / "handraise-cli.exe"

    def says(self, *arguments: str) -> str:
        """What the console twin prints."""
        done = subprocess.run(
            [str(self.console), *arguments], capture_output=True, text=True, encoding="utf-8", timeout=SECONDS,
            check=False,
        )  # fmt: skip
        return done.stdout

    def remove(self, *arguments: str) -> None:
        """Uninstalls it. The uninstaller goes on from a copy of itself, so its own end says nothing."""
        run(self.folder / "uninstall.exe", "/S", *arguments)
        wait_until(lambda: not self.folder.exists(), f"{self.folder} is gone")


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    """Leaves this Windows as it was, and refuses one that has a Handraise or data of one."""
    found = [str(path) for path in (DEFAULT_FOLDER, DATA, LINK) if path.exists()] + sorted(entries())
    assert found == [], "this Windows has a Handraise already; the test would damage it"
    yield
    uninstaller = value_of(ENTRY, "QuietUninstallString")
    if uninstaller is not None:  # the test failed half-way
        subprocess.run(f"{uninstaller} /DELETEDATA", timeout=SECONDS, check=False)
        wait_until(lambda: not is_key(ENTRY), "the entry in the list of programs is gone")


@pytest.fixture
def installed() -> Installed:
    """Installed silently, as nobody has chosen anything."""
    assert run(SETUP, "/S") == 0
    return Installed(DEFAULT_FOLDER)


def test_it_is_small() -> None:
    size = SETUP.stat().st_size
    record_size("Windows installer", size, LIMIT)
    assert size <= LIMIT


def test_what_it_lays_down_is_what_the_program_needs_and_where_windows_looks_for_it(installed: Installed) -> None:
    folder = installed.folder / "_internal" / "PySide6"
    found: dict[str, set[str]] = {}
    for path in (folder / "plugins").rglob("*.dll"):
        found.setdefault(path.parent.name, set()).add(path.stem)
    assert found == PLUGINS
    assert {path.name for path in folder.rglob("*.qm")} == {"qtbase_en.qm", "qtbase_zh_TW.qm"}
    listed = json.loads((folder.parent / "components.cdx.json").read_text("utf-8"))["components"]
    assert {"Python", "Qt", "PySide6_Essentials", "pywin32", "OpenSSL", "libffi", "zlib", "bzip2", "XZ Utils",
            "Microsoft Visual C++ Runtime"} <= {component["name"] for component in listed}  # fmt: skip

    assert LINK.is_file()
    assert value_of(ENTRY, "DisplayVersion") == __version__
    assert value_of(ENTRY, "InstallLocation") == str(installed.folder)
    assert [verb for verb in VERBS if is_key(verb)] == [], "nobody asked for the entry in Explorer"
    assert installed.says("--version") == f"Handraise {__version__}\n"
    assert json.loads(installed.says("doctor", "--json"))["packaged"] is True
    installed.remove()
    assert (traces(), entries()) == (set(), set())


def test_the_installed_window_answers_a_question_of_the_real_cli_and_leaves_only_its_data(
    installed: Installed, tmp_path: Path
) -> None:
    claude = install(pinned_versions()[-1])
    home = tmp_path / "home"
    project = home / "工作 資料夾"
    project.mkdir(parents=True)
    mark = f"handraise-test-{uuid.uuid4()}"
    log = tmp_path / "handraise.log"
    with ScriptedModel() as model:
        model.script([Text("Let me ask."), ask(QUESTIONS, "toolu_ask")], "Noted, thank you.")
        more = clean_environment(home, model.url, mark) | {"HANDRAISE_LOG": str(log)}
        more["PATH"] = f"{claude.parent};{os.environ['PATH']}"
        code = run(installed.program, "--smoke-test=Set up the project", str(project), **more)
        assert code == 0, log.read_text("utf-8")
        assert model.errors == []
    left = wait_until_gone(mark, tmp_path)
    kill_all(left)
    assert describe(left) == "", "these were left running"
    assert "one request with 2 questions was answered" in log.read_text("utf-8")
    (result,) = model.tool_results()
    assert not result.is_error
    assert '"Which database should we use?"="PostgreSQL"' in result.text

    kept = DATA / "drafts" / "kept.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("words", encoding="utf-8")
    before = {path for path in DATA.rglob("*") if path.is_file()}
    installed.remove()
    assert (traces(), entries()) == (set(), set())
    assert {path for path in DATA.rglob("*") if path.is_file()} == before

    assert run(SETUP, "/S") == 0
    assert kept.read_text("utf-8") == "words"
    installed.remove("/DELETEDATA")
    wait_until(lambda: not DATA.exists(), "the data is gone, as it was told")


def test_an_upgrade_closes_the_running_older_version_and_keeps_what_was_chosen(tmp_path: Path) -> None:
    folder = tmp_path / "程式 folder" / "Handraise"
    assert run(SETUP, "/S", "/EXPLORER", last=f"/D={folder}") == 0
    older = Installed(folder)
    command = value_of(rf"{VERBS[0]}\command")
    assert command is not None
    assert str(older.program) in command
    of_the_older = folder / "_internal" / "of-an-older-version.txt"
    of_the_older.write_text("old", encoding="utf-8")
    with winreg.OpenKey(winreg.HKEY_CURRENT_USER, ENTRY, access=winreg.KEY_SET_VALUE) as key:
        winreg.SetValueEx(key, "DisplayVersion", 0, winreg.REG_SZ, "0.0.1")

    log = tmp_path / "handraise.log"
    mark = f"handraise-test-{uuid.uuid4()}"
    more = {"HANDRAISE_LOG": str(log), "FAKE_CLI_PACE": "0", "HANDRAISE_TEST_MARK": mark}
    running = subprocess.Popen([str(older.program), "--demo"], env=world(**more))
    try:
        wait_until(lambda: log.exists() and "the window is there" in log.read_text("utf-8"), "the window is there")
        started = psutil.Process(running.pid).children(recursive=True)

        code = run(SETUP, "/S")

        assert code == 0, f"{log.read_text('utf-8')}\n{describe(marked_processes(mark, folder))}"
        assert running.wait(30) == 0
        assert [process for process in started if process.is_running()] == []
    finally:
        if running.poll() is None:
            running.kill()
    assert not of_the_older.exists()
    assert value_of(ENTRY, "DisplayVersion") == __version__
    assert value_of(rf"{VERBS[0]}\command") == command
    assert Installed(folder).says("--version") == f"Handraise {__version__}\n"
    older.remove("/DELETEDATA")
    assert (traces(), entries()) == (set(), set())
