"""The rows that are made, for the items that were in sight lately, and what the person opened."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence

from PySide6.QtGui import QImage

from desktop.transcript.card_segments import PlainSegment
from desktop.transcript.item_rows import make_row, refresh
from desktop.transcript.model import TranscriptModel
from desktop.transcript.pictures import Pictures
from desktop.transcript.rows import PlainRow, Row
from desktop.transcript.tool_rows import opens_by_itself
from desktop.translations import tr
from protocol.conversation import Item, NoticeItem, TextItem, ThinkingItem, ToolItem, TurnEndItem, UserItem
from protocol.messages import ImageBlock

log = logging.getLogger("handraise.transcript")

KEPT_ROWS, KEPT_SEGMENTS = 240, 6000
"""What stays laid out. Beyond, the rows that were not in sight for longest are let go; only their heights stay."""


class RowStore:
    """Makes rows and keeps them; is the rows' `RowContext`.

    Attributes:
        cwd: the folder that paths are shown from.
    """

    def __init__(self, model: TranscriptModel, pictures: Pictures) -> None:
        self._model = model
        self._pictures = pictures
        self._rows: OrderedDict[str, Row] = OrderedDict()
        self._opened: dict[str, bool] = {}
        self._all: set[str] = set()
        self.made = 0
        """How many rows were made so far, for tests and benchmarks."""

    @property
    def cwd(self) -> str:
        return self._model.conversation.cwd if self._model.conversation is not None else ""

    def row(self, item: Item) -> Row:
        """The row of an item, made if need be."""
        row = self._rows.get(item.id)
        if row is None:
            row = self._rows[item.id] = self._make(item)
            self.made += 1
            self._let_go()
        else:
            self._rows.move_to_end(item.id)
        return row

    def _make(self, item: Item) -> Row:
        try:
            return make_row(item, self)
        except Exception:  # an entry is made of what a model wrote; one that fails must not take the others along
            log.exception("An entry of the transcript cannot be shown: %s", type(item).__name__)
            return PlainRow([PlainSegment(tr("This entry cannot be shown. The log says why."), role="soft")])

    def have(self, item_id: str) -> Row | None:
        """The row of an item if it is made."""
        return self._rows.get(item_id)

    def refresh(self, item: Item) -> None:
        """An item changed: bring its row up to date, or forget it."""
        row = self._rows.get(item.id)
        if row is not None and not refresh(row, item):
            del self._rows[item.id]

    def forget(self, item_id: str) -> None:
        self._rows.pop(item_id, None)

    def __len__(self) -> int:
        return len(self._rows)

    def clear(self, *, opened: bool = False) -> None:
        """Forget all rows; with `opened` also what was opened."""
        self._rows.clear()
        if opened:
            self._opened.clear()
            self._all.clear()

    def _let_go(self) -> None:
        while len(self._rows) > KEPT_ROWS:
            self._rows.popitem(last=False)
        total = sum(len(row.segments) for row in self._rows.values())
        while total > KEPT_SEGMENTS and len(self._rows) > 8:
            _id, row = self._rows.popitem(last=False)
            total -= len(row.segments)

    # What the person opened

    def toggle(self, item: Item) -> bool:
        """Open what is closed and the other way round; returns whether it is open now."""
        now = not self.opened(item.id, _default(item))
        self._opened[item.id] = now
        self.forget(item.id)
        return now

    def open(self, item: Item, *, whole: bool = False) -> None:
        """Open a card, with all of a long output if `whole`."""
        self._opened[item.id] = True
        if whole:
            self._all.add(item.id)
        self.forget(item.id)

    def show_all(self, item_id: str) -> None:
        self._all.add(item_id)
        self.forget(item_id)

    def is_open(self, item: Item) -> bool:
        return self.opened(item.id, _default(item))

    # RowContext

    def opened(self, item_id: str, default: bool) -> bool:
        return self._opened.get(item_id, default)

    def shows_all(self, item_id: str) -> bool:
        return item_id in self._all

    def children(self, tool_use_id: str) -> Sequence[Item]:
        return self._model.children_of(self._model.call_item(tool_use_id))

    def picture(self, image: ImageBlock) -> QImage | None:
        return self._pictures.get(image)

    def answered(self, item: Item) -> bool:
        return self._model.row_of(item.id) < self._model.rowCount() - 1


def _default(item: Item) -> bool:
    if isinstance(item, ToolItem):
        return opens_by_itself(item)
    return isinstance(item, NoticeItem) and item.kind in ("error", "exited")


def can_open(item: Item) -> bool:
    """Whether an item has something to open."""
    return isinstance(item, ToolItem | ThinkingItem) or (isinstance(item, NoticeItem) and bool(item.detail))


def estimated_height(item: Item, line: Callable[[int], int]) -> int:
    """A guess at a row's height from its text's length, for rows that were never in sight.

    Args:
        line: gives the height of a text of so many characters.
    """
    if isinstance(item, TextItem):
        return line(len(item.text)) + line(0)
    if isinstance(item, UserItem):
        return line(len(item.text)) + 36 + (120 if item.images else 0)
    if isinstance(item, TurnEndItem):
        return 40
    return 50
