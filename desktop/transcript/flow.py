"""A Markdown message as segments that grow with it."""

from __future__ import annotations

from desktop import theme
from desktop.transcript.block_segments import CodeSegment, gap_between, indent_of, segment_of
from desktop.transcript.block_stream import BlockStream
from desktop.transcript.blocks import Block, separator
from desktop.transcript.rows import Frame, Row


class MarkdownRow(Row):
    """One message of Claude's.

    `show` brings it up to date; only blocks that are new or may still change are made again.
    """

    def __init__(self, text: str = "", *, streaming: bool = False) -> None:
        super().__init__()
        self._stream = BlockStream()
        self._blocks: list[Block] = []
        self._taken = 0
        self._end = ""
        self.show(text, streaming=streaming)

    def show(self, text: str, *, streaming: bool = False) -> int:
        """Show a text that begins with the one before. Returns the first segment that is new."""
        if len(text) < self._taken or not text.endswith(self._end, 0, self._taken):
            self._stream, self._taken = BlockStream(), 0
            self._blocks, self.segments, self.frames = [], [], []
        self._stream.feed(text[self._taken :])
        if not streaming:
            self._stream.finish()
        self._taken = len(text)
        self._end = text[-64:]
        blocks = self._stream.blocks()
        first = min(self._stream.take_changes(), self._same(blocks))
        self._blocks = blocks
        self._make(first)
        return first

    def _same(self, blocks: list[Block]) -> int:
        """How many of the blocks are already here, unchanged. Settled ones are the same objects."""
        count = min(len(blocks), len(self._blocks))
        settled = min(len(self._stream.stable), count)
        first = next((index for index in range(settled, count) if blocks[index] != self._blocks[index]), count)
        for index in range(settled - 1, max(settled - 40, -1), -1):
            if blocks[index] is not self._blocks[index] and blocks[index] != self._blocks[index]:
                first = min(first, index)
        return first

    def _make(self, first: int) -> None:
        del self.segments[first:]
        for index in range(first, len(self._blocks)):
            block = self._blocks[index]
            previous = self.segments[-1] if self.segments else None
            segment = segment_of(block, previous)
            segment.gap = gap_between(self._blocks[index - 1] if index else None, block)
            if block.kind == "code" and not block.part:
                segment.gap = max(segment.gap, 0)
            self.segments.append(segment)
            if self.width >= 0:
                segment.prepare(self.width)
        self._frame(first)
        if self.width >= 0:
            self.place(max(min(first, len(self.segments)) - 1, 0))

    def _frame(self, first: int) -> None:
        """One box around each code block, however many chunks it has."""
        while self.frames and self.frames[-1].last >= first - 1:
            self.frames.pop()
        start = self.frames[-1].last + 1 if self.frames else 0
        for index in range(start, len(self._blocks)):
            block = self._blocks[index]
            if block.kind != "code":
                continue
            if block.part and self.frames and self.frames[-1].last == index - 1:
                self.frames[-1] = self.frames[-1]._replace(last=index)
            else:
                self.frames.append(Frame(index, index, "code", "", 8, indent_of(block.path), after=10))

    def code_around(self, index: int) -> str:
        """The whole code block that a segment is part of."""
        first = index
        while first > 0 and self._blocks[first].part:
            first -= 1
        text = ""
        for block in self._blocks[first:]:
            if block.kind != "code" or (block.part == 0 and text):
                break
            text += ("\n" if block.broken and block.part else "") + block.code
        return text

    def join(self, before: int, after: int) -> str:
        return separator(self._blocks[before], self._blocks[after])

    def code_segments(self) -> list[CodeSegment]:
        """The first chunk of each code block."""
        return [segment for segment in self.segments if isinstance(segment, CodeSegment) and not segment.part_number]

    @property
    def blocks(self) -> list[Block]:
        return self._blocks

    def gap(self) -> int:
        return theme.px(0)
