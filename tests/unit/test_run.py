"""`handraise run`: one turn without a window, its questions from a file or the terminal."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from desktop.run import Turn
from desktop.run_answers import Answers, AnswersError, Terminal, answer_of, decide, picks_of
from protocol.conversation import Conversation, PendingRequest
from protocol.messages import ControlRequest, parse_message
from protocol.questions import Option, Question
from tests.helpers.peer import Peer, run

ROOT = Path(__file__).resolve().parents[2]
DATABASE = {
    "question": "Which database?",
    "header": "DB",
    "options": [{"label": "Postgres", "description": "big"}, {"label": "SQLite", "description": "small"}],
    "multiSelect": False,
}
ASK = {"question": [DATABASE], "as": "asked"}


class Place:
    """A folder to run in, with a scenario."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("HANDRAISE_", "ANTHROPIC_"))},
            "HANDRAISE_CONFIG_DIR": str(folder / "config"),
            "HANDRAISE_CLAUDE": json.dumps([sys.executable, "-m", "fake_cli"]),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "FAKE_CLI_PACE": "0",
        }

    def scenario(self, *steps: Any) -> None:
        path = self.folder / "scenario.json"
        path.write_text(json.dumps({"turns": [list(steps)]}), encoding="utf-8")
        self.env["FAKE_CLI_SCENARIO"] = str(path)

    def answers(self, value: Any) -> str:
        path = self.folder / "answers.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return str(path)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "desktop", "run", *words], env=self.env, cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_turn_prints_what_claude_said(place: Place) -> None:
    place.scenario({"text": "First. 漢字"}, {"text": "Then."})
    done = place.run("go")
    assert (done.returncode, done.stdout, done.stderr) == (0, "First. 漢字\nThen.\n", "")


def test_json_is_one_object(place: Place) -> None:
    place.scenario(ASK, {"text": "Fine: ${asked.answers.0}"})
    done = place.run("--json", "--answers", place.answers({"Which database?": "SQLite"}), "go")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["ok"] is True
    assert said["text"] == "Fine: SQLite"
    assert said["questions"] == [{"question": "Which database?", "answer": "SQLite"}]
    assert said["session_id"] != ""


def test_an_answer_that_is_no_label_is_the_persons_own_words(place: Place) -> None:
    place.scenario(ASK, {"text": "Fine: ${asked.answers.0}"})
    done = place.run("--answers", place.answers({"Which database?": "none at all"}), "go")
    assert done.stdout == "Fine: none at all\n"


@pytest.mark.parametrize("answers", [{}, {"Which database ?": "SQLite"}])
def test_a_missing_answer_is_a_clear_error(place: Place, answers: dict[str, str]) -> None:
    place.scenario(ASK, {"text": "never"})
    done = place.run("--answers", place.answers(answers), "go")
    assert done.returncode == 1
    assert "“Which database?”" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_terminal_and_without_a_file_a_question_is_an_error(place: Place) -> None:
    place.scenario(ASK, {"text": "never"})
    done = place.run("go")
    assert done.returncode == 1
    assert "nobody is there to answer" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ("[]", "object"), ('{"q": 1}', "has to be a text"), ('{"q": []}', "has to be a text")],
)
def test_a_file_of_answers_that_cannot_be_used_is_an_error(place: Place, text: str, words: str) -> None:
    done = place.run("--answers", place.answers(text), "go")
    assert done.returncode == 1
    assert words in done.stderr


def test_permissions_are_denied_where_nobody_can_be_asked(place: Place) -> None:
    place.scenario({"tool": "Bash", "input": {"command": "rm -rf /"}, "result": "", "ask": True, "as": "rm"},
                   {"text": "it was ${rm.decision}"})  # fmt: skip
    done = place.run("--json", "go")
    said = json.loads(done.stdout)
    assert said["denied"] == ["Bash"]
    assert said["text"] == "it was denied"
    assert "Denied" in done.stderr


def test_a_turn_that_fails_is_code_1_and_says_why(place: Place) -> None:
    place.scenario({"fail": "401"})
    done = place.run("go")
    assert done.returncode == 1
    assert "Sign in" in done.stderr


@pytest.mark.parametrize(("harm", "words"), [("exit-at-start=3", "code 3"), ("refuse-handshake=no", "refused")])
def test_a_cli_that_does_not_start_is_code_1_and_one_sentence(place: Place, harm: str, words: str) -> None:
    place.env["FAKE_CLI_HARM"] = harm
    done = place.run("go")
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cli_that_dies_in_the_turn_is_code_1(place: Place) -> None:
    place.scenario({"text": "half"}, {"crash": 9})
    done = place.run("go")
    assert done.returncode == 1
    assert done.stdout == "half\n"
    assert "exited" in done.stderr


def test_no_claude_at_all_is_code_1(place: Place) -> None:
    place.env["HANDRAISE_CLAUDE"] = str(place.folder / "no-claude")
    done = place.run("--json", "go")
    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False


