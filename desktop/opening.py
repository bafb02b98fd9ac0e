"""The window's first moment: it is on the screen, empty, before anything that takes long is loaded.

What is typed and clicked meanwhile waits in the window system until the window has its parts: it is one and the same
window. Nothing here may import what is heavy; `tests/desktop/test_opening.py` has the list.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, QTimer, QtMsgType, qInstallMessageHandler

from desktop import theme
from desktop.instance import SingleInstance
from desktop.paths import config_dir, data_dir
from desktop.qt_application import qt_application
from desktop.settings_file import FILE_NAME, read_settings
from desktop.window.main_window import MainWindow

DISPLAY_SECONDS = 2.0
PAINT_MS = 1000
"""A window that is not painted within that time, since it lies under others, is not waited for."""


@dataclass(frozen=True)
class Opened:
    """The empty window, the right to be the only one, and what Qt said meanwhile: the log is not open yet."""

    instance: SingleInstance
    window: MainWindow
    said: tuple[tuple[QtMsgType, str], ...]


def open_window(env: Mapping[str, str]) -> Opened | None:
    """Show the empty window and wait until it is painted.

    None where that cannot be, whatever the reason: `application.main` then finds it anew and tells it.
    """
    if not has_display(env):
        return None
    try:
        instance = instance_of(env)
    except OSError:
        return None
    if not instance.claim():
        return None
    said: list[tuple[QtMsgType, str]] = []
    qInstallMessageHandler(lambda kind, _, message: _keep(said, kind, message))
    application = qt_application()
    values, _ = read_settings(config_dir(env))
    theme.apply_colours(application, _scheme(values.get("theme")), _scale(values.get("text_scale")))
    window = MainWindow(window_memory(env))
    painted = _Painted()
    window.installEventFilter(painted)
    window.show()
    painted.wait()
    window.removeEventFilter(painted)
    return Opened(instance, window, tuple(said))


def _keep(said: list[tuple[QtMsgType, str]], kind: QtMsgType, message: str) -> None:
    said.append((kind, message))
    if kind == QtMsgType.QtFatalMsg:
        # Qt ends the process after this; without a word nobody would know why.
        print(message, file=sys.stderr)


def instance_of(env: Mapping[str, str]) -> SingleInstance:
    """The right to be the one window of an environment's folders, not yet claimed. Raises OSError."""
    config, data = config_dir(env), data_dir(env)
    return SingleInstance(config, data if data != config else None)


def window_memory(env: Mapping[str, str]) -> QSettings:
    """What the window keeps for itself from one run to the next."""
    return QSettings(str(config_dir(env) / "window.ini"), QSettings.Format.IniFormat)


def settings_path(env: Mapping[str, str]) -> Path:
    """The settings file."""
    return config_dir(env) / FILE_NAME


def _scheme(value: object) -> theme.Choice:
    return value if value == "light" or value == "dark" else "system"


def _scale(value: object) -> float:
    return value if isinstance(value, float) and 0.75 <= value <= 2.0 else 1.0


class _Painted(QObject):
    """Sees the first paint of a window.

    This is no nested loop: asyncio's does not exist yet, and has not even been imported.
    """

    def __init__(self) -> None:
        super().__init__()
        self._loop = QEventLoop(self)

    def wait(self) -> None:
        """Return once it is on the screen."""
        QTimer.singleShot(PAINT_MS, self._loop.quit)
        self._loop.exec()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            # The picture goes to the screen when the event has been handled.
            QTimer.singleShot(0, self._loop.quit)
        return False


def has_display(env: Mapping[str, str]) -> bool:
    """Whether there is a screen. Without one Qt would abort the process instead of saying so."""
    if sys.platform in ("win32", "darwin") or env.get("QT_QPA_PLATFORM", "xcb") != "xcb":
        return True
    return _wayland_answers(env) or _x_server_answers(env.get("DISPLAY", ""))


def _wayland_answers(env: Mapping[str, str]) -> bool:
    """Whether a compositor takes connections. Its variables outlive it, in a shell that was left behind or in tmux."""
    if env.get("WAYLAND_SOCKET"):
        return True
    name, folder = env.get("WAYLAND_DISPLAY", ""), env.get("XDG_RUNTIME_DIR", "")
    return bool(name) and _takes_connections(os.path.join(folder, name))


def _x_server_answers(display: str) -> bool:
    """Whether a local X server takes connections; one on another computer is left for Qt to find out."""
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if local is None:
        return bool(display)
    path = f"/tmp/.X11-unix/X{local[1]}"
    return _takes_connections(path, f"\0{path}")


def _takes_connections(*addresses: str) -> bool:
    for address in addresses:
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
            connection.settimeout(DISPLAY_SECONDS)
            connection.connect(address)
            return True
    return False
