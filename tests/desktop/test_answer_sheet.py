"""The answers to a set of questions, without a window."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.dialogs.answer_sheet import AnswerSheet
from protocol.questions import parse_questions
from tests.helpers.requests import COLOUR, DATABASE, FEATURES


def sheet(*questions: dict[str, Any]) -> AnswerSheet:
    return AnswerSheet(parse_questions({"questions": list(questions)}))


def test_a_new_sheet_is_open_and_cannot_be_sent() -> None:
    made = sheet(COLOUR, FEATURES)
    assert [made.mark(index) for index in range(2)] == ["open", "open"]
    assert made.problem() == (0, "unanswered")
    with pytest.raises(ValueError):
        made.result(())


def test_a_single_choice_holds_one_option() -> None:
    made = sheet(COLOUR)
    made.choose(0, 0)
    made.choose(0, 1)
    assert made.chosen(0) == (1,)


def test_several_choices_are_sent_in_the_order_of_the_options() -> None:
    made = sheet(FEATURES)
    made.choose(0, 2)
    made.choose(0, 0)
    assert made.answer(0).labels == ("Auth", "Export")


def test_an_empty_other_is_named_before_an_unanswered_question() -> None:
    made = sheet(COLOUR, DATABASE)
    made.choose_other(1)
    assert made.problem() == (1, "other_is_empty")


def test_writing_chooses_other_as_on_paper() -> None:
    made = sheet(COLOUR)
    made.choose(0, 0)
    made.write_other(0, "Green")
    assert made.other_is_chosen(0)
    assert not made.is_chosen(0, 0)


def test_a_skipped_question_keeps_its_texts_at_hand_and_sends_none() -> None:
    made = sheet(COLOUR, FEATURES)
    made.write_other(0, "Green")
    made.skip(0)
    made.choose(1, 0)
    assert made.typed() == "Green"
    assert made.result(())["updatedInput"]["answers"] == {FEATURES["question"]: "Auth"}


def test_a_sheet_on_which_all_is_skipped_is_never_sent() -> None:
    made = sheet(COLOUR, FEATURES)
    made.skip(0)
    made.skip(1)
    assert made.problem() == (2, "nothing_answered")
    with pytest.raises(ValueError):
        made.result(())


def test_spaces_are_no_answer() -> None:
    made = sheet({"question": "Name?", "options": []})
    made.write_other(0, "  \n ")
    assert made.mark(0) == "open"


STEPS = st.lists(
    st.tuples(st.sampled_from(["choose", "other", "write", "skip"]), st.integers(0, 1), st.integers(0, 1)), max_size=12
)


@given(STEPS)
def test_whatever_is_done_a_sheet_without_a_problem_can_be_sent_and_one_with_cannot(
    steps: list[tuple[str, int, int]],
) -> None:
    made = sheet(COLOUR, FEATURES)
    for what, question, option in steps:
        match what:
            case "choose":
                made.choose(question, option)
            case "other":
                made.choose_other(question)
            case "write":
                made.write_other(question, ["", "own words"][option])
            case _:
                made.skip(question)
    if made.problem() is None:
        answers = made.result(())["updatedInput"]["answers"]
        assert answers
        assert all(answers.values())
        expected = {made.question(index).text for index in range(2) if made.mark(index) == "answered"}
        assert set(answers) == expected
    else:
        with pytest.raises(ValueError):
            made.result(())
