"""Pictures of what is on the screen when a desktop test fails."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

ARTIFACTS = Path(__file__).resolve().parents[2] / "test-artifacts"


def visible_windows() -> list[QWidget]:
    """The application's top-level widgets that can be seen; none where Qt was never imported."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if application is None:
        return []
    assert widgets is not None
    return [window for window in widgets.QApplication.topLevelWidgets() if window.isVisible()]


def save_pictures(name: str) -> list[Path]:
    """Saves every visible window below `test-artifacts/`, named after the test; returns the files."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", name.removesuffix(" (call)"))[-150:]
    saved = []
    for number, window in enumerate(visible_windows()):
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}-{number}.png"
        # A window that is broken enough to fail the test can also fail to paint.
        with contextlib.suppress(Exception):
            window.grab().save(str(path))
            saved.append(path)
    return saved
