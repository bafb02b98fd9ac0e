"""All open conversations of this run, and how many of them may run a CLI at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from desktop.conversations.drafts import Draft, DraftStore
from desktop.conversations.open import OpenConversation
from desktop.conversations.surroundings import Surroundings
from desktop.settings import Settings, SettingsStore
from protocol.conversation import Change

log = logging.getLogger("handraise.conversations")


class ProcessLimit:
    """Places for CLIs; who comes when all are taken waits in line.

    Attributes:
        most: how many there are; raising it lets waiting ones in at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._inside: list[object] = []
        self._line: list[tuple[object, asyncio.Future[None]]] = []

    @property
    def most(self) -> int:
        return self._most

    @most.setter
    def most(self, number: int) -> None:
        self._most = number
        self._let_in()

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return len(self._inside)

    async def enter(self, who: object, on_wait: Callable[[], None]) -> None:
        """Take a place, or wait for one. `on_wait` is called once when there is none now.

        Returns also when `leave(who)` was called meanwhile: then there is no place, and none is needed any more.
        """
        if len(self._inside) < self._most:
            self._inside.append(who)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((who, future))
        on_wait()
        try:
            await future
        except asyncio.CancelledError:
            self.leave(who)
            raise

    def leave(self, who: object) -> None:
        """Give the place back, or leave the line. Nothing happens for who has neither."""
        for entry in [entry for entry in self._line if entry[0] is who]:
            self._line.remove(entry)
            if not entry[1].done():
                entry[1].set_result(None)
        self._inside = [one for one in self._inside if one is not who]
        self._let_in()

    def _let_in(self) -> None:
        while self._line and len(self._inside) < self._most:
            who, future = self._line.pop(0)
            if not future.done():
                self._inside.append(who)
                future.set_result(None)


class Conversations(QObject):
    """The open conversations, in the order in which they were opened.

    Signals:
        added(OpenConversation), removed(OpenConversation): one was opened, or closed for good.
        changed(OpenConversation): what a list shows of it is different.
        request_added(OpenConversation, request_id): something waits for the person.
    """

    added = Signal(object)
    removed = Signal(object)
    changed = Signal(object)
    request_added = Signal(object, str)

    def __init__(
        self,
        settings: SettingsStore,
        surroundings: Surroundings,
        drafts: DraftStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings = settings
        self.surroundings = surroundings
        self.limit = ProcessLimit(settings.settings.max_processes)
        self._drafts = drafts
        self._open: list[OpenConversation] = []
        self._api_key_told = False
        settings.subscribe(self._on_settings)

    def __iter__(self) -> Iterator[OpenConversation]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    def by_key(self, key: str) -> OpenConversation | None:
        """The conversation with a key, if it is open."""
        return next((one for one in self._open if one.key == key), None)

    def start(self, folder: Path) -> OpenConversation:
        """Open a new conversation in a folder and bring its CLI up. An untouched one of that folder is used again."""
        for one in self._open:
            if one.folder == folder and one.is_untouched:
                if not one.runner.is_under_way:
                    one.start()
                return one
        opened = self._add(OpenConversation(folder, self.surroundings, self.settings, self.limit, self._drafts))
        opened.start()
        return opened

    def restore(self) -> list[OpenConversation]:
        """Open what an earlier run left with something unsent in it. No CLI is started before it is needed."""
        restored = []
        for draft in self._drafts.load():
            restored.append(self._restore(draft))
        return restored

    def _restore(self, draft: Draft) -> OpenConversation:
        return self._add(
            OpenConversation(Path(draft.folder), self.surroundings, self.settings, self.limit, self._drafts, kept=draft)
        )

    def _add(self, opened: OpenConversation) -> OpenConversation:
        opened.setParent(self)
        opened.controls.api_key_told = self._api_key_told_once
        opened.state_changed.connect(lambda: self.changed.emit(opened))
        opened.changed.connect(lambda changes: self._on_changes(opened, changes))
        self._open.append(opened)
        self.added.emit(opened)
        return opened

    def _api_key_told_once(self) -> bool:
        """Whether the removed key was told before, in any conversation of this run."""
        told, self._api_key_told = self._api_key_told, True
        return told

    def _on_changes(self, opened: OpenConversation, changes: list[Change]) -> None:
        for change in changes:
            if change.kind == "pending_added":
                self.request_added.emit(opened, change.id)

    def waiting(self) -> list[tuple[OpenConversation, str]]:
        """All requests that wait for the person: (conversation, request id), the longest waiting first."""
        found = [
            (request.at, opened, request_id)
            for opened in self._open
            for request_id, request in opened.conversation.pending.items()
        ]
        found.sort(key=lambda entry: entry[0])
        return [(opened, request_id) for _, opened, request_id in found]

    async def remove(self, opened: OpenConversation) -> None:
        """Close one for good: its CLI, and its place in the list. Unsent text stays on the disk until then."""
        if opened not in self._open:
            return
        self._open.remove(opened)
        opened.typed_in_dialog = None  # the view goes now, before the CLI does
        self.removed.emit(opened)
        await opened.close()
        self._drafts.remove(opened.key)
        opened.deleteLater()

    async def close_all(self) -> None:
        """End all CLIs, together, each by its ladder. What was typed stays on the disk."""
        results = await asyncio.gather(*(one.close() for one in self._open), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                log.error("A conversation was not closed in an orderly way", exc_info=result)

    def restart_signed_out(self) -> None:
        """Someone has signed in: start those anew that could not work without."""
        self.surroundings.forget()
        for one in self._open:
            if "login" in one.notices:
                one.clear_notices("login")
                one.restart()

    def _on_settings(self, settings: Settings) -> None:
        self.limit.most = settings.max_processes
