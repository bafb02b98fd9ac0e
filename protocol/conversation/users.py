"""What the user sent, and what has become of it.

New CLIs tell it (`command_lifecycle`) for messages with a uuid. From others it is inferred: a turn starts with the
oldest message that waits, and ends with its `result`; a replay (`isReplay`) says that a message was taken up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from protocol.conversation.items import UserItem, UserState
from protocol.conversation.transcript import Transcript
from protocol.messages import Block, ImageBlock, TextBlock, UserMessage, parse_blocks

_STATES = frozenset(get_args(UserState))
_OVER = ("completed", "cancelled")


def text_of(blocks: Iterable[Block]) -> str:
    """The words in a message's content."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, TextBlock))


class UserMessages:
    """The user's messages, in order of sending."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._open: list[UserItem] = []
        self._by_uuid: dict[str, UserItem] = {}
        self._told = False  # this CLI reports what becomes of messages

    @property
    def waiting(self) -> bool:
        """Whether the CLI itself said that a message waits for its turn."""
        return self._told and any(item.state == "queued" for item in self._open)

    @property
    def unanswered(self) -> bool:
        """Whether any message is not over."""
        return bool(self._open)

    @property
    def last_text(self) -> str:
        """The text of the message that is being answered, "" for none."""
        started = [item for item in self._open if item.state == "started"] or self._open
        return started[0].text if started else ""

    def sent(self, value: Mapping[str, Any], *, idle: bool) -> UserItem:
        """The host sent a message; where the CLI is not idle, it waits."""
        if idle and not self._told:
            for item in list(self._open):  # taken into an earlier turn without a word, or it would not be idle
                self._set(item, "completed")
        uuid = value.get("uuid")
        message = value.get("message")
        content = parse_blocks(message.get("content") if isinstance(message, dict) else None)
        item = self._add(content, uuid if isinstance(uuid, str) else "", "sent" if idle else "queued")
        self._open.append(item)
        return item

    def _add(self, content: Iterable[Block], uuid: str, state: UserState) -> UserItem:
        blocks = tuple(content)
        item = UserItem(
            self._transcript.new_id(),
            text=text_of(blocks),
            images=tuple(block for block in blocks if isinstance(block, ImageBlock)),
            uuid=uuid,
            state=state,
        )
        if uuid:
            self._by_uuid[uuid] = item
        self._transcript.add(item)
        return item

    def past(self, content: Iterable[Block], uuid: str) -> None:
        """A message of an earlier day, long answered."""
        self._add(content, uuid, "completed")

    def lifecycle(self, uuid: str, state: str) -> None:
        """The CLI told what became of a message."""
        self._told = True
        item = self._by_uuid.get(uuid)
        if item is None or item.state in _OVER or state not in _STATES:
            return
        if state == "cancelled" and item.state == "started":
            state = "completed"  # its turn was stopped, which a notice says; it was not taken back
        self._set(item, cast(UserState, state))

    def cancelled(self, uuid: str) -> None:
        """The CLI let go of a message that was waiting."""
        item = self._by_uuid.get(uuid)
        if item is not None and item.state not in _OVER:
            self._set(item, "cancelled")

    def replayed(self, message: UserMessage) -> None:
        """The CLI echoes a message as it takes it up. One that this host did not send is another client's."""
        item = self._by_uuid.get(message.uuid)
        if item is None:
            text = text_of(message.content)
            same = [item for item in self._open if item.text == text]
            waiting = [item for item in self._open if item.state != "started"]
            candidates = same or waiting  # the CLI may have rewritten the text
            item = candidates[0] if candidates else None
        if item is None:
            item = self._add(message.content, message.uuid, "queued")
            self._open.append(item)
        if item.state not in _OVER:
            self._set(item, "started")

    def turn_started(self) -> None:
        """A turn starts; unless the CLI tells it, with the oldest message that waits."""
        if self._told or any(item.state == "started" for item in self._open):
            return
        if self._open:
            self._set(self._open[0], "started")

    def turn_over(self) -> None:
        """A turn is over, and with it the messages that it answered."""
        for item in list(self._open):
            if item.state == "started":
                self._set(item, "completed")
            elif not self._told and item.state == "queued":
                self._set(item, "sent")  # it starts now, or was folded into this turn; it does not wait

    def exited(self) -> None:
        """Nobody will answer. What Claude had taken up was read all the same; a notice says that its turn ended."""
        for item in list(self._open):
            self._set(item, "completed" if item.state == "started" else "cancelled")
        self._told = False

    def cleared(self, uuid: str) -> list[UserItem]:
        """The conversation was cleared by the message `uuid`, or else by the one at work; returns what waits on."""
        trigger = self._by_uuid.get(uuid)
        if trigger is None and self._open:
            trigger = next((item for item in self._open if item.state == "started"), self._open[0])
        if trigger is not None and trigger.state not in _OVER:
            self._set(trigger, "completed")
        self._by_uuid = {item.uuid: item for item in self._open if item.uuid}
        return list(self._open)

    def _set(self, item: UserItem, state: UserState) -> None:
        if item.state == state:
            return
        item.state = state
        if state == "started":  # its turn comes below the one that it waited for
            self._transcript.move_to_end(item)
        if state in _OVER and item in self._open:
            self._open.remove(item)
        self._transcript.touch(item)
