"""The CLI dies, the app dies, a conversation is cleared: nothing that was typed is lost, nothing is left running."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.helpers.app import AppUnderTest
from tests.helpers.outside import OutsideApp, lets_a_command_run_and_writes_a_draft, reads_the_draft
from tests.helpers.person import Person
from tests.helpers.processes import describe, marked_processes, wait_until_gone
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import Hang, ScriptedModel, Text, ToolUse
from tests.real_cli.scripts import QUESTIONS, ask

SLEEP = f"{sys.executable} -c 'import time; time.sleep(600)'"
SLEEPERS = f"{SLEEP} & {SLEEP}"


class TestTheCliIsKilled:
    def test_the_open_question_closes_with_a_reason_and_what_was_typed_can_be_had_back(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script("Hello.", ask(QUESTIONS))

        async def scenario(person: Person) -> None:
            await person.send("Hello")
            await person.waits_until(lambda: "Hello." in app.transcript(), "the first turn is over")
            await person.send("Set up the project")
            await person.click("replyInstead")
            await person.write("replyText", "Neither, because of the licence")
            app.kill_the_cli()
            await person.sees_no_more("questionDialog")
            await person.reads("Claude was ended by SIGKILL")
            await person.sees("recovered")
            await person.reads("Neither, because of the licence")
            await person.click("useRecovered_0")
            assert "Neither, because of the licence" in app.composer_text()

        app.run(scenario)

    def test_after_a_restart_the_conversation_goes_on_where_it_was(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script("The word is swordfish.", ask(QUESTIONS))

        async def scenario(person: Person) -> None:
            await person.send("Tell me the word")
            await person.waits_until(lambda: "swordfish" in app.transcript(), "the first turn is over")
            await person.send("Set up the project")
            await person.sees("questionDialog")
            app.kill_the_cli()
            await person.sees("notice_start")
            model.clear_script()
            model.script("As I said.")
            await person.click("restart_start")
            await person.waits_until(lambda: app.opened.phase == "running", "it runs again")
            await person.send("Say it again")
            await person.waits_until(lambda: "As I said." in app.transcript(), "the turn is over")

        app.run(scenario)

        assert "The word is swordfish." in model.main_requests[-1].everything
        assert model.main_requests[-1].last_user_text.endswith("Say it again")

    def test_killed_in_its_first_turn_it_has_saved_nothing_and_the_window_says_so(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script([Text("I begin"), Hang()])

        async def scenario(person: Person) -> None:
            await person.send("The first message of all")
            await person.waits_until(lambda: "I begin" in app.transcript(), "the turn has begun")
            app.kill_the_cli()
            app.forget_what_the_cli_saved()
            await person.sees("notice_start")
            await person.click("restart_start")
            await person.reads("has saved nothing of this conversation")
            model.clear_script()
            model.script("Hello again.")
            await person.click("start_anew_start")
            await person.waits_until(lambda: app.opened.phase == "running", "a new one runs")
            await person.reads("new conversation")
            await person.send("Once more")
            await person.waits_until(lambda: "Hello again." in app.transcript(), "the turn is over")

        app.run(scenario)

        assert "The first message of all" not in model.main_requests[-1].last_user_text


class TestClear:
    def test_a_cleared_conversation_begins_anew_and_goes_on(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script("The word is swordfish.", "Which word?")

        async def scenario(person: Person) -> None:
            await person.send("Tell me the word")
            await person.waits_until(lambda: "swordfish" in app.transcript(), "the first turn is over")
            before = app.conversation.session_id
            await person.send("/clear")
            await person.waits_until(lambda: app.conversation.session_id != before, "it has another id")
            await person.send("Say it again")
            await person.waits_until(lambda: "Which word?" in app.transcript(), "the turn is over")

        app.run(scenario)

        assert "swordfish" not in model.main_requests[-1].everything


class TestTheAppIsKilled:
    def test_nothing_is_left_running_five_seconds_later_and_the_draft_is_there_again(
        self, claude: RealCli, model: ScriptedModel, process_mark: str, tmp_path: Path
    ) -> None:
        outside = OutsideApp(claude, tmp_path / "app")
        model.script(ToolUse("Bash", {"command": SLEEPERS, "description": "Wait"}))
        with outside.start(lets_a_command_run_and_writes_a_draft.__name__, str(claude.project)) as app:
            app.wait_for("a draft stands in the composer")
            wait_for(lambda: len(sleepers(process_mark)) == 2, seconds=20)
            time.sleep(1)
            assert "claude" in " ".join(command_lines(process_mark))
            os.kill(app.pid, signal.SIGKILL)
            left = wait_until_gone(process_mark, seconds=5)
            assert left == [], describe(left)

        with outside.start(reads_the_draft.__name__) as app:
            assert app.wait_for("the composer holds") == "the composer holds a draft that must survive"


def command_lines(mark: str) -> list[str]:
    lines = []
    for process in marked_processes(mark):
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(process.cmdline()))
    return lines


def sleepers(mark: str) -> list[str]:
    """The two commands themselves, and not the shells that were told to run them."""
    return [line for line in command_lines(mark) if line.startswith(sys.executable) and "time.sleep" in line]


def wait_for(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.1)
