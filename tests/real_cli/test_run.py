"""`handraise run` with the true CLI."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]


def run_turn(cli: RealCli, *words: str) -> subprocess.CompletedProcess[str]:
    env = {
        **cli.env,
        "HANDRAISE_CLAUDE": cli.argv[0],
        "HANDRAISE_CONFIG_DIR": str(cli.home / "handraise"),
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        [sys.executable, "-m", "desktop", "run", *words], cwd=cli.project, env=env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("command", ["/cost", "/clear"])
def test_a_command_that_the_cli_runs_itself_comes_to_an_end(
    each_claude: RealCli, model: ScriptedModel, command: str
) -> None:
    model.script("Not a command here.")
    done = run_turn(each_claude, "--json", command)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["ok"]
