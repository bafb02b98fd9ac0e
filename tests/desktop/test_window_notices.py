"""Everything that can be wrong is a sentence in the window that says what to do, and keeps what was typed."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from desktop import loop
from desktop.conversations import OpenConversation
from desktop.onboarding.sign_in import SignInDialog, address_in, plain
from desktop.settings.dialog import SettingsDialog
from desktop.window.main_window import MainWindow
from tests.helpers.desk import Desk, texts


def words(window: MainWindow) -> str:
    assert window.page is not None
    return " ".join(label.text() for label in window.page.notices.findChildren(QLabel))


def press(window: MainWindow, name: str) -> None:
    shown = [button for button in window.findChildren(QPushButton, name) if button.isVisible()]
    assert len(shown) == 1, name
    shown[0].click()


async def open_until(desk: Desk, window: MainWindow, phase: str) -> OpenConversation:
    opened = window.open_folder(desk.folder)
    assert window.page is not None
    window.page.composer.editor.set_text("my draft")
    await desk.until(lambda: opened.phase == phase)
    window.page.refresh()
    return opened


def test_a_missing_claude_leads_to_the_settings_and_is_looked_for_again(desk: Desk, window: MainWindow) -> None:
    desk.environ["HANDRAISE_CLAUDE"] = str(desk.root / "no-such-claude")
    desk.surroundings.environ = dict(desk.environ)

    async def story() -> None:
        opened = await open_until(desk, window, "failed")
        assert "no-such-claude" in words(window)
        press(window, "choose_claude_start")
        dialog = window.findChild(SettingsDialog)
        assert dialog is not None
        dialog.close()
        desk.stand_in()
        press(window, "restart_start")
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        assert window.page.composer.text() == "my draft"
        assert words(window) == ""

    desk.run(story())


def test_a_claude_that_dies_at_its_start_shows_its_last_words_and_can_be_tried_again(
    desk: Desk, window: MainWindow
) -> None:
    desk.stand_in(harm="exit-at-start=7,stderr=100000")

    async def story() -> None:
        opened = await open_until(desk, window, "failed")
        assert window.page is not None
        detail = window.page.notices.findChild(QPlainTextEdit, "noticeDetail")
        assert detail is not None
        assert "last words on stderr" in detail.toPlainText()
        assert window.page.composer.text() == "my draft"
        desk.stand_in()
        press(window, "restart_start")
        await desk.until(lambda: opened.phase == "running")

    desk.run(story())


def test_a_folder_that_is_not_trusted_is_asked_about_without_a_preselected_answer(
    desk: Desk, window: MainWindow
) -> None:
    (desk.folder / ".mcp.json").write_text("{}", encoding="utf-8")

    async def story() -> None:
        opened = await open_until(desk, window, "untrusted")
        assert ".mcp.json" in words(window)
        assert "trust who wrote them" in words(window)
        assert opened.session is None
        press(window, "trust_start")
        await desk.until(lambda: opened.phase == "running")
        assert window.page is not None
        assert window.page.composer.text() == "my draft"

    desk.run(story())


def test_a_folder_that_is_gone_can_be_tried_again(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        desk.folder.rmdir()
        opened = await open_until(desk, window, "failed")
        assert "is not there" in words(window)
        desk.folder.mkdir()
        press(window, "restart_start")
        await desk.until(lambda: opened.phase == "running")

    desk.run(story())


def test_noise_unknown_messages_and_broken_lines_harm_nothing(desk: Desk, window: MainWindow) -> None:
    desk.stand_in(
        [
            {"garbage": 20},
            {"send": {"type": "from_the_future", "x": 1}},
            {"system": {"subtype": "never_heard_of"}},
            {"emit": [1, 2]},
            {"text": "still here"},
        ],
        harm="noise",
    )

    async def story() -> None:
        opened = await open_until(desk, window, "running")
        opened.send("go")
        await desk.until_turn_over(opened)
        assert texts(opened) == ["still here"]
        assert words(window) == ""

    desk.run(story())


def test_a_flood_leaves_the_window_responsive(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([{"flood": 400_000, "deltas": True}, {"text": "dry again"}])

    async def story() -> None:
        opened = await open_until(desk, window, "running")
        opened.send("go")
        longest = 0.0
        while "dry again" not in texts(opened):
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - before)
        assert longest < 1.0

    desk.run(story())


# Signing in

LOGIN = """
import json, sys
if sys.argv[1:] == ["--version"]:
    print("2.1.332 (Claude Code)")
