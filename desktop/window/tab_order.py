"""Where Tab leads: through the window as one reads it, whatever was made first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget


def stops(window: QWidget, parts: Sequence[QWidget]) -> list[QWidget]:
    """The widgets that Tab reaches, in order.

    Qt's own order is the one in which widgets were made, and a request comes long after the composer under it.

    Args:
        window: whose widgets.
        parts: the areas in reading order; inside each, Qt's order holds. What lies in none of them comes last.
    """
    # What has the focus keeps its place even while it is being hidden: Qt then asks for the one after it.
    focused = window.focusWidget()
    reached = [
        (_place(widget, parts), widget) for widget in _chain(window) if widget is focused or _is_stop(widget)
    ]
    return [widget for _, widget in sorted(reached, key=lambda pair: pair[0])]


def neighbour(order: Sequence[QWidget], focused: QWidget | None, *, forward: bool) -> QWidget | None:
    """The stop after or before the focused one, round at the ends; None where there is no other."""
    if not order or list(order) == [focused]:
        return None
    if focused not in order:
        return order[0 if forward else -1]
    return order[(order.index(focused) + (1 if forward else -1)) % len(order)]


def _chain(window: QWidget) -> Iterator[QWidget]:
    widget = window.nextInFocusChain()
    while widget is not None and widget is not window:
        yield widget
        widget = widget.nextInFocusChain()


def _is_stop(widget: QWidget) -> bool:
    # On macOS the person may have Tab stop at text fields and lists only.
    everywhere = QGuiApplication.styleHints().tabFocusBehavior() == Qt.TabFocusBehavior.TabFocusAllControls
    needed = Qt.FocusPolicy.TabFocus if everywhere else Qt.FocusPolicy.StrongFocus
    policy = widget.focusPolicy()
    return policy & needed == needed and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def _place(widget: QWidget, parts: Sequence[QWidget]) -> int:
    for number, part in enumerate(parts):
        if part is widget or part.isAncestorOf(widget):
            return number
    return len(parts)
