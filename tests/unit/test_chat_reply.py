"""Answers in OpenAI's shapes: every required member is there, what is not known is not said, and a line is a line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from protocol.chat_completions import reply
from protocol.chat_completions.backend import FinishReason, Usage
from protocol.chat_completions.errors import ApiError, cli_failed

USAGE = Usage(prompt=12, completion=5, cached=7, reasoning=3)
COUNTED = {
    "prompt_tokens": 12,
    "completion_tokens": 5,
    "total_tokens": 17,
    "prompt_tokens_details": {"cached_tokens": 7},
    "completion_tokens_details": {"reasoning_tokens": 3},
}


def test_a_completion_has_every_member_that_is_required() -> None:
    body = reply.completion("chatcmpl-1", 1_700_000_000, "opus", "Hi", "length", USAGE)
    assert body == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "opus",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi", "refusal": None, "annotations": []},
                "logprobs": None,
                "finish_reason": "length",
            }
        ],
        "usage": COUNTED,
    }
    assert ChatCompletion.model_validate(body, strict=True).choices[0].message.content == "Hi"


def test_usage_that_nobody_counted_is_absent() -> None:
    assert "usage" not in reply.completion("chatcmpl-1", 1, "opus", "Hi", "stop")
    assert "completion_tokens_details" not in reply.usage_object(Usage(1, 2))
    assert reply.usage_object(Usage(1, 2, reasoning=0))["completion_tokens_details"] == {"reasoning_tokens": 0}


def stream(include_usage: bool, usage: Usage | None, reason: FinishReason = "stop") -> list[dict[str, Any]]:
    chunks = reply.Chunks("chatcmpl-1", 2, "opus", include_usage)
    made = [chunks.role(), chunks.content("Hi"), chunks.finish(reason), chunks.usage(usage)]
    return [chunk for chunk in made if chunk is not None]


def test_a_stream_begins_with_the_role_and_ends_with_the_reason() -> None:
    sent = stream(False, USAGE, "content_filter")
    assert [chunk["choices"] for chunk in sent] == [
        [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
        for delta, reason in (
            ({"role": "assistant", "content": ""}, None),
            ({"content": "Hi"}, None),
            ({}, "content_filter"),
        )
    ]
    for chunk in sent:
        assert {**chunk, "choices": []} == {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 2,
            "model": "opus",
            "choices": [],
        }
        assert ChatCompletionChunk.model_validate(chunk, strict=True).id == "chatcmpl-1"


def test_a_stream_with_usage_says_null_until_the_chunk_that_has_it() -> None:
    *before, last = stream(True, USAGE)
    assert [chunk["usage"] for chunk in before] == [None, None, None]
    assert (last["choices"], last["usage"]) == ([], COUNTED)
    assert ChatCompletionChunk.model_validate(last, strict=True).choices == []


@pytest.mark.parametrize(("asked", "usage"), [(True, None), (False, USAGE), (False, None)])
def test_the_chunk_with_the_usage_only_comes_when_it_was_asked_for_and_is_known(
    asked: bool, usage: Usage | None
) -> None:
    assert all(chunk["choices"] for chunk in stream(asked, usage))


def test_models_have_every_member_that_is_required() -> None:
    body = reply.models_object(("opus", "haiku"), 3)
    assert body == {"object": "list", "data": [reply.model_object("opus", 3), reply.model_object("haiku", 3)]}
    assert body["data"][0] == {"id": "opus", "object": "model", "created": 3, "owned_by": "handraise"}
    assert Model.model_validate(body["data"][0], strict=True).id == "opus"


def test_ids_are_as_long_as_openais_and_never_the_same() -> None:
    ids = {reply.new_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(completion_id) for completion_id in ids} == {len("chatcmpl-") + 29}
    assert all(completion_id.startswith("chatcmpl-") for completion_id in ids)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_an_event_is_one_line_for_every_reader_whatever_the_text_is(text: str) -> None:
    """Also for those that cut text at U+2028, U+0085 and U+001C, and with halves of surrogate pairs."""
    data = reply.sse(reply.Chunks("chatcmpl-1", 1, "opus", False).content(text))
    line, *after = data.decode("ascii").splitlines()
    assert after == [""]
    assert json.loads(line.removeprefix("data: "))["choices"][0]["delta"]["content"] == text


def test_what_a_stream_consists_of_beside_events() -> None:
    assert reply.DONE == b"data: [DONE]\n\n"
    assert reply.KEEPALIVE.startswith(b":")
    assert reply.KEEPALIVE.count(b"\n") == 1


def test_a_stream_that_fails_ends_with_the_error_object() -> None:
    event = reply.error_event(cli_failed("The CLI ended."))
    assert json.loads(event.removeprefix(b"data: ")) == {
        "error": {"message": "The CLI ended.", "type": "server_error", "param": None, "code": "cli_failed"}
    }


def test_an_error_object_always_has_its_four_members() -> None:
    assert ApiError(404, "No such path.").body() == {
        "error": {"message": "No such path.", "type": "invalid_request_error", "param": None, "code": None}
    }
