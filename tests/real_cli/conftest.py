"""Fixtures of the tests on the true `claude`: a scripted model, the pinned CLIs, a look for what was left running.

    def test_something(claude, model): ...         the newest pinned CLI
    def test_something(each_claude, model): ...    once with every pinned CLI

`claude.env` and `claude.argv` are ready for `subprocess` or `SessionOptions`; nothing in them reaches beyond this
machine or into the person's own folders.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.processes import describe, kill_all, wait_until_gone
from tests.helpers.real_cli import CannotInstallError, RealCli, install, is_required, make_cli, pinned_versions
from tests.real_cli.model import ScriptedModel

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from tests.helpers.app import AppUnderTest

HERE = Path(__file__).resolve().parent
NEWEST = pinned_versions()[-1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real_cli)
        if HERE in item.path.parents and item.path.name.startswith("test_window_"):
            # What the offscreen platform says of itself; the app sends Qt's words to its own log.
            item.add_marker(pytest.mark.logs("^This plugin does not support"))


@pytest.fixture(scope="session")
def installed_cli() -> Callable[[str], Path]:
    """The path of a pinned version's `claude`, installed once a run. Skips, or fails where the CLI is required."""

    def find(version: str) -> Path:
        try:
            return install(version)
        except CannotInstallError as problem:
            if is_required():
                pytest.fail(f"HANDRAISE_REQUIRE_REAL_CLI is set, but {problem}", pytrace=False)
            pytest.skip(str(problem))

    return find


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model of this test's own. Errors inside it fail the test."""
    with ScriptedModel() as scripted:
        yield scripted
    assert scripted.errors == []


@pytest.fixture
def process_mark() -> str:
    """A word in the environment of everything that this test starts."""
    return f"handraise-test-{uuid.uuid4()}"


@pytest.fixture
def nothing_left_running(process_mark: str, tmp_path: Path) -> Iterator[None]:
    """Fails the test, by name, when a process that it started is still there five seconds after its end."""
    yield
    left = wait_until_gone(process_mark, tmp_path, seconds=5.0)
    if left:
        names = describe(left)
        kill_all(left)
        pytest.fail(f"the test left these processes running:\n{names}", pytrace=False)


@pytest.fixture
def claude_of(
    installed_cli: Callable[[str], Path],
    model: ScriptedModel,
    tmp_path: Path,
    process_mark: str,
    nothing_left_running: None,
) -> Callable[[str], RealCli]:
    """Makes the CLI of a given version, in a fresh home below the test's folder, talking to the test's model."""

    def make(version: str) -> RealCli:
        home = tmp_path / "home"
        return make_cli(version, installed_cli(version), home, model.url, process_mark)

    return make


@pytest.fixture
def claude(claude_of: Callable[[str], RealCli]) -> RealCli:
    """The newest pinned CLI."""
    return claude_of(NEWEST)


@pytest.fixture
def quiet_report(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keeps the traffic, which the app's own log file holds for the test, out of the report of a failure."""
    plugin = request.config.pluginmanager.get_plugin("logging-plugin")
    assert plugin is not None
    handlers = (plugin.report_handler, plugin.caplog_handler)

    def is_no_traffic(record: logging.LogRecord) -> bool:
        return record.name != "handraise.wire"

    for handler in handlers:
        handler.addFilter(is_no_traffic)
    yield
    for handler in handlers:
        handler.removeFilter(is_no_traffic)


@pytest.fixture
def app_of(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_report: None
) -> Callable[[RealCli], AppUnderTest]:
    """Makes the app with a given CLI."""
    # Not at the top: the tests on bare pipes run without Qt.
    from tests.helpers.app import AppUnderTest

    return lambda cli: AppUnderTest(cli, tmp_path / "app", monkeypatch)


@pytest.fixture
def app(app_of: Callable[[RealCli], AppUnderTest], claude: RealCli) -> AppUnderTest:
    """The real window on the newest pinned CLI; nothing is started before `app.run(scenario)`."""
    return app_of(claude)


@pytest.fixture(params=pinned_versions())
def each_claude(request: pytest.FixtureRequest, claude_of: Callable[[str], RealCli]) -> RealCli:
    """Every pinned CLI, one after the other."""
    return claude_of(request.param)


@pytest.fixture(autouse=True)
def no_login_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The test's own process, too, sees neither the person's login nor their `~/.claude`."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home" / ".claude"))
