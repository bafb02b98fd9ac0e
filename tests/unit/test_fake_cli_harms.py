"""Every harm that the stand-in can do, seen from outside: what tests of the app rely on must really happen."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from fake_cli.harms import NAMES
from tests.helpers.fake_cli import FakeCli, write_json, write_scenario

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def one_turn(folder: Path, *steps: Any) -> Path:
    return write_scenario(folder, list(steps))


# At the start


def test_an_unknown_harm_is_refused_with_a_list_of_the_known_ones() -> None:
    with FakeCli("--harm", "tickle") as cli:
        said = cli.violation(exit_code=2)
    assert "Unknown harm: tickle" in said
    assert all(name in said for name in NAMES)


def test_it_can_exit_before_it_reads_anything() -> None:
    with FakeCli("--harm", "exit-at-start=7", exit_code=7) as cli:
        assert cli.wait_for_exit() == 7
    assert cli.messages == []


def test_it_can_be_silent_and_still_end_with_its_input() -> None:
    with FakeCli("--harm", "silent") as cli:
        cli.request("initialize")
        cli.say("hello?")
    assert cli.messages == []


def test_the_handshake_can_be_left_out() -> None:
    with FakeCli("--harm", "no-handshake") as cli:
        cli.request("initialize")
        cli.ask("get_usage")
        assert len(cli.of_type("control_response")) == 1


def test_the_handshake_can_come_late() -> None:
    with FakeCli("--harm", "late-handshake=0.5") as cli:
        began = time.monotonic()
        cli.initialize()
        assert time.monotonic() - began >= 0.5


def test_the_handshake_can_be_refused() -> None:
    with FakeCli("--harm", "refuse-handshake=not today") as cli:
        assert cli.ask("initialize")["error"] == "not today"


def test_a_banner_can_come_before_everything() -> None:
    with FakeCli("--harm", "banner=Welcome to the machine", noise_is_fine=True) as cli:
        cli.initialize()
    assert cli.raw.startswith(b"Welcome to the machine\n{")


def test_lines_that_are_no_objects_can_precede_every_message() -> None:
    with FakeCli("--harm", "noise", noise_is_fine=True) as cli:
        cli.say("hi")
        assert cli.result()["result"] == "echo: hi"
    assert len(cli.noise) == len(cli.messages)
    assert {"null", "42", '["an", "array"]'} <= set(cli.noise)


def test_stderr_can_be_flooded_before_the_handshake() -> None:
    with FakeCli("--harm", "stderr=1000000") as cli:
        cli.initialize()
    assert len(cli.stderr) >= 1_000_000
    assert cli.stderr.endswith("last words on stderr\n")


@pytest.mark.parametrize("harm", ["bytewise", "chunks=3", "split-emoji"])
def test_cut_output_is_still_the_same_output(harm: str) -> None:
    with FakeCli("--harm", harm) as cli:
        cli.say("漢字 😀 e\u0301")
        assert cli.result()["result"] == "echo: 漢字 😀 e\u0301"


# While it runs


def test_garbage_lines_can_come_in_the_middle(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"garbage": 7}, {"text": "after"}), noise_is_fine=True) as cli:
        cli.say("go")
        assert cli.result()["result"] == "after"
    assert len(cli.noise) == 7


def test_any_json_any_line_and_any_bytes_can_be_printed(tmp_path: Path) -> None:
    steps = [{"emit": [1, None]}, {"raw": "{half"}, {"bytes": "gAo="}, {"emit": {"type": "assistant"}},
             {"send": {"type": "future_thing"}}, {"system": {"subtype": "future_subtype"}},
             {"block": {"type": "future_block"}}]  # fmt: skip
    with FakeCli(scenario=one_turn(tmp_path, *steps), noise_is_fine=True) as cli:
        cli.say("go")
        cli.result()
    assert cli.noise == ["[1,null]", "{half", "\ufffd"]
    assert {"type": "assistant"} in cli.messages
    assert cli.of_type("future_thing")
    assert cli.of_type("system", subtype="future_subtype")
    assert cli.of_type("assistant")[1]["message"]["content"] == [{"type": "future_block"}]


def test_a_flood_of_lines_has_the_size_and_the_rate_that_were_asked_for(tmp_path: Path) -> None:
    scenario = one_turn(tmp_path, {"flood": 2_000_000, "rate": 4_000_000})
    with FakeCli(scenario=scenario, noise_is_fine=True) as cli:
        began = time.monotonic()
        cli.say("go")
        cli.result()
        assert time.monotonic() - began >= 0.4
    assert sum(len(line) + 1 for line in cli.noise) == 2_000_000


def test_a_flood_of_deltas_adds_up_to_its_text(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"flood": 20_000, "deltas": True, "line": 50})) as cli:
        cli.say("go")
        result = cli.result()
    assert len(result["result"]) == 20_000
    assert cli.streamed() == result["result"]


def test_a_huge_line_is_one_line(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"huge": 3_000_000}, {"text": "after"})) as cli:
        cli.say("go")
        assert cli.result()["result"] == "after"
    assert [len(text) for text in cli.texts()] == [3_000_000, 5]


@pytest.mark.parametrize(("within", "kind"), [("result", str), ("image", list)])
def test_a_huge_line_can_be_the_result_of_a_tool(tmp_path: Path, within: str, kind: type) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"huge": 1_000_000, "within": within})) as cli:
        cli.say("go")
        cli.result()
    content = cli.of_type("user")[0]["message"]["content"][0]["content"]
    assert isinstance(content, kind)
    assert len(json.dumps(content)) > 1_000_000


def test_a_flood_can_be_stopped(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"flood": 10**12}), exit_code=1, noise_is_fine=True) as cli:
        cli.say("go")
        cli.wait_until(lambda: len(cli.noise) > 100)
        cli.request("interrupt")
        assert cli.result()["terminal_reason"] == "aborted_streaming"


def test_silence_is_real_time_whatever_the_pace(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"silence": 0.4}, {"wait": 60}, {"text": "done"}), pace=0) as cli:
        began = time.monotonic()
        cli.say("go")
        cli.result()
        assert 0.4 <= time.monotonic() - began < 30


def test_it_can_stop_reading_for_a_while(tmp_path: Path) -> None:
    """The pipe to it fills up, so a host that writes without a queue stands still."""
    with FakeCli(scenario=one_turn(tmp_path, {"stop_reading": 0.6}, {"text": "done"}), partial=False) as cli:
        cli.say("go")
        cli.result()
        cli.send({"type": "keep_alive"})  # the read that was already waiting takes this one
        began = time.monotonic()
        for _ in range(4):
            cli.say("x" * 100_000)
        assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize("lie", [{"deltas": False}, {"deltas": "something else"}, {"whole": False}])
def test_it_can_lie_about_what_it_streamed(tmp_path: Path, lie: dict[str, Any]) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"text": "the truth", **lie})) as cli:
        cli.say("go")
        cli.result()
    streamed, whole = cli.streamed(), cli.texts()
    expected = {"deltas": (lie.get("deltas") or "", ["the truth"]), "whole": ("the truth", [])}
    assert (streamed, whole) == expected[next(iter(lie))]


def test_a_turn_can_end_without_a_result(tmp_path: Path) -> None:
    scenario = write_json(tmp_path, [[{"result": None}, {"text": "one"}], [{"text": "two"}]])
    with FakeCli(scenario=scenario) as cli:
        cli.say("go")
        cli.wait_until(lambda: "one" in cli.texts())
        cli.say("go on")
        assert cli.result()["result"] == "two"


def test_a_result_can_say_what_it_likes(tmp_path: Path) -> None:
    lie = {"subtype": "error_max_turns", "is_error": True, "result": 42}
    with FakeCli(scenario=one_turn(tmp_path, {"result": lie}), exit_code=1) as cli:
        cli.say("go")
        assert {key: cli.result()[key] for key in lie} == lie


def test_a_request_can_come_twice_with_the_same_id(tmp_path: Path) -> None:
    scenario = one_turn(tmp_path, {"tool": "Bash", "input": {"command": "ls"}, "ask": True})
    with FakeCli("--harm", "duplicate-requests", scenario=scenario) as cli:
        cli.say("go")
        first, second = cli.next_request(), cli.next_request(number=1)
        assert first == second
        cli.allow(first)
        cli.result()


def test_an_interrupt_can_be_ignored(tmp_path: Path) -> None:
    with FakeCli("--harm", "ignore-interrupt", scenario=one_turn(tmp_path, {"silence": 0.5}, {"text": "done"})) as cli:
        cli.say("go")
        cli.wait_for(lambda m: m.get("subtype") == "init")
        interrupt = cli.request("interrupt")
        assert cli.result()["result"] == "done"
    assert not [m for m in cli.of_type("control_response") if m["response"]["request_id"] == interrupt]


def test_harms_can_begin_and_end_in_the_middle(tmp_path: Path) -> None:
    steps = [{"harm": {"noise": ""}}, {"text": "loud"}, {"harm": {"noise": None}}, {"text": "quiet"}]
    with FakeCli(scenario=one_turn(tmp_path, *steps), partial=False, noise_is_fine=True) as cli:
        cli.say("go")
        cli.result()
    assert len(cli.noise) == 1


def test_a_scenario_can_bring_its_own_harms(tmp_path: Path) -> None:
    with FakeCli(scenario=write_scenario(tmp_path, harm={"banner": "hello"}), noise_is_fine=True) as cli:
        cli.initialize()
    assert cli.noise == ["hello"]


def test_a_scenario_can_have_requests_answered_with_anything(tmp_path: Path) -> None:
    replies = {"get_context_usage": {"totalTokens": "many"}, "initialize": {"models": "none"}}
    with FakeCli(scenario=write_scenario(tmp_path, replies=replies)) as cli:
        assert cli.initialize() == {"models": "none"}
        assert cli.ask("get_context_usage")["response"] == {"totalTokens": "many"}


# Ends


def test_it_can_crash_with_a_code(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"text": "x"}, {"crash": 9}), exit_code=9) as cli:
        cli.say("go")
        assert cli.wait_for_exit() == 9
    assert cli.of_type("result") == []


@posix_only
def test_it_can_crash_by_a_signal(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"crash": "KILL"}), exit_code=-signal.SIGKILL) as cli:
        cli.say("go")
        assert cli.wait_for_exit() == -signal.SIGKILL


def test_it_can_crash_before_a_step_that_has_a_name(tmp_path: Path) -> None:
    scenario = one_turn(tmp_path, {"text": "before"}, {"text": "after", "name": "here"})
    with FakeCli("--harm", "crash-at=here:5", scenario=scenario, exit_code=5) as cli:
        cli.say("go")
        assert cli.wait_for_exit() == 5
    assert cli.texts() == ["before"]


def test_it_can_leave_with_a_question_open(tmp_path: Path) -> None:
    """Only the end comes then, no cancel: as when the process is killed."""
    question = {"question": "A?", "header": "A", "options": [{"label": "x"}, {"label": "y"}]}
    agent = {"agent": "other", "steps": [{"wait": 0.3}, {"exit": 4}]}
    scenario = one_turn(tmp_path, {"together": [{"question": [question]}, agent]})
    with FakeCli(scenario=scenario, pace=1, exit_code=4) as cli:
        cli.say("go")
        cli.next_request()
        assert cli.wait_for_exit() == 4
    assert cli.of_type("control_cancel_request") == []


def test_it_can_leave_between_two_messages(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"exit_after": 6}, {"text": "bye"}), exit_code=6) as cli:
        cli.say("go")
        assert cli.result()["result"] == "bye"
        assert cli.wait_for_exit() == 6


def test_two_requests_can_have_the_same_id(tmp_path: Path) -> None:
    steps = [{"request": {"subtype": "future_thing"}, "id": "same", "wait": False},
             {"request": {"subtype": "another_thing"}, "id": "same"}, {"text": "${last.decision}"}]
    with FakeCli(scenario=one_turn(tmp_path, *steps)) as cli:
        cli.say("go")
        cli.next_request("future_thing")
        cli.reply(cli.next_request("another_thing"), {})
        assert cli.result()["result"] == "success"


def test_it_can_hang_when_its_input_ends() -> None:
    with FakeCli("--harm", "hang-at-eof", exit_code=143) as cli:
        cli.initialize()
        cli.close_stdin()
        time.sleep(0.5)
        assert cli.process.poll() is None
        cli.process.terminate()


@posix_only
def test_it_leaves_at_sigterm_with_the_real_ones_code() -> None:
    with FakeCli(exit_code=143) as cli:
        cli.initialize()
        cli.process.terminate()
        assert cli.wait_for_exit() == 143


@posix_only
def test_it_can_ignore_sigterm() -> None:
    with FakeCli("--harm", "ignore-sigterm") as cli:
        cli.initialize()
        cli.process.terminate()
        time.sleep(0.3)
        assert cli.ask("get_usage")["subtype"] == "success"


@posix_only
def test_a_grandchild_can_hold_stdout_after_it_has_gone(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"orphan": 30}, {"text": "bye"})) as cli:
        cli.say("go")
        cli.result()
        cli.wait_until(lambda: "orphan" in cli.stderr)
        cli.close_stdin()
        cli.process.wait(10)
        orphan = psutil.Process(int(cli.stderr.split()[1]))
        try:
            assert orphan.is_running()
            assert not cli.output_ended
        finally:
            orphan.kill()


def test_stdout_can_be_closed_while_it_goes_on(tmp_path: Path) -> None:
    with FakeCli(scenario=one_turn(tmp_path, {"text": "x"}, {"close_stdout": True}, {"silence": 20})) as cli:
        cli.say("go")
        cli.wait_until(lambda: cli.output_ended)
        assert cli.process.poll() is None
        cli.process.kill()
        cli.exit_code = cli.process.wait()


def test_stderr_can_be_flooded_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    scenario = one_turn(tmp_path, {"stderr": 1_000_000}, {"stderr": "the last line\n"}, {"text": "x"})
    with FakeCli(scenario=scenario) as cli:
        cli.say("go")
        assert cli.result()["result"] == "x"
    assert cli.stderr.endswith("the last line\n")
