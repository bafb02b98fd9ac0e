"""The benchmark of the endpoint runs, and its last line is for machines. Its figures are looked at elsewhere."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks import endpoint
from tests.helpers.real_cli import CannotInstallError, pinned_versions


def test_the_half_with_the_stand_in_runs_and_ends_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert endpoint.main(["--requests", "1", "--stand-in-only"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["name"], figures["requests"]) == ("endpoint", 1)
    for suffix in ("", "_stream"):
        assert 0 < figures[f"added_ms{suffix}"] < figures[f"http_ms{suffix}"]
        assert figures[f"direct_ms{suffix}"] > 0


def test_without_the_true_cli_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(version: str) -> None:
        raise CannotInstallError(f"claude {version} is not here")

    monkeypatch.setattr(endpoint, "install", missing)
    monkeypatch.setattr(endpoint, "stand_in", lambda requests: {})
    assert endpoint.main([]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.strip()) == ("", f"claude {pinned_versions()[-1]} is not here")
