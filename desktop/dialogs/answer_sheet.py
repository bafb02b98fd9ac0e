"""What a person has answered so far to a set of questions. No Qt: the question dialog shows it and changes it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from protocol import questions
from protocol.questions import Answer, AskUserQuestion, Question

Mark = Literal["open", "answered", "skipped", "incomplete"]
"""Where a question stands. `incomplete`: "Other…" is chosen and nothing is written."""

Problem = Literal["unanswered", "other_is_empty", "nothing_answered"]
"""Why the answers cannot be sent as they are."""


@dataclass
class _Entry:
    """One question's state.

    Attributes:
        chosen: indices of the chosen options.
        other_chosen: whether "Other…" is chosen. Without options there is only free text, and it is always chosen.
        other: what was written there; kept when another option is chosen instead, so that nothing typed is lost.
        notes: the note, or "".
    """

    chosen: set[int] = field(default_factory=set)
    other_chosen: bool = False
    other: str = ""
    notes: str = ""
    skipped: bool = False


class AnswerSheet:
    """The answers to one request, question by question.

    Attributes:
        ask: the questions as received.
        current: the step being shown: an index into the questions, or their number for the review.
    """

    def __init__(self, ask: AskUserQuestion) -> None:
        self.ask = ask
        self.current = 0
        self._entries = [_Entry() for _ in ask.questions]

    @property
    def count(self) -> int:
        """How many questions there are; also the step of the review."""
        return len(self.ask.questions)

    @property
    def on_review(self) -> bool:
        return self.current >= self.count

    def question(self, index: int) -> Question:
        return self.ask.questions[index]

    def choose(self, index: int, option: int) -> None:
        """Choose an option; where several may be chosen, toggle it."""
        entry = self._entries[index]
        entry.skipped = False
        if self.question(index).multi_select:
            entry.chosen ^= {option}
        else:
            entry.chosen = {option}
            entry.other_chosen = False

    def choose_other(self, index: int) -> None:
        """Choose "Other…"; where several may be chosen, toggle it."""
        entry = self._entries[index]
        entry.skipped = False
        if self.question(index).multi_select:
            entry.other_chosen = not entry.other_chosen
        else:
            entry.chosen = set()
            entry.other_chosen = True

    def write_other(self, index: int, text: str) -> None:
        """Set the free text. Writing into it chooses it, as writing on paper would."""
        entry = self._entries[index]
        if text == entry.other:
            return
        entry.other = text
        if text.strip() and not entry.other_chosen:
            self.choose_other(index)
        if text.strip():
            entry.skipped = False

    def write_notes(self, index: int, text: str) -> None:
        self._entries[index].notes = text

    def skip(self, index: int) -> None:
        """Leave a question out. What was chosen is taken back, what was typed is kept at hand."""
        entry = self._entries[index]
        entry.chosen = set()
        entry.other_chosen = False
        entry.skipped = True

    def is_chosen(self, index: int, option: int) -> bool:
        return option in self._entries[index].chosen

    def other_is_chosen(self, index: int) -> bool:
        return self._entries[index].other_chosen

    def other_text(self, index: int) -> str:
        return self._entries[index].other

    def notes(self, index: int) -> str:
        return self._entries[index].notes

    def chosen(self, index: int) -> tuple[int, ...]:
        """The chosen options of a question, in the order in which they were offered."""
        return tuple(sorted(self._entries[index].chosen))

    def mark(self, index: int) -> Mark:
        """Where a question stands."""
        entry = self._entries[index]
        if entry.skipped:
            return "skipped"
        if entry.other_chosen and not entry.other.strip():
            # Without options there is nothing else to choose: an empty field is then simply no answer yet.
            return "incomplete" if self.question(index).options else "open"
        return "answered" if entry.chosen or entry.other_chosen else "open"

    def answer(self, index: int) -> Answer:
        """A question's answer as it would be sent now."""
        entry = self._entries[index]
        if entry.skipped:
            return Answer(notes=entry.notes.strip(), skipped=True)
        options = self.question(index).options
        return Answer(
            labels=tuple(options[option].label for option in self.chosen(index)),
            other=entry.other.strip() if entry.other_chosen else "",
            notes=entry.notes.strip(),
        )

    def problem(self) -> tuple[int, Problem] | None:
        """What stands in the way of sending: the question it is about and its kind, or None."""
        marks = [self.mark(index) for index in range(self.count)]
        for index, mark in enumerate(marks):
            if mark == "incomplete":
                return index, "other_is_empty"
        for index, mark in enumerate(marks):
            if mark == "open":
                return index, "unanswered"
        if "answered" not in marks:
            return self.count, "nothing_answered"
        return None

    def result(self, capabilities: Collection[str]) -> dict[str, Any]:
        """The permission result to send. Raises ValueError while `problem` names one."""
        if (problem := self.problem()) is not None:
            raise ValueError(f"not ready to be sent: {problem[1]}")
        answers = [self.answer(index) for index in range(self.count)]
        return questions.answered(self.ask, answers, capabilities=capabilities)

    def typed(self) -> str:
        """Everything the person wrote with the keyboard, for recovery; "" when they only chose."""
        texts = [text.strip() for entry in self._entries for text in (entry.other, entry.notes)]
        return "\n\n".join(text for text in texts if text)
