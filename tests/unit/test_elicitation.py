"""Elicitation: any flat schema becomes a form, and what is wrong with a field is said in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import permissions
from protocol.messages import Elicitation
from protocol.permissions import PROBLEM_TEMPLATES, FormField, check_field, elicitation_form

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "2.1.332" / "mcp_elicitation.jsonl"


def form(properties: Any, **fields: Any) -> permissions.ElicitationForm:
    schema = {"type": "object", "properties": properties, "required": fields.pop("required", [])}
    return elicitation_form(Elicitation.read({"mcp_server_name": "demo", "requested_schema": schema, **fields}))


def field(schema: Any, required: bool = False) -> FormField:
    [only] = form({"x": schema}, required=["x"] if required else []).fields
    return only


def value(schema: Any, given_value: Any, required: bool = False) -> Any:
    got, problem = check_field(field(schema, required), given_value)
    assert problem is None
    return got


def problem(schema: Any, given_value: Any, required: bool = False) -> str:
    got, sentence = check_field(field(schema, required), given_value)
    assert got is None
    assert sentence is not None
    assert sentence.words.template in PROBLEM_TEMPLATES
    assert str(sentence.words) == sentence
    return sentence


class TestRecording:
    def test_the_recorded_form_and_its_reply(self) -> None:
        entries = [json.loads(line) for line in RECORDING.read_bytes().split(b"\n") if line]
        request = next(
            e["msg"]["request"]
            for e in entries
            if b"elicitation" in json.dumps(e).encode()
            and e.get("msg", {}).get("type") == "control_request"
            and e["dir"] == "out"
            and e["msg"]["request"]["subtype"] == "elicitation"
        )
        reply = [e["msg"]["response"]["response"] for e in entries if e["dir"] == "in" and "response" in e["msg"]][-1]
        shown = elicitation_form(Elicitation.read(request))
        assert (shown.server, shown.message, shown.mode) == ("demo", "Please confirm deploy", "form")
        environment, confirm, replicas = shown.fields
        assert environment == FormField("environment", "Environment", "Where to deploy", "text", required=True)
        assert (confirm.kind, confirm.required) == ("boolean", True)
        assert (replicas.kind, replicas.minimum, replicas.maximum, replicas.default) == ("integer", 1, 9, 2)
        typed = {"environment": "prod", "confirm": True, "replicas": "3"}
        content = {f.name: check_field(f, typed[f.name])[0] for f in shown.fields}
        assert permissions.accept(content) == reply


class TestForms:
    def test_fields_come_in_the_order_the_server_gave_with_the_unnamed_ones_after(self) -> None:
        shown = form({"a": {"type": "string"}, "b": {}, "c": {}}, property_order=["c", "a", "ghost", "c"])
        assert [f.name for f in shown.fields] == ["c", "a", "b"]

    @pytest.mark.parametrize(
        ("schema", "kind", "choices"),
        [
            ({"type": "string"}, "text", ()),
            ({"type": ["string", "null"]}, "text", ()),
            ({"type": "string", "enum": ["a", "b"]}, "choice", (("a", "a"), ("b", "b"))),
            ({"enum": ["a", "b"], "enumNames": ["A", "B"]}, "choice", (("a", "A"), ("b", "B"))),
            ({"enum": ["a", "b"], "enumNames": ["A"]}, "choice", (("a", "a"), ("b", "b"))),
            ({"type": "integer", "enum": [1, 2]}, "choice", ((1, "1"), (2, "2"))),
            ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "choice", (("a", "A"), ("b", "b"))),
            ({"anyOf": [{"const": "a", "title": "A"}]}, "choice", (("a", "A"),)),
            ({"const": True}, "choice", ((True, "true"),)),
            ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, "choices", (("a", "a"),)),
            ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, "choices", (("a", "A"),)),
            ({"type": "array", "items": {"type": "string"}}, "json", ()),
            ({"type": "integer"}, "integer", ()),
            ({"type": "number"}, "number", ()),
            ({"type": "boolean"}, "boolean", ()),
            ({"type": "object", "properties": {}}, "json", ()),
            ({"type": "color"}, "json", ()),
            ({"oneOf": [{"type": "string"}]}, "json", ()),
            ({}, "json", ()),
            ("nonsense", "json", ()),
        ],
    )
    def test_every_schema_becomes_a_field_of_some_kind(self, schema: Any, kind: str, choices: Any) -> None:
        assert (field(schema).kind, field(schema).choices) == (kind, choices)

    def test_titles_limits_and_formats_are_kept(self) -> None:
        got = field(
            {
                "type": "string",
                "title": "T",
                "description": "D",
                "minLength": 1,
                "maxLength": 3,
                "default": "d",
                "format": "email",
                "pattern": "^a",
            }
        )
        assert got == FormField("x", "T", "D", "text", False, "d", (), None, None, 1, 3, "email", "^a")

    def test_a_url_request_has_no_fields(self) -> None:
        request = Elicitation.read({"mcp_server_name": "s", "message": "m", "mode": "url", "url": "https://x.example"})
        assert elicitation_form(request) == permissions.ElicitationForm("s", "m", "url", "https://x.example", ())

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda s: (
                st.lists(s)
                | st.dictionaries(
                    st.sampled_from(["type", "enum", "oneOf", "const", "items", "properties", "title", "minimum", "x"]),
                    s,
                )
            ),
            max_leaves=30,
        )
    )
    def test_no_schema_whatever_raises(self, schema: Any) -> None:
        shown = elicitation_form(
            Elicitation.read({"requested_schema": {"properties": {"x": schema}, "required": schema}})
        )
        assert [f.name for f in shown.fields] == ["x"]
        for typed in ("", "1", "true", "[1]", ["a"], True):
            check_field(shown.fields[0], typed)


class TestChecks:
    @pytest.mark.parametrize("empty", [None, "", "  "])
    def test_an_empty_field_is_left_out_unless_it_is_required(self, empty: Any) -> None:
        for kind in ("string", "integer", "boolean", "object"):
            assert value({"type": kind}, empty) is None
            assert problem({"type": kind}, empty, required=True) == "Please fill this in."

    def test_texts_keep_their_spaces_and_obey_their_limits(self) -> None:
        assert value({"type": "string"}, " a ") == " a "
        limits = {"type": "string", "minLength": 2, "maxLength": 3}
        assert value(limits, "漢字") == "漢字"
        assert problem(limits, "a") == "Please write at least 2 characters."
        assert problem(limits, "abcd") == "Please write at most 3 characters."

    @pytest.mark.parametrize(
        ("name", "good", "bad"),
        [
            ("email", ["a@b.example", "a@localhost"], ["a", "a@", "a b@c.d", "a@b@c"]),
            (
                "uri",
                ["https://x.example/a?b", "mailto:a@b.c", "file:///x"],
                ["x.example", "https://", "http://a b", "http://["],
            ),
            ("date", ["2026-12-31"], ["2026-13-01", "31.12.2026", "20261231", "2026-12-31T00:00:00Z", "2026-W01-1"]),
            (
                "date-time",
                ["2026-12-31T18:00:00Z", "2026-12-31t18:00:00+02:00"],
                ["2026-12-31", "2026-12-31T18:00", "now"],
            ),
            ("unheard-of", ["anything"], []),
        ],
    )
    def test_formats_are_checked(self, name: str, good: list[str], bad: list[str]) -> None:
        schema = {"type": "string", "format": name}
        for text in good:
            assert value(schema, text) == text
        for text in bad:
            assert problem(schema, text).startswith("Please write a")

    def test_a_pattern_is_checked_where_that_is_safe(self) -> None:
        assert value({"type": "string", "pattern": "^[a-z]+$"}, "abc") == "abc"
        assert "^[a-z]+$" in problem({"type": "string", "pattern": "^[a-z]+$"}, "ABC")

    @pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", r"(.)\1", "a*a*a*a*a*b", "[", "(?<n>x)"])
    def test_a_pattern_that_is_none_here_or_could_take_for_ever_is_left_to_the_server(self, pattern: str) -> None:
        assert value({"type": "string", "pattern": pattern}, "a" * 60) == "a" * 60

    @pytest.mark.parametrize(
        ("text", "number"), [("3", 3), (" -4 ", -4), ("3.0", 3), ("12345678901234567890", 12345678901234567890)]
    )
    def test_whole_numbers_are_exact(self, text: str, number: int) -> None:
        got = value({"type": "integer"}, text)
        assert got == number
        assert isinstance(got, int)

    @pytest.mark.parametrize(("text", "number"), [("3", 3), ("2.5", 2.5), ("1e3", 1000.0), (7, 7)])
    def test_numbers_are_read(self, text: Any, number: float) -> None:
        assert value({"type": "number"}, text) == number

    def test_numbers_obey_their_limits(self) -> None:
        limits = {"type": "integer", "minimum": 1, "maximum": 9}
        assert problem(limits, "0") == "Please write a number of at least 1."
        assert problem(limits, "10") == "Please write a number of at most 9."
        assert problem(limits, "2.5") == "Please write a whole number."

    @pytest.mark.parametrize("text", ["two", "nan", "inf", "1e999", True, "0x10", "1_000_x"])
    def test_what_is_no_number_is_said(self, text: Any) -> None:
        assert problem({"type": "number"}, text) == "Please write a number."

    def test_booleans_are_read(self) -> None:
        assert value({"type": "boolean"}, False, required=True) is False
        assert value({"type": "boolean"}, "True") is True
        assert problem({"type": "boolean"}, "perhaps") == "Please choose yes or no."

    def test_only_what_is_offered_can_be_chosen(self) -> None:
        assert value({"enum": [1, "1"]}, 1) == 1
        for stranger in ("c", True, 1.0):
            assert problem({"enum": [1, "1"]}, stranger) == "Please choose one of the values offered."

    def test_several_choices_obey_their_limits(self) -> None:
        schema = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}
        assert value(schema, ["a", "b"]) == ["a", "b"]
        assert value(schema, ("c",)) == ["c"]
        assert problem(schema, []) == "Please choose at least 1."
        assert problem(schema, ["a", "b", "c"]) == "Please choose at most 2."
        assert problem(schema, ["z"]) == "Please choose among the values offered."

    def test_choosing_nothing_is_an_empty_list_where_it_is_allowed(self) -> None:
        schema = {"type": "array", "items": {"enum": ["a"]}}
        assert value(schema, []) == []
        assert problem(schema, [], required=True) == "Please choose at least 1."

    def test_unknown_kinds_are_typed_as_json(self) -> None:
        assert value({"type": "object"}, '{"a": [1, null]}') == {"a": [1, None]}
        assert value({"type": "object"}, {"a": 1}) == {"a": 1}
        for text in ("{", "NaN", "1e999", "[-1e999]", "[" * 100_000):
            assert problem({"type": "object"}, text).startswith("Please write a JSON value")


class TestReplies:
    def test_accepted_content_leaves_out_what_was_not_given(self) -> None:
        assert permissions.accept({"a": 0, "b": None, "c": False}) == {
            "action": "accept",
            "content": {"a": 0, "c": False},
        }

    def test_a_visited_url_is_accepted_without_content(self) -> None:
        assert permissions.accept() == {"action": "accept"}

    def test_declining_and_cancelling_differ(self) -> None:
        assert (permissions.decline(), permissions.cancel_elicitation()) == (
            {"action": "decline"},
            {"action": "cancel"},
        )
