"""A Markdown message as segments that grow with it."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from desktop.transcript.block_segments import gap_between, indent_of, segment_of
from desktop.transcript.block_stream import BlockStream
from desktop.transcript.blocks import Block, separator
from desktop.transcript.fonts import face
from desktop.transcript.rows import Frame, Row
from desktop.transcript.segments import Segment

FIRST_BUDGET = 0.006
"""For a message that is shown the first time: most are read at once."""
BUDGET = 0.002
"""Seconds that reading may take at a time; a frame has 16 ms for this, for the layout and for painting."""


class MarkdownRow(Row):
    """One message of Claude's, a thought or a plan.

    `show` brings it up to date; only blocks that are new or may still change are made again. Much text at once is read
    in slices: as long as `more` is set, `advance` reads on.
    """

    def __init__(
        self, text: str = "", *, streaming: bool = False, lead: Sequence[Segment] = (), indent: int = 0,
        soft: bool = False, card: bool = False,
    ) -> None:
        """Args:
        text, streaming: as for `show`.
        lead: segments above the text, such as a card's header.
        indent: pixels that the text is moved to the right; in a card, on both sides.
        soft: in the soft colour.
        card: with a card around everything.
        """
        super().__init__()
        self._stream = BlockStream()
        self._blocks: list[Block] = []
        self._lead = list(lead)
        self._indent, self._soft, self._card = indent, soft, card
        self.segments = list(lead)
        self._taken = 0
        self._end = ""
        self._streaming = True
        self.show(text, streaming=streaming, budget=FIRST_BUDGET)

    def show(self, text: str, *, streaming: bool = False, budget: float = BUDGET) -> None:
        """Show a text. If it begins with the one before, only what is new is read."""
        if len(text) < self._taken or not text.endswith(self._end, 0, self._taken):
            self._stream, self._taken, self._blocks = BlockStream(), 0, []
            self.segments = list(self._lead)
            self.frames = []
        self._stream.add(text[self._taken :])
        self._taken = len(text)
        self._end = text[-64:]
        self._streaming = streaming
        if not self.more:
            self.more = True
            self.advance(budget)

    def advance(self, budget: float = BUDGET) -> bool:
        started = perf_counter()
        while self.more:
            self.more = self._stream.step()
            if perf_counter() - started > budget:
                break
        if not self.more and not self._streaming:
            self._stream.finish()
        blocks = self._stream.blocks()
        first = min(self._stream.take_changes(), self._same(blocks))
        self._blocks = blocks
        self._reserve()
        self._make(first)
        return self.more

    def _reserve(self) -> None:
        """Room for what is not read yet. A message that streams grows instead."""
        unread = self._stream.waiting if self.more and not self._streaming and self.width >= 0 else 0
        shape = face("body")
        self.reserve = shape.pitch * (unread * 5 // (4 * max(int(self.width / shape.average), 8)))

    def prepare(self, width: int) -> None:
        self.width = width
        self._reserve()
        super().prepare(width)

    def complete(self) -> None:
        while self.more:
            self.advance(1.0)

    def _same(self, blocks: list[Block]) -> int:
        """How many blocks at the beginning are here already; those that became settled among them."""
        count = min(len(blocks), len(self._blocks))
        first = self._stream_start(count)
        while first < count and (blocks[first] is self._blocks[first] or blocks[first] == self._blocks[first]):
            first += 1
        return first

    def _stream_start(self, count: int) -> int:
        """From where blocks can differ: what was settled when they were last looked at is the same."""
        start, self._known = min(self._known, count), len(self._stream.stable)
        return start

    _known = 0

    def _make(self, first: int) -> None:
        offset = len(self._lead)
        self.changed = min(self.changed, offset + first)
        del self.segments[offset + first :]
        for index in range(first, len(self._blocks)):
            block = self._blocks[index]
            previous = self.segments[-1] if index else None
            segment = segment_of(block, previous, self._blocks[index - 1] if index else None)
            segment.gap = gap_between(self._blocks[index - 1] if index else None, block)
            self._shape(segment)
            self.segments.append(segment)
            if self.width >= 0:
                segment.prepare(self.width)
        self._frame(first)
        if self.width >= 0:
            self.place(max(min(offset + first, len(self.segments)) - 1, 0))

    def _shape(self, segment: Segment) -> None:
        segment.indent += self._indent
        if self._card:
            segment.right = self._indent
        segment.soft = self._soft

    def _frame(self, first: int) -> None:
        """One box around each code block, however many chunks it has, and the card around everything."""
        offset = len(self._lead)
        if self._card and self.frames:
            self.frames.pop(0)
        while self.frames and self.frames[-1].last >= offset + first - 1:
            self.frames.pop()
        start = self.frames[-1].last + 1 - offset if self.frames else 0
        right = self._indent if self._card else 0
        for index in range(start, len(self._blocks)):
            block, place = self._blocks[index], index + offset
            if block.kind != "code":
                continue
            if block.part and self.frames and self.frames[-1].last == place - 1:
                self.frames[-1] = self.frames[-1]._replace(last=place)
            else:
                indent = indent_of(block.path) + self._indent
                self.frames.append(Frame(place, place, "code", "", 8, indent, after=10, right=right))
        if self._card:
            self.frames.insert(0, Frame(0, len(self.segments) - 1, "card", "line", 10, after=10 if self._blocks else 0))

    def code_around(self, index: int) -> str:
        """The whole code block that a segment is part of."""
        first = index - len(self._lead)
        while first > 0 and self._blocks[first].part:
            first -= 1
        text = ""
        for number, block in enumerate(self._blocks[first:]):
            if block.kind != "code" or (number and not block.part):
                break
            text += (block.joint if number else "") + block.code
        return text

    def join(self, before: int, after: int) -> str:
        offset = len(self._lead)
        if before < offset:
            return "\n"
        return separator(self._blocks[before - offset], self._blocks[after - offset])

    @property
    def blocks(self) -> list[Block]:
        """What it consists of, as far as it was read."""
        return self._blocks
