"""The review: every question with the answer that would be sent, before it is sent."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.answer_sheet import AnswerSheet
from desktop.dialogs.layouts import ContentScroll
from desktop.dialogs.shown import LABEL, shown
from desktop.dialogs.steps import mark_in_words
from desktop.translations import tr
from desktop.widgets import button, hairline, plain_label, set_role

_SIGNS = {"answered": ("✓", "good"), "skipped": ("–", "soft"), "open": ("!", "careful"), "incomplete": ("!", "careful")}


class _Entry(QFrame):
    """One question and what is answered to it."""

    def __init__(self, sheet: AnswerSheet, index: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._sheet, self._index = sheet, index
        self.setObjectName(f"review_{index}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, theme.px(8), 0, theme.px(8))
        row.setSpacing(theme.px(10))
        self._sign = plain_label("", "semibold")
        self._sign.setFixedWidth(theme.px(14))
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.px(2))
        self._question = plain_label(shown(sheet.question(index).text, LABEL), "soft", wrap=True)
        self._answer = plain_label("", "semibold", wrap=True)
        self._note = plain_label("", "soft", wrap=True)
        for label in (self._question, self._answer, self._note):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            words.addWidget(label)
        row.addLayout(words, 1)
        self.change: QPushButton = button("", f"change_{index}", "quiet")
        row.addWidget(self.change, 0, Qt.AlignmentFlag.AlignTop)

    def refresh(self) -> None:
        mark = self._sheet.mark(self._index)
        answer = self._sheet.answer(self._index)
        picks = [shown(pick, LABEL) for pick in (*answer.labels, *([answer.other] if answer.other else []))]
        sign, tone = _SIGNS[mark]
        self._sign.setText(sign)
        set_role(self._sign, tone=tone)
        text = "\n".join(picks) if mark == "answered" else mark_in_words(mark).capitalize()
        self._answer.setText(text)
        set_role(self._answer, "semibold" if mark == "answered" else "soft")
        self._note.setText(tr("Note: {note}", note=shown(answer.notes, LABEL)))
        self._note.setVisible(bool(answer.notes))
        verb = tr("Change") if mark in ("answered", "skipped") else tr("Answer")
        question = shown(self._sheet.question(self._index).text, LABEL)
        self.change.setText(verb)
        self.change.setAccessibleName(f"{verb}: {question}")
        self.setAccessibleName(f"{question} {text}")


class ReviewPage(QWidget):
    """Shows a whole sheet.

    Signals:
        change(int): the person wants to go back to this question.
    """

    change = Signal(int)

    def __init__(self, sheet: AnswerSheet, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("reviewPage")
        self.setAccessibleName(tr("Review before sending"))
        self._sheet = sheet
        side = theme.px(16)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(side, 0, side, 0)
        outer.setSpacing(theme.px(6))
        outer.addWidget(plain_label(tr("These answers go to Claude"), "question"))
        scroll = ContentScroll(self)
        self.entries = [_Entry(sheet, index, scroll.content) for index in range(sheet.count)]
        for index, entry in enumerate(self.entries):
            if index:
                scroll.column.addWidget(hairline())
            entry.change.clicked.connect(lambda _checked=False, index=index: self.change.emit(index))
            scroll.column.addWidget(entry)
        outer.addWidget(scroll, 1)
        self._problem = plain_label("", wrap=True)
        self._problem.setObjectName("reviewProblem")
        self._problem.setProperty("tone", "careful")
        outer.addWidget(self._problem)

    def refresh(self) -> None:
        """Show what the sheet says."""
        for entry in self.entries:
            entry.refresh()
        self._problem.setText(self._sentence())
        self._problem.setVisible(bool(self._problem.text()))

    def _sentence(self) -> str:
        match self._sheet.problem():
            case None:
                return ""
            case (_, "nothing_answered"):
                return tr("Every question is skipped, so there is nothing to send. Dismiss the questions instead.")
            case _:
                return tr("Answer or skip every question before sending.")
