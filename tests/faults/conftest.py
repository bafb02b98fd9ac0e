"""Fixtures of the fault tests: an environment that marks its processes, and a look for what was left running."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from protocol.process import CliProcess, Ladder
from tests.helpers.processes import describe, kill_all, wait_until_gone

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from tests.helpers.sitting import Sitting

QUICK = Ladder(eof=1.0, term=1.0, kill=5.0)
"""A short ladder: the steps that must fail cost a second, the one that must work has time on a slow machine."""

StartChild = Callable[..., CliProcess]


@pytest.fixture
def process_mark() -> str:
    """A word in the environment of everything that this test starts."""
    return f"handraise-test-{uuid.uuid4()}"


@pytest.fixture
def marked_env(process_mark: str) -> Iterator[dict[str, str]]:
    """An environment for children. The test fails, by name, when one of them is left running."""
    yield {**os.environ, "HANDRAISE_TEST_MARK": process_mark}
    left = wait_until_gone(process_mark, seconds=5.0)
    if left:
        names = describe(left)
        kill_all(left)
        pytest.fail(f"the test left these processes running:\n{names}", pytrace=False)


@pytest.fixture
def start_child(marked_env: dict[str, str], tmp_path: Path) -> Iterator[StartChild]:
    """Starts Python code as if it were the CLI; whatever the test does, it is ended."""
    started: list[CliProcess] = []

    def start(code: str, *arguments: str, **options: bool) -> CliProcess:
        argv = [sys.executable, "-I", "-S", "-c", code, *arguments]
        process = CliProcess.start(argv, tmp_path, marked_env, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.close(deadlines=Ladder(0.0, 0.0, 10.0))


@pytest.fixture
def sitting(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    """The window with the stand-in behind it, and a person before it; the person's own folders are not touched."""
    # Not at the top: most tests here run without Qt.
    from tests.helpers.sitting import Sitting

    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "HANDRAISE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    sits = Sitting(qapp, tmp_path)
    yield sits
    sits.leave()
