"""Fonts, line heights and text formats of the transcript, made once for a scheme and a scale."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout

from desktop import theme
from desktop.transcript.highlight import Part, colour
from desktop.transcript.inline import BOLD, CODE, ITALIC, LINK, SOFT, STRIKE, Span

HEADING_SIZES = {1: 20.0, 2: 17.0, 3: 15.0}

_KINDS = {
    "body": (theme.TEXT_SIZE, theme.LINE_HEIGHT),
    "bold": (theme.TEXT_SIZE, theme.LINE_HEIGHT),
    "small": (theme.SECONDARY_SIZE, 1.45),
    "small-bold": (theme.SECONDARY_SIZE, 1.45),
    "code": (theme.CODE_SIZE, 1.55),
    **{f"h{level}": (HEADING_SIZES.get(level, theme.TEXT_SIZE), 1.35) for level in range(1, 7)},
}


class Face(NamedTuple):
    """A font with the distance of its lines in pixels and the width of a usual character."""

    font: QFont
    pitch: int
    average: float


_faces: dict[str, Face] = {}
_formats: dict[tuple[int, bool], QTextCharFormat] = {}
_colours: dict[str, QTextCharFormat] = {}


def forget() -> None:
    """Make everything anew: the scheme or the scale changed."""
    _faces.clear()
    _formats.clear()
    _colours.clear()


def face(kind: str) -> Face:
    """`body`, `bold`, `small`, `small-bold`, `code`, or `h1` to `h6`."""
    found = _faces.get(kind)
    if found is None:
        size, height = _KINDS[kind]
        semibold = kind not in ("body", "small")
        font = theme.code_font() if kind == "code" else theme.text_font(size, semibold=semibold)
        metrics = QFontMetricsF(font)
        pitch = max(round(theme.px(size) * height), round(metrics.height()))
        found = _faces[kind] = Face(font, pitch, max(metrics.averageCharWidth(), 1.0))
    return found


def colour_format(role: str) -> QTextCharFormat:
    """A format that only colours: a role of the theme."""
    found = _colours.get(role)
    if found is None:
        found = _colours[role] = QTextCharFormat()
        found.setForeground(theme.role(role))
    return found


def code_ranges(parts: list[Part]) -> list[QTextLayout.FormatRange]:
    """Formats of coloured code."""
    return [_range(part.start, part.length, _code_format(part.role)) for part in parts]


def word_ranges(spans: tuple[Span, ...], *, heading: bool = False) -> list[QTextLayout.FormatRange]:
    """Formats of words."""
    return [_range(span.start, span.length, _word_format(span.style, heading)) for span in spans]


def coloured(start: int, length: int, role: str) -> QTextLayout.FormatRange:
    """A part of a text in a colour of the theme."""
    return _range(start, length, colour_format(role))


def bold(start: int, length: int) -> QTextLayout.FormatRange:
    """A part of a text in semibold."""
    return _range(start, length, _word_format(BOLD, heading=False))


def selected() -> QTextCharFormat:
    """How selected text looks."""
    found = _colours.get("~selected")
    if found is None:
        found = _colours["~selected"] = QTextCharFormat()
        found.setBackground(theme.role("accent"))
        found.setForeground(theme.role("on_accent"))
    return found


def found_format(current: bool) -> QTextCharFormat:
    """How a match of a search looks."""
    name = "~current" if current else "~found"
    made = _colours.get(name)
    if made is None:
        made = _colours[name] = QTextCharFormat()
        shade = theme.role("careful")
        if current:
            made.setForeground(theme.role("background"))
        else:
            shade.setAlpha(90)
        made.setBackground(shade)
    return made


def ranged(start: int, length: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    """A part of a text in a format."""
    return _range(start, length, form)


def _code_format(role: str) -> QTextCharFormat:
    found = _colours.get("code:" + role)
    if found is None:
        found = _colours["code:" + role] = QTextCharFormat()
        found.setForeground(colour(role))
        if role == "comment":
            found.setFontItalic(True)
    return found


def _word_format(style: int, heading: bool) -> QTextCharFormat:
    found = _formats.get((style, heading))
    if found is None:
        found = _formats[(style, heading)] = QTextCharFormat()
        if style & CODE:
            font = QFont(face("code").font)
            found.setFont(font)
        if style & BOLD or heading:
            found.setFontWeight(QFont.Weight.DemiBold)
        if style & ITALIC:
            found.setFontItalic(True)
        if style & STRIKE:
            found.setFontStrikeOut(True)
        if style & LINK:
            found.setForeground(theme.role("accent"))
            found.setFontUnderline(True)
        if style & SOFT:
            found.setForeground(theme.role("soft"))
    return found


def _range(start: int, length: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start = start
    made.length = length
    made.format = form
    return made
