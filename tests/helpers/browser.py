"""A headless Chromium that tests drive: pages of any site, scripts in them, and what really went over the wire.

It speaks the browser's own DevTools protocol, so it needs no driver.

    async with chromium(tmp_path) as browser:
        page = await browser.page("http://evil.example:8000/")
        assert await page.run("location.host") == "evil.example:8000"
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.helpers.clients import browser

DEADLINE = 30.0

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
    # Else it tries to reach its maker at every start.
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--no-proxy-server", "--remote-debugging-port=0",
    # Every name there is leads to this machine: what the owner of a site does who has his own DNS.
    "--host-resolver-rules=MAP * 127.0.0.1",
)  # fmt: skip


@dataclass
class Exchange:
    """One request that a page had the browser send.

    Attributes:
        method: as sent; `WEBSOCKET` for one that asks for a websocket.
        url: where to.
        status: of the reply as it came over the wire, whatever the page was allowed to see of it; None for none yet.
    """

    method: str = ""
    url: str = ""
    status: int | None = None


class Page:
    """One tab; made by `Chromium.page`."""

    def __init__(self, chromium: Chromium, session: str) -> None:
        self._chromium = chromium
        self._session = session
        self._exchanges: dict[str, Exchange] = {}
        self._loaded = 0

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._chromium.call(method, self._session, **params)

    async def open(self, url: str) -> None:
        """Goes there as a person does who types it, and waits until it is shown."""
        before = self._loaded
        await self.call("Page.navigate", url=url)
        await self.wait_until(lambda: self._loaded > before, f"{url} was not shown")

    async def run(self, script: str) -> Any:
        """The value of an expression, awaited where it is a promise; the text of the error where it fails."""
        reply = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in reply:
            return reply["result"].get("description", reply["exceptionDetails"]["text"])
        return reply["result"].get("value")

    def sent(self) -> list[Exchange]:
        """What this tab has had sent so far."""
        return list(self._exchanges.values())

    async def wait_until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while not is_so():
                await self._chromium.something_happens(otherwise)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        exchange = self._exchanges.setdefault(params["requestId"], Exchange()) if "requestId" in params else Exchange()
        if method == "Page.loadEventFired":
            self._loaded += 1
        elif method == "Network.requestWillBeSent":
            request = params["request"]
            exchange.method, exchange.url = request["method"], request["url"]
        elif method == "Network.responseReceivedExtraInfo":
            exchange.status = params["statusCode"]
        elif method == "Network.webSocketCreated":
            exchange.method, exchange.url = "WEBSOCKET", params["url"]
        elif method == "Network.webSocketHandshakeResponseReceived":
            exchange.status = params["response"]["status"]


class Chromium:
    """The browser; made by `chromium`."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        self._happened = asyncio.Event()

    async def page(self, url: str) -> Page:
        """A new tab that shows `url`."""
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = self._pages[attached["sessionId"]] = Page(self, attached["sessionId"])
        for domain in ("Page", "Network", "Runtime"):
            await page.call(f"{domain}.enable")
        await page.open(url)
        return page

    async def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Has the browser do something and returns what it says."""
        number = next(self._numbers)
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        await self._socket.send_json(message)
        async with asyncio.timeout(DEADLINE):
            return await reply

    async def something_happens(self, otherwise: str) -> None:
        self._happened.clear()
        try:
            async with asyncio.timeout(DEADLINE):
                await self._happened.wait()
        except TimeoutError:
            raise AssertionError(otherwise) from None

    async def listen(self) -> None:
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answer(self._replies.pop(said["id"]), said)
            elif page := self._pages.get(said.get("sessionId", "")):
                page.hear(said["method"], said["params"])
            self._happened.set()

    def _answer(self, reply: asyncio.Future[dict[str, Any]], said: dict[str, Any]) -> None:
        if reply.done():  # cancelled
            return
        if "error" in said:
            reply.set_exception(AssertionError(f"the browser refuses: {said['error']}"))
        else:
            reply.set_result(said["result"])


@contextlib.asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Chromium]:
    """A browser with an empty profile in `folder`. Skips the test where there is none, or fails it if required."""
    profile = folder / "chromium"
    profile.mkdir()
    process = await asyncio.create_subprocess_exec(
        str(browser()), *_FLAGS, f"--user-data-dir={profile}", "about:blank",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(await _address(profile, process), max_msg_size=0) as socket,
        ):
            driven = Chromium(socket)
            listening = asyncio.create_task(driven.listen())
            try:
                yield driven
                await driven.call("Browser.close")
                await asyncio.wait_for(process.wait(), DEADLINE)
            finally:
                listening.cancel()
                await asyncio.wait([listening])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(profile: Path, process: asyncio.subprocess.Process) -> str:
    """Where it listens: it writes port and path into a file when it does."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(DEADLINE):
        while not (file.exists() and len(lines := file.read_text(encoding="utf-8").split()) == 2):
            assert process.returncode is None, f"Chromium has left with {process.returncode}"
            await asyncio.sleep(0.05)
    return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
