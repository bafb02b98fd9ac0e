"""Markdown blocks as segments."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from desktop import theme
from desktop.transcript import fonts
from desktop.transcript.blocks import Block
from desktop.transcript.fonts import face
from desktop.transcript.highlight import START, Part, State, budget, read_parts
from desktop.transcript.lexers import ready
from desktop.transcript.pieces import TextPiece
from desktop.transcript.segments import Action, Marks, Segment, guess_height
from desktop.translations import tr

LIST_INDENT, QUOTE_INDENT = 24, 16
pale: list[CodeSegment] = []
"""Code that was laid out while there was no time for its colours."""
waiting_for: dict[str, list[CodeSegment]] = {}
"""Code that was laid out before its language's lexer was there, by language."""
CHAIN = 6
"""Chunks of code that are read to know the state in which one starts. Further away, a chunk starts afresh: jumping into
the middle of a huge block may cost a colour, but no pause."""


def colour_pale() -> bool:
    """Colour what had to wait, as far as there is time. Returns whether anything was."""
    waiting, pale[:] = list(pale), []
    for segment in waiting:
        segment.colour()
    return bool(waiting)


def lexer_came(language: str) -> bool:
    """The lexer of a language is there. Returns whether code has waited for it."""
    pale.extend(waiting_for.pop(language, ()))
    return bool(pale)


def segment_of(block: Block, previous: Segment | None, before_it: Block | None = None) -> Segment:
    """The segment of a block. `previous` and `before_it` are the ones before it in the same message."""
    made = _segment_of(block, previous)
    quote = block.path[: block.path.rfind("q") + 1]
    made.joined = bool(before_it and quote and before_it.path.startswith(quote))
    return made


def _segment_of(block: Block, previous: Segment | None) -> Segment:
    if block.kind == "code":
        before = previous if isinstance(previous, CodeSegment) and block.part else None
        return CodeSegment(block.code, block.language, path=block.path, before=before, part=block.part)
    if block.kind == "table":
        first = previous if isinstance(previous, TableSegment) and block.part else None
        return TableSegment(block, first)
    if block.kind == "rule":
        return RuleSegment(block)
    return WordSegment(block)


def gap_between(before: Block | None, after: Block) -> int:
    """Pixels between two blocks."""
    if before is None:
        return 0
    if after.part and before.kind == after.kind:
        return 0
    if after.kind == "heading":
        return theme.px(18 if after.level < 3 else 14)
    if before.kind == "heading":
        return theme.px(6)
    if after.markers and "l" in before.path:
        return theme.px(4)
    if "l" in after.path and "l" in before.path:
        return theme.px(6)
    return theme.px(10)


def indent_of(path: str) -> int:
    """How far a block inside quotes and lists is from the left."""
    return theme.px(LIST_INDENT) * path.count("l") + theme.px(QUOTE_INDENT) * path.count("q")


def paint_quotes(painter: QPainter, segment: Segment, path: str, x: int, y: int) -> None:
    """The bars at the left of quoted text, up to the segment before if that is quoted too."""
    if "q" not in path:
        return
    x += segment.indent - indent_of(path)
    above = segment.gap if segment.joined else 0
    y, height = y - above, segment.height + above
    for depth, letter in enumerate(path):
        if letter == "q":
            left = x + indent_of(path[:depth])
            painter.fillRect(QRectF(left, y, theme.px(3), height), theme.role("line"))


