"""A model's prose inside a dialog."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from desktop.widgets import plain_label


def prose_view(parent: QWidget) -> QLabel:
    """An empty view for `show_prose`."""
    view = plain_label("", wrap=True, parent=parent)
    view.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return view


def show_prose(view: QLabel, markdown: str) -> None:
    """Replace what a view shows."""
    view.setText(markdown)
