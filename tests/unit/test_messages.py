"""What the CLI says, as models: every kind has its golden form, and nothing that is unknown or odd ever raises."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from protocol import messages
from protocol.messages import (
    AssistantMessage,
    CanUseTool,
    ControlRequest,
    ControlResponse,
    Elicitation,
    ImageBlock,
    Message,
    ResultMessage,
    SystemInit,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownMessage,
    UnknownRequest,
    UserMessage,
    WireModel,
    parse_blocks,
    parse_initialize_reply,
    parse_message,
)
from tests.helpers import recordings
from tests.unit.test_wire import json_objects, json_values

GOLDEN = Path(__file__).parent.parent / "data" / "messages"
KINDS = sorted(path.stem for path in GOLDEN.glob("*.json"))


def plain(value: object) -> Any:
    """A model's declared fields, and its class, as plain values."""
    if isinstance(value, WireModel):
        lazy = [name for name, entry in vars(type(value)).items() if isinstance(entry, cached_property)]
        names = [*type(value).model_fields, *lazy]
        return {"class": type(value).__name__, **{name: plain(getattr(value, name)) for name in names}}
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def golden(kind: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8"))
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_message_reads_as_its_golden_form(kind: str) -> None:
    wire, expected = golden(kind)["wire"], golden(kind)["message"]
    message = parse_message(wire)
    assert plain(message) == expected
    assert message.raw is wire


def test_every_class_of_message_has_a_golden_form() -> None:
    shown = {golden(kind)["message"]["class"] for kind in KINDS}
    classes = {value for value in vars(messages).values() if isinstance(value, type) and issubclass(value, Message)}
    assert {cls.__name__ for cls in classes} - shown == {"Message"}


@pytest.mark.parametrize(("version", "scenario"), recordings.names())
def test_everything_ever_recorded_is_known(version: str, scenario: str) -> None:
    recording = recordings.load(version, scenario)
    said = [parse_message(entry.value) for entry in recording.entries if entry.direction == "out"]
    assert not [message for message in said if type(message) in (UnknownMessage, SystemMessage)]
    blocks = [
        block for message in said if isinstance(message, AssistantMessage | UserMessage) for block in message.content
    ]
    assert not [block for block in blocks if isinstance(block, UnknownBlock)]


# Tolerance


@pytest.mark.parametrize("value", [{}, {"type": None}, {"type": 3}, {"type": ["system"]}, {"type": "hologram"}])
def test_an_unknown_type_is_kept_as_it_came(value: dict[str, Any]) -> None:
    message = parse_message(value)
    assert isinstance(message, UnknownMessage)
    assert message.raw is value
    assert message.type == (value.get("type") if isinstance(value.get("type"), str) else "")


@pytest.mark.parametrize("value", [None, 3, "text", [1]])
def test_even_what_is_no_object_does_not_raise(value: Any) -> None:
    assert type(parse_message(value)) is UnknownMessage


@pytest.mark.parametrize("subtype", ["of_the_future", None, 3, ["init"]])
def test_an_unknown_subtype_of_system_is_a_system_message(subtype: Any) -> None:
    message = parse_message({"type": "system", "subtype": subtype, "depth": 3})
    assert type(message) is SystemMessage
    assert message.raw["depth"] == 3


def test_unknown_fields_survive() -> None:
    message = parse_message({"type": "keep_alive", "pulse": {"rate": 60}})
    assert message.raw["pulse"] == {"rate": 60}
    assert message.pulse == {"rate": 60}  # type: ignore[attr-defined]


def test_missing_fields_have_their_defaults() -> None:
    message = parse_message({"type": "system", "subtype": "init"})
    assert isinstance(message, SystemInit)
    assert (message.model, message.tools, message.capabilities) == ("", (), ())


def test_an_ill_typed_field_takes_its_default_and_the_others_are_read() -> None:
    wire = {"type": "result", "is_error": "perhaps", "num_turns": "many", "errors": "none", "result": "done"}
    message = parse_message(wire)
    assert isinstance(message, ResultMessage)
    assert (message.is_error, message.num_turns, message.errors, message.result) == (False, 0, (), "done")


def test_an_ill_typed_entry_of_a_list_is_left_out() -> None:
    message = parse_message({"type": "system", "subtype": "init", "tools": ["Bash", 3, None, "Read"]})
    assert isinstance(message, SystemInit)
    assert message.tools == ("Bash", "Read")


@pytest.mark.parametrize("message", [None, 3, "text", [], {"content": None}, {"content": 3}, {}])
def test_a_message_without_content_has_none(message: Any) -> None:
    for kind in ("assistant", "user"):
        parsed = parse_message({"type": kind, "message": message})
        assert isinstance(parsed, AssistantMessage | UserMessage)
        assert parsed.content == ()


def test_content_that_is_a_string_is_one_text() -> None:
    parsed = parse_message({"type": "user", "message": {"role": "user", "content": "hello"}})
    assert isinstance(parsed, UserMessage)
    assert parsed.content == (TextBlock(text="hello"),)


def test_a_field_named_raw_on_the_wire_does_no_harm() -> None:
    wire = {"type": "keep_alive", "raw": 3}
    assert parse_message(wire).raw is wire


# Blocks


@pytest.mark.parametrize(
    "block", [None, 3, [], {}, {"type": 3}, {"type": "text"}, {"type": "text", "text": 3}, {"type": "tool_use"}]
)
def test_a_block_that_is_none_is_kept_as_unknown(block: Any) -> None:
    (parsed,) = parse_blocks([block])
    assert isinstance(parsed, UnknownBlock)
    assert parsed.raw == (block if isinstance(block, dict) else {"value": block})


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_all_kinds_of_tool_use_are_tool_uses(kind: str) -> None:
    (parsed,) = parse_blocks([{"type": kind, "id": "t", "name": "web_search", "input": {"query": "x"}}])
    assert isinstance(parsed, ToolUseBlock)
    assert (parsed.id, parsed.name, parsed.input) == ("t", "web_search", {"query": "x"})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"type": "text", "text": "alone"}, "alone"),
        (None, ""),
        ([], ""),
        ([{"type": "hologram"}], ""),
    ],
)
@pytest.mark.parametrize("kind", ["tool_result", "web_search_tool_result", "mcp_tool_result"])
def test_a_tool_result_has_its_words_whatever_its_form(kind: str, content: Any, text: str) -> None:
    (parsed,) = parse_blocks([{"type": kind, "tool_use_id": "t", "content": content}])
    assert isinstance(parsed, ToolResultBlock)
    assert (parsed.text, parsed.images) == (text, ())


