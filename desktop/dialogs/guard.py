"""Nothing is answered by accident: who was typing when a dialog appeared, and what a pressed key then means.

A dialog comes up by itself, under the hands of somebody who may be writing to Claude at that moment. Two rules follow:

* The focus is left where it is while the person writes: a text field outside the dialog has the focus and holds
  text, or an input method is composing there. Otherwise the dialog takes the focus, so that a digit answers at once.
* If the person was writing, keys that reach the dialog in its first 400 ms are not answers.

A click is held back only where it cannot have been meant: the pointer already rested on the spot where the button
came to lie, and the press came within the same 400 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QTimerEvent
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

QUIET_SECONDS = 0.4
"""How long after its appearance a dialog doubts that a key or a click was meant for it."""


def is_being_written(widget: QWidget | None) -> bool:
    """Whether a widget is a text field that holds text, or in which an input method is composing."""
    if isinstance(widget, QLineEdit):
        return not widget.isReadOnly() and bool(widget.text())
    if isinstance(widget, (QPlainTextEdit, QTextEdit)) and not widget.isReadOnly():
        composing = widget.textCursor().block().layout().preeditAreaText()
        return bool(composing) or not widget.document().isEmpty()
    return False


class Guard(QObject):
    """Watches over one dialog while it has just appeared. Installed on the application for that moment only."""

    _KEYS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.ShortcutOverride)

    def __init__(self, dialog: QWidget, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._clock = clock
        self._appeared_at = float("-inf")
        self._pointer = QPoint()
        self._was_written = False
        self._risky: list[QWidget] = []

    def appeared(self) -> bool:
        """The dialog has just been shown. Returns whether it may take the focus."""
        self._appeared_at = self._clock()
        self._pointer = QCursor.pos()
        focused = QApplication.focusWidget() or self._dialog.window().focusWidget()
        outside = focused is not None and focused is not self._dialog and not self._dialog.isAncestorOf(focused)
        self._was_written = outside and is_being_written(focused)
        application = QApplication.instance()
        if self._was_written and application is not None:
            application.installEventFilter(self)
            self.startTimer(int(QUIET_SECONDS * 1000) + 50)
        return not self._was_written

    def protect(self, button: QWidget) -> None:
        """Hold back a click on this button that was under way before the button was there."""
        self._risky.append(button)
        button.installEventFilter(self)

    @property
    def is_quiet(self) -> bool:
        """Whether the dialog appeared so recently that nobody can have read it."""
        return self._clock() - self._appeared_at < QUIET_SECONDS

    def timerEvent(self, event: QTimerEvent) -> None:
        self.killTimer(event.timerId())
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in self._KEYS:
            return self._was_written and self.is_quiet and self._is_ours(watched)
        if event.type() == QEvent.Type.MouseButtonPress and watched in self._risky and self.is_quiet:
            assert isinstance(watched, QWidget)
            return watched.rect().contains(watched.mapFromGlobal(self._pointer))
        return False

    def _is_ours(self, watched: QObject) -> bool:
        return isinstance(watched, QWidget) and (
            watched is self._dialog or self._dialog.isAncestorOf(watched)
        )
