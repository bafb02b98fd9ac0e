"""The stand-in against recordings of the real CLI 2.1.332: the same messages in the same order with the same keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_cli import FakeCli, write_json
from tests.helpers.program import Message

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "recordings" / "2.1.332"

COSMETIC = """
    uuid timestamp ttft_ms ttft_stream_ms time_to_request_ms first_content_frame_ms request_sent_wall_ms
    first_request_input_tokens first_request_cache_read_input_tokens fast_mode_state fast_mode_disabled_reason
    subagent_stats safety_stops model_usage_since_last_result api_error_type request_id thinking_display
    owed_rows api_message_id begun_message_ids run_id summary_is_report server_policy_ask_only
    terminal_slash_commands analytics_disabled product_feedback_disabled served_by_anthropic sandbox_enabled
    memory_paths original_cwd messaging_socket_path per_turn_effort_active ultrathink_available
    ultrathink_typed_raises view_mode additional_directories
"""
"""Measurements, bookkeeping and self-descriptions that no host decides anything by."""

Steps = list[dict[str, Any]]
QUESTIONS = [
    {
        "question": "Which database should we use?",
        "header": "Database",
        "options": [
            {"label": "PostgreSQL", "description": "Relational"},
            {"label": "SQLite", "description": "Embedded", "preview": "```sql\nCREATE TABLE t(id int);\n```"},
        ],
        "multiSelect": False,
    },
    {
        "question": "Which features do you want?",
        "header": "Features",
        "options": [
            {"label": "Auth", "description": "Login"},
            {"label": "Search", "description": "Full text"},
            {"label": "Export", "description": "CSV"},
        ],
        "multiSelect": True,
    },
]
SUGGESTIONS = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch /home/user/zzz && echo hello"}],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "addDirectories", "directories": ["/home/user"], "destination": "session"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]
ASK: Steps = [{"text": "Let me ask."}, {"question": QUESTIONS}, {"text": "Done."}]
BASH: Steps = [
    {"text": "Running."},
    {
        "tool": "Bash",
        "input": {"command": "touch /home/user/zzz && echo hello", "description": "Create a file"},
        "result": "hello",
        "ask": {
            "permission_suggestions": SUGGESTIONS,
            "blocked_path": "/home/user/zzz",
        },
    },
    {"text": "Done."},
]
PLAN: Steps = [{"plan": "# Plan\n1. do it"}, {"text": "Done."}]
WRITE: Steps = [
    {
        "tool": "Write",
        "input": {"file_path": "/home/user/project/a.txt", "content": "hello\n"},
        "structured": {"type": "create", "filePath": "", "content": "", "structuredPatch": [], "originalFile": None},
        "ask": {
            "description": "a.txt",
            "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        },
    },
    {"text": "Done."},
]
ELICIT: Steps = [
    {
        "elicitation": "Please confirm deploy",
        "server": "demo",
        "tool": "ask_user",
        "input": {"topic": "deploy"},
        "ask": {
            "permission_suggestions": [
                {"type": "addRules", "rules": [{"toolName": "mcp__demo__ask_user"}], "behavior": "allow",
                 "destination": "localSettings"},
            ]
        },
        "schema": {
            "type": "object",
            "title": "Deploy",
            "required": ["environment", "confirm"],
            "properties": {
                "environment": {"type": "string", "title": "Environment", "description": "Where to deploy"},
                "confirm": {"type": "boolean", "title": "Confirm", "description": "Are you sure?"},
                "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
            },
        },
    },
    {"text": "Done."},
]  # fmt: skip
PAIR: Steps = [
    {"text": "Two things."},
    {
        "together": [
            {"question": [{"question": "Pick a colour?", "header": "Colour", "multiSelect": False,
                           "options": [{"label": "Red", "description": "Warm"},
                                       {"label": "Blue", "description": "Cool"}]}]},
            {"tool": "Bash", "input": {"command": "mkdir -p /home/user/project/pair", "description": "Make a folder"},
             "ask": {"permission_suggestions": SUGGESTIONS, "blocked_path": "/home/user/project/pair"}},
        ],
        "serial": True,
    },
    {"text": "Done."},
]  # fmt: skip
SLOW: Steps = [{"text": "word " * 400, "pace": 400}]
ECHO: Steps = [{"text": "echo: ${user}"}]


@dataclass
class Case:
    """One recording, the scenario that says the same, and how the host started the CLI then."""

    recording: str
    turns: list[Steps]
    flags: tuple[str, ...] = ()
    pace: float = 0
    env: dict[str, str] = field(default_factory=dict)
    exit_code: int = 0
    close_after: str = ""

    def __str__(self) -> str:
        return self.recording


CASES = [
    Case("hello", [ECHO]),
    Case("image_input", [ECHO]),
    Case("thinking", [[{"thinking": "I ponder."}, {"text": "Thought."}]]),
    Case("subscription_token", [[{"text": "echo"}, {"rate_limit": "allowed"}]]),
    Case("ask", [ASK]),
    Case("ask_dismissed", [ASK]),
    Case("ask_free_text", [ASK]),
    Case("ask_interrupted", [ASK, ECHO]),
    Case("ask_stdin_closed", [ASK], close_after="can_use_tool", exit_code=1),
    Case("ask_legacy_reply", [ASK], ("--lenient",)),
    Case("ask_missing_updated_input", [ASK], ("--lenient",)),
    Case("ask_in_mode_acceptEdits", [ASK], ("--permission-mode", "acceptEdits")),
    Case("ask_in_mode_auto", [ASK], ("--permission-mode", "auto")),
    Case("ask_in_mode_bypassPermissions", [ASK], ("--permission-mode", "bypassPermissions")),
    Case("ask_in_mode_dontAsk", [ASK], ("--permission-mode", "dontAsk")),
    Case("ask_in_mode_plan", [ASK], ("--permission-mode", "plan")),
    Case("session_state_and_rename", [ASK], env={"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}),
    Case("bash_allow", [BASH]),
    Case("bash_deny", [BASH]),
    Case("bash_deny_interrupt", [BASH], exit_code=1),
    Case("write_always_allow", [WRITE, WRITE]),
    Case("plan_approved", [PLAN], ("--permission-mode", "plan")),
    Case("plan_rejected", [PLAN], ("--permission-mode", "plan")),
    Case("mcp_elicitation", [ELICIT]),
    Case("parallel_requests", [PAIR]),
    Case("interrupt_streaming", [SLOW, ECHO], pace=1),
    Case("queued_messages", [SLOW, ECHO], ("--replay-user-messages",), pace=0.2),
    Case("queued_messages_with_uuid", [SLOW, ECHO], pace=1),
    Case("api_err401", [[{"fail": "401"}]], exit_code=1),
    Case("api_err429", [[{"fail": "429"}]], exit_code=1),
    Case("not_logged_in", [[{"fail": "not_logged_in"}]], exit_code=1),
    Case(
        "api_overloaded_retry",
        [[{"api_retry": 1, "max_retries": 2}, {"api_retry": 2, "max_retries": 2}, {"fail": "529"}]],
        exit_code=1,
    ),
]


Replayed = Callable[[Case], tuple[list[Message], list[Message]]]


def recorded(name: str) -> list[Message]:
    lines = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def shape(message: Message) -> tuple[Any, ...]:
    """What a message is, without what it says."""
    kind = message["type"]
    if kind == "stream_event":
        event = message["event"]
        return (kind, event["type"], event.get("delta", {}).get("type"), event.get("content_block", {}).get("type"))
    if kind in ("assistant", "user"):
        content = message["message"]["content"]
        blocks = tuple(block["type"] for block in content) if isinstance(content, list) else "text"
        return (kind, blocks, message.get("error"), message.get("aborted"), message.get("isReplay"))
    if kind == "system":
        return (kind, message["subtype"], message.get("status"), message.get("state"))
    if kind == "control_request":
        return (kind, message["request"]["subtype"], message["request"].get("tool_name"))
    if kind == "control_response":
        return (kind, message["response"]["subtype"], message["response"].get("error_code"))
    if kind == "result":
        return (kind, message["subtype"], message["is_error"], message.get("terminal_reason"))
    return (kind, message.get("state"))


def collapsed(messages: list[Message]) -> list[Message]:
    """One message for a run of the same kind, since how a text is cut into deltas is nobody's business."""
    kept: list[Message] = []
    for message in messages:
        if not kept or shape(kept[-1]) != shape(message) or message["type"] != "stream_event":
            kept.append(message)
    return kept


