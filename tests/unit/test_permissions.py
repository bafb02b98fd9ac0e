"""Permission requests: the words say what the raw object does, and decisions have the form every CLI accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import permissions
from protocol.messages import CanUseTool, parse_message
from protocol.messages.control import ControlRequest
from protocol.permissions import TEMPLATES, describe_update, make_visible

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
PATHS = sorted(RECORDINGS.glob("*/*.jsonl"))


def exchanges(name: str) -> list[tuple[str, CanUseTool, dict[str, Any]]]:
    """(version, request, result the host sent) of every permission request in the recordings of that name."""
    found = []
    for path in RECORDINGS.glob(f"*/{name}.jsonl"):
        entries = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        requests = {
            e["msg"]["request_id"]: parse_message(e["msg"])
            for e in entries
            if e["dir"] == "out" and e["msg"].get("type") == "control_request"
        }
        for entry in entries:
            if entry["dir"] == "in" and entry["msg"].get("type") == "control_response":
                response = entry["msg"]["response"]
                message = requests[response["request_id"]]
                assert isinstance(message, ControlRequest)
                if isinstance(message.request, CanUseTool):
                    found.append((path.parent.name, message.request, response["response"]))
    assert found
    return found


def rules(
    *values: Any, kind: str = "addRules", behavior: str = "allow", destination: str = "session"
) -> dict[str, Any]:
    return {"type": kind, "rules": list(values), "behavior": behavior, "destination": destination}


def rule(tool: str, content: str | None = None) -> dict[str, str]:
    return {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content}


def request_with(*suggestions: Any, **fields: Any) -> CanUseTool:
    return CanUseTool.read({"tool_name": "Bash", "input": {}, "permission_suggestions": list(suggestions), **fields})


class TestDecisionsInRecordings:
    def test_allow_once_is_what_the_recorded_hosts_sent(self) -> None:
        for _, request, result in exchanges("bash_allow"):
            assert permissions.allow(request.input) == result

    def test_deny_is_what_the_recorded_hosts_sent(self) -> None:
        for _, _, result in exchanges("bash_deny"):
            assert permissions.deny("Not now, please explain first.") == result

    def test_deny_and_stop_is_what_the_recorded_hosts_sent(self) -> None:
        for _, _, result in exchanges("bash_deny_interrupt"):
            assert permissions.deny("Stop.", interrupt=True) == result

    def test_always_is_the_clis_own_suggestion_verbatim(self) -> None:
        for _, request, result in exchanges("write_always_allow"):
            [offer] = permissions.suggestions(request)
            assert permissions.allow(request.input, [offer.raw]) == result

    def test_an_approved_plan_is_what_the_recorded_hosts_sent(self) -> None:
        for version, request, result in exchanges("plan_approved"):
            assert permissions.approve_plan(request.input) == result, version

    def test_keep_planning_is_what_the_recorded_hosts_sent(self) -> None:
        for _, _, result in exchanges("plan_rejected"):
            assert permissions.keep_planning("Add tests to the plan.") == result

    def test_every_suggestion_ever_recorded_has_words_of_its_own(self) -> None:
        words = set()
        for name in ("bash_allow", "write_always_allow", "subagent_permission"):
            for _, request, _ in exchanges(name):
                words |= {str(offer.words) for offer in permissions.suggestions(request)}
        assert words == {
            "Always allow “Bash(touch /home/user/zzz && echo hello)” in this project, for you"
            " (saved in .claude/settings.local.json)",
            "Always allow “Bash(touch /home/user/project/sub.txt)” in this project, for you"
            " (saved in .claude/settings.local.json)",
            "Add “/home/user” to the working folders until this conversation is closed",
            "Add “/home/user/project” to the working folders until this conversation is closed",
            "Stop asking before file edits and simple file commands in this conversation (“accept edits” mode)",
        }


class TestDecisions:
    def test_an_allow_always_carries_the_input_that_was_shown(self) -> None:
        assert permissions.allow({}) == {"behavior": "allow", "updatedInput": {}}

    @pytest.mark.parametrize("message", ["", " \n"])
    def test_a_deny_always_carries_a_message(self, message: str) -> None:
        assert permissions.deny(message)["message"].strip()
        assert permissions.keep_planning(message)["message"].strip()

    def test_an_approved_plan_can_pick_the_mode_for_this_session(self) -> None:
        result = permissions.approve_plan({"plan": "p"}, "acceptEdits")
        assert result["updatedPermissions"] == [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
        assert result["updatedInput"] == {"plan": "p"}


class TestPlanText:
    def test_the_plan_is_found_wherever_a_cli_puts_it(self) -> None:
        files = {"/plans/a.md": "from the file"}
        assert permissions.plan_text({"plan": "# P"}, {"plan": "other"}, files.get) == "# P"
        assert permissions.plan_text({"planFilePath": "/plans/a.md"}, {}, files.get) == "from the file"
        assert permissions.plan_text({}, {"plan": "from the block"}, files.get) == "from the block"
        assert permissions.plan_text({}, {"planFilePath": "/plans/a.md"}, files.get) == "from the file"

    def test_an_unreadable_file_falls_through_to_the_next_place(self) -> None:
        assert permissions.plan_text({"planFilePath": "/gone"}, {"plan": "block"}) == "block"

    @pytest.mark.parametrize("value", [{}, {"plan": ""}, {"plan": 3}, {"planFilePath": None}])
    def test_no_plan_at_all_is_an_empty_text(self, value: dict[str, Any]) -> None:
        assert permissions.plan_text(value) == ""


class TestSuggestions:
    def test_each_suggestion_is_offered_separately_and_echoed_verbatim(self) -> None:
        raws = [rules(rule("Bash", "ls")), {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
        offers = permissions.suggestions(request_with(*raws))
        assert [offer.raw for offer in offers] == raws
        assert len({str(offer.words) for offer in offers}) == 2

    def test_nothing_is_offered_where_the_cli_says_so(self) -> None:
        assert permissions.suggestions(request_with(rules(rule("Bash", "ls")), suppress_always_allow_rule=True)) == ()

    @pytest.mark.parametrize(
        ("destination", "scope"),
        [
            ("session", "until this conversation is closed"),
            ("cliArg", "until this conversation is closed"),
            ("localSettings", "in this project, for you (saved in .claude/settings.local.json)"),
            ("projectSettings", "in this project, for everyone in it (saved in .claude/settings.json)"),
            ("userSettings", "in all your projects (saved in your user settings)"),
        ],
    )
    def test_the_words_name_how_far_and_how_long_a_rule_reaches(self, destination: str, scope: str) -> None:
        def words(*values: Any) -> str:
            return str(describe_update(rules(*values, destination=destination)))

        assert words(rule("Bash", "npm test")) == f"Always allow “Bash(npm test)” {scope}"
        assert words(rule("Bash", "npm run:*")) == f"Always allow commands that start with “npm run” {scope}"
        assert words(rule("WebSearch")) == f"Always allow every use of “WebSearch” {scope}"
        assert words(rule("WebSearch", "")) == f"Always allow every use of “WebSearch” {scope}"

    def test_several_rules_are_all_named_and_a_whole_tool_among_them_shows(self) -> None:
        words = describe_update(rules(rule("Bash", "ls"), rule("Bash", "git:*"), rule("Read")))
        assert words.values["rule"] == "Bash(ls), Bash(git:*), Read(*)"

    def test_several_directories_are_all_named(self) -> None:
        raw = {"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"}
        assert str(describe_update(raw)) == "Add “/a, /b” to the working folders until this conversation is closed"

    @pytest.mark.parametrize(
        ("raw", "sentence"),
        [
            (
                rules(rule("Bash", "rm"), behavior="deny", destination="localSettings"),
                "Always refuse “Bash(rm)” (saved in .claude/settings.local.json)",
            ),
            (
                rules(rule("Bash", "rm"), behavior="ask"),
                "Always ask about “Bash(rm)” until this conversation is closed",
            ),
            (
                rules(rule("Bash", "rm"), kind="replaceRules", destination="projectSettings"),
                "Always allow “Bash(rm)”, in place of everything allowed so far in .claude/settings.json",
            ),
            (
                rules(rule("Bash"), kind="removeRules", behavior="deny", destination="userSettings"),
                "No longer always refuse “Bash” (taken out of ~/.claude/settings.json)",
            ),
            (
                {"type": "removeDirectories", "directories": ["/a"], "destination": "session"},
                "Take “/a” out of the working folders of this conversation",
            ),
            (
                {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
                "Allow everything without asking in this conversation (“bypass permissions” mode)",
            ),
            (
                {"type": "setMode", "mode": "plan", "destination": "localSettings"},
                "Only read and plan (“plan” mode, saved in .claude/settings.local.json)",
            ),
            (
                {"type": "setMode", "mode": "futureMode", "destination": "session"},
                "Switch this conversation to the permission mode “futureMode”",
            ),
        ],
    )
    def test_every_kind_has_its_words(self, raw: dict[str, Any], sentence: str) -> None:
        assert str(describe_update(raw)) == sentence

    @pytest.mark.parametrize(
        "raw",
        [
            {},
            {"type": "grantEverything", "destination": "session"},
            {"type": ["addRules"], "destination": "session"},
            {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"},
            {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "cloud"},
            rules(),
            rules("Bash"),
            rules(rule("Bash"), {"toolName": 3}),
            rules(rule("Bash"), behavior="allowForever"),
            {**rules(rule("Bash", "ls")), "alsoFor": "everyone"},
            {"type": "setMode", "destination": "session"},
            {"type": "addDirectories", "directories": [3], "destination": "session"},
        ],
    )
    def test_what_is_not_understood_to_its_last_key_is_shown_as_it_is(self, raw: dict[str, Any]) -> None:
        words = describe_update(raw)
        assert words.template == TEMPLATES[-1]
        assert json.loads(words.values["json"]) == raw

    def test_hidden_characters_in_a_rule_show(self) -> None:
        words = describe_update(rules(rule("Bash", "ls \u202egnp.sh")))
        assert "ls ⟨U+202E⟩gnp.sh" in str(words)

    def test_all_templates_are_listed_for_translators_and_none_twice(self) -> None:
        assert len(set(TEMPLATES)) == len(TEMPLATES)
        for path in PATHS:
            for line in path.read_bytes().split(b"\n"):
                if b"permission_suggestions" in line:
                    request = json.loads(line)["msg"].get("request", {})
                    for raw in request.get("permission_suggestions", []):
                        assert describe_update(raw).template in TEMPLATES

    def test_braces_in_values_are_plain_text(self) -> None:
        assert "Bash(echo {rule} {0})" in str(describe_update(rules(rule("Bash", "echo {rule} {0}"))))


class TestHiddenCharacters:
    @pytest.mark.parametrize(
        "character",
        [
            *"\u202a\u202e\u2066\u2069\u200e\u200f\u061c",
            *"\u200b\u200c\u200d\u2060\ufeff\u00ad",
            *"\x1b\x07\x00\x7f\x9b",
            *"\u2028\u2029\u0085\u3164\u2800",
            "\U000e0041",
            "\ud83d",
            "\ufe00",
        ],
        ids=lambda c: f"U+{ord(c):04X}",
    )
    def test_each_is_shown_by_its_code(self, character: str) -> None:
        assert permissions.hidden_characters(f"a{character}b")
        assert make_visible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"

    def test_ordinary_text_in_any_script_is_left_alone(self) -> None:
        text = "ls -l\n\tgrün 漢字\u3000かな עברית 😀 ❤\ufe0f 1\ufe0f\u20e3 e\u0301\r\n"
        assert not permissions.hidden_characters(text)
        assert make_visible(text) == text

    def test_joiners_stay_where_they_shape_what_is_seen_and_show_elsewhere(self) -> None:
        for text in ("👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष"):
            assert make_visible(text) == text
        assert make_visible("rm\u200d -rf 👨\u200d") == "rm⟨U+200D⟩ -rf 👨⟨U+200D⟩"

    def test_an_escape_sequence_shows_its_beginning(self) -> None:
        assert make_visible("rm -rf /\x1b[2K\rls") == "rm -rf /⟨U+001B⟩[2K⟨U+000D⟩ls"

    def test_emoji_switches_without_an_emoji_show(self) -> None:
        assert make_visible("rm\ufe0f x") == "rm⟨U+FE0F⟩ x"
        assert make_visible("❤\ufe0f\ufe0f") == "❤\ufe0f⟨U+FE0F⟩"

    @given(st.text())
    def test_nothing_hidden_remains_and_nothing_visible_changes(self, text: str) -> None:
        shown = make_visible(text)
        assert not permissions.hidden_characters(shown)
        assert (shown == text) is not permissions.hidden_characters(text)