class WordSegment(Segment):
    """A paragraph, a heading or a list item's first words, with its markers."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self._block, self._path = block, block.path
        self.indent = indent_of(block.path)
        self._kind = f"h{block.level}" if block.level else "body"

    def build(self) -> list[TextPiece]:
        block = self._block
        words = TextPiece(
            block.inline.text, self._kind, fonts.word_ranges(block.inline.spans, heading=bool(block.level)),
            spans=block.inline.spans, role="soft" if "q" in block.path else "text",
        )
        return [*(TextPiece(text, "body", role="soft") for _depth, text in block.markers), words]

    def estimate(self, width: int) -> int:
        return guess_height(self._block.inline.text, face(self._kind), width - self.indent - self.right)

    def arrange(self, width: int) -> int:
        words = self.pieces[-1]
        words.x, words.y = 0, 0
        height = words.lay_out(max(width, theme.px(60)))
        for (depth, _text), piece in zip(self._block.markers, self.pieces, strict=False):
            piece.lay_out(theme.px(200))
            right = indent_of(self._path[:depth]) - indent_of(self._path) - theme.px(8)
            piece.x, piece.y = right - piece.natural_width(), 0
        return height

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        paint_quotes(painter, self, self._path, x, y)
        super().paint(painter, x, y, clip, marks)


class RuleSegment(Segment):
    """A line between two parts."""

    kind = "rule"

    def __init__(self, block: Block) -> None:
        super().__init__()
        self._path = block.path
        self.indent = indent_of(block.path)
        self.height = theme.px(9)

    @property
    def text(self) -> str:
        return "---"

    @property
    def length(self) -> int:
        return 3

    def arrange(self, width: int) -> int:
        self._width = width
        return theme.px(9)

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        paint_quotes(painter, self, self._path, x, y)
        painter.fillRect(QRectF(x + self.indent, y + theme.px(4), self._width, 1), theme.role("line"))


class CodeSegment(Segment):
    """A chunk of code. The first of a block has the language and the copy button above it."""

    kind = "code"
    full_width = True

    def __init__(
        self, code: str, language: str = "", *, path: str = "", before: CodeSegment | None = None, part: int = 0,
    ) -> None:
        super().__init__()
        self._path = path
        self.indent = indent_of(path)
        self.code, self.language, self.part_number = code, language, part
        self._before = before
        self._after: State | None = None
        self._parts: list[Part] = []
        self._copied = False
        self._header = theme.px(30) if part == 0 else 0
        self._button = QRectF()

    def build(self) -> list[TextPiece]:
        return [TextPiece(self.code, "code", fonts.code_ranges(self._parts), anywhere=True)]

    def colour(self) -> None:
        """Read the colours, from the nearest chunk before that was read, if it is near; as far as there is time."""
        if not ready(self.language):
            waiting_for.setdefault(self.language.lower(), []).append(self)
            return
        waiting = [self]
        while waiting[-1]._before is not None and waiting[-1]._before._after is None and len(waiting) <= CHAIN:
            waiting.append(waiting[-1]._before)
        for segment in reversed(waiting):
            if budget.left <= 0:
                pale.append(self)
                return
            before = segment._before
            state = before._after if before is not None and before._after is not None else START
            with budget:
                segment._parts, segment._after = read_parts(segment.language, segment.code, state)
                if segment._parts:
                    segment._remake()

    def _remake(self) -> None:
        """Make the text again, now that its colours are known."""
        old, self._pieces = self._pieces, None
        if old and self.laid >= 0:
            piece = self.pieces[0]
            piece.x, piece.y = old[0].x, old[0].y
            piece.lay_out(old[0].width)

    def estimate(self, width: int) -> int:
        room = width - self.indent - self.right - 2 * theme.px(12)
        return guess_height(self.code, face("code"), room) + self._header

    def arrange(self, width: int) -> int:
        if self._after is None and self.language:
            self.colour()
        piece = self.pieces[0]
        inset = theme.px(12)
        piece.x, piece.y = inset, self._header
        button = theme.px(56)
        self._button = QRectF(width - button - theme.px(6), theme.px(4), button, theme.px(22))
        self._width = width
        return self._header + piece.lay_out(max(width - 2 * inset, theme.px(60)))

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        if self._header:
            self._paint_header(painter, x + self.indent, y)
        super().paint(painter, x, y, clip, marks)

    def _paint_header(self, painter: QPainter, x: int, y: int) -> None:
        small = face("small")
        painter.setFont(small.font)
        painter.setPen(theme.role("soft"))
        area = QRectF(x + theme.px(12), y, self._width - theme.px(90), self._header - theme.px(2))
        centre = Qt.AlignmentFlag.AlignVCenter
        label = QFontMetricsF(small.font).elidedText(self.language, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, int(centre | Qt.AlignmentFlag.AlignLeft), label)
        painter.drawText(self._button.translated(x, y), int(centre | Qt.AlignmentFlag.AlignHCenter),
                         tr("Copied") if self._copied else tr("Copy"))

    def show_copied(self, copied: bool) -> None:
        self._copied = copied

    def actions(self) -> list[Action]:
        if not self._header:
            return []
        return [Action("copy", "", tr("Copy this code"), (self._button,))]

    def on_text(self, x: float, y: float) -> bool:
        return y >= self._header


class TableSegment(Segment):
    """Rows of a table. All chunks of a table have the columns of its first."""

    kind = "table"

    def __init__(self, block: Block, before: TableSegment | None) -> None:
        super().__init__()
        self._path = block.path
        self.indent = indent_of(block.path)
        self._first: TableSegment | None = (before._first or before) if before is not None else None
        self._is_first = before is None
        self._block = block
        self._aligns = block.aligns
        self._columns = len(block.rows[0]) if block.rows else 0
        self._rows: list[list[TextPiece]] = []
        for number, row in enumerate(block.rows):
            self.joins += ["\t"] * (len(row) - 1)
            if number < len(block.rows) - 1:
                self.joins.append("\n")
        self._widths: list[int] = []
        self._widths_for = -1
        self._lines: list[int] = []

    def build(self) -> list[TextPiece]:
        self._rows = []
        for number, row in enumerate(self._block.rows):
            kind = "bold" if number == 0 and self._is_first else "body"
            cells = [TextPiece(cell.text, kind, fonts.word_ranges(cell.spans), spans=cell.spans) for cell in row]
            self._rows.append(cells)
        return [cell for row in self._rows for cell in row]

    def widths(self, width: int) -> list[int]:
        """The columns' widths in pixels, with their padding, for a table of at most this width."""
        self.pieces  # noqa: B018 - have them made
        if self._widths_for == width:
            return self._widths
        natural, least = [0] * self._columns, [0] * self._columns
        pad = 2 * theme.px(10)
        for row in self._rows:
            for column, cell in enumerate(row[: self._columns]):
                cell.lay_out(100_000)
                natural[column] = max(natural[column], cell.natural_width() + pad)
                words = max((len(word) for word in cell.text.split()), default=1)
                least[column] = max(least[column], min(int(words * cell.face.average * 1.2), theme.px(140)) + pad)
        self._widths = shared_widths(natural, least, width)
        self._widths_for = width
        return self._widths

    def estimate(self, width: int) -> int:
        return len(self._block.rows) * (face("body").pitch + 2 * theme.px(5) + 1)

    def arrange(self, width: int) -> int:
        widths = (self._first or self).widths(width)
        self.pieces  # noqa: B018 - have them made
        pad_x, pad_y = theme.px(10), theme.px(5)
        y, self._lines = 0, []
        for row in self._rows:
            tallest, x = face("body").pitch, 0
            for column, cell in enumerate(row[: len(widths)]):
                room = max(widths[column] - 2 * pad_x, 8)
                tallest = max(tallest, cell.lay_out(room))
                align = self._aligns[column] if column < len(self._aligns) else ""
                spare = max(room - cell.natural_width(), 0) if cell.line_count() == 1 else 0
                cell.x = x + pad_x + (spare if align == "right" else spare // 2 if align == "center" else 0)
                cell.y = y + pad_y
                x += widths[column]
            y += tallest + 2 * pad_y + 1
            self._lines.append(y - 1)
        self._table_width = sum(widths)
        return y

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        paint_quotes(painter, self, self._path, x, y)
        left, line = x + self.indent, theme.role("line")
        if self._is_first and self._lines:
            painter.fillRect(QRectF(left, y, self._table_width, self._lines[0]), theme.role("panel"))
            painter.fillRect(QRectF(left, y, self._table_width, 1), line)
        for at in self._lines:
            painter.fillRect(QRectF(left, y + at, self._table_width, 1), line)
        super().paint(painter, x, y, clip, marks)


def shared_widths(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Columns of at most `width` together: as wide as they like, else what is left after the least, by need."""
    if sum(natural) <= width:
        return list(natural)
    if sum(least) >= width:
        return [max(width * part // max(sum(least), 1), theme.px(28)) for part in least]
    wishes = [max(want - need, 0) for want, need in zip(natural, least, strict=True)]
    spare = width - sum(least)
    total = max(sum(wishes), 1)
    return [need + spare * wish // total for need, wish in zip(least, wishes, strict=True)]