def play(cli: FakeCli, recording: list[Message], close_after: str) -> None:
    """Says what the host said then, each time when as much was heard as had been heard then."""
    expected: list[Message] = []
    ids = [m["msg"]["request_id"] for m in recording if m["dir"] == "out" and m["msg"]["type"] == "control_request"]
    for entry in recording:
        if entry["dir"] == "out":
            expected.append(entry["msg"])
            if close_after and entry["msg"].get("request", {}).get("subtype") == close_after:
                wait_for_as_many(cli, expected)
                cli.close_stdin()
        elif entry["dir"] == "in":
            wait_for_as_many(cli, expected)
            cli.send(with_own_id(cli, entry["msg"], ids))
    wait_for_as_many(cli, expected)


def wait_for_as_many(cli: FakeCli, expected: list[Message]) -> None:
    cli.wait_until(lambda: len(collapsed(cli.messages)) >= len(collapsed(expected)))


def with_own_id(cli: FakeCli, message: Message, ids: list[str]) -> Message:
    """A recorded reply, to the request that the stand-in made in the same place."""
    if message["type"] != "control_response":
        return message
    number = ids.index(message["response"]["request_id"])
    own = [m["request_id"] for m in cli.messages if m["type"] == "control_request"]
    return {**message, "response": {**message["response"], "request_id": own[number]}}


