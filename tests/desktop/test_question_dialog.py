"""The question dialog, by keyboard alone and by mouse: what it shows, and exactly what it sends."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from desktop import theme
from desktop.dialogs import question as question_module
from desktop.dialogs.base import RequestDialog
from desktop.dialogs.preview import STRIP
from desktop.dialogs.question import QuestionDialog
from desktop.dialogs.writing_field import WritingField
from tests.helpers.cards import Page, settle
from tests.helpers.hands import click, named, press, press_ctrl_enter
from tests.helpers.requests import COLOUR, DATABASE, FEATURES, SQL, ask

DISMISSED = {"behavior": "deny", "message": "The user dismissed the questions."}


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def put(page: Page, *questions: Any, **context: Any) -> QuestionDialog:
    card = page.put(ask(*questions), **context)
    assert isinstance(card, QuestionDialog)
    return card


def allowed(questions: list[Any], answers: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"behavior": "allow", "updatedInput": {"questions": questions, "answers": answers, **more}}


def with_previews(options: int) -> dict[str, Any]:
    said = [{"label": f"Way {n}", "description": "What it costs", "preview": SQL} for n in range(options)]
    return {"question": "Which way?", "header": "Way", "multiSelect": False, "options": said}


def in_sight(widget: QWidget) -> bool:
    """Whether nothing of it is scrolled away."""
    return widget.isVisible() and widget.visibleRegion().boundingRect() == widget.rect()


def point_at(row: QWidget, place: QPoint) -> None:
    """What a row gets when a pointer at this place of the screen comes to be over it."""
    inside = QPointF(5, 5)
    QApplication.sendEvent(row, QEnterEvent(inside, inside, QPointF(place)))
    none = Qt.MouseButton.NoButton
    moved = QMouseEvent(
        QEvent.Type.MouseMove, inside, QPointF(place), none, none, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(row, moved)


class TestKeyboard:
    def test_a_digit_chooses_and_stays_and_ctrl_enter_sends(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("2")
        assert named(card, "option_0_1").isChecked()
        assert page.answers == []
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Blue"})]
        assert not card.isVisible()

    def test_another_digit_chooses_instead(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("2", "1")
        assert named(card, "option_0_0").isChecked()
        assert not named(card, "option_0_1").isChecked()

    def test_the_same_digit_twice_leaves_a_single_choice_chosen(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("2", "2")
        assert named(card, "option_0_1").isChecked()

    def test_a_digit_toggles_where_several_may_be_chosen(self, page: Page) -> None:
        card = put(page, FEATURES)
        press("1", "3", "1")
        assert [named(card, f"option_0_{j}").isChecked() for j in range(3)] == [False, False, True]

    def test_enter_goes_on_and_after_the_last_question_to_the_review(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        press("1", Qt.Key.Key_Return)
        assert named(card, "question_1").isVisible()
        press("1", "3", Qt.Key.Key_Return)
        assert named(card, "reviewPage").isVisible()
        assert page.answers == []
        press_ctrl_enter()
        answers = {DATABASE["question"]: "PostgreSQL", FEATURES["question"]: "Auth, Export"}
        assert page.answers == [allowed([DATABASE, FEATURES], answers)]

    def test_one_question_is_reviewed_too(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("1", Qt.Key.Key_Enter)
        assert named(card, "reviewPage").isVisible()

    def test_enter_pressed_once_too_often_does_not_send_what_nobody_has_looked_at(self, page: Page) -> None:
        put(page, COLOUR)
        press("1", Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Return)
        assert page.answers == []

    def test_enter_sends_from_the_review_once_it_was_there_to_be_read(
        self, page: Page, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(question_module, "QUIET_SECONDS", 0.0)
        put(page, COLOUR)
        press("1", Qt.Key.Key_Return, Qt.Key.Key_Return)
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"})]

    def test_arrows_move_without_choosing_and_space_toggles(self, page: Page) -> None:
        card = put(page, FEATURES)
        press(Qt.Key.Key_Down, Qt.Key.Key_Down)
        assert named(card, "option_0_2").hasFocus()
        assert not any(named(card, f"option_0_{j}").isChecked() for j in range(3))
        press(Qt.Key.Key_Space)
        assert named(card, "option_0_2").isChecked()
        press(Qt.Key.Key_Space)
        assert not named(card, "option_0_2").isChecked()

    def test_arrows_stop_at_both_ends(self, page: Page) -> None:
        card = put(page, COLOUR)
        press(Qt.Key.Key_Up)
        assert named(card, "option_0_0").hasFocus()
        press(Qt.Key.Key_End, Qt.Key.Key_Down)
        assert named(card, "other_0").hasFocus()

    def test_left_and_right_turn_the_pages(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        press(Qt.Key.Key_Right)
        assert named(card, "question_1").isVisible()
        press(Qt.Key.Key_Left)
        assert named(card, "question_0").isVisible()

    def test_escape_dismisses_with_a_deny_that_says_so(self, page: Page) -> None:
        put(page, COLOUR)
        press("1", Qt.Key.Key_Escape)
        assert page.answers == [DISMISSED]

    def test_digits_are_text_inside_a_text_field(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "12 blue")
        assert named(card, "otherText_0").text() == "12 blue"
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "12 blue"})]

    def test_a_digit_without_a_row_does_nothing(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("9")
        assert card.sheet.mark(0) == "open"

    def test_a_digit_with_control_is_not_an_answer(self, page: Page) -> None:
        card = put(page, COLOUR)
        press(Qt.Key.Key_1, modifiers=Qt.KeyboardModifier.ControlModifier)
        assert card.sheet.mark(0) == "open"

    def test_the_keypad_works_like_the_row_of_digits(self, page: Page) -> None:
        card = put(page, COLOUR)
        press(Qt.Key.Key_2, modifiers=Qt.KeyboardModifier.KeypadModifier)
        assert named(card, "option_0_1").isChecked()

    def test_everything_can_be_reached_with_tab_and_a_single_choice_is_one_stop(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        seen = set()
        for _ in range(40):
            focused = QApplication.focusWidget()
            assert focused is not None
            seen.add(focused.objectName())
            press(Qt.Key.Key_Tab)
        wanted = {"option_0_0", "dismissQuestions", "replyInstead", "skipQuestion",
                  "nextQuestion", "step_1", "stepReview", "moveOut", "addNote"}  # fmt: skip
        assert wanted <= seen, wanted - seen
        assert card.isVisible()


class TestMouse:
    def test_options_next_and_send_can_be_clicked(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        click(card, "option_0_1")
        click(card, "nextQuestion")
        click(card, "option_1_0")
        click(card, "option_1_1")
        click(card, "submitAnswers")
        answers = {DATABASE["question"]: "SQLite", FEATURES["question"]: "Auth, Search"}
        annotations = {DATABASE["question"]: {"preview": SQL}}
        assert page.answers == [allowed([DATABASE, FEATURES], answers, annotations=annotations)]

    def test_the_whole_row_can_be_clicked(self, page: Page) -> None:
        card = put(page, COLOUR)
        row = named(card, "option_0_1")
        QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=QPoint(row.width() - 12, row.height() - 12))
        assert row.isChecked()

    def test_a_chip_goes_to_its_question(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        click(card, "step_1")
        assert named(card, "question_1").isVisible()
        click(card, "stepReview")
        assert named(card, "reviewPage").isVisible()

    def test_the_review_leads_back_to_a_question(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        click(card, "stepReview")
        click(card, "change_1")
        assert named(card, "question_1").isVisible()


class TestSkipping:
    def test_a_skipped_question_has_no_key_in_the_answers(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        click(card, "skipQuestion")
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([DATABASE, FEATURES], {FEATURES["question"]: "Auth"})]

    def test_a_cli_that_knows_the_word_is_told_that_it_was_skipped(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES, capabilities=frozenset({"ask_user_question_unanswered_v1"}))
        click(card, "skipQuestion")
        press("1")
        press_ctrl_enter()
        annotations = {DATABASE["question"]: {"unanswered": "skipped"}}
        assert page.answers == [allowed([DATABASE, FEATURES], {FEATURES["question"]: "Auth"}, annotations=annotations)]

    def test_an_unanswered_question_stops_the_sending_and_says_why(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        press("1")
        press_ctrl_enter()
        assert page.answers == []
        assert named(card, "question_1").isVisible()
        assert named(card, "problem_1").text() == "Choose an answer, or skip this question."

    def test_when_all_is_skipped_dismissing_is_offered_and_no_empty_allow_is_sent(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        click(card, "skipQuestion")
        click(card, "skipQuestion")
        assert "Dismiss the questions instead" in named(card, "reviewProblem").text()
        assert not named(card, "submitAnswers").isEnabled()
        press_ctrl_enter()
        assert page.answers == []
        assert named(card, "dismissQuestions").hasFocus()
        press(Qt.Key.Key_Return)
        assert page.answers == [DISMISSED]

    def test_choosing_after_skipping_answers_after_all(self, page: Page) -> None:
        card = put(page, COLOUR)
        click(card, "skipQuestion")
        click(card, "step_0")
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"})]

    def test_chips_say_in_signs_and_words_where_a_question_stands(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        press("1")
        click(card, "step_1")
        click(card, "skipQuestion")
        assert named(card, "step_0").text() == "1 Database ✓"
        assert named(card, "step_0").accessibleName() == "1 Database: answered"
        assert named(card, "step_1").text() == "2 Features –"
        assert named(card, "step_1").accessibleName() == "2 Features: skipped"


class TestOther:
    def test_other_is_the_row_after_the_options_and_takes_the_cursor(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3")
        assert named(card, "other_0").isChecked()
        assert named(card, "otherText_0").hasFocus()

    def test_other_without_text_is_not_sent_and_a_sentence_says_why(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "   ")
        press_ctrl_enter()
        assert page.answers == []
        problem = named(card, "problem_0")
        assert problem.isVisible()
        assert problem.text() == "Write your answer first, or choose an option."

    def test_enter_stays_where_other_is_still_empty(self, page: Page) -> None:
        card = put(page, DATABASE, FEATURES)
        press("3", Qt.Key.Key_Return)
        assert named(card, "question_0").isVisible()
        assert named(card, "otherText_0").hasFocus()

    def test_writing_takes_the_sentence_away_again(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3")
        press_ctrl_enter()
        press("x")
        assert not named(card, "problem_0").isVisible()

    def test_free_text_joins_the_picks_where_several_may_be_chosen(self, page: Page) -> None:
        put(page, FEATURES)
        press("1", "4", "Import, from CSV")
        press_ctrl_enter()
        assert page.answers == [allowed([FEATURES], {FEATURES["question"]: 'Auth, "Import, from CSV"'})]

    def test_free_text_replaces_a_single_choice(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("1", "3", "Green")
        assert not named(card, "option_0_0").isChecked()
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Green"})]

    def test_text_is_kept_when_an_option_is_chosen_instead(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "Green")
        click(card, "option_0_0")
        assert card.typed() == "Green"
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"})]

    def test_a_label_that_is_literally_other_is_an_option_like_any(self, page: Page) -> None:
        other = {**COLOUR, "options": [{"label": "Red"}, {"label": "Other"}]}
        card = put(page, other)
        press("2")
        assert not named(card, "other_0").isChecked()
        press_ctrl_enter()
        assert page.answers == [allowed([other], {"Pick a colour?": "Other"})]

    def test_up_leaves_the_field_for_the_rows(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", Qt.Key.Key_Up)
        assert named(card, "option_0_1").hasFocus()

    def test_shift_enter_breaks_the_line_in_the_answer(self, page: Page) -> None:
        put(page, COLOUR)
        press("3", "one")
        press(Qt.Key.Key_Return, modifiers=Qt.KeyboardModifier.ShiftModifier)
        press("two")
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "one\ntwo"})]


class TestNotesAndPreviews:
    def test_a_note_goes_along_with_the_answer(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("1")
        click(card, "addNote")
        press("only on Mondays")
        press_ctrl_enter()
        annotations = {"Pick a colour?": {"notes": "only on Mondays"}}
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"}, annotations=annotations)]

    def test_the_preview_of_the_focused_option_is_shown(self, page: Page) -> None:
        card = put(page, DATABASE)
        press(Qt.Key.Key_Down)
        preview = named(card, "previewText")
        assert preview.isVisible()
        assert "CREATE TABLE entry" in preview.toPlainText()
        assert preview.accessibleName() == "Preview of “SQLite”"

    def test_an_option_without_a_preview_says_so(self, page: Page) -> None:
        card = put(page, DATABASE)
        press("1")
        assert named(card, "preview").accessibleName() == "“PostgreSQL” has no preview."

    def test_the_chosen_options_preview_is_shown_while_the_focus_is_elsewhere(self, page: Page) -> None:
        card = put(page, DATABASE)
        press("2")
        named(card, "skipQuestion").setFocus()
        settle()
        assert "CREATE TABLE" in named(card, "previewText").toPlainText()

    def test_other_has_no_preview_and_does_not_show_another_options(self, page: Page) -> None:
        card = put(page, DATABASE)
        press("3", "MySQL")
        assert named(card, "preview").accessibleName() == "Point at an option to see its preview."

    def test_the_pointed_at_options_preview_wins_over_the_focused_ones(self, page: Page) -> None:
        card = put(page, DATABASE)
        point_at(named(card, "option_0_1"), QCursor.pos() + QPoint(3, 0))
        assert "CREATE TABLE" in named(card, "previewText").toPlainText()
        QApplication.sendEvent(named(card, "option_0_1"), QEvent(QEvent.Type.Leave))
        assert named(card, "preview").accessibleName() == "“PostgreSQL” has no preview."

    @pytest.mark.parametrize("row", ["option_0_1", "other_0"])
    def test_a_pointer_that_rests_where_a_row_appears_leaves_the_focused_options_preview(
        self, page: Page, row: str
    ) -> None:
        card = put(page, DATABASE)
        point_at(named(card, row), QCursor.pos())
        assert named(card, "preview").accessibleName() == "“PostgreSQL” has no preview."
        point_at(named(card, row), QCursor.pos() + QPoint(0, 1))
        assert named(card, "preview").accessibleName() != "“PostgreSQL” has no preview."

    def test_a_pointer_that_rests_where_rows_scroll_by_leaves_the_focused_options_preview(self, page: Page) -> None:
        card = put(page, DATABASE)
        place = QCursor.pos() + QPoint(5, 5)
        point_at(named(card, "option_0_0"), place)
        press(Qt.Key.Key_Down)
        point_at(named(card, "other_0"), place)
        assert named(card, "preview").accessibleName() == "Preview of “SQLite”"

    def test_without_previews_there_is_no_panel(self, page: Page) -> None:
        card = put(page, COLOUR)
        assert not named(card, "preview").isVisible()

    def test_the_preview_stands_beside_the_options_and_under_them_when_narrow(self, qtbot: QtBot) -> None:
        wide_page, narrow_page = Page(qtbot, 900), Page(qtbot, 480)
        wide = put(wide_page, DATABASE)
        beside = named(wide, "preview").geometry()
        assert beside.left() > named(wide, "option_0_0").width()
        narrow = put(narrow_page, DATABASE)
        under = named(narrow, "preview").geometry()
        assert under.left() < 20
        assert under.top() > 60

    @pytest.mark.parametrize(("height", "options"), [(600, 2), (700, 2), (700, 4)])
    def test_in_a_narrow_window_all_options_are_in_sight_before_the_preview_gets_room(
        self, qtbot: QtBot, height: int, options: int
    ) -> None:
        window = Page(qtbot, 480, height)
        card = put(window, with_previews(options))
        assert [in_sight(row) for row in card.pages[0].rows] == [True] * (options + 1)
        assert card.pages[0].preview.height() >= theme.px(STRIP)

    def test_below_that_the_options_scroll_together_with_a_strip_of_the_preview(self, qtbot: QtBot) -> None:
        window = Page(qtbot, 480, 520)
        card = put(window, with_previews(4))
        page = card.pages[0]
        assert not in_sight(page.rows[-1])
        assert page.preview.height() == theme.px(STRIP)
        press(Qt.Key.Key_End)
        QTest.qWait(80)
        assert in_sight(page.rows[-1])
        press(Qt.Key.Key_Home, Qt.Key.Key_Tab)
        assert page.preview.prose.hasFocus()
        assert in_sight(page.preview.prose.viewport())

    def test_in_a_narrow_window_that_is_high_the_preview_is_whole(self, qtbot: QtBot) -> None:
        window = Page(qtbot, 480, 1000)
        card = put(window, with_previews(2))
        preview = card.pages[0].preview
        assert preview.prose.verticalScrollBar().maximum() == 0
        assert preview.height() > theme.px(STRIP)
        assert in_sight(preview)

    def test_of_more_options_than_can_be_in_sight_the_preview_stays_below_as_a_strip(self, qtbot: QtBot) -> None:
        window = Page(qtbot, 480, 700)
        card = put(window, with_previews(9))
        preview = card.pages[0].preview
        assert preview.height() == theme.px(STRIP)
        assert in_sight(preview)
        press(Qt.Key.Key_End, Qt.Key.Key_Up)
        QTest.qWait(80)
        assert in_sight(card.pages[0].rows[8])
        assert in_sight(preview)

    def test_the_preview_moves_with_the_width_and_keeps_the_focus(self, qtbot: QtBot) -> None:
        page = Page(qtbot, 900, 700)
        card = put(page, with_previews(2))
        prose = card.pages[0].preview.prose
        prose.setFocus()
        page.resize(480, 700)
        settle()
        assert prose.hasFocus()
        assert prose.mapTo(card, QPoint(0, 0)).y() > card.pages[0].rows[-1].mapTo(card, QPoint(0, 0)).y()
        page.resize(900, 700)
        settle()
        assert prose.hasFocus()
        assert prose.mapTo(card, QPoint(0, 0)).x() > card.pages[0].rows[-1].width()
        assert prose.height() > theme.px(STRIP)

    def test_html_in_a_preview_is_text(self, page: Page) -> None:
        tricky = {**COLOUR, "options": [{"label": "Red", "preview": "<img src='x'> <b>bold</b>"}, {"label": "Blue"}]}
        card = put(page, tricky)
        press("1")
        assert "<b>bold</b>" in named(card, "previewText").toPlainText()


class TestEnds:
    def test_dismissing_asks_inside_the_card_before_text_is_thrown_away(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "Green", Qt.Key.Key_Escape)
        assert page.answers == []
        assert named(card, "cardQuestion").isVisible()
        assert named(card, "keepWriting").hasFocus()
        press(Qt.Key.Key_Return)
        assert page.answers == []
        assert named(card, "otherText_0").hasFocus()
        press(Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Return)
        assert page.answers == [DISMISSED]

    def test_escape_answers_that_question_with_no(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "Green", Qt.Key.Key_Escape, Qt.Key.Key_Escape)
        assert page.answers == []
        assert card.isVisible()
        assert card.findChild(QWidget, "cardQuestion") is None or not named(card, "cardQuestion").isVisible()

    def test_the_button_dismisses_by_the_same_rules(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "Green")
        click(card, "dismissQuestions")
        assert page.answers == []
        click(card, "throwAway")
        assert page.answers == [DISMISSED]

    def test_a_reply_instead_is_a_deny_with_these_words(self, page: Page) -> None:
        card = put(page, COLOUR)
        click(card, "replyInstead")
        assert named(card, "replyText").hasFocus()
        press("Neither, 1 or 2.")
        press_ctrl_enter()
        assert page.answers == [{"behavior": "deny", "message": "Neither, 1 or 2."}]

    def test_the_reply_button_sends_once_there_is_a_reply(self, page: Page) -> None:
        card = put(page, COLOUR)
        click(card, "replyInstead")
        assert not named(card, "replyInstead").isEnabled()
        press("Look first.")
        click(card, "replyInstead")
        assert page.answers == [{"behavior": "deny", "message": "Look first."}]

    def test_escape_in_the_reply_goes_back_to_the_questions_and_keeps_it(self, page: Page) -> None:
        card = put(page, COLOUR)
        click(card, "replyInstead")
        press("Hm", Qt.Key.Key_Escape)
        assert named(card, "question_0").isVisible()
        assert page.answers == []
        assert card.typed() == "Hm"

    def test_a_message_of_the_composer_can_be_sent_as_the_reply(self, page: Page) -> None:
        card = put(page, COLOUR)
        card.send_reply("Use purple")
        assert page.answers == [{"behavior": "deny", "message": "Use purple"}]

    def test_only_the_first_answer_counts(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("1")
        press_ctrl_enter()
        card.refuse()
        card.submit()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"})]

    def test_a_withdrawn_request_closes_and_sends_nothing_and_keeps_what_was_typed(self, page: Page) -> None:
        card = put(page, COLOUR)
        press("3", "Green and gold")
        click(card, "addNote")
        press("a note")
        card.withdraw()
        assert not card.isVisible()
        assert page.answers == []
        assert card.typed() == "Green and gold\n\na note"
        card.submit()
        card.escape()
        assert page.answers == []

    def test_it_is_still_answerable_after_two_hours(self, page: Page) -> None:
        card = put(page, COLOUR, since=1000.0, clock=lambda: 1000.0 + 7205)
        assert card.waiting.text() == "Claude asks · waiting 2:00:05"
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([COLOUR], {"Pick a colour?": "Red"})]


class TestContents:
    def test_html_and_ampersands_in_labels_are_plain_text(self, page: Page) -> None:
        tricky = {**COLOUR, "question": "<b>Which</b> & why?", "header": "<i>&x</i>",
                  "options": [{"label": "<u>A</u> & B", "description": "<script>"}, {"label": "C"}]}  # fmt: skip
        card = put(page, tricky)
        assert named(card, "option_0_0").text() == "<u>A</u> & B"
        assert named(card, "option_0_0").accessibleName() == "<u>A</u> & B"
        assert named(card, "step_0").text() == "1 <i>&&x</i>"
        labels = [label for label in card.findChildren(QLabel) if label.text() == "<b>Which</b> & why?"]
        assert labels
        assert all(label.textFormat() == Qt.TextFormat.PlainText for label in card.findChildren(QLabel))
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([tricky], {"<b>Which</b> & why?": "<u>A</u> & B"})]

    def test_a_header_of_44_characters_is_elided_and_whole_in_the_tooltip(self, page: Page) -> None:
        header = "How far may the change of the suite now go??"
        assert len(header) == 44
        card = put(page, {**COLOUR, "header": header})
        chip = named(card, "step_0")
        assert chip.text().endswith("…")
        assert header in chip.toolTip()
        assert chip.width() < 200

    def test_hidden_characters_are_made_visible_and_the_label_is_sent_as_it_came(self, page: Page) -> None:
        tricky = {**COLOUR, "options": [{"label": "a\u202eb", "description": "c\u200bd"}, {"label": "e"}]}
        card = put(page, tricky)
        assert named(card, "option_0_0").text() == "a⟨U+202E⟩b"
        assert named(card, "option_0_0").description() == "c⟨U+200B⟩d"
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([tricky], {"Pick a colour?": "a\u202eb"})]

    def test_nine_options_and_more_scroll_and_all_can_be_chosen(self, page: Page) -> None:
        many = {**COLOUR, "options": [{"label": f"Colour {number}", "description": "d" * 200} for number in range(14)]}
        card = put(page, many)
        press("9")
        assert named(card, "option_0_8").isChecked()
        press(*[Qt.Key.Key_Down] * 5, Qt.Key.Key_Space)
        row = named(card, "option_0_13")
        assert row.isChecked()
        QTest.qWait(80)
        top = row.mapTo(card, QPoint(0, 0)).y()
        assert card.height() < page.height()
        assert 0 < top < card.height() - row.height()
        press_ctrl_enter()
        assert page.answers == [allowed([many], {"Pick a colour?": "Colour 13"})]

    def test_without_options_there_is_only_free_text(self, page: Page) -> None:
        free = {"question": "What should it be called?", "header": "Name", "options": []}
        card = put(page, free)
        assert named(card, "otherText_0").hasFocus()
        assert card.findChild(QAbstractButton, "other_0") is None
        press_ctrl_enter()
        assert named(card, "problem_0").text() == "Choose an answer, or skip this question."
        press("Ledger")
        press_ctrl_enter()
        assert page.answers == [allowed([free], {"What should it be called?": "Ledger"})]

    def test_options_that_are_bare_strings_can_be_chosen(self, page: Page) -> None:
        bare = {"question": "Which?", "header": "W", "options": ["A", "B"]}
        put(page, bare)
        press("2")
        press_ctrl_enter()
        assert page.answers == [allowed([bare], {"Which?": "B"})]

    def test_labels_with_commas_can_be_told_apart_at_the_other_end(self, page: Page) -> None:
        commas = {**FEATURES, "options": [{"label": "a, b"}, {"label": "a"}, {"label": "b"}]}
        put(page, commas)
        press("1", "3")
        press_ctrl_enter()
        assert page.answers == [allowed([commas], {FEATURES["question"]: '"a, b", b'})]

    def test_long_texts_wrap_and_make_the_card_higher_until_it_scrolls(self, page: Page) -> None:
        short = put(page, COLOUR)
        height = short.height()
        short.withdraw()
        long = put(page, {**COLOUR, "question": "Why? " * 300, "options": [{"label": "l" * 400}, {"label": "m"}]})
        assert height < long.height() < page.height()
        assert long.width() <= page.width()

    def test_a_label_of_100000_characters_is_shortened_on_the_screen_and_sent_whole(self, page: Page) -> None:
        label = "x" * 100_000
        huge = {**COLOUR, "options": [{"label": label}, {"label": "Blue"}]}
        card = put(page, huge)
        assert named(card, "option_0_0").text() == "x" * 2000 + "… (98000 more characters)"
        press("1")
        press_ctrl_enter()
        assert page.answers == [allowed([huge], {"Pick a colour?": label})]

    def test_four_questions_are_answered_in_their_order(self, page: Page) -> None:
        four = [{**COLOUR, "question": f"Question {number}?"} for number in range(4)]
        put(page, *four)
        press("1", Qt.Key.Key_Return, "2", Qt.Key.Key_Return, "1", Qt.Key.Key_Return, "2")
        press_ctrl_enter()
        answers = {"Question 0?": "Red", "Question 1?": "Blue", "Question 2?": "Red", "Question 3?": "Blue"}
        assert page.answers == [allowed(four, answers)]


@pytest.mark.parametrize(
    ("given", "problem"),
    [({}, "needs a list"), ({"questions": []}, "empty"), ({"questions": [COLOUR, COLOUR]}, "same text")],
)
def test_unusable_questions_are_refused_with_what_was_wrong(page: Page, given: dict[str, Any], problem: str) -> None:
    card: RequestDialog = page.put({**ask(), "input": given})
    assert card.objectName() == "unknownDialog"
    assert [b.objectName() for b in card.findChildren(QPushButton) if b.isVisible()] == ["refuse"]
    click(card, "refuse")
    [answer] = page.answers
    assert answer["behavior"] == "deny"
    assert problem in answer["message"]


def test_a_text_field_grows_with_its_text(page: Page) -> None:
    card = put(page, COLOUR)
    press("3")
    field = named(card, "otherText_0")
    assert isinstance(field, WritingField)
    before = field.height()
    field.setText("\n".join("line" for _ in range(4)))
    settle()
    assert field.height() > before
    row = named(card, "other_0")
    assert row.height() > field.height() + 40
