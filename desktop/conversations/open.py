"""One open conversation: what is said in it, what is typed for it, and the CLI that runs it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop import loop
from desktop.composer.attachments import Image
from desktop.conversations import notices
from desktop.conversations.answers import Answers
from desktop.conversations.controls import Controls
from desktop.conversations.drafts import Draft, DraftStore, content_blocks, images_of, new_key
from desktop.conversations.notices import Notice
from desktop.conversations.outbox import Queued
from desktop.conversations.runner import Phase, Places, Runner
from desktop.conversations.surroundings import Surroundings
from desktop.conversations.texts import Texts
from desktop.sentences import sentence
from desktop.settings import SettingsStore
from desktop.translations import tr
from protocol.conversation import Change, Conversation, PendingRequest, TurnEndItem, UserItem
from protocol.permissions import make_visible
from protocol.questions import reply_instead
from protocol.session import Session, SessionError, UsageError
from protocol.wire import WireError

log = logging.getLogger("handraise.conversations")

TITLE_CHARACTERS = 80


class OpenConversation(QObject):
    """A conversation of this run.

    Attributes:
        key: stable over restarts of the CLI and of the program.
        conversation: what was said; the same object over restarts.
        texts: what was written and not received yet.
        runner: the CLI.
        controls: model, mode, effort, and what the CLI tells about itself.
        notices: what the person must know, by key, in order of arrival.
        touched: epoch seconds of the last thing that happened.
        unseen: a turn has ended since the person last looked.
        typed_in_dialog: what stands in the dialog of a request right now; set by the view that shows it.

    Signals:
        changed(changes): the transcript is different; `Sequence[Change]`.
        state_changed: anything else that a view shows: phase, title, notices, queue, recovered texts.
        failed(text): the CLI could not be started, or ended; a sentence.
    """

    changed = Signal(object)
    state_changed = Signal()
    failed = Signal(str)

    def __init__(
        self,
        folder: Path,
        surroundings: Surroundings,
        settings: SettingsStore,
        places: Places,
        drafts: DraftStore,
        *,
        kept: Draft | None = None,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        kept = kept or Draft(key=new_key())
        self.key = kept.key
        self.conversation = Conversation()
        self.notices: dict[str, Notice] = {}
        self.touched = clock()
        self.unseen = False
        self.typed_in_dialog: Callable[[str], str] | None = None
        self._answers = Answers()
        self._kept_title = kept.title
        self._is_closed = False
        self._clock = clock
        self._settings = settings
        self.runner = Runner(
            folder, self.conversation, surroundings, settings, places, session_id=kept.session_id,
            on_changes=self._on_changes, on_phase=self._on_phase, on_notice=self.add_notice,
        )  # fmt: skip
        self.controls = Controls(self.runner, settings, self)
        self.controls.changed.connect(self.state_changed)
        self.controls.noticed.connect(self.add_notice)
        self.controls.settled.connect(self.clear_notices)
        self.controls.signed_out.connect(lambda message: self.texts.offer_again(message.text, images_of(message)))
        self.texts: Texts = Texts(drafts, kept, self._describe, self)
        self.texts.changed.connect(self.state_changed)
        self.texts.not_saved.connect(lambda reason: self.add_notice(notices.draft_not_saved(reason)))

    # What it is

    @property
    def folder(self) -> Path:
        return self.runner.folder

    @property
    def session(self) -> Session | None:
        return self.runner.session

    @property
    def phase(self) -> Phase:
        return self.runner.phase

    @property
    def draft(self) -> str:
        return self.texts.draft

    @property
    def recovered(self) -> list[str]:
        return self.texts.recovered

    @property
    def title(self) -> str:
        """Its name: Claude's, or the beginning of the first message."""
        told = make_visible(" ".join(self.conversation.title.split()))
        if told:
            return told[:TITLE_CHARACTERS]
        for item in self.conversation.items:
            if isinstance(item, UserItem) and item.text.strip():
                return item.text.strip().splitlines()[0][:TITLE_CHARACTERS]
        return self._kept_title or tr("New conversation")

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was said, saved or typed yet, so that it can be used for something else."""
        said = any(isinstance(item, UserItem) for item in self.conversation.items)
        return self.texts.is_empty and not said and not self.runner.resume.candidates()

    @property
    def open_question(self) -> PendingRequest | None:
        """The question that the composer's text can be the reply to: the first in the queue, if it is one."""
        first = next(iter(self.conversation.pending.values()), None)
        return first if first is not None and first.kind == "question" else None

    @property
    def queued(self) -> list[Queued]:
        """The messages that wait, as the window shows them."""
        return self.texts.outbox.queued(self._state_of)

    def _state_of(self, uuid: str) -> str:
        for item in reversed(self.conversation.items):
            if isinstance(item, UserItem) and item.uuid == uuid:
                return item.state
        return ""

    # What the person does

    def send(self, text: str, images: Sequence[Image] = (), *, as_reply: bool = False) -> None:
        """Take a message over. It is on the disk before anything else happens, and never lost after.

        Args:
            text: what was written.
            images: pictures that go with it.
            as_reply: while a question is open, answer it with this text instead of queueing a message. Pictures
                cannot be part of an answer, so a message with pictures is always queued.
        """
        question = self.open_question
        if as_reply and question is not None and not images and self.reply(question.request_id, text):
            return
        self.texts.post(text, images)
        self.unseen = False
        if self.runner.is_live:
            self._flush()
        elif not self.runner.is_under_way and self.phase != "untrusted":
            self.start()

    def reply(self, request_id: str, text: str) -> bool:
        """Answer an open question with a text instead of a choice. False when it was withdrawn meanwhile."""
        in_dialog = self._typed_in_dialog(request_id)
        if not self.answer(request_id, reply_instead(text), typed=text):
            return False
        self.texts.set_draft("", [])
        self.texts.recover(in_dialog)
        return True

    def answer(self, request_id: str, result: dict[str, Any], typed: str | None = None) -> bool:
        """Send the decision on a request. False when nothing was sent: it was withdrawn meanwhile.

        Args:
            request_id: of the request.
            result: the decision.
            typed: what was written for it; where left out, what stands in its dialog. It is kept until the CLI shows
                that it has read the answer.
        """
        session, pending = self.session, self.conversation.pending.get(request_id)
        if session is None or pending is None:
            return False
        before = self.texts.typed.get(request_id, "")
        self.texts.note_typed(request_id, self._typed_in_dialog(request_id) if typed is None else typed)
        self._answers.expect(pending)  # first, since what changes by the answer is told before `answer` returns
        sent = False
        try:
            sent = session.answer(request_id, result)
        except (UsageError, WireError) as error:
            # A defect of a dialog, or an input that JSON cannot say: told, and the request stays open, asked anew.
            loop.report(error, "answering a request")
        if not sent:
            self._answers.forget(request_id)
            self.texts.note_typed(request_id, before)
        return sent

    def _typed_in_dialog(self, request_id: str) -> str:
        return self.typed_in_dialog(request_id) if self.typed_in_dialog is not None else ""

    def stop(self) -> None:
        """Stop the turn. The conversation goes on."""
        if self.session is not None and self.runner.is_live:
            loop.spawn(self._interrupt(self.session), "stopping a turn")

    async def _interrupt(self, session: Session) -> None:
        try:
            await session.interrupt()
        except SessionError as error:
            log.info("The interrupt was not acknowledged: %s", error.sentence)

    def take_back(self, uuid: str) -> None:
        """Withdraw a message that waits; its text returns to the composer."""
        if any(message.uuid == uuid for message in self.texts.outbox.waiting()):
            self.texts.take_back(uuid)
        elif self.session is not None:
            loop.spawn(self._withdraw(self.session, uuid), "taking a message back")

    async def _withdraw(self, session: Session, uuid: str) -> None:
        try:
            withdrawn = await session.withdraw(uuid)
        except SessionError as error:
            log.info("The message could not be withdrawn: %s", error.sentence)
            withdrawn = False
        # Where it was, the text is back already: the transcript calls it cancelled.
        if not withdrawn and self._state_of(uuid) != "cancelled":
            words = sentence("Claude is reading that message already, so it cannot be taken back.")
            self.add_notice(Notice("withdraw", "info", words))

    # The CLI

    def start(self) -> None:
        """Bring the CLI up, continuing what was saved. What fails becomes a notice."""
        loop.spawn(self._start(), "starting Claude")

    async def _start(self) -> None:
        if self._is_closed:  # such as by a restart or a move that was under way
            return
        self.clear_notices("start", "silence")
        if await self.runner.start():
            self.clear_notices("start")
            self.controls.after_start()
            self._flush()

    def restart(self) -> None:
        """End the CLI, if one runs, and start one that goes on with what was saved."""
        loop.spawn(self._restart(), "restarting Claude")

    async def _restart(self) -> None:
        # Overtaken by another restart while the old CLI was ending: that one starts the new CLI.
        if not self.runner.is_under_way or await self.runner.stop_for_restart():
            await self._start()

    def start_anew(self) -> None:
        """Go on without what Claude had not saved: a new conversation in the same folder, under the same text."""
        self.runner.resume.forget()
        self.add_notice(notices.begun_anew())
        self.start()

    def trust(self) -> None:
        """The person trusts the folder: remember it and start."""
        self._settings.trust(self.folder)
        self.start()

    def move_to(self, folder: Path) -> None:
        """Work in another folder. Only before anything was said: a conversation belongs where it began."""
        loop.spawn(self._move_to(folder), "changing the folder")

    async def _move_to(self, folder: Path) -> None:
        await self.runner.stop_for_restart()
        self.runner.folder = folder
        self.runner.resume.forget()
        self.clear_notices("start")
        self.state_changed.emit()
        await self._restart()

    async def close(self) -> None:
        """End the CLI in an orderly way, and for good; what was typed stays on the disk."""
        self._is_closed = True
        self.texts.save()
        await self.runner.close()
        self.texts.save()

    def _flush(self) -> None:
        """Write to the CLI what waits for it, in order."""
        session = self.session
        if session is None or not self.runner.is_live:
            return
        for message in self.texts.outbox.waiting():
            content = content_blocks(message.text, self.texts.read_images(message.images))
            # First the state: the CLI's answer may be told before `send` returns.
            message.state = "sent"
            try:
                session.send(content, uuid=message.uuid)
            except SessionError as error:
                message.state = "waiting"
                log.info("A message waits for the next start: %s", error.sentence)
                break
        self.texts.save()
        self.state_changed.emit()

    # What the CLI does

    def _on_changes(self, changes: Sequence[Change]) -> None:
        self.touched = self._clock()
        exited = self.conversation.state == "exited"
        self.runner.resume.seen(self.conversation.session_id)
        for change in changes:
            if change.kind == "item_added" and isinstance(self.conversation.item(change.id), TurnEndItem):
                self.runner.resume.prove(self.conversation.session_id)
                self.unseen = True
            elif change.kind == "items_reset":
                self.runner.resume.cleared(self.conversation.session_id)
            elif change.kind == "pending_removed":
                self._on_request_gone(change)
        for request_id in self._answers.read(self.conversation, changes):
            self.texts.forget_typed(request_id)
        settled = self.texts.outbox.settle(self.conversation.items)
        if settled:
            self.texts.save_soon()
        if exited:
            self._on_exit()
        else:
            for message in self.texts.outbox.cancelled(self._state_of):
                self.texts.take_back(message.uuid)
        self.controls.heard(changes)
        self.changed.emit(changes)
        if exited or settled or any(change.kind not in ("item_added", "item_changed") for change in changes):
            self.state_changed.emit()

    def _on_request_gone(self, change: Change) -> None:
        if change.id in self._answers and change.reason == "answered":
            return
        text = self.texts.forget_typed(change.id)
        if change.reason != "answered":
            self.texts.recover(self._typed_in_dialog(change.id) or text)

    def _on_exit(self) -> None:
        for request_id in self._answers.lost():
            self.texts.recover(self.texts.forget_typed(request_id))
        unsent = self.texts.lose_what_was_sent() or bool(self.texts.outbox.messages)
        if self.phase != "running" or self.session is None:
            return
        ended = self.session.exit
        self.runner.ended()
        self.add_notice(notices.exited(ended, unsent=unsent, gave_up=self.session.gave_up))

    def _on_phase(self) -> None:
        self.touched = self._clock()
        self.state_changed.emit()

    def _describe(self, draft: Draft) -> None:
        draft.folder = str(self.folder)
        draft.title = self.title
        draft.session_id = next(iter(self.runner.resume.candidates()), "")

    # Notices

    def add_notice(self, notice: Notice) -> None:
        """Show a notice; it takes the place of one with the same key."""
        if self.notices.get(notice.key) == notice:
            return
        self.notices[notice.key] = notice
        if notice.tone == "bad":
            self.failed.emit(str(notice.text))
        self.state_changed.emit()

    def clear_notices(self, *keys: str) -> None:
        """Put notices away."""
        gone = [key for key in keys if self.notices.pop(key, None) is not None]
        if gone:
            self.state_changed.emit()
