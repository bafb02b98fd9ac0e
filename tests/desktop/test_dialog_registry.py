"""From a request to its dialog."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop.dialogs.base import DialogContext
from desktop.dialogs.question import QuestionDialog
from desktop.dialogs.registry import dialog_for
from protocol.conversation import PendingRequest
from protocol.messages import CanUseTool
from protocol.messages.control import parse_request
from tests.helpers.cards import Page
from tests.helpers.hands import click, named
from tests.helpers.recordings import RECORDINGS, load
from tests.helpers.requests import COLOUR, ask, dialog, pending, tool


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (ask(COLOUR), "questionDialog"),
        (tool("ExitPlanMode", {}), "planDialog"),
        (tool("Bash", {"command": "ls"}), "permissionDialog"),
        (tool("", {}), "permissionDialog"),
        ({"subtype": "elicitation"}, "elicitationDialog"),
        ({"subtype": "can_use_tool"}, "unknownDialog"),
        ({"subtype": "teleport"}, "unknownDialog"),
        (tool("AskUserQuestion", {}), "unknownDialog"),
    ],
)
def test_each_request_has_its_dialog(qtbot: QtBot, request_: dict[str, Any], name: str) -> None:
    card = dialog(request_)
    qtbot.addWidget(card)
    assert card.objectName() == name


@pytest.mark.parametrize("kind", ["permission", "question", "unknown", "plan"])
def test_questions_are_asked_whatever_kind_they_were_filed_under(qtbot: QtBot, kind: Any) -> None:
    suggestion = {"type": "addRules", "rules": [{"toolName": "AskUserQuestion"}], "behavior": "allow",
                  "destination": "session"}  # fmt: skip
    request = parse_request(ask(COLOUR, permission_suggestions=[suggestion]))
    assert isinstance(request, CanUseTool)
    card = dialog_for(PendingRequest("1", kind, request), DialogContext())
    qtbot.addWidget(card)
    assert isinstance(card, QuestionDialog)
    names = {button.objectName() for button in card.findChildren(QPushButton)}
    assert not [name for name in names if name.startswith("allow")]


def test_an_unknown_request_is_shown_as_it_came_and_can_only_be_refused(page: Page) -> None:
    raw = {"subtype": "teleport", "where": {"to": "Mars\u202e"}}
    card = page.put(raw)
    shown = named(card, "unknownDetail").toPlainText()
    assert json.loads(shown.replace("⟨U+202E⟩", "\u202e")) == raw
    assert [b.objectName() for b in card.findChildren(QPushButton) if b.isVisible()] == ["refuse"]
    click(card, "refuse")
    assert page.answers == [{"behavior": "deny", "message": "This client does not know this kind of request."}]


def test_every_recorded_request_gets_a_dialog(qtbot: QtBot) -> None:
    count = 0
    for file in sorted((RECORDINGS / "2.1.332").glob("*.jsonl")):
        for entry in load("2.1.332", file.stem).entries:
            if entry.direction == "out" and entry.value.get("type") == "control_request":
                card = dialog_for(pending(entry.value["request"]), DialogContext())
                qtbot.addWidget(card)
                assert card.objectName() != "unknownDialog"
                count += 1
    assert count > 15
