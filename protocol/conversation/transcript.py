"""The ordered items and the record of what changed; the only place that touches either."""

from __future__ import annotations

from collections.abc import Iterable

from protocol.conversation.items import Change, ChangeKind, Item


class Transcript:
    """Items in order of arrival.

    Attributes:
        items: read-only to everybody else.
        now: the host's time of what is being applied.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.now = 0.0
        self._positions: dict[str, int] = {}
        self._changes: list[Change] = []
        self._told: set[str] = set()  # items whose addition or change is among the changes already
        self._count = 0

    def new_id(self) -> str:
        """An id that no item of this conversation has had."""
        self._count += 1
        return f"item-{self._count}"

    def position(self, item_id: str) -> int:
        """Where the item stands, from 0; raises KeyError for an item that is not there."""
        return self._positions[item_id]

    def holds(self, item_id: str) -> bool:
        """Whether the item is there."""
        return item_id in self._positions

    def add(self, item: Item) -> None:
        """Puts a new item at the end."""
        item.at = item.at or self.now
        self._positions[item.id] = len(self.items)
        self.items.append(item)
        self._told.add(item.id)
        self.tell("item_added", item.id)

    def touch(self, item: Item) -> None:
        """Says that an item was changed."""
        item.revision += 1
        if item.id not in self._told and item.id in self._positions:
            self._told.add(item.id)
            self.tell("item_changed", item.id)

    def remove(self, item: Item) -> None:
        """Takes an item out; no harm if it is gone already."""
        position = self._positions.pop(item.id, None)
        if position is None:
            return
        del self.items[position]
        for index in range(position, len(self.items)):
            self._positions[self.items[index].id] = index
        self.tell("item_removed", item.id)

    def move_to_end(self, item: Item) -> None:
        """Puts an item behind all others: told as its removal and its addition."""
        if self.items and self.items[-1] is not item:
            self.remove(item)
            item.revision += 1
            self.add(item)

    def reset(self, keep: Iterable[Item]) -> None:
        """Leaves only the items in `keep`."""
        kept = {item.id for item in keep}
        self.items = [item for item in self.items if item.id in kept]
        self._positions = {item.id: index for index, item in enumerate(self.items)}
        self.tell("items_reset")

    def tell(self, kind: ChangeKind, id: str = "", reason: str = "") -> None:  # noqa: A002 — Change's own word
        """Notes a change for the caller of `apply`."""
        self._changes.append(Change(kind, id, reason))

    def take_changes(self) -> list[Change]:
        """What changed since the last call."""
        changes, self._changes = self._changes, []
        self._told.clear()
        return changes
