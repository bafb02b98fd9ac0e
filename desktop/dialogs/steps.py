"""The steps of a set of questions as chips: `1 Database`, `2 Features`, `Review`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QPushButton, QWidget

from desktop import theme
from desktop.dialogs.answer_sheet import AnswerSheet, Mark
from desktop.translations import tr
from protocol.permissions import make_visible

_WIDEST = 150
"""How wide a chip may grow, in logical pixels at 100 %. Headers are meant to have 12 characters; some have 44."""

_SIGNS: dict[Mark, str] = {"open": "", "answered": "✓", "skipped": "–", "incomplete": "!"}


def mark_in_words(mark: Mark) -> str:
    """What a mark says, in a word or two."""
    return {
        "open": tr("not answered yet"),
        "answered": tr("answered"),
        "skipped": tr("skipped"),
        "incomplete": tr("still to be written"),
    }[mark]


class StepChip(QPushButton):
    """One step. A long header is elided; the whole of it is in the tooltip and in the accessible name."""

    def __init__(self, name: str, parent: QWidget, chosen: Callable[[], None]) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "chip")
        self.setAutoDefault(False)
        self.setCheckable(True)
        self.clicked.connect(lambda: chosen())

    def show_step(self, text: str, sign: str, words: str) -> None:
        """Show a step's text and mark, and say both in words."""
        room = theme.px(_WIDEST) - theme.px(24)
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        self.setText(f"{shown} {sign}".rstrip().replace("&", "&&"))
        self.setToolTip(words)
        self.setAccessibleName(words)

    def sizeHint(self) -> QSize:
        # Room for the semibold in which the present step is written, so that going on does not move its neighbours.
        plain, heavy = (
            QFontMetrics(theme.text_font(theme.SECONDARY_SIZE, semibold=semibold)).horizontalAdvance(self.text())
            for semibold in (False, True)
        )
        return super().sizeHint() + QSize(max(0, heavy - plain) + theme.px(2), 0)


class StepChips:
    """The chips of one sheet, kept in step with it."""

    def __init__(self, sheet: AnswerSheet, parent: QWidget, go: Callable[[int], None]) -> None:
        """`go` is called with the step that was clicked: a question's index, or their number for the review."""
        self._sheet = sheet
        names = [f"step_{index}" for index in range(sheet.count)] + ["stepReview"]
        self.chips = [StepChip(name, parent, partial(go, step)) for step, name in enumerate(names)]

    def refresh(self) -> None:
        """Show where each question stands and which step is the present one."""
        for index, chip in enumerate(self.chips):
            chip.setChecked(index == self._sheet.current)
            if index == self._sheet.count:
                chip.show_step(tr("Review"), "", tr("Review before sending"))
                continue
            mark = self._sheet.mark(index)
            header = " ".join(make_visible(self._sheet.question(index).header).split())
            text = f"{index + 1} {header}".rstrip() if header else tr("Question {number}", number=index + 1)
            chip.show_step(text, _SIGNS[mark], f"{text}: {mark_in_words(mark)}")
