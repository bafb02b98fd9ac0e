"""The bundled demo: it shows every dialog, whatever the person answers, and says the same in every language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_cli import ROOT, FakeCli
from tests.helpers.program import Message

DEMOS = sorted((ROOT / "resources" / "demo").glob("*.json"))
Person = Callable[[Message], Message | None]
DIALOGS = {"AskUserQuestion", "Edit", "Bash", "ExitPlanMode", "elicitation"}


def what_is_asked(request: Message) -> str:
    return str(request["request"].get("tool_name") or request["request"]["subtype"])


def agreeing(request: Message) -> Message:
    """Takes the first choice of everything and fills in the form."""
    asked = request["request"]
    if asked["subtype"] == "elicitation":
        content = {"name": "ledger", "environment": "staging", "connections": 5, "backups": True, "from": "2027-01-01"}
        return {"action": "accept", "content": content}
    shown = dict(asked["input"])
    if asked["tool_name"] == "AskUserQuestion":
        shown["answers"] = {item["question"]: chosen(item) for item in shown["questions"]}
    return {"behavior": "allow", "updatedInput": shown}


def chosen(question: Message) -> str:
    labels = [option["label"] for option in question["options"]]
    if not question["multiSelect"]:
        return str(labels[0])
    return ", ".join(json.dumps(label, ensure_ascii=False) if ", " in label else label for label in labels[:2])


def always(request: Message) -> Message:
    """Agrees, and takes whatever "always" is offered; plans are approved with edits allowed."""
    response = agreeing(request)
    suggestions = request["request"].get("permission_suggestions", [])
    if request["request"].get("tool_name") == "ExitPlanMode":
        suggestions = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    return {**response, "updatedPermissions": suggestions} if suggestions else response


def refusing(request: Message) -> Message:
    if request["request"]["subtype"] == "elicitation":
        return {"action": "decline"}
    return {"behavior": "deny", "message": "I would rather not."}


def closing(request: Message) -> Message:
    if request["request"]["subtype"] == "elicitation":
        return {"action": "cancel"}
    return {"behavior": "deny", "message": "The user closed the card without an answer."}


def stopping(request: Message) -> Message:
    """Denies and stops the turn with it."""
    if request["request"]["subtype"] == "elicitation":
        return {"action": "cancel"}
    return {"behavior": "deny", "message": "Stop.", "interrupt": True}


def play(demo: Path, person: Person, *flags: str) -> FakeCli:
    """Goes through the whole demo: three messages and one more. A person who returns None presses Stop."""
    with FakeCli(*flags, scenario=demo) as cli:
        cli.initialize(promptSuggestions=True)
        seen = 0
        for turn in range(4):
            cli.say(f"message {turn}")
            while len(cli.of_type("result")) <= turn:
                wait_for_more(cli, requests=seen, results=turn)
                for request in asked(cli)[seen:]:
                    seen += 1
                    response = person(request)
                    if response is None:
                        cli.ask("interrupt")
                    else:
                        cli.reply(request, response)
    return cli


def wait_for_more(cli: FakeCli, *, requests: int, results: int) -> None:
    cli.wait_until(lambda: len(asked(cli)) > requests or len(cli.of_type("result")) > results)


def asked(cli: FakeCli) -> list[Message]:
    return cli.of_type("control_request")


@pytest.fixture(params=DEMOS, ids=lambda path: path.name)
def demo(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_there_is_a_demo_in_both_languages() -> None:
    assert [path.name for path in DEMOS] == ["demo.json", "demo.zh_TW.json"]


def test_it_shows_every_dialog_to_a_person_who_agrees(demo: Path) -> None:
    cli = play(demo, agreeing)
    assert {what_is_asked(request) for request in asked(cli)} == DIALOGS
    assert [request for request in asked(cli) if request["request"].get("agent_id")], "a subagent asks as well"
    assert [result["is_error"] for result in cli.of_type("result")] == [False] * 4


def test_it_streams_thinking_a_table_code_and_a_list_and_tells_of_a_retry(demo: Path) -> None:
    cli = play(demo, agreeing)
    text = "".join(cli.texts(parent_tool_use_id=None))
    assert all(mark in text for mark in ("|---|", "```python", "- [ ] ", "> ", "**"))
    assert cli.of_type("system", subtype="api_retry")
    assert cli.of_type("system", subtype="session_title_changed")
    assert cli.of_type("prompt_suggestion")
    assert "thinking" in {m["message"]["content"][0]["type"] for m in cli.of_type("assistant")}
    assert text == cli.streamed()


def test_it_asks_the_first_time_for_two_decisions_with_previews_and_a_label_with_a_comma(demo: Path) -> None:
    questions = asked(play(demo, agreeing))[0]["request"]["input"]["questions"]
    single, several = questions
    assert (single["multiSelect"], several["multiSelect"]) == (False, True)
    assert all(option["preview"].startswith("```sql") for option in single["options"])
    assert any(", " in option["label"] for option in several["options"])


def test_the_form_has_a_text_a_choice_a_number_a_yes_or_no_and_a_date(demo: Path) -> None:
    form = next(r["request"] for r in asked(play(demo, agreeing)) if what_is_asked(r) == "elicitation")
    fields = form["requested_schema"]["properties"]
    kinds = {(field["type"], field.get("format"), "enum" in field) for field in fields.values()}
    assert kinds == {("string", None, False), ("string", None, True), ("integer", None, False),
                     ("boolean", None, False), ("string", "date", False)}  # fmt: skip
    assert form["property_order"] == list(fields)


@pytest.mark.parametrize("person", [always, refusing, closing, stopping, lambda _: None],
                         ids=["always", "refusing", "closing", "denying and stopping", "pressing stop"])  # fmt: skip
def test_it_goes_on_whatever_is_answered(demo: Path, person: Person) -> None:
    cli = play(demo, person)
    assert len(cli.of_type("result")) == 4
    assert "message 3" in cli.texts()[-1], "after the end it repeats what is said"
    assert not re.search(r"\$\{|\bNone\b|\{'", "\n".join(cli.texts())), "nothing is left unfilled"


@pytest.mark.parametrize("mode", ["acceptEdits", "plan", "auto", "dontAsk"])
def test_it_goes_on_in_every_mode(demo: Path, mode: str) -> None:
    cli = play(demo, agreeing, "--permission-mode", mode)
    assert len(cli.of_type("result")) == 4


def test_it_sums_up_what_was_decided() -> None:
    cli = play(DEMOS[0], agreeing)
    summary = next(text for text in cli.texts() if "What we decided" in text)
    assert "| Database | PostgreSQL |" in summary
    assert "| First step | Entries, balances; Monthly reports |" in summary
    assert "| New database | ledger in staging |" in summary


def test_it_repeats_a_reason_that_was_given() -> None:
    assert "I would rather not." in "\n".join(play(DEMOS[0], refusing).texts())


def test_the_translation_has_the_same_steps() -> None:
    english, chinese = (json.loads(path.read_text(encoding="utf-8")) for path in DEMOS)
    assert list(skeleton(chinese)) == list(skeleton(english))


def skeleton(value: Any, key: str = "") -> Iterator[str]:
    """Everything but the words: keys, numbers, code, references to outcomes."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{key}/{name}"
            yield from skeleton(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from skeleton(inner, key)
    elif isinstance(value, str):
        yield from (reference.split("|")[0] for reference in re.findall(r"\$\{([^}]*)\}", value))
    else:
        yield repr(value)
