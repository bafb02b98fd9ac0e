"""Selected text, from a place in one row to a place in another."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from desktop.transcript.inline import utf16_length
from desktop.transcript.item_rows import source_text
from desktop.transcript.rows import Place, Row
from desktop.transcript.segments import Marks

if TYPE_CHECKING:
    from desktop.transcript.list_view import TranscriptList

_WORD = re.compile(r"\w+|[^\w\s]|\s+")


class Spot(NamedTuple):
    """A place in the transcript: an item, a segment of its row, a place in its text."""

    item_id: str
    segment: int
    place: int


class Match(NamedTuple):
    """Where a search found its words."""

    segment: int
    start: int
    end: int


class Selection:
    """What is selected and what a search found, as marks for painting and as text for copying."""

    def __init__(self, view: TranscriptList) -> None:
        self._view = view
        self._anchor: Spot | None = None
        self._focus: Spot | None = None
        self.needle = ""
        self.current: tuple[str, Match] | None = None

    def clear(self) -> None:
        self._anchor = self._focus = None

    def forget_row(self, item_id: str) -> None:
        """A row is made anew: a selection that begins or ends in it has lost its place."""
        if any(spot is not None and spot.item_id == item_id for spot in (self._anchor, self._focus)):
            self.clear()

    def start(self, spot: Spot) -> None:
        self._anchor = self._focus = spot

    def extend(self, spot: Spot) -> None:
        if self._anchor is None:
            self._anchor = spot
        self._focus = spot

    def select_all(self) -> None:
        """From the first character to the last."""
        model = self._view.transcript
        last = model.rowCount() - 1
        if last < 0:
            return
        self._anchor = Spot(model.id_of(0), 0, 0)
        row = self._view.row(last)
        row.complete()
        self._focus = Spot(model.id_of(last), *row.end())

    def select_word(self, spot: Spot, row: Row) -> None:
        """The word around a place."""
        segment = row.segments[spot.segment]
        for match in _WORD.finditer(segment.text):
            if match.start() <= spot.place < match.end():
                self._anchor = spot._replace(place=match.start())
                self._focus = spot._replace(place=match.end())
                return

    def select_block(self, spot: Spot, row: Row) -> None:
        """The whole segment around a place."""
        self._anchor = spot._replace(place=0)
        self._focus = spot._replace(place=row.segments[spot.segment].length)

    def bounds(self) -> tuple[Spot, Spot] | None:
        """The selection in reading order; None where nothing is selected."""
        first, last = self._anchor, self._focus
        if first is None or last is None or first == last:
            return None
        order = self._view.transcript.row_of
        if order(first.item_id) < 0 or order(last.item_id) < 0:
            return None
        if (order(last.item_id), *last[1:]) < (order(first.item_id), *first[1:]):
            first, last = last, first
        return first, last

    def _in_row(self, index: int, row: Row) -> tuple[Place, Place] | None:
        bounds = self.bounds()
        if bounds is None:
            return None
        first, last = bounds
        order = self._view.transcript.row_of
        begin, end = order(first.item_id), order(last.item_id)
        if not begin <= index <= end:
            return None
        return (first[1:] if index == begin else (0, 0)), (last[1:] if index == end else row.end())

    def marks(self, index: int, row: Row) -> Callable[[int], Marks] | None:
        """How the segments of a row are marked; None where nothing is."""
        item_id = self._view.transcript.id_of(index)
        chosen = self._in_row(index, row)
        focused = self._view.hands.focused_action(item_id)
        if not (chosen or self.needle or focused):
            return None

        def marks_of(number: int) -> Marks:
            selected = row.selected_in(number, *chosen) if chosen else None
            ring = focused[1] if focused and focused[0] == number else -1
            found = tuple(
                (match.start, match.end, self.current == (item_id, match))
                for match in self._matches_in(number, row.segments[number].text)
            ) if self.needle else ()
            return Marks(selected, found, ring)

        return marks_of

    def matches(self, row: Row) -> list[Match]:
        """Where the searched words stand in a row. Upper and lower case are the same."""
        texts = [segment.text for segment in row.segments]
        return [match for number, text in enumerate(texts) for match in self._matches_in(number, text)]

    def _matches_in(self, number: int, text: str) -> list[Match]:
        needle, text = self.needle.lower(), text.lower()
        found = []
        at = text.find(needle) if needle else -1
        while at >= 0:
            # Places count as Qt does: a character beyond U+FFFF before the match is two.
            start = utf16_length(text[:at])
            found.append(Match(number, start, start + utf16_length(needle)))
            at = text.find(needle, at + len(needle))
        return found

    def text(self) -> str:
        """The selected words, rows separated by an empty line."""
        bounds = self.bounds()
        if bounds is None:
            return ""
        view = self._view
        begin, end = (view.transcript.row_of(spot.item_id) for spot in bounds)
        parts = []
        for index in range(begin, end + 1):
            if view.hidden(index):
                continue
            row = view.row(index)
            row.complete()
            chosen = self._in_row(index, row)
            words = row.text_between(*chosen) if chosen else ""
            if words:
                parts.append(words)
        return "\n\n".join(parts)

    def message(self, index: int) -> str:
        """A whole message as it was written."""
        return source_text(self._view.transcript.item(index))
