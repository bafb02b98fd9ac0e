"""What a person's hands do in a desktop test: keys go where the focus is, clicks into the middle of a widget."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.helpers.cards import settle


def press(*keys: Qt.Key | str, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press keys, or type texts, wherever the focus is."""
    for key in keys:
        focused = QApplication.focusWidget()
        assert focused is not None
        if isinstance(key, str):
            QTest.keyClicks(focused, key)
        else:
            QTest.keyClick(focused, key, modifiers)
        settle()


def press_ctrl_enter() -> None:
    press(Qt.Key.Key_Return, modifiers=Qt.KeyboardModifier.ControlModifier)


def named(root: QWidget, name: str) -> Any:
    """The widget with this object name; it has to be there."""
    found = root.findChild(QWidget, name)
    assert found is not None, name
    return found


def click(root: QWidget, name: str) -> None:
    """Click the widget with this object name."""
    target = named(root, name)
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=QPoint(target.width() // 2, min(target.height() // 2, 20)))
    settle()
