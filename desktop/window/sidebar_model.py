"""The list of the conversations of this run: grouped by folder, filtered, each with its dot and age."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.conversations import OpenConversation
from desktop.translations import tr
from desktop.widgets import DotState
from desktop.window.wording import age_words, dot_of

AnyIndex = QModelIndex | QPersistentModelIndex
CONVERSATION_ROLE = Qt.ItemDataRole.UserRole + 1
ENTRY_ROLE = Qt.ItemDataRole.UserRole + 2


@dataclass(frozen=True)
class Entry:
    """A row: a folder's heading (`key` is "") or a conversation."""

    title: str
    key: str = ""
    dot: DotState = "rest"
    state: str = ""
    age: str = ""
    folder: str = ""


def arrange(opened: Iterable[OpenConversation], query: str, now: float) -> list[Entry]:
    """The rows to show: folders in the order of their latest conversation, and theirs latest first.

    Args:
        opened: the conversations.
        query: only those whose title, folder or words contain it; "" for all.
        now: epoch seconds, for the ages.
    """
    groups: dict[Path, list[OpenConversation]] = {}
    for one in sorted(opened, key=lambda one: one.touched, reverse=True):
        if matches(one, query):
            groups.setdefault(one.folder, []).append(one)
    names = folder_names(list(groups))
    rows: list[Entry] = []
    for folder, members in groups.items():
        rows.append(Entry(names[folder], folder=str(folder)))
        for one in members:
            dot, state = dot_of(one)
            rows.append(Entry(one.title, one.key, dot, state, age_words(one.touched, now), str(folder)))
    return rows


def matches(opened: OpenConversation, query: str) -> bool:
    """Whether a conversation's title, folder or contents hold all words of the query."""
    words = query.casefold().split()
    if not words:
        return True
    head = f"{opened.title} {opened.folder}".casefold()
    missing = [word for word in words if word not in head]
    if not missing:
        return True
    texts = [getattr(item, "text", "") for item in opened.conversation.items]
    body = "\n".join(texts).casefold()
    return all(word in body for word in missing)


def folder_names(folders: list[Path]) -> dict[Path, str]:
    """The folders' names; with the parent's where two have the same."""
    plain = [folder.name or str(folder) for folder in folders]
    names = {}
    for folder, name in zip(folders, plain, strict=True):
        names[folder] = f"{name} — {folder.parent}" if plain.count(name) > 1 else name
    return names


class SidebarModel(QAbstractListModel):
    """The rows for the view. `refresh` compares and changes only what differs, so the selection stays."""

    def __init__(
        self,
        opened: Callable[[], Iterable[OpenConversation]],
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._opened = opened
        self._clock = clock
        self._rows: list[Entry] = []
        self.query = ""

    def refresh(self) -> None:
        """Read the conversations anew."""
        rows = arrange(self._opened(), self.query, self._clock())
        same_shape = [(row.key, row.folder) for row in rows] == [(row.key, row.folder) for row in self._rows]
        if not same_shape:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        for number, (old, new) in enumerate(zip(self._rows, rows, strict=True)):
            if old != new:
                self._rows[number] = new
                self.dataChanged.emit(self.index(number), self.index(number))

    def search(self, query: str) -> None:
        """Show only what holds the words of the query."""
        self.query = query
        self.refresh()

    def row_of(self, key: str) -> int:
        """The row of a conversation, -1 when it is not shown."""
        return next((number for number, row in enumerate(self._rows) if row.key == key and key), -1)

    def entry(self, index: AnyIndex) -> Entry:
        return self._rows[index.row()]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid() or not self.entry(index).key:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self.entry(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == CONVERSATION_ROLE:
            return entry.key
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{entry.title}\n{entry.state} · {entry.folder}" if entry.key else entry.folder
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if not entry.key:
                return tr("Folder {name}", name=entry.title)
            return tr("{title}, {state}, {age}", title=entry.title, state=entry.state, age=entry.age)
        return None
