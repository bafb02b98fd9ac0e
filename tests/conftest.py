"""The habits of every test here: nothing is overlooked, nothing is left behind, a failed window leaves a picture.

* A log line at WARNING or above fails the test, unless the test looked at it (`assert "…" in caplog.text`, then
  `caplog.clear()`) or announced it: `@pytest.mark.logs("a pattern of the message")`.
* Exceptions of threads, of finalizers and of Qt slots fail the test (pytest and pytest-qt see to that, since warnings
  are errors here).
* A visible window, a running QThread or a task of `desktop.loop.spawn` that outlives its test fails it.
* When a test fails, every visible window is saved as a picture below `test-artifacts/`.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from typing import Any, Literal

import pytest

from tests.helpers.pictures import save_pictures, visible_windows

# Before anything imports Qt. A real screen: QT_QPA_PLATFORM=xcb pytest …
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell without job control has started this in the background; the programs under test are to hear Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "logs(*patterns): announces log lines at WARNING or above")


@pytest.fixture(autouse=True)
def no_unannounced_log_line(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test that logged at WARNING or above and neither announced it nor cleared it away."""
    announced = [re.compile(pattern) for mark in request.node.iter_markers("logs") for pattern in mark.args]
    yield
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    loud = [r for phase in phases for r in caplog.get_records(phase) if r.levelno >= logging.WARNING]
    unexpected = [r for r in loud if not any(pattern.search(r.getMessage()) for pattern in announced)]
    if unexpected:
        lines = "\n".join(f"  {r.levelname} {r.name}: {r.getMessage()}" for r in unexpected)
        pytest.fail(f"log lines that the test did not announce:\n{lines}", pytrace=False)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails a test that leaves a window, a QThread or a task of the window's loop behind, and ends what it can."""
    before = set(threading.enumerate())
    yield
    left = [*_visible_windows_left(), *_threads_left(before), *_tasks_left()]
    if left:
        pytest.fail("the test left behind: " + "; ".join(left), pytrace=False)


def _threads_left(before: set[threading.Thread]) -> Iterator[str]:
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon and not isinstance(thread, threading._DummyThread):
            thread.join(2)
            if thread.is_alive():
                yield f"the thread {thread.name}"
    reader = sys.modules.get("desktop.reader")
    for qt_thread in list(reader._threads) if reader else []:
        if not qt_thread.join(2):
            yield f"the QThread {qt_thread.objectName()}"


def _visible_windows_left() -> Iterator[str]:
    for window in visible_windows():
        name = f"the window {type(window).__name__} {window.objectName()!r}"
        window.hide()
        window.deleteLater()
        yield name


def _tasks_left() -> Iterator[str]:
    loop = sys.modules.get("desktop.loop")
    if loop is not None:
        for task in loop.spawned():
            yield f"the task {task.get_name()!r}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Pictures of what was on the screen when a test failed, named after the test."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        for path in save_pictures(item.nodeid):
            report.sections.append(("picture of the window", str(path)))
