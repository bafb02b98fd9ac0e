"""The permission dialog: all of what would run is shown, and exactly that is allowed, or refused."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.dialogs.permission import PermissionDialog
from desktop.dialogs.permission_view import permission_view
from protocol.messages import CanUseTool
from protocol.messages.control import parse_request
from tests.helpers.cards import Page
from tests.helpers.dialog_gallery import BASH, EDIT, TOUCH
from tests.helpers.hands import click, named, press, press_ctrl_enter
from tests.helpers.recordings import RECORDINGS, load
from tests.helpers.requests import tool

DENIED = {"behavior": "deny", "message": "The user did not allow this."}


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    return Page(qtbot)


def put(page: Page, request: dict[str, Any]) -> PermissionDialog:
    card = page.put(request)
    assert isinstance(card, PermissionDialog)
    return card


def shown(card: PermissionDialog) -> str:
    """Every word on the card that can be read."""
    labels = [label.text() for label in card.findChildren(QLabel) if not label.isHidden()]
    rows = [row.text() for row in card.always]
    detail = card.detail
    assert isinstance(detail, QPlainTextEdit)
    return "\n".join([*labels, *rows, detail.toPlainText()])


class TestDecisions:
    def test_allow_once_sends_back_the_input_that_was_shown(self, page: Page) -> None:
        card = put(page, BASH)
        click(card, "allowOnce")
        assert page.answers == [{"behavior": "allow", "updatedInput": BASH["input"]}]

    @pytest.mark.parametrize("number", range(3))
    def test_each_suggestion_is_its_own_button_and_is_echoed_verbatim(self, page: Page, number: int) -> None:
        card = put(page, BASH)
        click(card, f"allowAlways_{number}")
        assert page.answers == [
            {"behavior": "allow", "updatedInput": BASH["input"], "updatedPermissions": [TOUCH[number]]}
        ]

    def test_every_suggestion_says_its_true_scope(self, page: Page) -> None:
        card = put(page, BASH)
        assert [row.text() for row in card.always] == [
            "Always allow “Bash(touch /home/user/zzz && echo hello)” in this project, for you "
            "(saved in .claude/settings.local.json)",
            "Add “/home/user” to the working folders until this conversation is closed",
            "Stop asking before file edits and simple file commands in this conversation (“accept edits” mode)",
        ]
        assert [row.accessibleName() for row in card.always] == [row.text() for row in card.always]

    def test_a_long_command_is_not_written_out_again_in_the_scope_and_still_echoed_whole(self, page: Page) -> None:
        command = "cat <<EOF\n" + "a line of text\n" * 2000 + "EOF"
        rule = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": command}], "behavior": "allow",
                "destination": "session"}  # fmt: skip
        other = {**rule, "rules": [{"toolName": "Bash", "ruleContent": "rm " + "x" * 400}]}
        card = put(page, tool("Bash", {"command": command}, permission_suggestions=[rule, other]))
        words = card.always[0].text()
        assert "… (the whole command above))” until this conversation is closed" in words
        assert len(words) < 500
        assert "x" * 400 in card.always[1].text()
        click(card, "allowAlways_0")
        assert page.answers[0]["updatedPermissions"] == [rule]

    def test_deny_sends_a_message(self, page: Page) -> None:
        card = put(page, BASH)
        click(card, "deny")
        assert page.answers == [DENIED]

    def test_deny_says_why_when_a_reason_is_written(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("Use mkdir instead.")
        click(card, "deny")
        assert page.answers == [{"behavior": "deny", "message": "Use mkdir instead."}]

    def test_enter_in_the_reason_refuses_with_it(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("No.", Qt.Key.Key_Return)
        assert page.answers == [{"behavior": "deny", "message": "No."}]

    def test_deny_and_stop_ends_the_turn_too(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("Enough.")
        click(card, "denyAndStop")
        assert page.answers == [{"behavior": "deny", "message": "Enough.", "interrupt": True}]

    def test_escape_refuses(self, page: Page) -> None:
        put(page, BASH)
        press(Qt.Key.Key_Escape)
        assert page.answers == [DENIED]

    def test_escape_with_a_reason_asks_before_it_refuses_with_it(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("Not here", Qt.Key.Key_Escape)
        assert page.answers == []
        click(card, "throwAway")
        assert page.answers == [{"behavior": "deny", "message": "Not here"}]

    def test_allowing_with_a_reason_for_refusing_asks_first_since_it_would_be_lost(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("Be quick")
        click(card, "allowOnce")
        assert page.answers == []
        assert "only with a refusal" in named(card, "cardQuestion").accessibleName()
        click(card, "throwAway")
        assert page.answers == [{"behavior": "allow", "updatedInput": BASH["input"]}]

    def test_several_open_requests_are_answered_each_by_its_own_dialog(self, page: Page) -> None:
        first = put(page, tool("Bash", {"command": "first"}))
        second = put(page, tool("Bash", {"command": "second"}))
        click(second, "deny")
        assert first.isVisible()
        click(first, "allowOnce")
        assert page.answers == [DENIED, {"behavior": "allow", "updatedInput": {"command": "first"}}]

    def test_no_always_is_offered_where_the_cli_says_so(self, page: Page) -> None:
        card = put(page, {**BASH, "suppress_always_allow_rule": True})
        assert card.always == []

    def test_a_reason_can_be_recovered(self, page: Page) -> None:
        card = put(page, BASH)
        named(card, "denyReason").setFocus()
        press("half a thought")
        card.withdraw()
        assert card.typed() == "half a thought"
        assert page.answers == []


class TestAccidents:
    def test_the_focus_lands_on_what_would_run_and_enter_space_and_digits_allow_nothing(self, page: Page) -> None:
        card = put(page, BASH)
        assert named(card, "permissionDetail").hasFocus()
        press(Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, "1", "y")
        press_ctrl_enter()
        assert page.answers == []
        assert card.isVisible()

    def test_where_the_cli_advises_against_it_the_focus_is_on_deny(self, page: Page) -> None:
        card = put(page, {**BASH, "default_to_no": True})
        assert named(card, "deny").hasFocus()
        assert "advises against it" in shown(card)
        press(Qt.Key.Key_Return)
        assert page.answers == [DENIED]

    def test_nothing_that_allows_is_a_primary_button(self, page: Page) -> None:
        card = put(page, BASH)
        for name in ("allowOnce", "allowAlways_0", "allowAlways_1", "allowAlways_2"):
            assert named(card, name).property("role") != "primary"

    def test_allow_can_be_reached_and_pressed_by_keyboard_on_purpose(self, page: Page) -> None:
        card = put(page, BASH)
        for _ in range(12):
            if named(card, "allowOnce").hasFocus():
                break
            press(Qt.Key.Key_Tab)
        press(Qt.Key.Key_Return)
        assert page.answers == [{"behavior": "allow", "updatedInput": BASH["input"]}]


class TestWhatIsShown:
    def test_all_of_a_long_command_is_there_and_scrolls(self, page: Page) -> None:
        command = "\n".join(f"echo line {number}" for number in range(400)) + "\nrm -rf /"
        card = put(page, tool("Bash", {"command": command}))
        detail = named(card, "permissionDetail")
        assert detail.toPlainText() == command
        assert detail.verticalScrollBar().maximum() > 0
        assert card.height() < page.height()
        allow = named(card, "allowOnce")
        assert card.rect().contains(allow.mapTo(card, allow.rect().bottomRight()))

    def test_one_very_long_line_wraps_and_is_not_cut(self, page: Page) -> None:
        card = put(page, tool("Bash", {"command": "x" * 3000}))
        detail = named(card, "permissionDetail")
        assert detail.toPlainText() == "x" * 3000
        assert detail.horizontalScrollBar().maximum() < detail.fontMetrics().horizontalAdvance("x")

    def test_a_line_of_a_megabyte_is_shown_at_once_and_copied_as_one_line(self, page: Page) -> None:
        command = f"echo {'😀x' * 300_000} && rm -rf /\nls\n\n{'y' * 5000}"
        started = time.perf_counter()
        card = put(page, tool("Bash", {"command": command}))
        detail = named(card, "permissionDetail")
        assert time.perf_counter() - started < 2.0
        assert detail.toPlainText() == command
        assert detail.horizontalScrollBar().maximum() < detail.fontMetrics().horizontalAdvance("x")
        detail.selectAll()
        detail.copy()
        assert QGuiApplication.clipboard().text() == command
        cursor = detail.textCursor()
        cursor.setPosition(3)
        cursor.setPosition(6_010, QTextCursor.MoveMode.KeepAnchor)  # two ends of pieces are in between
        detail.setTextCursor(cursor)
        detail.copy()
        assert QGuiApplication.clipboard().text() == command[3:4007]

    def test_an_edit_of_a_line_that_nobody_could_compare_is_shown_whole_as_it_came(self, page: Page) -> None:
        given = {"file_path": "/bundle.js", "content": "y" * 300_000}
        detail = named(put(page, tool("Write", given)), "permissionDetail")
        assert json.loads(detail.toPlainText()) == given

    def test_an_always_that_nobody_would_read_to_its_end_is_not_offered(self, page: Page) -> None:
        def rule(content: str) -> dict[str, Any]:
            return {"type": "addRules", "behavior": "allow", "destination": "session",
                    "rules": [{"toolName": "Bash", "ruleContent": content}]}  # fmt: skip

        offers = [rule("r" * 300_000), rule("ls")]
        card = put(page, {**tool("Bash", {"command": "ls"}), "permission_suggestions": offers})
        assert [row.objectName() for row in card.always] == ["allowAlways_1"]
        click(card, "allowAlways_1")
        assert page.answers[0]["updatedPermissions"] == [offers[1]]

    def test_description_reason_and_blocked_path_are_shown(self, page: Page) -> None:
        card = put(page, {**BASH, "decision_reason": "Path is outside the project"})
        text = shown(card)
        assert "Claude says: Create a file" in text
        assert "Why it asks: Path is outside the project" in text
        assert "Path that needs permission: /home/user/zzz" in text

    def test_every_other_key_of_the_input_is_shown_as_well(self, page: Page) -> None:
        given = {"command": "ls", "timeout": 120000, "dangerouslyDisableSandbox": True, "run_in_background": True}
        text = shown(put(page, tool("Bash", given)))
        assert "timeout: 120000" in text
        assert "dangerouslyDisableSandbox: true" in text
        assert "run_in_background: true" in text

    def test_bidi_controls_escapes_and_zero_widths_are_visible_with_a_warning_and_sent_as_they_came(
        self, page: Page
    ) -> None:
        command = "echo \u202eabc \x1b[2K \u200b"
        card = put(page, tool("Bash", {"command": command}))
        assert named(card, "permissionDetail").toPlainText() == "echo ⟨U+202E⟩abc ⟨U+001B⟩[2K ⟨U+200B⟩"
        assert named(card, "hiddenWarning").isVisible()
        click(card, "allowOnce")
        assert page.answers == [{"behavior": "allow", "updatedInput": {"command": command}}]

    def test_an_ordinary_command_has_no_warning(self, page: Page) -> None:
        card = put(page, BASH)
        assert card.findChild(QLabel, "hiddenWarning") is None

    def test_an_unknown_tool_shows_all_of_its_input_as_readable_json(self, page: Page) -> None:
        given = {"topic": "部署", "nested": {"list": [1, {"deep": True}]}}
        card = put(page, tool("Frobnicate", given))
        assert json.loads(named(card, "permissionDetail").toPlainText()) == given
        assert "部署" in named(card, "permissionDetail").toPlainText()
        assert "Let Claude use the tool “Frobnicate”?" in shown(card)

    def test_an_mcp_tool_names_its_server(self, page: Page) -> None:
        server = {"name": "demo", "source": "dynamic"}
        card = put(page, tool("mcp__demo__ask_user", {"a": 1}, display_name="Ask User", mcp_server=server))
        assert "Let Claude use “Ask User” of the MCP server “demo”?" in shown(card)
        older = put(page, tool("mcp__demo__ask_user", {"a": 1}))
        assert "of the MCP server “demo”?" in shown(older)

    def test_an_edit_is_a_diff_against_the_file_as_it_is(self, page: Page, tmp_path: Path) -> None:
        file = tmp_path / "settings.py"
        file.write_text("import os\n\nDEBUG = True\nNAME = 1\n", encoding="utf-8")
        given = {"file_path": str(file), "old_string": "DEBUG = True", "new_string": "DEBUG = False"}
        card = put(page, tool("Edit", given))
        text = named(card, "permissionDetail").toPlainText()
        assert "- DEBUG = True" in text
        assert "+ DEBUG = False" in text
        assert "  NAME = 1" in text
        assert str(file) in shown(card)
        click(card, "allowOnce")
        assert page.answers == [{"behavior": "allow", "updatedInput": given}]

    def test_a_new_file_is_shown_whole(self, page: Page) -> None:
        given = {"file_path": "/nowhere/a.txt", "content": "one\ntwo\n"}
        card = put(page, tool("Write", given))
        assert named(card, "permissionDetail").toPlainText() == "+ one\n+ two"

    def test_every_edit_of_several_is_shown(self, page: Page) -> None:
        edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d", "replace_all": True}]
        card = put(page, tool("MultiEdit", {"file_path": "/nowhere/a", "edits": edits}))
        text = shown(card)
        for line in ("- a", "+ b", "- c", "+ d", "replace_all (2): true"):
            assert line in text

    def test_a_notebook_cell_is_shown(self, page: Page) -> None:
        given = {"notebook_path": "/n.ipynb", "cell_id": "c1", "new_source": "print(1)", "edit_mode": "replace"}
        text = shown(put(page, tool("NotebookEdit", given)))
        assert "+ print(1)" in text
        assert "cell_id: c1" in text

    def test_an_edit_that_a_diff_would_not_show_is_shown_as_json(self, page: Page) -> None:
        for given in (
            {"file_path": "/nowhere/a", "content": ""},
            {"file_path": "/nowhere/a", "content": 5},
            {"file_path": "/nowhere/a", "old_string": "same", "new_string": "same"},
        ):
            name = "Write" if "content" in given else "Edit"
            card = put(page, tool(name, given))
            assert json.loads(named(card, "permissionDetail").toPlainText()) == given
            card.withdraw()

    def test_hidden_characters_in_a_diff_are_visible_too(self, page: Page) -> None:
        card = put(page, tool("Write", {"file_path": "/nowhere/a", "content": "a\u202eb"}))
        assert "a⟨U+202E⟩b" in named(card, "permissionDetail").toPlainText()
        assert named(card, "hiddenWarning").isVisible()

    def test_what_runs_can_be_selected_and_copied(self, page: Page) -> None:
        put(page, BASH)
        press(Qt.Key.Key_A, modifiers=Qt.KeyboardModifier.ControlModifier)
        press(Qt.Key.Key_C, modifiers=Qt.KeyboardModifier.ControlModifier)
        assert QApplication.clipboard().text() == BASH["input"]["command"]

    def test_html_in_a_description_is_plain_text(self, page: Page) -> None:
        card = put(page, {**BASH, "description": "<a href='x'>safe</a>"})
        assert all(label.textFormat() == Qt.TextFormat.PlainText for label in card.findChildren(QLabel))


def recorded_requests() -> list[CanUseTool]:
    found = []
    for file in sorted(RECORDINGS.rglob("*.jsonl")):
        for entry in load(file.parent.name, file.stem).entries:
            request = entry.value.get("request")
            if isinstance(request, dict) and request.get("subtype") == "can_use_tool":
                parsed = parse_request(request)
                assert isinstance(parsed, CanUseTool)
                found.append(parsed)
    return found


def test_every_recorded_request_shows_every_text_of_its_input() -> None:
    requests = recorded_requests()
    assert len(requests) > 50
    for request in requests:
        view = permission_view(request)
        words = "\n".join([view.detail, view.path, *(str(line) for line in view.lines)])
        for value in request.input.values():
            if isinstance(value, str) and view.kind != "edit":
                assert json.dumps(value, ensure_ascii=False)[1:-1] in words or value in words


def test_the_edit_of_the_gallery_is_an_edit() -> None:
    request = parse_request(EDIT)
    assert isinstance(request, CanUseTool)
    assert permission_view(request).kind == "edit"


def test_a_few_lines_are_in_sight_whole_whatever_fonts_they_need(page: Page) -> None:
    for command in ("echo 帳本搬家\necho ไทย\necho हिन्दी", "a\nb\nc", "echo 🧾\n" * 3):
        card = put(page, tool("Bash", {"command": command}))
        assert isinstance(card.detail, QPlainTextEdit)
        assert card.detail.verticalScrollBar().maximum() == 0, command
        card.withdraw()
