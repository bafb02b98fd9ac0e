"""Questions of the local API: from the endpoint's thread to the person, and back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import wait as wait_for
from pathlib import Path

import pytest

from desktop.conversations import DraftStore
from desktop.conversations.drafts import Draft
from desktop.conversations.texts import Texts
from desktop.local_api.asker import Asker
from protocol.chat_completions.backend import Question
from protocol.conversation import PendingRequest
from tests.helpers.desk import Desk
from tests.helpers.local_api import OtherLoop
from tests.helpers.requests import COLOUR, ask, pending

KEY = "0" * 32
ANSWER = {"behavior": "allow", "updatedInput": {}}


@pytest.fixture
def other() -> Iterator[OtherLoop]:
    with OtherLoop() as running:
        yield running


@pytest.fixture
def asker(desk: Desk) -> Asker:
    return Asker(kept_texts(desk.root))


def kept_texts(root: Path) -> Texts:
    store = DraftStore(root / "local-api")
    kept = next(iter(store.load()), Draft(key=KEY))
    return Texts(store, kept, lambda draft: None)


def question(client: str = "openai-python") -> Question:
    return Question(pending(ask(COLOUR)), client, Path("/work"))


def test_a_question_waits_in_the_window_and_its_answer_goes_back(desk: Desk, asker: Asker, other: OtherLoop) -> None:
    told: list[tuple[str, PendingRequest, bool]] = []
    asker.request_added.connect(
        lambda key, request: told.append((key, request, threading.current_thread() is threading.main_thread()))
    )

    async def story() -> None:
        sent = question()
        asked = other.start(asker.ask(sent))
        await desk.until(lambda: asker.pending)
        (key,) = asker.pending
        assert told == [(key, sent.pending, True)]
        assert asker.answer(key, ANSWER)
        await desk.until(asked.done)
        assert asked.result() == ANSWER
        assert asker.pending == {}
        assert not asker.answer(key, ANSWER)

    desk.run(story())


def test_the_dialog_learns_who_asks(desk: Desk, asker: Asker, other: OtherLoop) -> None:
    async def story() -> None:
        asked = [other.start(asker.ask(question(client))) for client in ("openai-python", "", "x" * 60)]
        await desk.until(lambda: len(asker.pending) == 3)
        contexts = [asker.context(key) for key in asker.pending]
        assert [context.client for context in contexts] == ["openai-python", "A program", "x" * 31 + "…"]
        assert contexts[0].conversation_title == "Local API: openai-python"
        assert contexts[0].cwd == str(Path("/work"))
        for key in list(asker.pending):
            asker.answer(key, ANSWER)
        await desk.until(lambda: all(one.done() for one in asked))

    desk.run(story())


def test_two_clis_may_use_the_same_request_id(desk: Desk, asker: Asker, other: OtherLoop) -> None:
    async def story() -> None:
        first, second = (other.start(asker.ask(question(name))) for name in ("one", "two"))
        await desk.until(lambda: len(asker.pending) == 2)
        keys = list(asker.pending)
        assert {asker.pending[key].request_id for key in keys} == {"request-1"}
        asker.answer(keys[1], {"behavior": "deny", "message": "no"})
        asker.answer(keys[0], ANSWER)
        await desk.until(lambda: first.done() and second.done())
        assert (first.result(), second.result()) == (ANSWER, {"behavior": "deny", "message": "no"})

    desk.run(story())


def test_a_client_that_hangs_up_takes_its_question_away_but_not_the_words(
    desk: Desk, asker: Asker, other: OtherLoop
) -> None:
    asker.typed_in_dialog = lambda key: "half an answer"

    async def story() -> None:
        asked = other.start(asker.ask(question()))
        await desk.until(lambda: asker.pending)
        asked.cancel()
        await desk.until(lambda: not asker.pending)
        assert asker.texts.recovered == ["half an answer"]
        assert kept_texts(desk.root).recovered == ["half an answer"]

    desk.run(story())


def test_an_answer_that_crosses_with_a_hang_up_is_not_lost(desk: Desk, asker: Asker, other: OtherLoop) -> None:
    async def story() -> None:
        inside: list[asyncio.Task[object]] = []

        async def asking() -> None:
            inside.append(asyncio.ensure_future(asker.ask(question())))
            await asyncio.wait(inside)

        asked = other.start(asking())
        await desk.until(lambda: asker.pending)
        (key,) = asker.pending
        other.loop.call_soon_threadsafe(inside[0].cancel)
        assert asker.answer(key, ANSWER, typed="my own words")
        await desk.until(asked.done)
        await desk.until(lambda: asker.texts.recovered)
        assert inside[0].cancelled()
        assert asker.texts.recovered == ["my own words"]

    desk.run(story())


def test_an_answer_that_arrived_is_not_offered_again(desk: Desk, asker: Asker, other: OtherLoop) -> None:
    async def story() -> None:
        asked = other.start(asker.ask(question()))
        await desk.until(lambda: asker.pending)
        (key,) = asker.pending
        asker.texts.note_typed(key, "my own words")
        asker.answer(key, ANSWER, typed="my own words")
        await desk.until(asked.done)
        await desk.until(lambda: asker.texts.is_empty)
        assert asker.texts.recovered == []

    desk.run(story())


def test_when_the_window_goes_nobody_answers_and_nobody_is_asked_any_more(
    desk: Desk, asker: Asker, other: OtherLoop
) -> None:
    asker.typed_in_dialog = lambda key: "half an answer"

    async def story() -> None:
        asked = other.start(asker.ask(question()))
        await desk.until(lambda: asker.pending)
        asker.close()
        late = other.start(asker.ask(question()))
        await desk.until(lambda: asked.done() and late.done())
        assert (asked.result(), late.result()) == (None, None)
        assert asker.pending == {}
        assert kept_texts(desk.root).recovered == ["half an answer"]

    desk.run(story())


def test_an_answer_for_an_endpoint_that_has_ended_hurts_nobody(desk: Desk, asker: Asker) -> None:
    async def story() -> None:
        with OtherLoop() as other:
            asked = other.start(asker.ask(question()))
            await desk.until(lambda: asker.pending)
            (key,) = asker.pending
            asked.cancel()
            wait_for([asked])  # without a turn of the window's loop, which knows nothing of it yet
            other.end()
            assert asker.answer(key, ANSWER, typed="my own words")
        await desk.until(lambda: asker.texts.recovered == ["my own words"])
        assert asker.pending == {}

    desk.run(story())
