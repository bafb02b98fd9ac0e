"""AskUserQuestion: any questions that can be shown are shown, and the answers arrive as they were given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import questions
from protocol.questions import Answer, AskUserQuestion, Option, Question, UnusableQuestions, parse_questions

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
SKIPPED = frozenset({"ask_user_question_unanswered_v1"})


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def exchange(path: Path) -> tuple[AskUserQuestion, dict[str, Any]]:
    """The questions of a recording and the result that its host sent."""
    entries = recorded(path)
    request = next(e["msg"] for e in entries if e["dir"] == "out" and e["msg"].get("type") == "control_request")
    reply = next(e["msg"] for e in entries if e["dir"] == "in" and e["msg"].get("type") == "control_response")
    return parse_questions(request["request"]["input"]), reply["response"]["response"]


def ask(*values: Any) -> AskUserQuestion:
    return parse_questions({"questions": list(values)})


def choice(text: str, *labels: str, multi: bool = False, **more: Any) -> dict[str, Any]:
    options = [{"label": label, "description": ""} for label in labels]
    return {"question": text, "header": "H", "options": options, "multiSelect": multi, **more}


def read_picks(value: str) -> list[str]:
    """The other end of the encoding of several picks: JSON strings or bare labels, joined with `", "`."""
    picks, rest = [], value
    decoder = json.JSONDecoder()
    while True:
        if rest.startswith('"'):
            pick, end = decoder.raw_decode(rest)
            picks.append(pick)
            rest = rest[end:]
        else:
            pick, comma, rest = rest.partition(", ")
            picks.append(pick)
            rest = comma + rest
        if not rest:
            return picks
        assert rest.startswith(", ")
        rest = rest[2:]


class TestRecordings:
    @pytest.mark.parametrize("version", ["2.1.76", "2.1.197", "2.1.332"])
    def test_an_answer_with_preview_and_notes_is_what_the_recorded_host_sent(self, version: str) -> None:
        asked, result = exchange(RECORDINGS / version / "ask.jsonl")
        answers = [Answer(("SQLite",), notes="keep it small"), Answer(("Auth", "Export"))]
        assert questions.answered(asked, answers) == result

    @pytest.mark.parametrize("version", ["2.0.71", "2.0.76"])
    def test_clis_that_take_the_preview_away_get_the_notes_alone(self, version: str) -> None:
        asked, result = exchange(RECORDINGS / version / "ask.jsonl")
        assert result["updatedInput"]["annotations"]["Which database should we use?"].pop("preview") == ""
        answers = [Answer(("SQLite",), notes="keep it small"), Answer(("Auth", "Export"))]
        assert questions.answered(asked, answers) == result

    def test_free_text_is_what_the_recorded_hosts_sent_in_every_mode(self) -> None:
        paths = sorted(RECORDINGS.glob("2.1.332/ask_in_mode_*.jsonl"))
        for path in paths:
            if "dontAsk" not in path.name:  # there the CLI denies without asking
                asked, result = exchange(path)
                assert questions.answered(asked, [Answer(other="X"), Answer(other="X")]) == result
        assert len(paths) == 5

    @pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*/ask_dismissed.jsonl")), ids=lambda p: p.parent.name)
    def test_a_dismissal_is_what_the_recorded_host_sent(self, path: Path) -> None:
        assert questions.dismissed() == exchange(path)[1]


class TestQuestionsThatCome:
    def test_the_documented_shape_is_read_whole(self) -> None:
        parsed = ask(
            {
                "question": "Which?",
                "header": "Pick",
                "options": [{"label": "A", "description": "first", "preview": "```\na\n```"}, {"label": "B"}],
                "multiSelect": True,
            }
        )
        assert parsed.questions == (
            Question("Which?", "Pick", (Option("A", "first", "```\na\n```"), Option("B")), multi_select=True),
        )

    def test_any_number_of_options_makes_a_question(self) -> None:
        for count in (0, 1, 9):
            labels = [f"option {n}" for n in range(count)]
            assert [o.label for o in ask(choice("Q?", *labels)).questions[0].options] == labels

    def test_bare_strings_missing_descriptions_and_headers_are_enough(self) -> None:
        [question] = ask({"question": "Q?", "options": ["A", {"label": "B"}, 3]}).questions
        assert question == Question("Q?", "", (Option("A"), Option("B"), Option("3")), multi_select=False)

    def test_questions_and_options_may_come_as_json_text(self) -> None:
        text = json.dumps([{"question": "Q?", "options": json.dumps(["A", "B"])}])
        parsed = parse_questions({"questions": text})
        assert [o.label for o in parsed.questions[0].options] == ["A", "B"]
        assert parsed.raw_questions == text

    def test_a_single_question_without_its_list_is_taken(self) -> None:
        assert parse_questions({"questions": {"question": "Q?"}}).questions[0].text == "Q?"

    def test_an_option_without_a_label_is_shown_by_what_it_says(self) -> None:
        options = ask({"question": "Q?", "options": [{"description": "the first"}, {"value": 7}]}).questions[0].options
        assert [o.label for o in options] == ["the first", '{"value": 7}']

    def test_long_headers_html_and_a_label_called_other_pass_as_they_are(self) -> None:
        [question] = ask(choice("<b>Q?</b>", "Other", "<i>x</i>", header="h" * 44)).questions
        assert (question.text, len(question.header)) == ("<b>Q?</b>", 44)
        assert questions.answered(ask(choice("Q?", "Other", "x")), [Answer(("Other",))])["updatedInput"]["answers"] == {
            "Q?": "Other"
        }

    @pytest.mark.parametrize(
        ("given_input", "words"),
        [
            ({}, "was missing"),
            ({"questions": []}, "without a question"),
            ({"questions": "not json"}, "was a text"),
            ({"questions": 3}, "was a number"),
            ({"questions": {"no": "question"}}, "was an object"),
            ({"questions": [3]}, "Question 1 must be an object"),
            ({"questions": [choice("Q?"), {"header": "H"}]}, "Question 2 has no text"),
            ({"questions": [choice("Same?", "A"), choice("Same?", "B")]}, "could not be told apart"),
        ],
    )
    def test_questions_that_cannot_be_asked_are_refused_with_the_reason(
        self, given_input: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(UnusableQuestions, match=words) as caught:
            parse_questions(given_input)
        result = questions.unusable(str(caught.value))
        assert result["behavior"] == "deny"
        assert words in result["message"]

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda s: (
                st.lists(s)
                | st.dictionaries(
                    st.sampled_from(["question", "questions", "options", "label", "multiSelect", "preview", "header"]),
                    s,
                )
            ),
            max_leaves=30,
        )
    )
    def test_no_input_whatever_raises_anything_else(self, value: Any) -> None:
        try:
            outcome: Any = parse_questions({"questions": value}).questions
        except UnusableQuestions as refusal:
            outcome = str(refusal)
        assert outcome


class TestAnswers:
    def test_the_keys_are_the_questions_texts_character_by_character(self) -> None:
        text = "  Wéird “quotes”, \u00a0spaces\u2028 and 😀?\n"
        result = questions.answered(ask(choice(text, "A", "B")), [Answer(("B",))])
        assert result == {
            "behavior": "allow",
            "updatedInput": {"questions": [choice(text, "A", "B")], "answers": {text: "B"}},
        }

    def test_the_questions_go_back_as_they_came_with_all_their_unknown_fields(self) -> None:
        raw = [choice("Q?", "A", future={"x": 1})]
        assert (
            questions.answered(parse_questions({"questions": raw}), [Answer(("A",))])["updatedInput"]["questions"]
            == raw
        )

    def test_answers_that_the_model_itself_wrote_into_its_call_do_not_pass_for_the_users(self) -> None:
        asked = parse_questions({"questions": [choice("Q?", "A")], "answers": {"Z": "z"}, "response": "yes to all"})
        assert set(questions.answered(asked, [Answer(("A",))])["updatedInput"]) == {"questions", "answers"}

    def test_a_single_choice_is_the_raw_label_whatever_it_holds(self) -> None:
        label = 'a, "b", c'
        [question] = ask(choice("Q?", label, "d")).questions
        assert questions.encode_value(question, Answer((label,))) == label

    def test_free_text_of_a_single_choice_is_the_text_itself(self) -> None:
        [question] = ask(choice("Q?", "A")).questions
        assert questions.encode_value(question, Answer(other='Use "DuckDB", please')) == 'Use "DuckDB", please'

    def test_labels_with_a_comma_or_a_quote_are_quoted_among_several(self) -> None:
        [question] = ask(choice("Q?", "a, b", "a", "b", '6"', multi=True)).questions
        assert questions.encode_value(question, Answer(("a, b",))) == '"a, b"'
        assert questions.encode_value(question, Answer(("a", "b"))) == "a, b"
        assert questions.encode_value(question, Answer(("a, b", "a", '6"'))) == '"a, b", a, "6\\""'

    def test_a_comma_without_a_space_needs_no_quotes_and_umlauts_stay(self) -> None:
        [question] = ask(choice("Q?", "1,5", "grün, blau", multi=True)).questions
        assert questions.encode_value(question, Answer(("1,5", "grün, blau"))) == '1,5, "grün, blau"'

    def test_free_text_is_one_more_pick_among_several(self) -> None:
        [question] = ask(choice("Q?", "A", "B", multi=True)).questions
        assert questions.encode_value(question, Answer(("A",), other="C, D")) == 'A, "C, D"'

    @given(st.lists(st.text(st.sampled_from('ab", \\n😀'), min_size=1), min_size=1, max_size=5, unique=True))
    def test_any_picks_can_be_told_apart_at_the_other_end(self, labels: list[str]) -> None:
        question = Question("Q?", "", tuple(map(Option, labels)), multi_select=True)
        value = questions.encode_value(question, Answer(tuple(labels)))
        # A bare label may end in a comma or be blank; such labels are nobody's, and no encoding promises them.
        if all(label.strip(", ") == label for label in labels):
            assert read_picks(value) == labels
            assert questions.decode_value(question, value) == labels

    def test_the_preview_of_the_one_chosen_option_and_the_notes_are_annotations(self) -> None:
        options = [{"label": "A", "preview": "pa"}, {"label": "B", "preview": "pb"}, {"label": "C"}]
        asked = ask({"question": "Q?", "options": options, "multiSelect": True})

        def annotations(answer: Answer) -> Any:
            return questions.answered(asked, [answer])["updatedInput"].get("annotations")

        assert annotations(Answer(("B",))) == {"Q?": {"preview": "pb"}}
        assert annotations(Answer(("B",), notes="n")) == {"Q?": {"preview": "pb", "notes": "n"}}
        assert annotations(Answer(("C",), notes="n")) == {"Q?": {"notes": "n"}}
        assert annotations(Answer(("C",), notes="  ")) is None
        assert annotations(Answer(("A", "B"))) is None

    def test_a_skipped_question_has_no_key_and_is_reported_only_to_clis_that_know_the_word(self) -> None:
        asked = ask(choice("One?", "A"), choice("Two?", "B"))
        answers = [Answer(("A",)), Answer(skipped=True)]
        assert questions.answered(asked, answers)["updatedInput"] == {
            "questions": asked.raw_questions,
            "answers": {"One?": "A"},
        }
        told = questions.answered(asked, answers, capabilities=SKIPPED)["updatedInput"]
        assert told["answers"] == {"One?": "A"}
        assert told["annotations"] == {"Two?": {"unanswered": "skipped"}}

    def test_a_skipped_question_stays_skipped_although_something_was_chosen(self) -> None:
        assert not Answer(("A",), skipped=True).is_answered

    def test_blank_free_text_is_no_answer(self) -> None:
        assert not Answer(other=" \n").is_answered
        assert Answer(other="x").is_answered

    def test_an_allow_without_any_answer_is_never_built(self) -> None:
        with pytest.raises(ValueError, match="no question is answered"):
            questions.answered(ask(choice("Q?", "A")), [Answer(skipped=True)], capabilities=SKIPPED)

    @pytest.mark.parametrize(
        ("answers", "words"),
        [
            ([Answer(("Z",))], "none of the options"),
            ([Answer(("A", "B"))], "takes one answer"),
            ([Answer(("A",), other="and this")], "takes one answer"),
            ([], "as many answers"),
        ],
    )
    def test_answers_that_do_not_fit_the_question_are_our_error(self, answers: list[Answer], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            questions.answered(ask(choice("Q?", "A", "B")), answers)


class TestNoAnswers:
    def test_a_reply_instead_is_the_message_of_a_deny_as_typed(self) -> None:
        assert questions.reply_instead("First tell me\nwhy") == {"behavior": "deny", "message": "First tell me\nwhy"}

    def test_a_blank_reply_is_our_error(self) -> None:
        with pytest.raises(ValueError, match="needs a text"):
            questions.reply_instead("  ")

    def test_dismissed_questions_are_denied_and_the_turn_goes_on(self) -> None:
        assert "interrupt" not in questions.dismissed()


class TestDescriptions:
    def test_a_sent_answer_reads_back_a_line_a_question(self) -> None:
        asked = ask(choice("One?", "A"), choice("Two?", "B", "C", multi=True), choice("Three?", "D"))
        result = questions.answered(asked, [Answer(("A",), notes="small"), Answer(("B", "C")), Answer(skipped=True)])
        assert questions.describe(asked, result) == [("One?", "A\nsmall"), ("Two?", "B\nC"), ("Three?", "")]

    def test_a_pick_with_a_comma_reads_back_without_the_encodings_quotes(self) -> None:
        asked = ask(choice("Q?", "a, b", "c", multi=True))
        result = questions.answered(asked, [Answer(("a, b", "c"), other='6" or 7"')])
        assert questions.describe(asked, result) == [("Q?", 'a, b\nc\n6" or 7"')]

    @pytest.mark.parametrize("value", ['"', '"a', '"a"b', "", ", ", "a,"])
    def test_a_value_in_nobodys_encoding_reads_back_somehow(self, value: str) -> None:
        [question] = ask(choice("Q?", "A", multi=True)).questions
        assert ", ".join(questions.decode_value(question, value)).strip(", ") == value.strip(", ")

    def test_a_denial_says_nothing_about_any_question(self) -> None:
        assert questions.describe(ask(choice("Q?", "A")), questions.dismissed()) == []

    @pytest.mark.parametrize(
        "result", [{}, {"behavior": "allow"}, {"behavior": "allow", "updatedInput": {"answers": 3}}]
    )
    def test_results_of_other_hosts_do_not_break_it(self, result: dict[str, Any]) -> None:
        assert all(chosen == "" for _, chosen in questions.describe(ask(choice("Q?", "A")), result))
