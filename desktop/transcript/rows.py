"""A row of the transcript: segments one below the other, and frames around some of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from desktop import theme
from desktop.transcript.pieces import Range
from desktop.transcript.segments import NO_MARKS, Action, Marks, Segment

Place = tuple[int, int]
"""A segment's index and a place in its text."""

KEPT = 200
"""Segments of one row that stay laid out."""


class Frame(NamedTuple):
    """A box behind the segments `first` to `last`.

    Attributes:
        fill, line: roles of the theme; "" for none.
        radius: of its corners, in pixels of 100 %.
        indent, right: pixels from the row's edges.
        before, after: pixels of padding above the first and below the last segment, of 100 %.
    """

    first: int
    last: int
    fill: str
    line: str
    radius: int
    indent: int = 0
    before: int = 0
    after: int = 0
    right: int = 0


class Row:
    """One item, as it is painted.

    Attributes:
        segments, frames: what it consists of; `place` after they changed.
        height: in pixels, with the gap below; an estimate while some segment is not laid out.
        below: pixels below it.
        changed: the first segment that is new since the row was last looked at.
        reserve: pixels of the height that stand for text that was not read yet.
        more: whether `advance` has more to read.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.frames: list[Frame] = []
        self.height = 0
        self.below = theme.px(16)
        self.width = -1
        self.more = False
        self.changed = 0
        self.reserve = 0
        self._tops: list[int] = []
        self._laid: list[Segment] = []

    def advance(self) -> bool:
        """Read on a little, where a row is read in slices. Returns whether there is more."""
        return False

    def complete(self) -> None:
        """Read all of it."""

    def prepare(self, width: int) -> None:
        """Have a height for a width, at least an estimate."""
        self.width = width
        for segment in self.segments:
            if not segment.height:
                segment.prepare(width)
        self.place()

    def place(self, first: int = 0) -> None:
        """Put the segments from `first` below each other."""
        before: dict[int, int] = {}
        after: dict[int, int] = {}
        for frame in self.frames:
            before[frame.first] = before.get(frame.first, 0) + theme.px(frame.before)
            after[frame.last] = after.get(frame.last, 0) + theme.px(frame.after)
        del self._tops[first:]
        y = 0
        if first:
            last = first - 1
            y = self._tops[last] + self.segments[last].height + after.get(last, 0)
        for index in range(first, len(self.segments)):
            segment = self.segments[index]
            y += segment.gap + before.get(index, 0)
            self._tops.append(y)
            y += segment.height + after.get(index, 0)
        self.height = y + self.reserve + self.below

    def lay_out(self, top: float, bottom: float, anchor: int | None = None) -> tuple[int, int]:
        """Give every segment between two heights its true one.

        Args:
            top, bottom: the part of the row that is in sight.
            anchor: the segment that stays where it is on the screen; None: the one at the top.

        Returns the place of the first change of a height, -1 for none, and by how much what stays has moved.
        """
        first, moved = -1, 0
        index = max(bisect_right(self._tops, top) - 1, 0)
        while index < len(self.segments) and self._tops[index] <= bottom:
            segment = self.segments[index]
            if segment.laid != self.width:
                before = segment.height
                segment.lay_out(self.width)
                self._laid.append(segment)
                delta = segment.height - before
                if delta:
                    first = self._tops[index] if first < 0 else first
                    if self._tops[index] < top if anchor is None else index < anchor:
                        top, bottom, moved = top + delta, bottom + delta, moved + delta
                    self.place(index)
            index += 1
        if len(self._laid) > 2 * KEPT:
            self._let_go(top, bottom)
        return first, moved

    def first_laid(self, top: float, bottom: float) -> int:
        """The first segment between two heights whose height is the true one; -1 for none."""
        if self.width < 0:
            return -1
        return next((index for index in self.span(top, bottom) if self.segments[index].laid == self.width), -1)

    def _let_go(self, top: float, bottom: float) -> None:
        """Of a very long row, only the part around what is in sight stays laid out."""
        near = self.span(top, bottom)
        keep = {id(segment) for segment in self.segments[max(near.start - KEPT // 2, 0) : near.stop + KEPT // 2]}
        for segment in self._laid:
            if id(segment) not in keep:
                segment.release()
        self._laid = [segment for segment in self._laid if id(segment) in keep]

    @property
    def settled(self) -> bool:
        """Whether the height is the true one."""
        return all(segment.laid == self.width for segment in self.segments)

    def top_of(self, index: int) -> int:
        return self._tops[index]

    def span(self, top: float, bottom: float) -> range:
        """The segments between two heights."""
        first = max(bisect_right(self._tops, top) - 1, 0)
        last = bisect_right(self._tops, bottom)
        return range(first, max(last, first))

    def paint(
        self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Callable[[int], Marks] | None = None
    ) -> None:
        """Paint what lies in the clip, with the row's top left at (x, y). `marks` gives those of a segment."""
        visible = self.span(clip.top() - y, clip.bottom() - y)
        for frame in self.frames:
            if frame.first < visible.stop and frame.last >= visible.start:
                self._paint_frame(painter, frame, x, y)
        for index in visible:
            segment = self.segments[index]
            if segment.laid == self.width:
                segment.paint(painter, x, y + self._tops[index], clip,
                              marks(index) if marks else NO_MARKS)

    def frame_rect(self, frame: Frame) -> QRectF:
        """A frame's rectangle in the row's coordinates."""
        top = self._tops[frame.first] - theme.px(frame.before)
        bottom = self._tops[frame.last] + self.segments[frame.last].height + theme.px(frame.after)
        return QRectF(frame.indent, top, self.width - frame.indent - frame.right, bottom - top)

    def _paint_frame(self, painter: QPainter, frame: Frame, x: int, y: int) -> None:
        rect = self.frame_rect(frame).translated(x, y)
        painter.setPen(QPen(theme.role(frame.line), 1) if frame.line else Qt.PenStyle.NoPen)
        painter.setBrush(theme.role(frame.fill) if frame.fill else QColor(0, 0, 0, 0))
        if frame.line:
            rect = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        radius = theme.px(frame.radius)
        painter.drawRoundedRect(rect, radius, radius)

    # Text and places

    def hit(self, x: float, y: float) -> Place:
        """The place in the text nearest to a point."""
        if not self.segments:
            return 0, 0
        index = max(bisect_right(self._tops, y) - 1, 0)
        # Below a segment the next one's beginning may be nearer than its end; controls without text are passed over.
        while index > 0 and not self.segments[index].length:
            index -= 1
        segment = self.segments[index]
        if segment.laid != self.width:
            return index, 0
        return index, segment.hit(x, y - self._tops[index])

    def action_at(self, x: float, y: float) -> tuple[int, int, Action] | None:
        """The action under a point: segment, its index there, and it."""
        if not self.segments:
            return None
        index = max(bisect_right(self._tops, y) - 1, 0)
        found = self.segments[index].action_at(x, y - self._tops[index])
        return (index, *found) if found else None

    def all_actions(self) -> Iterator[tuple[int, int, Action]]:
        """Every action in order: segment, its index there, and it."""
        for number, segment in enumerate(self.segments):
            for index, action in enumerate(segment.actions()):
                yield number, index, action

    def end(self) -> Place:
        """The place after the last character."""
        last = len(self.segments) - 1
        return (last, self.segments[last].length) if last >= 0 else (0, 0)

    def selected_in(self, index: int, start: Place, end: Place) -> Range | None:
        """Which part of a segment lies between two places."""
        if not start[0] <= index <= end[0]:
            return None
        first = start[1] if index == start[0] else 0
        last = end[1] if index == end[0] else self.segments[index].length
        return (first, last) if first < last else None

    def text_between(self, start: Place, end: Place) -> str:
        """The words between two places."""
        parts: list[str] = []
        previous = -1
        for index in range(start[0], min(end[0], len(self.segments) - 1) + 1):
            segment = self.segments[index]
            if not segment.length:
                continue
            chosen = self.selected_in(index, start, end)
            if chosen is None and index in (start[0], end[0]):
                continue
            if previous >= 0:
                parts.append(self.join(previous, index))
            parts.append(segment.part(*chosen) if chosen else "")
            previous = index
        return "".join(parts)

    def join(self, before: int, after: int) -> str:
        """What stands between two segments in copied text."""
        return self.segments[after].joint

    def text(self) -> str:
        """All its words."""
        return self.text_between((0, 0), self.end())


class PlainRow(Row):
    """A row of segments that do not change."""

    def __init__(self, segments: Sequence[Segment], frames: Sequence[Frame] = ()) -> None:
        super().__init__()
        self.segments = list(segments)
        self.frames = list(frames)
