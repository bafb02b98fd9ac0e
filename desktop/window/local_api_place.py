"""The local API's place in the window: its button, its page, what of it waits for the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop.translations import tr
from desktop.widgets import DotState

if TYPE_CHECKING:
    from desktop.conversations import OpenConversation
    from desktop.local_api.page import LocalApiPage
    from desktop.local_api.service import LocalApi
    from desktop.window.main_window import MainWindow


class LocalApiPlace(QObject):
    """What the window knows of the local API. Without one (`api` None) there is no button, and nothing ever waits."""

    def __init__(self, window: MainWindow, api: LocalApi | None) -> None:
        super().__init__(window)
        self._window = window
        self._api = api
        self._page: LocalApiPage | None = None
        self._back_to: OpenConversation | None = None
        button = window.sidebar.local_api
        button.setVisible(api is not None)
        button.clicked.connect(self.show)
        if api is not None:
            api.changed.connect(window.refresh_soon)
            api.requests_changed.connect(window.refresh_soon)
            api.asker.changed.connect(window.refresh_soon)

    @property
    def page(self) -> LocalApiPage | None:
        """The page while it is shown."""
        return self._page if self._page is not None and self._window.stack.currentWidget() is self._page else None

    @property
    def parts(self) -> list[QWidget]:
        """The areas of the shown page, none while it is not shown."""
        return self.page.parts if self.page is not None else []

    @property
    def title(self) -> str:
        """For the window, "" while the page is not shown."""
        return tr("Local API") if self.page is not None else ""

    @property
    def shown_id(self) -> str:
        """The question that is shown, "" for none."""
        return self.page.slot.shown_id if self.page is not None else ""

    def waiting(self) -> list[tuple[None, str]]:
        """The questions that wait, the longest waiting first; None stands for the conversation that they have not."""
        return [(None, key) for key in self._api.asker.pending] if self._api is not None else []

    def keep_typed(self) -> None:
        """Write what is typed for a question at once."""
        if self._page is not None:
            self._page.note_typed()
        if self._api is not None:
            self._api.texts.save()

    def kinds(self) -> set[str]:
        """What waits: questions, permissions, …"""
        return {pending.kind for pending in self._api.asker.pending.values()} if self._api is not None else set()

    def show(self) -> None:
        """Show the page; it is made when it is first needed."""
        if self._api is None:
            return
        if self._page is None:
            # Late, for the same reason as a conversation's page.
            from desktop.local_api.page import LocalApiPage

            self._page = LocalApiPage(self._api, self._window.stack)
            self._window.stack.addWidget(self._page)
        if self.page is None:
            self._back_to = self._window.current
        self._window.stack.setCurrentWidget(self._page)
        self._window.sidebar.set_current(None)
        self._window.close_floating_sidebar()
        self._window.refresh()

    def toggle(self) -> None:
        """Show the page, or go back to where the person came from."""
        if self.page is None:
            self.show()
        elif self._back_to is not None and self._window.conversations.by_key(self._back_to.key) is self._back_to:
            self._window.show_conversation(self._back_to)
        else:
            self._window.show_latest()

    def lead_to(self, key: str) -> None:
        """Show the page with a waiting question."""
        self.show()
        if self.page is not None:
            self.page.lead_to(key)

    def take_focus(self) -> None:
        """Put the focus where one begins on the page, if it is shown."""
        if self.page is not None:
            self.page.access.switch.setFocus()

    def status(self) -> tuple[DotState, str]:
        """The dot and the words of the status line while no conversation is shown."""
        if self.page is not None and self.waiting():
            return "waiting", tr("Waiting for your answer")
        return "rest", ""

    def refresh(self) -> None:
        """Show on the button what it is at."""
        if self._api is None:
            return
        button = self._window.sidebar.local_api
        button.setChecked(self.page is not None)
        button.show_state(*self._button_state(self._api))

    def _button_state(self, api: LocalApi) -> tuple[DotState, str]:
        if self.waiting():
            return "waiting", tr("Waiting for you")
        if api.state == "failed":
            return "failed", tr("Failed")
        if api.state in ("starting", "stopping"):
            return "working", tr("Starting") if api.state == "starting" else tr("Ending")
        if api.state == "on":
            live = api.live
            return ("working", tr("{count} at work", count=live)) if live else ("done", tr("On"))
        return "rest", tr("Off")
