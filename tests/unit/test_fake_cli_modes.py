"""What the stand-in does without a conversation: version, login state, refused arguments, plain print, one-shot."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fake_cli.one_shot import NAMES as ONE_SHOT_HARMS
from tests.helpers.fake_cli import FAKE_CLI, ROOT, STREAM_FLAGS, FakeCli, write_json


def run(*flags: str, stdin: str = "", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*FAKE_CLI, *flags], input=stdin.encode(), capture_output=True, env={**os.environ, **(env or {})}, cwd=ROOT,
        timeout=30, check=False,
    )  # fmt: skip


def test_the_version_is_printed_as_the_real_one_prints_it() -> None:
    done = run("--version")
    assert (done.stdout, done.stderr, done.returncode) == (b"2.1.332 (Claude Code)\n", b"", 0)


def test_the_version_can_be_another_one() -> None:
    assert run("--version", env={"FAKE_CLI_VERSION": "2.0.70"}).stdout == b"2.0.70 (Claude Code)\n"
    assert run("--fake-version", "1.0.0", "--version").stdout == b"1.0.0 (Claude Code)\n"


@pytest.mark.parametrize(("version", "offered"), [("2.0.70", False), ("2.0.71", True), ("2.1.332", True)])
def test_a_cli_that_is_too_old_does_not_offer_questions(version: str, offered: bool) -> None:
    with FakeCli("--fake-version", version) as cli:
        reply = cli.initialize()
        cli.say("hi")
        init = cli.wait_for(lambda m: m.get("subtype") == "init")
    assert ("AskUserQuestion" in init["tools"]) is offered
    assert init["claude_code_version"] == version
    assert ("claude_code_version" in reply) is (version == "2.1.332")


@pytest.mark.parametrize(("signed_in", "code"), [("1", 0), ("0", 1)])
def test_the_login_state_is_json_and_an_exit_code(signed_in: str, code: int) -> None:
    done = run("auth", "status", env={"FAKE_CLI_SIGNED_IN": signed_in})
    assert done.returncode == code
    assert json.loads(done.stdout)["loggedIn"] is (signed_in == "1")


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--no-such-flag"], "error: unknown option '--no-such-flag'"),
        (["--model"], "argument missing"),
        (["--permission-mode", "nonsense"], "argument 'nonsense' is invalid"),
        (["--output-format", "stream-json"], "requires --verbose"),
        (["--input-format", "stream-json"], "requires output-format=stream-json"),
    ],
)
def test_arguments_are_refused_as_the_real_one_refuses_them(flags: list[str], reason: str) -> None:
    done = run(*flags)
    assert done.returncode == 1
    assert reason in done.stderr.decode()


def test_the_flags_that_the_app_may_pass_are_taken() -> None:
    flags = ["--model", "sonnet", "--permission-mode", "acceptEdits", "--add-dir", "/a", "/b", "--tools", "",
             "--setting-sources", "", "--system-prompt-file", "/x", "--effort", "high", "--json-schema", "{}",
             "--resume", "8205e4b0-8726-47dc-a715-27833955d141", "--fork-session", "--strict-mcp-config"]  # fmt: skip
    with FakeCli(*flags) as cli:
        cli.say("hi")
        init = cli.wait_for(lambda m: m.get("subtype") == "init")
    assert (init["model"], init["permissionMode"]) == ("claude-sonnet-5-5", "acceptEdits")
    assert init["additional_directories"] == ["/a", "/b"]
    assert init["session_id"] != "8205e4b0-8726-47dc-a715-27833955d141"


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("nothing", "must be an object or a list of turns"),
        ({"turn": []}, "unknown keys: turn"),
        ({"options": {"modell": "x"}}, "unknown keys: modell"),
        ([[{"txt": "x"}]], "turn 0, step 0: none of ['txt'] is a kind of step"),
        ([[{"text": "x", "speed": 1}]], "turn 0, step 0 (text) has unknown keys: speed"),
        ([{"when": "(", "steps": []}], "no regular expression"),
        ([[{"choose": "x", "cases": {"y": [{"z": 1}]}}]], "case 'y', step 0"),
        ([[{"agent": "x", "steps": [7]}]], "turn 0, step 0 (steps), step 0 must be an object"),
    ],
)
def test_a_wrong_scenario_is_refused_with_the_place(tmp_path: Path, scenario: Any, reason: str) -> None:
    done = run(*STREAM_FLAGS, "--scenario", str(write_json(tmp_path, scenario)))
    assert done.returncode == 2
    assert reason in done.stderr.decode()


def test_a_scenario_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = run(*STREAM_FLAGS, env={"FAKE_CLI_SCENARIO": str(tmp_path / "none.json")})
    assert done.returncode == 2
    assert "cannot be read" in done.stderr.decode()


def test_print_mode_answers_one_prompt() -> None:
    assert run("-p", "hello").stdout == b"echo: hello\n"
    assert run("-p", stdin="from stdin\n").stdout == b"echo: from stdin\n"
    result = json.loads(run("-p", "hello", "--output-format", "json").stdout)
    assert (result["type"], result["result"], result["is_error"]) == ("result", "echo: hello", False)


def test_print_mode_fails_when_the_turn_fails(tmp_path: Path) -> None:
    done = run("-p", "hello", "--scenario", str(write_json(tmp_path, [[{"fail": "429"}]])))
    assert done.returncode == 1
    assert b"429" in done.stdout


def test_what_was_said_and_heard_can_be_written_to_a_file(tmp_path: Path) -> None:
    log = tmp_path / "traffic.jsonl"
    with FakeCli("--model", "haiku", env={"FAKE_CLI_LOG": str(log), "SOME_MARK": "42"}) as cli:
        cli.initialize()
    entries = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
    assert "haiku" in entries[0]["start"]["argv"]
    assert entries[0]["start"]["env"]["SOME_MARK"] == "42"
    assert entries[1]["in"]["request"]["subtype"] == "initialize"
    assert entries[2]["out"]["type"] == "control_response"


# One-shot


def one_shot(*flags: str, stdin: str = "What is 2 + 2?") -> subprocess.CompletedProcess[bytes]:
    return run("--one-shot", *flags, stdin=stdin)


def test_one_shot_reads_a_text_and_prints_one_object() -> None:
    done = one_shot(stdin="漢字 😀\nsecond line")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {"result": "echo: 漢字 😀\nsecond line"}


def test_one_shot_can_give_a_reply_that_was_chosen() -> None:
    assert json.loads(one_shot("--one-shot-reply", "4").stdout) == {"result": "4"}


def test_one_shot_takes_a_prompt_of_two_megabytes() -> None:
    assert len(json.loads(one_shot(stdin="x" * 2_000_000).stdout)["result"]) == 2_000_006


@pytest.mark.parametrize(
    ("harm", "printed"),
    [
        ("error=too hard", [{"result": "too hard", "is_error": True}]),
        ("no-result", [{"answer": "echo: What is 2 + 2?"}]),
        ("wrong-type", [{"result": {"text": "echo: What is 2 + 2?"}}]),
        ("unread", [{"result": "echo: "}]),
        ("json-lines=2", [{"type": "progress", "step": 0}, {"type": "progress", "step": 1},
                          {"result": "echo: What is 2 + 2?"}]),
        ("nothing", []),
    ],
)  # fmt: skip
def test_one_shot_can_print_something_else(harm: str, printed: list[Any]) -> None:
    done = one_shot("--harm", harm)
    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == printed


def test_one_shot_can_print_what_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(one_shot("--harm", "garbage").stdout)


def test_one_shot_can_print_a_big_result() -> None:
    assert len(json.loads(one_shot("--harm", "big=3000000").stdout)["result"]) == 3_000_000


def test_one_shot_can_be_slow() -> None:
    began = time.monotonic()
    one_shot("--harm", "slow=0.5")
    assert time.monotonic() - began >= 0.5


def test_one_shot_can_give_up_with_a_code_and_a_word() -> None:
    done = one_shot("--harm", "exit=6", "--harm", "stderr=100000")
    assert (done.returncode, done.stdout) == (6, b"")
    assert done.stderr.endswith(b"gave up.\n")
    assert len(done.stderr) > 100_000


def test_one_shot_can_hang_after_its_result() -> None:
    process = subprocess.Popen([*FAKE_CLI, "--one-shot", "--harm", "hang-at-eof"], stdin=-1, stdout=-1, cwd=ROOT)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(b"hi")
        process.stdin.close()
        assert json.loads(process.stdout.readline()) == {"result": "echo: hi"}
        time.sleep(0.3)
        assert process.poll() is None
        process.kill()


def test_one_shot_refuses_a_harm_that_it_cannot_do() -> None:
    done = one_shot("--harm", "noise")
    assert done.returncode == 2
    assert all(name in done.stderr.decode() for name in ONE_SHOT_HARMS)
