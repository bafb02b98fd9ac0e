"""The folder chooser asks the portal where there is one, and is Qt's own where there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import driven
from tests.helpers.window_systems import has_glib, missing, portal, session_bus, virtual_screen

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the portal is a thing of Linux")

CHOOSES = """
from PySide6.QtWidgets import QFileDialog
from desktop import theme

await self.until(lambda: window.current is not None and window.current.phase == "running")
window.top_bar.choose_folder()
chosen = lambda: any(one.folder.name == "chosen" for one in self.conversations)
# A dialog of Qt's own has its widgets laid out; one that the portal shows has none.
drawn = lambda: any(one.layout() is not None for one in window.findChildren(QFileDialog))
await self.until(lambda: chosen() or drawn())
print("the portal" if chosen() else "Qt", "dark" if theme.is_dark() else "light", flush=True)
# The folder is the program's own argument; nothing else may have come to it, or stayed.
print("QT_QPA_PLATFORMTHEME" in os.environ or sys.argv[2:] != self.qt.arguments()[1:], flush=True)
window.close()
"""


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    for program in ("Xvfb", "dbus-daemon"):
        if shutil.which(program) is None:
            missing(f"{program} is not installed.")
    with session_bus(tmp_path) as address:
        yield address


def play(tmp_path: Path, bus: str) -> list[str]:
    """Opens the window on a KDE, which PySide6 has no plugin for, and then its folder chooser."""
    (tmp_path / "project").mkdir()
    with virtual_screen(tmp_path / "xvfb.log") as display:
        env = {
            **{name: value for name, value in os.environ.items() if name not in ("WAYLAND_DISPLAY", "SNAP")},
            "HANDRAISE_CLAUDE": json.dumps([sys.executable, "-m", "fake_cli"]), "PYTHONPATH": str(ROOT),
            "FAKE_CLI_PACE": "0", "QT_QPA_PLATFORM": "xcb", "DISPLAY": display, "XDG_CURRENT_DESKTOP": "KDE",
            "DBUS_SESSION_BUS_ADDRESS": bus,
        }  # fmt: skip
        env.pop("QT_QPA_PLATFORMTHEME", None)
        command = [sys.executable, "-c", driven.script(CHOOSES), str(tmp_path / "project")]
        done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_folder_comes_from_the_portal_and_so_does_the_colour_scheme(tmp_path: Path, bus: str) -> None:
    if not has_glib():
        missing("/usr/bin/python3 has no GLib (python3-gi), which the portal's stand-in needs.")
    (tmp_path / "chosen").mkdir()
    seen = tmp_path / "seen"
    with portal(bus, tmp_path / "chosen", seen):
        assert play(tmp_path, bus) == ["the portal dark", "False"]
    (asked,) = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
    assert asked["directory"] is True
    assert asked["title"]


def test_without_a_portal_on_the_bus_the_dialog_is_qts(tmp_path: Path, bus: str) -> None:
    assert play(tmp_path, bus) == ["Qt light", "False"]
