"""What can be set on a running conversation, and what the CLI tells about it: model, mode, effort, context, silence."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from desktop import loop
from desktop.conversations import notices
from desktop.conversations.runner import Runner
from desktop.sentences import Sentence, sentence
from desktop.settings import SettingsStore
from protocol import requests
from protocol.conversation import Change, NoticeItem, TurnEndItem, UserItem
from protocol.conversation.notices import SIGN_IN, TOO_LONG
from protocol.process import CREDENTIALS
from protocol.session import RequestRefused, Session, SessionError, SessionOptions

log = logging.getLogger("handraise.conversations")

SILENCE = 120.0
"""Seconds without a word while Claude, and not a tool, is at work; then the person is told."""
WATCH_MS = 1000
MOST = 1e15
"""No count of tokens is this large."""
LOOK_SECONDS = 0.5


def as_count(value: object) -> int:
    """A number of things as a CLI tells it, 0 for what can be none."""
    return int(value) if isinstance(value, (int, float)) and 0 < value < MOST else 0


class Controls(QObject):
    """The settings of one conversation.

    Attributes:
        effort: the level in force, "" when the CLI does not tell.
        context_percent: how full the context window is, None while unknown.
        silence_after: seconds, see `SILENCE`.
        api_key_told: asks, once there is something to tell, whether another conversation has told it.

    Signals:
        changed: something here is different.
        noticed(Notice), settled(key): a notice to show, or to put away.
        signed_out(UserItem): the API refused the login; the message that came to nothing.
    """

    changed = Signal()
    noticed = Signal(object)
    settled = Signal(str)
    signed_out = Signal(object)

    def __init__(
        self,
        runner: Runner,
        settings: SettingsStore,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.effort = ""
        self.silence_after = SILENCE
        self._runner = runner
        self._settings = settings
        self._clock = clock
        self._unsupported: set[str] = set()
        self._told_mode = ""
        self.api_key_told: Callable[[], bool] = lambda: False
        self._last_sign = clock()
        self._given_back = ""
        self._watch = QTimer(self)
        self._watch.setInterval(WATCH_MS)
        self._watch.timeout.connect(self.look_for_life)

    # What the person sets

    def set_model(self, value: str) -> None:
        """Change the model; a refusal is told, and views put their selector back."""
        self._choose("model", value, requests.set_model(value), sentence("The model was not changed"))

    def set_mode(self, mode: str) -> None:
        """Change the permission mode; a refusal is told, and views put their selector back."""
        self._choose("mode", mode, requests.set_permission_mode(mode), sentence("The mode was not changed"))

    def _choose(self, name: str, value: str, request: dict[str, object], what: Sentence) -> None:
        self._set(request, what, lambda: setattr(self._runner.choices, name, value))

    def set_effort(self, level: str) -> None:
        """Change how hard the model thinks."""
        self._set(
            requests.apply_flag_settings({"effortLevel": level}), sentence("The effort was not changed"),
            lambda: self._on_effort(level),
        )  # fmt: skip

    def _on_effort(self, level: str) -> None:
        self.effort = self._runner.choices.effort = level

    def _set(self, request: dict[str, object], what: Sentence, done: Callable[[], None]) -> None:
        session = self._runner.session
        if session is not None and self._runner.is_live:
            loop.spawn(self._ask_for(session, request, what, done), str(request.get("subtype")))
        else:
            done()
            self.changed.emit()

    async def _ask_for(
        self, session: Session, request: dict[str, object], what: Sentence, done: Callable[[], None]
    ) -> None:
        try:
            await session.request(request)
        except SessionError as error:
            self.noticed.emit(notices.refused(what, error))
        else:
            done()
            self.settled.emit("refused")
        self.changed.emit()

    def _catch_up(self, options: SessionOptions) -> None:
        """Tell a CLI that is up now what was chosen while it came up; the choice counts when it is taken."""
        choices = self._runner.choices
        model, mode = choices.model, choices.mode
        choices.model, choices.mode = options.model, options.permission_mode
        if model is not None and model != options.model:
            self.set_model(model)
        if mode is not None and mode != options.permission_mode:
            self.set_mode(mode)

    # What the CLI is asked

    async def files(self, query: str) -> list[str]:
        """Paths for an `@` mention; [] where the CLI does not know the question."""
        answer = await self._look_up("file_suggestions", requests.file_suggestions(query))
        if answer is not None and not answer.get("suggestions"):
            # The first question only makes the CLI look at the folder; its answer is empty (2.1.197, 2.1.332).
            await asyncio.sleep(LOOK_SECONDS)
            answer = await self._look_up("file_suggestions", requests.file_suggestions(query))
        suggestions = answer.get("suggestions") if answer else None
        paths = []
        for one in suggestions if isinstance(suggestions, list) else []:
            path = one if isinstance(one, str) else one.get("path") if isinstance(one, dict) else None
            if isinstance(path, str):
                paths.append(path)
        return paths

    async def _look_up(self, name: str, request: dict[str, object]) -> dict[str, object] | None:
        """An answer that is nice to have; None when there is none. A CLI that does not know it is not asked again."""
        session = self._runner.session
        if session is None or not self._runner.is_live or name in self._unsupported:
            return None
        try:
            return await session.request(request)
        except RequestRefused as error:
            log.info("The CLI does not answer %s: %s", name, error.sentence)
            self._unsupported.add(name)
        except SessionError as error:
            log.info("No answer to %s: %s", name, error.sentence)
        return None

    def after_start(self) -> None:
        """The CLI is up: say what was done to its environment, and ask what it has in force."""
        self._unsupported.clear()
        self.heard(())
        self._watch.start()
        prepared = self._runner.prepared
        keys = [name for name in prepared.environment.removed if name in CREDENTIALS] if prepared else []
        if keys and not self.api_key_told():
            self.noticed.emit(notices.api_key_removed(keys))
        if self._runner.session is not None:
            self._catch_up(self._runner.session.options)
        loop.spawn(self._read_effort(), "reading the effort")

    async def _read_effort(self) -> None:
        answer = await self._look_up("get_settings", requests.get_settings())
        applied = answer.get("applied") if answer else None
        effort = applied.get("effort") if isinstance(applied, dict) else None
        if not isinstance(effort, str):
            return
        self.effort = effort
        chosen = self._runner.choices.effort
        if chosen is not None and chosen != effort:
            self.set_effort(chosen)  # there is no flag for it that every CLI knows
        self.changed.emit()

    async def _read_context(self) -> None:
        # The reply is taken over by the conversation itself (`context_usage`).
        await self._look_up("get_context_usage", requests.get_context_usage())
        self.changed.emit()

    @property
    def context_tokens(self) -> int:
        """The tokens in the context window: as the CLI counts, else those of the last request; 0 while unknown."""
        return self._context()[0]

    @property
    def context_percent(self) -> int | None:
        """How full the context window is."""
        total, most = self._context()
        return max(0, min(100, round(100 * total / most))) if total and most else None

    def _context(self) -> tuple[int, int]:
        conversation = self._runner.conversation
        counted = conversation.context_usage
        total, most = as_count(counted.get("totalTokens")), as_count(counted.get("maxTokens"))
        if not most:
            total, most = as_count(conversation.context_tokens), as_count(conversation.context_window)
        return total, most

    # What the CLI does

    def heard(self, changes: Sequence[Change]) -> None:
        """The CLI has said something."""
        self._last_sign = self._clock()
        self.settled.emit("silence")
        told = self._runner.conversation.permission_mode
        if told != self._told_mode:
            self._told_mode = told
            self._runner.choices.mode = told or self._runner.choices.mode  # an approved plan changes it, too
        for change in changes:
            if change.kind not in ("item_added", "item_changed"):
                continue
            item = self._runner.conversation.item(change.id)
            if isinstance(item, TurnEndItem) and change.kind == "item_added":
                self.after_turn()
            elif isinstance(item, NoticeItem) and item.kind == "error" and item.text == SIGN_IN:
                self._on_signed_out()
            elif isinstance(item, NoticeItem) and item.text == TOO_LONG:
                self.noticed.emit(notices.line_lost())

    def after_turn(self) -> None:
        """A turn has ended: the context has grown."""
        if self._runner.is_live:
            loop.spawn(self._read_context(), "reading the context usage")

    def _on_signed_out(self) -> None:
        items = reversed(self._runner.conversation.items)
        message = next((item for item in items if isinstance(item, UserItem)), None)
        self.noticed.emit(notices.signed_out(draft_back=message is not None))
        if message is not None and message.id != self._given_back:
            self._given_back = message.id  # one message can fail many times, and is one message
            self.signed_out.emit(message)

    def look_for_life(self) -> None:
        """Tell the person when nothing has come for too long. A running tool may be silent as long as it likes."""
        conversation = self._runner.conversation
        if not self._runner.is_live:
            self._watch.stop()
            return
        at_work = conversation.state == "running" and conversation.activity != "tool" and not conversation.pending
        silent_for = self._clock() - self._last_sign
        if at_work and silent_for >= self.silence_after:
            self.noticed.emit(notices.no_sign_of_life(max(1, round(silent_for / 60))))
