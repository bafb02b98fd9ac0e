"""The dialogs speak the person's language, down to the scope of a suggestion."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.dialogs import permission_view
from desktop.translations import load_catalogue, set_language
from protocol.permissions import PROBLEM_TEMPLATES, TEMPLATES
from tests.helpers.cards import Page
from tests.helpers.dialog_gallery import BASH, FULL_FORM
from tests.helpers.hands import click, named
from tests.helpers.requests import COLOUR, ask


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    set_language("zh_TW")
    yield
    set_language("en")


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def test_every_scope_and_every_problem_of_the_protocol_is_translated() -> None:
    catalogue = load_catalogue("zh_TW")
    assert [text for text in (*TEMPLATES, *PROBLEM_TEMPLATES) if text not in catalogue] == []


def test_every_sentence_of_a_permission_is_translated() -> None:
    catalogue = load_catalogue("zh_TW")
    tree = ast.parse(Path(permission_view.__file__).read_text(encoding="utf-8"))
    texts = [
        part.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sentence"
        for part in ast.walk(node.args[0])
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value != "Write"
    ]
    assert len(texts) > 10
    assert [text for text in texts if text not in catalogue] == []


def test_a_suggestion_says_its_scope_in_chinese_and_keeps_the_rule_as_it_is(page: Page) -> None:
    card = page.put(BASH)
    expected = (
        "在這個專案中，為你一律允許「Bash(touch /home/user/zzz && echo hello)」（存於 .claude/settings.local.json）"
    )
    assert named(card, "allowAlways_0").text() == expected
    assert named(card, "allowOnce").text() == "允許這一次"


def test_a_question_has_chinese_buttons_and_the_models_own_words(page: Page) -> None:
    card = page.put(ask(COLOUR))
    assert named(card, "dismissQuestions").text() == "不回答"
    assert named(card, "other_0").text() == "其他…"
    assert named(card, "option_0_0").text() == "Red"


def test_a_problem_in_a_form_is_said_in_chinese(page: Page) -> None:
    card = page.put(FULL_FORM)
    click(card, "accept")
    problem = named(card, "problem_email")
    assert isinstance(problem, QLabel)
    assert problem.text() == "請填寫這一欄。"
