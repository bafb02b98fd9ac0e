"""Qt's application object, which the system tells which folders are to be opened, and that it is time to end."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QLibraryInfo, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from desktop import __version__, windows_shell

log = logging.getLogger("handraise.application")


class QtApplication(QApplication):
    """Takes the folders that are dropped on the Dock's icon, and those of `open -a Handraise FOLDER`.

    They come as events, never as arguments; the first of them as soon as the loop runs, before there is a window.

    Attributes:
        is_quit_wanted: the system told this program to end: its Dock menu, a logout, the end of Windows.

    Signals:
        folder_wanted(path): `str`; emitted once `early_folders` was called.
        quit_wanted(): the same as the attribute.
    """

    folder_wanted = Signal(str)
    quit_wanted = Signal()

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self.is_quit_wanted = False
        self._early: list[str] | None = []

    def early_folders(self) -> list[str]:
        """What came before there was a window. From now on the signal tells of it."""
        early, self._early = self._early, None
        return early or []

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Quit:
            # Qt would stop the loop in the middle of the ending; `Application.run` stops it after that.
            event.ignore()
            self.is_quit_wanted = True
            self.quit_wanted.emit()
            return True
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        path = event.file()
        if not Path(path).is_dir():
            log.info("What is to be opened is no folder on this computer")
        elif self._early is not None:
            self._early.append(path)
        else:
            self.folder_wanted.emit(path)
        return True


def qt_application() -> QApplication:
    """The application object of this process, made if need be; its icon comes later."""
    windows_shell.name_for_taskbar()
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        application = existing
    else:
        application = QtApplication([*sys.argv[:1], *_theme_arguments()])
    application.setApplicationName("handraise")
    application.setApplicationDisplayName("Handraise")
    application.setDesktopFileName("handraise")
    application.setApplicationVersion(__version__)
    # The loop's end is decided in `Application.run`; Qt would stop it in the middle of the closing.
    application.setQuitOnLastWindowClosed(False)
    return application


def _theme_arguments() -> list[str]:
    if not sys.platform.startswith("linux"):
        return []
    from desktop import portal

    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platformthemes"
    return portal.qt_arguments(os.environ, portal.theme_plugins(plugins))