elif sys.argv[1:] == ["auth", "--help"]:
    print("Commands:\\n  login\\n  status")
elif sys.argv[1:] == ["auth", "status"]:
    print(json.dumps({"loggedIn": False}))
    sys.exit(1)
elif sys.argv[1:] == ["auth", "login"]:
    print("Opening browser. If it did not open, visit:\\nhttps://claude.example/authorize?a=1", flush=True)
    print("Paste code here if prompted > ", end="", flush=True)
    sys.exit(0 if sys.stdin.readline().strip() == "the-code" else 1)
"""


def signing_in(desk: Desk) -> None:
    script = desk.root / "login.py"
    script.write_text(LOGIN, encoding="utf-8")
    desk.environ["HANDRAISE_CLAUDE"] = json.dumps([sys.executable, str(script)])
    desk.surroundings.environ = dict(desk.environ)


@pytest.mark.parametrize("code", ["the-code", "wrong"])
def test_signing_in_runs_claudes_own_program_where_the_person_sees_it(
    desk: Desk, window: MainWindow, code: str
) -> None:
    signing_in(desk)

    async def story() -> None:
        await window.look_around()
        assert window.sidebar.account.accessibleName() == "Not signed in"
        press(window, "signInButton")
        await desk.until(lambda: window.findChild(SignInDialog) is not None)
        dialog = window.findChild(SignInDialog)
        assert dialog is not None
        await desk.until(lambda: dialog.browser.isEnabled())
        assert "https://claude.example/authorize?a=1" in dialog.output.toPlainText()
        dialog.code.setText(code)
        dialog.hand_over.click()
        if code == "the-code":
            await desk.until(lambda: not dialog.isVisible())
        else:
            await desk.until(lambda: "did not work" in dialog.words.text())
            dialog.reject()
        await desk.until(lambda: not [task for task in _tasks() if task == "signing in"])

    desk.run(story())


def _tasks() -> list[str]:
    return [task.get_name() for task in loop.spawned()]


def test_closing_the_sign_in_ends_the_program(desk: Desk, window: MainWindow) -> None:
    signing_in(desk)

    async def story() -> None:
        window.actions_of_window.sign_in()
        await desk.until(lambda: window.findChild(SignInDialog) is not None)
        dialog = window.findChild(SignInDialog)
        assert dialog is not None
        await desk.until(lambda: dialog.browser.isEnabled())
        ended: list[object] = []
        dialog.sign_in.ended.connect(ended.append)
        dialog.reject()
        await desk.until(lambda: ended)

    desk.run(story())


def test_terminal_colours_are_taken_out_of_what_the_program_says() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\nline\r") == "red\nline\n"
    assert address_in("go to \x1b[4mhttps://a.example/x?y=1\x1b[0m now") == "https://a.example/x?y=1"
    assert address_in("http://insecure.example") == ""


# The welcome page


def test_the_welcome_page_says_what_was_found(desk: Desk, window: MainWindow) -> None:
    async def story() -> None:
        await window.look_around()
        assert window.current is None
        assert "Claude Code 2.1.332" in window.welcome.found.text()
        desk.environ["HANDRAISE_CLAUDE"] = "/no/such/claude"
        desk.surroundings.environ = dict(desk.environ)
        desk.surroundings.forget()
        await window.look_around()
        assert "was not found" in window.welcome.found.text()
        assert window.welcome.notices.isVisible()

    desk.run(story())


def test_the_folder_of_the_last_time_is_one_click_away(desk: Desk) -> None:
    desk.settings.change(last_folder=str(desk.folder))
    again = MainWindow(QSettings(str(desk.root / "x.ini"), QSettings.Format.IniFormat)).furnish(
        desk.conversations, desk.settings
    )
    again.show()

    async def story() -> None:
        again.welcome.again.click()
        assert again.current is not None
        assert again.current.folder == desk.folder
        await desk.until(lambda: again.current is not None and again.current.phase == "running")

    desk.run(story())
    again.close()
    again.deleteLater()
