"""The local endpoint in the window, with a backend that does as it is told, and clients on threads."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings

from desktop import loop
from desktop.local_api.page import LocalApiPage
from desktop.local_api.service import Configuration, LocalApi
from desktop.window.main_window import MainWindow
from protocol.chat_completions.backend import Caller, Event, Finished, Question, Started, TextDelta
from protocol.chat_completions.claude_cli import Launch
from protocol.chat_completions.errors import cli_failed
from protocol.chat_completions.request import CompletionRequest
from protocol.conversation import PendingRequest
from tests.helpers.api_client import MODEL, Client
from tests.helpers.desk import Desk
from tests.helpers.person import Person
from tests.helpers.requests import COLOUR, ask, pending

SECONDS = 30.0


class ToldBackend:
    """Answers with what it heard; `ask` in the message asks the person first, `hang` never answers.

    Attributes:
        configurations: what each start was told, the newest last.
        find: tells which CLI there is; of the newest start.
        at_work: how many answers are being made.
    """

    supports: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.configurations: list[Configuration] = []
        self.find: Callable[[], Launch] | None = None
        self.at_work = 0
        self.request: Callable[[], PendingRequest] = lambda: pending(ask(COLOUR))

    def __call__(self, configuration: Configuration, find: Callable[[], Launch]) -> ToldBackend:
        self.configurations.append(configuration)
        self.find = find
        return self

    async def start(self) -> None:
        """Nothing to start."""

    async def models(self) -> tuple[str, ...]:
        return (MODEL,)

    async def close(self) -> None:
        """Nothing to end."""

    async def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        self.at_work += 1
        try:
            yield Started()
            text = request.turns[-1].text
            if text == "hang":
                await asyncio.sleep(3600)
            if text == "ask" and caller.ask is not None:
                reply = await caller.ask(Question(self.request(), caller.client, Path("/")))
                if reply is None:
                    raise cli_failed("Nobody answered.", "question_unanswered")
                text = json.dumps(reply)
            yield TextDelta(text)
            yield Finished()
        finally:
            self.at_work -= 1


class ApiSitting:
    """The window with a local endpoint that takes any free port, and a person before it.

    Attributes:
        backend: what answers.
        api: the endpoint of the window.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.person = Person()
        self.backend = ToldBackend()
        desk.settings.change(local_api_port=0)
        self.open()

    def open(self) -> None:
        """Open the window, as a start of the program does."""
        self.api = LocalApi(
            self.desk.settings, self.desk.surroundings, self.desk.root / "data", make_backend=self.backend
        )
        geometry = QSettings(str(self.desk.root / "w.ini"), QSettings.Format.IniFormat)
        self.window = MainWindow(geometry).furnish(self.desk.conversations, self.desk.settings, self.api)
        self.window.show()
        self.window.activateWindow()

    def leave(self) -> None:
        """Close the window."""
        self.window.close()
        self.window.deleteLater()

    def play(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a story on the window's loop; at its end the endpoint is closed."""

        async def whole() -> None:
            try:
                await story()
            finally:
                await self.api.close()

        self.desk.run(whole())

    @property
    def page(self) -> LocalApiPage:
        page = self.window.local_api.page
        assert page is not None, "the page is not shown"
        return page

    async def switched_on(self) -> None:
        """Show the page, switch on, and wait until it listens."""
        self.window.local_api.show()
        await self.person.click("localApiSwitch")
        await self.until(lambda: self.api.state == "on", "it is on")

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await self.person.waits_until(lambda: bool(condition()), what, SECONDS)

    def client(self, name: str = "openai-python/3.57", token: str | None = None) -> Client:
        """A client with the endpoint's token, or another one."""
        return Client(self.api.url, self.api.token() if token is None else token, name)

    async def completed(self, text: str, **more: Any) -> Client:
        """A new client's completion."""
        return await loop.on_thread(lambda: self.client().complete(text, **more))

    async def models(self, token: str | None = None) -> Client:
        """A new client's list of models."""
        return await loop.on_thread(lambda: self.client(token=token).models())


class OtherLoop:
    """An asyncio loop on a thread of its own, as the endpoint has one. A context manager."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="another loop")

    def __enter__(self) -> OtherLoop:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine there; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def end(self) -> None:
        """End the loop; nothing happens the second time."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(SECONDS)
            self.loop.close()
