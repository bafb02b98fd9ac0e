"""Pieces of text that are laid out, painted, hit and selected: the smallest thing in the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QTextLayout, QTextLine, QTextOption

from desktop import theme
from desktop.transcript.fonts import Face, face
from desktop.transcript.inline import CODE, LINK, Span, utf16_length

Range = tuple[int, int]
"""From, to: places in a text, counted in UTF-16 code units as Qt does."""


def _option(mode: QTextOption.WrapMode) -> QTextOption:
    option = QTextOption()
    option.setWrapMode(mode)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    return option


_WRAPPED = _option(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
_ANYWHERE = _option(QTextOption.WrapMode.WrapAnywhere)
_ANYWHERE.setTextDirection(Qt.LayoutDirection.LeftToRight)


def utf16_slice(text: str, start: int, end: int) -> str:
    """A part of a text by places as Qt counts them."""
    if text.isascii() or max(text) <= "\uffff":
        return text[start:end]
    return text.encode("utf-16-le", "surrogatepass")[start * 2 : end * 2].decode("utf-16-le", "replace")


class TextPiece:
    """One text in one font with some formats.

    Attributes:
        text: what it says, with `\\n` between lines.
        height, width: of the laid-out text, in pixels; 0 before `lay_out`.
        x, y: where its owner put it.
    """

    __slots__ = ("_boxes", "_layout", "_spans", "_tops", "face", "height", "length", "role", "text", "width", "x", "y")

    def __init__(
        self,
        text: str,
        kind: str = "body",
        formats: Sequence[QTextLayout.FormatRange] = (),
        *,
        spans: tuple[Span, ...] = (),
        role: str = "text",
        anywhere: bool = False,
    ) -> None:
        self.text = text
        self.length = utf16_length(text)
        self.face: Face = face(kind)
        self.role = role
        self.height = self.width = 0
        self.x = self.y = 0
        self._spans = spans
        self._tops: list[int] = []
        self._boxes: list[QRectF] | None = None
        self._layout = QTextLayout(text.replace("\n", "\u2028") if "\n" in text else text, self.face.font)
        self._layout.setCacheEnabled(True)  # or each painting would shape the text again
        self._layout.setTextOption(_ANYWHERE if anywhere else _WRAPPED)
        if formats:
            self._layout.setFormats(list(formats))

    def lay_out(self, width: int) -> int:
        """Break the text into lines of at most `width` pixels. Returns the height."""
        layout, pitch = self._layout, self.face.pitch
        layout.beginLayout()
        y, tops = 0, []
        while True:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            natural = line.height()
            step = pitch if natural <= pitch else int(natural + 0.999)
            line.setPosition(QPointF(0, y + (step - natural) // 2))
            tops.append(y)
            y += step
        layout.endLayout()
        self._tops, self._boxes = tops, None
        self.height, self.width = y, width
        return y

    def natural_width(self) -> int:
        """The width of the longest line, once laid out."""
        return int(self._layout.maximumWidth() + 0.999) if len(self._tops) == 1 else int(max(
            (self._layout.lineAt(index).naturalTextWidth() for index in range(len(self._tops))), default=0.0) + 0.999)

    def baseline(self) -> int:
        """How far below its top the first line stands."""
        line = self._layout.lineAt(0)
        return round(line.y() + line.ascent())

    def line_count(self) -> int:
        return len(self._tops)

    def line_starts(self) -> list[tuple[int, int]]:
        """(place in the text, y) of each line."""
        return [(self._layout.lineAt(index).textStart(), top) for index, top in enumerate(self._tops)]

    def paint(
        self, painter: QPainter, x: float, y: float, clip: QRectF, marks: list[QTextLayout.FormatRange]
    ) -> None:
        """Paint at a place. `clip` is the area that needs it, in the painter's coordinates."""
        if self._spans:
            self._paint_boxes(painter, x, y)
        painter.setPen(theme.role(self.role))
        self._layout.draw(painter, QPointF(x, y), marks, clip)

    def hit(self, x: float, y: float) -> int:
        """The place in the text that is nearest to a point."""
        line = self._line_at(y)
        return int(line.xToCursor(x)) if line is not None else 0

    def span_at(self, x: float, y: float) -> Span | None:
        """The link or code under a point."""
        if not (0 <= y < self.height):
            return None
        line = self._line_at(y)
        if line is None or not 0 <= x <= line.naturalTextWidth() + line.x():
            return None
        place = line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter)
        return next((span for span in self._spans if span.start <= place < span.start + span.length), None)

    def links(self) -> list[Span]:
        return [span for span in self._spans if span.style & LINK and span.href]

    def boxes(self, start: int, end: int) -> list[QRectF]:
        """Rectangles around a part of the text, one a line."""
        found = []
        for index, top in enumerate(self._tops):
            line = self._layout.lineAt(index)
            first, after = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            if first < after:
                left, right = _x(line, first), _x(line, after)
                found.append(QRectF(min(left, right), top, abs(right - left), self.face.pitch))
        return found

    def _line_at(self, y: float) -> QTextLine | None:
        tops = self._tops
        if not tops:
            return None
        low, high = 0, len(tops) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if tops[middle] <= y:
                low = middle
            else:
                high = middle - 1
        return self._layout.lineAt(low)

    def _paint_boxes(self, painter: QPainter, x: float, y: float) -> None:
        if self._boxes is None:
            self._boxes = [
                box.adjusted(-2, 2, 2, -2)
                for span in self._spans if span.style & CODE
                for box in self.boxes(span.start, span.start + span.length)
            ]
        if self._boxes:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.role("panel"))
            for box in self._boxes:
                painter.drawRoundedRect(box.translated(x, y), 3, 3)


def _x(line: QTextLine, place: int) -> float:
    value: Any = line.cursorToX(place)  # PySide gives (x, place), whatever its stubs say
    return float(value[0] if isinstance(value, tuple) else value)
