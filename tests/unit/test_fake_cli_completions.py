"""The stand-in as the CLI of the endpoint: what a handshake may ask for, and a conversation without tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_cli import FakeCli, write_scenario

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 18},
        "kind": {"enum": ["cat", "dog"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "known": {"type": ["boolean", "null"]},
    },
    "required": ["name", "age", "kind", "tags", "known"],
}


def init_tools(*flags: str, **handshake: Any) -> list[str]:
    with FakeCli(*flags) as cli:
        cli.initialize(**handshake)
        cli.say("hi")
        tools: list[str] = cli.wait_for(lambda m: m.get("subtype") == "init")["tools"]
        cli.result()
    return tools


def test_tools_can_be_left_out_or_chosen() -> None:
    assert init_tools("--tools", "", "--setting-sources", "") == []
    assert init_tools("--tools", "Bash,Read") == ["Bash", "Read"]
    assert "AskUserQuestion" in init_tools("--tools", "default")


@pytest.mark.parametrize(
    ("field", "value"),
    [("systemPrompt", 5), ("systemPrompt", ["a", 5]), ("appendSystemPrompt", None), ("jsonSchema", "x")],
)
def test_a_handshake_with_a_field_of_a_wrong_type_is_refused(field: str, value: Any) -> None:
    with FakeCli() as cli:
        cli.request("initialize", hooks=None, **{field: value})
        assert f"`{field}` of initialize must be" in cli.violation()


def test_what_the_model_was_told_can_be_told_again(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, [{"text": "${model}, ${effort}, ${system}"}])
    with FakeCli(scenario=scenario) as cli:
        cli.initialize(systemPrompt="You are a parrot.")
        assert cli.ask("set_model", model="haiku")["subtype"] == "success"
        assert cli.ask("apply_flag_settings", settings={"effortLevel": "max"})["subtype"] == "success"
        assert cli.ask("apply_flag_settings", settings={"effortLevel": "much"})["subtype"] == "success"
        assert cli.ask("apply_flag_settings", settings="max")["error"].endswith("to be an object, got string")
        cli.say("hi")
        assert cli.result()["result"] == "claude-haiku-5-5, max, You are a parrot."


def test_an_answer_keeps_to_the_schema_of_the_handshake() -> None:
    with FakeCli() as cli:
        cli.initialize(jsonSchema=SCHEMA)
        cli.say("hi")
        result = cli.result()
    expected = {"name": "echo: hi", "age": 18, "kind": "cat", "tags": ["echo: hi"], "known": True}
    assert result["structured_output"] == expected
    assert json.loads(result["result"]) == expected
    assert (result["stop_reason"], result["is_error"]) == ("tool_use", False)
    uses = [block for m in cli.of_type("assistant") for block in m["message"]["content"] if block["type"] == "tool_use"]
    assert [(use["name"], use["input"]) for use in uses] == [("StructuredOutput", expected)]


def test_a_scenario_names_the_value_or_none(tmp_path: Path) -> None:
    turns = [[{"result": {"structured_output": value}}] for value in ({"name": "Ada"}, None)]
    with FakeCli(scenario=write_scenario(tmp_path, *turns)) as cli:
        cli.initialize(jsonSchema=SCHEMA)
        for number, value in enumerate(({"name": "Ada"}, None)):
            cli.say("hi")
            assert cli.result(number)["structured_output"] == value


def test_a_schema_that_is_none_is_passed_over_in_silence_as_the_real_one_does() -> None:
    assert "StructuredOutput" in init_tools(jsonSchema=SCHEMA)
    assert "StructuredOutput" not in init_tools(jsonSchema={"type": "wat"})
    assert "StructuredOutput" not in init_tools(jsonSchema={"properties": {"name": {"type": "wat"}}})


def test_versions_before_2_1_248_run_commands_also_in_composed_messages() -> None:
    with FakeCli("--fake-version", "2.1.197") as cli:
        assert "claude_code_version" not in cli.initialize()
        cli.say("/cost", client_composed=True)
        assert cli.result()["local_command"] == "cost"
