"""The one style sheet. It speaks of roles: a widget carries the property `role`, and this file says how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Template

_TEMPLATE = Template(
    """
QWidget { color: $text; }
QMainWindow, QWidget[role="page"] { background: $background; }
QWidget[role="panel"] { background: $panel; }
QFrame[role="hairline"] { background: $line; border: none; }

QFrame[role="card"], QWidget[role="card"] {
    background: $card; border: 1px solid $line; border-radius: ${radius_card}px;
}
QFrame[role="user"] { background: $panel; border: none; border-radius: ${radius_card}px; }
QDialog[role="request"], QFrame[role="request"] {
    background: $card; border: 1px solid $line; border-radius: ${radius_dialog}px;
}
QFrame[role="code"] { background: $code; border: 1px solid $line; border-radius: ${radius_control}px; }
QFrame[role="notice"] { background: $panel; border: 1px solid $line; border-radius: ${radius_control}px; }
QFrame#movedOutNotice { margin: ${gap}px 0; }
QFrame[role="notice"][tone="bad"] { border-color: $bad; }
QFrame[role="notice"][tone="careful"] { border-color: $careful; }

QLabel { background: transparent; border: none; }
QLabel[role="soft"] { color: $soft; font-size: ${size_secondary}px; }
QLabel[role="title"] { font-weight: 600; font-size: ${size_text}px; }
QLabel[role="question"] { font-weight: 600; font-size: ${size_question}px; }
QLabel[role="semibold"] { font-weight: 600; }
QLabel[role="section"] { color: $soft; font-weight: 600; font-size: ${size_secondary}px; }
QLabel[tone="good"] { color: $good; }
QLabel[tone="careful"] { color: $careful; }
QLabel[tone="bad"] { color: $bad; }
QLabel[tone="accent"] { color: $accent; }
QLabel[role="key"] {
    color: $soft; border: 1px solid $line; border-radius: 5px;
    font-size: ${size_key}px; padding: 0 ${pad_key}px; min-height: ${key}px;
}

QPushButton, QToolButton {
    background: $card; border: 1px solid $line; border-radius: ${radius_control}px;
    padding: ${pad_y}px ${pad_x}px; min-height: ${control}px; outline: none;
}
QPushButton:hover, QToolButton:hover { background: $panel; }
QPushButton:pressed, QToolButton:pressed { background: $line; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: ${pad_y1}px ${pad_x1}px; }
QPushButton:disabled, QToolButton:disabled { color: $soft; background: $background; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: $accent; border: 1px solid $text; }
QPushButton[role="primary"]:focus { border: 2px solid $text; }
QPushButton[role="primary"]:disabled { background: $line; color: $soft; border-color: $line; }
QPushButton[role="quiet"], QToolButton[role="quiet"] {
    background: transparent; border: 1px solid transparent; color: $soft;
}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover { color: $text; background: $panel; }
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus { border: 2px solid $accent; color: $text; }
QPushButton[role="danger"] { color: $bad; }
QPushButton[role="chip"] {
    border-radius: ${chip}px; color: $soft; font-size: ${size_secondary}px; min-height: ${chip_height}px;
    padding: 2px ${pad_x}px;
}
QPushButton[role="chip"]:checked {
    border: 1px solid $accent; background: $accent_tint; color: $text; font-weight: 600;
}
QPushButton[role="chip"]:focus { border: 2px solid $accent; padding: 1px ${pad_x1}px; }
QPushButton[role="row"] { background: transparent; border: 1px solid transparent; text-align: left; padding: 0; }
QPushButton[role="row"]:hover { background: $background; }
QPushButton[role="row"]:checked { background: $accent_tint; }
QPushButton[role="row"]:focus { border: 2px solid $accent; }

