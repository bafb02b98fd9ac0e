"""A reply in one's own words, in place of answers."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr
from desktop.widgets import plain_label


class ReplyPage(QWidget):
    """The field for the reply.

    Signals:
        changed: the text is no longer what it was.
    """

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        side = theme.px(16)
        column = QVBoxLayout(self)
        column.setContentsMargins(side, 0, side, theme.px(4))
        column.setSpacing(theme.px(8))
        column.addWidget(plain_label(tr("Reply instead of answering"), "question"))
        words = tr("Claude gets your words in place of an answer, and goes on from there.")
        column.addWidget(plain_label(words, "soft", wrap=True))
        self.field = WritingField(
            "replyText", tr("Your reply"), tr("For example: neither, look at the old code first"), self,
            least_lines=3, most_lines=8, free_enter=True,
        )  # fmt: skip
        self.field.textChanged.connect(self.changed)
        column.addWidget(self.field)
