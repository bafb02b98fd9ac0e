"""Web pages in a real browser that try to use the endpoint: nothing of what they send gets to a CLI.

The browser's names all lead to this machine, as the owner of a site can have it with his own DNS. Three pages try: one
of a site somewhere (`foreign`), one of another program on this machine (`local`), and one whose own name and port lead
to the endpoint, so that the browser takes the endpoint for the page's own server (`rebound`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from tests.helpers.browser import Chromium, Page, chromium
from tests.helpers.endpoint import CHAT, HELLO, TOKEN, Endpoint, ScriptedBackend, answer, serving

REFUSED = {401, 403, 415, 421}
BODY = json.dumps(HELLO)

FETCHES = {
    "a simple post": {"method": "POST", "mode": "no-cors", "body": BODY},
    "a simple post with cookies": {"method": "POST", "mode": "no-cors", "body": BODY, "credentials": "include"},
    "a post as a form sends it": {
        "method": "POST",
        "mode": "no-cors",
        "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        "body": BODY,
    },
    "json": {"method": "POST", "headers": {"Content-Type": "application/json"}, "body": BODY},
    "a guessed token": {
        "method": "POST",
        "headers": {"Content-Type": "application/json", "Authorization": "Bearer sk-1234"},
        "body": BODY,
    },
    "a guessed token in a simple post": {"method": "POST", "headers": {"Authorization": "Bearer "}, "body": BODY},
    "a header of its own": {"method": "POST", "headers": {"x-api-key": "sk-1234"}, "body": BODY},
    "the list of models": {},
    "the list of models unread": {"mode": "no-cors"},
    "another method": {"method": "PUT", "body": BODY},
}

OTHER_WAYS = {
    "a beacon": "navigator.sendBeacon(url, body)",
    "a beacon of json": "navigator.sendBeacon(url, new Blob([body], {type: 'application/json'}))",
    "a picture": "new Promise(done => { const e = new Image(); e.onload = e.onerror = done; e.src = url })",
    "a script": (
        "new Promise(done => { const e = document.createElement('script'); e.onload = e.onerror = done;"
        " e.src = url; document.head.append(e) })"
    ),
    "a style sheet": (
        "new Promise(done => { const e = document.createElement('link'); e.rel = 'stylesheet';"
        " e.onload = e.onerror = done; e.href = url; document.head.append(e) })"
    ),
    "events": (
        "new Promise(done => { const e = new EventSource(url);"
        " e.onopen = () => done('open'); e.onerror = () => done(e.close()) })"
    ),
    "a websocket": (
        "new Promise(done => { const e = new WebSocket(url.replace('http', 'ws'));"
        " e.onopen = () => done('open'); e.onerror = () => done('') })"
    ),
    "a request of the old kind": (
        "new Promise(done => { const e = new XMLHttpRequest(); e.onloadend = () => done(e.responseText);"
        " e.open('POST', url); e.send(body) })"
    ),
}

FORMS = {
    # The name and the value of the one field make the body, with an equals sign between: JSON, and a good request.
    "text/plain": (BODY[:-1] + ', "user": "', '"}'),
    "application/x-www-form-urlencoded": ("model", "cli-demo"),
    "multipart/form-data": ("file", BODY),
}


@contextlib.asynccontextmanager
async def page_server() -> AsyncIterator[int]:
    """A web server of somebody else; its port."""

    async def show(_: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>Free kittens</title><p>Kittens.", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", show)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def fetched(page: Page, url: str, options: object) -> object:
    """What the page itself can see of a fetch."""
    return await page.run(
        f"fetch({json.dumps(url)}, {json.dumps(options)}).then(r => r.text()).then(text => text || 'empty', String)"
    )


async def send_form(browser: Chromium, page_url: str, url: str, kind: str) -> Page:
    """A page whose form is sent off by a script, shown in the page's place."""
    page = await browser.page(page_url)
    name, value = FORMS[kind]
    await page.run(
        "(() => { const form = document.createElement('form'), field = document.createElement('input');"
        f"form.method = 'post'; form.enctype = {json.dumps(kind)}; form.action = {json.dumps(url)};"
        f"field.name = {json.dumps(name)}; field.value = {json.dumps(value)};"
        "form.append(field); document.documentElement.append(form); form.submit() })()"
    )
    await page.wait_until(
        lambda: any(sent.method == "POST" and sent.status for sent in page.sent()), "no form was sent"
    )
    return page