@pytest.mark.parametrize("words", [[], [" "], ["--nonsense", "go"], ["a", "b"]])
def test_wrong_usage_is_code_2(place: Place, words: list[str]) -> None:
    assert place.run(*words).returncode == 2


def test_the_keys_in_the_environment_stay_out_unless_the_settings_keep_them(place: Place) -> None:
    log = place.folder / "log.jsonl"
    place.env |= {"ANTHROPIC_API_KEY": "sk-secret", "FAKE_CLI_LOG": str(log)}
    assert place.run("go").returncode == 0
    assert "sk-secret" not in log.read_text(encoding="utf-8")
    (place.folder / "config").mkdir()
    (place.folder / "config" / "settings.json").write_text('{"keep_api_key": true}', encoding="utf-8")
    assert place.run("go").returncode == 0
    assert "sk-secret" in log.read_text(encoding="utf-8")


def test_ctrl_c_ends_the_cli_too(place: Place) -> None:
    place.env["FAKE_CLI_PACE"] = "1"
    place.scenario({"text": "working"}, {"silence": 60})
    program = subprocess.Popen(
        [sys.executable, "-m", "desktop", "run", "go"], env=place.env, cwd=place.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == "working\n"
    below = psutil.Process(program.pid).children(recursive=True)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (1, "Stopped.\n")
    _, alive = psutil.wait_procs(below, timeout=5)
    assert alive == []


def test_a_reader_who_leaves_ends_the_turn_without_a_word(place: Place) -> None:
    place.scenario({"text": "First."}, {"text": "Then."})
    program = subprocess.Popen(
        [sys.executable, "-m", "desktop", "run", "go"], env=place.env, cwd=place.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    program.stdout.close()
    program.stdout = None
    _, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (1, "")


@pytest.mark.parametrize("value", [7, {"a": 1}, [], [""], ["claude", 7]])
def test_a_setting_that_names_no_program_is_said(place: Place, value: Any) -> None:
    (place.folder / "config").mkdir()
    (place.folder / "config" / "settings.json").write_text(json.dumps({"claude": value}), encoding="utf-8")
    del place.env["HANDRAISE_CLAUDE"]
    place.env["PATH"] = "/nowhere"
    done = place.run("go")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr


# On the terminal


class Typist(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


def ask(request: dict[str, Any], typed: str) -> tuple[dict[str, Any], str]:
    """What is answered to a request by someone who types this, and what they were shown."""
    message = parse_message({"type": "control_request", "request_id": "r1", "request": request})
    assert isinstance(message, ControlRequest)
    shown = io.StringIO()
    pending = PendingRequest("r1", "permission", message.request)
    story: Coroutine[Any, Any, dict[str, Any]] = decide(
        pending, Conversation(), Answers(), Terminal(Typist(typed), shown)
    )
    return asyncio.run(story), shown.getvalue()


def tool(name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    return {"subtype": "can_use_tool", "tool_name": name, "input": tool_input, "tool_use_id": "t1"}


@pytest.mark.parametrize(("typed", "behavior"), [("y\n", "allow"), ("YES\n", "allow"), ("\n", "deny"), ("n\n", "deny"),
                                                 ("yeah\n", "deny"), ("", "deny")])  # fmt: skip
def test_only_a_yes_allows(typed: str, behavior: str) -> None:
    result, shown = ask(tool("Bash", {"command": "ls\u202e"}), typed)
    assert result["behavior"] == behavior
    assert "U+202E" in shown
    assert behavior == "deny" or result["updatedInput"] == {"command": "ls\u202e"}


@pytest.mark.parametrize(("typed", "answer"), [("2\n", "SQLite"), ("Postgres\n", "Postgres"), ("neither\n", "neither")])
def test_a_number_or_own_words_answer_a_question(typed: str, answer: str) -> None:
    result, shown = ask(tool("AskUserQuestion", {"questions": [DATABASE]}), typed)
    assert result["updatedInput"]["answers"] == {"Which database?": answer}
    assert "1. Postgres — big" in shown


def test_nothing_typed_dismisses_the_questions() -> None:
    result, _ = ask(tool("AskUserQuestion", {"questions": [DATABASE]}), "\n")
    assert result["behavior"] == "deny"


def test_a_plan_is_shown_and_what_should_be_different_is_asked() -> None:
    result, shown = ask(tool("ExitPlanMode", {"plan": "Tear it down."}), "n\nKeep the walls.\n")
    assert "Tear it down." in shown
    assert result == {"behavior": "deny", "message": result["message"]}
    assert "Keep the walls." in result["message"]


def test_a_form_is_asked_field_by_field_until_it_fits() -> None:
    schema = {
        "type": "object",
        "properties": {"age": {"type": "integer"}, "nick": {"type": "string"}},
        "required": ["age"],
    }
    request = {"subtype": "elicitation", "mcp_server_name": "s", "message": "Who?", "mode": "form",
               "requested_schema": schema, "property_order": ["age", "nick"]}  # fmt: skip
    result, _ = ask(request, "old\n42\n\n")
    assert result == {"action": "accept", "content": {"age": 42}}
    assert ask(request, "")[0]["action"] == "cancel"


def test_something_unknown_is_refused() -> None:
    assert ask({"subtype": "from_the_future"}, "y\n")[0]["behavior"] == "deny"


class Person(Terminal):
    """Someone at the terminal who takes their time; `say` and `asked` is what they have seen."""

    def __init__(self, *answers: str) -> None:
        super().__init__(Typist(), io.StringIO())
        self.seen: list[str] = []
        self.answers = list(answers)
        self.may_answer = asyncio.Event()

    def say(self, text: str) -> None:
        self.seen.append(text)

    async def ask(self, text: str) -> str | None:
        self.seen.append(text)
        await self.may_answer.wait()
        return self.answers.pop(0)

    async def until_seen(self, words: str) -> None:
        deadline = time.monotonic() + 20
        while not any(words in text for text in self.seen):
            assert time.monotonic() < deadline, self.seen
            await asyncio.sleep(0.01)


def test_an_answer_to_a_request_that_was_taken_back_does_not_go_to_another_with_its_id(tmp_path: Path) -> None:
    script = """
        shake()
        read()
        ask("r1", input={"command": "ls"})
        while not os.path.exists("asked"):
            time.sleep(0.01)
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf ~"}}
        write(b"".join(json.dumps(message).encode() + b"\\n" for message in [
            {"type": "control_cancel_request", "request_id": "r1"},
            {"type": "control_request", "request_id": "r1", "request": request},
        ]))
        read()
        result()
        until_end()
    """

    async def story() -> list[dict[str, Any]]:
        peer = Peer(tmp_path, script)
        person = Person("y", "n")
        turn = asyncio.create_task(Turn(peer.options, Answers(), person).run("go"))
        await person.until_seen('"ls"')
        (tmp_path / "asked").touch()
        await person.until_seen("rm -rf")
        person.answers = ["n"]
        person.may_answer.set()
        await turn
        return peer.heard("control_response")

    [reply] = run(story())
    assert reply["response"]["response"]["behavior"] == "deny"


class AtTerminal:
    """The program with a terminal of its own as standard input."""

    def __init__(self, place: Place) -> None:
        self._master, slave = os.openpty()
        self.program = subprocess.Popen(
            [sys.executable, "-m", "desktop", "run", "go"], env=place.env, cwd=place.folder,
            stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(slave)
        self._seen = b""

    def until(self, words: str) -> None:
        """Read what is asked until these words have come."""
        assert self.program.stderr is not None
        while words.encode() not in self._seen:
            piece = os.read(self.program.stderr.fileno(), 4096)
            assert piece, self._seen
            self._seen += piece
        self._seen = self._seen.partition(words.encode())[2]

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> str:
        out, _ = self.program.communicate(timeout=30)
        os.close(self._master)
        return out.decode()


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command}, "result": "ok", "ask": True, "as": command, **more}


@pytest.mark.skipif(os.name == "nt", reason="a terminal of the test's own is a POSIX thing")
class TestAtATerminal:
    def test_what_was_typed_ahead_allows_nothing(self, place: Place) -> None:
        place.scenario(bash("one"), bash("two"), {"text": "${one.decision} ${two.decision}"})
        terminal = AtTerminal(place)
        terminal.until("[y/N]")
        terminal.type("y\ny\n")
        terminal.until('"two"')
        terminal.until("[y/N]")
        terminal.type("n\n")
        assert terminal.end() == "allowed denied\n"

    def test_a_request_that_is_taken_back_swallows_no_line_of_the_next_one(self, place: Place) -> None:
        place.env["FAKE_CLI_PACE"] = "1"
        place.scenario(bash("one", withdraw_after=0.5), bash("two"), {"text": "${two.decision}"})
        terminal = AtTerminal(place)
        terminal.until("needs no answer any more")
        terminal.until("[y/N]")
        terminal.type("y\n")
        assert terminal.end() == "allowed\n"


# Picks


MANY = Question("Which?", "W", (Option("a, b"), Option("a"), Option("b")), multi_select=True)
ONE = Question("Which?", "W", (Option("a"), Option("b")), multi_select=False)


@pytest.mark.parametrize(
    ("question", "line", "picks"),
    [(ONE, "2", ["b"]), (ONE, "7", ["7"]), (MANY, "1, 3", ["a, b", "b"]), (MANY, "1,1", ["a, b"]),
     (MANY, "x, 1", ["x, 1"]), (ONE, " b ", ["b"]), (ONE, "²", ["²"])],
)  # fmt: skip
def test_a_typed_line_as_picks(question: Question, line: str, picks: list[str]) -> None:
    assert picks_of(question, line) == picks


def test_two_answers_to_a_single_choice_are_an_error() -> None:
    with pytest.raises(AnswersError, match="takes one answer"):
        answer_of(ONE, ["a", "b"])
    assert answer_of(MANY, ["a", "mine"]).labels == ("a",)
    assert answer_of(MANY, ["a", "mine"]).other == "mine"
