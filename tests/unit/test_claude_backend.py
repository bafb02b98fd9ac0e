"""The Claude backend on the stand-in: what it starts, what it says, and every way in which a CLI can fail it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from protocol import questions
from protocol.chat_completions.backend import Finished, Question, Started, TextDelta
from protocol.chat_completions.claude_backend import ClaudeBackend, ClaudeOptions
from protocol.chat_completions.claude_cli import Launch, find_launch
from protocol.chat_completions.errors import ApiError
from protocol.claude import ClaudeNotFound
from protocol.messages import CanUseTool
from tests.helpers.completions import CALLER, Outcome, Person, complete, own_folders, request, text_turn
from tests.helpers.fake_cli import ROOT, write_scenario
from tests.helpers.peer import run
from tests.helpers.processes import is_running

ARGV = (sys.executable, "-S", "-m", "fake_cli")
QUESTION = {"question": "Which one?", "header": "Choice", "options": [{"label": "A"}, {"label": "B"}]}


class Stage:
    """The stand-in, started as the backend starts a CLI, and what it heard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "traffic.jsonl"
        self.folders = folder / "folders"
        self.folders.mkdir()
        self.argv: tuple[str, ...] = ARGV
        self.env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "FAKE_CLI_LOG": str(self.log),
            "FAKE_CLI_PACE": "1",
        }

    def play(self, *turns: list[Any], **options: Any) -> None:
        """From now on CLIs have this scenario."""
        self.env["FAKE_CLI_SCENARIO"] = str(write_scenario(self.folder, *turns, **options))

    def harm(self, *harms: str) -> None:
        self.env["FAKE_CLI_HARM"] = ",".join(harms)

    @asynccontextmanager
    async def backend(self, **options: Any) -> AsyncIterator[ClaudeBackend]:
        backend = ClaudeBackend(lambda: Launch(self.argv, dict(self.env)), ClaudeOptions(**options))
        try:
            yield backend
        finally:
            await backend.close()
        assert own_folders(self.folders) == []
        assert [pid for pid in self.pids if is_running(pid)] == []

    def one(self, *turns: Any, caller: Any = CALLER, options: dict[str, Any] | None = None, **fields: Any) -> Outcome:
        """One completion."""

        async def test() -> Outcome:
            async with self.backend(**(options or {})) as backend:
                return await complete(backend, request(*turns, **fields), caller)

        return run(test())

    def entries(self, kind: str) -> list[Any]:
        """`start`, `in` or `out` of all CLIs, in order."""
        lines = self.log.read_text(encoding="ascii").splitlines() if self.log.exists() else []
        return [entry[kind] for entry in map(json.loads, lines) if kind in entry]

    @property
    def pids(self) -> list[int]:
        return [start["pid"] for start in self.entries("start")]

    @property
    def prompts(self) -> list[Any]:
        return [message for message in self.entries("in") if message.get("type") == "user"]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(stage.folders))
    return stage


