"""Real clients, as people install them, against an endpoint whose answers and failures a test decides."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from protocol.chat_completions.backend import JSON_SCHEMA, Caller, Event, Started, TextDelta
from protocol.chat_completions.errors import cli_failed, plan_limit_reached, timed_out
from protocol.chat_completions.request import CompletionRequest
from tests.endpoint.clients import CLIENTS, OPENAI_CLIENTS, Place, ask
from tests.helpers.endpoint import TOKEN, Endpoint, Hold, ScriptedBackend, answer, serving

FAILURES = {
    "502": cli_failed("It broke."),
    "504": timed_out("Too slow."),
    "429": plan_limit_reached("Used up until Monday."),
}


@contextmanager
def playing(folder: Path, steps: Any, **options: Any) -> Iterator[tuple[Endpoint, Place]]:
    """An endpoint with a scripted backend, and where a client finds it."""
    backend = ScriptedBackend(steps, models=("cli-demo", "opus[1m]"), supports=frozenset({JSON_SCHEMA}))
    with serving(backend, **options) as endpoint:
        yield endpoint, Place(endpoint.url, TOKEN, "cli-demo", folder)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_its_answer_without_and_with_streaming(client: str, tmp_path: Path) -> None:
    with playing(tmp_path, answer("Guten ", "Tag, ", "早安")) as (endpoint, place):
        whole, streamed = ask(client, place, ("whole", "Good morning!"), ("stream", "Once more!"))

    assert [entry.status for entry in endpoint.journal.entries()] == [200, 200]
    assert all("OpenAI/" in entry.client for entry in endpoint.journal.entries())
    expected: dict[str, Any] = {"text": "Guten Tag, 早安"}
    if client != "llm":
        expected["finish_reason"] = "stop"
    if client in OPENAI_CLIENTS:
        expected["usage"] = [12, 3, 15]
    assert whole == expected
    assert streamed == expected | ({} if client == "llm" else {"pieces": 3})
    first, second = endpoint.backend.requests
    assert [turn.text for turn in first.turns] == ["Be brief.", "Good morning!"]
    assert [turn.role for turn in first.turns] == ["system", "user"]
    assert (first.stream, second.stream) == (False, True)


@pytest.mark.parametrize("client", OPENAI_CLIENTS)
def test_models_are_listed_and_found_and_an_answer_by_a_schema_is_parsed(client: str, tmp_path: Path) -> None:
    with playing(tmp_path, answer(json.dumps({"name": "spider", "legs": 8}))) as (endpoint, place):
        models, parsed = ask(client, place, ("models", ""), ("parse", "Any animal."))

    assert models == {"models": ["cli-demo", "opus[1m]"], "one": "cli-demo"}
    assert parsed == {"parsed": {"name": "spider", "legs": 8}}
    assert endpoint.backend.requests[0].json_schema["properties"].keys() == {"name", "legs"}


@pytest.mark.parametrize("client", CLIENTS)
def test_what_would_only_spend_the_plan_again_is_asked_exactly_once(client: str, tmp_path: Path) -> None:
    """Each of these statuses makes OpenAI's clients try again, three times in all, unless the reply forbids it."""

    async def fail(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        if request.turns[-1].text in FAILURES:
            raise FAILURES[request.turns[-1].text]
        yield Started()
        yield TextDelta("Once upon")
        raise cli_failed("It broke in the middle.")

    wanted = [(mode, status) for status in FAILURES for mode in ("whole", "stream")]
    if client == "llm":  # a process for each
        wanted = [("whole", "502"), ("stream", "504")]
    with playing(tmp_path, fail) as (endpoint, place):
        *outcomes, middle = ask(client, place, *wanted, ("stream", "a tale"))

    for (_, status), outcome in zip(wanted, outcomes, strict=True):
        failure, error = FAILURES[status], outcome["error"]
        assert failure.message in error["message"]
        assert client == "llm" or (error["status"], error["code"]) == (failure.status, failure.code)
    assert "It broke in the middle." in middle["error"]["message"]
    asked = [(request.stream, request.turns[-1].text) for request in endpoint.backend.requests]
    assert asked == [(mode == "stream", prompt) for mode, prompt in [*wanted, ("stream", "a tale")]]
    assert len(endpoint.journal.entries()) == len(asked)


def test_a_busy_server_is_asked_again_after_a_while(tmp_path: Path) -> None:
    hold = Hold()
    with (
        playing(tmp_path, [hold, *answer("Hello")], max_concurrent=1, queue=0) as (endpoint, place),
        ThreadPoolExecutor(len(OPENAI_CLIENTS)) as together,
        endpoint.connect() as other,
    ):
        other.sendall(endpoint.request_bytes())
        hold.wait_until_reached()

        for (outcome,) in together.map(lambda client: ask(client, place, ("whole", "Hello")), OPENAI_CLIENTS):
            assert (outcome["error"]["status"], outcome["error"]["code"]) == (429, "server_busy")

        hold.release()
        endpoint.wait_until_idle()
    asked = [entry.status for entry in endpoint.journal.entries() if "OpenAI/" in entry.client]
    assert asked == [429] * 3 * len(OPENAI_CLIENTS)
    assert len(endpoint.backend.requests) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_a_wrong_token_is_called_by_its_name(client: str, tmp_path: Path) -> None:
    """`llm` without a key for the model sends one that it made up."""
    with playing(tmp_path, answer("Hello")) as (endpoint, place):
        stranger = Place(place.url, "" if client == "llm" else "sk-wrong", place.model, place.folder)
        (outcome,) = ask(client, stranger, ("whole", "Hello"))

    assert "The token (API key) is wrong." in outcome["error"]["message"]
    assert [entry.status for entry in endpoint.journal.entries()] == [401]
    assert endpoint.backend.requests == []
