"""Everything that goes over the wire, held against OpenAI's published schema of chat completions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from protocol.chat_completions.backend import IMAGES, JSON_SCHEMA, REASONING_EFFORT, Finished, Started, TextDelta, Usage
from protocol.chat_completions.command_backend import CommandBackend
from protocol.chat_completions.errors import cli_failed, plan_limit_reached, timed_out
from tests.helpers.clients import python_of
from tests.helpers.endpoint import CHAT, HELLO, Endpoint, Hold, Reply, ScriptedBackend, answer, read_raw_reply, serving
from tests.helpers.fake_cli import FAKE_CLI, ROOT
from tests.helpers.openapi import CHUNK, COMPLETION, DOCUMENT, ERROR, MODEL, MODELS, REQUEST, problems

ALL = frozenset({IMAGES, JSON_SCHEMA, REASONING_EFFORT})
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOLD = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": [{"type": "text", "text": "Rhyme."}]},
    {"role": "user", "content": [{"type": "text", "text": "What"}, {"type": "text", "text": " is this?"}]},
    {"role": "assistant", "content": "A cat.", "refusal": None},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}, {"type": "text", "text": "And?"}]},
]
NEUTRAL = {
    "n": 1, "temperature": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0, "logprobs": False, "tools": [],
    "tool_choice": "none", "response_format": {"type": "text"}, "modalities": ["text"], "store": False,
    "service_tier": "auto", "seed": None, "max_tokens": None, "user": "me", "metadata": {"a": "b"},
    "safety_identifier": "s", "prompt_cache_key": "p",
}  # fmt: skip
FORMAT = {"type": "json_schema", "json_schema": {"name": "animal", "schema": SCHEMA, "strict": True}}

WANTED: dict[str, dict[str, Any]] = {
    "the least": {},
    "several turns": {"messages": TOLD},
    "neutral": NEUTRAL,
    "a schema": {"response_format": FORMAT},
    "effort": {"reasoning_effort": "low"},
    "a stop": {"stop": ["two", "!"]},
}
"""Requests that the endpoint takes; each keeps to the published schema of requests, too."""


def assert_chunks(reply: Reply, *, usage: bool) -> None:
    assert reply.events[-1] == "[DONE]"
    for chunk in reply.chunks:
        assert problems(CHUNK, chunk, closed=True) == []
        assert ("usage" in chunk) is usage


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
@pytest.mark.parametrize("usage", [None, Usage(5, 2), Usage(50, 20, 30, 7)], ids=["none", "plain", "full"])
def test_an_answer_keeps_to_the_schema_whole_and_in_pieces(reason: Any, usage: Usage | None) -> None:
    with serving(ScriptedBackend([Started(), TextDelta("Hel"), TextDelta("lo"), Finished(reason, usage)])) as endpoint:
        whole = endpoint.chat()
        plain = endpoint.chat(stream=True)
        counted = endpoint.chat(stream=True, stream_options={"include_usage": True})

    assert problems(COMPLETION, whole.json, closed=True) == []
    assert ("usage" in whole.json) is (usage is not None)
    assert_chunks(plain, usage=False)
    assert_chunks(counted, usage=True)
    told = [chunk for chunk in counted.chunks if chunk["usage"] is not None]
    assert [chunk["choices"] for chunk in told] == ([[]] if usage else [])  # one at the end, where there is one at all


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
def test_what_is_taken_is_a_request_by_the_schema_and_so_is_its_answer(wanted: Mapping[str, Any]) -> None:
    assert problems(REQUEST, {**HELLO, **wanted}) == []
    with serving(ScriptedBackend(answer('{"name": ', '"one"}'), supports=ALL)) as endpoint:
        assert problems(COMPLETION, endpoint.chat(**wanted).json, closed=True) == []
        assert_chunks(endpoint.chat(**wanted, stream=True), usage=False)


def test_the_models_keep_to_the_schema() -> None:
    with serving(ScriptedBackend(models=("default", "opus[1m]"))) as endpoint:
        listed = endpoint.ask("GET", "/v1/models").json
        one = endpoint.ask("GET", "/v1/models/opus%5B1m%5D").json

    assert problems(MODELS, listed, closed=True) == []
    assert problems(MODEL, one, closed=True) == []
    assert one in listed["data"]


def refusals(endpoint: Endpoint) -> list[Reply]:
    """One reply of every kind that refuses."""
    odd_bodies = [b"", b"{", b"\xff", b"[]", b'{"model": NaN}', b"[" * 5000, json.dumps(HELLO).encode("utf-16")]
    return [
        endpoint.ask(headers=endpoint.head(Host="evil.example")),
        endpoint.ask(headers=endpoint.head(Origin="http://evil.example")),
        endpoint.ask(headers=endpoint.head(Authorization=None)),
        endpoint.ask(headers=endpoint.head(Authorization="Bearer wrong")),
        endpoint.ask("GET", "/"),
        endpoint.ask("GET", "/v1/models/gpt-4o"),
        endpoint.ask("GET", CHAT),
        endpoint.ask("DELETE", "/v1/models"),
        endpoint.ask(headers=endpoint.head(Content_Type="text/plain")),
        endpoint.ask(body=b"x" * (1024 * 1024 + 1)),
        *(endpoint.ask(body=body) for body in odd_bodies),
        *(endpoint.chat(messages=messages) for messages in (None, 42, [], [None], [{}], [{"role": "tool"}])),
        endpoint.chat(max_tokens=5),
        endpoint.chat(stream="yes"),
        endpoint.talk(b"GET\r\n\r\n"),
    ]


def test_every_refusal_is_an_error_by_the_schema() -> None:
    with serving(ScriptedBackend(answer("Hello"))) as endpoint:
        replies = refusals(endpoint)

    assert {reply.status for reply in replies} == {400, 401, 403, 404, 405, 413, 415, 421}
    for reply in replies:
        assert problems(ERROR, reply.json, closed=True) == []
    assert endpoint.backend.requests == []


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (cli_failed("It broke."), 502),
        (timed_out("Too slow."), 504),
        (plan_limit_reached("Used up."), 429),
        (None, 502),  # it ends without an answer
    ],
)
def test_every_failure_is_an_error_by_the_schema_before_and_in_the_middle_of_an_answer(
    failure: Exception | None, status: int
) -> None:
    ending = [failure] if failure else []
    with serving(ScriptedBackend(ending)) as endpoint:
        replies = [endpoint.chat(), endpoint.chat(stream=True)]
    with serving(ScriptedBackend([Started(), TextDelta("Once"), *ending])) as endpoint:
        replies.append(endpoint.chat())
        *chunks, last = endpoint.chat(stream=True).chunks

    assert [reply.status for reply in replies] == [status] * 3
    for reply in replies:
        assert problems(ERROR, reply.json, closed=True) == []
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas == [{"role": "assistant", "content": ""}, {"content": "Once"}]
    assert problems(ERROR, last, closed=True) == []


def test_a_busy_server_and_one_that_ends_say_so_by_the_schema() -> None:
    hold = Hold()
    backend = ScriptedBackend([hold, *answer("Hello")])
    with serving(backend, max_concurrent=1, queue=0) as endpoint, endpoint.connect() as other:
        other.sendall(endpoint.request_bytes())
        hold.wait_until_reached()
        busy = endpoint.chat()
        endpoint.thread.ask_to_stop()
        ended = read_raw_reply(other)

    assert (busy.status, ended.status) == (429, 503)
    for reply in (busy, ended):
        assert problems(ERROR, reply.json, closed=True) == []


def test_a_one_shot_program_answers_by_the_schema() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert FAKE_CLI[0] == sys.executable
    with serving(CommandBackend([*FAKE_CLI, "--one-shot"], "cli-demo", env)) as endpoint:
        whole = endpoint.chat()
        streamed = endpoint.chat(stream=True)
        unknown = endpoint.chat(model="gpt-4o")

    assert whole.text == streamed.text == "echo: Hello"
    assert problems(COMPLETION, whole.json, closed=True) == []
    assert "usage" not in whole.json
    assert_chunks(streamed, usage=False)
    assert unknown.error["code"] == "model_not_found"
    assert problems(ERROR, unknown.json, closed=True) == []


def test_the_schema_is_what_the_pinned_package_ships_reduced() -> None:
    command = [str(python_of("contract")), str(DOCUMENT.parent / "reduce.py")]
    made = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=False)

    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == json.loads(DOCUMENT.read_text(encoding="utf-8"))
