"""Choosing the `bash.exe` that Claude Code needs on Windows, where it did not find one by itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from desktop.conversations.notices import Notice
from desktop.sentences import sentence
from desktop.translations import tr

if TYPE_CHECKING:
    from desktop.window.main_window import MainWindow


class GitBashChooser(QObject):
    """Asks for the program, and keeps it in the settings.

    Signals:
        chosen: there is another one now; a CLI that could not start may be tried anew.
    """

    chosen = Signal()

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: QFileDialog | None = None

    def open(self) -> None:
        """Let the person pick it."""
        dialog = QFileDialog(self._window, tr("Choose bash.exe of Git for Windows"))
        dialog.setObjectName("gitBashDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["bash.exe", f"{tr('All files')} (*)"])
        dialog.setDirectory(likely_folder(os.environ))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.take)
        self._dialog = dialog
        dialog.open()

    def take(self, path: str) -> None:
        """The person picked this file."""
        if not path:
            return
        if not os.path.isfile(path):
            words = sentence("There is no file {path}. Choose bash.exe of Git for Windows.", path=path)
            self._window.show_notice(Notice("git_bash", "careful", words))
            return
        self._window.actions_of_window.dismiss("git_bash")
        problem = self._window.settings.change(git_bash=os.path.normpath(path))
        if problem is not None:
            self._window.show_notice(Notice("settings", "careful", problem))
        self.chosen.emit()


def likely_folder(env: Mapping[str, str]) -> str:
    """Where Git for Windows lies as a rule, or the folder of programs; "" to leave it to the dialog."""
    for variable, below in (("ProgramFiles", ""), ("LOCALAPPDATA", "Programs"), ("ProgramFiles(x86)", "")):
        if env.get(variable):
            folder = Path(env[variable]) / below / "Git" / "bin"
            if folder.is_dir():
                return str(folder)
    return env.get("ProgramFiles", "")
