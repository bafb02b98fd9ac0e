"""AskUserQuestion: the questions that come in, and the answers in the CLI's own encoding.

The model asks through the tool `AskUserQuestion`; it arrives as a `can_use_tool` request. The answer is an *allow*
whose `updatedInput` holds the questions as received and the answers; everything else (dismissed, a reply in free
text, questions nobody could show) is a *deny* with a message. An allow without any answer is never sent: the model
would be told that the user answered nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

UNANSWERED_CAPABILITY: Final = "ask_user_question_unanswered_v1"
"""In `init.capabilities` of CLIs that understand `annotations[question].unanswered`."""

_BETWEEN: Final = ", "

DISMISSED: Final = "The user dismissed the questions."


class UnusableQuestions(ValueError):  # noqa: N818 — it is about the questions, and reads so where it is caught
    """The questions cannot be shown or answered; the text says why, in words meant for the model."""


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose. `preview` is Markdown to show beside it, or None."""

    label: str
    description: str = ""
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question; with no options it can only be answered in free text."""

    text: str
    header: str
    options: tuple[Option, ...]
    multi_select: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user decided on one question.

    Attributes:
        labels: the chosen labels, in the order of the options.
        other: free text given as the answer (or as one more pick, where several may be chosen).
        notes: a remark beside the answer.
        skipped: the user left this question out on purpose.
    """

    labels: tuple[str, ...] = ()
    other: str = ""
    notes: str = ""
    skipped: bool = False

    @property
    def is_answered(self) -> bool:
        """Whether there is anything to send under the question's key. Blank free text is no answer."""
        return not self.skipped and (bool(self.labels) or bool(self.other.strip()))


@dataclass(frozen=True, slots=True)
class AskUserQuestion:
    """The questions of one request.

    Attributes:
        questions: at least one, their texts all different.
        raw_questions: the value of `questions` as received; it is echoed character by character.
        input: the whole input as received.
    """

    questions: tuple[Question, ...]
    raw_questions: Any
    input: dict[str, Any] = field(repr=False)


# In


def parse_questions(tool_input: Mapping[str, Any]) -> AskUserQuestion:
    """Read the input of an AskUserQuestion call, as tolerantly as an answer allows.

    Accepted beyond the documented shape: any number of questions and options, options that are bare strings, missing
    descriptions and headers, `questions` (or `options`) as a JSON text, a single question without its list.

    Raises:
        UnusableQuestions: there is nothing to show, or answers could not be told apart. Send `unusable(str(exc))`.
    """
    raw = tool_input.get("questions")
    values = _listed(raw, "question")
    if values is None:
        raise UnusableQuestions(f"AskUserQuestion needs a list of questions, but `questions` was {_kind(raw)}.")
    if not values:
        raise UnusableQuestions("AskUserQuestion was called without a question: the list of questions is empty.")
    questions = tuple(_question(value, number) for number, value in enumerate(values, start=1))
    seen: set[str] = set()
    for question in questions:
        if question.text in seen:
            raise UnusableQuestions(
                f"Two questions have the same text, {json.dumps(question.text, ensure_ascii=False)}, so their answers"
                " could not be told apart. Ask again with a different text for each question."
            )
        seen.add(question.text)
    return AskUserQuestion(questions, raw, dict(tool_input))


def _question(value: Any, number: int) -> Question:
    if isinstance(value, str):
        value = {"question": value}
    if not isinstance(value, Mapping):
        raise UnusableQuestions(
            f"Question {number} must be an object with `question` and `options`, but was {_kind(value)}."
        )
    text = value.get("question")
    if not isinstance(text, str) or not text.strip():
        raise UnusableQuestions(f"Question {number} has no text in `question`.")
    header = value.get("header")
    options = _listed(value.get("options"), "label")
    multi = value.get("multiSelect", False)
    return Question(
        text=text,
        header=header if isinstance(header, str) else "",
        options=tuple(_option(option) for option in options or ()),
        multi_select=multi.strip().lower() == "true" if isinstance(multi, str) else bool(multi),
    )