async def assert_refused(page: Page, port: int, *, at_least: int) -> None:
    """All that went to the endpoint was refused; and so much did go there, since nothing sent would prove nothing."""

    def statuses() -> list[int]:
        return [sent.status for sent in page.sent() if f":{port}/" in sent.url and sent.status is not None]

    await page.wait_until(lambda: len(statuses()) >= at_least, "the browser has sent less than it should")
    assert set(statuses()) <= REFUSED


async def attack(browser: Chromium, page_url: str, endpoint: Endpoint) -> None:
    """Everything that a page can do, to each name that the endpoint may have."""
    page = await browser.page(page_url)
    for host in ("127.0.0.1", "localhost", "evil.example"):
        url = f"http://{host}:{endpoint.port}{CHAT}"
        for options in FETCHES.values():
            path = CHAT if "method" in options else "/v1/models"
            seen = await fetched(page, f"http://{host}:{endpoint.port}{path}", options)
            assert "cli-demo" not in str(seen)
        for script in OTHER_WAYS.values():
            seen = await page.run(f"((url, body) => {script})({json.dumps(url)}, {json.dumps(BODY)})")
            assert seen != "open"
    await assert_refused(page, endpoint.port, at_least=3 * len(FETCHES))
    for host in ("127.0.0.1", "evil.example"):
        for kind in FORMS:
            shown = await send_form(browser, page_url, f"http://{host}:{endpoint.port}{CHAT}", kind)
            await assert_refused(shown, endpoint.port, at_least=1)


@pytest.mark.parametrize("site", ["foreign", "local", "rebound"])
def test_nothing_that_a_page_sends_gets_to_a_cli(site: str, tmp_path: Path) -> None:
    backend = ScriptedBackend(answer("Hello"))

    async def browse(endpoint: Endpoint) -> None:
        async with page_server() as port, chromium(tmp_path) as browser:
            host = {
                "foreign": f"evil.example:{port}",
                "local": f"localhost:{port}",
                "rebound": f"evil.example:{endpoint.port}",
            }
            await attack(browser, f"http://{host[site]}/", endpoint)

    with serving(backend) as endpoint:
        asyncio.run(browse(endpoint))
        refused = endpoint.journal.entries()
        assert endpoint.chat().status == 200  # what is counted below does count

    assert len(backend.requests) == 1
    assert {entry.status for entry in refused} <= REFUSED
    assert {entry.outcome for entry in refused} >= {"wrong_host"} | ({"foreign_origin"} if site != "rebound" else set())


def test_a_page_that_knows_the_token_gets_nothing_either(tmp_path: Path) -> None:
    backend = ScriptedBackend(answer("Hello"))
    options = {"method": "POST", "headers": {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}}

    async def browse(endpoint: Endpoint) -> None:
        async with page_server() as port, chromium(tmp_path) as browser:
            page = await browser.page(f"http://evil.example:{port}/")
            assert "TypeError" in str(await fetched(page, endpoint.url + "/chat/completions", options | {"body": BODY}))
            assert "TypeError" in str(await fetched(page, endpoint.url + "/models", options | {"method": "GET"}))
            await assert_refused(page, endpoint.port, at_least=2)

    with serving(backend) as endpoint:
        asyncio.run(browse(endpoint))

    assert backend.requests == []
    assert [(entry.method, entry.status) for entry in endpoint.journal.entries()] == [("OPTIONS", 403)] * 2


def test_a_person_who_types_the_address_is_told_of_the_token(tmp_path: Path) -> None:
    async def browse(endpoint: Endpoint) -> None:
        async with chromium(tmp_path) as browser:
            page = await browser.page(endpoint.url + "/models")
            assert "The token is missing" in str(await page.run("document.body.innerText"))
            await assert_refused(page, endpoint.port, at_least=1)

    with serving(ScriptedBackend(answer("Hello"))) as endpoint:
        asyncio.run(browse(endpoint))

    assert {entry.status for entry in endpoint.journal.entries()} == {401}
