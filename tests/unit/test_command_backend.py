"""The command backend: any program that reads a text and prints an answer, and all the ways in which it can fail."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.chat_completions.backend import Finished, Started, TextDelta, Usage
from protocol.chat_completions.command_backend import CommandBackend
from protocol.chat_completions.command_output import read_output
from protocol.chat_completions.errors import ApiError
from tests.helpers.completions import CALLER, Outcome, complete, own_folders, request, text_turn
from tests.helpers.fake_cli import ROOT
from tests.helpers.peer import run
from tests.helpers.processes import is_running

ONE_SHOT = (sys.executable, "-S", "-m", "fake_cli", "--one-shot")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the programs' own folders come to be."""
    folder = tmp_path / "folders"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def stand_in(*flags: str, **options: Any) -> CommandBackend:
    return CommandBackend((*ONE_SHOT, *flags), "cli-demo", environment(), **options)


def program(code: str, **options: Any) -> CommandBackend:
    """A few lines of Python as the CLI."""
    prelude = "import json, os, subprocess, sys, time\n"
    return CommandBackend((sys.executable, "-S", "-c", prelude + code), "cli-demo", environment(), **options)


def one(backend: CommandBackend, *turns: Any, **fields: Any) -> Outcome:
    return run(complete(backend, request(*(turns or ("Hello",)), model="cli-demo", **fields)))


class TestAnswer:
    @pytest.mark.parametrize("stream", [False, True])
    def test_the_result_of_the_object_is_the_answer(self, folders: Path, stream: bool) -> None:
        outcome = one(stand_in(), "Grüße 🎉", stream=stream)

        assert outcome.events == [Started(), TextDelta("echo: Grüße 🎉"), Finished("stop", None)]
        assert own_folders(folders) == []

    def test_of_json_lines_the_last_result_counts(self, folders: Path) -> None:
        assert one(stand_in("--harm", "json-lines=3")).text == "echo: Hello"

    def test_several_turns_arrive_as_one_text_with_all_of_them(self, folders: Path) -> None:
        outcome = one(
            stand_in(),
            text_turn("system", "Be short."),
            text_turn("user", "My colour is blue."),
            text_turn("assistant", "Noted."),
            text_turn("user", "Which one?"),
        )

        places = [outcome.text.index(words) for words in ("Be short.", "My colour is blue.", "Noted.", "Which one?")]
        assert places == sorted(places)

    @pytest.mark.parametrize("text", ["0123456789" * 20_000, "龍门飞甲長河落日圓。" * 30_000], ids=["ASCII", "Chinese"])
    def test_a_long_text_arrives_complete(self, folders: Path, text: str) -> None:
        assert one(stand_in(), text).text == f"echo: {text}"

    @pytest.mark.parametrize(
        "text", ["$(touch owned) `touch owned`", "; touch owned", "@/etc/hostname", "/cost", "--harm"]
    )
    def test_no_shell_and_no_argument_ever_sees_a_prompt(self, folders: Path, tmp_path: Path, text: str) -> None:
        backend = program("print(json.dumps({'result': json.dumps([sys.argv[1:], sys.stdin.read()])}))", cwd=tmp_path)

        assert json.loads(one(backend, text).text) == [[], text]
        assert not (tmp_path / "owned").exists()

    def test_it_runs_in_an_empty_folder_of_its_own_and_with_the_environment_that_it_was_given(
        self, folders: Path
    ) -> None:
        code = "print(json.dumps({'result': json.dumps([os.getcwd(), os.listdir(), dict(os.environ)])}))"
        backend = program(code)
        os.environ["A_TOKEN_OF_THE_SERVER"] = "0123456789abcdef"
        try:
            cwd, listing, env = json.loads(one(backend).text)
        finally:
            del os.environ["A_TOKEN_OF_THE_SERVER"]

        assert Path(cwd).parent == folders
        assert listing == []
        assert "A_TOKEN_OF_THE_SERVER" not in env
        assert own_folders(folders) == []

    def test_a_folder_that_was_chosen_stays(self, folders: Path, tmp_path: Path) -> None:
        backend = program("print(json.dumps({'result': os.getcwd()}))", cwd=tmp_path)

        assert one(backend).text == str(tmp_path)
        assert tmp_path.is_dir()

    def test_a_program_that_does_not_read_is_no_problem(self, folders: Path) -> None:
        assert one(stand_in("--harm", "unread"), "x" * 1_000_000).text == "echo: "

    def test_a_program_that_prints_before_it_reads_is_no_problem(self, folders: Path) -> None:
        code = "print(json.dumps({'result': 'x' * 3_000_000}), flush=True); sys.stdin.read()"

        assert len(one(program(code), "x" * 1_000_000).text) == 3_000_000

    def test_what_is_printed_to_stderr_is_read_and_thrown_away(self, folders: Path) -> None:
        assert one(stand_in("--harm", "stderr=3000000")).text == "echo: Hello"

    def test_a_grandchild_that_holds_the_pipe_open_is_ended(self, folders: Path) -> None:
        code = (
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "print(json.dumps({'result': str(child.pid)}))"
        )

        outcome = one(program(code))

        assert not is_running(int(outcome.text))
        assert outcome.gone_after < 15

    def test_there_is_one_model(self, folders: Path) -> None:
        backend = stand_in()

        assert run(backend.models()) == ("cli-demo",)
        outcome = run(complete(backend, request("Hello", model="default")))
        assert outcome.failure == (400, "model_not_found")
        assert outcome.error is not None
        assert outcome.error.param == "model"
        assert backend.supports == frozenset()

    def test_it_can_be_started_and_closed_at_any_time(self, folders: Path) -> None:
        async def test() -> Outcome:
            backend = stand_in()
            await backend.start()
            outcome = await complete(backend, request("Hello", model="cli-demo"))
            await backend.close()
            await backend.close()
            return outcome

        assert run(test()).text == "echo: Hello"


