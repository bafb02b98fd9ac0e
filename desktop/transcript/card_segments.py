"""The segments that cards consist of: headers, plain and monospace text, diffs, pictures, and what can be pressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from desktop import theme
from desktop.transcript import fonts
from desktop.transcript.ansi import Coloured
from desktop.transcript.diffs import DiffRow, shown_text
from desktop.transcript.fonts import face
from desktop.transcript.icons import paint_chevron, paint_icon
from desktop.transcript.inline import utf16_length
from desktop.transcript.pieces import TextPiece
from desktop.transcript.segments import Action, ActionKind, Marks, Segment, guess_height, paint_ring
from desktop.translations import tr

PAD = 12
CHUNK_LINES, CHUNK_CHARS = 40, 3000


def chunks(text: str) -> list[tuple[str, str]]:
    """A long text in parts that are laid out one by one: (part, what stands between it and the part before)."""
    parts: list[tuple[str, str]] = []
    start = at = lines = 0
    joint = ""
    while True:
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        while stop - start > 2 * CHUNK_CHARS and lines == 0:  # one line, longer than a part may be
            cut = text.rfind(" ", start + CHUNK_CHARS // 2, start + CHUNK_CHARS) + 1 or start + CHUNK_CHARS
            parts.append((text[start:cut], joint))
            start, joint = cut, ""
        if end < 0:
            parts.append((text[start:], joint))
            return parts
        lines, at = lines + 1, end + 1
        if lines >= CHUNK_LINES or at - start > CHUNK_CHARS:
            parts.append((text[start:end], joint))
            start, lines, joint = at, 0, "\n"


class PlainSegment(Segment):
    """Text as it is, in one of the fonts. `colours` are parts of it in colours of the theme."""

    def __init__(
        self, text: str, kind: str = "body", *, role: str = "text", indent: int = 0, right: int = 0,
        colours: Sequence[Coloured] = (), joint: str = "\n",
    ) -> None:
        super().__init__()
        self.indent, self.right, self.joint = indent, right, joint
        self._text, self._kind, self._role, self._colours = text, kind, role, colours

    def build(self) -> list[TextPiece]:
        formats = [fonts.coloured(*part) for part in self._colours]
        return [TextPiece(self._text, self._kind, formats, role=self._role, anywhere=self._kind == "code")]

    def estimate(self, width: int) -> int:
        return guess_height(self._text, face(self._kind), width - self.indent - self.right)

    def arrange(self, width: int) -> int:
        return super().arrange(max(width, theme.px(60)))


class HeaderSegment(Segment):
    """The line at the top of a card: icon, name, the main argument, and what became of it at the right."""

    def __init__(
        self, icon: str, name: str, argument: str, status: str = "", *, tone: str = "soft", opens: bool = True,
        opened: bool = False, monospace: bool = False, pad: int = PAD, ruled: bool = False, words: str = "",
        quiet: bool = False,
    ) -> None:
        super().__init__()
        self._icon, self._tone, self._opens, self._opened = icon, tone, opens, opened
        self._argument = " ".join(argument.split())
        self._monospace, self._pad, self._ruled = monospace, theme.px(pad), ruled
        self._words, self._quiet = words or name, quiet
        self._name, self._status = name, status
        self._width = 0
        self.pieces = self._made(self._argument)

    def _made(self, argument: str) -> list[TextPiece]:
        name = TextPiece(self._name, "small", role="soft") if self._quiet else TextPiece(self._name, "bold")
        middle = TextPiece(argument, "code" if self._monospace else "body", role="soft")
        status = TextPiece(self._status, "small", role=self._tone)
        return [name, middle, status]

    def _join(self, index: int) -> str:
        return " " if self.pieces[index].text else ""

    def estimate(self, width: int) -> int:
        return theme.px(34)

    def arrange(self, width: int) -> int:
        self._width = width
        left = self._pad + (theme.px(20) if self._icon else 0)
        right = width - self._pad - (theme.px(16) if self._opens else 0)
        name, _middle, status = self.pieces
        for piece in (name, status):
            piece.lay_out(10_000)
        room = right - left - name.natural_width() - theme.px(8)
        if self._status:
            room -= status.natural_width() + theme.px(12)
        font = face("code" if self._monospace else "body").font
        shown = QFontMetricsF(font).elidedText(self._argument, Qt.TextElideMode.ElideRight, max(room, theme.px(24)))
        self.pieces[1] = middle = self._made(shown)[1]
        middle.lay_out(10_000)
        height = theme.px(34)
        x = left
        for piece in (name, middle):
            piece.x = x
            x += piece.natural_width() + theme.px(8)
        status.x = right - status.natural_width()
        base = (height - name.height) // 2 + name.baseline()
        for piece in self.pieces:
            piece.y = base - piece.baseline()
        for piece in self.pieces:
            piece.width = piece.natural_width()
        return height

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        left, middle = x + self.indent, y + self.height / 2
        if self._icon:
            paint_icon(painter, self._icon, left + self._pad, self._icon_top(y), theme.role(self.icon_role()))
        if self._opens:
            paint_chevron(painter, left + self._width - self._pad - theme.px(4), middle, opened=self._opened)
        if self._ruled:
            painter.fillRect(QRectF(left + 1, y + self.height - 1, self._width - 2, 1), theme.role("line"))
        super().paint(painter, x, y, clip, marks)

    def icon_role(self) -> str:
        """The icon's colour."""
        return "soft"

    def _icon_top(self, y: int) -> float:
        return y + self.pieces[0].y + (self.pieces[0].face.pitch - theme.px(16)) / 2

    def paint_focus(self, painter: QPainter, x: int, y: int, index: int) -> None:
        paint_ring(painter, QRectF(x + 3, y + 3, self._width - 6, self.height - 6))

    def actions(self) -> list[Action]:
        if not self._opens:
            return []
        words = tr("Fold {name}", name=self._words) if self._opened else tr("Unfold {name}", name=self._words)
        return [Action("toggle", "", words, (QRectF(0, 0, self._width, self.height),))]

    def on_text(self, x: float, y: float) -> bool:
        return False


