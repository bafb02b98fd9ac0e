"""The items of a conversation as a Qt list model, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.transcript.item_rows import accessible_text, source_text
from protocol.conversation import Change, Conversation, Item, ToolItem, UserItem

AnyIndex = QModelIndex | QPersistentModelIndex
ITEM_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()


class TranscriptModel(QAbstractListModel):
    """One row an item. What a subagent said and did stands below the call that started it.

    Roles: display and accessible text are plain words; `ITEM_ROLE` is the item.
    """

    def __init__(self, conversation: Conversation | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._conversation = conversation
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._items: dict[str, Item] = {}
        self._parents: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._children: dict[str, list[str]] = {}
        self._read()

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Show another conversation."""
        self._conversation = conversation
        self.reset()

    def reset(self) -> None:
        """Look at all items anew."""
        self.beginResetModel()
        self._read()
        self.endResetModel()

    def apply(self, changes: Sequence[Change]) -> list[str]:
        """Follow changes of the conversation; returns the ids of items that look different now."""
        dirty: dict[str, None] = {}
        for change in changes:
            if change.kind == "item_added":
                self._add(change.id, dirty)
            elif change.kind == "item_changed" and change.id in self._rows:
                dirty[change.id] = None
                self._note_call(self._items[change.id])
                parent = self._parents.get(change.id)
                if parent:
                    dirty[parent] = None
            elif change.kind == "item_removed":
                self._remove(change.id, dirty)
            elif change.kind == "items_reset":
                self.reset()
                dirty.clear()
        return list(dirty)

    def told(self, ids: Sequence[str]) -> None:
        """Tell other views and assistive tools that items look different."""
        for item_id in ids:
            row = self._rows.get(item_id)
            if row is not None:
                index = self.index(row)
                self.dataChanged.emit(index, index)

    # Items

    def item(self, row: int) -> Item:
        return self._items[self._ids[row]]

    def item_of(self, item_id: str) -> Item | None:
        return self._items.get(item_id)

    def id_of(self, row: int) -> str:
        return self._ids[row]

    def row_of(self, item_id: str) -> int:
        """The row of an item, -1 if it is not here."""
        return self._rows.get(item_id, -1)

    def parent_of(self, item_id: str) -> str:
        """The item of the call whose subagent an item belongs to, "" for none."""
        return self._parents.get(item_id, "")

    def depth_of(self, item_id: str) -> int:
        """How many subagents deep an item is."""
        depth = 0
        while (item_id := self._parents.get(item_id, "")) and depth < 8:
            depth += 1
        return depth

    def children_of(self, item_id: str) -> list[Item]:
        """What the subagent of a call said and did, in order."""
        return [self._items[child] for child in self._children.get(item_id, ())]

    def call_item(self, tool_use_id: str) -> str:
        """The item of a tool call, "" for none."""
        return self._calls.get(tool_use_id, "")

    # Following the conversation

    def _read(self) -> None:
        self._ids, self._rows, self._items = [], {}, {}
        self._parents, self._calls, self._children = {}, {}, {}
        for item in self._conversation.items if self._conversation is not None else ():
            row = self._place(item)
            self._ids.insert(row, item.id)
            if row == len(self._ids) - 1:
                self._rows[item.id] = row
            else:
                self._number(row)

    def _note_call(self, item: Item) -> None:
        if isinstance(item, ToolItem) and item.tool_use_id:
            self._calls[item.tool_use_id] = item.id

    def _place(self, item: Item) -> int:
        """Take an item in and say in which row it comes."""
        self._items[item.id] = item
        self._note_call(item)
        parent = self._calls.get(item.parent_tool_use_id or "", "")
        if not parent or parent == item.id:
            return len(self._ids)
        self._parents[item.id] = parent
        self._children.setdefault(parent, []).append(item.id)
        depth = self.depth_of(parent)
        row = self._rows[parent] + 1
        while row < len(self._ids) and self.depth_of(self._ids[row]) > depth:
            row += 1
        return row

    def _number(self, first: int) -> None:
        for row in range(first, len(self._ids)):
            self._rows[self._ids[row]] = row

    def _add(self, item_id: str, dirty: dict[str, None]) -> None:
        if item_id in self._rows or self._conversation is None:
            return
        try:
            item = self._conversation.item(item_id)
        except (KeyError, LookupError):
            return  # it was added and removed in one batch
        row = self._place(item)
        self.beginInsertRows(_ROOT, row, row)
        self._ids.insert(row, item_id)
        self._number(row)
        self.endInsertRows()
        parent = self._parents.get(item_id)
        if parent:
            dirty[parent] = None
        elif row and isinstance(self.item(row - 1), UserItem):
            dirty[self._ids[row - 1]] = None  # it has an answer now and no longer says "sent"

    def _remove(self, item_id: str, dirty: dict[str, None]) -> None:
        row = self._rows.get(item_id)
        if row is None:
            return
        self.beginRemoveRows(_ROOT, row, row)
        self._ids.pop(row)
        del self._rows[item_id]
        del self._items[item_id]
        parent = self._parents.pop(item_id, "")
        if parent:
            self._children[parent].remove(item_id)
        self._number(row)
        self.endRemoveRows()
        dirty.pop(item_id, None)

    # Qt overrides

    def rowCount(self, parent: AnyIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._ids)

    def data(self, index: AnyIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid() or index.row() >= len(self._ids):
            return None
        item = self.item(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return source_text(item)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            cwd = self._conversation.cwd if self._conversation is not None else ""
            return accessible_text(item, cwd) if role == Qt.ItemDataRole.AccessibleTextRole else ""
        return item if role == ITEM_ROLE else None
