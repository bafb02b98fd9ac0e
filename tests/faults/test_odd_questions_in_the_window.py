"""Questions as models and foreign CLIs put them: each is a dialog that can be answered, or refused in words.

The stand-in is strict where the form is the documented one; where it is not (`raw`), what it got is looked at.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel

from protocol.conversation import ToolItem
from tests.helpers.desk import texts
from tests.helpers.lies import goes_on
from tests.helpers.sitting import Sitting

Wire = dict[str, Any]


def asks(sitting: Sitting, tool_input: Wire) -> None:
    """The next message makes Claude ask with this input, whatever it is, and tell what it was answered."""
    step = {"question": [], "raw": tool_input, "as": "asked"}
    told = {"choose": "asked.decision", "cases": {"denied": [{"text": "no: ${asked.message}"}], "*": [{"text": "yes"}]}}
    sitting.desk.stand_in([step, told])


def answers(sitting: Sitting) -> Any:
    """What was sent for the questions, by their texts."""
    tool = next(item for item in sitting.opened.conversation.items if isinstance(item, ToolItem))
    return dict(tool.chosen)


async def send_answers(sitting: Sitting) -> None:
    """Through the review, which wants to be read first, and away."""
    await sitting.person.click_when_read("submitAnswers")
    if sitting.person.is_seen("questionDialog"):
        await sitting.person.click_when_read("submitAnswers")
    await sitting.person.sees_no_more("questionDialog")


def option(label: Any, **fields: Any) -> Wire:
    return {"label": label, **fields}


@pytest.mark.parametrize(
    ("questions", "click", "answer"),
    [
        ([{"question": "Q?", "options": ["A", "B"]}], "option_0_1", {"Q?": "B"}),
        ([{"question": "Q?", "options": [option(f"L{n}") for n in range(9)]}], "option_0_8", {"Q?": "L8"}),
        ([{"question": "Q?", "options": [option("only")]}], "option_0_0", {"Q?": "only"}),
        (json.dumps([{"question": "Q?", "options": ["A", "B"]}]), "option_0_0", {"Q?": "A"}),
        ({"question": "Q?", "options": ["A", "B"]}, "option_0_0", {"Q?": "A"}),
        ([{"question": "Q?", "header": "h" * 44, "options": [option("<b>A</b> & <i>", description="<img src=x>")]}],
         "option_0_0", {"Q?": "<b>A</b> & <i>"}),
        ([{"question": "<h1>Q?</h1>", "options": [option("Other"), option("x")]}], "option_0_0",
         {"<h1>Q?</h1>": "Other"}),
        ([{"question": "Q?", "header": 7, "multiSelect": "true", "options": [option("a, b"), option("a")]}],
         "option_0_0", {"Q?": "a, b"}),
        ([{"question": "Q?", "options": [option("same"), option("same")]}], "option_0_1", {"Q?": "same"}),
        ([{"question": "Q" * 100_000, "options": [option("L" * 100_000, description="D" * 100_000)]}], "option_0_0",
         {"Q" * 100_000: "L" * 100_000}),
        ([{"question": "Q?", "options": [option("A", preview="![x](file:///etc/passwd)\n<script>" + "p" * 100_000),
                                         option("B", preview=5)]}], "option_0_0", {"Q?": "A"}),
        ([{"question": "Q?", "options": [{"description": "no label"}, 5, None]}], "option_0_0", {"Q?": "no label"}),
    ],
    ids=["bare strings", "nine options", "one option", "json text", "no list", "long header and html", "other", "comma",
         "same labels", "long texts", "previews", "no label"],
)  # fmt: skip
def test_are_shown_and_answered_by_a_click(sitting: Sitting, questions: Any, click: str, answer: Wire) -> None:
    asks(sitting, {"questions": questions})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        await sitting.reacts(0.1, longest=1.5)
        await sitting.person.click_when_read(click)
        await send_answers(sitting)
        await sitting.until(lambda: texts(sitting.opened) == ["yes"], "Claude has heard it")
        assert answers(sitting) == answer
        await goes_on(sitting)

    sitting.play(story)


@pytest.mark.parametrize("options", [[], None, "no list", {}], ids=repr)
def test_without_options_are_answered_in_free_text(sitting: Sitting, options: Any) -> None:
    asks(sitting, {"questions": [{"question": "Which port?", "options": options}]})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.write("otherText_0", "8080")
        await send_answers(sitting)
        await sitting.until(lambda: texts(sitting.opened) == ["yes"], "Claude has heard it")
        assert answers(sitting) == {"Which port?": "8080"}

    sitting.play(story)


@pytest.mark.parametrize(
    ("tool_input", "why"),
    [
        ({"questions": []}, "the list of questions is empty"),
        ({}, "`questions` was missing"),
        ({"questions": "What now?"}, "`questions` was a text"),
        ({"questions": 5}, "`questions` was a number"),
        ({"questions": [None]}, "Question 1 must be an object"),
        ({"questions": [{"question": " ", "options": ["A"]}]}, "Question 1 has no text"),
        ({"questions": [{"question": "Same?"}, {"question": "Same?"}]}, "Two questions have the same text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_that_nobody_could_answer_are_refused_and_claude_is_told_why(
    sitting: Sitting, tool_input: Wire, why: str
) -> None:
    asks(sitting, tool_input or {"x": 1})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("unknownDialog")
        assert why in sitting.person.visible_text()
        await sitting.person.click_when_read("refuse")
        await sitting.until(lambda: texts(sitting.opened), "Claude has heard it")
        assert why in texts(sitting.opened)[0]
        await goes_on(sitting)

    sitting.play(story)


def test_twelve_questions_are_asked_one_after_the_other(sitting: Sitting) -> None:
    asks(sitting, {"questions": [{"question": f"Q{n}?", "header": f"H{n}", "options": ["A", "B"]} for n in range(12)]})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        for number in range(12):
            await sitting.person.click(f"option_{number}_1")
            await sitting.person.keys(Qt.Key.Key_Return)
        await sitting.person.click_when_read("submitAnswers")
        await sitting.until(lambda: texts(sitting.opened) == ["yes"], "Claude has heard it")
        assert answers(sitting) == {f"Q{n}?": "B" for n in range(12)}

    sitting.play(story)


def test_a_thousand_options_scroll_and_the_last_can_be_chosen(sitting: Sitting) -> None:
    asks(sitting, {"questions": [{"question": "Q?", "options": [f"L{n}" for n in range(1000)]}]})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        await sitting.reacts(0.3, longest=2.0)
        await sitting.person.click_when_read("option_0_999")
        await send_answers(sitting)
        await sitting.until(lambda: texts(sitting.opened) == ["yes"], "Claude has heard it")
        assert answers(sitting) == {"Q?": "L999"}

    sitting.play(story)


def test_no_text_of_theirs_is_ever_read_as_html(sitting: Sitting) -> None:
    html = "<b>bold</b> <a href='https://evil.example'>x</a> &amp;"
    fields = {"description": html, "preview": html}
    asks(sitting, {"questions": [{"question": html, "header": html, "options": [option(html, **fields), "y"]}]})

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        dialog = await sitting.person.sees("questionDialog")
        formats = {label.textFormat() for label in dialog.findChildren(QLabel)}
        assert formats <= {Qt.TextFormat.PlainText}
        row = dialog.findChild(QAbstractButton, "option_0_0")
        assert row is not None
        assert html in row.accessibleName() or html in row.text()
        await sitting.person.keys(Qt.Key.Key_Escape)
        await sitting.until(lambda: texts(sitting.opened), "Claude has heard it")
        assert texts(sitting.opened) == ["no: The user dismissed the questions."]

    sitting.play(story)


def test_are_asked_of_the_person_in_every_mode_that_asks_anybody(sitting: Sitting) -> None:
    asks(sitting, {"questions": [{"question": "Q?", "options": ["A", "B"]}]})

    async def story() -> None:
        opened = await sitting.begin()
        opened.controls.set_mode("acceptEdits")
        await sitting.until(lambda: opened.conversation.permission_mode == "acceptEdits", "the mode is in force")
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        assert not sitting.person.is_seen("allowOnce")
        await sitting.person.click_when_read("option_0_0")
        await send_answers(sitting)
        await goes_on(sitting)

    sitting.play(story)