class TestStart:
    def test_a_cli_of_its_own_in_an_empty_folder_hears_the_text_and_nothing_by_its_arguments(
        self, stage: Stage
    ) -> None:
        stage.env |= {"ANTHROPIC_API_KEY": "sk-of-somebody", "CLAUDECODE": "1"}
        stage.env["HANDRAISE_CLAUDE"] = json.dumps(ARGV)

        async def test() -> Outcome:
            backend = ClaudeBackend(lambda: find_launch(None, stage.env))
            outcome = await complete(backend, request(text_turn("system", "Be kind."), text_turn("user", "A secret")))
            await backend.close()
            return outcome

        assert run(test()).text == "echo: A secret"
        start = stage.entries("start")[0]
        assert start["argv"][-7:] == [
            *("--tools", "", "--setting-sources", "", "--strict-mcp-config"),
            *("--disable-slash-commands", "--no-session-persistence"),
        ]
        assert "secret" not in json.dumps(start["argv"])
        assert Path(start["cwd"]).parent == stage.folders
        assert not {"ANTHROPIC_API_KEY", "CLAUDECODE"} & set(start["env"])
        shake = stage.entries("in")[0]["request"]
        assert (shake["subtype"], shake["systemPrompt"]) == ("initialize", "Be kind.")
        (prompt,) = stage.prompts
        assert prompt["client_composed"] is True
        assert prompt["message"]["content"] == [{"type": "text", "text": "A secret"}]

    def test_the_folder_is_empty_and_each_cli_has_another_one(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend() as backend:
                for _ in range(2):
                    assert (await complete(backend, request("Hello"))).text == "echo: Hello"

        run(test())
        folders = [start["cwd"] for start in stage.entries("start")]
        assert len(set(folders)) == len(folders) >= 2

    def test_there_is_no_cli(self, stage: Stage) -> None:
        def find() -> Launch:
            raise ClaudeNotFound("nowhere, not even in /a/path")

        async def test() -> Outcome:
            backend = ClaudeBackend(find)
            await backend.start()
            outcome = await complete(backend, request("Hello"))
            await backend.close()
            return outcome

        outcome = run(test())
        assert outcome.failure == (502, "cli_not_found")
        assert "/" not in str(outcome.error)

    def test_a_program_that_is_not_there_is_not_named(self, stage: Stage) -> None:
        stage.argv = ("/no/such/claude",)

        outcome = stage.one("Hello")

        assert outcome.failure == (502, "cli_not_started")
        assert "/no/such" not in str(outcome.error)

    @pytest.mark.parametrize("harm", ["exit-at-start=3", "refuse-handshake=not today /a/path"])
    def test_a_cli_that_does_not_come_up(self, stage: Stage, harm: str) -> None:
        stage.harm(harm)

        outcome = stage.one("Hello")

        assert outcome.failure == (502, "cli_not_started")
        assert outcome.error is not None
        assert outcome.error.should_retry is False
        assert "path" not in str(outcome.error)

    @pytest.mark.parametrize("harm", ["no-handshake", "silent"])
    def test_a_cli_that_is_silent_from_the_start_is_late(self, stage: Stage, harm: str) -> None:
        stage.harm(harm)

        outcome = stage.one("Hello", options={"handshake_timeout": 1.0})

        assert outcome.failure == (504, "timeout")
        assert stage.prompts == []

    @pytest.mark.parametrize("version", ["2.0.71", "2.1.197", "2.1.247"])
    def test_a_cli_that_would_not_take_the_text_literally_is_not_told_it(self, stage: Stage, version: str) -> None:
        stage.env["FAKE_CLI_VERSION"] = version

        outcome = stage.one("/cost")

        assert outcome.failure == (502, "cli_too_old")
        assert version in str(outcome.error)
        assert stage.prompts == []

    def test_the_oldest_that_will_do(self, stage: Stage) -> None:
        stage.env["FAKE_CLI_VERSION"] = "2.1.248"

        assert stage.one("/cost").text == "echo: /cost"


class TestRequest:
    def test_model_effort_and_system_are_those_of_the_request(self, stage: Stage) -> None:
        stage.play([{"text": "${model}, ${effort}, ${system}"}])

        outcome = stage.one(
            text_turn("system", "Be kind."), text_turn("user", "Hi"), model="haiku", reasoning_effort="max"
        )

        assert outcome.text == "claude-haiku-5-5, max, Be kind."

    @pytest.mark.parametrize("name", ["gpt-4o", "", "claude-opus-1", "Opus"])
    def test_an_unknown_model_is_refused_before_the_prompt(self, stage: Stage, name: str) -> None:
        outcome = stage.one("Hello", model=name)

        assert outcome.failure == (400, "model_not_found")
        assert outcome.error is not None
        assert outcome.error.param == "model"
        assert stage.prompts == []

    def test_a_model_without_thinking_takes_no_effort(self, stage: Stage) -> None:
        models = [
            {"value": "default", "resolvedModel": "claude-opus-5-5", "supportsEffort": False},
            {"value": "opus", "resolvedModel": "claude-opus-5-5", "supportsEffort": True,
             "supportedEffortLevels": ["low"]},
        ]  # fmt: skip
        stage.play(models=models)

        for model, code in (("default", "unsupported_parameter"), ("opus", "invalid_value")):
            outcome = stage.one("Hello", model=model, reasoning_effort="max")
            assert outcome.failure == (400, code)
            assert outcome.error is not None
            assert outcome.error.param == "reasoning_effort"
        assert stage.prompts == []

    def test_a_cli_that_lists_no_models_decides_itself(self, stage: Stage) -> None:
        stage.play([{"text": "${model}"}], replies={"initialize": {"claude_code_version": "2.1.332"}})

        assert stage.one("Hello", model="haiku").text == "claude-haiku-5-5"
        assert stage.one("Hello", model="gpt-4o").failure == (400, "model_not_found")

    def test_an_answer_keeps_to_the_schema(self, stage: Stage) -> None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}

        outcome = stage.one("Zoë", json_schema=schema, stream=True)

        assert json.loads(outcome.text) == {"name": "echo: Zoë", "age": 0}
        assert outcome.pieces == [outcome.text]
        assert outcome.finished.reason == "stop"

    def test_the_models_are_asked_for_once_and_told_without_doubles(self, stage: Stage) -> None:
        async def test() -> tuple[tuple[str, ...], tuple[str, ...]]:
            async with stage.backend() as backend:
                names = await backend.models()
                assert await backend.models() == names
                before = (await complete(backend, request("Hello"))).text
                assert before == "echo: Hello"
                return names, await backend.models()

        first, second = run(test())
        assert first == second
        assert first[:3] == ("default", "claude-opus-5-5", "opus")
        assert len(set(first)) == len(first) == 9
        assert sum(1 for m in stage.entries("in") if m.get("request", {}).get("subtype") == "initialize") == 2

    def test_many_who_want_to_know_the_models_start_one_cli_for_it(self, stage: Stage) -> None:
        async def test() -> list[tuple[str, ...]]:
            async with stage.backend() as backend:
                return await asyncio.gather(*(backend.models() for _ in range(6)))

        assert len(set(run(test()))) == 1
        assert len([message for message in stage.entries("in") if message["type"] == "control_request"]) == 1

    def test_a_cli_without_models_cannot_say_them(self, stage: Stage) -> None:
        stage.play(replies={"initialize": {"claude_code_version": "2.1.332"}})

        async def test() -> None:
            async with stage.backend() as backend:
                with pytest.raises(ApiError) as caught:
                    await backend.models()
                assert caught.value.status == 502

        run(test())

    def test_many_at_once_each_get_their_own_answer(self, stage: Stage) -> None:
        async def test() -> list[Outcome]:
            async with stage.backend() as backend:
                await backend.start()
                asked = [complete(backend, request(f"number {n}")) for n in range(6)]
                return list(await asyncio.gather(*asked))

        outcomes = run(test())
        assert [outcome.text for outcome in outcomes] == [f"echo: number {n}" for n in range(6)]


