"""The menu bar that a Mac's programs have. Other systems have none: the window shows all of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QDesktopServices, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMessageBox

from desktop import __version__
from desktop.release import PAGES
from desktop.translations import tr

Does = Callable[[], object]
_Role = QAction.MenuRole
_Key = QKeySequence.StandardKey
EDITING: Final = (_Key.Undo, _Key.Redo, _Key.Cut, _Key.Copy, _Key.Paste, _Key.SelectAll)


def add_menu_bar(window: QMainWindow, keys: Mapping[str, Does], platform: str = sys.platform) -> frozenset[str]:
    """Give the window its menu bar, on macOS.

    Args:
        window: gets it.
        keys: what the window's keys do.
        platform: as `sys.platform` has it.

    Returns:
        The keys that belong to the menus from now on: another shortcut on the same key would make both do nothing.
    """
    if platform != "darwin":
        return frozenset()
    made = _MenuBar(window, keys)
    made.fill()
    return frozenset(made.taken)


class _MenuBar:
    def __init__(self, window: QMainWindow, keys: Mapping[str, Does]) -> None:
        self.taken: set[str] = set()
        self._window = window
        self._keys = keys

    def fill(self) -> None:
        file = self._menu(tr("File"), "menuFile")
        self._on_key(file, tr("New conversation"), "Ctrl+N")
        self._on_key(file, tr("Open a folder…"), "Ctrl+O")
        # The system's own menu takes these three, by their roles.
        self._add(file, tr("About Handraise"), self._about, role=_Role.AboutRole)
        self._on_key(file, tr("Settings…"), "Ctrl+,", _Role.PreferencesRole)
        self._on_key(file, tr("Quit Handraise"), "Ctrl+Q", _Role.QuitRole)
        self._fill_edit(self._menu(tr("Edit"), "menuEdit"))
        view = self._menu(tr("View"), "menuView")
        self._on_key(view, tr("Conversations"), "Ctrl+B")
        self._on_key(view, tr("Search the conversations"), "Ctrl+K")
        self._on_key(view, tr("Find in this conversation"), "Ctrl+F")
        self._on_key(view, tr("The next request that waits"), "Ctrl+J")
        self._on_key(view, tr("Local API"), "Ctrl+Shift+L")
        shown = self._menu(tr("Window"), "menuWindow")
        self._add(shown, tr("Minimize"), self._window.showMinimized, "Ctrl+M")
        self._add(shown, tr("Zoom"), self._zoom)
        self._add(self._menu(tr("Help"), "menuHelp"), tr("Handraise on the web"), _open_page)

    def _fill_edit(self, menu: QMenu) -> None:
        words = (tr("Undo"), tr("Redo"), tr("Cut"), tr("Copy"), tr("Paste"), tr("Select all"))
        for key, word in zip(EDITING, words, strict=True):
            made = self._add(menu, word, partial(press, key))
            made.setShortcuts(key)

    def _menu(self, words: str, name: str) -> QMenu:
        menu = self._window.menuBar().addMenu(words.replace("&", "&&"))
        menu.setObjectName(name)
        return menu

    def _on_key(self, menu: QMenu, words: str, key: str, role: QAction.MenuRole = _Role.NoRole) -> None:
        """What the window does on this key, if it does anything."""
        if key in self._keys:
            self._add(menu, words, self._keys[key], key, role)
            self.taken.add(key)

    def _add(
        self, menu: QMenu, words: str, does: Does, key: str = "", role: QAction.MenuRole = _Role.NoRole
    ) -> QAction:
        action = QAction(words.replace("&", "&&"), menu)
        # Qt guesses a role from the words otherwise, and moves what is called "Settings" or "Setup".
        action.setMenuRole(role)
        if key:
            action.setShortcut(QKeySequence(key))
        action.triggered.connect(lambda _=False: does())
        menu.addAction(action)
        return action

    def _zoom(self) -> None:
        if self._window.isMaximized():
            self._window.showNormal()
        else:
            self._window.showMaximized()

    def _about(self) -> None:
        box = QMessageBox(self._window)
        box.setObjectName("about")
        box.setText(f"Handraise {__version__}")
        box.setInformativeText(tr("A desktop client for Claude Code that asks you when Claude needs a decision."))
        box.open()


def press(key: QKeySequence.StandardKey) -> None:
    """Let what has the focus do what it does on this key, whatever kind of widget it is."""
    target = QApplication.focusWidget()
    bound = QKeySequence.keyBindings(key)
    if target is not None and bound:
        combination = bound[0][0]  # type: ignore[index]  # the stubs lack it
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, combination.key(), combination.keyboardModifiers())
            QApplication.sendEvent(target, event)


def _open_page() -> None:
    QDesktopServices.openUrl(PAGES.removesuffix("/releases"))
