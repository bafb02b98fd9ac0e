"""A person is asked while a client waits: how long, what the journal says, and that deadlines rest meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from protocol.chat_completions.backend import Caller, Event, Finished, Question, Started, TextDelta
from protocol.chat_completions.errors import timed_out
from protocol.chat_completions.request import CompletionRequest
from protocol.conversation import PendingRequest
from tests.helpers.endpoint import HELLO, Hold, ScriptedBackend, answer, read_raw_reply, serving

pending: Any = object.__new__(PendingRequest)


async def asking(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
    """A backend whose CLI asks once."""
    yield Started()
    assert caller.ask is not None
    reply = await caller.ask(Question(pending, caller.client, Path("folder")))
    if reply is None:
        raise timed_out("Nobody answered.")
    yield TextDelta(str(reply["word"]))
    yield Finished("stop")


class Person:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.hold = Hold()
        self.questions: list[Question] = []
        self.cancelled = 0

    async def ask(self, question: Question) -> dict[str, Any] | None:
        self.questions.append(question)
        try:
            await self.hold.pass_through()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return {"word": "yes"}


class TestAnswers:
    @pytest.mark.parametrize("stream", [False, True])
    def test_the_answer_of_the_person_gets_to_the_backend(self, stream: bool) -> None:
        person = Person()
        with serving(ScriptedBackend(asking), ask=person.ask) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": stream}, User_Agent="Demo/1 (x)"))
            person.hold.wait_until_reached()
            assert endpoint.journal.entries()[0].state == "asking"
            person.hold.release()
            assert read_raw_reply(client).text == "yes"
        assert [question.client for question in person.questions] == ["Demo/1"]
        assert [entry.state for entry in endpoint.changes if entry.model] == [
            "waiting",
            "running",
            "asking",
            "running",
            "done",
        ]

    def test_a_program_without_a_person_has_nobody_to_ask(self) -> None:
        backend = ScriptedBackend(answer("Hi"))
        with serving(backend) as endpoint:
            endpoint.chat()
        assert backend.callers[0].ask is None

    def test_until_when_an_answer_counts(self) -> None:
        """Without streaming as long as clients on Node wait, counted from the request's arrival; longer with it."""
        backend = ScriptedBackend(answer("Hi"))
        with serving(backend) as endpoint:
            now = endpoint.thread.call(_now()).result(10)
            endpoint.chat()
            endpoint.chat(stream=True)
        patience = [caller.question_deadline - now for caller in backend.callers if caller.question_deadline]
        assert 285 <= patience[0] < 295
        assert 3600 <= patience[1] < 3610

    def test_nobody_answers(self) -> None:
        person = Person()
        with serving(ScriptedBackend(asking), ask=person.ask, question_seconds=0.2) as endpoint:
            reply = endpoint.chat()
            assert reply.status == 504
            assert reply.error["message"] == "Nobody answered."
            endpoint.wait_until_idle()
        assert person.cancelled == 1, "the dialog stays although its answer is not wanted any more"

    def test_the_client_goes_while_somebody_is_asked(self) -> None:
        person = Person()
        with serving(ScriptedBackend(asking), ask=person.ask) as endpoint:
            client = endpoint.connect()
            client.sendall(endpoint.request_bytes())
            person.hold.wait_until_reached()
            client.close()
            endpoint.wait_until_idle()
            assert person.cancelled == 1
            assert [entry.outcome for entry in endpoint.journal.entries()] == ["client_gone"]

    def test_the_endpoint_ends_while_somebody_is_asked(self) -> None:
        person = Person()
        with serving(ScriptedBackend(asking), ask=person.ask) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            person.hold.wait_until_reached()
            assert endpoint.thread.stop()
            assert read_raw_reply(client).status == 503
        assert person.cancelled == 1


async def _now() -> float:
    return asyncio.get_running_loop().time()


class TestDeadline:
    def test_it_rests_while_somebody_is_asked(self) -> None:
        person = Person()
        with serving(ScriptedBackend(asking), ask=person.ask, timeout=1.0) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            person.hold.wait_until_reached()
            client.settimeout(1.5)
            with pytest.raises(TimeoutError):
                client.recv(1)
            person.hold.release()
            client.settimeout(20)
            assert read_raw_reply(client).text == "yes"

    def test_it_goes_on_afterwards_with_what_was_left(self) -> None:
        person = Person()

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            async for event in asking(request, caller):
                if not isinstance(event, Finished):
                    yield event
            await Hold().pass_through()

        with serving(ScriptedBackend(play), ask=person.ask, timeout=1.0) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            person.hold.wait_until_reached()
            person.hold.release()
            begin = time.monotonic()
            assert read_raw_reply(client).status == 504
            assert time.monotonic() - begin < 5

    def test_several_questions_at_once_are_one_rest(self) -> None:
        holds = [Hold(), Hold()]

        async def ask(question: Question) -> dict[str, Any] | None:
            await holds[int(question.plan)].pass_through()
            return {"word": question.plan}

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            assert caller.ask is not None
            questions = [Question(pending, "", Path("folder"), plan=str(number)) for number in range(2)]
            replies = await asyncio.gather(*(caller.ask(question) for question in questions))
            yield TextDelta("".join(reply["word"] for reply in replies if reply))
            yield Finished("stop")

        with serving(ScriptedBackend(play), ask=ask, timeout=1.0) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            for hold in holds:
                hold.wait_until_reached()
            holds[0].release()
            client.settimeout(1.5)
            with pytest.raises(TimeoutError):
                client.recv(1)
            assert endpoint.journal.entries()[0].state == "asking"
            holds[1].release()
            client.settimeout(20)
            assert read_raw_reply(client).text == "01"

    @pytest.mark.logs("unexpected LookupError")
    def test_a_defect_in_the_dialog_is_no_answer(self) -> None:
        async def ask(question: Question) -> dict[str, Any] | None:
            raise LookupError("no window")

        with serving(ScriptedBackend(asking), ask=ask) as endpoint:
            reply = endpoint.chat()
            assert reply.status == 500
            endpoint.wait_until_idle()
