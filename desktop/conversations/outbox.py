"""The messages that are on their way: none is forgotten before Claude has shown that it read it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from desktop.conversations.drafts import KeptImage, Outgoing
from protocol.conversation import Item, NoticeItem, TextItem, ThinkingItem, ToolItem, TurnEndItem, UserItem


@dataclass(frozen=True)
class Queued:
    """A message that waits, as the window shows it.

    Attributes:
        uuid: its id.
        text: its words.
        images: how many pictures go with it.
        held_by: "us" while no CLI has it, "claude" while it stands in the CLI's queue.
    """

    uuid: str
    text: str
    images: int
    held_by: str


class Outbox:
    """The messages of one conversation, oldest first.

    Attributes:
        messages: what is kept; the draft file holds the same list.
    """

    def __init__(self, messages: Sequence[Outgoing] = ()) -> None:
        self.messages = list(messages)

    def add(self, text: str, images: Sequence[KeptImage] = ()) -> Outgoing:
        """Take a message over from the composer."""
        message = Outgoing(text=text, images=list(images))
        self.messages.append(message)
        return message

    def waiting(self) -> list[Outgoing]:
        """What is to be written to the CLI as soon as there is one."""
        return [message for message in self.messages if message.state == "waiting"]

    def remove(self, uuid: str) -> Outgoing | None:
        """Let a message go: proved, withdrawn, or given back to the person."""
        for message in self.messages:
            if message.uuid == uuid:
                self.messages.remove(message)
                return message
        return None

    def settle(self, items: Sequence[Item]) -> bool:
        """Let go of what is proved as received, by the transcript. Returns whether anything changed."""
        wanted = {message.uuid for message in self.messages if message.state == "sent"}
        if not wanted:
            return False
        proved = proved_messages(items, wanted)
        self.messages = [message for message in self.messages if message.uuid not in proved]
        return bool(proved)

    def cancelled(self, state_of: Callable[[str], str]) -> list[Outgoing]:
        """What the CLI let go of unread, asked to or not. Not after its exit, which cancels all that is open.

        Args:
            state_of: the state of a sent message by its uuid (`UserItem.state`), "" when unknown.
        """
        return [one for one in self.messages if one.state == "sent" and state_of(one.uuid) == "cancelled"]

    def give_up_sent(self) -> list[Outgoing]:
        """What was written to a CLI that is gone and never proved: no longer on its way, returned to be offered."""
        lost = [message for message in self.messages if message.state == "sent"]
        self.messages = [message for message in self.messages if message.state != "sent"]
        return lost

    def queued(self, state_of: Callable[[str], str]) -> list[Queued]:
        """What the window shows as waiting.

        Args:
            state_of: the state of a sent message by its uuid (`UserItem.state`), "" when unknown.
        """
        shown = []
        for message in self.messages:
            if message.state == "waiting":
                shown.append(Queued(message.uuid, message.text, len(message.images), "us"))
            elif state_of(message.uuid) == "queued":
                shown.append(Queued(message.uuid, message.text, len(message.images), "claude"))
        return shown


def proved_messages(items: Sequence[Item], wanted: Collection[str]) -> set[str]:
    """Which of the wanted uuids the CLI has shown to have read.

    New CLIs say so (`started`, `completed`). Old ones do not; there, something that Claude did after a message
    which does not stand in the queue is the proof. And what is no item any more was cleared away when it was over.
    """
    proved: set[str] = set()
    unseen = set(wanted)
    claude_acted_later = False
    for item in reversed(items):
        if not unseen:
            break
        if isinstance(item, UserItem):
            if item.uuid not in unseen:
                continue
            unseen.discard(item.uuid)
            if item.state in ("started", "completed") or (item.state == "sent" and claude_acted_later):
                proved.add(item.uuid)
        elif item.parent_tool_use_id is None:
            acted = isinstance(item, (TextItem, ThinkingItem, ToolItem, TurnEndItem))
            claude_acted_later |= acted or (isinstance(item, NoticeItem) and item.kind in ("error", "stopped"))
    return proved | unseen
