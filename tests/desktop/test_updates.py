"""The look for a newer release: only when wanted, once a day, one GET, silent when it fails, told in the window."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QSettings, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from desktop import updates
from desktop.release import MOST_BYTES, PAGES, Release
from desktop.settings import SettingsStore
from desktop.settings.dialog import SettingsDialog
from desktop.updates import DAY, UpdateCheck
from desktop.window.main_window import MainWindow

GOOD = {"tag_name": "v9.1.0", "html_url": f"{PAGES}/tag/v9.1.0", "body": "Everything is better."}
Answer = Callable[[BaseHTTPRequestHandler], None]


class Releases:
    """A server on this computer in GitHub's place.

    Attributes:
        answer: what it does with a request.
        heard: path and headers of each request.
        address: what to ask.
    """

    def __init__(self) -> None:
        self.answer: Answer = says(GOOD)
        self.heard: list[tuple[str, dict[str, str]]] = []
        self.gone = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10  # seconds; a connection that asks nothing must not keep the test

            def do_GET(self) -> None:
                outer.heard.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                try:
                    outer.answer(self)
                except OSError:
                    outer.gone.set()

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self._server.block_on_close = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/latest"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def say_nothing(self, request: BaseHTTPRequestHandler) -> None:
        """Leave the request without an answer until the test is over."""
        self.gone.wait(60)

    def close(self) -> None:
        self.gone.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def says(value: Any, status: int = 200, *, length: int | None = None, location: str = "") -> Answer:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    headers = {"Content-Length": str(len(data) if length is None else length), "Location": location}

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, text in headers.items():
            if text:
                request.send_header(name, text)
        request.end_headers()
        request.wfile.write(data)

    return answer


@pytest.fixture
def releases() -> Iterator[Releases]:
    made = Releases()
    yield made
    made.close()


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "config" / "settings.json")


class Look:
    """A check under test, with a clock that stands still until it is moved."""

    def __init__(self, store: SettingsStore, folder: Path, address: str, qtbot: QtBot) -> None:
        self.time = 1_000_000.0
        self.memory = QSettings(str(folder / "memory.ini"), QSettings.Format.IniFormat)
        self.check = UpdateCheck(store, self.memory, address=address, current="1.0.0", now=lambda: self.time)
        self.told: list[Release] = []
        self.check.found.connect(self.told.append)
        self._qtbot = qtbot

    def close(self) -> None:
        """At once, with its connections: the server waits for their ends."""
        shiboken6.delete(self.check)

    def until_over(self) -> None:
        self._qtbot.waitUntil(lambda: not self.check.is_asking, timeout=20_000)


@pytest.fixture
def look(store: SettingsStore, tmp_path: Path, releases: Releases, qtbot: QtBot) -> Iterator[Look]:
    made = Look(store, tmp_path, releases.address, qtbot)
    yield made
    made.close()


def test_nobody_is_asked_unless_the_person_wants_it(store: SettingsStore, look: Look, releases: Releases) -> None:
    assert not store.settings.check_updates
    assert not look.check.look_if_due()
    assert releases.heard == []


def test_it_is_one_request_that_says_which_program_asks_and_no_more(
    store: SettingsStore, look: Look, releases: Releases
) -> None:
    store.change(check_updates=True)  # asks at once
    look.until_over()
    assert look.told == [Release("9.1.0", f"{PAGES}/tag/v9.1.0", "Everything is better.")]
    [(path, headers)] = releases.heard
    assert path == "/latest"
    assert headers.pop("user-agent").startswith("Handraise/")
    assert headers.pop("accept-language") == "*"
    assert set(headers) <= {"host", "accept", "accept-encoding", "connection"}


def test_it_is_asked_once_a_day_across_starts(
    store: SettingsStore, look: Look, releases: Releases, tmp_path: Path, qtbot: QtBot
) -> None:
    store.change(check_updates=True)
    look.until_over()
    again = Look(store, tmp_path, releases.address, qtbot)
    again.time = look.time + DAY - 1
    assert not again.check.look_if_due()
    again.time += 2
    assert again.check.look_if_due()
    again.until_over()
    again.time -= 30 * DAY  # the clock was put back
    assert again.check.look_if_due()
    again.until_over()
    again.close()
    assert len(releases.heard) == 3


@pytest.mark.parametrize("kept", ["", "yesterday", "nan", "1e400"])
def test_a_memory_that_is_damaged_does_not_stop_it(store: SettingsStore, look: Look, kept: str) -> None:
    look.memory.setValue("updates/asked", kept)
    store.change(check_updates=True)
    look.until_over()
    assert len(look.told) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(says({"message": "Not Found"}, 404), id="no release yet"),
        pytest.param(says({"message": "API rate limit exceeded"}, 403), id="rate limit"),
        pytest.param(says(GOOD, 500), id="broken server"),
        pytest.param(says(b"<html>Sign in to the hotel's network</html>"), id="captive portal"),
        pytest.param(says(b'{"tag_name": '), id="cut off"),
        pytest.param(says({**GOOD, "tag_name": "v1.0.0"}), id="this release"),
        pytest.param(says(b"", 302, location="http://localhost:9/elsewhere"), id="sent elsewhere"),
        pytest.param(says(b"x" * (MOST_BYTES + 10)), id="huge"),
        pytest.param(says(b"short", length=1000), id="too short"),
        pytest.param(lambda request: request.connection.shutdown(socket.SHUT_RDWR), id="hangs up"),
    ],
)
def test_whatever_fails_is_silent_and_not_repeated_before_tomorrow(
    store: SettingsStore, look: Look, releases: Releases, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "handraise.updates")
    releases.answer = answer
    store.change(check_updates=True)
    look.until_over()
    assert look.told == []
    assert not look.check.look_if_due()
    assert all(record.levelno <= logging.INFO for record in caplog.records)


def test_an_answer_without_end_is_cut_off(store: SettingsStore, look: Look, releases: Releases) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not releases.gone.is_set():
            request.wfile.write(b" " * 65536)

    releases.answer = answer
    store.change(check_updates=True)
    look.until_over()
    assert releases.gone.wait(20)
    assert look.told == []


def test_a_server_that_never_answers_is_given_up(
    store: SettingsStore, look: Look, releases: Releases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "TIMEOUT_MS", 300)
    releases.answer = releases.say_nothing
    store.change(check_updates=True)
    look.until_over()
    assert look.told == []


def test_without_a_network_nothing_is_told(store: SettingsStore, tmp_path: Path, qtbot: QtBot) -> None:
    look = Look(store, tmp_path, "http://127.0.0.1:9/latest", qtbot)
    store.change(check_updates=True)
    look.until_over()
    assert look.told == []
    look.close()


def test_switched_off_while_it_asks_it_asks_no_more(store: SettingsStore, look: Look, releases: Releases) -> None:
    releases.answer = releases.say_nothing
    store.change(check_updates=True)
    assert look.check.is_asking
    store.change(check_updates=False)
    assert not look.check.is_asking
    assert look.told == []


def test_a_release_that_was_put_away_is_not_told_again_but_the_next_is(
    store: SettingsStore, look: Look, releases: Releases
) -> None:
    store.change(check_updates=True)
    look.until_over()
    look.check.skip()
    look.time += 2 * DAY
    assert look.check.look_if_due()
    look.until_over()
    assert len(look.told) == 1
    releases.answer = says({**GOOD, "tag_name": "v9.2.0"})
    look.time += 2 * DAY
    assert look.check.look_if_due()
    look.until_over()
    assert [release.version for release in look.told] == ["9.1.0", "9.2.0"]


def test_the_window_tells_what_is_new_and_where_and_installs_nothing(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    actions = window.actions_of_window
    actions.updates.found.emit(Release("9.1.0", f"{PAGES}/tag/v9.1.0", "Everything is better."))
    words = " ".join(label.text() for label in window.notices.findChildren(QLabel))
    assert "Handraise 9.1.0 has been released" in words
    assert f"{PAGES}/tag/v9.1.0" in words
    detail = window.notices.findChild(QPlainTextEdit, "noticeDetail")
    assert detail is not None
    assert (detail.toPlainText(), detail.accessibleName()) == ("Everything is better.", "What is new in this release")
    page = window.notices.findChild(QPushButton, "open_release_update")
    assert page is not None
    page.click()
    assert [address.toString() for address in opened] == [f"{PAGES}/tag/v9.1.0"]
    actions.dismiss("update")
    assert actions.notices == {}


def test_the_setting_is_off_and_says_what_is_sent(store: SettingsStore, qtbot: QtBot) -> None:
    dialog = SettingsDialog(store)
    qtbot.addWidget(dialog)
    switch = dialog.findChild(QCheckBox, "settingCheckUpdates")
    assert switch is not None
    assert not switch.isChecked()
    switch.click()
    assert SettingsStore(store.path).settings.check_updates
