"""`messages`: every element is read or refused by its place, and nothing whatever raises anything but the refusal."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.chat_completions.checks import read_request
from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.request import CompletionRequest, ImagePart, TextPart
from tests.helpers.chat_requests import EVERYTHING, GIF, HI, JPEG, PNG, WEBP, image, read, refused
from tests.unit.test_chat_json import json_values


def test_a_developers_words_are_the_systems() -> None:
    (first, _) = read(messages=[{"role": "developer", "content": "x"}, HI]).turns
    assert first.role == "system"


def test_parts_stay_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": ""}, {"type": "text", "text": "b"}]
    for role in ("system", "developer", "user", "assistant"):
        turn = read(messages=[{"role": role, "content": parts}, HI]).turns[0]
        assert turn.parts == (TextPart("a"), TextPart(""), TextPart("b"))


@pytest.mark.parametrize(
    ("data", "label", "media_type"),
    [
        (PNG, "image/png", "image/png"),
        (JPEG, "image/jpeg", "image/jpeg"),
        (JPEG, "image/jpg", "image/jpeg"),
        (GIF, "image/gif", "image/gif"),
        (WEBP, "image/webp", "image/webp"),
        (WEBP, "IMAGE/WEBP;charset=utf-8", "image/webp"),
        (PNG, "image/jpeg", "image/png"),
    ],
)
def test_images_are_known_by_what_they_are(data: bytes, label: str, media_type: str) -> None:
    content = [{"type": "text", "text": "What is it?"}, image(data, label, detail="auto")]
    (turn,) = read(messages=[{"role": "user", "content": content}]).turns
    assert turn.parts == (TextPart("What is it?"), ImagePart(media_type, base64.b64encode(data).decode()))


def test_an_image_needs_no_words() -> None:
    (turn,) = read(messages=[{"role": "user", "content": [image(PNG)]}]).turns
    assert turn.text == ""


@pytest.mark.parametrize(
    "echo",
    [
        {},
        {"refusal": None, "annotations": []},
        {"refusal": None, "annotations": None, "audio": None, "function_call": None, "tool_calls": None},
        {"tool_calls": [], "refusal": ""},
        {"parsed": {"name": "x"}, "refusal": None},
        {"name": None, "reasoning_content": None},
    ],
)
def test_an_answer_may_be_sent_back_as_the_client_got_it(echo: dict[str, Any]) -> None:
    request = read(messages=[HI, {"role": "assistant", "content": "Yo", **echo}, HI])
    assert [turn.role for turn in request.turns] == ["user", "assistant", "user"]


BAD_URL = "data:image/png;base64,"
AUDIO = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}


@pytest.mark.parametrize(
    ("message", "where", "code"),
    [
        (None, "", "invalid_type"),
        (42, "", "invalid_type"),
        ([None], "", "invalid_type"),
        ("Hi", "", "invalid_type"),
        ({}, ".role", "missing_required_parameter"),
        ({"role": None, "content": "a"}, ".role", "missing_required_parameter"),
        ({"role": 1, "content": "a"}, ".role", "invalid_type"),
        ({"role": "User", "content": "a"}, ".role", "invalid_value"),
        ({"role": "tool", "content": "a", "tool_call_id": "1"}, ".role", "unsupported_parameter"),
        ({"role": "function", "content": "a", "name": "f"}, ".role", "unsupported_parameter"),
        ({"role": "user"}, ".content", "missing_required_parameter"),
        ({"role": "assistant", "content": None}, ".content", "missing_required_parameter"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, ".tool_calls", "unsupported_parameter"),
        (
            {"role": "assistant", "content": "", "function_call": {"name": "f"}},
            ".function_call",
            "unsupported_parameter",
        ),
        ({"role": "assistant", "content": "", "refusal": "No."}, ".refusal", "unsupported_parameter"),
        ({"role": "assistant", "content": "", "audio": {"id": "1"}}, ".audio", "unsupported_parameter"),
        ({"role": "assistant", "content": "", "audio": False}, ".audio", "invalid_type"),
        ({"role": "assistant", "content": "", "audio": []}, ".audio", "invalid_type"),
        ({"role": "assistant", "content": "", "refusal": []}, ".refusal", "invalid_type"),
        ({"role": "assistant", "content": "", "tool_calls": ""}, ".tool_calls", "invalid_type"),
        ({"role": "assistant", "content": "", "annotations": {}}, ".annotations", "invalid_type"),
        ({"role": "user", "content": "a", "tool_calls": []}, ".tool_calls", "unsupported_parameter"),
        ({"role": "user", "content": "a", "parsed": {}}, ".parsed", "unsupported_parameter"),
        ({"role": "user", "content": "a", "name": "Ann"}, ".name", "unsupported_parameter"),
        ({"role": "user", "content": 42}, ".content", "invalid_type"),
        ({"role": "user", "content": {}}, ".content", "invalid_type"),
        ({"role": "user", "content": []}, ".content", "invalid_value"),
        ({"role": "user", "content": [None]}, ".content[0]", "invalid_type"),
        ({"role": "user", "content": ["a"]}, ".content[0]", "invalid_type"),
        ({"role": "user", "content": [{}]}, ".content[0].type", "missing_required_parameter"),
        ({"role": "user", "content": [{"type": 1}]}, ".content[0].type", "invalid_type"),
        ({"role": "user", "content": [{"type": "words"}]}, ".content[0].type", "invalid_value"),
        ({"role": "user", "content": [{"type": "text"}]}, ".content[0].text", "missing_required_parameter"),
        ({"role": "user", "content": [{"type": "text", "text": 1}]}, ".content[0].text", "invalid_type"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]},
            ".content[0].cache_control",
            "unsupported_parameter",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, AUDIO]},
            ".content[1].type",
            "unsupported_parameter",
        ),
        ({"role": "user", "content": [{"type": "file", "file": {}}]}, ".content[0].type", "unsupported_parameter"),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            ".content[0].type",
            "unsupported_parameter",
        ),
        ({"role": "system", "content": [image(PNG)]}, ".content[0].type", "invalid_value"),
        ({"role": "assistant", "content": [image(PNG)]}, ".content[0].type", "invalid_value"),
    ],
)
def test_every_message_is_checked_and_the_field_is_named(message: Any, where: str, code: str) -> None:
    assert refused(messages=[HI, message]) == (f"messages[1]{where}", code)


@pytest.mark.parametrize(
    ("part", "where", "code"),
    [
        ({"type": "image_url"}, "", "missing_required_parameter"),
        ({"type": "image_url", "image_url": BAD_URL}, "", "invalid_type"),
        ({"type": "image_url", "image_url": {}}, ".url", "missing_required_parameter"),
        ({"type": "image_url", "image_url": {"url": 1}}, ".url", "invalid_type"),
        ({"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}}, ".url", "unsupported_parameter"),
        ({"type": "image_url", "image_url": {"url": "HTTPS://a.example/a.png"}}, ".url", "unsupported_parameter"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": ""}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "iVBORw0KGgo"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "iVBORw0KGg=o"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "iVBO Rw0KGgo"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "iVBORw0KGgo=\n"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "____"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": BAD_URL + "AAAA"}}, ".url", "invalid_value"),
        ({"type": "image_url", "image_url": {"url": "data:image/png,abc"}}, ".url", "invalid_value"),
        (image(PNG, "image/svg+xml"), ".url", "invalid_value"),
        (image(PNG, "text/plain"), ".url", "invalid_value"),
        (image(b"<svg/>"), ".url", "invalid_value"),
        (image(PNG, detail="high"), ".detail", "unsupported_parameter"),
        (image(PNG, detail="sharp"), ".detail", "invalid_value"),
        (image(PNG, detail=1), ".detail", "invalid_type"),
        (image(PNG, alt="A cat"), ".alt", "unsupported_parameter"),
    ],
)
def test_images_come_with_the_request_and_are_images(part: dict[str, Any], where: str, code: str) -> None:
    messages = [{"role": "user", "content": [part]}]
    assert refused(messages=messages) == (f"messages[0].content[0].image_url{where}", code)


# Anything at all

NAMES = (
    "model", "messages", "stream", "stream_options", "stop", "response_format", "reasoning_effort", "n", "temperature",
    "tools", "metadata", "logit_bias", "modalities", "role", "content", "type", "text", "image_url", "url", "detail",
    "json_schema", "schema", "name", "strict", "include_usage", "refusal", "tool_calls",
)  # fmt: skip
WORDS = ("user", "system", "assistant", "tool", "text", "image_url", "json_schema", "object", "data:image/png;base64,")

nearly = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
    | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


def outcome(body: bytes, lenient: bool, supports: frozenset[str]) -> CompletionRequest | ApiError:
    try:
        return read_request(body, lenient=lenient, supports=supports)
    except ApiError as error:
        return error


def sound(found: CompletionRequest | ApiError) -> bool:
    """A refusal is a 400 that can be sent; a request has all that the backends rely on."""
    if isinstance(found, ApiError):
        return found.status == 400 and bool(found.code) and json.dumps(found.body()).isascii()
    return bool(found.model and any(turn.role == "user" for turn in found.turns) and all(found.stop))


@settings(deadline=None)
@given(st.binary(max_size=100), st.booleans(), st.sampled_from([EVERYTHING, frozenset()]))
def test_no_bytes_raise_anything_else(body: bytes, lenient: bool, supports: frozenset[str]) -> None:
    assert sound(outcome(body, lenient, supports))


@settings(deadline=None, max_examples=300)
@given(
    json_values | nearly | st.dictionaries(st.sampled_from(NAMES), nearly, max_size=8),
    st.booleans(),
    st.sampled_from([EVERYTHING, frozenset()]),
)
def test_no_json_raises_anything_else(value: Any, lenient: bool, supports: frozenset[str]) -> None:
    assert sound(outcome(json.dumps(value).encode(), lenient, supports))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(NAMES[:13]), json_values | nearly, st.booleans())
def test_no_value_of_any_field_raises_anything_else(name: str, value: Any, lenient: bool) -> None:
    body = {"model": "opus", "messages": [HI], name: value}
    assert sound(outcome(json.dumps(body).encode(), lenient, EVERYTHING))


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(st.sampled_from(["role", "content", "name", "refusal"]), nearly), nearly, nearly)
def test_no_message_raises_anything_else(message: dict[str, Any], content: Any, part: Any) -> None:
    parts = {"role": "user", "content": [part, content]}
    body = {"model": "opus", "messages": [HI, message, {"role": "user", "content": content}, parts]}
    assert sound(outcome(json.dumps(body).encode(), False, EVERYTHING))
