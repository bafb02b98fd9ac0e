"""The elicitation dialog: an MCP server's form, its checks, and its pages."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from desktop.dialogs.elicitation import is_web_address
from tests.helpers.cards import Page, settle
from tests.helpers.dialog_gallery import FULL_FORM
from tests.helpers.hands import click, named, press, press_ctrl_enter


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def form(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return {"subtype": "elicitation", "mcp_server_name": "deployer", "message": "Where to?", "mode": "form",
            "requested_schema": schema, **more}  # fmt: skip


def url(address: str) -> dict[str, Any]:
    return {"subtype": "elicitation", "mcp_server_name": "deployer", "message": "Sign in", "mode": "url",
            "url": address}  # fmt: skip


def test_a_form_is_filled_in_and_sent_by_keyboard_alone(page: Page) -> None:
    card = page.put(FULL_FORM)
    assert named(card, "field_email").hasFocus()
    press("me@example.com", Qt.Key.Key_Return)
    press(Qt.Key.Key_Down, Qt.Key.Key_Tab)
    press(Qt.Key.Key_A, modifiers=Qt.KeyboardModifier.ControlModifier)
    press("3", Qt.Key.Key_Tab, Qt.Key.Key_Space, Qt.Key.Key_Tab, Qt.Key.Key_Down, Qt.Key.Key_Space)
    press_ctrl_enter()
    content = {"email": "me@example.com", "region": "eu", "replicas": 3, "notify": True, "parts": ["worker"]}
    assert page.answers == [{"action": "accept", "content": content}]


def test_what_is_wrong_is_said_beside_each_field_and_nothing_is_sent(page: Page) -> None:
    card = page.put(FULL_FORM)
    press("nobody")
    press_ctrl_enter()
    assert page.answers == []
    assert named(card, "problem_email").text().startswith("Please write an e-mail address")
    assert named(card, "problem_region").text() == "Please fill this in."
    assert named(card, "field_email").hasFocus()
    assert named(card, "field_email").accessibleDescription().startswith("Please write an e-mail address")


def test_a_mended_field_takes_its_sentence_back(page: Page) -> None:
    card = page.put(FULL_FORM)
    press("nobody")
    click(card, "accept")
    named(card, "field_email").setText("nobody@example.com")
    assert not named(card, "problem_email").isVisible()


def test_optional_fields_that_were_left_alone_have_no_key(page: Page) -> None:
    card = page.put(form({"name": {"type": "string"}, "loud": {"type": "boolean"}, "n": {"type": "integer"}}))
    click(card, "accept")
    assert page.answers == [{"action": "accept", "content": {}}]


def test_a_yes_or_no_that_was_touched_is_sent_also_when_it_is_no(page: Page) -> None:
    card = page.put(form({"loud": {"type": "boolean"}}))
    click(card, "field_loud")
    click(card, "field_loud")
    click(card, "accept")
    assert page.answers == [{"action": "accept", "content": {"loud": False}}]


def test_defaults_are_filled_in(page: Page) -> None:
    properties = {"a": {"type": "string", "default": "x"}, "b": {"enum": [1, 2], "default": 2},
                  "c": {"type": "boolean", "default": True},
                  "d": {"type": "array", "items": {"enum": ["p", "q"]}, "default": ["q"]}}  # fmt: skip
    card = page.put(form(properties))
    click(card, "accept")
    assert page.answers == [{"action": "accept", "content": {"a": "x", "b": 2, "c": True, "d": ["q"]}}]


def test_a_field_of_no_known_kind_is_asked_for_as_json(page: Page) -> None:
    card = page.put(form({"extra": {"type": "object"}}, ["extra"]))
    named(card, "field_extra").setText("{not json")
    click(card, "accept")
    assert named(card, "problem_extra").text().startswith("Please write a JSON value")
    named(card, "field_extra").setText('{"a": [1, 2]}')
    click(card, "accept")
    assert page.answers == [{"action": "accept", "content": {"extra": {"a": [1, 2]}}}]


def test_decline_says_no(page: Page) -> None:
    card = page.put(FULL_FORM)
    click(card, "decline")
    assert page.answers == [{"action": "decline"}]


def test_escape_cancels_and_asks_first_when_something_was_written(page: Page) -> None:
    card = page.put(FULL_FORM)
    press("me@", Qt.Key.Key_Escape)
    assert page.answers == []
    click(card, "throwAway")
    assert page.answers == [{"action": "cancel"}]


def test_a_default_that_nobody_wrote_is_not_recovered_as_typed(page: Page) -> None:
    card = page.put(FULL_FORM)
    assert card.typed() == ""
    press("me@example.com")
    assert card.typed() == "me@example.com"
    card.withdraw()
    assert card.typed() == "me@example.com"
    assert page.answers == []


def test_texts_of_a_server_are_plain_and_hidden_characters_visible(page: Page) -> None:
    card = page.put(form({"n": {"type": "string", "title": "a\u202eb", "description": "<b>x</b>"}}))
    field = named(card, "field_n")
    assert isinstance(field, QLineEdit)
    assert field.accessibleName() == "a⟨U+202E⟩b"
    assert field.accessibleDescription() == "<b>x</b>"


def test_a_form_without_fields_can_still_be_answered(page: Page) -> None:
    card = page.put(form({}))
    assert named(card, "decline").hasFocus()
    click(card, "accept")
    assert page.answers == [{"action": "accept", "content": {}}]


class TestPages:
    def test_the_whole_address_is_shown_and_opened_only_on_a_click(self, page: Page) -> None:
        address = "https://login.example.com/authorize?state=" + "x" * 500
        card = page.put(url(address))
        wanted: list[str] = []
        card.page_wanted.connect(wanted.append)
        assert named(card, "elicitationUrl").toPlainText() == address
        settle()
        assert wanted == []
        click(card, "openUrl")
        assert wanted == [address]
        assert page.answers == []
        click(card, "accept")
        assert page.answers == [{"action": "accept"}]

    @pytest.mark.parametrize(
        "address",
        ["file:///etc/passwd", "javascript:alert(1)", "vscode://x", "", "https://", "https://a b", "https://a\u202eb",
         "http://[broken"],
    )  # fmt: skip
    def test_an_address_that_is_none_of_the_web_has_no_button(self, page: Page, address: str) -> None:
        assert not is_web_address(address)
        card = page.put(url(address))
        assert card.findChild(QPushButton, "openUrl") is None
        click(card, "decline")
        assert page.answers == [{"action": "decline"}]

    def test_ctrl_enter_does_not_claim_that_a_page_was_visited(self, page: Page) -> None:
        page.put(url("https://example.com"))
        press_ctrl_enter()
        assert page.answers == []
