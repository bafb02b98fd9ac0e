"""Every desktop test has folders of its own and sees neither the person's settings nor their `~/.claude`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from desktop.window.main_window import MainWindow
    from tests.helpers.desk import Desk


@pytest.fixture(autouse=True)
def folders_of_this_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Points everything that the app reads or writes below the test's own folder, which it returns."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "HANDRAISE_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "HANDRAISE_CONFIG_DIR": tmp_path / "config",
        "HANDRAISE_DATA_DIR": tmp_path / "data",
    }.items():
        monkeypatch.setenv(name, str(folder))
    return tmp_path


@pytest.fixture
def desk(qapp: QApplication, tmp_path: Path) -> Desk:
    """Conversations on the stand-in, and a loop to tell a story on."""
    from tests.helpers.desk import Desk

    return Desk(qapp, tmp_path)


@pytest.fixture
def window(desk: Desk) -> Iterator[MainWindow]:
    """The main window of the desk, shown."""
    from PySide6.QtCore import QSettings

    from desktop.window.main_window import MainWindow

    geometry = QSettings(str(desk.root / "w.ini"), QSettings.Format.IniFormat)
    made = MainWindow(geometry).furnish(desk.conversations, desk.settings)
    made.show()
    yield made
    made.close()
    made.deleteLater()
