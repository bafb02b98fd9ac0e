"""The plan dialog: what is approved, in which mode, and what Claude hears when planning goes on."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from pytestqt.qtbot import QtBot

from tests.helpers.cards import Page
from tests.helpers.dialog_gallery import PLAN
from tests.helpers.hands import click, named, press, press_ctrl_enter
from tests.helpers.requests import tool

KEEP = "The user wants to keep planning. Do not start yet."


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def plan(given: dict[str, Any] | None = None) -> dict[str, Any]:
    return tool("ExitPlanMode", {"plan": PLAN} if given is None else given, requires_user_interaction=True)


def test_the_plan_is_shown_as_markdown(page: Page) -> None:
    card = page.put(plan())
    text = named(card, "planText").toPlainText()
    assert "Move the ledger to its own database" in text
    assert "**" not in text
    assert "```" not in text


def test_a_plan_that_the_request_lacks_comes_from_the_conversation(page: Page) -> None:
    card = page.put(plan({}), plan="Only *here*")
    assert named(card, "planText").toPlainText() == "Only here"


def test_a_plan_without_any_text_says_so(page: Page) -> None:
    card = page.put(plan({}))
    assert "no text with this plan" in named(card, "planText").toPlainText()


def test_approving_and_asking_before_each_edit_is_a_plain_allow(page: Page) -> None:
    card = page.put(plan())
    click(card, "approveAskEach")
    assert page.answers == [{"behavior": "allow", "updatedInput": {"plan": PLAN}}]


def test_approving_and_accepting_edits_sets_the_mode_for_this_session(page: Page) -> None:
    card = page.put(plan())
    click(card, "approveAcceptEdits")
    update = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert page.answers == [{"behavior": "allow", "updatedInput": {"plan": PLAN}, "updatedPermissions": [update]}]


def test_an_empty_input_is_sent_back_empty(page: Page) -> None:
    card = page.put(plan({}), plan=PLAN)
    click(card, "approveAskEach")
    assert page.answers == [{"behavior": "allow", "updatedInput": {}}]


def test_keeping_on_planning_sends_the_feedback(page: Page) -> None:
    card = page.put(plan())
    named(card, "planFeedback").setFocus()
    press("Smaller steps")
    assert named(card, "keepPlanning").property("role") == "primary"
    click(card, "keepPlanning")
    assert page.answers == [{"behavior": "deny", "message": "Smaller steps"}]


def test_enter_in_the_feedback_keeps_planning_with_it(page: Page) -> None:
    card = page.put(plan())
    named(card, "planFeedback").setFocus()
    press("Smaller steps", Qt.Key.Key_Return)
    assert page.answers == [{"behavior": "deny", "message": "Smaller steps"}]


def test_keeping_on_planning_without_feedback_says_that_much(page: Page) -> None:
    card = page.put(plan())
    click(card, "keepPlanning")
    assert page.answers == [{"behavior": "deny", "message": KEEP}]


def test_escape_keeps_planning_and_asks_first_when_feedback_is_written(page: Page) -> None:
    card = page.put(plan())
    named(card, "planFeedback").setFocus()
    press("Hm", Qt.Key.Key_Escape)
    assert page.answers == []
    click(card, "throwAway")
    assert page.answers == [{"behavior": "deny", "message": "Hm"}]


def test_approving_with_feedback_asks_first_since_it_would_be_lost(page: Page) -> None:
    card = page.put(plan())
    named(card, "planFeedback").setFocus()
    press("but slowly")
    click(card, "approveAskEach")
    assert page.answers == []
    click(card, "keepWriting")
    assert named(card, "planFeedback").text() == "but slowly"
    click(card, "approveAskEach")
    click(card, "throwAway")
    assert page.answers == [{"behavior": "allow", "updatedInput": {"plan": PLAN}}]


def test_the_focus_is_on_the_plan_and_keys_approve_nothing(page: Page) -> None:
    card = page.put(plan())
    assert named(card, "planText").hasFocus()
    press(Qt.Key.Key_Return, Qt.Key.Key_Space, "1")
    press_ctrl_enter()
    assert page.answers == []


def test_a_link_to_a_file_is_handed_to_the_host_and_never_opened_here(page: Page) -> None:
    card = page.put(plan({"plan": "See [the model](ledger/models.py)"}))
    links: list[str] = []
    card.file_link.connect(links.append)
    named(card, "planText").anchorClicked.emit(QUrl("ledger/models.py"))
    assert links == ["ledger/models.py"]


def test_a_long_plan_scrolls_and_the_buttons_stay_in_sight(page: Page) -> None:
    card = page.put(plan({"plan": "\n\n".join(f"Step {number}" for number in range(300))}))
    assert named(card, "planText").verticalScrollBar().maximum() > 0
    assert "Step 299" in named(card, "planText").toPlainText()
    button = named(card, "approveAskEach")
    assert card.rect().contains(button.mapTo(card, button.rect().bottomRight()))
