"""Segments: the parts of a row that are laid out and painted by themselves, one below the other.

A segment knows its text at once and its height after `lay_out`; until then it has an estimate. So a row of ten
thousand lines costs what is in sight.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QTextLayout

from desktop import theme
from desktop.transcript import fonts
from desktop.transcript.fonts import Face
from desktop.transcript.pieces import Range, TextPiece, utf16_slice

ActionKind = Literal["toggle", "copy", "link", "file", "show_all", "image"]


class Action(NamedTuple):
    """Something in a segment that a click or Enter does.

    Attributes:
        kind, data: what, and with what (an address, a text's key).
        words: what it is called, for tooltips and screen readers.
        rects: where it is, in the segment's coordinates.
    """

    kind: ActionKind
    data: str
    words: str
    rects: tuple[QRectF, ...]


class Marks(NamedTuple):
    """What is marked in one segment: the selected part, and matches of a search (start, end, is the current one)."""

    selected: Range | None = None
    found: tuple[tuple[int, int, bool], ...] = ()
    focused: int = -1
    """Index of the action that has the keyboard."""


NO_MARKS = Marks()


class Segment:
    """One part of a row.

    Attributes:
        height: in pixels; an estimate until `laid` is the width it was laid out for.
        indent, right: pixels from the row's edges.
        gap: pixels above it.
        joint: what stands between it and the segment before in copied text.
        soft: whether its words are in the soft colour.
        joined: whether it is in the same quote as the segment before.
        kind: what kind of block it is, for the frames around several.
    """

    kind = "text"
    full_width = False
    """Whether it fills its frame from edge to edge."""

    def __init__(self) -> None:
        self.height = 0
        self.laid = -1
        self.indent = self.right = 0
        self.gap = 0
        self.joined = False
        self.soft = False
        self.joint = "\n"
        self.joins: list[str] = []
        self._pieces: list[TextPiece] | None = None

    # What a segment says

    @property
    def pieces(self) -> list[TextPiece]:
        """Its texts. Made when they are needed first, since most of a long conversation is never in sight."""
        if self._pieces is None:
            self._pieces = self.build()
            if self.soft:
                for piece in self._pieces:
                    piece.role = "soft"
        return self._pieces

    @pieces.setter
    def pieces(self, pieces: list[TextPiece]) -> None:
        self._pieces = pieces

    def build(self) -> list[TextPiece]:
        """Make the texts."""
        return []

    @property
    def text(self) -> str:
        """Its words, which selections count in."""
        parts = []
        for index, piece in enumerate(self.pieces):
            if index:
                parts.append(self._join(index))
            parts.append(piece.text)
        return "".join(parts)

    @property
    def length(self) -> int:
        total = sum(piece.length for piece in self.pieces)
        return total + sum(len(self._join(index)) for index in range(1, len(self.pieces)))

    def part(self, start: int, end: int) -> str:
        """A part of its words."""
        return utf16_slice(self.text, start, end)

    def _join(self, index: int) -> str:
        return self.joins[index - 1] if index - 1 < len(self.joins) else " "

    # How it looks

    def estimate(self, width: int) -> int:
        """A guess at the height, from the length of the text alone."""
        room = width - self.indent - self.right
        return max((guess_height(piece.text, piece.face, room) for piece in self.pieces), default=0)

    def prepare(self, width: int) -> None:
        """Have a height at once: the true one, or a guess."""
        if self.laid != width and not self.height:
            self.height = self.estimate(width)

    def lay_out(self, width: int) -> None:
        """Have the true height for a row of this width."""
        if self.laid != width:
            self.height = self.arrange(width - self.indent - self.right)
            self.laid = width

    def release(self) -> None:
        """Let go of the layout; the height stays, and `lay_out` makes it again."""
        if type(self).build is not Segment.build:
            self._pieces = None
            self.laid = -1

    def arrange(self, width: int) -> int:
        """Place the pieces; returns the height."""
        y = 0
        for piece in self.pieces:
            piece.x, piece.y = 0, y
            y += piece.lay_out(width)
        return y

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        """Paint with the row's left edge at `x` and the segment's top at `y`."""
        x += self.indent
        at = 0
        for index, piece in enumerate(self.pieces):
            if index:
                at += len(self._join(index))
            top = y + piece.y
            if top < clip.bottom() and top + piece.height > clip.top():
                ranges = piece_marks(piece, at, marks) if marks.selected or marks.found else []
                piece.paint(painter, x + piece.x, top, clip, ranges)
            at += piece.length
        if marks.focused >= 0:
            self.paint_focus(painter, x, y, marks.focused)

    def paint_focus(self, painter: QPainter, x: int, y: int, index: int) -> None:
        actions = self.actions()
        if index < len(actions):
            for rect in actions[index].rects:
                paint_ring(painter, rect.translated(x, y))

    # Where things are

    def hit(self, x: float, y: float) -> int:
        """The place in the text that is nearest to a point, in the row's x and the segment's y."""
        x -= self.indent
        best, distance, at = 0, 1e9, 0
        for index, piece in enumerate(self.pieces):
            if index:
                at += len(self._join(index))
            dx = max(piece.x - x, 0, x - piece.x - max(piece.width, 1))
            dy = max(piece.y - y, 0, y - piece.y - piece.height)
            if dy * 1000 + dx < distance:
                best, distance = at + piece.hit(x - piece.x, y - piece.y), dy * 1000 + dx
            at += piece.length
        return best

    def actions(self) -> list[Action]:
        """What can be clicked, in order. Rectangles without `indent`."""
        found = []
        for piece in self.pieces:
            for span in piece.links():
                boxes = piece.boxes(span.start, span.start + span.length)
                rects = tuple(box.translated(piece.x, piece.y) for box in boxes)
                found.append(Action("link", span.href, span.href, rects))
        return found

    def action_at(self, x: float, y: float) -> tuple[int, Action] | None:
        """The action under a point, and its index."""
        x -= self.indent
        for index, action in enumerate(self.actions()):
            if any(rect.contains(x, y) for rect in action.rects):
                return index, action
        return None

    def on_text(self, x: float, y: float) -> bool:
        """Whether the mouse is on text here (and not on a control)."""
        return bool(self.pieces)


def guess_height(text: str, shape: Face, width: int) -> int:
    """About how high a text gets."""
    columns = max(8, int(width / shape.average))
    return (1 + len(text) // columns + text.count("\n")) * shape.pitch


def piece_marks(piece: TextPiece, at: int, marks: Marks) -> list[QTextLayout.FormatRange]:
    """The marks of a segment as formats of one piece that begins at `at`."""
    ranges = []
    for start, end, current in marks.found:
        first, after = max(start - at, 0), min(end - at, piece.length)
        if first < after:
            ranges.append(fonts.ranged(first, after - first, fonts.found_format(current)))
    if marks.selected:
        first, after = max(marks.selected[0] - at, 0), min(marks.selected[1] - at, piece.length)
        if first < after:
            ranges.append(fonts.ranged(first, after - first, fonts.selected()))
    return ranges


def paint_ring(painter: QPainter, rect: QRectF, radius: int = 5) -> None:
    """The ring around what has the keyboard."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = painter.pen()
    pen.setColor(theme.role("accent"))
    pen.setWidth(2)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(-2, -2, 2, 2), radius, radius)
    painter.restore()