def _option(value: Any) -> Option:
    if not isinstance(value, Mapping):
        return Option(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    label, description, preview = value.get("label"), value.get("description"), value.get("preview")
    description = description if isinstance(description, str) else ""
    if not isinstance(label, str) or not label:
        # Nothing that came is hidden: without a label the option is shown by what it does say.
        label = description or json.dumps(dict(value), ensure_ascii=False, default=str)
        description = ""
    return Option(label, description, preview if isinstance(preview, str) and preview else None)


def _listed(value: Any, key: str) -> list[Any] | None:
    """The list in `value`: itself, inside a JSON text, or a lone object that has `key`. None if there is none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, Mapping):
        return [value] if key in value else None
    return list(value) if isinstance(value, list | tuple) else None


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", dict: "an object", list: "a list"}
    return "missing" if value is None else names.get(type(value), "something else")


# Out


def answered(ask: AskUserQuestion, answers: Sequence[Answer], *, capabilities: Collection[str] = ()) -> dict[str, Any]:
    """The permission result that carries the answers.

    Args:
        ask: the questions as parsed.
        answers: one a question, in their order. A question without an answer counts as skipped.
        capabilities: `capabilities` of the CLI's newest `system/init`.

    Raises:
        ValueError: nothing at all is answered (that is `dismissed()`), the numbers differ, a label is none of the
            question's, or a single choice got two answers.
    """
    if len(answers) != len(ask.questions):
        raise ValueError(f"{len(ask.questions)} questions need as many answers, got {len(answers)}")
    values: dict[str, str] = {}
    annotations: dict[str, dict[str, str]] = {}
    for question, answer in zip(ask.questions, answers, strict=True):
        note = _annotation(question, answer, tell_skipped=UNANSWERED_CAPABILITY in capabilities)
        if answer.is_answered:
            values[question.text] = encode_value(question, answer)
        if note:
            annotations[question.text] = note
    if not values:
        raise ValueError("no question is answered; send dismissed() or reply_instead() instead of an empty allow")
    updated: dict[str, Any] = {"questions": ask.raw_questions, "answers": values}
    if annotations:
        updated["annotations"] = annotations
    return {"behavior": "allow", "updatedInput": updated}


def _annotation(question: Question, answer: Answer, *, tell_skipped: bool) -> dict[str, str]:
    note: dict[str, str] = {}
    if not answer.is_answered:
        if tell_skipped:
            note["unanswered"] = "skipped"
    elif len(answer.labels) == 1:
        # A preview illustrates one choice; with several picks there is no single one to report.
        preview = next((o.preview for o in question.options if o.label == answer.labels[0]), None)
        if preview:
            note["preview"] = preview
    if answer.notes.strip():
        note["notes"] = answer.notes
    return note


def encode_value(question: Question, answer: Answer) -> str:
    """The string under the question's key, as the CLI expects it.

    A single choice is the label or the free text as it is. Several picks are joined with `", "`, and a pick that
    itself contains `", "` or `"` is written as a JSON string first, so that the picks can be told apart again.

    Raises:
        ValueError: there is no answer, a label is none of the options, or a single choice got two answers.
    """
    known = {option.label for option in question.options}
    strangers = [label for label in answer.labels if label not in known]
    if strangers:
        raise ValueError(f"{strangers[0]!r} is none of the options of {question.text!r}")
    picks = [*answer.labels, *([answer.other] if answer.other.strip() else [])]
    if not picks:
        raise ValueError(f"{question.text!r} is not answered")
    if question.multi_select:
        return _BETWEEN.join(_quoted(pick) for pick in picks)
    if len(picks) > 1:
        raise ValueError(f"{question.text!r} takes one answer, got {len(picks)}")
    return picks[0]


def _quoted(pick: str) -> str:
    return json.dumps(pick, ensure_ascii=False) if _BETWEEN in pick or '"' in pick else pick


def decode_value(question: Question, value: str) -> list[str]:
    """The picks in a value that `encode_value` made, in the order in which they were sent."""
    if not question.multi_select:
        return [value]
    picks = []
    while value:
        pick, value = _first_pick(value)
        picks.append(pick)
    return picks


def _first_pick(value: str) -> tuple[str, str]:
    """The first pick of several, and what comes after it."""
    if value.startswith('"'):
        try:
            pick, end = json.JSONDecoder().raw_decode(value)
        except ValueError:
            pass
        else:
            if value[end:] == "" or value.startswith(_BETWEEN, end):
                return pick, value[end + len(_BETWEEN) :]
    pick, _, rest = value.partition(_BETWEEN)
    return pick, rest


def dismissed() -> dict[str, Any]:
    """The user closed the questions without an answer. The turn goes on, and the model knows."""
    return _deny(DISMISSED)


def reply_instead(text: str) -> dict[str, Any]:
    """The user typed a reply instead of choosing; the model gets it as it is.

    Raises:
        ValueError: the reply is blank.
    """
    if not text.strip():
        raise ValueError("a reply instead of an answer needs a text")
    return _deny(text)


def unusable(reason: str) -> dict[str, Any]:
    """Refuse questions that cannot be shown, telling the model why (see `UnusableQuestions`)."""
    return _deny(f"The questions could not be shown to the user. {reason}")


def _deny(message: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": message}


def describe(ask: AskUserQuestion, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a sent result said, one (question text, answer) a question, for the transcript.

    The answer has a line for each pick, and the notes on a line of their own; it is "" where a question was skipped. A
    result that is no allow says nothing about any question: the list is empty.
    """
    updated = result.get("updatedInput")
    if result.get("behavior") != "allow" or not isinstance(updated, Mapping):
        return []
    answers, annotations = _mapping(updated.get("answers")), _mapping(updated.get("annotations"))
    lines = []
    for question in ask.questions:
        value = answers.get(question.text)
        picks = decode_value(question, value) if isinstance(value, str) else []
        parts = [*picks, _mapping(annotations.get(question.text)).get("notes")]
        lines.append((question.text, "\n".join(part for part in parts if isinstance(part, str) and part)))
    return lines


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
