"""A host that breaks the protocol is told so at once, with an exit code and a sentence; one that keeps it never is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_cli import FakeCli, write_scenario
from tests.helpers.program import Message

PREVIEW = "```sql\nCREATE TABLE t(id int);\n```"
QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "Which database?",
        "header": "Database",
        "options": [{"label": "PostgreSQL", "preview": PREVIEW}, {"label": "SQLite"}],
        "multiSelect": False,
    },
    {
        "question": "Which parts?",
        "header": "Parts",
        "options": [{"label": "a, b"}, {"label": "a"}, {"label": "b"}],
        "multiSelect": True,
    },
]
ANSWERS = {"Which database?": "SQLite", "Which parts?": '"a, b", a'}
SUGGESTION = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
COMMAND = {"command": "ls", "description": "List"}
FORM: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "place": {"type": "string", "enum": ["here", "there"]},
        "sure": {"type": "boolean"},
    },
}


def host_message(content: Any, **extra: Any) -> Message:
    return {"type": "user", "message": {"role": "user", "content": content}, **extra}


@pytest.fixture
def cli() -> Iterator[FakeCli]:
    with FakeCli() as program:
        yield program


def asked(folder: Path, step: dict[str, Any], *flags: str) -> FakeCli:
    """A stand-in that has asked for what the step asks; afterwards it says what became of it."""
    cli = FakeCli(*flags, scenario=write_scenario(folder, [{**step, "as": "it"}, {"text": "it was ${it.decision}"}]))
    cli.initialize()
    cli.say("go")
    return cli


# Lines


@pytest.mark.parametrize("line", [b"garbage", b'{"type":"user"', b'{"type":"user","message":"\\ud83d"}', b"\xff\xfe{}"])
def test_a_malformed_line_ends_it_with_code_1_as_it_ends_the_real_one(cli: FakeCli, line: bytes) -> None:
    cli.send_bytes(line + b"\n")
    assert "Error parsing streaming input line" in cli.violation(exit_code=1)


def test_two_lines_that_got_mixed_are_a_malformed_line(cli: FakeCli) -> None:
    cli.send_bytes(b'{"type":"user","mess{"type":"keep_alive"}\nage":{"role":"user","content":"x"}}\n')
    assert "Error parsing" in cli.violation(exit_code=1)


@pytest.mark.parametrize("role", ["assistant", None])
def test_another_role_than_user_ends_it_with_the_real_ones_words(cli: FakeCli, role: str | None) -> None:
    cli.send({"type": "user", "message": {"role": role, "content": "x"}})
    expected = role or "undefined"
    assert cli.violation(exit_code=1) == f"Error: Expected message role 'user', got '{expected}'\n"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (["a list"], "no object"),
        ({"subtype": "interrupt"}, "without an envelope"),
        ({"type": "interrupt"}, "of an unknown type"),
        ({"type": "control_request", "request": {"subtype": "interrupt"}}, "needs a `request_id`"),
        ({"type": "control_request", "request_id": "1", "subtype": "interrupt"}, "needs a `request` object"),
        (host_message([]), "list of blocks that is not empty"),
        (host_message(None), "must be a string or a list"),
        (host_message([{"type": "tool_result"}]), "cannot hold a block of type 'tool_result'"),
        (host_message([{"type": "text"}]), "A text block lacks text"),
        (host_message([{"type": "image", "source": {"data": "x"}}]), "The source of an image"),
        (host_message("x", uuid="1"), "no UUID"),
        (host_message("x", client_composed="yes"), "`client_composed`"),
        (host_message("x", session_id=None), "`session_id`"),
    ],
)
def test_what_has_not_the_right_shape_is_refused(cli: FakeCli, message: Any, reason: str) -> None:
    cli.send(message)
    assert reason in cli.violation()


def test_a_uuid_may_be_used_once(cli: FakeCli) -> None:
    for _ in range(2):
        cli.say("x", uuid="67d8d549-0672-4c7a-80b3-4bdfbc1dc9eb")
    assert "the same uuid" in cli.violation()


# Replies


def test_a_request_id_beside_the_response_is_refused(tmp_path: Path) -> None:
    with asked(tmp_path, {"tool": "Bash", "input": COMMAND, "ask": True}) as cli:
        request = cli.next_request()
        body = {"behavior": "allow", "updatedInput": COMMAND}
        cli.send(
            {"type": "control_response", "request_id": request["request_id"],
             "response": {"subtype": "success", "response": body}}
        )  # fmt: skip
        assert "inside `response`, not beside it" in cli.violation()


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"allow": True}, "refused by every CLI since 2.0.71"),
        ({"behavior": "allow"}, "needs `updatedInput`"),
        ({"behavior": "allow", "updatedInput": {"command": "rm"}}, "not the input that was shown"),
        ({"behavior": "allow", "updatedInput": COMMAND, "updatedPermissions": [{"type": "setMode", "mode": "auto"}]},
         "never suggested"),
        ({"behavior": "deny"}, "needs a `message`"),
        ({"behavior": "deny", "message": ""}, "needs a `message`"),
        ({"behavior": "deny", "message": "x", "interrupt": 1}, "`interrupt` must be true or false"),
        ({"behavior": "ask"}, "`behavior` is allow or deny"),
    ],
)  # fmt: skip
def test_a_wrong_permission_result_is_refused(tmp_path: Path, response: dict[str, Any], reason: str) -> None:
    step = {"tool": "Bash", "input": COMMAND, "ask": {"permission_suggestions": [SUGGESTION]}}
    with asked(tmp_path, step) as cli:
        cli.reply(cli.next_request(), response)
        assert reason in cli.violation()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": {}}, "no answers at all"),
        ({}, "needs `answers`"),
        ({"answers": {"Which database? ": "SQLite"}}, "not the text of a question"),
        ({"answers": {"Which database?": ["SQLite"]}}, "must be a text"),
        ({"answers": {"Which database?": ""}}, "must be a text that is not empty"),
        ({"answers": ANSWERS, "questions": QUESTIONS[:1]}, "as they were received"),
        ({"answers": ANSWERS, "annotations": {"Other?": {"notes": "x"}}}, "annotation's key"),
        ({"answers": ANSWERS, "annotations": {"Which database?": {"preview": "x"}}}, "not the preview"),
        ({"answers": ANSWERS, "annotations": {"Which database?": {"unanswered": "skipped"}}}, "without an answer"),
    ],
)
def test_wrong_answers_to_questions_are_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with asked(tmp_path, {"question": QUESTIONS}) as cli:
        cli.allow(cli.next_request(), **changes)
        assert reason in cli.violation()


def test_skipping_is_announced_only_to_a_cli_that_knows_it(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, [{"question": QUESTIONS}], capabilities=[])
    with FakeCli(scenario=scenario) as cli:
        cli.say("go")
        annotations = {"Which parts?": {"unanswered": "skipped"}}
        cli.allow(cli.next_request(), answers={"Which database?": "SQLite"}, annotations=annotations)
        assert "does not announce" in cli.violation()


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"action": "ok"}, "accept, decline or cancel"),
        ({"action": "accept"}, "needs `content`"),
        ({"action": "accept", "content": {}}, "lacks the required field 'name'"),
        ({"action": "accept", "content": {"name": "x", "more": 1}}, "has not: 'more'"),
        ({"action": "accept", "content": {"name": 1}}, "must be of type string"),
        ({"action": "accept", "content": {"name": "x", "count": "1"}}, "must be of type integer"),
        ({"action": "accept", "content": {"name": "x", "count": True}}, "must be of type integer"),
        ({"action": "accept", "content": {"name": "x", "count": 10}}, "out of range"),
        ({"action": "accept", "content": {"name": "x", "place": "away"}}, "no offered choice"),
    ],
)
def test_a_form_that_does_not_fit_is_refused(tmp_path: Path, response: dict[str, Any], reason: str) -> None:
    with asked(tmp_path, {"elicitation": "Fill this in", "schema": FORM}) as cli:
        cli.reply(cli.next_request("elicitation"), response)
        assert reason in cli.violation()


def test_a_reply_to_a_request_that_was_never_made_is_refused(cli: FakeCli) -> None:
    cli.reply({"request_id": "nobody-asked"}, {"behavior": "deny", "message": "x"})
    assert "never made: 'nobody-asked'" in cli.violation()


def test_a_second_reply_to_the_same_request_is_refused(tmp_path: Path) -> None:
    with asked(tmp_path, {"tool": "Bash", "input": COMMAND, "ask": True}) as cli:
        request = cli.next_request()
        cli.allow(request)
        cli.allow(request)
        assert "answered twice" in cli.violation()


def test_a_late_answer_to_a_request_that_was_cancelled_is_ignored(tmp_path: Path) -> None:
    with asked(tmp_path, {"tool": "Bash", "input": COMMAND, "ask": True}) as cli:
        request = cli.next_request()
        cli.ask("interrupt")
        cli.allow(request)
        cli.result()
        cli.say("still there?")
        assert cli.result(1)["result"] == "echo: still there?"


# What is right


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"answers": ANSWERS}, "SQLite"),
        ({"answers": {"Which database?": "DuckDB, if possible"}}, "DuckDB, if possible"),
        ({"answers": {"Which parts?": "b"},
          "annotations": {"Which database?": {"unanswered": "skipped", "notes": "later"}}}, "b"),
        ({"answers": {"Which database?": "PostgreSQL"},
          "annotations": {"Which database?": {"preview": PREVIEW, "notes": "keep it small"}}}, "keep it small"),
    ],
)  # fmt: skip
def test_right_answers_reach_the_model(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with asked(tmp_path, {"question": QUESTIONS}) as cli:
        cli.allow(cli.next_request(), **changes)
        assert cli.result()["result"] == "it was answered"
        results = [m["message"]["content"][0]["content"] for m in cli.of_type("user")]
        assert told in results[0]


def test_labels_of_a_question_with_several_choices_can_be_told_apart(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, [{"question": QUESTIONS, "as": "q"}, {"text": "${q.labels.1}"}])
    with FakeCli(scenario=scenario) as cli:
        cli.say("go")
        cli.allow(cli.next_request(), answers=ANSWERS)
        assert cli.result()["result"] == "a, b; a"


@pytest.mark.parametrize(
    ("response", "decision"),
    [
        ({"behavior": "allow", "updatedInput": COMMAND}, "allowed"),
        ({"behavior": "allow", "updatedInput": COMMAND, "updatedPermissions": [SUGGESTION]}, "allowed"),
        ({"behavior": "deny", "message": "Explain first."}, "denied"),
    ],
)
def test_a_right_permission_result_is_taken(tmp_path: Path, response: dict[str, Any], decision: str) -> None:
    step = {"tool": "Bash", "input": COMMAND, "ask": {"permission_suggestions": [SUGGESTION]}}
    with asked(tmp_path, step) as cli:
        cli.reply(cli.next_request(), response)
        assert cli.result()["result"] == f"it was {decision}"


@pytest.mark.parametrize(
    ("response", "decision"),
    [
        ({"action": "accept", "content": {"name": "x", "count": 3, "place": "here", "sure": False}}, "accept"),
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
    ],
)
def test_a_right_form_is_taken(tmp_path: Path, response: dict[str, Any], decision: str) -> None:
    with asked(tmp_path, {"elicitation": "Fill this in", "schema": FORM}) as cli:
        cli.reply(cli.next_request("elicitation"), response)
        assert cli.result()["result"] == f"it was {decision}"


def test_a_host_may_refuse_a_request_with_an_error(tmp_path: Path) -> None:
    with asked(tmp_path, {"request": {"subtype": "hook_callback", "callback_id": "x"}}) as cli:
        request = cli.next_request("hook_callback")
        body = {"subtype": "error", "request_id": request["request_id"], "error": "not supported"}
        cli.send({"type": "control_response", "response": body})
        assert cli.result()["result"] == "it was error"


def test_a_plan_may_be_approved_into_another_mode(tmp_path: Path) -> None:
    with asked(tmp_path, {"plan": "# Plan"}, "--permission-mode", "plan") as cli:
        request = cli.next_request()
        assert request["request"]["input"] == {}
        cli.reply(request, {"behavior": "allow", "updatedInput": {}, "updatedPermissions": [SUGGESTION]})
        cli.result()
        assert cli.of_type("system", permissionMode="acceptEdits")


def test_lenient_puts_up_with_a_wrong_reply_as_the_real_one_does(tmp_path: Path) -> None:
    with asked(tmp_path, {"tool": "Bash", "input": COMMAND, "ask": True}, "--lenient") as cli:
        cli.reply(cli.next_request(), {"allow": True})
        assert cli.result()["result"] == "it was invalid"
