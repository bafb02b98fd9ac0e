"""A sitting: a person before the window, and the stand-in behind it, whatever that is told to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QSettings
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton

from desktop.conversations import OpenConversation
from desktop.conversations.notices import Notice
from desktop.window.main_window import MainWindow
from desktop.window.page import ConversationPage
from tests.helpers.desk import Desk
from tests.helpers.person import Person


class Sitting:
    """The window on the folders of one test, with a person who looks, types and clicks.

    Attributes:
        desk: everything below the window, the stand-in's scenario included.
        window: the window; the same program's, but for its main coroutine.
        person: works by the object names that outsiders may rely on.
    """

    def __init__(self, application: QApplication, root: Path) -> None:
        self.desk = Desk(application, root)
        self.person = Person()
        self.window = self._open_window()

    def _open_window(self) -> MainWindow:
        geometry = QSettings(str(self.desk.root / "window.ini"), QSettings.Format.IniFormat)
        window = MainWindow(geometry).furnish(self.desk.conversations, self.desk.settings)
        window.show()
        return window

    def leave(self) -> None:
        """Close the window."""
        self.window.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def come_back(self) -> None:
        """Close the window and start again: what is there then was on the disk."""
        self.leave()
        self.desk.open_up()
        self.window = self._open_window()

    def environment(self, **variables: str) -> None:
        """Variables for the next start of the CLI."""
        self.desk.environ.update(variables)
        self.desk.surroundings.environ = dict(self.desk.environ)
        self.desk.surroundings.forget()

    def play(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a story on the window's loop; at its end all conversations are closed."""

        async def whole() -> None:
            await story()
            await self._stop_turns()

        self.desk.run(whole())

    async def _stop_turns(self) -> None:
        """A CLI in mid-turn leaves only when its patience is over; one whose turn was stopped leaves at once."""
        at_work = [one for one in self.desk.conversations if one.runner.is_live and one.conversation.state != "idle"]
        for one in at_work:
            one.stop()
        with contextlib.suppress(AssertionError):
            await self.until(lambda: all(one.conversation.state == "idle" for one in at_work), "all rest", patience=0.7)

    # At the window

    async def begin(self, *, until: str = "running", typed: str = "") -> OpenConversation:
        """Open the folder and wait for a phase of the conversation; `typed` is written at once, while it starts."""
        opened = self.window.open_folder(self.desk.folder)
        if typed:
            await self.person.write("composer", typed)
        await self.until(lambda: opened.phase == until, f"the conversation is {until}")
        return opened

    async def until(self, condition: Callable[[], object], what: str, patience: float = 40.0) -> None:
        """Wait until something is true; the failure says what can be read on the screen."""
        await self.person.waits_until(lambda: bool(condition()), what, patience)

    async def at_rest(self) -> None:
        """Wait until Claude has said what it had to say."""
        await self.until(
            lambda: self.opened.conversation.state == "idle" and not self.opened.queued, "the turn is over"
        )

    @property
    def page(self) -> ConversationPage:
        page = self.window.page
        assert page is not None
        return page

    @property
    def opened(self) -> OpenConversation:
        return self.page.opened

    @property
    def composer(self) -> str:
        """The words in the composer."""
        return self.page.composer.text()

    @property
    def says(self) -> str:
        """What the notices above the composer say, and their details."""
        shown = self.page.notices
        labels = [label.text() for label in shown.findChildren(QLabel) if label.isVisible()]
        details = [field.toPlainText() for field in shown.findChildren(QPlainTextEdit) if field.isVisible()]
        return "\n".join(labels + details)

    @property
    def offers(self) -> list[str]:
        """The words on the buttons of the notices."""
        return [button.text() for button in self.page.notices.findChildren(QPushButton) if button.isVisible()]

    @property
    def kept(self) -> str:
        """Every word that is at hand although nobody has received it: composer, queue, recovered texts."""
        texts = [self.composer, *(message.text for message in self.opened.queued), *self.opened.recovered]
        return "\n".join(texts)

    async def reacts(self, seconds: float, longest: float) -> None:
        """Look for some seconds whether the window reacts: no pause of its loop may be longer than `longest`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        worst = 0.0
        while (before := loop.time()) < end:
            await asyncio.sleep(0.01)
            worst = max(worst, loop.time() - before)
        assert worst < longest, f"the window did not react for {worst:.2f} s"


def words_of(notice: Notice) -> str:
    """All that a notice says."""
    return f"{notice.text}\n{notice.detail}"
