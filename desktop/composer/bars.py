"""Above the composer: the messages that wait to be read, and the texts that lost their place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QPushButton, QVBoxLayout, QWidget

from desktop import theme
from desktop.conversations.outbox import Queued
from desktop.translations import tr
from desktop.widgets import ElidedLabel, button, plain_label, set_role

PREVIEW = 400
"""Characters of a text that a row shows at most."""


class OutboxBar(QWidget):
    """The messages that wait, each with a way back into the composer.

    Signals:
        take_back(uuid): the person wants it back.
    """

    take_back = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("outbox")
        self._shown: list[Queued] = []
        self._column = _column(self)
        self.hide()

    def show_queued(self, queued: Sequence[Queued], *, running: bool) -> None:
        """Show the waiting messages. `running`: whether there is a CLI that will read them by itself."""
        if list(queued) == self._shown and not self.isHidden():
            return
        self._shown = list(queued)
        _empty(self._column)
        for message in queued:
            if message.held_by == "claude":
                state = tr("Queued: Claude reads it next")
            elif running:
                state = tr("Waiting to be sent")
            else:
                state = tr("Not sent yet")
            text = message.text[:PREVIEW] or tr("{count} pictures", count=message.images)
            back = button(tr("Take back"), f"takeBack_{message.uuid}", "quiet")
            back.setToolTip(tr("Put this message back into the field"))
            back.clicked.connect(lambda _=False, uuid=message.uuid: self.take_back.emit(uuid))
            self._column.addWidget(_row(self, state, text, back))
        self.setVisible(bool(queued))


class RecoveredBar(QWidget):
    """Texts that lost their place: a dialog that closed by itself, a message that did not arrive.

    Args:
        composer: whether there is a message that they can be put into.

    Signals:
        use(text): put it into the composer.
        copy(text): put it on the clipboard.
        forget(text): it is not needed.
    """

    use = Signal(str)
    copy = Signal(str)
    forget = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, composer: bool = True) -> None:
        super().__init__(parent)
        self.setObjectName("recovered")
        self._composer = composer
        self.setAccessibleName(tr("Recovered text"))
        self._shown: list[str] = []
        self._column = _column(self)
        self.hide()

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show these texts and no others."""
        if list(texts) == self._shown:
            return
        self._shown = list(texts)
        _empty(self._column)
        for number, text in enumerate(texts):
            use = button(tr("Put into the message"), f"useRecovered_{number}")
            use.setVisible(self._composer)
            copy = button(tr("Copy"), f"copyRecovered_{number}", "quiet")
            forget = button(tr("Throw away"), f"forgetRecovered_{number}", "quiet")
            use.clicked.connect(lambda _=False, text=text: self.use.emit(text))
            copy.clicked.connect(lambda _=False, text=text: self.copy.emit(text))
            forget.clicked.connect(lambda _=False, text=text: self.forget.emit(text))
            self._column.addWidget(_row(self, tr("Recovered text"), text[:PREVIEW], forget, copy, use))
        self.setVisible(bool(texts))


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    return column


def _empty(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def _row(parent: QWidget, state: str, text: str, *buttons: QPushButton) -> QFrame:
    row = QFrame(parent)
    set_role(row, "notice")
    layout = QHBoxLayout(row)
    layout.setContentsMargins(theme.px(12), theme.px(2), theme.px(4), theme.px(2))
    layout.setSpacing(theme.px(8))
    layout.addWidget(plain_label(state, "soft"))
    label = ElidedLabel(text, "", row)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    layout.addWidget(label, 1)
    for one in buttons:
        layout.addWidget(one)
    return row
