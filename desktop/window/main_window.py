"""The main window: sidebar, top bar, the shown conversation, status line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSettings, QTimer, Signal
from PySide6.QtWidgets import QMainWindow

from desktop import theme

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
    from PySide6.QtWidgets import QStackedWidget, QWidget

    from desktop.conversations import Conversations, OpenConversation
    from desktop.conversations.notices import Notice
    from desktop.local_api.service import LocalApi
    from desktop.onboarding.welcome import Findings, WelcomePage
    from desktop.settings import SettingsStore
    from desktop.window.actions import WindowActions
    from desktop.window.badge import DockBadge
    from desktop.window.local_api_place import LocalApiPlace
    from desktop.window.notice_bar import NoticeBar
    from desktop.window.page import ConversationPage
    from desktop.window.sidebar import Sidebar
    from desktop.window.status_line import StatusLine
    from desktop.window.top_bar import TopBar

NARROW = 760
"""Width in pixels at 100 % below which the sidebar makes way."""
STATUS_MS = 1000


class MainWindow(QMainWindow):
    """The window, empty until it is furnished.

    Attributes:
        memory: what the window keeps for itself from one run to the next.
        sidebar, top_bar, status, notices, badge, stack, welcome, actions_of_window, local_api: its parts.

    Signals:
        closing: the person closed it; the application ends what runs.
    """

    closing = Signal()

    sidebar: Sidebar
    top_bar: TopBar
    status: StatusLine
    notices: NoticeBar
    badge: DockBadge
    stack: QStackedWidget
    welcome: WelcomePage
    actions_of_window: WindowActions
    local_api: LocalApiPlace

    def __init__(self, geometry: QSettings) -> None:
        """An empty window at its place, which can be shown at once."""
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Handraise")
        self.findings: Findings | None = None
        self.memory = geometry
        self._pages: dict[str, ConversationPage] = {}
        self._narrow = False
        self.was_closed = False
        self._is_furnished = False
        self._early_keys: list[QKeyEvent] = []
        self.setMinimumSize(theme.px(400), theme.px(360))
        self._restore_geometry()

    def furnish(
        self, conversations: Conversations, settings: SettingsStore, local_api: LocalApi | None = None
    ) -> MainWindow:
        """Give the window everything that is in it; returns the window."""
        # Late, because all this takes longer to load than the window takes to appear; so do Qt's own classes.
        from PySide6.QtWidgets import QStackedWidget

        from desktop.onboarding.welcome import WelcomePage
        from desktop.window.actions import WindowActions
        from desktop.window.badge import DockBadge
        from desktop.window.local_api_place import LocalApiPlace
        from desktop.window.notice_bar import NoticeBar
        from desktop.window.sidebar import Sidebar
        from desktop.window.standing import Standing
        from desktop.window.status_line import StatusLine
        from desktop.window.top_bar import TopBar

        self.conversations = conversations
        self.settings = settings
        self.sidebar = Sidebar(conversations, self)
        self.top_bar = TopBar(self)
        self.status = StatusLine(self)
        self.notices = NoticeBar(self)
        self.badge = DockBadge()
        self.stack = QStackedWidget(self)
        self.welcome = WelcomePage(settings.settings.last_folder, self)
        self.stack.addWidget(self.welcome)
        self.actions_of_window = WindowActions(self)
        self.local_api = LocalApiPlace(self, local_api)
        self._standing = Standing(self)
        self._lay_out()
        self._connect()
        self._keys()
        self._is_furnished = True
        if self.isVisible():
            self._set_narrow(self.width() < theme.px(NARROW))
        self.refresh()
        return self

    def take_early_keys(self) -> None:
        """Let what was typed while the window was empty be typed once more, once all that is in it now is shown."""
        for event in self._early_keys:
            QCoreApplication.postEvent(self.windowHandle(), event)
        self._early_keys.clear()

    # Layout

    def _lay_out(self) -> None:
        from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

        from desktop.widgets import hairline, set_role

        central = QWidget(self)
        set_role(central, "page")
        row = QHBoxLayout(central)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        main = QVBoxLayout()
        main.setSpacing(0)
        main.addWidget(self.top_bar)
        self._top_line = hairline(central)
        main.addWidget(self._top_line)
        main.addWidget(self.notices)
        main.addWidget(self.stack, 1)
        main.addWidget(hairline(central))
        main.addWidget(self.status)
        row.addLayout(main, 1)
        self._row = row
        self.setCentralWidget(central)
        # Into a window on the screen Qt would put it later, and till then nothing in it can take the keys.
        central.show()
        self.notices.set_margin(theme.px(8))

    def _connect(self) -> None:
        conversations, actions = self.conversations, self.actions_of_window
        conversations.added.connect(self._on_added)
        conversations.removed.connect(self._on_removed)
        conversations.changed.connect(self._on_changed)
        self.sidebar.new_wanted.connect(actions.new_conversation)
        self.sidebar.chosen.connect(self.show_conversation)
        self.sidebar.close_wanted.connect(actions.close_conversation)
        self.sidebar.left.connect(self._leave_sidebar)
        self.sidebar.account.sign_in.connect(actions.sign_in)
        self.sidebar.account.settings.connect(actions.open_settings)
        self.top_bar.folder_chosen.connect(actions.work_in)
        self.top_bar.sidebar_toggled.connect(self.toggle_sidebar)
        self.status.waiting_clicked.connect(self.go_to_next_waiting)
        self.welcome.start_in.connect(actions.start_in)
        self.welcome.choose_folder.connect(self.top_bar.choose_folder)
        self.welcome.acted.connect(actions.act)
        self.notices.acted.connect(actions.act)
        self.notices.dismissed.connect(actions.dismiss)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.setInterval(30)
        self._refresh_timer.timeout.connect(self.refresh)
        self._clock = QTimer(self)
        self._clock.setInterval(STATUS_MS)
        self._clock.timeout.connect(self._standing.refresh_status)
        self._clock.start()

    def _keys(self) -> None:
        from PySide6.QtGui import QKeySequence, QShortcut

        from desktop.local_api.button import KEY
        from desktop.window.menu_bar import add_menu_bar

        actions = self.actions_of_window
        keys: dict[str, Callable[[], object]] = {
            "Ctrl+J": self.go_to_next_waiting,
            "Ctrl+N": actions.new_conversation,
            "Ctrl+O": self.top_bar.choose_folder,
            "Ctrl+,": actions.open_settings,
            "Ctrl+B": self.toggle_sidebar,
            "Ctrl+.": actions.stop,
            "Ctrl+L": self._focus_composer,
            "Ctrl+K": self._focus_search,
            "Ctrl+F": self._find,
            "Ctrl+Q": self.close,
            KEY: self.local_api.toggle,
        }
        in_menus = add_menu_bar(self, keys)
        for key, does in keys.items():
            if key not in in_menus:
                QShortcut(QKeySequence(key), self).activated.connect(does)

    # The conversations

    @property
    def page(self) -> ConversationPage | None:
        """The page that is shown, None for the welcome page."""
        if not self._is_furnished:
            return None
        shown = self.stack.currentWidget()
        return next((page for page in self._pages.values() if page is shown), None)

    @property
    def current(self) -> OpenConversation | None:
        """The conversation that is shown."""
        return self.page.opened if self.page is not None else None

    def show_conversation(self, opened: OpenConversation) -> None:
        """Show a conversation; its page is made when it is first needed."""
        page = self._pages.get(opened.key)
        if page is None:
            page = self._make_page(opened)
        self.stack.setCurrentWidget(page)
        opened.unseen = False
        self.sidebar.set_current(opened)
        self.close_floating_sidebar()
        self.refresh()

    def _make_page(self, opened: OpenConversation) -> ConversationPage:
        # Late, because the transcript and the dialogs take longer to load than all the rest: the window comes first.
        from desktop.window.page import ConversationPage

        page = ConversationPage(opened, self.settings, self.stack)
        page.notice_acted.connect(self.actions_of_window.act)
        self._pages[opened.key] = page
        self.stack.addWidget(page)
        return page

    def show_latest(self) -> None:
        """Show the conversation in which something happened last, or the welcome page."""
        others = sorted(self.conversations, key=lambda one: one.touched)
        if others:
            self.show_conversation(others[-1])
        else:
            self.stack.setCurrentWidget(self.welcome)
            self.sidebar.set_current(None)
            self.refresh()

    def lead_to(self, opened: OpenConversation | None, request_id: str) -> None:
        """Bring the window to the front with a waiting request, None for one of the local API; answers nothing."""
        self.come_to_front()
        if opened is None:
            self.local_api.lead_to(request_id)
        elif self.conversations.by_key(opened.key) is opened:
            self.show_conversation(opened)
            if self.page is not None:
                self.page.lead_to(request_id)

    def come_to_front(self) -> None:
        """Show the window before all others, because the person asked for it."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        if not self.isActiveWindow():
            self.raise_()
            self.activateWindow()

    def go_to_next_waiting(self) -> None:
        """Show the next request that waits: the one after the shown one, over all conversations and the local API."""
        waiting: list[tuple[OpenConversation | None, str]] = [*self.conversations.waiting(), *self.local_api.waiting()]
        if not waiting:
            return
        shown: tuple[OpenConversation | None, str] = (None, self.local_api.shown_id)
        if self.page is not None:
            shown = (self.page.opened, self.page.slot.shown_id)
        place = waiting.index(shown) if shown in waiting else -1
        opened, request_id = waiting[(place + 1) % len(waiting)]
        self.lead_to(opened, request_id)

    def _on_added(self, opened: OpenConversation) -> None:
        self.refresh_soon()

    def _on_removed(self, opened: OpenConversation) -> None:
        page = self._pages.pop(opened.key, None)
        if page is not None:
            was_shown = self.stack.currentWidget() is page
            self.stack.removeWidget(page)
            page.hide()
            page.deleteLater()
            if was_shown:
                self.show_latest()
        self.refresh()

    def _on_changed(self, opened: OpenConversation) -> None:
        if opened is self.current and self.isActiveWindow():
            opened.unseen = False
        self.refresh_soon()

    # What is shown

    def refresh_soon(self) -> None:
        """Refresh in a moment; many calls in a row are one."""
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def refresh(self) -> None:
        """Show everything around the page as it is now."""
        opened = self.current
        self.top_bar.show_conversation(opened)
        self.top_bar.set_narrow(self._narrow)
        for part in (self.top_bar, self._top_line):
            part.setVisible(opened is not None or self._narrow)
        title = opened.title if opened is not None else self.local_api.title
        self.setWindowTitle(f"{title} — Handraise" if title else "Handraise")
        self.local_api.refresh()
        self._standing.refresh()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice of the whole window."""
        self.actions_of_window.add_notice(notice)

    async def look_around(self) -> None:
        """Find out what is on this computer, for the welcome page and the account."""
        from desktop.onboarding.welcome import look_around

        self.findings = await look_around(self.conversations.surroundings)
        self.welcome.show_findings(self.findings)
        self.refresh()

    def look_around_soon(self) -> None:
        from desktop import loop

        loop.spawn(self.look_around(), "looking for Claude Code")

    # The sidebar

    def toggle_sidebar(self) -> None:
        """Show the sidebar, or make room."""
        self._show_sidebar(self.sidebar.isHidden())

    def _show_sidebar(self, shown: bool) -> None:
        self.sidebar.setVisible(shown)
        if self._narrow and shown:
            self._place_over_page()
            self.sidebar.search.setFocus()

    def close_floating_sidebar(self) -> None:
        """Make room again, where the sidebar lies over the page."""
        if self._narrow:
            self._show_sidebar(False)

    def _set_narrow(self, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        if narrow:
            # It floats over the page: a list beside it would leave no room to read in.
            self._row.removeWidget(self.sidebar)
        else:
            self._row.insertWidget(0, self.sidebar)
        self._show_sidebar(not narrow)
        self.refresh()

    def _place_over_page(self) -> None:
        central = self.centralWidget()
        if central is not None:
            self.sidebar.setGeometry(0, 0, self.sidebar.maximumWidth(), central.height())
        self.sidebar.raise_()

    def _leave_sidebar(self) -> None:
        if self._narrow:
            self._show_sidebar(False)
        self._focus_composer()

    def _focus_composer(self) -> None:
        if self.page is not None:
            self.page.composer.editor.setFocus()
        else:
            self.local_api.take_focus()

    def _find(self) -> None:
        if self.page is not None:
            self.page.transcript.find_bar.open()

    def _focus_search(self) -> None:
        self._show_sidebar(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    # Qt's own

    def focusNextPrevChild(self, forward: bool) -> bool:
        if not self._is_furnished:
            return super().focusNextPrevChild(forward)
        from PySide6.QtCore import Qt

        from desktop.window import tab_order

        parts: list[QWidget] = [self.sidebar, self.top_bar, self.notices]
        parts += self.page.parts if self.page is not None else self.local_api.parts or [self.stack]
        order = tab_order.stops(self, [*parts, self.status])
        target = tab_order.neighbour(order, self.focusWidget(), forward=forward)
        if target is not None:
            reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
            target.setFocus(reason)
        return target is not None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._is_furnished:
            super().keyPressEvent(event)
        else:
            self._early_keys.append(event.clone())

    def _restore_geometry(self) -> None:
        kept = self.memory.value("window/geometry")
        if kept is None or not self.restoreGeometry(kept):
            self.resize(theme.px(1240), theme.px(860))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._is_furnished:
            return
        self._set_narrow(self.width() < theme.px(NARROW))
        if self._narrow and not self.sidebar.isHidden():
            self._place_over_page()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.keep_geometry()
        super().closeEvent(event)
        self.was_closed = True
        self.closing.emit()

    def keep_geometry(self) -> None:
        """Remember where the window is, for the next run."""
        self.memory.setValue("window/geometry", self.saveGeometry())
        self.memory.sync()

    def keep_typed(self) -> None:
        """Write what is typed, anywhere in it, at once."""
        if not self._is_furnished:
            return
        for page in self._pages.values():
            page.note_typed()
        for opened in self.conversations:
            opened.texts.save()
        self.local_api.keep_typed()

    def show_first_message(self, text: str) -> None:
        """Put a text into the shown composer, for the person to send."""
        if self.page is not None:
            self.page.composer.set_content(text)

    def open_folder(self, folder: Path) -> OpenConversation:
        """Begin a conversation in a folder and show it."""
        return self.actions_of_window.start_in(folder)
