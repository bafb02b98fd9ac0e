"""Small line drawings for tool cards and notices, on a grid of 16 pixels. Drawn, since no font has them everywhere."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from desktop import theme

_Stroke = tuple[tuple[float, float], ...]

_STROKES: dict[str, tuple[_Stroke, ...]] = {
    "edit": (((3, 13), (3.6, 10.2), (10.6, 3.2), (12.8, 5.4), (5.8, 12.4), (3, 13)), ((9.2, 4.6), (11.4, 6.8))),
    "terminal": (((3, 4.5), (6.5, 8), (3, 11.5)), ((8.5, 12), (13, 12))),
    "file": (((4, 2.5), (9.5, 2.5), (12.5, 5.5), (12.5, 13.5), (4, 13.5), (4, 2.5)),
             ((9.3, 2.7), (9.3, 5.7), (12.4, 5.7))),
    "search": (((10.2, 10.2), (13.5, 13.5)),),
    "list": (((3, 4.5), (4.2, 5.7), (6, 3.3)), ((8, 4.5), (13.5, 4.5)), ((3, 10.5), (4.2, 11.7), (6, 9.3)),
             ((8, 10.8), (13.5, 10.8))),
    "web": (((2.8, 8), (13.2, 8)),),
    "agent": (((5, 3), (5, 8.5), (11, 8.5)), ((8.8, 6.3), (11, 8.5), (8.8, 10.7)), ((5, 8.5), (5, 13))),
    "question": (((5.8, 6), (6.2, 4.6), (8, 3.8), (9.9, 4.7), (10.1, 6.5), (8.1, 8.2), (8, 9.8)), ((8, 12), (8, 12.4))),
    "plan": (((3.5, 4), (12.5, 4)), ((3.5, 8), (12.5, 8)), ((3.5, 12), (9, 12))),
    "tool": (((8, 2.6), (13, 5.4), (13, 10.6), (8, 13.4), (3, 10.6), (3, 5.4), (8, 2.6)),),
    "thinking": (((4, 8), (4.2, 8)), ((8, 8), (8.2, 8)), ((12, 8), (12.2, 8))),
    "error": (((8, 4.8), (8, 8.6)), ((8, 11), (8, 11.3))),
    "warning": (((8, 2.8), (14, 13.2), (2, 13.2), (8, 2.8)), ((8, 6.6), (8, 9.4)), ((8, 11.2), (8, 11.5))),
    "info": (((8, 7.4), (8, 11.4)), ((8, 4.8), (8, 5.1))),
    "retry": (((12.6, 5.4), (12.9, 2.6)), ((12.6, 5.4), (9.8, 5.2))),
    "stopped": (((4.5, 4.5), (11.5, 4.5), (11.5, 11.5), (4.5, 11.5), (4.5, 4.5)),),
    "compacted": (((3, 8), (13, 8)), ((6, 3), (8, 5), (10, 3)), ((6, 13), (8, 11), (10, 13))),
    "exited": (((8, 2.5), (8, 7.5)),),
}
_CIRCLES = {"search": (6.8, 6.8, 4.2), "web": (8, 8, 5.4), "error": (8, 8, 6), "info": (8, 8, 6)}
_ARCS = {"retry": (8, 8, 5, 40, 290), "exited": (8, 8.4, 5, 125, 290)}


def paint_icon(painter: QPainter, name: str, x: float, y: float, colour: QColor) -> None:
    """Draw an icon with its top left at a place; an unknown name draws the general tool."""
    if name not in _STROKES:
        name = "tool"
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(x, y)
    painter.scale(theme.theme.scale, theme.theme.scale)
    painter.setPen(QPen(colour, 1.3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for stroke in _STROKES[name]:
        path = QPainterPath(QPointF(*stroke[0]))
        for point in stroke[1:]:
            path.lineTo(QPointF(*point))
        painter.drawPath(path)
    if name in _CIRCLES:
        x0, y0, radius = _CIRCLES[name]
        painter.drawEllipse(QPointF(x0, y0), radius, radius)
    if name == "web":
        painter.drawEllipse(QPointF(8, 8), 2.4, 5.4)
    if name in _ARCS:
        x0, y0, radius, start, span = _ARCS[name]
        box = QRectF(x0 - radius, y0 - radius, 2 * radius, 2 * radius)
        painter.drawArc(box, int(start * 16), int(span * 16))
    painter.restore()


def paint_chevron(painter: QPainter, x: float, y: float, *, opened: bool) -> None:
    """The mark of what opens: `›` closed, `⌄` open, with its centre at a place."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(x, y)
    painter.scale(theme.theme.scale, theme.theme.scale)
    if opened:
        painter.rotate(90)
    painter.setPen(QPen(theme.role("soft"), 1.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap,
                        Qt.PenJoinStyle.RoundJoin))
    path = QPainterPath(QPointF(-1.8, -3.6))
    path.lineTo(QPointF(1.8, 0))
    path.lineTo(QPointF(-1.8, 3.6))
    painter.drawPath(path)
    painter.restore()
