"""What assistive tools learn from the dialogs: roles, names and states of what can be chosen and pressed."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.cards import Page
from tests.helpers.dialog_gallery import BASH
from tests.helpers.hands import named, press
from tests.helpers.requests import COLOUR, FEATURES, ask, tool


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def seen(root: QWidget, name: str) -> QAccessibleInterface:
    interface = QAccessible.queryAccessibleInterface(named(root, name))
    assert interface is not None
    return interface


def name_of(interface: QAccessibleInterface) -> str:
    return interface.text(QAccessible.Text.Name)


def test_options_are_radio_buttons_with_their_label_description_and_state(page: Page) -> None:
    card = page.put(ask(COLOUR))
    option = seen(card, "option_0_1")
    assert option.role() == QAccessible.Role.RadioButton
    assert name_of(option) == "Blue"
    assert option.text(QAccessible.Text.Description) == "Cool"
    assert option.state().checkable
    assert not option.state().checked
    press("2")
    assert option.state().checked
    assert option.state().focused
    assert not seen(card, "option_0_0").state().checked


def test_options_of_which_several_may_be_chosen_are_check_boxes(page: Page) -> None:
    card = page.put(ask(FEATURES))
    press("1", "3")
    assert [seen(card, f"option_0_{j}").role() for j in range(3)] == [QAccessible.Role.CheckBox] * 3
    assert [bool(seen(card, f"option_0_{j}").state().checked) for j in range(3)] == [True, False, True]


def test_an_option_can_be_chosen_through_the_accessibility_interface(page: Page) -> None:
    card = page.put(ask(COLOUR))
    action = seen(card, "option_0_0").actionInterface()
    assert action is not None
    action.doAction(action.toggleAction() if action.toggleAction() in action.actionNames() else action.pressAction())
    assert named(card, "option_0_0").isChecked()
    assert card.sheet.chosen(0) == (0,)  # type: ignore[attr-defined]


def test_other_and_its_field_have_names(page: Page) -> None:
    card = page.put(ask(COLOUR))
    assert name_of(seen(card, "other_0")) == "Other…"
    press("3")
    field = seen(card, "otherText_0")
    assert field.role() == QAccessible.Role.EditableText
    assert name_of(field) == "Your own answer"


def test_a_question_page_is_named_after_its_question(page: Page) -> None:
    card = page.put(ask(COLOUR))
    assert name_of(seen(card, "question_0")) == "Pick a colour?"
    assert name_of(QAccessible.queryAccessibleInterface(card)) == "Claude asks"


def test_the_buttons_of_a_permission_say_their_whole_scope(page: Page) -> None:
    card = page.put(BASH)
    for number in range(3):
        row = seen(card, f"allowAlways_{number}")
        assert row.role() == QAccessible.Role.Button
        assert len(name_of(row)) > 40
    assert name_of(seen(card, "allowOnce")) == "Allow once"
    assert name_of(QAccessible.queryAccessibleInterface(card)) == "Let Claude run this command?"


def test_what_would_run_can_be_read_through_the_accessibility_interface(page: Page) -> None:
    card = page.put(tool("Bash", {"command": "touch a"}))
    detail = seen(card, "permissionDetail")
    assert name_of(detail) == "What would run"
    text = detail.textInterface()
    assert text is not None
    assert text.text(0, text.characterCount()) == "touch a"


def test_a_problem_of_a_field_is_its_description(page: Page) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    card = page.put({"subtype": "elicitation", "mode": "form", "requested_schema": schema})
    card.submit_pressed()
    assert seen(card, "field_n").text(QAccessible.Text.Description) == "Please fill this in."
