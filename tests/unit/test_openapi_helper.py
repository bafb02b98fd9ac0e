"""Whether the look at the published schema would see anything: what keeps to it, and what breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.openapi import CHUNK, COMPLETION, ERROR, MODELS, REQUEST, document, problems

CHOICE: dict[str, Any] = {
    "index": 0,
    "message": {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []},
    "logprobs": None,
    "finish_reason": "stop",
}
COMPLETED: dict[str, Any] = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE],
}  # fmt: skip


def test_the_document_says_where_it_is_from() -> None:
    assert document()["x-origin"].keys() == {"source", "version", "hash"}
    assert document()["info"]["license"]["name"] == "MIT"


@pytest.mark.parametrize(
    "value",
    [
        COMPLETED | {"choices": [CHOICE | {"finish_reason": "end_turn"}]},
        COMPLETED | {"object": "chat.completion.chunk"},
        COMPLETED | {"usage": None},
        COMPLETED | {"created": 1.5},
        {key: value for key, value in COMPLETED.items() if key != "id"},
    ],
)
def test_a_completion_that_breaks_the_schema_is_named(value: Any) -> None:
    assert problems(COMPLETION, COMPLETED) == []
    assert len(problems(COMPLETION, value)) == 1


def test_a_field_that_the_schema_does_not_know_is_a_problem_only_where_it_is_closed() -> None:
    value = COMPLETED | {"thinking": "hm"}

    assert problems(COMPLETION, value) == []
    assert "thinking" in problems(COMPLETION, value, closed=True)[0]
    assert problems(COMPLETION, COMPLETED, closed=True) == []


def test_null_is_right_where_the_document_calls_a_field_nullable() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}

    assert problems(REQUEST, request | {"n": None, "temperature": None}) == []
    assert problems(REQUEST, request | {"n": "1"}) != []


def test_chunks_errors_and_models_have_their_schemas() -> None:
    assert problems(CHUNK, {"id": "x"}) != []
    assert problems(ERROR, {"error": {"message": "No.", "type": "server_error", "param": None, "code": None}}) == []
    assert problems(ERROR, {"error": {"message": "No.", "type": "server_error"}}) != []
    assert problems(MODELS, {"object": "list", "data": [{"id": "m"}]}) != []