class TestFailures:
    @pytest.mark.parametrize(
        ("harm", "code"),
        [
            ("error=The model refused /a/path", "cli_failed"),
            ("garbage", "no_answer"),
            ("garbage=null", "no_answer"),
            ("exit=3", "cli_failed"),
            ("nothing", "no_answer"),
            ("no-result", "no_answer"),
            ("wrong-type", "no_answer"),
            ("big=17000000", "too_much_output"),
        ],
    )
    def test_what_is_no_answer_is_an_error(self, folders: Path, harm: str, code: str) -> None:
        outcome = one(stand_in("--harm", harm))

        assert outcome.failure == (502, code)
        assert outcome.events == []
        assert outcome.error is not None
        assert outcome.error.should_retry is False
        assert "path" not in str(outcome.error)
        assert own_folders(folders) == []

    def test_a_program_that_is_not_there_is_not_named(self, folders: Path) -> None:
        outcome = one(CommandBackend(("/no/such/program",), "cli-demo", environment()))

        assert outcome.failure == (502, "cli_not_started")
        assert "/no/such" not in str(outcome.error)
        assert own_folders(folders) == []

    @pytest.mark.parametrize(
        "code",
        ["print(json.dumps({'result': 'fine'}), flush=True); os.kill(os.getpid(), 9)",
         "print(json.dumps({'result': 'fine'}), flush=True); sys.exit(1)"],
    )  # fmt: skip
    def test_an_answer_of_a_program_that_then_fails_is_none(self, folders: Path, code: str) -> None:
        assert one(program(code)).failure == (502, "cli_failed")

    def test_output_without_end_is_cut_off_and_does_not_fill_the_memory(self, folders: Path) -> None:
        outcome = one(program("while True: print('x' * 9999)", most_bytes=1_000_000))

        assert outcome.failure == (502, "too_much_output")
        assert outcome.gone_after < 15

    def test_what_is_no_utf_8_is_no_answer(self, folders: Path) -> None:
        assert one(program('sys.stdout.buffer.write(b\'{"result": "\\xff"}\')')).failure == (502, "no_answer")


