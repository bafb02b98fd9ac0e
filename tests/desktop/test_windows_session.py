"""The end of a Windows session, as Windows tells it to a real window: a question first, then the end."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.conversations.drafts import DraftStore
from tests.helpers import driven

if sys.platform != "win32":
    pytest.skip("needs Windows", allow_module_level=True)

from ctypes import wintypes

WM_QUERYENDSESSION = 0x11
WM_ENDSESSION = 0x16
PATIENCE_MS = 20_000

# What these tests, and the Python of a Wine, say about the platform is not meant for this window.
SCREEN = "import os\nos.environ.pop('QT_QPA_PLATFORM', None)\n"
TYPES = """
await self.until(lambda: window.current is not None)
window.current.texts._timer.setInterval(3_600_000)
await self.until(lambda: window.current.phase == "running")
window.page.composer.editor.set_text("half a sentence")
print(int(window.winId()), flush=True)
"""


def tell(window: int, message: int, value: int) -> int:
    """Send a message to a window of another program and return its answer."""
    send = ctypes.WinDLL("user32", use_last_error=True).SendMessageTimeoutW
    send.argtypes = (
        wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM, wintypes.UINT, wintypes.UINT,
        ctypes.POINTER(ctypes.c_size_t),
    )  # fmt: skip
    answer = ctypes.c_size_t()
    assert send(window, message, value, 0, 0, PATIENCE_MS, ctypes.byref(answer)), "the window did not answer in time"
    return answer.value


def test_what_is_typed_is_on_the_disk_before_windows_may_end_the_program(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    env = {name: value for name, value in driven.surroundings(tmp_path).items() if not name.startswith("QT_")}
    command = [sys.executable, "-c", SCREEN + driven.script(TYPES), str(tmp_path / "project")]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            window = int(program.stdout.readline())
            assert tell(window, WM_QUERYENDSESSION, 0) == 1
            assert [draft.text for draft in DraftStore(tmp_path / "data" / "drafts").load()] == ["half a sentence"]
            assert program.poll() is None, "the end may be called off"
            tell(window, WM_ENDSESSION, 1)
            assert program.wait(60) == 0
        finally:
            program.kill()
