"""The half of the endpoint's benchmark that needs the true CLI runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks import endpoint
from tests.real_cli.conftest import NEWEST


def test_it_times_first_words_both_ways(
    installed_cli: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed_cli(NEWEST)
    monkeypatch.setattr(endpoint, "stand_in", lambda requests: {})
    assert endpoint.main(["--pairs", "1"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["cli"], figures["pairs"]) == (NEWEST, 1)
    assert figures["first_words_endpoint_ms"] > 0
    assert figures["first_words_claude_p_ms"] > 0
    assert figures["ratio"] == pytest.approx(
        figures["first_words_endpoint_ms"] / figures["first_words_claude_p_ms"], abs=0.002
    )
