"""A request is honoured in all it says, or refused by the name of what is not done, before anything is started."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.chat_completions.checks import read_request
from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.request import CompletionRequest, TextPart, Turn
from tests.helpers.chat_requests import EVERYTHING, HI, PNG, SCHEMA, image, read, refused

# What is honoured


def test_the_smallest_request() -> None:
    assert read() == CompletionRequest("opus", (Turn("user", (TextPart("Hi"),)),))


def test_everything_that_is_honoured_at_once() -> None:
    request = read(
        messages=[{"role": "system", "content": "Be brief."}, HI],
        stream=True,
        stream_options={"include_usage": True, "include_obfuscation": False},
        stop=["END", "\n"],
        reasoning_effort="xhigh",
        response_format={"type": "json_schema", "json_schema": {"name": "a-B_1", "schema": SCHEMA, "strict": True}},
    )
    assert request == CompletionRequest(
        "opus",
        (Turn("system", (TextPart("Be brief."),)), Turn("user", (TextPart("Hi"),))),
        stream=True,
        include_usage=True,
        stop=("END", "\n"),
        reasoning_effort="xhigh",
    )
    assert request.json_schema == SCHEMA


def test_the_description_beside_a_schema_reaches_the_model_in_it() -> None:
    def schema(description: str | None, own: str | None = None) -> Any:
        given = SCHEMA if own is None else {**SCHEMA, "description": own}
        form = {"name": "n", "schema": given, "description": description}
        found = read(response_format={"type": "json_schema", "json_schema": form}).json_schema
        assert found is not None
        return found.get("description")

    assert schema(None) is None
    assert schema(None, "own") == "own"
    assert schema("A name") == "A name"
    assert schema("A name", "A name") == "A name"
    assert schema("A name", "own") == "A name\n\nown"


@pytest.mark.parametrize(
    ("stop", "read_as"), [(None, ()), ("END", ("END",)), (["a"], ("a",)), (list("abcd"), tuple("abcd"))]
)
def test_stop_is_one_text_or_up_to_four(stop: Any, read_as: tuple[str, ...]) -> None:
    assert read(stop=stop).stop == read_as


# What is neutral


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 1), ("temperature", 1), ("temperature", 1.0), ("top_p", 1), ("frequency_penalty", 0),
        ("presence_penalty", 0.0), ("logprobs", False), ("tools", []), ("tool_choice", "none"), ("tool_choice", "auto"),
        ("response_format", {"type": "text"}), ("modalities", ["text"]), ("store", False), ("service_tier", "auto"),
        ("stream", False), ("logit_bias", {}), ("user", "me"), ("safety_identifier", "me"),
        ("prompt_cache_key", "key"), ("metadata", {"a": "b"}), ("metadata", {}),
    ],
)  # fmt: skip
def test_what_changes_nothing_is_accepted(name: str, value: Any) -> None:
    assert read(**{name: value}) == read()


@pytest.mark.parametrize(
    "name",
    [
        "stream", "stream_options", "stop", "reasoning_effort", "response_format", "n", "temperature", "top_p",
        "max_tokens", "max_completion_tokens", "seed", "tools", "tool_choice", "functions", "function_call", "audio",
        "logit_bias", "logprobs", "top_logprobs", "store", "metadata", "user", "prediction", "parallel_tool_calls",
        "verbosity", "web_search_options", "of_tomorrow",
    ],
)  # fmt: skip
def test_null_says_nothing(name: str) -> None:
    nothing: dict[str, Any] = {name: None}
    assert read(**nothing) == read()


# What is refused


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2), ("temperature", 0), ("temperature", 0.99), ("top_p", 0.5), ("frequency_penalty", 1),
        ("presence_penalty", -2), ("max_tokens", 100), ("max_completion_tokens", 1), ("seed", 0), ("seed", -1),
        ("logit_bias", {"50256": -100}), ("logprobs", True), ("top_logprobs", 0), ("store", True),
        ("tools", [{"type": "function", "function": {"name": "f"}}]), ("tool_choice", "required"),
        ("tool_choice", {"type": "function", "function": {"name": "f"}}), ("functions", [{"name": "f"}]),
        ("functions", []), ("function_call", "auto"), ("parallel_tool_calls", True), ("modalities", ["text", "audio"]),
        ("modalities", []), ("audio", {"voice": "alloy", "format": "wav"}), ("prediction", {"type": "content"}),
        ("service_tier", "flex"), ("verbosity", "low"), ("web_search_options", {}), ("top_k", 40), ("min_p", 0.1),
        ("repetition_penalty", 1.1), ("of_tomorrow", False), ("", 1), ("Stream", True),
    ],
)  # fmt: skip
def test_what_would_change_the_answer_is_refused_by_its_name(name: str, value: Any) -> None:
    assert refused(**{name: value}) == (name, "unsupported_parameter")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", 42), ("model", ["opus"]), ("stream", "true"), ("stream", 1), ("stream", 0), ("n", "1"), ("n", True),
        ("temperature", "1"), ("temperature", True), ("top_p", [1]), ("seed", "7"), ("max_tokens", "100"),
        ("max_tokens", False), ("logit_bias", []), ("logprobs", 0), ("store", "no"), ("tools", {}), ("tool_choice", 1),
        ("modalities", "text"), ("service_tier", 1), ("user", 42), ("safety_identifier", {}),
        ("prompt_cache_key", False), ("metadata", "a"), ("stop", 1), ("stop", {"a": 1}), ("reasoning_effort", 1),
        ("response_format", "json_object"), ("messages", "Hi"), ("messages", {}), ("messages", 42),
    ],
)  # fmt: skip
@pytest.mark.parametrize("lenient", [False, True])
def test_the_wrong_type_is_refused(name: str, value: Any, lenient: bool) -> None:
    assert refused(lenient=lenient, **{name: value}) == (name, "invalid_type")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", " "), ("n", 0), ("n", 1.0), ("temperature", -0.1), ("temperature", 2.1), ("top_p", 1.1),
        ("frequency_penalty", 3), ("max_tokens", 0), ("max_tokens", 1.5), ("seed", 2**63), ("seed", 10**90),
        ("logit_bias", {"a": 101}), ("logit_bias", {"a": None}), ("modalities", [1]), ("metadata", {"a": 1}),
        ("safety_identifier", "a" * 65),
        ("metadata", {"k" * 65: ""}), ("metadata", {"k": "v" * 513}), ("metadata", {str(i): "" for i in range(17)}),
        ("stop", []), ("stop", list("abcde")), ("stop", ""), ("stop", ["a", ""]), ("reasoning_effort", "none"),
        ("reasoning_effort", "minimal"), ("reasoning_effort", "HIGH"), ("messages", []),
        ("messages", [{"role": "user", "content": ""}]), ("messages", [{"role": "user", "content": " \n"}]),
        ("messages", [{"role": "assistant", "content": "a"}]), ("messages", [{"role": "system", "content": "a"}]),
        ("messages", [{"role": "user", "content": [{"type": "text", "text": ""}]}]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("lenient", [False, True])
def test_a_value_that_can_never_be_right_is_refused(name: str, value: Any, lenient: bool) -> None:
    assert refused(lenient=lenient, **{name: value}) == (name, "invalid_value")


@pytest.mark.parametrize("name", ["model", "messages"])
@pytest.mark.parametrize("value", [..., None])
def test_what_is_required_must_be_there(name: str, value: Any) -> None:
    assert refused(**{name: value}) == (name, "missing_required_parameter")


@pytest.mark.parametrize("body", ["null", "42", "[]", "[null]", '"Hi"', "true"])
def test_the_body_is_an_object(body: str) -> None:
    with pytest.raises(ApiError, match="must be a JSON object") as caught:
        read_request(body.encode(), supports=EVERYTHING)
    assert (caught.value.status, caught.value.param, caught.value.code) == (400, None, "invalid_type")


def test_what_is_no_json_is_refused_as_such() -> None:
    with pytest.raises(ApiError, match="not valid JSON") as caught:
        read_request(b'{"model": NaN}', supports=EVERYTHING)
    assert caught.value.code == "invalid_json"


@pytest.mark.parametrize(
    ("form", "where", "code"),
    [
        ({}, ".type", "missing_required_parameter"),
        ({"type": 1}, ".type", "invalid_type"),
        ({"type": "yaml"}, ".type", "invalid_value"),
        ({"type": "json_object"}, "", "unsupported_parameter"),
        ({"type": "text", "json_schema": {}}, ".json_schema", "unsupported_parameter"),
        ({"type": "json_schema", "schema": SCHEMA}, ".schema", "unsupported_parameter"),
        ({"type": "json_schema"}, ".json_schema", "missing_required_parameter"),
        ({"type": "json_schema", "json_schema": []}, ".json_schema", "invalid_type"),
        ({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, ".json_schema.name", "missing_required_parameter"),
        (
            {"type": "json_schema", "json_schema": {"name": "a b", "schema": SCHEMA}},
            ".json_schema.name",
            "invalid_value",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "a" * 65, "schema": SCHEMA}},
            ".json_schema.name",
            "invalid_value",
        ),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, ".json_schema.schema", "missing_required_parameter"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": True}}, ".json_schema.schema", "invalid_type"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}, ".json_schema.schema", "invalid_value"),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array"}}},
            ".json_schema.schema",
            "invalid_value",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": "yes"}},
            ".json_schema.strict",
            "invalid_type",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "description": 1}},
            ".json_schema.description",
            "invalid_type",
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "extra": 1}},
            ".json_schema.extra",
            "unsupported_parameter",
        ),
    ],
)
def test_a_schema_is_complete_and_that_of_an_object(form: dict[str, Any], where: str, code: str) -> None:
    assert refused(response_format=form) == (f"response_format{where}", code)


@pytest.mark.parametrize(
    ("stream", "options", "param", "code"),
    [
        (None, {"include_usage": True}, "stream_options", "invalid_value"),
        (False, {}, "stream_options", "invalid_value"),
        (True, [], "stream_options", "invalid_type"),
        (True, {"include_usage": 1}, "stream_options.include_usage", "invalid_type"),
        (True, {"include_obfuscation": True}, "stream_options.include_obfuscation", "unsupported_parameter"),
        (True, {"include_all": True}, "stream_options.include_all", "unsupported_parameter"),
    ],
)
def test_stream_options_belong_to_a_stream(stream: bool | None, options: Any, param: str, code: str) -> None:
    assert refused(stream=stream, stream_options=options) == (param, code)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [{"role": "user", "content": [image(PNG)]}]}, "messages[0].content[0].type"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}},
            "response_format",
        ),
        ({"reasoning_effort": "low"}, "reasoning_effort"),
    ],
)
def test_what_only_some_clis_can_do_is_refused_with_the_others(fields: dict[str, Any], param: str) -> None:
    assert refused(supports=frozenset(), **fields) == (param, "unsupported_parameter")
    assert read(supports=EVERYTHING, **fields).model == "opus"


def test_an_unknown_name_is_told_short_and_printable() -> None:
    fields: dict[str, Any] = {"\x1b[31m\n" + "é" * 5000: 1}
    assert refused(**fields) == ("?[31m?" + "é" * 53 + "…", "unsupported_parameter")
    param, _ = refused(messages=[{**HI, "x" * 5000: 1}])
    assert param == "messages[0]." + "x" * 59 + "…"


# The lenient mode

SAMPLING: dict[str, Any] = {
    "max_tokens": 100, "temperature": 0, "top_p": 0.9, "frequency_penalty": 1, "presence_penalty": 1,
    "max_completion_tokens": 5, "seed": 7, "logit_bias": {"1": 5}, "top_k": 40, "min_p": 0.1, "repetition_penalty": 1.1,
}  # fmt: skip


def test_lenient_ignores_the_usual_sampling_parameters_and_says_which() -> None:
    assert read(lenient=True, **SAMPLING).ignored == tuple(SAMPLING)
    for name, value in SAMPLING.items():
        assert refused(**{name: value}) == (name, "unsupported_parameter")


def test_lenient_does_not_list_what_was_done() -> None:
    assert read(lenient=True, temperature=1, n=1, seed=None, user="me", stop="END").ignored == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2), ("tools", [{}]), ("tool_choice", "required"), ("functions", [{}]), ("function_call", "auto"),
        ("audio", {}), ("modalities", ["audio"]), ("store", True), ("logprobs", True), ("prediction", {}),
        ("service_tier", "flex"), ("response_format", {"type": "json_object"}), ("of_tomorrow", 1),
    ],
)  # fmt: skip
def test_lenient_ignores_nothing_else(name: str, value: Any) -> None:
    assert refused(lenient=True, **{name: value}) == (name, "unsupported_parameter")


def test_a_refusal_tells_of_the_lenient_mode_where_it_helps() -> None:
    with pytest.raises(ApiError, match="leave it out or send 1; the endpoint's lenient mode ignores it"):
        read(temperature=0)
    with pytest.raises(ApiError) as caught:
        read(n=2)
    assert "lenient" not in caught.value.message