@pytest.fixture
def replayed(tmp_path: Path) -> Replayed:
    """Both sides of a case: what the real CLI said then, and what the stand-in says now."""

    def run(case: Case) -> tuple[list[Message], list[Message]]:
        recording = recorded(case.recording)
        real = [entry["msg"] for entry in recording if entry["dir"] == "out"]
        partial = any(message["type"] == "stream_event" for message in real)
        scenario = write_json(tmp_path, case.turns)
        with FakeCli(
            *case.flags, scenario=scenario, partial=partial, pace=case.pace, env=case.env, exit_code=case.exit_code
        ) as cli:
            play(cli, recording, case.close_after)
        fake = collapsed(cli.messages)
        # One recording was stopped before the end, so that more may have come.
        return collapsed(real), fake if recording[-1]["dir"] == "exit" else fake[: len(collapsed(real))]

    return run


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_says_what_the_real_one_said(case: Case, replayed: Replayed) -> None:
    real, fake = replayed(case)
    assert [shape(message) for message in fake] == [shape(message) for message in real]
    assert [differences(*pair) for pair in zip(real, fake, strict=True)] == [[] for _ in real]


def differences(real: Any, fake: Any, path: str = "") -> list[str]:
    """Keys that one of two messages has and the other lacks, also inside."""
    found: list[str] = []
    if isinstance(real, dict) and isinstance(fake, dict):
        if path.endswith(("/usage", "/modelUsage", "/input", "/tool_use_result", "/response/response", "/mcp_server")):
            return []
        found += [f"{path}/{key} is missing" for key in set(real) - set(fake) - set(COSMETIC.split())]
        found += [f"{path}/{key} is invented" for key in set(fake) - set(real) - set(COSMETIC.split())]
        for key in sorted(set(real) & set(fake)):
            found += differences(real[key], fake[key], f"{path}/{key}")
    elif isinstance(real, list) and isinstance(fake, list) and real and fake:
        found += differences(real[0], fake[0], f"{path}[0]")
    elif type(real) is not type(fake) and not path.endswith(("_ms", "cost_usd")):
        found.append(f"{path} is {type(fake).__name__}, not {type(real).__name__}")
    return sorted(found)


def test_a_subagent_in_the_background_says_what_the_real_one_said(tmp_path: Path) -> None:
    """Its own messages and the main ones are compared apart: which comes first between them is a matter of chance."""
    suggestions = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    command = {"command": "touch /home/user/project/sub.txt", "description": "Touch from subagent"}
    steps = [
        {"text": "Sub thinking."},
        {"tool": "Bash", "input": command, "ask": {"permission_suggestions": suggestions, "blocked_path": "/x"}},
        {"text": "RESULT"},
    ]
    turn = [
        {"agent": "Look around", "prompt": "SUBASK please", "background": True, "steps": steps,
         "after": [{"text": "echo"}]},
        {"text": "RESULT"},
    ]  # fmt: skip
    with FakeCli(scenario=write_json(tmp_path, [turn]), partial=False) as cli:
        cli.initialize()
        cli.say("AGENT1")
        cli.allow(cli.next_request())
        cli.result(1)
    real = [entry["msg"] for entry in recorded("subagent_permission") if entry["dir"] == "out"]
    for is_main in (True, False):
        then = [shape(message) for message in real if belongs_to_main(message) == is_main]
        now = [shape(message) for message in cli.messages if belongs_to_main(message) == is_main]
        assert now == then


def belongs_to_main(message: Message) -> bool:
    is_task = str(message.get("subtype", "")).startswith(("task_", "background_"))
    return not (message.get("parent_tool_use_id") or is_task or message.get("request", {}).get("agent_id"))


def test_an_unknown_conversation_is_refused_as_the_real_one_refuses_it(tmp_path: Path) -> None:
    real = recorded("resume_unknown")
    unknown = "00000000-0000-4000-8000-000000000000"
    with FakeCli("--resume", unknown, env={"FAKE_CLI_SESSIONS": str(tmp_path)}, exit_code=1) as cli:
        result = cli.result()
    said = next(entry["msg"] for entry in real if entry["dir"] == "out")
    assert (shape(result), result["errors"]) == (shape(said), said["errors"])
    assert "No conversation found" in cli.stderr


def test_control_requests_are_answered_in_the_recorded_form() -> None:
    """Successes and refusals alike; what the answers hold is compared by their keys."""
    entries = recorded("controls")
    answers = [e["msg"]["response"] for e in entries if e["dir"] == "out" and e["msg"]["type"] == "control_response"]
    then = {answer["request_id"]: answer for answer in answers}
    with FakeCli() as cli:
        for message in [entry["msg"] for entry in entries if entry["dir"] == "in"]:
            request = dict(message["request"])
            answer, real = cli.ask(request.pop("subtype"), **request), then[message["request_id"]]
            assert [answer["subtype"], answer.get("error"), answer.get("error_code")] == [
                real["subtype"], real.get("error"), real.get("error_code"),
            ]  # fmt: skip
            assert set(answer.get("response", {})) <= set(real.get("response", {}))
