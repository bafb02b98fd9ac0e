"""What the CLI wants decided while it answers a program: from the endpoint's thread to the window, and back."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from desktop.conversations.texts import Texts
from desktop.translations import tr
from protocol.conversation import PendingRequest

if TYPE_CHECKING:
    # Loaded with the first question: the window comes first.
    from desktop.dialogs.base import DialogContext
    from protocol.chat_completions.backend import Question

log = logging.getLogger("handraise.local_api")

LONGEST_CLIENT = 32
"""Characters of a client's name in a dialog's head, which has one line."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """One question and the way back to who waits for its answer: a future of the endpoint's own loop."""

    key: str
    question: Question
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[dict[str, Any] | None]

    def deliver(self, result: dict[str, Any] | None) -> None:
        """Hand the answer over; from any thread, and also when nobody waits any more."""
        try:
            self.loop.call_soon_threadsafe(self._set, result)
        except RuntimeError:
            log.info("The endpoint has ended before an answer reached it")

    def _set(self, result: dict[str, Any] | None) -> None:
        if not self.answer.done():
            self.answer.set_result(result)


class Asker(QObject):
    """The questions of the local API that wait for the person. Lives on the window's thread; `ask` does not.

    Attributes:
        texts: what stands in the dialogs, and what lost its place there.
        typed_in_dialog: what stands in the dialog of a question right now; set by the view that shows it.

    Signals:
        changed: other questions wait than before.
        request_added(key, PendingRequest): one more waits.
    """

    changed = Signal()
    request_added = Signal(str, object)
    # Between the threads. Queued by name, so that no slot ever runs on the endpoint's thread.
    _asked = Signal(object)
    _over = Signal(str, bool)

    def __init__(self, texts: Texts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.texts = texts
        self.typed_in_dialog: Callable[[str], str] | None = None
        self._waiting: dict[str, _Asked] = {}
        self._answered: dict[str, str] = {}  # on its way to the endpoint: what was typed for it
        self._numbers = itertools.count(1)
        self._closed = False
        self._asked.connect(self._on_asked, Qt.ConnectionType.QueuedConnection)
        self._over.connect(self._on_over, Qt.ConnectionType.QueuedConnection)

    # On the endpoint's loop

    async def ask(self, question: Question) -> dict[str, Any] | None:
        """Put a question to the person and wait for the reply; None when the window is going.

        Runs on the endpoint's loop. Cancelling it closes the dialog.
        """
        loop = asyncio.get_running_loop()
        asked = _Asked(f"api-{next(self._numbers)}", question, loop, loop.create_future())
        self._asked.emit(asked)
        arrived = False
        try:
            result = await asked.answer
            arrived = True
            return result
        finally:
            self._over.emit(asked.key, arrived)

    # In the window

    @property
    def pending(self) -> Mapping[str, PendingRequest]:
        """What waits, in order of arrival, by a key of its own: the CLIs' request ids may be the same."""
        return {key: asked.question.pending for key, asked in self._waiting.items()}

    def context(self, key: str) -> DialogContext:
        """What the dialog of a question should know besides it: above all, who asks."""
        from desktop.dialogs.base import DialogContext

        question = self._waiting[key].question
        client = question.client or tr("A program")
        if len(client) > LONGEST_CLIENT:
            client = client[: LONGEST_CLIENT - 1] + "…"
        return DialogContext(
            conversation_title=tr("Local API: {client}", client=client),
            agent=question.pending.agent,
            client=client,
            since=question.pending.at,
            capabilities=question.capabilities,
            cwd=str(question.cwd),
            plan=question.plan,
        )

    def answer(self, key: str, result: dict[str, Any], typed: str = "") -> bool:
        """Send the person's decision. False when the question was withdrawn meanwhile.

        Args:
            key: of the question.
            result: the reply for the CLI.
            typed: what stood in the dialog: offered again, should the answer come too late.
        """
        asked = self._waiting.pop(key, None)
        if asked is None:
            return False
        self._answered[key] = typed or self.texts.typed.get(key, "")
        asked.deliver(result)
        self.changed.emit()
        return True

    def close(self) -> None:
        """The window goes: nobody answers any more. What was typed is kept."""
        self._closed = True
        for key, asked in list(self._waiting.items()):
            asked.deliver(None)
            self._withdraw(key)
        self.texts.save()

    def _on_asked(self, asked: _Asked) -> None:
        if self._closed:
            asked.deliver(None)
            return
        self._waiting[asked.key] = asked
        self.changed.emit()
        self.request_added.emit(asked.key, asked.question.pending)

    def _on_over(self, key: str, arrived: bool) -> None:
        if key in self._answered:
            typed = self._answered.pop(key)
            self.texts.forget_typed(key)
            if not arrived:
                # Client and answer crossed: nothing was sent, so nothing of it may be lost.
                self.texts.recover(typed)
        elif key in self._waiting:
            self._withdraw(key)

    def _withdraw(self, key: str) -> None:
        """Close a question that needs no answer any more, and keep at hand what was typed for it."""
        noted = self.texts.forget_typed(key)
        typed = self.typed_in_dialog(key) if self.typed_in_dialog is not None else ""
        del self._waiting[key]
        self.texts.recover(typed or noted)
        self.changed.emit()
