"""Pictures of every dialog for people to look at: `python -m tests.helpers.dialog_gallery FOLDER [NAME…]`.

Each is rendered light, dark, in Traditional Chinese and in a small window, above a stand-in for the composer.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from desktop import theme, translations
from desktop.dialogs.base import RequestDialog
from desktop.dialogs.question import QuestionDialog
from tests.helpers import requests
from tests.helpers.requests import COLOUR, DATABASE, FEATURES, ask, tool

VARIANTS = {
    "light": ("light", "en", 984, 700),
    "dark": ("dark", "en", 984, 700),
    "zh": ("light", "zh_TW", 984, 700),
    "small": ("light", "en", 480, 600),
    "small_dark_zh": ("dark", "zh_TW", 480, 600),
}
TOUCH = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch /home/user/zzz && echo hello"}],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "addDirectories", "directories": ["/home/user"], "destination": "session"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]
PLAN = """# Move the ledger to its own database

1. Add `LEDGER_URL` and a second connection.
2. Write **both** databases for a week; compare each night.
3. Switch the reads, then drop the old tables.

```python
DATABASES = {"default": from_env("LEDGER_URL")}
```

- Risk: the nightly export reads the old tables directly.
"""
SCHEMA = {
    "type": "object",
    "required": ["region", "email"],
    "properties": {
        "email": {"type": "string", "format": "email", "title": "E-mail", "description": "Where to send the report"},
        "region": {"type": "string", "enum": ["eu", "us"], "enumNames": ["Europe", "United States"], "title": "Region"},
        "replicas": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2, "title": "Replicas"},
        "notify": {"type": "boolean", "title": "Tell me when it is done", "description": "By e-mail"},
        "parts": {"type": "array", "items": {"enum": ["web", "worker", "cron"]}, "title": "Parts"},
    },
}
LONG = {
    "question": "The test suite takes eleven minutes, most of it in the database fixtures that every test builds anew. "
    "How far may I go to make it faster, given that the nightly run depends on the same fixtures?",
    "header": "How far may the change of the test suite go?",
    "multiSelect": False,
    "options": [
        {"label": f"Step {number}: <b>keep</b> & go on with a label that is far longer than any row is wide, so wraps",
         "description": "A description of some length, which says what it means and what it costs. " * number}
        for number in range(1, 12)
    ],
}  # fmt: skip


def _chosen(dialog: QuestionDialog) -> None:
    dialog.pages[0].press_digit(2)


def _several(dialog: QuestionDialog) -> None:
    dialog.pages[0].press_digit(1)
    dialog.go(1)
    for digit in (1, 3, 4):
        dialog.pages[1].press_digit(digit)
    dialog.pages[1].other.field.setText("Import from the old ledger, with its receipts")
    dialog.pages[1].open_note()
    dialog.pages[1].note.setText("Search can wait until March.")


def _review(dialog: QuestionDialog) -> None:
    _several(dialog)
    dialog.go(2)


def _skipped(dialog: QuestionDialog) -> None:
    dialog.skip()
    dialog.skip()


def _empty_other(dialog: QuestionDialog) -> None:
    dialog.pages[0].press_digit(3)
    dialog.next()


def _reply(dialog: QuestionDialog) -> None:
    dialog.reply_button.click()
    dialog.reply.field.setText("Neither. Keep the monolith for now.")


def _throw_away(dialog: QuestionDialog) -> None:
    dialog.pages[0].press_digit(3)
    dialog.pages[0].other.field.setText("MySQL")
    dialog.escape()


def _nothing(dialog: RequestDialog) -> None:
    """Leave it as it comes."""


def _wrong_form(dialog: Any) -> None:
    dialog.rows[0].control.setText("nobody")
    dialog.accept_form()


BASH = tool(
    "Bash",
    {"command": "touch /home/user/zzz && echo hello", "description": "Create a file", "timeout": 120000},
    description="Create a file", permission_suggestions=TOUCH, blocked_path="/home/user/zzz",
)  # fmt: skip
EDIT = tool(
    "Edit",
    {
        "file_path": "/home/user/billing/ledger/settings.py",
        "old_string": 'DATABASES = {\n    "default": sqlite("ledger.db"),\n}',
        "new_string": 'DATABASES = {\n    "default": from_env("LEDGER_URL"),\n}',
    },
    description="settings.py",
    permission_suggestions=[TOUCH[2]],
)
FULL_FORM = {
    "subtype": "elicitation",
    "mcp_server_name": "deployer",
    "message": "Where should this go?",
    "mode": "form",
    "requested_schema": SCHEMA,
}
CASES: dict[str, tuple[dict[str, Any], Callable[[Any], None]]] = {
    "question": (ask(DATABASE, FEATURES), _chosen),
    "question_several": (ask(DATABASE, FEATURES), _several),
    "question_review": (ask(DATABASE, FEATURES), _review),
    "question_skipped": (ask(DATABASE, FEATURES), _skipped),
    "question_single": (ask(COLOUR), _chosen),
    "question_other": (ask(DATABASE), _empty_other),
    "question_reply": (ask(DATABASE), _reply),
    "question_throw_away": (ask(DATABASE), _throw_away),
    "question_long": (ask(LONG, FEATURES, DATABASE, COLOUR), _nothing),
    "question_free": (ask({"question": "What should it be called?", "header": "Name", "options": []}), _nothing),
    "question_unusable": (tool("AskUserQuestion", {"questions": []}), _nothing),
    "permission_bash": (BASH, _nothing),
    "permission_risky": (
        tool("Bash", {"command": "rm -rf \u202ebuild/ && echo \x1b[2K done\n" * 30}, default_to_no=True,
             decision_reason="The command deletes files"),
        _nothing,
    ),
    "permission_edit": (EDIT, _nothing),
    "permission_write": (tool("Write", {"file_path": "/home/user/a.txt", "content": "hello\nworld\n" * 40}), _nothing),
    "permission_mcp": (
        tool("mcp__demo__ask_user", {"topic": "deploy", "nested": {"list": [1, 2]}}, display_name="Ask User",
             mcp_server={"name": "demo", "source": "dynamic"},
             permission_suggestions=[{"type": "addRules", "rules": [{"toolName": "mcp__demo__ask_user"}],
                                      "behavior": "allow", "destination": "localSettings"}]),
        _nothing,
    ),
    "plan": (tool("ExitPlanMode", {"plan": PLAN}), _nothing),
    "elicitation": (FULL_FORM, _nothing),
    "elicitation_problem": (FULL_FORM, _wrong_form),
    "elicitation_url": (
        {"subtype": "elicitation", "mcp_server_name": "deployer", "message": "Please sign in", "mode": "url",
         "url": "https://login.example.com/authorize?client=handraise&state=" + "0123456789abcdef" * 8},
        _nothing,
    ),
    "unknown": ({"subtype": "teleport", "where": {"to": "Mars"}}, _nothing),
}  # fmt: skip


def main(folder: Path, names: list[str]) -> None:
    """Write the pictures of the named cases, or of all."""
    application = QApplication.instance() or QApplication(sys.argv)
    assert isinstance(application, QApplication)
    folder.mkdir(parents=True, exist_ok=True)
    for variant, (scheme, language, width, height) in VARIANTS.items():
        translations.set_language(language)
        theme.apply(application, scheme)  # type: ignore[arg-type]
        for name in names or CASES:
            _render(name, width, height, folder / f"{name}.{variant}.png")


def _render(name: str, width: int, height: int, file: Path) -> None:
    request, prepare = CASES[name]
    host = QWidget()
    host.setProperty("role", "page")
    host.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    column = QVBoxLayout(host)
    column.setContentsMargins(0, 0, 0, 8)
    column.setSpacing(0)
    transcript = QWidget(host)
    transcript.setMinimumHeight(48)
    column.addWidget(transcript, 1)
    card = requests.dialog(request, host, since=time.time() - 42, agent="explore" if name == "permission_mcp" else "")
    column.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
    composer = QLineEdit(host)
    composer.setMaximumWidth(theme.column_width())
    column.addWidget(composer)
    host.resize(width, height)
    host.show()
    QTest.qWait(30)
    prepare(card)
    QTest.qWait(120)
    host.grab().save(str(file))
    host.close()
    host.deleteLater()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