QAbstractScrollArea { background: transparent; border: none; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox, QDateEdit, QDateTimeEdit {
    background: $card; border: 1px solid $line; border-radius: ${radius_control}px;
    padding: ${pad_y}px ${pad_field}px; selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 2px solid $accent; padding: ${pad_y1}px ${pad_field1}px;
}
QPlainTextEdit[role="bare"], QTextEdit[role="bare"], QTextBrowser[role="bare"] {
    background: transparent; border: none; padding: 0;
}
QTextBrowser { background: transparent; border: none; padding: 0; }
QLineEdit[problem="true"], QPlainTextEdit[problem="true"], QComboBox[problem="true"] { border: 1px solid $bad; }
QComboBox::drop-down { border: none; width: ${arrow}px; }
QComboBox::down-arrow { image: url($arrow_image); width: ${arrow_size}px; height: ${arrow_size}px; }
/* A field's text stands 2 px inside its padding, a box's does not. */
QComboBox { combobox-popup: 0; padding-left: ${pad_box}px; }
QComboBox:focus { padding-left: ${pad_box1}px; }
QComboBox QAbstractItemView { background: $card; border: 1px solid $line; outline: none; padding: 4px; }
QComboBox QAbstractItemView::item { min-height: ${item}px; padding: 0 ${pad_field1}px; border-radius: 5px; }
QComboBox QAbstractItemView::item:selected { background: $accent_tint; color: $text; }

QCheckBox { spacing: ${gap}px; }
QCheckBox::indicator {
    width: ${check}px; height: ${check}px; border: 1px solid $soft; border-radius: 4px; background: $card;
}
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url($check_image); }
QCheckBox::indicator:focus { border: 2px solid $accent; width: ${check1}px; height: ${check1}px; }
QCheckBox::indicator:checked:focus { border-color: $text; }

QMenu { background: $card; border: 1px solid $line; border-radius: ${radius_control}px; padding: 4px; }
QMenu::item { padding: ${pad_y}px ${pad_x}px; border-radius: 5px; }
QMenu::item:selected { background: $accent_tint; color: $text; }
QMenu::item:disabled { color: $soft; }
QMenu::separator { height: 1px; background: $line; margin: 4px 6px; }
QToolTip { background: $card; color: $text; border: 1px solid $line; padding: 4px 6px; }

QScrollArea > QWidget > QWidget { background: transparent; }
QListView, QTreeView { background: transparent; border: none; outline: none; }
QScrollBar:vertical { background: transparent; width: ${bar}px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: ${bar}px; margin: 0; }
QScrollBar::handle { background: $line; border-radius: ${bar_radius}px; min-height: 32px; min-width: 32px; }
QScrollBar::handle:hover { background: $soft; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: $line; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
"""
)


def style_sheet(colours: Mapping[str, str], px: Callable[[float], int], pictures: Mapping[str, str]) -> str:
    """The style sheet for a set of colours.

    Args:
        colours: role to `#rrggbb`, every field of `desktop.theme.Tokens`.
        px: turns a length at 100 % into logical pixels at the person's scale.
        pictures: paths of the `arrow` on a combo box and the `check` in a check box; a style sheet that touches
            these loses Qt's own.
    """
    sizes = {
        "radius_card": 10, "radius_dialog": 14, "radius_control": 8, "size_text": 14, "size_secondary": 13,
        "size_question": 16, "size_key": 12, "pad_key": 5, "key": 16, "pad_y": 5, "pad_x": 12, "pad_y1": 4,
        "pad_x1": 11, "pad_field": 9, "pad_field1": 8, "control": 22, "chip": 11, "chip_height": 19, "arrow": 20,
        "arrow_size": 10, "gap": 8, "item": 28, "pad_box": 11, "pad_box1": 10, "check": 16, "check1": 14,
        "bar": 10, "bar_radius": 5,
    }  # fmt: skip
    lengths = {name: str(px(size)) for name, size in sizes.items()}
    return _TEMPLATE.substitute(colours, **lengths, arrow_image=pictures["arrow"], check_image=pictures["check"])
