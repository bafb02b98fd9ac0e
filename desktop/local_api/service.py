"""The local endpoint as the window has it: on or off, where it listens, what it is asked."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from desktop import loop
from desktop.conversations import DraftStore, Surroundings
from desktop.conversations.drafts import Draft
from desktop.conversations.texts import Texts
from desktop.local_api.asker import Asker
from desktop.local_api.request_rows import RequestRow, row_of
from desktop.paths import TOKEN_NAME
from desktop.sentences import Sentence, said
from desktop.settings import Settings, SettingsStore
from protocol.chat_completions.journal import Entry, Journal
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.token_file import TokenError, TokenFile, without_token
from protocol.claude import ClaudeBroken, ClaudeNotFound

if TYPE_CHECKING:
    # Loaded when the endpoint is first switched on: its server takes longer to load than the window.
    from protocol.chat_completions.backend import Backend
    from protocol.chat_completions.claude_cli import Launch
    from protocol.chat_completions.server import EndpointServer
    from protocol.chat_completions.thread import EndpointThread

log = logging.getLogger("handraise.local_api")

DRAFT_KEY = "0" * 32
REFRESH_MS = 250
"""The list of requests is read anew this often at most."""
FIND_SECONDS = 60.0
STOP_SECONDS = 12.0

State = Literal["off", "starting", "on", "stopping", "failed"]
MakeBackend = Callable[["Configuration", Callable[[], "Launch"]], "Backend"]


@dataclass(frozen=True)
class Configuration:
    """All that an endpoint is started with; another one needs another start.

    Attributes:
        port, lenient: see `EndpointOptions`.
        folder: where requests may use tools; None where they may not.
        claude, keep_api_key: what decides which CLI is run, and how.
    """

    port: int
    lenient: bool
    folder: Path | None
    claude: str
    keep_api_key: bool


def claude_backend(configuration: Configuration, find: Callable[[], Launch]) -> Backend:
    """The backend that the window uses."""
    from protocol.chat_completions.claude_backend import ClaudeBackend, ClaudeOptions

    return ClaudeBackend(find, ClaudeOptions(tools_in=configuration.folder))


class LocalApi(QObject):
    """The endpoint of this window.

    Attributes:
        state: what it is at.
        url: the address for programs; "" unless it is on.
        problem: why it is not on although it should be, or what else went wrong; None for nothing.
        rows: what it was asked, newest first.
        asker: the questions of its clients.
        texts: what was typed for them, and lost its place.

    Signals:
        changed: state, address, token, settings or problem are different.
        requests_changed: the rows are different.
    """

    changed = Signal()
    requests_changed = Signal()
    _journal_told = Signal()

    def __init__(
        self,
        settings: SettingsStore,
        surroundings: Surroundings,
        data: Path,
        parent: QObject | None = None,
        *,
        make_backend: MakeBackend = claude_backend,
    ) -> None:
        """`data` is the folder for the token and for what was typed."""
        super().__init__(parent)
        self.settings = settings
        self.state: State = "off"
        self.url = ""
        self.problem: Sentence | None = None
        self.rows: list[RequestRow] = []
        self.token_file = TokenFile(data / TOKEN_NAME)
        self.texts = _texts(DraftStore(data / "local-api"))
        self.texts.setParent(self)
        self.asker = Asker(self.texts, self)
        self._surroundings = surroundings
        self._make_backend = make_backend
        self._journal = Journal(on_change=self._on_journal)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._thread: EndpointThread | None = None
        self._runs: Configuration | None = None
        self._closed = False
        self._told = False
        self._token = ""
        self._refresh_timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._refresh_timer.timeout.connect(self.refresh_rows)
        self._journal_told.connect(self._refresh_soon, Qt.ConnectionType.QueuedConnection)
        settings.subscribe(self._on_settings)

    # What it is

    @property
    def is_wanted(self) -> bool:
        """Whether the person has switched it on."""
        return self.settings.settings.local_api

    @property
    def live(self) -> int:
        """How many requests go on."""
        return sum(entry.state != "done" for entry in self._journal.entries())

    @property
    def folder(self) -> Path | None:
        """Where requests may use tools; None where they may not."""
        settings = self.settings.settings
        return Path(settings.local_api_folder) if settings.local_api_tools and settings.local_api_folder else None

    @property
    def has_token(self) -> bool:
        """Whether there is a token yet: it is made when the endpoint is first switched on."""
        return self.is_wanted or self.token_file.path.exists()

    def token(self) -> str:
        """The token that programs need; "" where its file cannot be used, which is then the problem."""
        try:
            return self.token_file.read_or_create()
        except TokenError as error:
            self._fail(said(error))
            return ""

    # What the person does

    def set_on(self, on: bool) -> None:
        """Switch it on or off."""
        self._change(local_api=on)

    def set_port(self, port: int) -> None:
        """Listen on another port."""
        self._change(local_api_port=port)

    def set_lenient(self, lenient: bool) -> None:
        """Ignore sampling parameters that are not done, or refuse them."""
        self._change(local_api_lenient=lenient)

    def set_tools(self, on: bool, folder: str | None = None) -> None:
        """Let requests use tools, or not; in a folder, or in the one that was named before."""
        values: dict[str, object] = {"local_api_tools": on}
        if folder is not None:
            values["local_api_folder"] = folder
        self._change(**values)

    def renew_token(self) -> None:
        """A new token; who has the old one is shut out from now on. What is being answered goes on."""
        try:
            token = self.token_file.renew()
        except TokenError as error:
            self._fail(said(error))
            return
        self._token = token
        if self._thread is not None and self._thread.server is not None:
            self._thread.server.use_token(token)
        self.changed.emit()

    def try_again(self) -> None:
        """Start once more after a failure."""
        self._apply_soon()

    def _change(self, **values: object) -> None:
        problem = self.settings.change(**values)
        if problem is not None:
            self.problem = problem
        self.changed.emit()

    # Running

    def begin(self) -> None:
        """The window is there: start if it was on the last time."""
        if self.is_wanted:
            self._apply_soon()

    async def close(self) -> None:
        """End it with the window; requests that run end with an error that says so."""
        self._closed = True
        self.asker.close()
        async with self._lock:
            await self._stop()
        self.texts.save()

    def _wanted(self) -> Configuration | None:
        settings = self.settings.settings
        if self._closed or not settings.local_api:
            return None
        return Configuration(
            settings.local_api_port, settings.local_api_lenient, self.folder, settings.claude, settings.keep_api_key
        )

    def _on_settings(self, settings: Settings) -> None:
        if self._wanted() != self._runs and not self._closed:
            self._apply_soon()

    def _apply_soon(self) -> None:
        if not self._closed:
            loop.spawn(self._apply(), "the local API")

    async def _apply(self) -> None:
        """Bring about what is wanted by now; many wishes in a row are one."""
        async with self._lock:
            wanted = self._wanted()
            if wanted == self._runs and self.state == ("off" if wanted is None else "on"):
                return
            await self._stop()
            if wanted is not None and wanted == self._wanted():
                await self._start(wanted)
            elif wanted is None:
                self._show("off", problem=None)

    async def _start(self, wanted: Configuration) -> None:
        self._loop = asyncio.get_running_loop()
        self._show("starting", problem=None)
        try:
            token = self._token = self.token_file.read_or_create()
            thread = await loop.on_thread(self._make_thread, wanted, token)
            url = await loop.on_thread(thread.start)
        except Exception as error:  # a sentence of the endpoint's, or what nobody foresaw: told either way
            log.warning("The local API could not be started: %s", error)
            self._show("failed", problem=said(error))
            return
        self._thread, self._runs = thread, wanted
        self.url = url
        log.info("The local API listens at %s", url)
        self._show("on", problem=None)

    async def _stop(self) -> None:
        thread, self._thread = self._thread, None
        self._runs = None
        self.url = ""
        if thread is None:
            return
        self._show("stopping", problem=self.problem)
        if not await loop.on_thread(thread.stop, STOP_SECONDS):
            log.error("The local API did not end within %.0f s", STOP_SECONDS)

    def _make_thread(self, wanted: Configuration, token: str) -> EndpointThread:
        """On a thread, because of all that is loaded here."""
        from protocol.chat_completions.thread import EndpointThread

        return EndpointThread(lambda: self._make(wanted, token))

    def _make(self, wanted: Configuration, token: str) -> EndpointServer:
        """On the endpoint's thread."""
        from protocol.chat_completions.server import EndpointServer

        options = EndpointOptions(port=wanted.port, lenient=wanted.lenient)
        backend = self._make_backend(wanted, self._find)
        return EndpointServer(backend, options, token, ask=self.asker.ask, journal=self._journal)

    def _find(self) -> Launch:
        """The CLI that the window's conversations run. Called on threads of the endpoint, and blocks them."""
        from protocol.chat_completions.claude_cli import Launch

        assert self._loop is not None
        try:
            found = asyncio.run_coroutine_threadsafe(self._surroundings.prepare(), self._loop).result(FIND_SECONDS)
        except ClaudeBroken as error:
            raise ClaudeNotFound(str(error)) from error
        return Launch(found.claude.argv, without_token(found.environment.env, self._token))

    def _show(self, state: State, *, problem: Sentence | None) -> None:
        self.state, self.problem = state, problem
        self.changed.emit()

    def _fail(self, problem: Sentence) -> None:
        if str(problem) != str(self.problem or ""):
            self.problem = problem
            self.changed.emit()

    # The list of requests

    def _on_journal(self, entry: Entry) -> None:
        """On the endpoint's thread: tell the window, once until it has looked."""
        if not self._told:
            self._told = True
            self._journal_told.emit()

    def _refresh_soon(self) -> None:
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def refresh_rows(self) -> None:
        """Read the list anew."""
        self._told = False
        now = time.time()
        entries = sorted(self._journal.entries(), key=lambda entry: entry.arrived, reverse=True)
        self.rows = [row_of(entry, now) for entry in entries]
        self.requests_changed.emit()


def _texts(store: DraftStore) -> Texts:
    """What was typed for questions, with what an earlier run left."""
    kept = next((draft for draft in store.load() if draft.key == DRAFT_KEY), None)
    return Texts(store, kept or Draft(key=DRAFT_KEY), lambda draft: None)
