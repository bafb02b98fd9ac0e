"""The program in the README, a task that stops at a checkpoint and asks its user, run as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel, ToolUse
from tests.real_cli.scripts import QUESTIONS, ask

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "data" / "readme_orchestrator.py"


def test_the_readme_shows_this_very_program() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown == PROGRAM.read_text("utf-8")


def run_program(cli: RealCli, typed: str) -> str:
    env = {**cli.env, "HANDRAISE_CLAUDE": cli.argv[0], "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=typed,
        cwd=cli.project,
        env=env,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_it_asks_its_user_and_denies_what_it_was_not_made_for(each_claude: RealCli, model: ScriptedModel) -> None:
    unwanted = each_claude.project / "unwanted"
    model.script(
        ask(QUESTIONS[:1]), ToolUse("Bash", {"command": f"touch {unwanted}", "description": "x"}), "All set up."
    )
    output = run_program(each_claude, "SQLite\n")
    assert "Which database should we use? ['PostgreSQL', 'SQLite']" in output
    assert output.endswith("All set up.\n")
    answer, denied = model.tool_results()
    assert '"Which database should we use?"="SQLite"' in answer.text
    assert denied.is_error
    assert "Nobody is here to decide on this." in denied.text
    assert not unwanted.exists()


def test_an_empty_line_dismisses_the_question(claude: RealCli, model: ScriptedModel) -> None:
    model.script(ask(QUESTIONS[:1]), "Then I choose.")
    assert run_program(claude, "\n").endswith("Then I choose.\n")
    (result,) = model.tool_results()
    assert "dismissed" in result.text


def test_the_stand_in_can_take_the_place_of_the_cli(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text('{"turns": [[{"text": "Hello from the stand-in."}]]}', encoding="utf-8")
    command = f'["{sys.executable}", "-m", "fake_cli", "--scenario", "{scenario}"]'
    env = {**os.environ, "HANDRAISE_CLAUDE": command, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], input="", cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    assert "Hello from the stand-in." in done.stdout, done.stderr
