"""What the window does when a person presses something: apart from how it looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from desktop import __version__, loop
from desktop.conversations import OpenConversation
from desktop.conversations.notices import Notice, new_release
from desktop.onboarding.sign_in import SignInDialog
from desktop.own_data import OwnData, claudes_own, remove_at_end
from desktop.release import PAGES, Release
from desktop.sentences import sentence
from desktop.settings.dialog import SettingsDialog
from desktop.updates import UpdateCheck
from desktop.window.git_bash import GitBashChooser
from protocol.claude import ClaudeBroken, ClaudeNotFound

if TYPE_CHECKING:
    from desktop.window.main_window import MainWindow

INSTALL_ADDRESS = "https://code.claude.com/docs/en/setup"


class WindowActions(QObject):
    """The verbs of the window. Attributes: `notices`, those of the window itself, by key."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.notices: dict[str, Notice] = {}
        self.updates = UpdateCheck(window.settings, window.memory, self)
        self.updates.found.connect(self._on_release)
        self._release_page = PAGES
        self._settings_dialog: SettingsDialog | None = None
        self._own: OwnData | None = None
        self._sign_in: SignInDialog | None = None
        self.git_bash = GitBashChooser(window)
        self.git_bash.chosen.connect(self._on_claude_changed)

    # Conversations

    def start_in(self, folder: Path) -> OpenConversation:
        """Begin a conversation in a folder and show it."""
        window = self._window
        folder = Path(folder).absolute()
        opened = window.conversations.start(folder)
        problem = window.settings.change(last_folder=str(folder))
        if problem is not None:
            self.add_notice(Notice("settings", "careful", problem))
        window.show_conversation(opened)
        return opened

    def new_conversation(self) -> None:
        """A new conversation where the person works now; without such a folder, choose one first."""
        window = self._window
        if window.current is not None:
            self.start_in(window.current.folder)
        elif window.settings.settings.last_folder:
            self.start_in(Path(window.settings.settings.last_folder))
        else:
            window.top_bar.choose_folder()

    def work_in(self, folder: Path) -> None:
        """The person picked a folder: an untouched conversation moves there, else a new one begins there."""
        opened = self._window.current
        if opened is not None and opened.is_untouched:
            folder = Path(folder).absolute()
            opened.move_to(folder)
            self._window.settings.change(last_folder=str(folder))
        else:
            self.start_in(folder)

    def close_conversation(self, opened: OpenConversation) -> None:
        """Close one for good. One with something unsent is kept: closing must not throw a text away."""
        if not opened.texts.is_empty:
            self._window.show_conversation(opened)
            words = sentence("This conversation holds text that was not sent. Send or remove it, then close it.")
            opened.add_notice(Notice("close", "info", words))
            return
        loop.spawn(self._window.conversations.remove(opened), "closing a conversation")

    def stop(self) -> None:
        """Stop the turn of the shown conversation."""
        if self._window.current is not None:
            self._window.current.stop()

    # Notices

    def add_notice(self, notice: Notice) -> None:
        """Show a notice of the whole window."""
        self.notices[notice.key] = notice
        self._window.notices.show_notices(self.notices.values())

    def dismiss(self, key: str) -> None:
        """Put a notice of the window away."""
        if self.notices.pop(key, None) is not None and key == "update":
            self.updates.skip()
        self._window.notices.show_notices(self.notices.values())

    def act(self, key: str, name: str) -> None:
        """A button of a notice that concerns the window."""
        if name == "sign_in":
            self.sign_in()
        elif name in ("choose_claude", "settings"):
            self.open_settings()
        elif name == "open_release":
            QDesktopServices.openUrl(QUrl(self._release_page))
        elif name == "choose_git_bash":
            self.git_bash.open()
        elif name == "choose_folder":
            self._window.top_bar.choose_folder()
        elif name == "install_help":
            QDesktopServices.openUrl(QUrl(INSTALL_ADDRESS))
        elif name == "restart":
            # On the welcome page there is nothing to restart but the search.
            self._window.conversations.surroundings.forget()
            self._window.look_around_soon()

    def _on_release(self, release: Release) -> None:
        self._release_page = release.page
        self.add_notice(new_release(release.version, __version__, release.page, release.news))

    # Dialogs

    def open_settings(self) -> None:
        """Show the settings, once."""
        if self._settings_dialog is None:
            environ = self._window.conversations.surroundings.environ
            self._own = OwnData.of(self._window.settings.path.parent, environ)
            dialog = SettingsDialog(self._window.settings, self._window, own=self._own, claudes=claudes_own(environ))
            dialog.claude_changed.connect(self._on_claude_changed)
            dialog.removal_wanted.connect(self._on_removal)
            dialog.destroyed.connect(self._on_settings_gone)
            self._settings_dialog = dialog
        self._settings_dialog.show()
        self._settings_dialog.raise_()
        self._settings_dialog.activateWindow()

    def _on_settings_gone(self) -> None:
        self._settings_dialog = None

    def _on_removal(self) -> None:
        """End in the usual, orderly way; the data goes after that."""
        if self._own is None:
            return
        own, self._own = self._own, None
        remove_at_end(own)
        if self._settings_dialog is not None:
            self._settings_dialog.close()
        self._window.close()

    def _on_claude_changed(self) -> None:
        """Another program or another account: those that could not start are tried anew; the others when restarted."""
        window = self._window
        window.conversations.surroundings.forget()
        for opened in window.conversations:
            if opened.phase == "failed":
                opened.restart()
        window.look_around_soon()

    def sign_in(self) -> None:
        """Let Claude's own program sign the person in, where they can see it."""
        loop.spawn(self._open_sign_in(), "signing in")

    async def _open_sign_in(self) -> None:
        window = self._window
        if self._sign_in is not None and self._sign_in.isVisible():
            self._sign_in.raise_()
            return
        surroundings = window.conversations.surroundings
        try:
            prepared = await surroundings.prepare()
            login = await surroundings.read_login()
        except (ClaudeNotFound, ClaudeBroken):
            await window.look_around()
            return
        if login.logged_in is None and not login.problem:
            words = sentence(
                "This version of Claude Code cannot be signed in from here. Run “claude” in a terminal and type "
                "/login, then restart this conversation."
            )
            self.add_notice(Notice("login", "careful", words))
            return
        dialog = SignInDialog(prepared.claude.argv, prepared.environment.env, window)
        dialog.signed_in.connect(self._on_signed_in)
        self._sign_in = dialog
        dialog.start()

    def _on_signed_in(self) -> None:
        window = self._window
        self.dismiss("login")
        window.conversations.restart_signed_out()
        window.look_around_soon()
