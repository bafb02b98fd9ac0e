"""Removing Handraise's data from the settings: asked in place, done when the program has ended, Claude's stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from desktop.own_data import OwnData
from desktop.settings.dialog import SettingsDialog
from desktop.settings.store import SettingsStore

ROOT = Path(__file__).resolve().parents[2]

PERSON = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton
from desktop import __main__

def window():
    return next((one for one in QApplication.topLevelWidgets() if one.objectName() == "mainWindow"), None)

def press(name, then):
    found = [one for top in QApplication.topLevelWidgets() for one in top.findChildren(QPushButton, name)]
    if found and found[0].isVisible():
        found[0].click()
        timer.timeout.disconnect()
        timer.timeout.connect(then) if then else timer.stop()

def begin():
    shown = window()
    if shown is not None and shown.page is not None and shown.isVisible():
        shown.page.composer.editor.set_text("a draft that is not to be found again")
        shown.actions_of_window.open_settings()
        timer.timeout.disconnect()
        timer.timeout.connect(lambda: press("settingDataDelete", lambda: press("settingDataConfirmed", None)))

app = QApplication(sys.argv[:1])
timer = QTimer(interval=50)
timer.timeout.connect(begin)
timer.start()
sys.exit(__main__.main([sys.argv[1]]))
"""


@pytest.fixture
def dialog(tmp_path: Path, qtbot: QtBot) -> SettingsDialog:
    own = OwnData(tmp_path / "config", tmp_path / "data", tmp_path / "data" / "handraise.log")
    made = SettingsDialog(
        SettingsStore(tmp_path / "config" / "settings.json"), own=own, claudes=tmp_path / "home" / ".claude"
    )
    qtbot.addWidget(made)
    made.show()
    return made


def press(dialog: SettingsDialog, name: str) -> None:
    found = dialog.findChild(QPushButton, name)
    assert found is not None
    assert found.isVisible()
    found.click()


def test_the_folders_and_what_stays_are_named(dialog: SettingsDialog, tmp_path: Path) -> None:
    words = "\n".join(label.text() for label in dialog.findChildren(QLabel))
    assert f"{tmp_path / 'config'}\n{tmp_path / 'data'}" in words
    assert f"Claude’s own data in {tmp_path / 'home' / '.claude'}" in words


def test_it_is_asked_first_and_the_safe_answer_has_the_focus(dialog: SettingsDialog) -> None:
    heard: list[bool] = []
    dialog.removal_wanted.connect(lambda: heard.append(True))
    dialog.activateWindow()
    press(dialog, "settingDataDelete")
    keep = dialog.findChild(QPushButton, "settingDataKeep")
    assert keep is not None
    assert dialog.focusWidget() is keep
    QTest.keyClick(keep, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.findChild(QPushButton, "settingDataDelete") is dialog.focusWidget()
    assert heard == []
    press(dialog, "settingDataDelete")
    confirm = [one for one in dialog.findChildren(QPushButton, "settingDataConfirmed") if one.isVisible()]
    assert len(confirm) == 1
    confirm[0].click()
    assert heard == [True]


@pytest.mark.skipif(os.name == "nt", reason="the person of this test needs the offscreen platform")
def test_the_program_quits_and_leaves_nothing_of_its_own(tmp_path: Path) -> None:
    claudes = tmp_path / "home" / ".claude"
    (claudes / "projects").mkdir(parents=True)
    (claudes / "projects" / "talk.jsonl").write_text("{}", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    env = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "CLAUDE_CONFIG_DIR": str(claudes),
        "HANDRAISE_CONFIG_DIR": str(tmp_path / "config"),
        "HANDRAISE_DATA_DIR": str(tmp_path / "data"),
        "HANDRAISE_CLAUDE": f'["{sys.executable}", "-S", "-m", "fake_cli"]',
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }
    ended = subprocess.run(
        [sys.executable, "-c", PERSON, str(project)], env=env, capture_output=True, timeout=90, cwd=tmp_path
    )
    assert (ended.returncode, ended.stderr.decode()) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "project"]
    assert (claudes / "projects" / "talk.jsonl").is_file()