class TestOutOfOrder:
    @pytest.mark.parametrize("harm", ["noise", "bytewise", "split-emoji", "banner", "stderr=300000"])
    def test_what_is_no_message_does_not_matter(self, stage: Stage, harm: str) -> None:
        stage.harm(harm)

        assert stage.one("Grüße 🎉", stream=True).text == "echo: Grüße 🎉"

    def test_a_crash_in_the_middle_ends_the_answer(self, stage: Stage) -> None:
        stage.play([{"text": "One moment"}, {"crash": 3}])

        outcome = stage.one("Hello", stream=True)

        assert outcome.text == "One moment"
        assert outcome.failure == (502, "cli_ended")

    def test_a_crash_by_a_signal_too(self, stage: Stage) -> None:
        stage.play([{"text": "One moment"}, {"crash": "KILL"}])

        assert stage.one("Hello").failure == (502, "cli_ended")

    def test_an_exit_after_the_answer_was_complete_does_not_matter(self, stage: Stage) -> None:
        stage.play([{"text": "All of it"}, {"exit_after": 3}])

        assert stage.one("Hello").text == "All of it"

    @pytest.mark.parametrize(
        "steps",
        [
            [{"silence": 60}],
            [{"result": None}],
            [{"garbage": 100}, {"silence": 60}],
            [{"repeat": 100, "steps": [{"emit": {"type": "keep_alive"}}, {"wait": 0.1}]}],
            [{"repeat": 100, "steps": [{"raw": "still here"}, {"wait": 0.1}]}],
        ],
        ids=["silent", "no result", "garbage", "keep-alive only", "noise only"],
    )
    def test_silence_is_given_up(self, stage: Stage, steps: list[Any]) -> None:
        stage.play([{"text": "One moment"}, *steps])

        outcome = stage.one("Hello", stream=True, options={"idle_timeout": 1.0})

        assert outcome.failure == (504, "timeout")
        assert outcome.text == "One moment"
        assert outcome.gone_after < 9

    def test_a_slow_answer_is_no_silence(self, stage: Stage) -> None:
        stage.play([{"text": "one two three four five six", "pace": 12, "chunk": 4}])

        outcome = stage.one("Hello", options={"idle_timeout": 1.2})

        assert outcome.text == "one two three four five six"
        assert outcome.answered_after > 1.5

    @pytest.mark.parametrize(
        ("step", "failure"),
        [
            ({"fail": "401"}, (502, "cli_signed_out")),
            ({"fail": "not_logged_in"}, (502, "cli_signed_out")),
            ({"fail": "429"}, (429, "plan_limit_reached")),
            ({"fail": "529"}, (502, "overloaded")),
            ({"fail": "billing"}, (502, "billing_error")),
            ({"result": {"is_error": True}}, (502, "cli_failed")),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    def test_a_failed_turn_is_no_answer(self, stage: Stage, step: dict[str, Any], failure: tuple[int, str]) -> None:
        stage.play([step])

        outcome = stage.one("Hello")

        assert outcome.failure == failure
        assert outcome.pieces == []

    def test_a_whole_text_that_is_another_than_the_streamed_one_is_not_passed_on(self, stage: Stage) -> None:
        stage.play([{"text": "The truth", "deltas": "A lie, and a long one"}])

        assert stage.one("Hello", stream=True).failure[0] == 502
        assert stage.one("Hello").text == "The truth"


class TestHangUp:
    @pytest.mark.parametrize("harm", ["", "ignore-sigterm", "hang-at-eof"])
    def test_the_tree_is_gone_when_the_generator_has_ended(self, stage: Stage, harm: str) -> None:
        stage.harm(*filter(None, [harm]))
        stage.play([{"text": "One moment"}, {"orphan": 60}, {"silence": 60}])

        async def test() -> float:
            async with stage.backend() as backend:
                events = backend.complete(request("Hello", stream=True), CALLER)
                assert isinstance(await anext(events), Started)
                assert isinstance(await anext(events), TextDelta)
                began = time.monotonic()
                await events.aclose()
                took = time.monotonic() - began
                assert not is_running(stage.pids[0])
                assert _running_in(stage.entries("start")[0]["cwd"]) == []
            return took

        assert run(test()) < 6

    def test_cancelled_twice_it_still_ends_everything_first(self, stage: Stage) -> None:
        stage.harm("ignore-sigterm")
        stage.play([{"text": "One moment"}, {"silence": 60}])

        async def test() -> None:
            async with stage.backend() as backend:
                asking = asyncio.create_task(complete(backend, request("Hello")))
                await _until(lambda: stage.prompts)
                asking.cancel()
                await asyncio.sleep(0.1)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                assert not is_running(stage.pids[0])

        run(test())

    def test_while_the_cli_starts(self, stage: Stage) -> None:
        stage.harm("late-handshake=30")

        async def test() -> None:
            async with stage.backend() as backend:
                asking = asyncio.create_task(complete(backend, request("Hello")))
                await _until(lambda: stage.entries("in"))
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking

        run(test())
        assert stage.prompts == []

    def test_before_the_cli_is_there(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend() as backend:
                for turns_of_the_loop in range(8):
                    asking = asyncio.create_task(complete(backend, request("Hello")))
                    for _ in range(turns_of_the_loop):
                        await asyncio.sleep(0)
                    asking.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await asking

        run(test())
        assert stage.prompts == []

    def test_a_finished_answer_does_not_wait_for_the_end_of_the_cli(self, stage: Stage) -> None:
        stage.harm("hang-at-eof")

        outcome = stage.one("Hello")

        assert isinstance(outcome.finished, Finished)
        assert outcome.gone_after - outcome.answered_after > 1.0


class TestReserve:
    def test_the_one_in_reserve_is_used_once_and_replaced(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await backend.start()  # one is enough
                await _until(lambda: len(stage.pids) == 1)
                assert (await complete(backend, request("One"))).text == "echo: One"
                await _until(lambda: len(stage.pids) == 2)
                assert (await complete(backend, request("Two"))).text == "echo: Two"
                await _until(lambda: len(stage.pids) == 3)

        run(test())
        assert [prompt["message"]["content"][0]["text"] for prompt in stage.prompts] == ["One", "Two"]

    def test_one_that_has_died_is_not_handed_out(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await _until(lambda: stage.pids)
                psutil.Process(stage.pids[0]).kill()
                assert (await complete(backend, request("Hello"))).text == "echo: Hello"

        run(test())
        assert len(stage.prompts) == 1

    def test_one_that_dies_at_the_handshake_is_replaced_within_the_request(self, stage: Stage) -> None:
        stage.harm("refuse-handshake")

        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await _until(lambda: stage.pids)
                stage.harm()
                assert (await complete(backend, request("Hello"))).text == "echo: Hello"

        run(test())
        assert len(stage.prompts) == 1

    def test_a_prompt_that_was_sent_is_not_sent_to_another_one(self, stage: Stage) -> None:
        stage.play([{"crash": 3}])

        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await _until(lambda: stage.pids)
                assert (await complete(backend, request("Hello"))).failure == (502, "cli_ended")

        run(test())
        assert len(stage.prompts) == 1

    def test_an_old_one_is_replaced(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend(oldest=0.5) as backend:
                await backend.start()
                await _until(lambda: len(stage.pids) >= 2)

        run(test())

    def test_one_that_dies_at_its_start_is_not_started_again_and_again(self, stage: Stage) -> None:
        stage.harm("exit-at-start")

        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await _until(lambda: stage.pids and backend.reserve is None)
                await asyncio.sleep(1.0)  # for more of them to come

        run(test())
        assert len(stage.pids) == 1

    def test_closed_it_keeps_none(self, stage: Stage) -> None:
        async def test() -> None:
            async with stage.backend() as backend:
                await backend.start()
                await backend.close()
                assert backend.reserve is None
                await backend.start()
                assert backend.reserve is None

        run(test())


class TestQuestions:
    def test_the_answer_of_the_person_goes_to_the_cli(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION], "as": "it"}, {"text": "${it.answers.0}"}])
        person = Person(_choose("B"))

        outcome = stage.one("Ask", caller=person.caller(), options={"tools_in": stage.folder})

        assert outcome.text == "B"
        (question,) = person.asked
        assert (question.client, question.cwd) == ("a test", stage.folder)
        assert "ask_user_question_unanswered_v1" in question.capabilities
        assert stage.entries("start")[0]["cwd"] == str(stage.folder)
        assert "--tools" not in stage.entries("start")[0]["argv"]
        assert "appendSystemPrompt" not in stage.entries("in")[0]["request"]

    def test_a_plan_comes_with_its_text(self, stage: Stage) -> None:
        stage.play([{"plan": "# First this", "as": "it"}, {"text": "${it.decision}"}])

        def approve(question: Question) -> dict[str, Any]:
            assert isinstance(question.pending.request, CanUseTool)
            return {"behavior": "allow", "updatedInput": question.pending.request.input}

        person = Person(approve)

        assert stage.one("Plan", caller=person.caller(), options={"tools_in": stage.folder}).text == "allowed"
        assert [question.plan for question in person.asked] == ["# First this"]

    def test_a_form_of_a_server_is_asked_too(self, stage: Stage) -> None:
        stage.play([{"elicitation": "Your name?", "server": "pg", "as": "it"}, {"text": "${it.decision}"}])
        person = Person(lambda question: {"action": "decline"})

        assert stage.one("Ask", caller=person.caller(), options={"tools_in": stage.folder}).text == "decline"

    def test_several_at_once_are_asked_at_once(self, stage: Stage) -> None:
        tool = {"tool": "Bash", "input": {"command": "ls"}, "ask": True}
        stage.play([{"together": [{**tool, "as": "a"}, {**tool, "as": "b"}]}, {"text": "${a.decision} ${b.decision}"}])

        async def test() -> Outcome:
            both = asyncio.Event()
            asked: list[Question] = []

            async def ask(question: Question) -> dict[str, Any]:
                asked.append(question)
                if len(asked) == 2:
                    both.set()
                await both.wait()
                return {"behavior": "deny", "message": "No."}

            person = Person(None)
            person.ask = ask  # type: ignore[method-assign]
            async with stage.backend(tools_in=stage.folder) as backend:
                return await complete(backend, request("Do"), person.caller())

        assert run(test()).text == "denied denied"

    def test_nobody_is_there(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])

        outcome = stage.one("Ask", options={"tools_in": stage.folder})

        assert outcome.failure == (502, "question_unanswered")
        assert "nobody can be asked" in str(outcome.error)

    def test_nobody_answers(self, stage: Stage) -> None:
        stage.play([{"tool": "Bash", "input": {"command": "rm -rf /secret"}, "ask": True}, {"text": "Never said"}])
        person = Person(lambda question: None)

        outcome = stage.one("Do", caller=person.caller(), options={"tools_in": stage.folder})

        assert outcome.failure == (502, "question_unanswered")
        assert "Bash" in str(outcome.error)
        assert "secret" not in str(outcome.error)

    def test_an_answer_that_comes_too_late(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])
        person = Person(None)

        async def test() -> Outcome:
            async with stage.backend(tools_in=stage.folder, idle_timeout=0.2) as backend:
                return await complete(backend, request("Ask"), person.caller(2.5))

        outcome = run(test())
        assert outcome.failure == (504, "timeout")
        assert "nobody answered in time" in str(outcome.error)
        assert person.withdrawn == 1
        assert outcome.gone_after >= 2.4

    def test_the_time_that_a_person_takes_is_no_silence(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION], "as": "it"}, {"wait": 0.6}, {"text": "${it.answers.0}"}])

        async def test() -> Outcome:
            async def ask(question: Question) -> dict[str, Any]:
                await asyncio.sleep(2.0)
                return _choose("A")(question)

            person = Person(None)
            person.ask = ask  # type: ignore[method-assign]
            async with stage.backend(tools_in=stage.folder, idle_timeout=1.2) as backend:
                return await complete(backend, request("Ask"), person.caller())

        assert run(test()).text == "A"

    def test_a_question_that_the_cli_takes_back_is_not_asked_any_more(self, stage: Stage) -> None:
        step = {"tool": "Bash", "input": {"command": "ls"}, "ask": True, "withdraw_after": 0.5, "as": "it"}
        stage.play([step, {"text": "${it.decision}"}])
        person = Person(None)

        outcome = stage.one("Do", caller=person.caller(), options={"tools_in": stage.folder})

        assert outcome.text == "withdrawn"
        assert (len(person.asked), person.withdrawn) == (1, 1)

    def test_a_client_that_goes_takes_its_question_back(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])
        person = Person(None)

        async def test() -> None:
            async with stage.backend(tools_in=stage.folder) as backend:
                asking = asyncio.create_task(complete(backend, request("Ask"), person.caller()))
                await person.was_asked.wait()
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                assert person.withdrawn == 1

        run(test())

    def test_an_answer_in_a_form_that_no_cli_takes_ends_it(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])
        person = Person(lambda question: {"behavior": "perhaps"})

        assert stage.one("Ask", caller=person.caller(), options={"tools_in": stage.folder}).failure[0] == 502

    @pytest.mark.logs("unexpected LookupError")
    def test_a_defect_of_the_dialog_ends_it_too_and_the_log_has_no_word_of_the_question(
        self, stage: Stage, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fall_over(question: Question) -> dict[str, Any]:
            assert isinstance(question.pending.request, CanUseTool)
            raise LookupError(question.pending.request.input)

        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])

        outcome = stage.one("Ask", caller=Person(fall_over).caller(), options={"tools_in": stage.folder})

        assert outcome.failure == (502, "question_unanswered")
        assert "fall_over" in caplog.text
        assert str(QUESTION["question"]) not in caplog.text

    def test_a_crash_while_a_person_thinks_ends_it_and_the_question(self, stage: Stage) -> None:
        stage.play([{"question": [QUESTION]}, {"text": "Never said"}])
        person = Person(None)

        async def test() -> Outcome:
            async with stage.backend(tools_in=stage.folder) as backend:
                asking = asyncio.create_task(complete(backend, request("Ask"), person.caller()))
                await person.was_asked.wait()
                psutil.Process(stage.pids[0]).kill()
                return await asking

        assert run(test()).failure == (502, "cli_ended")
        assert person.withdrawn == 1


def _choose(label: str) -> Callable[[Question], dict[str, Any]]:
    def decide(question: Question) -> dict[str, Any]:
        assert isinstance(question.pending.request, CanUseTool)
        asked = questions.parse_questions(question.pending.request.input)
        return questions.answered(asked, [questions.Answer((label,))], capabilities=question.capabilities)

    return decide


async def _until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 — it is about other processes
            await asyncio.sleep(0.02)


def _running_in(folder: str) -> list[int]:
    """Processes that run in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd().startswith(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