class TestHangUp:
    @pytest.mark.parametrize("stubborn", [False, True], ids=["", "ignores SIGTERM"])
    def test_the_tree_is_gone_when_the_generator_has_ended(self, folders: Path, tmp_path: Path, stubborn: bool) -> None:
        pids = tmp_path / "pids"
        code = (
            ("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if stubborn else "")
            + "sleep = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
            "child = subprocess.Popen(sleep, start_new_session=True)\n"
            f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}} ')\n"
            "time.sleep(60)"
        )

        async def test() -> float:
            asking = asyncio.create_task(complete(program(code), request("Hello", model="cli-demo")))
            await _until(lambda: pids.exists() and pids.read_text().endswith(" "))
            began = time.monotonic()
            asking.cancel()
            await asyncio.sleep(0)
            asking.cancel()  # once more must not leave anything behind
            with pytest.raises(asyncio.CancelledError):
                await asking
            return time.monotonic() - began

        assert run(test()) < 6
        assert [pid for pid in map(int, pids.read_text().split()) if is_running(pid)] == []
        assert own_folders(folders) == []

    def test_before_the_program_is_there(self, folders: Path) -> None:
        async def test() -> None:
            for turns_of_the_loop in range(6):
                asking = asyncio.create_task(complete(stand_in(), request("Hello", model="cli-demo")))
                for _ in range(turns_of_the_loop):
                    await asyncio.sleep(0)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking

        run(test())
        assert own_folders(folders) == []

    def test_closing_the_backend_ends_what_runs(self, folders: Path) -> None:
        async def test() -> Outcome:
            backend = stand_in("--harm", "slow=60")
            asking = asyncio.create_task(complete(backend, request("Hello", model="cli-demo")))
            await _until(lambda: own_folders(folders))
            await backend.close()
            return await asking

        assert run(test()).failure == (502, "cli_failed")

    def test_a_generator_that_was_never_begun_starts_nothing(self, folders: Path) -> None:
        async def test() -> None:
            await stand_in().complete(request("Hello", model="cli-demo"), CALLER).aclose()

        run(test())
        assert own_folders(folders) == []


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


class TestOutput:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (b'{"result": "a"}', "a"),
            (b' {\n  "result": "a",\n  "is_error": false\n}\n', "a"),
            (lines({"type": "progress"}, {"result": "a"}), "a"),
            (lines({"result": "a"}, {"result": "b"}), "b"),
            (lines({"type": "assistant", "message": {"content": [{"type": "text", "text": "a"}]}}), "a"),
            (lines({"role": "assistant", "content": "a"}, {"type": "usage"}), "a"),
            (lines({"role": "assistant", "content": "a"}, {"type": "result", "result": "b"}), "b"),
            (lines({"type": "result", "result": "b"}, {"role": "assistant", "content": "c"}), "c"),
            (b"a banner\n" + lines({"result": "a"}) + b"bye\n", "a"),
            (lines({"result": "a\u2028b"}), "a\u2028b"),
            (lines({"is_error": True, "result": "x"}, {"result": "a"}), "a"),
            (
                lines(
                    {
                        "type": "assistant",
                        "message": {
                            "content": [
                                {"type": "text", "text": "a"},
                                {"type": "tool_use", "text": "no"},
                                {"type": "text", "text": "b"},
                            ]
                        },
                    }
                ),
                "ab",
            ),
        ],
    )
    def test_where_the_answer_stands(self, data: bytes, text: str) -> None:
        assert read_output(data).text == text

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"  \n",
            b"\xff\xfe",
            b"null",
            b"[]",
            b'"text"',
            b"{}",
            b'{"result": null}',
            b'{"result": 5}',
            b'{"result": ["a"]}',
            b'{"result": ""}',
            b'{"result": " \\n"}',
            b'{"result": "\\ud800"}',
            b'{"result": "a", "is_error": true}',
            b'{"result": "a", "is_error": 1}',
            b'{"is_error": true}',
            b'{"type": "result", "subtype": "error_max_turns"}',
            b'{"type": "assistant", "message": "a"}',
            b'{"type": "assistant", "message": {"content": []}}',
            b'{"result": "a"',
            b"[" * 100_000,
            lines({"result": "a"}, {"type": "result", "is_error": True}),
            lines({"role": "assistant", "content": "a"}, {"type": "result"}),
        ],
    )
    def test_what_is_no_answer(self, data: bytes) -> None:
        with pytest.raises(ApiError) as caught:
            read_output(data)
        assert (caught.value.status, caught.value.should_retry) == (502, False)

    def test_what_the_cli_says_of_tokens_and_the_end_is_kept(self) -> None:
        output = read_output(
            lines({"result": "a", "stop_reason": "max_tokens", "usage": {"input_tokens": 3, "output_tokens": 4}})
        )
        assert (output.reason, output.usage) == ("length", Usage(3, 4))
        assert read_output(lines({"result": "a", "stop_reason": 5, "usage": "many"})).usage is None


async def _until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 — it is about other processes
            await asyncio.sleep(0.02)
