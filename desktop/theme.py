"""Colours and sizes, in one place: widgets ask for a role, never for a hex value.

The tokens become a palette (for what Qt paints itself) and one style sheet (for what it does not). Widgets are
styled by their `role` property: see `desktop.widgets`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from desktop.style_sheet import style_sheet

Scheme = Literal["light", "dark"]
Choice = Literal["light", "dark", "system"]


@dataclass(frozen=True)
class Tokens:
    """The colours of one scheme as `#RRGGBB`. `on_accent` is the text on an accent-coloured button."""

    background: str
    panel: str
    card: str
    line: str
    text: str
    soft: str
    accent: str
    accent_tint: str
    on_accent: str
    good: str
    careful: str
    bad: str
    code: str
    added: str
    removed: str


LIGHT = Tokens(
    background="#FAF9F7", panel="#F2F0EC", card="#FFFFFF",
    line="#DFDBD3", text="#1F1D1A", soft="#6A655C",
    accent="#0F6B6B", accent_tint="#E6F2F1", on_accent="#FFFFFF",
    good="#2E7D4F", careful="#9A6700", bad="#B3261E",
    code="#F4F2EE", added="#E3F4E7", removed="#FBE6E4",
)
DARK = Tokens(
    background="#1C1B19", panel="#232220", card="#292826",
    line="#3B3935", text="#ECE9E4", soft="#A7A29A",
    accent="#5CC4BE", accent_tint="#1D3433", on_accent="#12211F",
    good="#6CC490", careful="#E0B34A", bad="#F2857C",
    code="#21201E", added="#1F3527", removed="#42211F",
)

COLUMN = 760
"""Width of the column of text at 100 %, in logical pixels."""
GRID = 8
CARD_RADIUS, DIALOG_RADIUS, CONTROL_RADIUS = 10, 14, 8
TEXT_SIZE, QUESTION_SIZE, SECONDARY_SIZE, CODE_SIZE = 14.0, 16.0, 13.0, 12.5
LINE_HEIGHT = 1.5
MOVEMENT_MS = 120


class _Theme(QObject):
    """The scheme in force. Signals: `changed` after a new scheme or scale was applied."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scheme: Scheme = "light"
        self.tokens = LIGHT
        self.scale = 1.0


theme = _Theme()


def apply(application: QApplication, scheme: Choice, scale: float = 1.0) -> None:
    """Give the whole application a scheme and a text scale (1.0 = 100 %). `system` follows the desktop's setting."""
    apply_colours(application, scheme, scale)
    application.setFont(text_font())
    colours = {field.name: role(field.name).name() for field in fields(Tokens)}
    pictures = {name: icon_path(f"{name}-{theme.scheme}.svg") for name in ("arrow", "check")}
    application.setStyleSheet(style_sheet(colours, px, pictures))
    theme.changed.emit()


def apply_colours(application: QApplication, scheme: Choice, scale: float = 1.0) -> None:
    """What an empty window needs of `apply`: a tenth of its time."""
    # Fusion, since only it obeys the palette on every platform; a native style would mix its own colours in.
    application.setStyle("Fusion")
    if scheme == "system":
        # Fusion's own palette follows the desktop's scheme (qt_fusionPalette). QStyleHints.colorScheme() says the same,
        # but the first use of one enum of `Qt` makes them all, a tenth of the whole start.
        dark = application.style().standardPalette().window().color().lightness() < 128
        scheme = "dark" if dark else "light"
    theme.scheme = scheme
    theme.tokens = DARK if scheme == "dark" else LIGHT
    theme.scale = scale
    application.setPalette(_palette(theme.tokens))


def icon_path(name: str) -> str:
    """The path of a file in `resources/icons/`, with forward slashes as Qt's style sheets want them."""
    from importlib import resources

    return Path(str(resources.files("resources").joinpath("icons", name))).as_posix()


def role(name: str) -> QColor:
    """The colour of a role: a field name of `Tokens`. Raises AttributeError for a role that does not exist."""
    return QColor(getattr(theme.tokens, name))


def is_dark() -> bool:
    return theme.scheme == "dark"


def px(size: float) -> int:
    """A length in logical pixels at the person's scale."""
    return round(size * theme.scale)


def column_width() -> int:
    """The width of the column of text at the person's scale."""
    return px(COLUMN)


def text_font(size: float = TEXT_SIZE, *, semibold: bool = False) -> QFont:
    """The system's font at a size in pixels of 100 %."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(px(size))
    if semibold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def code_font(size: float = CODE_SIZE) -> QFont:
    """The system's monospace font at a size in pixels of 100 %."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(px(size))
    return font


def reduced_motion() -> bool:
    """Whether the person asked for no animation. Qt knows it as an animation duration of 0 in the style."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        return True
    return application.style().styleHint(application.style().StyleHint.SH_Widget_Animation_Duration) == 0


def _palette(tokens: Tokens) -> QPalette:
    colours = {
        QPalette.ColorRole.Window: tokens.background,
        QPalette.ColorRole.WindowText: tokens.text,
        QPalette.ColorRole.Base: tokens.card,
        QPalette.ColorRole.AlternateBase: tokens.panel,
        QPalette.ColorRole.Text: tokens.text,
        QPalette.ColorRole.PlaceholderText: tokens.soft,
        QPalette.ColorRole.Button: tokens.card,
        QPalette.ColorRole.ButtonText: tokens.text,
        QPalette.ColorRole.BrightText: tokens.bad,
        QPalette.ColorRole.ToolTipBase: tokens.card,
        QPalette.ColorRole.ToolTipText: tokens.text,
        QPalette.ColorRole.Highlight: tokens.accent,
        QPalette.ColorRole.HighlightedText: tokens.on_accent,
        QPalette.ColorRole.Link: tokens.accent,
        QPalette.ColorRole.LinkVisited: tokens.accent,
        QPalette.ColorRole.Accent: tokens.accent,
        QPalette.ColorRole.Mid: tokens.line,
    }
    palette = QPalette()
    for colour_role, colour in colours.items():
        palette.setColor(colour_role, QColor(colour))
    for colour_role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, colour_role, QColor(tokens.soft))
    return palette
