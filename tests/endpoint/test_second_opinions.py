"""What other people's testers of such endpoints find: schemathesis on the published schema, and llm-comply."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from protocol.chat_completions.backend import IMAGES, JSON_SCHEMA, REASONING_EFFORT, Caller, Event, Finished, TextDelta
from protocol.chat_completions.claude_failures import unknown_model
from protocol.chat_completions.request import CompletionRequest
from tests.helpers.clients import python_of
from tests.helpers.endpoint import TOKEN, USAGE, ScriptedBackend, serving
from tests.helpers.openapi import document

SECONDS = 100
CHECKS = (
    "not_a_server_error", "negative_data_rejection", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "unsupported_method", "allow_header_conformance", "ignored_auth",
    "missing_required_header",
)  # fmt: skip
SEED = 20
"""Any, but always the same: a test run is no place for luck."""


async def reply(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
    """One model, which has one answer."""
    if request.model != "cli-demo":
        raise unknown_model(request.model)
    yield TextDelta('{"name": "spider", "legs": 8}')
    yield Finished("stop", USAGE)


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend(reply, supports=frozenset({IMAGES, JSON_SCHEMA, REASONING_EFFORT}))


def schemathesis(schema: dict[str, Any], url: str, folder: Path, checks: Sequence[str], examples: int) -> str:
    """Its report. Fails the test where it finds something."""
    # An event of a stream holds its chunk as text, which a schema of JSON bodies does not describe.
    schema["paths"]["/chat/completions"]["post"]["responses"]["200"]["content"]["text/event-stream"] = {}
    file = folder / "openapi.json"
    file.write_text(json.dumps(schema), encoding="utf-8")
    command = [str(python_of("contract")), "-m", "schemathesis.cli", "run", str(file), "--url", url, "--no-color"]
    command += ["--header", f"Authorization: Bearer {TOKEN}", "--checks", ",".join(checks), "--seed", str(SEED)]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--continue-on-failure"]
    command += ["--suppress-health-check", "all"]  # they judge how fast this machine is
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_schemathesis_finds_no_server_error_and_no_wrong_request_that_is_taken(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    with serving(backend) as endpoint:
        report = schemathesis(document(), endpoint.url, tmp_path, CHECKS, examples=30)

    statuses = [entry.status for entry in endpoint.changes if entry.state == "done"]
    assert "Selected: 3/3" in report
    assert len(statuses) > 500
    assert set(statuses) <= {200, 400, 401, 404, 405, 413, 415}


def narrowed() -> dict[str, Any]:
    """The published document without what the endpoint refuses by name: by this one, right is right and wrong is wrong.

    By the whole document nearly every generated request holds something that is refused, so that a wrong value beside
    it would go unseen.
    """
    narrow = document()
    schemas = narrow["components"]["schemas"]
    words = {"type": "string", "pattern": "^[A-Za-z]"}
    label = {"type": "string", "maxLength": 512}
    text = {
        "type": "object",
        "properties": {"type": {"const": "text"}, "text": words},
        "required": ["type", "text"],
        "additionalProperties": False,
    }
    content = {"oneOf": [words, {"type": "array", "minItems": 1, "items": text}]}
    message = {
        "type": "object",
        "properties": {"role": {"const": "user"}, "content": content},
        "required": ["role", "content"],
        "additionalProperties": False,
    }
    optional = {
        "stream": {"type": "boolean"},
        "stop": {"anyOf": [words, {"type": "array", "minItems": 1, "maxItems": 4, "items": words}]},
        "reasoning_effort": {"enum": ["low", "medium", "high"]},
        "response_format": schemas["ResponseFormatText"] | {"additionalProperties": False},
        "n": {"const": 1},
        "temperature": {"const": 1},
        "frequency_penalty": {"const": 0},
        "logprobs": {"const": False},
        "user": {"type": "string"},
        "prompt_cache_key": {"type": "string"},
        "safety_identifier": {"type": "string", "maxLength": 64},
        "metadata": {"type": "object", "maxProperties": 16, "additionalProperties": label},
    }
    required = {"model": {"const": "cli-demo"}, "messages": {"type": "array", "minItems": 1, "items": message}}
    schemas["CreateChatCompletionRequest"] = {
        "type": "object",
        # Null is taken for every parameter that may be left out.
        "properties": required | {name: {"anyOf": [kind, {"type": "null"}]} for name, kind in optional.items()},
        "required": list(required),
        "additionalProperties": False,
    }
    return narrow


def test_of_what_the_endpoint_does_schemathesis_sees_right_taken_and_wrong_refused(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    with serving(backend) as endpoint:
        schemathesis(narrowed(), endpoint.url, tmp_path, [*CHECKS, "positive_data_acceptance"], examples=80)

    statuses = [entry.status for entry in endpoint.changes if entry.state == "done" and entry.what == "completion"]
    assert statuses.count(200) > 50
    assert statuses.count(400) > 50


def test_llm_comply_is_content_but_for_the_tools_that_are_refused(backend: ScriptedBackend, tmp_path: Path) -> None:
    command = [str(python_of("contract")), "-m", "llm_comply.cli", "run", "--format", "openai-chat", "--json"]
    with serving(backend) as endpoint:
        command += ["--base-url", endpoint.url, "--api-key", TOKEN, "--model", "cli-demo"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)

    results = {result["id"]: result for result in json.loads(done.stdout)["results"]}
    assert results.pop("chat-tool-calling")["errors"][0] == "HTTP 400 (expected [200])"
    assert results.pop("chat-reasoning-summary")["status"] == "skipped"  # only for models of certain names
    assert {name: result["status"] for name, result in results.items()} == {
        "chat-basic-response": "passed",
        "chat-system-prompt": "passed",
        "chat-multi-turn": "passed",
        "chat-streaming-response": "passed",
        "chat-streaming-usage": "passed",
        "chat-image-input": "passed",
        "chat-error-handling": "passed",
    }
    assert [result for result in results.values() if result.get("errors") or result.get("warnings")] == []