def test_a_tool_result_has_its_pictures() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    (parsed,) = parse_blocks([{"type": "tool_result", "tool_use_id": "t", "content": [image, image]}])
    assert isinstance(parsed, ToolResultBlock)
    assert [(image.media_type, image.data) for image in parsed.images] == [("image/png", "eA==")] * 2


def test_a_picture_by_address_is_a_picture_without_data() -> None:
    (parsed,) = parse_blocks([{"type": "image", "source": {"type": "url", "url": "https://example.com/x.png"}}])
    assert isinstance(parsed, ImageBlock)
    assert (parsed.url, parsed.data) == ("https://example.com/x.png", "")


# Control


def test_the_id_of_an_answer_sits_inside_response_and_beside_it_is_no_answer() -> None:
    inside = parse_message({"type": "control_response", "response": {"subtype": "success", "request_id": "r"}})
    assert isinstance(inside, ControlResponse)
    assert (inside.request_id, inside.ok, inside.response) == ("r", True, {})
    beside = parse_message({"type": "control_response", "request_id": "r", "response": {"subtype": "success"}})
    assert isinstance(beside, UnknownMessage)


def test_a_request_without_an_id_cannot_be_answered_and_is_unknown() -> None:
    assert isinstance(parse_message({"type": "control_request", "request": {"subtype": "x"}}), UnknownMessage)


@pytest.mark.parametrize("subtype", ["hook_callback", "mcp_message", "request_user_dialog", "future_x", "", None])
def test_a_request_that_nobody_knows_still_has_its_id(subtype: str | None) -> None:
    message = parse_message({"type": "control_request", "request_id": "r", "request": {"subtype": subtype}})
    assert isinstance(message, ControlRequest)
    assert message.request == UnknownRequest(subtype=subtype or "", raw={"subtype": subtype})


@pytest.mark.parametrize("request_", [{}, {"tool_name": 3}, {"tool_name": "Bash", "input": "rm"}, None, 3])
def test_a_permission_request_that_shows_nothing_to_decide_on_is_unknown(request_: Any) -> None:
    inner = {"subtype": "can_use_tool", **request_} if isinstance(request_, dict) else request_
    message = parse_message({"type": "control_request", "request_id": "r", "request": inner})
    assert isinstance(message, ControlRequest)
    assert isinstance(message.request, UnknownRequest)


