"""The question dialog: AskUserQuestion, one step a question and a review before anything is sent."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from desktop.dialogs.answer_sheet import AnswerSheet
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.guard import QUIET_SECONDS
from desktop.dialogs.question_page import QuestionPage
from desktop.dialogs.reply_page import ReplyPage
from desktop.dialogs.review_page import ReviewPage
from desktop.dialogs.steps import StepChips
from desktop.keys import as_typed
from desktop.translations import tr
from desktop.widgets import button, set_role
from protocol import questions
from protocol.questions import AskUserQuestion

_DIGIT_MODIFIERS = ~Qt.KeyboardModifier.KeypadModifier


class QuestionDialog(RequestDialog):
    """Asks the questions of one AskUserQuestion request.

    Keys: a digit chooses (toggles, where several may be chosen) and stays, arrows move, Space toggles, Left and Right
    turn the pages, Enter goes to the next question and after the last to the review, Ctrl+Enter sends, Esc dismisses.
    On the review the button that sends has the focus, so Enter sends from there, but not in the first moment: Enter
    pressed once too often must not send what nobody has looked at.
    """

    def __init__(self, ask: AskUserQuestion, context: DialogContext, parent: QWidget | None = None) -> None:
        super().__init__("questionDialog", context, parent)
        self.sheet = AnswerSheet(ask)
        self.setAccessibleName(tr("Claude asks"))
        self._review_since = 0.0
        self._replying = False
        self._chips = StepChips(self.sheet, self, self.go)
        for chip in self._chips.chips:
            self.header.left.addWidget(chip)
        self.pages = [QuestionPage(self.sheet, index, self) for index in range(self.sheet.count)]
        self.review, self.reply = ReviewPage(self.sheet, self), ReplyPage(self)
        for page in (*self.pages, self.review, self.reply):
            page.hide()
            self.body.addWidget(page)
        self._build_footer()
        for page in self.pages:
            page.changed.connect(self._refresh)
            page.preview.prose.file_link.connect(self.file_link)
        self.review.change.connect(self.go)
        self.reply.changed.connect(self._refresh)
        self._show_step()

    # Steps

    def go(self, step: int) -> None:
        """Show a question, or the review (`step` = number of questions)."""
        self._replying = False
        if step == self.sheet.count and not self.sheet.on_review:
            self._review_since = time.monotonic()
        self.sheet.current = max(0, min(self.sheet.count, step))
        self._show_step()
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def next(self) -> None:
        """Go on from a question; stays where "Other…" is chosen and nothing is written."""
        if self.sheet.on_review or self._replying:
            return
        if self.sheet.mark(self.sheet.current) == "incomplete":
            self._complain(self.sheet.current, tr("Write your answer first, or choose an option."))
            return
        self.go(self.sheet.current + 1)

    def skip(self) -> None:
        """Leave the present question out and go on."""
        if not self.sheet.on_review:
            self.sheet.skip(self.sheet.current)
            self.pages[self.sheet.current].show_problem("")
            self.pages[self.sheet.current].refresh()
            self.go(self.sheet.current + 1)

    # Ends

    def submit(self) -> None:
        """Send the answers; or show the first question that stands in the way, and say why."""
        match self.sheet.problem():
            case None:
                self.decide(self.sheet.result(self.context.capabilities))
            case (_, "nothing_answered"):
                self.go(self.sheet.count)
                self.dismiss_button.setFocus(Qt.FocusReason.OtherFocusReason)
            case (index, "other_is_empty"):
                self._complain(index, tr("Write your answer first, or choose an option."))
            case (index, _):
                self._complain(index, tr("Choose an answer, or skip this question."))

    def send_reply(self, text: str) -> None:
        """Send words in place of answers, wherever they were typed. Blank ones are not sent."""
        if text.strip():
            self.decide(questions.reply_instead(text.strip()))

    def refuse(self) -> None:
        self.decide(questions.dismissed())

    def refusal(self) -> tuple[str, str]:
        return tr("Dismiss the questions and throw away what you wrote?"), tr("Dismiss")

    def typed(self) -> str:
        texts = (self.sheet.typed(), self.reply.field.text().strip())
        return "\n\n".join(text for text in texts if text)

    # Keys

    def first_focus(self) -> QWidget:
        if self._replying:
            return self.reply.field
        if not self.sheet.on_review:
            return self.pages[self.sheet.current].first_focus()
        match self.sheet.problem():
            case None:
                return self.submit_button
            case (_, "nothing_answered"):
                return self.dismiss_button
            case (index, _):
                return self.review.entries[index].change

    def enter_pressed(self) -> None:
        self.next()

    def submit_pressed(self) -> None:
        if self._replying:
            self.send_reply(self.reply.field.text())
        else:
            self.submit()

    def escape(self) -> None:
        if self._replying and self._question is None:
            self._leave_reply()
        else:
            super().escape()

    def key_pressed(self, event: QKeyEvent) -> bool:
        if event.modifiers() & _DIGIT_MODIFIERS or self._replying:
            return False
        if Qt.Key.Key_1 <= event.key() <= Qt.Key.Key_9 and not self.sheet.on_review:
            return self.pages[self.sheet.current].press_digit(event.key() - Qt.Key.Key_0)
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.go(self.sheet.current + (1 if event.key() == Qt.Key.Key_Right else -1))
            return True
        return False

    # Inside

    def _build_footer(self) -> None:
        self.dismiss_button = button(tr("Dismiss"), "dismissQuestions", "quiet", self)
        self.dismiss_button.setToolTip(tr("Close without an answer (Esc)"))
        self.reply_button = button(tr("Reply instead"), "replyInstead", "quiet", self)
        self.reply_button.setToolTip(tr("Say something else in your own words"))
        self._back_button = button(tr("Back to the questions"), "backToQuestions", "quiet", self)
        self.note_button = button(tr("Add a note"), "addNote", "quiet", self)
        self.skip_button = button(tr("Skip"), "skipQuestion", "outline", self)
        self.skip_button.setToolTip(tr("Leave this question unanswered"))
        self.submit_button = button(tr("Send answers"), "submitAnswers", "outline", self)
        self.submit_button.setToolTip(as_typed(tr("Send (Ctrl+Enter)")))
        self.next_button = button("", "nextQuestion", "primary", self)
        for quiet in (self.dismiss_button, self.reply_button, self._back_button):
            self.footer.left.addWidget(quiet)
        for action in (self.note_button, self.skip_button, self.submit_button, self.next_button):
            self.footer.right.addWidget(action)
        self.dismiss_button.clicked.connect(self._dismiss)
        self.reply_button.clicked.connect(self._reply)
        self._back_button.clicked.connect(self._leave_reply)
        self.note_button.clicked.connect(lambda: self.pages[self.sheet.current].open_note())
        self.skip_button.clicked.connect(self.skip)
        self.submit_button.clicked.connect(self._submit_clicked)
        self.next_button.clicked.connect(self.next)

    def _dismiss(self) -> None:
        self._replying = False
        self._show_step()
        super().escape()

    def _reply(self) -> None:
        if self._replying:
            self.send_reply(self.reply.field.text())
            return
        self._replying = True
        self._show_step()
        self.reply.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_reply(self) -> None:
        self._replying = False
        self._show_step()
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _submit_clicked(self) -> None:
        # Enter that was meant for "Next" and pressed once too often arrives here as a click.
        if self.sheet.on_review and time.monotonic() - self._review_since < QUIET_SECONDS:
            return
        self.submit()

    def _complain(self, index: int, sentence: str) -> None:
        self.go(index)
        self.pages[index].show_problem(sentence)

    def _show_step(self) -> None:
        current = None if self._replying else self.sheet.current
        for index, page in enumerate((*self.pages, self.review)):
            page.setVisible(index == current)
        self.reply.setVisible(self._replying)
        self._refresh()
        self.updateGeometry()

    def _refresh(self) -> None:
        self._chips.refresh()
        if self.sheet.on_review:
            self.review.refresh()
        asking = not self.sheet.on_review and not self._replying
        ready = self.sheet.problem() is None
        last = self.sheet.current == self.sheet.count - 1
        self.next_button.setText(f"{tr('Review') if last else tr('Next')} ⏎")
        self.next_button.setAccessibleName(tr("Review before sending") if last else tr("Next question"))
        self.next_button.setVisible(asking)
        self.skip_button.setVisible(asking)
        self.note_button.setVisible(asking and not self.pages[self.sheet.current].note_is_open())
        self.submit_button.setVisible(not self._replying and (ready or not asking))
        self.submit_button.setEnabled(ready)
        self.submit_button.setText(tr("Send answers") if asking else f"{tr('Send answers')} ⏎")
        set_role(self.submit_button, "outline" if asking else "primary")
        self._back_button.setVisible(self._replying)
        self._show_reply_button()

    def _show_reply_button(self) -> None:
        group, other = self.footer.left, self.footer.right
        if self._replying:
            group, other = other, group
        if group.indexOf(self.reply_button) < 0:
            other.removeWidget(self.reply_button)
            group.addWidget(self.reply_button)
        set_role(self.reply_button, "primary" if self._replying else "quiet")
        words = tr("Send reply") if self._replying else tr("Reply instead")
        self.reply_button.setText(words)
        self.reply_button.setAccessibleName(words)
        self.reply_button.setEnabled(not self._replying or bool(self.reply.field.text().strip()))
