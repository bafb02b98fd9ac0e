"""How things stand: what the status line, the Dock and the account say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from desktop.conversations import OpenConversation
from desktop.translations import tr
from desktop.widgets import DotState
from desktop.window.wording import account_detail, account_words, dot_of, plan_words, state_words, waiting_words

if TYPE_CHECKING:
    from desktop.window.main_window import MainWindow


class Standing:
    """Tells the parts of a window around the page how things stand."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._since: dict[str, tuple[str, float]] = {}

    def refresh(self) -> None:
        """Tell all of them."""
        self._refresh_account()
        self.refresh_status()

    def refresh_status(self) -> None:
        """Show what runs, for how long, and what waits."""
        window = self._window
        opened = window.current
        waiting, asked = window.conversations.waiting(), window.local_api.waiting()
        window.badge.show(len(waiting) + len(asked))
        here = sum(1 for one, _ in waiting if one is opened)
        kinds = {one.conversation.pending[request_id].kind for one, request_id in waiting} | window.local_api.kinds()
        words = waiting_words(
            here, len(waiting) - here, only_questions=kinds == {"question"}, local_api=len(asked)
        )
        if opened is None:
            window.status.show_words(*window.local_api.status(), words, "")
            return
        dot, _ = dot_of(opened)
        if dot == "done":
            dot = "rest"
        state = state_words(opened, self._seconds_in_state(opened))
        window.status.show_words(dot, state, words, plan_words(opened.conversation.rate_limit))

    def _seconds_in_state(self, opened: OpenConversation) -> float | None:
        """How long a conversation is at what it is at; None at rest."""
        plain = state_words(opened)
        now = time.monotonic()
        known, since = self._since.get(opened.key, ("", now))
        if known != plain:
            since = now
            self._since[opened.key] = (plain, now)
        busy = opened.phase in ("starting", "queued") or opened.conversation.state in ("running", "requires_action")
        return now - since if busy and opened.phase in ("starting", "queued", "running") else None

    def _refresh_account(self) -> None:
        window = self._window
        opened = window.current or next((one for one in window.conversations if one.conversation.account), None)
        account = dict(opened.conversation.account) if opened is not None else {}
        prepared = opened.runner.prepared if opened is not None else None
        environment = prepared.environment if prepared is not None else None
        login = window.findings.login if window.findings is not None else None
        if login is not None and login.logged_in and not account:
            account = {"email": login.email, "subscriptionType": login.subscription}
        signed_out = any("login" in one.notices for one in window.conversations)
        signed_in = False if signed_out else login.logged_in if login is not None else None
        notable = dict(environment.notable) if environment is not None else {}
        words = tr("Not signed in") if signed_out else account_words(account, notable, signed_in)
        removed = environment.removed if environment is not None else ()
        detail = account_detail(account, notable, tuple(name for name in removed if name.startswith("ANTHROPIC_")))
        dot: DotState = "failed" if signed_in is False else "rest" if words == tr("Account unknown") else "done"
        window.sidebar.account.show_account(words, detail, dot, can_sign_in=signed_in is False)
