"""A person at the window: sees what is visible, clicks and types, and waits without stopping the event loop.

Scenarios are coroutines on the window's own loop, so they wait with `await` and never with a nested loop:

    async def scenario(person: Person) -> None:
        await person.write("composer", "Hello")
        await person.click("sendButton")
        await person.sees("questionDialog")
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QTextEdit,
    QWidget,
)

PATIENCE = 40.0
GLANCE = 0.02
READING = 0.5

T = TypeVar("T")


class Person:
    """Works on all visible windows of the application, by the object names that the design gives out."""

    # Looking

    def finds(self, name: str) -> QWidget | None:
        """The visible widget of that name, in whichever window."""
        for window in QApplication.topLevelWidgets():
            if not window.isVisible():
                continue
            if window.objectName() == name:
                return window
            for widget in window.findChildren(QWidget, name):
                if widget.isVisible():
                    return widget
        return None

    def is_seen(self, name: str) -> bool:
        return self.finds(name) is not None

    async def waits_until(
        self, condition: Callable[[], T | Awaitable[T]], what: str, patience: float = PATIENCE
    ) -> T:
        """Gives the loop time until the condition, which may be a coroutine function, is true; returns what it said."""
        deadline = time.monotonic() + patience
        while not (said := await _value_of(condition())):
            if time.monotonic() > deadline:
                raise AssertionError(f"in {patience} s it did not happen: {what}\n{self.account()}")
            await asyncio.sleep(GLANCE)
        return said

    async def sees(self, name: str, patience: float = PATIENCE) -> QWidget:
        found = await self.waits_until(lambda: self.finds(name), f"{name} is visible", patience)
        assert found is not None
        return found

    async def sees_no_more(self, name: str, patience: float = PATIENCE) -> None:
        await self.waits_until(lambda: not self.is_seen(name), f"{name} is gone", patience)

    async def reads(self, text: str, patience: float = PATIENCE) -> None:
        """Waits until a visible label, button or text field holds the text."""
        await self.waits_until(lambda: text in self.visible_text(), f"“{text}” can be read", patience)

    def visible_text(self) -> str:
        """Everything that can be read in the visible windows, a widget a line."""
        lines = []
        for window in QApplication.topLevelWidgets():
            for widget in [window, *window.findChildren(QWidget)] if window.isVisible() else []:
                if widget.isVisible():
                    lines.append(text_of(widget))
        return "\n".join(line for line in lines if line)

    def account(self) -> str:
        """What is on the screen, for the message of a failed test."""
        focus = QApplication.focusWidget()
        return f"the focus is on {focus!r}; what can be read:\n{self.visible_text()}"

    # Doing

    async def ready(self, name: str) -> QWidget:
        """Waits until the widget can be used, and scrolls to it."""
        await self.waits_until(
            lambda: (widget := self.finds(name)) is not None and widget.isEnabled(), f"{name} can be used"
        )
        widget = await self.sees(name)
        above: Any = widget.parentWidget()
        while above is not None:
            if isinstance(above, QScrollArea):
                above.ensureWidgetVisible(widget)
            above = above.parentWidget()
        return widget

    async def click(self, name: str) -> None:
        widget = await self.ready(name)
        # Near the left edge, where a row's mark is, and never on a text field that lies inside the row.
        at = QPoint(min(20, widget.width() // 2), min(14, widget.height() // 2))
        await _act(QTest.mouseClick, widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)

    async def click_when_read(self, name: str) -> None:
        """A click after a moment of reading: a page that has just come up doubts a click that follows at once."""
        await self.ready(name)
        await asyncio.sleep(READING)
        await self.click(name)

    async def press(
        self, name: str, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """A key, on the named widget."""
        await _act(QTest.keyClick, await self.ready(name), key, modifier)

    async def keys(self, *keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Keys one after the other, each to the widget that has the focus then."""
        for key in keys:
            focus = QApplication.focusWidget()
            assert focus is not None, self.account()
            await _act(QTest.keyClick, focus, key, modifier)

    async def write(self, name: str, text: str) -> None:
        """Types into a text field, character by character, at the end of what is there."""
        widget = await self.ready(name)
        widget.setFocus()
        await _act(_type, widget, text)

    async def send(self, text: str) -> None:
        """Writes a message and sends it."""
        await self.write("composer", text)
        await self.click("sendButton")

    async def choose(self, name: str, value: str = "", words: str = "") -> None:
        """Opens a drop-down list and clicks the entry with that value, or with those words."""
        widget = await self.ready(name)
        assert isinstance(widget, QComboBox), f"{name} is a {type(widget).__name__}"
        await self.waits_until(lambda: _index(widget, value, words) >= 0, f"{name} offers {value or words!r}")
        await _act(widget.showPopup)
        view = widget.view()
        place = view.visualRect(widget.model().index(_index(widget, value, words), 0)).center()
        left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        await _act(QTest.mouseClick, view.viewport(), left, plain, place)
        await self.waits_until(lambda: not view.isVisible(), f"the list of {name} has closed", patience=5)


def _type(widget: QWidget, text: str) -> None:
    for character in text:
        if character == "\n":
            QTest.keyClick(widget, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        elif character.isascii():
            QTest.keyClicks(widget, character)
        else:
            # As an input method does it; QTest aborts on a key that it does not know.
            event = QInputMethodEvent()
            event.setCommitString(character)
            QApplication.sendEvent(widget, event)


async def _act(action: Callable[..., Any], *args: Any) -> None:
    """Does something as Qt does it: from the loop itself, and not from inside a task, which must not be nested."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def act() -> None:
        try:
            action(*args)
        except BaseException as problem:
            done.set_exception(problem)
        else:
            done.set_result(None)

    QTimer.singleShot(0, act)
    await done
    await asyncio.sleep(GLANCE)


def _index(box: QComboBox, value: str, words: str) -> int:
    return int(box.findData(value) if value else box.findText(words))


async def _value_of(said: T | Awaitable[T]) -> T:
    return await said if isinstance(said, Awaitable) else said


def text_of(widget: QWidget) -> str:
    """What a widget says, when it is of a kind that says something."""
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        return str(widget.text())
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        return str(widget.toPlainText())
    if isinstance(widget, QComboBox):
        return str(widget.currentText())
    return ""
