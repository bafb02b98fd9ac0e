"""A conversation in a transcript view, fed with what the CLI prints and looked at as a person would."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.transcript import TranscriptView
from desktop.transcript.rows import Row
from desktop.transcript.segments import Action
from protocol.conversation import Change
from tests.helpers.cli_says import Talk, Wire, assistant, block_start, message_start, text_delta


class ShownTalk(Talk):
    """A conversation that is shown in a window of its own.

    Attributes:
        view: the transcript.
    """

    def __init__(self, qtbot: QtBot, width: int = 900, height: int = 600) -> None:
        self.view: TranscriptView | None = None
        super().__init__()
        self.qtbot = qtbot
        self.view = TranscriptView(self.conversation)
        qtbot.addWidget(self.view)
        self.view.resize(width, height)
        self.view.show()
        qtbot.waitExposed(self.view)
        self.list = self.view.list
        self.bar = self.list.verticalScrollBar()

    def _seen(self, changes: list[Change]) -> list[Change]:
        super()._seen(changes)
        if self.view is not None:
            self.view.apply_changes(changes)
            self.view.flush()
            self.settle()
        return changes

    def settle(self) -> None:
        """Wait until nothing is left to read."""
        self.qtbot.waitUntil(lambda: not self.list.busy, timeout=10_000)

    def says(self, *texts: str) -> None:
        """Claude says some things, each a message."""
        for text in texts:
            self.cli(assistant(text, message_id=f"m{len(self.conversation.items)}"))

    def begins_to_say(self, text: str) -> None:
        """Claude's message begins to stream."""
        self.cli(message_start(), block_start(0), text_delta(text))

    def goes_on(self, text: str) -> None:
        self.cli(text_delta(text))

    # Looking

    def row(self, index: int) -> Row:
        """A row by its place; -1 is the last one."""
        count = self.view.model.rowCount()  # type: ignore[union-attr]
        return self.list.row(index % count)

    def text(self, index: int = -1) -> str:
        """The words of a row."""
        return self.row(index).text()

    @property
    def all_text(self) -> str:
        assert self.view is not None
        return self.view.plain_text()

    def actions(self, index: int = -1) -> list[Action]:
        """What can be clicked in a row."""
        return [action for _segment, _number, action in self.row(index).all_actions()]

    def place_of(self, action: Action, index: int = -1) -> QPoint:
        """Where an action is in the list's viewport."""
        number = index % self.view.model.rowCount()  # type: ignore[union-attr]
        rect = self.list.visualRect(self.list.transcript.index(number))
        row = self.row(index)
        for segment, _place, found in row.all_actions():
            if found == action:
                inside = found.rects[0].center()
                left = rect.left() + row.segments[segment].indent
                return QPoint(int(left + inside.x()), int(rect.top() + row.top_of(segment) + inside.y()))
        raise AssertionError(action)

    # Hands

    def click(self, action: Action, index: int = -1) -> None:
        """Click what an action is."""
        place = self.place_of(action, index)
        QTest.mouseClick(self.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.settle()

    def click_words(self, words: str, index: int = -1) -> None:
        """Click the action of this name."""
        self.click(next(action for action in self.actions(index) if words in action.words), index)

    def drag(self, start: QPoint, end: QPoint) -> None:
        """Select from one point of the viewport to another."""
        viewport = self.list.viewport()
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(viewport, (start + end) / 2)
        QTest.mouseMove(viewport, end)
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.list, key, modifiers)
        self.settle()

    @property
    def copied(self) -> str:
        """What is in the clipboard."""
        return QGuiApplication.clipboard().text()


def edit(old: str, new: str, path: str = "/home/me/project/app.py") -> dict[str, Any]:
    return {"file_path": path, "old_string": old, "new_string": new}


Value = Wire
