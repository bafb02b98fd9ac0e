"""What a person wrote in one conversation and nobody has received yet. It is on the disk before it can be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.composer.attachments import Image
from desktop.conversations.drafts import Draft, DraftStore, KeptImage, Outgoing
from desktop.conversations.outbox import Outbox

SAVE_MS = 500
"""How long after a key the draft is written at the latest."""


class Texts(QObject):
    """The composer's content, what stands in open dialogs, what is on its way, and what lost its place.

    Attributes:
        draft, images: what stands in the composer.
        typed: what stands in open dialogs, by request id.
        recovered: texts that lost their place, oldest first.
        outbox: the messages on their way.

    Signals:
        changed: the recovered texts or the outbox are different.
        put_back(text, images): a message returns to the composer.
        not_saved(reason): the disk did not take it.
    """

    changed = Signal()
    put_back = Signal(str, list)
    not_saved = Signal(str)

    def __init__(
        self, store: DraftStore, kept: Draft, describe: Callable[[Draft], None], parent: QObject | None = None
    ) -> None:
        """
        Args:
            store: where it is kept.
            kept: what an earlier run left, or an empty draft with the conversation's key.
            describe: fills in what else the draft's file says (folder, title, session id) before it is written.
        """
        super().__init__(parent)
        self._store = store
        self._key = kept.key
        self._describe = describe
        self.draft = kept.text
        self.images = self.read_images(kept.images)
        self.typed: dict[str, str] = {}
        self.recovered = [*kept.recovered, *(text for text in kept.typed.values() if text.strip())]
        self.outbox = Outbox()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_MS)
        self._timer.timeout.connect(self.save)
        for message in kept.outgoing:
            self._return(message)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost."""
        typed = any(text.strip() for text in self.typed.values())
        return not (self.draft.strip() or self.images or typed or self.recovered or self.outbox.messages)

    def set_draft(self, text: str, images: Sequence[Image]) -> None:
        """What stands in the composer now."""
        if text != self.draft or list(images) != self.images:
            self.draft, self.images = text, list(images)
            self.save_soon()

    def post(self, text: str, images: Sequence[Image]) -> None:
        """The composer's content becomes a message on its way; it is on the disk when this returns."""
        self.outbox.add(text, [self._store.keep_image(image) for image in images])
        self.draft, self.images = "", []
        self.save()
        self.changed.emit()

    def take_back(self, uuid: str) -> bool:
        """A message on its way returns to the composer. False when there is none of this id."""
        message = self.outbox.remove(uuid)
        if message is None:
            return False
        self._join(message.text, self.read_images(message.images))
        self.save()
        self.changed.emit()
        return True

    def lose_what_was_sent(self) -> bool:
        """Offer the messages again that a CLI took along without a sign of having read them."""
        lost = self.outbox.give_up_sent()
        for message in lost:
            self._return(message)
        if lost:
            self.save()
            self.changed.emit()
        return bool(lost)

    def offer_again(self, text: str, images: Sequence[Image] = ()) -> None:
        """A message that was read but came to nothing returns to the composer, or to the recovered texts."""
        self._return(Outgoing(text=text, images=[self._store.keep_image(image) for image in images]))
        self.save()
        self.changed.emit()

    def note_typed(self, request_id: str, text: str) -> None:
        """What stands in an open dialog now; it outlives the dialog, and the program."""
        if text != self.typed.get(request_id, ""):
            self.typed[request_id] = text
            self.save_soon()

    def forget_typed(self, request_id: str) -> str:
        """The dialog is gone; returns what was noted of it."""
        text = self.typed.pop(request_id, "")
        if text:
            self.save_soon()
        return text

    def recover(self, text: str) -> None:
        """Keep a text that lost its place, and offer it."""
        if text.strip() and text not in self.recovered:
            self.recovered.append(text)
            self.save()
            self.changed.emit()

    def forget_recovered(self, text: str) -> None:
        """The person took a recovered text up, or does not want it."""
        if text in self.recovered:
            self.recovered.remove(text)
            self.save()
            self.changed.emit()

    def read_images(self, kept: Iterable[KeptImage]) -> list[Image]:
        """The pictures of a draft or message, as far as they can still be read."""
        return [image for one in kept if (image := self._store.read_image(one)) is not None]

    def save_soon(self) -> None:
        """Write it in half a second. Not half a second after the last key: who types on and on is saved as well."""
        if not self._timer.isActive():
            self._timer.start()

    def save(self) -> None:
        """Write it now."""
        self._timer.stop()
        draft = Draft(
            key=self._key,
            text=self.draft,
            images=[self._store.keep_image(image) for image in self.images],
            typed=dict(self.typed),
            recovered=list(self.recovered),
            outgoing=list(self.outbox.messages),
        )
        self._describe(draft)
        if not self._store.save(draft):
            self.not_saved.emit(self._store.problem)

    def _return(self, message: Outgoing) -> None:
        images = self.read_images(message.images)
        if images or not (self.draft.strip() or self.images):  # a recovered text holds no pictures
            self._join(message.text, images)
        elif message.text.strip():
            self.recovered.append(message.text)

    def _join(self, text: str, images: Sequence[Image]) -> None:
        """Put it behind what stands in the composer."""
        self.draft = "\n".join(part for part in (self.draft, text) if part.strip())
        self.images = [*self.images, *images]
        self.put_back.emit(text, list(images))
