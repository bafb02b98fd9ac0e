"""The benchmark of the wire runs, and its last line is for machines. Its figures are looked at elsewhere."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys

import pytest

from tests.benchmarks import wire

TINY = ["--lines", "300", "--rounds", "1"]


def last_line(text: str) -> dict[str, float | str]:
    figures: dict[str, float | str] = json.loads(text.strip().splitlines()[-1])
    return figures


def test_our_half_runs_and_ends_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert wire.main([*TINY, "--ours-only"]) == 0
    figures = last_line(capsys.readouterr().out)
    assert (figures["name"], figures["lines"], figures["rounds"]) == ("wire", 300, 1)
    assert float(figures["ours_lines_per_second"]) > 0
    assert float(figures["ours_lines_per_second_all_lines"]) > 0


def test_the_comparison_ends_with_a_ratio_or_says_what_is_missing() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.wire", *TINY]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if importlib.util.find_spec("claude_agent_sdk"):
        assert done.returncode == 0, done.stderr
        figures = last_line(done.stdout)
        assert float(figures["ratio"]) > 0
        assert float(figures["ratio_all_lines"]) > 0
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert "claude-agent-sdk is not installed" in done.stderr


def test_without_the_other_side_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert wire.main(TINY) == 1
    assert capsys.readouterr().err.strip() == "claude-agent-sdk is not installed: pip install '.[benchmark]'"


def test_it_reads_as_many_lines_as_it_says_with_and_without_what_the_other_side_does_not_type() -> None:
    for typed in (True, False):
        values = [json.loads(line) for line in wire.output(3000, typed=typed).splitlines()]
        kinds = {value["type"] for value in values}
        assert len(values) == 3000
        assert ("control_request" in kinds) is not typed
