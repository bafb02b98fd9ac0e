"""The window is on the screen before anything heavy is loaded, and what is done to it meanwhile is not lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import driven

ROOT = Path(__file__).resolve().parents[2]

HEAVY = (
    "asyncio", "qasync", "pydantic", "aiohttp", "psutil", "pygments", "markdown_it", "multiprocessing", "ssl",
    "PySide6.QtNetwork", "PySide6.QtSvg", "protocol.messages", "protocol.conversation", "protocol.session",
    "desktop.application", "desktop.conversations", "desktop.transcript", "desktop.composer", "desktop.dialogs",
)  # fmt: skip
"""What the empty window does without."""

LOADED = f"""
import os, sys
from desktop import __main__, opening
opened = opening.open_window(os.environ)
assert opened.window.isVisible()
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""

HANDS = """
import asyncio, os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from desktop import opening

opened = opening.open_window(os.environ)
{hands}

from desktop import application, loop

class Driven(application.Application):
    async def run(self, left):
        loop.spawn(self.watch(), "the watch")
        return await super().run(left)

    async def watch(self):
        end = asyncio.get_running_loop().time() + 30
        while asyncio.get_running_loop().time() < end:
            page = self.window.page
            if page is not None and page.composer.editor.toPlainText() == "hello":
                print("it landed")
                break
            await asyncio.sleep(0.02)
        else:
            print("it came to nothing")
        self.window.close()

application.Application = Driven
sys.exit(application.main(Path(sys.argv[1]), opened=opened))
"""

TYPED = """
for letter in "hello":
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        key = QKeyEvent(kind, ord(letter.upper()), Qt.KeyboardModifier.NoModifier, letter)
        QCoreApplication.postEvent(opened.window.windowHandle(), key)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return driven.surroundings(tmp_path)


def run(script: str, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


def test_nothing_heavy_is_loaded_before_the_window_is_painted(env: dict[str, str]) -> None:
    done = run(LOADED, env)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


def test_what_is_typed_into_the_empty_window_lands_in_the_composer(env: dict[str, str], tmp_path: Path) -> None:
    done = run(HANDS.replace("{hands}", TYPED), env, str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "it landed\n"), done.stderr


def test_a_window_that_was_closed_while_it_was_empty_ends_the_program(env: dict[str, str], tmp_path: Path) -> None:
    done = run(HANDS.replace("{hands}", "opened.window.close()"), env, str(tmp_path))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_empty_window_has_the_colours_of_the_settings(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text('{"theme": "dark", "text_scale": "wide"}', encoding="utf-8")
    script = (
        "import os\nfrom desktop import opening, theme\nwindow = opening.open_window(os.environ).window\n"
        "print(window.palette().window().color().name().upper() == theme.DARK.background, theme.px(100))\n"
    )
    done = run(script, env)
    assert done.stdout == "True 100\n", done.stderr


def test_there_is_no_empty_window_beside_the_one_that_is_open(env: dict[str, str]) -> None:
    script = (
        "import os\nfrom desktop import opening\nfirst = opening.open_window(os.environ)\n"
        "print(first is not None, opening.open_window(os.environ))\n"
    )
    done = run(script, env)
    assert done.stdout == "True None\n", done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Qt says it on Linux")
def test_what_qt_says_while_the_window_is_empty_is_in_the_log_and_nowhere_else(
    env: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "handraise.log"
    # Qt wants UTF-8, and says so of any other locale as soon as it starts.
    env |= {"HANDRAISE_LOG": str(log), "LC_ALL": "C"}
    done = run(HANDS.replace("{hands}", "opened.window.close()"), env, str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "handraise.qt: Detected locale" in log.read_text("utf-8")
