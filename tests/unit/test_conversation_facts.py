"""What the CLI tells about itself: models, modes, costs, limits of the context."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.cli_says import Talk, assistant, event, init, kinds, message_start, result, status, system, yes


class TestFacts:
    def test_the_newest_init_wins(self) -> None:
        talk = Talk()
        talk.cli(init(cwd="/a", permissionMode="default", tools=["Bash"], capabilities=["x"], slash_commands=["help"]))
        assert kinds(talk.changes) == ["info"]
        talk.cli(init(cwd="/a", permissionMode="plan", model="claude-y", claude_code_version="2.1.332"))
        known = talk.conversation
        assert (known.cwd, known.permission_mode, known.model, known.cli_version) == (
            "/a",
            "plan",
            "claude-y",
            "2.1.332",
        )
        assert (known.tools, known.capabilities) == (("Bash",), frozenset({"x"}))
        assert [command.name for command in known.commands] == ["help"]

    def test_nothing_new_is_no_change(self) -> None:
        talk = Talk()
        talk.cli(init(cwd="/a"))
        assert talk.cli(init(cwd="/a")) == []

    def test_a_mode_that_changes_in_mid_turn_is_known_at_once(self) -> None:
        talk = Talk()
        talk.begins()
        assert "info" in kinds(talk.cli(status(None, permissionMode="acceptEdits")))
        assert talk.conversation.permission_mode == "acceptEdits"

    def test_a_request_that_was_granted_has_its_effect_and_one_that_was_refused_has_none(self) -> None:
        talk = Talk()
        talk.cli(init(permissionMode="default"))
        mode = {"subtype": "set_permission_mode", "mode": "bypassPermissions"}
        talk.sends({"type": "control_request", "request_id": "q1", "request": mode})
        talk.cli({"type": "control_response", "response": {"subtype": "error", "request_id": "q1", "error": "no"}})
        assert talk.conversation.permission_mode == "default"
        talk.sends({"type": "control_request", "request_id": "q2", "request": {**mode, "mode": "plan"}})
        assert talk.conversation.permission_mode == "default"
        talk.cli(yes("q2", {"mode": "plan"}))
        assert talk.conversation.permission_mode == "plan"
        talk.sends(
            {"type": "control_request", "request_id": "q3", "request": {"subtype": "set_model", "model": "opus"}}
        )
        talk.cli(yes("q3"))
        assert talk.conversation.model == "opus"

    def test_an_answer_to_nothing_we_asked_is_ignored(self) -> None:
        assert Talk().cli(yes("stranger", {"mode": "plan"})) == []

    @pytest.mark.parametrize(
        ("request_", "reply", "fact", "value"),
        [
            ({"subtype": "rename_session", "title": "T"}, {}, "title", "T"),
            ({"subtype": "get_context_usage"}, {"totalTokens": 7}, "context_usage", {"totalTokens": 7}),
            ({"subtype": "mcp_status"}, {"mcpServers": [{"name": "demo"}, 3]}, "mcp_servers", ({"name": "demo"},)),
        ],
    )
    def test_replies_are_remembered(
        self, request_: dict[str, Any], reply: dict[str, Any], fact: str, value: Any
    ) -> None:
        talk = Talk()
        talk.sends({"type": "control_request", "request_id": "q", "request": request_})
        assert kinds(talk.cli(yes("q", reply))) == ["info"]
        assert getattr(talk.conversation, fact) == value

    def test_the_context_in_use_is_that_of_the_newest_request(self) -> None:
        talk = Talk()
        talk.cli(message_start(usage={"input_tokens": 10, "cache_read_input_tokens": 1000, "output_tokens": 1}))
        talk.cli(event("message_delta", usage={"output_tokens": 50}))
        assert talk.conversation.context_tokens == 1060
        talk.cli(message_start("m9", parent="agent", usage={"input_tokens": 9}))
        assert talk.conversation.context_tokens == 1060
        talk.cli(message_start("m2", usage={"input_tokens": 20}))
        assert talk.conversation.context_tokens == 20

    def test_what_the_cli_itself_says_uses_no_context(self) -> None:
        talk = Talk()
        talk.cli(message_start(usage={"input_tokens": 10}))
        synthetic = assistant("Total cost: …")
        synthetic["message"] |= {"model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}
        talk.cli(synthetic)
        assert talk.conversation.context_tokens == 10

    def test_the_context_window_is_that_of_the_sessions_model(self) -> None:
        talk = Talk()
        talk.cli(init(model="claude-x"))
        haiku = {"contextWindow": 200_000, "inputTokens": 9999}
        talk.cli(result(modelUsage={"haiku": haiku, "claude-x": {"contextWindow": 1_000_000, "inputTokens": 1}}))
        assert talk.conversation.context_window == 1_000_000

    def test_the_window_of_the_model_that_read_most_stands_in_for_an_unknown_name(self) -> None:
        talk = Talk()
        talk.cli(init(model="claude-x[1m]"))
        haiku = {"contextWindow": 200_000, "inputTokens": 9}
        talk.cli(
            result(modelUsage={"haiku": haiku, "claude-x": {"contextWindow": 1_000_000, "cacheReadInputTokens": 10}})
        )
        assert talk.conversation.context_window == 1_000_000

    def test_a_suggestion_is_there_until_the_user_says_something(self) -> None:
        talk = Talk()
        talk.cli({"type": "prompt_suggestion", "suggestion": "Write tests"})
        assert talk.conversation.suggestion == "Write tests"
        talk.user()
        assert talk.conversation.suggestion == ""

    def test_a_title_that_changes_is_known(self) -> None:
        talk = Talk()
        assert kinds(talk.cli(system("session_title_changed", title="Fix the build"))) == ["info"]
        assert talk.conversation.title == "Fix the build"
