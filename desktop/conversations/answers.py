"""Answers on their way: what was typed for one is kept until the CLI shows that it has read it."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.conversation import Change, Conversation, PendingRequest, ToolItem, TurnEndItem


class Answers:
    """The answers that were written to the CLI and that it has given no sign of yet.

    A CLI that dies in that moment takes them along; what was typed for them is then offered again.
    """

    def __init__(self) -> None:
        self._sent: dict[str, str | None] = {}  # the tool's card, by request id

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._sent

    def expect(self, pending: PendingRequest) -> None:
        """This request is being answered."""
        self._sent[pending.request_id] = pending.tool_item_id

    def forget(self, request_id: str) -> None:
        """Nothing was sent after all."""
        self._sent.pop(request_id, None)

    def read(self, conversation: Conversation, changes: Sequence[Change]) -> list[str]:
        """The requests whose answers the CLI has read, as these changes show; they are not on their way any more."""
        items = [conversation.item(change.id) for change in changes if change.kind in ("item_added", "item_changed")]
        turn_is_over = any(isinstance(item, TurnEndItem) for item in items)
        # The card says "denied" as soon as the person does; only the tool's result is the CLI's own word. A form has no
        # card: there, the next thing that is said at all has to do.
        done = {item.id for item in items if isinstance(item, ToolItem) and _has_result(item)}
        speaks = bool(items) and conversation.state != "exited"
        read = [
            request_id
            for request_id, card in self._sent.items()
            if turn_is_over or (speaks if card is None else card in done)
        ]
        for request_id in read:
            del self._sent[request_id]
        return read

    def lost(self) -> list[str]:
        """The CLI is gone: the requests whose answers went with it."""
        lost = list(self._sent)
        self._sent.clear()
        return lost


def _has_result(item: ToolItem) -> bool:
    return bool(item.result_text) or item.status in ("done", "failed")
