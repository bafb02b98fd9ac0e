"""What every request dialog has in common: the guard against accidents, moving out, the header, withdrawal."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QInputMethodEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from desktop import theme
from desktop.dialogs.card import SHADOW
from desktop.dialogs.guard import is_being_written
from desktop.durations import elapsed
from tests.helpers.cards import Page, settle
from tests.helpers.dialog_gallery import CASES
from tests.helpers.hands import click, named, press, press_ctrl_enter
from tests.helpers.requests import COLOUR, DATABASE, FEATURES, ask, dialog, tool

BASH = tool("Bash", {"command": "touch a"})


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


class TestGuard:
    def test_a_card_takes_the_focus_of_an_empty_composer(self, page: Page) -> None:
        card = page.put(ask(COLOUR))
        assert named(card, "option_0_0").hasFocus()

    def test_a_card_leaves_the_focus_in_a_composer_that_holds_text(self, page: Page) -> None:
        press("Also che")
        card = page.put(ask(COLOUR))
        press("ck 1 and 2")
        press(Qt.Key.Key_Return)
        assert page.composer.toPlainText() == "Also check 1 and 2\n"
        assert card.isVisible()
        assert page.answers == []

    def test_a_card_leaves_the_focus_where_an_input_method_is_composing(self, page: Page) -> None:
        QApplication.sendEvent(page.composer, QInputMethodEvent("ㄓㄨ", []))
        page.put(ask(COLOUR))
        assert page.composer.hasFocus()

    def test_keys_that_reach_it_in_the_first_moment_are_no_answers_if_the_person_was_writing(
        self, page: Page
    ) -> None:
        press("draft")
        card = page.put(ask(COLOUR))
        row = named(card, "option_0_0")
        for key in (Qt.Key.Key_1, Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Escape):
            QTest.keyClick(row, key)
        assert not row.isChecked()
        assert named(card, "question_0").isVisible()
        assert page.answers == []
        QTest.qWait(500)
        QTest.keyClick(row, Qt.Key.Key_1)
        assert row.isChecked()

    def test_a_text_field_that_is_read_only_or_empty_is_not_being_written(self, page: Page) -> None:
        assert not is_being_written(page.composer)
        page.composer.setPlainText("x")
        assert is_being_written(page.composer)
        page.composer.setReadOnly(True)
        assert not is_being_written(page.composer)
        assert not is_being_written(None)

    def test_the_focus_is_taken_when_the_person_asks_for_it(self, page: Page) -> None:
        press("draft")
        card = page.put(ask(COLOUR))
        card.take_focus()
        settle()
        assert named(card, "option_0_0").hasFocus()

    def test_a_click_that_was_under_way_before_the_button_was_there_allows_nothing(self, page: Page) -> None:
        card = page.put(BASH)
        button = named(card, "allowOnce")
        middle = button.mapToGlobal(button.rect().center())
        card.hide()
        QCursor.setPos(middle)
        card.show()
        _click_at(button, middle)
        assert page.answers == []
        QTest.qWait(450)
        _click_at(button, middle)
        assert len(page.answers) == 1

    def test_a_click_with_the_pointer_coming_from_elsewhere_counts_at_once(self, page: Page) -> None:
        QCursor.setPos(page.mapToGlobal(QPoint(3, 3)))
        card = page.put(BASH)
        button = named(card, "allowOnce")
        _click_at(button, button.mapToGlobal(button.rect().center()))
        assert len(page.answers) == 1


def _click_at(button: QAbstractButton, where: QPoint) -> None:
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
        local = QPointF(button.mapFromGlobal(where))
        held = Qt.MouseButton.LeftButton if kind == QEvent.Type.MouseButtonPress else Qt.MouseButton.NoButton
        event = QMouseEvent(
            kind, local, QPointF(where), Qt.MouseButton.LeftButton, held, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(button, event)


class TestHeader:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(-5, "0:00"), (0, "0:00"), (42.9, "0:42"), (725, "12:05"), (7207, "2:00:07"), (360000, "100:00:00")],
    )
    def test_a_waiting_time_reads_like_a_clock(self, seconds: float, text: str) -> None:
        assert elapsed(seconds) == text

    def test_the_header_counts_the_seconds(self, page: Page) -> None:
        now = [1000.0]
        card = page.put(ask(COLOUR), since=958.0, clock=lambda: now[0])
        assert card.waiting.text() == "Claude asks · waiting 0:42"
        now[0] += 1
        QTest.qWait(1200)
        assert card.waiting.text() == "Claude asks · waiting 0:43"

    def test_a_subagent_is_named(self, page: Page) -> None:
        card = page.put(ask(COLOUR), since=5.0, clock=lambda: 5.0, agent="explore <b>")
        assert card.waiting.text() == "Subagent “explore <b>” asks · waiting 0:00"

    def test_the_place_in_the_queue_is_shown(self, page: Page) -> None:
        card = page.put(ask(COLOUR), since=5.0, clock=lambda: 5.0, many="1 of 3")
        assert card.waiting.text() == "1 of 3 · Claude asks · waiting 0:00"


class TestMovingOut:
    def test_a_card_becomes_a_window_of_its_own_and_a_notice_keeps_its_place(self, qtbot: QtBot, page: Page) -> None:
        card = page.put(ask(COLOUR), conversation_title="Move the ledger", since=5.0, clock=lambda: 5.0)
        moves: list[bool] = []
        card.moved_out.connect(moves.append)
        press("2")
        click(card, "moveOut")
        assert card.isWindow()
        assert card.isVisible()
        assert card.windowTitle() == "Move the ledger"
        assert card.waiting.text().startswith("Move the ledger · Claude asks")
        assert named(page, "movedOutNotice").isVisible()
        assert named(card, "option_0_1").isChecked()
        click(page, "bringBack")
        assert not card.isWindow()
        assert card.isVisible()
        assert named(card, "option_0_1").isChecked()
        assert moves == [True, False]
        qtbot.waitUntil(named(card, "option_0_1").hasFocus)
        press_ctrl_enter()
        assert len(page.answers) == 1

    def test_closing_the_window_decides_nothing_and_brings_the_card_back(self, page: Page) -> None:
        card = page.put(BASH)
        card.move_out()
        card.close()
        settle()
        assert page.answers == []
        assert card.isVisible()
        assert not card.isWindow()

    def test_the_window_stands_where_the_card_stood(self, page: Page) -> None:
        page.move(200, 100)
        card = page.put(BASH)
        corner = card.mapToGlobal(QPoint(0, 0))
        card.move_out()
        settle()
        assert card.pos() == corner
        assert corner.y() > 100
        card.withdraw()
        settle()

    def test_an_answer_in_the_window_closes_it_and_takes_the_notice_away(self, page: Page) -> None:
        card = page.put(BASH)
        card.move_out()
        settle()
        click(card, "deny")
        assert len(page.answers) == 1
        assert not card.isVisible()
        settle()
        assert not [w for w in page.findChildren(QWidget, "movedOutNotice") if w.isVisible()]

    def test_a_withdrawn_window_goes_away(self, page: Page) -> None:
        card = page.put(BASH)
        card.move_out()
        card.withdraw()
        settle()
        assert not card.isVisible()
        assert page.answers == []

    def test_its_button_says_what_it_does(self, page: Page) -> None:
        card = page.put(BASH)
        assert card.move_button.accessibleName() == "Move out into a window of its own"
        card.move_out()
        assert card.move_button.accessibleName() == "Move back into the conversation"
        card.move_back()


class TestSize:
    def test_the_card_has_the_width_of_the_column(self, page: Page) -> None:
        card = page.put(ask(COLOUR))
        assert card.width() == theme.column_width() + 2 * SHADOW

    def test_a_small_window_gets_a_small_card_that_scrolls(self, qtbot: QtBot) -> None:
        small = Page(qtbot, 480, 600)
        card = small.put(ask(DATABASE, FEATURES))
        assert card.width() <= 480
        assert card.height() <= 600
        submit = named(card, "nextQuestion")
        assert card.rect().contains(submit.mapTo(card, submit.rect().bottomRight()))

    def test_the_card_grows_and_shrinks_with_its_page(self, page: Page) -> None:
        card = page.put(ask(DATABASE, FEATURES))
        question = card.height()
        press("1", Qt.Key.Key_Right, "1", Qt.Key.Key_Right)
        QTest.qWait(30)
        assert named(card, "reviewPage").isVisible()
        assert card.height() < question


@pytest.mark.parametrize("name", CASES)
class TestEveryKind:
    def test_it_is_not_modal_and_nothing_in_it_is_a_default_button(self, page: Page, name: str) -> None:
        card = page.put(CASES[name][0])
        assert isinstance(card, QDialog)
        assert not card.isModal()
        for button in card.findChildren(QPushButton):
            assert not button.isDefault()
            assert not button.autoDefault()

    def test_enter_alone_never_allows_and_escape_refuses(self, page: Page, name: str) -> None:
        card = page.put(CASES[name][0])
        press(Qt.Key.Key_Return)
        assert [answer for answer in page.answers if _allows(answer)] == []
        if not card.is_over:
            press(Qt.Key.Key_Escape)
        [answer] = page.answers
        assert not _allows(answer)

    def test_every_button_has_words_for_those_who_cannot_see_it(self, page: Page, name: str) -> None:
        card = page.put(CASES[name][0])
        for button in card.findChildren(QAbstractButton):
            if button.isVisible():
                assert button.accessibleName().strip(), button.objectName()

    def test_withdrawing_it_sends_nothing(self, page: Page, name: str) -> None:
        card = page.put(CASES[name][0])
        card.withdraw()
        assert page.answers == []
        assert not card.isVisible()
        assert card.is_over


def _allows(answer: dict[str, Any]) -> bool:
    return answer.get("behavior") == "allow" or answer.get("action") == "accept"


def test_a_dialog_works_without_a_host(qtbot: QtBot) -> None:
    card = dialog(ask(COLOUR))
    qtbot.addWidget(card)
    answers: list[Any] = []
    card.decided.connect(answers.append)
    card.show()
    card.move_out()
    assert not card.is_moved_out
    QTest.keyClick(card, Qt.Key.Key_Escape)
    assert len(answers) == 1
