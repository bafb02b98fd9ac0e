"""What a Mac's programs have and others have not, on any system: the menu bar, the number on the Dock, ⌘ for Ctrl."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMessageBox, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.keys import as_typed
from desktop.translations import set_language
from desktop.window.badge import DockBadge
from desktop.window.main_window import MainWindow
from desktop.window.menu_bar import EDITING, add_menu_bar
from tests.helpers.desk import Desk, question

KEYS = ("Ctrl+N", "Ctrl+O", "Ctrl+,", "Ctrl+Q", "Ctrl+B", "Ctrl+K", "Ctrl+F", "Ctrl+J", "Ctrl+Shift+L", "Ctrl+L")


class Mac:
    """A window with the menu bar of a Mac, and what its keys were asked to do."""

    def __init__(self) -> None:
        self.window = QMainWindow()
        self.did: list[str] = []
        keys = {key: lambda key=key: self.did.append(key) for key in KEYS}
        self.taken = add_menu_bar(self.window, keys, "darwin")

    def actions(self) -> dict[str, QAction]:
        menus = self.window.menuBar().findChildren(QMenu)
        return {action.text(): action for menu in menus for action in menu.actions()}


@pytest.fixture
def mac(qtbot: QtBot) -> Mac:
    made = Mac()
    qtbot.addWidget(made.window)
    return made


@pytest.fixture
def chinese() -> Iterator[None]:
    set_language("zh_TW")
    yield
    set_language("en")


def test_other_systems_have_no_menu_bar(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    for platform in ("linux", "win32"):
        assert add_menu_bar(window, {"Ctrl+N": window.close}, platform) == frozenset()
    assert window.findChildren(QMenu) == []


def test_the_systems_own_entries_are_known_by_their_roles(mac: Mac) -> None:
    role = QAction.MenuRole
    special = {action.menuRole(): text for text, action in mac.actions().items() if action.menuRole() != role.NoRole}
    assert special == {
        role.AboutRole: "About Handraise",
        role.PreferencesRole: "Settings…",
        role.QuitRole: "Quit Handraise",
    }


def test_the_menus_do_what_the_keys_do_and_keep_them(mac: Mac) -> None:
    assert mac.taken == set(KEYS) - {"Ctrl+L"}
    for action in mac.actions().values():
        key = action.shortcut().toString(QKeySequence.SequenceFormat.PortableText)
        if key in mac.taken:
            action.trigger()
    assert sorted(mac.did) == sorted(mac.taken)


def test_a_key_that_does_nothing_has_no_entry(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    assert add_menu_bar(window, {}, "darwin") == frozenset()
    texts = [action.text() for menu in window.menuBar().findChildren(QMenu) for action in menu.actions()]
    assert "About Handraise" in texts
    assert "Settings…" not in texts


def test_no_key_stands_in_two_menus(mac: Mac) -> None:
    keys = [shortcut.toString() for action in mac.actions().values() for shortcut in action.shortcuts()]
    assert sorted(keys) == sorted(set(keys))


def test_editing_reaches_the_text_that_has_the_focus(mac: Mac, qtbot: QtBot) -> None:
    text = QPlainTextEdit("hello")
    mac.window.setCentralWidget(text)
    mac.window.show()
    mac.window.activateWindow()
    text.setFocus()
    qtbot.waitUntil(text.hasFocus)
    actions = mac.actions()
    actions["Select all"].trigger()
    actions["Cut"].trigger()
    assert text.toPlainText() == ""
    actions["Undo"].trigger()
    assert text.toPlainText() == "hello"
    assert len(EDITING) == 6


def test_without_a_focus_editing_does_nothing(mac: Mac) -> None:
    mac.window.hide()
    mac.actions()["Paste"].trigger()
    assert mac.did == []


def test_about_says_the_version_and_does_not_wait(mac: Mac) -> None:
    mac.window.show()
    mac.actions()["About Handraise"].trigger()
    box = mac.window.findChild(QMessageBox, "about")
    assert box is not None
    assert box.text().startswith("Handraise ")
    box.close()


def test_the_projects_page_is_opened_in_the_browser(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl | str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    mac.actions()["Handraise on the web"].trigger()
    assert [QUrl(address).toString() for address in opened] == ["https://github.com/handraise/handraise"]


@pytest.mark.usefixtures("chinese")
def test_the_menus_speak_the_persons_language(qtbot: QtBot) -> None:
    mac = Mac()
    qtbot.addWidget(mac.window)
    assert {"關於 Handraise", "新對話", "全選", "縮到最小"} <= set(mac.actions())


def test_the_dock_shows_how_many_requests_wait(desk: Desk, window: MainWindow) -> None:
    shown: list[int] = []
    window.badge = DockBadge("darwin", shown.append)
    desk.stand_in([question("Which?", "A", "B")])

    async def story() -> None:
        opened = window.open_folder(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("go")
        await desk.until(lambda: shown == [1])
        window.refresh()
        assert shown == [1]
        await desk.conversations.remove(opened)
        await desk.until(lambda: shown == [1, 0])

    desk.run(story())


def test_only_a_mac_has_a_number_on_its_icon() -> None:
    shown: list[int] = []
    for platform in ("linux", "win32"):
        DockBadge(platform, shown.append).show(3)
    assert shown == []
    assert callable(QGuiApplication.setBadgeNumber)


@pytest.mark.parametrize(
    ("text", "on_a_mac"),
    [
        ("Settings (Ctrl+,)", "Settings (⌘,)"),
        ("Send (Ctrl+Enter)", "Send (⌘↩)"),
        ("Ctrl+Shift+L", "⇧⌘L"),
        ("顯示對話清單（Ctrl+B）", "顯示對話清單（⌘B）"),
        ("No key in here", "No key in here"),
    ],
)
def test_keys_are_named_as_the_keyboard_names_them(text: str, on_a_mac: str) -> None:
    assert as_typed(text, "darwin") == on_a_mac
    assert as_typed(text, "linux") == text
    assert as_typed(text, "win32") == text