class ButtonSegment(Segment):
    """A line of text that can be pressed, such as "Show all"."""

    def __init__(self, words: str, kind: ActionKind, data: str, *, indent: int = 0) -> None:
        super().__init__()
        self.indent = indent
        self._words, self._kind, self._data = words, kind, data
        self.pieces = [TextPiece(words, "small", role="accent")]

    @property
    def length(self) -> int:
        return 0  # a control, not a part of what was said

    @property
    def text(self) -> str:
        return ""

    def arrange(self, width: int) -> int:
        super().arrange(width)
        self.pieces[0].y = theme.px(4)
        return self.pieces[0].height + theme.px(8)

    def actions(self) -> list[Action]:
        piece = self.pieces[0]
        return [Action(self._kind, self._data, self._words, (QRectF(0, 0, piece.natural_width(), self.height),))]

    def on_text(self, x: float, y: float) -> bool:
        return False


class DiffSegment(Segment):
    """A chunk of a diff: numbers, signs, tints."""

    def __init__(self, rows: Sequence[DiffRow], digits: int) -> None:
        super().__init__()
        self._rows = list(rows)
        self._starts: list[int] = []
        at = 0
        ranges = []
        texts = [shown_text(row) for row in self._rows]
        for row, text in zip(self._rows, texts, strict=True):
            self._starts.append(at)
            length = utf16_length(text)
            if row.kind in ("gap", "note"):
                ranges.append(fonts.coloured(at, length, "soft"))
            at += length + 1
        self.pieces = [TextPiece("\n".join(texts), "code", ranges, anywhere=True)]
        self._gutter = int(digits * face("code").average) + theme.px(14) if digits else 0
        self._bands: list[tuple[int, int]] = []

    def arrange(self, width: int) -> int:
        piece = self.pieces[0]
        self._width = width
        piece.x = theme.px(PAD) + self._gutter
        height = piece.lay_out(max(width - piece.x - theme.px(PAD), theme.px(60)))
        tops: list[int] = []
        for start, top in piece.line_starts():
            if len(tops) < len(self._starts) and start == self._starts[len(tops)]:
                tops.append(top)
        self._bands = list(zip(tops, [*tops[1:], height], strict=False))
        return height

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        code = face("code")
        painter.setFont(code.font)
        align = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for row, (top, bottom) in zip(self._rows, self._bands, strict=False):
            if y + bottom < clip.top() or y + top > clip.bottom():
                continue
            if row.kind in ("added", "removed"):
                painter.fillRect(QRectF(x + 1, y + top, self._width - 2, bottom - top), theme.role(row.kind))
            if self._gutter and row.number:
                painter.setPen(theme.role("soft"))
                box = QRectF(x + theme.px(PAD), y + top, self._gutter - theme.px(12), code.pitch)
                painter.drawText(box, align, row.number)
        super().paint(painter, x, y, clip, marks)


def diff_segments(rows: Sequence[DiffRow]) -> list[Segment]:
    """Rows of a diff in chunks."""
    digits = max((len(row.number) for row in rows), default=0)
    return [DiffSegment(rows[at : at + CHUNK_LINES], digits) for at in range(0, len(rows), CHUNK_LINES)]


class PictureSegment(Segment):
    """Pictures as thumbnails in a line. `load(index)` gives one, or None while it is being read."""

    def __init__(self, count: int, load: Callable[[int], QImage | None], *, indent: int = 0) -> None:
        super().__init__()
        self._count, self._load = count, load
        self.indent = indent
        self._rects: list[QRectF] = []

    def estimate(self, width: int) -> int:
        return theme.px(96)

    def arrange(self, width: int) -> int:
        wide, high, gap, x, y = theme.px(136), theme.px(96), theme.px(8), 0, 0
        self._rects = []
        for _index in range(self._count):
            if x and x + wide > width:
                x, y = 0, y + high + gap
            self._rects.append(QRectF(x, y, wide, high))
            x += wide + gap
        return y + high if self._count else 0

    def paint(self, painter: QPainter, x: int, y: int, clip: QRectF, marks: Marks) -> None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for index, rect in enumerate(self._rects):
            box = rect.translated(x + self.indent, y)
            image = self._load(index)
            if image is None or image.isNull():
                painter.setPen(theme.role("soft"))
                painter.setFont(face("small").font)
                painter.fillRect(box, theme.role("code"))
                words = tr("Picture") if image is None else tr("A picture that cannot be shown")
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), words)
                continue
            painter.drawImage(box, image, _middle(image, box.width() / box.height()))
            painter.setPen(theme.role("line"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        if marks.focused >= 0:
            self.paint_focus(painter, x + self.indent, y, marks.focused)


def _middle(image: QImage, shape: float) -> QRectF:
    """The largest part in the middle of a picture with a shape (width by height)."""
    width, height = image.width(), image.height()
    wide, high = min(width, height * shape), min(height, width / shape)
    return QRectF((width - wide) / 2, (height - high) / 2, wide, high)
