"""The number on the Dock's icon: how many requests wait for the person."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication


class DockBadge:
    """Shows a number on macOS, and nothing elsewhere, where the window is marked as asking for attention instead.

    Args:
        platform: as `sys.platform` has it.
        put: what puts a number on the icon, 0 for none; Qt by default.
    """

    def __init__(self, platform: str = sys.platform, put: Callable[[int], None] | None = None) -> None:
        self._put = (put or _put_with_qt) if platform == "darwin" else None
        self._shown = 0

    def show(self, count: int) -> None:
        """Show a number, 0 for none; the same one again costs nothing."""
        if self._put is not None and count != self._shown:
            self._shown = count
            self._put(count)


def _put_with_qt(count: int) -> None:
    application = QGuiApplication.instance()
    if isinstance(application, QGuiApplication):
        application.setBadgeNumber(count)
