"""What the host says is what the CLI of every supported version understood in the recordings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol import requests
from protocol.messages import ControlRequest, ControlResponse, UserMessage, parse_message
from protocol.wire import encode_line

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"


def sent(kind: str, pattern: str = "*/*.jsonl") -> Iterator[tuple[str, dict[str, Any]]]:
    """(recording, message) of everything of this type that a host wrote in the recordings."""
    for path in sorted(RECORDINGS.glob(pattern)):
        for line in path.read_bytes().split(b"\n"):
            entry = json.loads(line) if line else {}
            if entry.get("dir") == "in" and entry["msg"].get("type") == kind:
                yield f"{path.parent.name}/{path.name}", entry["msg"]


class TestEnvelopes:
    def test_the_request_id_of_a_reply_sits_inside_response_because_beside_it_the_cli_waits_for_ever(self) -> None:
        for reply in (requests.success("r1", {"behavior": "allow"}), requests.error("r1", "no")):
            assert "request_id" not in reply
            assert reply["response"]["request_id"] == "r1"
            assert parse_message(reply).request_id == "r1"  # type: ignore[attr-defined]

    def test_an_error_reply_carries_its_text(self) -> None:
        reply = parse_message(requests.error("r1", "unknown subtype"))
        assert isinstance(reply, ControlResponse)
        assert (reply.ok, reply.error) == (False, "unknown subtype")

    def test_a_request_wraps_its_subtype(self) -> None:
        request = requests.control_request("r2", requests.interrupt())
        assert request == {"type": "control_request", "request_id": "r2", "request": {"subtype": "interrupt"}}
        assert isinstance(parse_message(request), ControlRequest)

    def test_a_cancel_names_the_request_at_its_top(self) -> None:
        assert requests.cancel("r3") == {"type": "control_cancel_request", "request_id": "r3"}

    def test_builders_do_not_hand_out_the_callers_own_objects(self) -> None:
        inner = {"behavior": "allow"}
        requests.success("r1", inner)["response"]["response"]["behavior"] = "deny"
        assert inner == {"behavior": "allow"}


class TestRecordings:
    def test_every_recorded_reply_is_what_success_builds(self) -> None:
        replies = list(sent("control_response"))
        assert len(replies) > 50
        for name, reply in replies:
            inner = reply["response"]
            assert requests.success(inner["request_id"], inner["response"]) == reply, name

    def test_every_recorded_request_is_what_its_builder_builds(self) -> None:
        build = {
            "initialize": lambda r: requests.initialize(
                supported_dialog_kinds=r.get("supportedDialogKinds", ()),
                per_task_stop=r.get("perTaskStopAffordance", False),
                prompt_suggestions=r.get("promptSuggestions", False),
            ),
            "interrupt": lambda r: requests.interrupt(),
            "set_model": lambda r: requests.set_model(r["model"]),
            "set_permission_mode": lambda r: requests.set_permission_mode(r["mode"]),
            "set_max_thinking_tokens": lambda r: requests.set_max_thinking_tokens(r["max_thinking_tokens"]),
            "mcp_status": lambda r: requests.mcp_status(),
            "get_context_usage": lambda r: requests.get_context_usage(),
            "get_settings": lambda r: requests.get_settings(),
            "get_session_cost": lambda r: requests.get_session_cost(),
            "get_usage": lambda r: requests.get_usage(),
            "file_suggestions": lambda r: requests.file_suggestions(r["query"]),
            "list_models": lambda r: requests.list_models(),
            "no_such_subtype": lambda r: {"subtype": "no_such_subtype"},
            "cancel_async_message": lambda r: requests.cancel_async_message(r["message_uuid"]),
            "rename_session": lambda r: requests.rename_session(r["title"]),
        }
        seen = set()
        for name, message in sent("control_request"):
            request = message["request"]
            seen.add(request["subtype"])
            assert requests.control_request(message["request_id"], build[request["subtype"]](request)) == message, name
        assert seen == set(build)

    def test_a_recorded_message_with_a_uuid_is_what_user_message_builds(self) -> None:
        messages = [m for _, m in sent("user", "2.1.332/queued_messages_with_uuid.jsonl")]
        assert len(messages) == 3
        for message in messages:
            assert requests.user_message(message["message"]["content"], uuid=message["uuid"]) == message

    def test_a_recorded_image_is_what_image_block_builds(self) -> None:
        import base64

        [(_, message)] = sent("user", "2.1.332/image_input.jsonl")
        text, image = message["message"]["content"]
        data = base64.b64decode(image["source"]["data"])
        assert [requests.text_block(text["text"]), requests.image_block(data, "image/png")] == [text, image]


class TestUserMessages:
    def test_text_and_blocks_parse_back(self) -> None:
        plain = parse_message(requests.user_message("hello", uuid="u1"))
        assert isinstance(plain, UserMessage)
        blocks = requests.user_message(
            [requests.text_block("look"), requests.image_block(b"\x89", "image/png")], uuid="u2"
        )
        assert [b["type"] for b in blocks["message"]["content"]] == ["text", "image"]

    def test_client_composed_is_said_only_where_it_is_wanted(self) -> None:
        assert "client_composed" not in requests.user_message("@/etc/passwd", uuid="u1")
        assert requests.user_message("@/etc/passwd", uuid="u1", client_composed=True)["client_composed"] is True

    def test_half_an_emoji_still_makes_one_whole_line(self) -> None:
        line = encode_line(requests.user_message("half \ud83d of it", uuid="u1"))
        assert line.count(b"\n") == 1
        assert json.loads(line)["message"]["content"] == "half \ufffd of it"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (requests.interrupt(cancel_queued=True), {"subtype": "interrupt", "cancel_queued": True}),
        (requests.set_model(None), {"subtype": "set_model", "model": None}),
        (
            requests.apply_flag_settings({"effortLevel": "high"}),
            {"subtype": "apply_flag_settings", "settings": {"effortLevel": "high"}},
        ),
        (
            requests.initialize(title="T", supported_dialog_kinds=["k"], per_task_stop=False),
            {"subtype": "initialize", "hooks": None, "title": "T", "supportedDialogKinds": ["k"]},
        ),
        (
            requests.initialize(system_prompt="", json_schema={"type": "object"}, per_task_stop=False),
            {"subtype": "initialize", "hooks": None, "systemPrompt": "", "jsonSchema": {"type": "object"}},
        ),
        (
            requests.initialize(append_system_prompt="Be kind.", per_task_stop=False),
            {"subtype": "initialize", "hooks": None, "appendSystemPrompt": "Be kind."},
        ),
        (requests.mcp_reconnect("demo"), {"subtype": "mcp_reconnect", "serverName": "demo"}),
        (requests.mcp_toggle("demo", False), {"subtype": "mcp_toggle", "serverName": "demo", "enabled": False}),
        (
            requests.rewind_files("m1", dry_run=True),
            {"subtype": "rewind_files", "user_message_id": "m1", "dry_run": True},
        ),
        (requests.stop_task("t1"), {"subtype": "stop_task", "task_id": "t1"}),
        (requests.background_tasks(), {"subtype": "background_tasks"}),
        (requests.get_binary_version(), {"subtype": "get_binary_version"}),
        (requests.list_permission_rules(), {"subtype": "list_permission_rules"}),
    ],
)
def test_requests_that_no_recording_holds_have_the_documented_shape(
    request_: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert request_ == expected


def test_interrupts_are_asked_to_spare_the_background_agents() -> None:
    assert requests.initialize()["perTaskStopAffordance"] is True
