"""How a session of the true CLI ends, and what it leaves on the disk: on bare pipes, with every pinned CLI."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from tests.helpers.raw_cli import RawCli
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel, Text
from tests.real_cli.scripts import QUESTIONS, ask


def saved_conversations(cli: RealCli) -> list[Path]:
    """The files in which the CLI keeps the conversations of the test's folder."""
    name = re.sub(r"[^A-Za-z0-9]", "-", str(cli.project.resolve()))
    folder = cli.config_dir / "projects" / name
    return sorted(path for path in folder.glob("*.jsonl") if not path.name.startswith("agent-"))


def test_closing_stdin_when_idle_ends_the_session_well(each_claude: RealCli) -> None:
    with RawCli(each_claude) as raw:
        raw.initialize()
        code = raw.close()

    assert code == 0


def test_closing_stdin_while_a_question_is_open_ends_the_session_and_answers_nothing(
    each_claude: RealCli, model: ScriptedModel
) -> None:
    model.script(ask(QUESTIONS))
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Ask me")
        raw.wait_for_permission("AskUserQuestion")
        code = raw.close()

    assert code == (1 if each_claude.numbers >= (2, 1, 300) else 0)
    assert not any('"="' in result.text for result in model.tool_results()), "an answer was invented"


def test_terminate_is_obeyed(each_claude: RealCli) -> None:
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.process.send_signal(signal.SIGTERM)
        code = raw.process.wait(20)

    assert code == 143


def test_a_conversation_is_on_the_disk_and_resume_goes_on_with_it(each_claude: RealCli, model: ScriptedModel) -> None:
    model.script("The word is swordfish.", "As I said.")
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Tell me the word")
        session = raw.wait_for_result()["session_id"]
    with RawCli(each_claude, "--resume", session) as raw:
        raw.initialize()
        raw.say("Say it again")
        raw.wait_for_result()

    assert session in [path.stem for path in saved_conversations(each_claude)]
    assert "swordfish" in model.main_requests[-1].everything


def test_after_a_kill_in_its_first_answer_resume_goes_on_or_says_that_nothing_was_saved(
    each_claude: RealCli, model: ScriptedModel
) -> None:
    """Which of the two depends on the version and on the moment, so the app must cope with both."""
    model.script([Text("I begin and", pieces=2, pace=0.2), Text("never end", pieces=50, pace=0.5)], "Back again.")
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Begin")
        session = raw.wait_for(lambda m: m["type"] == "stream_event")["session_id"]
        raw.process.kill()
        raw.process.wait(10)
    with RawCli(each_claude, "--resume", session) as raw:
        raw.say("Are you there?")
        code = raw.close()

    if code == 0:
        assert "Back again." in raw.everything
    else:
        assert f"No conversation found with session ID: {session}" in raw.everything
