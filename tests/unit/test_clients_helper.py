"""What happens where the endpoint's other clients are not there: said in words, skipped by default, failed in CI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.helpers import clients, real_cli
from tests.helpers.clients import NODE, CannotInstallError, browser, install, names, node_modules, python_of


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(real_cli, "_CACHE", tmp_path / "cache")
    monkeypatch.delenv("HANDRAISE_REQUIRE_CLIENTS", raising=False)
    return tmp_path / "cache" / "clients"


@pytest.fixture
def commands(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run to install; it succeeds and does nothing."""
    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(clients.subprocess, "run", run)
    monkeypatch.setattr(clients.shutil, "which", lambda name: f"/usr/bin/{name}")
    return calls


def test_every_set_has_its_pins_in_one_place() -> None:
    assert names() == ("contract", "old-openai", "programs", NODE)


def test_a_set_is_fetched_once_and_then_found(cache: Path, commands: list[list[str]]) -> None:
    python = install("contract")

    assert install("contract") == python
    assert python.is_relative_to(cache)
    assert [command[-1] for command in commands] == [
        str(python.parents[1]),
        str(clients.PINS / "requirements-contract.txt"),
    ]


def test_other_pins_are_another_folder(
    commands: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = install("contract")
    (tmp_path / "requirements-contract.txt").write_text("schemathesis==1\n", encoding="utf-8")
    monkeypatch.setattr(clients, "PINS", tmp_path)

    assert install("contract").parents[1] != before.parents[1]


def test_a_set_that_was_cut_off_is_fetched_again(commands: list[list[str]]) -> None:
    folder = install("contract").parents[1]
    (folder / "complete").unlink()

    assert install("contract").parents[1] == folder
    assert len(commands) == 4


def test_a_failed_installation_says_what_the_installer_said_and_counts_for_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        Path(command[-1]).mkdir()
        return subprocess.CompletedProcess(command, 1, "", "registry says no")

    monkeypatch.setattr(clients.subprocess, "run", refuse)

    with pytest.raises(CannotInstallError, match="registry says no"):
        install("contract")
    assert list(cache.glob("*/complete")) == []


@pytest.mark.parametrize("get", [node_modules, browser])
def test_what_is_missing_skips_and_fails_where_it_is_required(
    get, cache: Path, monkeypatch: pytest.MonkeyPatch  # type: ignore[no-untyped-def]
) -> None:
    monkeypatch.setattr(clients.shutil, "which", lambda name: None)

    with pytest.raises(pytest.skip.Exception, match="installed"):
        get()
    monkeypatch.setenv("HANDRAISE_REQUIRE_CLIENTS", "1")
    with pytest.raises(pytest.fail.Exception, match=r"HANDRAISE_REQUIRE_CLIENTS is set, but .* installed"):
        get()


def test_a_python_that_cannot_be_had_skips_its_tests_and_is_tried_for_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def refuse(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 1, "", "no network")

    monkeypatch.setattr(clients.subprocess, "run", refuse)

    for _ in range(3):
        with pytest.raises(pytest.skip.Exception, match=r"^the clients 'old-openai' could not be installed$"):
            python_of("old-openai")
    assert len(calls) == 1
    monkeypatch.setenv("HANDRAISE_REQUIRE_CLIENTS", "1")
    with pytest.raises(pytest.fail.Exception, match="no network"):
        python_of("old-openai")
