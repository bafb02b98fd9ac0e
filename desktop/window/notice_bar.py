"""Notices of a conversation: a sentence, what it is about in detail, and the buttons that do something about it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop import theme
from desktop.conversations.notices import Notice
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role

DETAIL_LINES = 6


class NoticeCard(QFrame):
    """One notice.

    Signals:
        acted(name): a button was pressed; the name of its action.
        dismissed: it is to be put away.
    """

    acted = Signal(str)
    dismissed = Signal()

    def __init__(self, notice: Notice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = notice
        self.setObjectName(f"notice_{notice.key}")
        self.setAccessibleName(str(notice.text))
        set_role(self, "notice", tone=notice.tone)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.px(12), theme.px(8), theme.px(8), theme.px(8))
        column.setSpacing(theme.px(6))
        text = plain_label(str(notice.text), wrap=True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(text)
        if notice.detail:
            column.addWidget(self._detail(notice))
        row = QHBoxLayout()
        row.setSpacing(theme.px(6))
        row.addStretch(1)
        if notice.can_dismiss:
            dismiss = button(tr("Close"), f"dismiss_{notice.key}", "quiet")
            dismiss.clicked.connect(self.dismissed)
            row.addWidget(dismiss)
        for action in reversed(notice.actions):
            made = button(str(action.words), f"{action.name}_{notice.key}", "primary" if action.primary else "outline")
            made.clicked.connect(lambda _=False, name=action.name: self.acted.emit(name))
            row.addWidget(made)
        column.addLayout(row)

    def _detail(self, notice: Notice) -> QPlainTextEdit:
        detail = notice.detail
        field = QPlainTextEdit(self)
        field.setObjectName("noticeDetail")
        field.setAccessibleName(str(notice.detail_words))
        field.setReadOnly(True)
        set_role(field, "bare")
        field.setFont(theme.code_font())
        field.setPlainText(detail)
        lines = min(DETAIL_LINES, detail.count("\n") + 1)
        field.setFixedHeight(lines * field.fontMetrics().lineSpacing() + theme.px(12))
        if notice.key != "update":  # what went wrong stands at the end, what is new at the beginning
            field.verticalScrollBar().setValue(field.verticalScrollBar().maximum())
        return field


class NoticeBar(QWidget):
    """All notices of the shown conversation, the newest at the bottom.

    Signals:
        acted(key, name): a button of a notice was pressed.
        dismissed(key): a notice is to be put away.
    """

    acted = Signal(str, str)
    dismissed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self._cards: dict[str, NoticeCard] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(6))
        self.hide()

    def set_margin(self, margin: int) -> None:
        """Room around the cards, in pixels."""
        self._column.setContentsMargins(margin, margin, margin, margin)

    def show_notices(self, notices: Iterable[Notice]) -> None:
        """Show these and no others. A card that stays the same is left alone, and keeps its focus."""
        wanted = {notice.key: notice for notice in notices}
        for key, card in list(self._cards.items()):
            if wanted.get(key) != card.notice:
                del self._cards[key]
                self._column.removeWidget(card)
                card.hide()
                card.deleteLater()
        for key, notice in wanted.items():
            if key not in self._cards:
                self._add(notice)
        self.setVisible(bool(self._cards))

    def _add(self, notice: Notice) -> None:
        card = NoticeCard(notice, self)
        card.acted.connect(lambda name: self.acted.emit(notice.key, name))
        card.dismissed.connect(lambda: self.dismissed.emit(notice.key))
        self._cards[notice.key] = card
        self._column.addWidget(card)