def test_the_input_of_a_permission_request_is_the_object_that_came() -> None:
    tool_input = {"command": "ls", "z": 1, "a": [1, {"b": None}]}
    inner = {"subtype": "can_use_tool", "tool_name": "Bash", "input": tool_input, "decision_reason": {"odd": 1}}
    message = parse_message({"type": "control_request", "request_id": "r", "request": inner})
    assert isinstance(message, ControlRequest)
    assert isinstance(message.request, CanUseTool)
    assert json.dumps(message.request.input) == json.dumps(tool_input)
    assert message.request.decision_reason == ""


@pytest.mark.parametrize(
    ("server", "name"), [({"name": "demo", "source": "dynamic"}, "demo"), ("demo", "demo"), (None, ""), ({}, "")]
)
def test_the_server_of_a_tool_has_one_name_in_all_forms(server: Any, name: str) -> None:
    request = CanUseTool.read({"tool_name": "mcp__demo__x", "mcp_server": server})
    assert request.mcp_server == name


def test_an_elicitation_without_a_mode_is_a_form() -> None:
    message = parse_message({"type": "control_request", "request_id": "r", "request": {"subtype": "elicitation"}})
    assert isinstance(message, ControlRequest)
    assert isinstance(message.request, Elicitation)
    assert message.request.mode == "form"


# The handshake


@pytest.mark.parametrize("version", recordings.versions("hello"))
def test_every_supported_version_tells_its_commands_models_and_account(version: str) -> None:
    first = next(entry for entry in recordings.load(version, "hello").entries if entry.direction == "out")
    response = parse_message(first.value)
    assert isinstance(response, ControlResponse)
    reply = parse_initialize_reply(response.response)
    assert "compact" in {command.name for command in reply.commands}
    assert reply.models[0].value == "default"
    assert reply.account["apiKeySource"] == "ANTHROPIC_API_KEY"


def test_the_newest_version_tells_what_its_models_can_do() -> None:
    first = next(entry for entry in recordings.load("2.1.332", "hello").entries if entry.direction == "out")
    reply = parse_initialize_reply(first.value["response"]["response"])
    assert reply.models[0].resolved_model == "claude-opus-5-5"
    assert reply.models[0].supports_effort is True
    assert "low" in reply.models[0].supported_effort_levels


@pytest.mark.parametrize("value", [None, 3, [], {}, {"commands": 3, "models": [{"value": 3}, 4], "account": "me"}])
def test_a_handshake_of_any_form_is_a_handshake(value: Any) -> None:
    reply = parse_initialize_reply(value)
    assert (reply.commands, reply.models, reply.account) == ((), (), {})


# Properties

_TYPES = st.sampled_from(
    [
        *("assistant", "user", "result", "system", "stream_event", "auth_status", "rate_limit_event"),
        *("control_request", "control_response", "control_cancel_request"),
        *("command_lifecycle", "tool_progress", "conversation_reset"),
    ]
)
_SUBTYPES = st.sampled_from([kind.removeprefix("system.") for kind in KINDS if kind.startswith("system.")])
_FIELDS = [
    *("message", "request", "response", "event", "request_id", "parent_tool_use_id", "tool_use_result", "error"),
    *("is_error", "result", "rate_limit_info", "compact_metadata", "tasks", "patch", "task_id", "commands", "state"),
]


@st.composite
def odd_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Objects that look like messages from afar: known types and fields, any values."""
    value = draw(st.dictionaries(st.sampled_from(_FIELDS), json_values, max_size=6))
    value["type"] = draw(_TYPES)
    if value["type"] == "system":
        value["subtype"] = draw(_SUBTYPES)
    return value


@st.composite
def altered_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Golden messages in which one value, anywhere, is another."""
    wire: dict[str, Any] = golden(draw(st.sampled_from(KINDS)))["wire"]
    place: Any = wire
    for _ in range(draw(st.integers(0, 4))):
        inner = list(place.values()) if isinstance(place, dict) else place
        deeper = [value for value in inner if isinstance(value, dict | list) and value]
        if not deeper:
            break
        place = draw(st.sampled_from(deeper))
    key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = draw(json_values)
    return wire


@given(st.one_of(json_objects, odd_messages(), altered_messages()))
def test_no_object_raises(value: dict[str, Any]) -> None:
    message = parse_message(value)
    assert isinstance(message, Message)
    assert message.raw is value
    assert isinstance(parse_initialize_reply(value), WireModel)


@given(json_values)
def test_no_content_raises(content: Any) -> None:
    for block in parse_blocks(content):
        if isinstance(block, ToolResultBlock):
            assert isinstance(block.text, str)


def test_messages_are_read_only() -> None:
    message = parse_message({"type": "conversation_reset", "trigger": "clear"})
    with pytest.raises(ValidationError, match="frozen"):
        message.trigger = "x"  # type: ignore[attr-defined]
