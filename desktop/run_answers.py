"""The decisions of `handraise run`: from a file of answers, from the terminal, or "no"."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from desktop.files import read_beginning
from protocol import permissions, questions
from protocol.conversation import Conversation, PendingRequest, ToolItem
from protocol.messages import CanUseTool, Elicitation
from protocol.permissions import make_visible
from protocol.questions import Answer, Question

NO_TERMINAL = "Denied: nobody is there to be asked."


class AnswersError(Exception):
    """A question has no answer, or the file of answers cannot be used; one sentence for the person."""


class Answers:
    """Answers that were given beforehand: {question: answer}, an answer being a text or a list of labels."""

    def __init__(self, given: dict[str, list[str]] | None = None) -> None:
        self._given = given

    @classmethod
    def read(cls, path: Path) -> Answers:
        """From a JSON file. Raises AnswersError."""
        try:
            value = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise AnswersError(f"The answers in {path} cannot be read: {error.strerror or error}.") from error
        except (ValueError, RecursionError) as error:
            raise AnswersError(f"{path} is not JSON: write an object of questions and answers ({error}).") from error
        if not isinstance(value, dict):
            raise AnswersError(f"{path} has to hold an object: {{question: answer}}.")
        given: dict[str, list[str]] = {}
        for question, answer in value.items():
            picks = answer if isinstance(answer, list) else [answer]
            if not picks or not all(isinstance(pick, str) and pick.strip() for pick in picks):
                raise AnswersError(f"The answer to “{question}” in {path} has to be a text, or a list of texts.")
            given[question] = picks
        return cls(given)

    @property
    def from_file(self) -> bool:
        """Whether there is a file; then it has to know every question."""
        return self._given is not None

    def to(self, question: Question) -> Answer | None:
        """The answer to a question, None when there is none. What is no label counts as free text.

        Raises:
            AnswersError: more than the question allows.
        """
        picks = (self._given or {}).get(question.text)
        return None if picks is None else answer_of(question, picks)


def answer_of(question: Question, picks: Sequence[str]) -> Answer:
    """Labels and free text as an answer. Raises AnswersError when several are given where one may be chosen."""
    labels = [option.label for option in question.options]
    chosen = tuple(label for label in labels if label in picks)
    other = ", ".join(pick for pick in picks if pick not in labels)
    if not question.multi_select and len(picks) > 1:
        raise AnswersError(f"“{question.text}” takes one answer, and {len(picks)} were given.")
    return Answer(labels=chosen, other=other)


class Terminal:
    """Asks on standard error and reads from standard input, which is free for it: the prompt is an argument."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source = source if source is not None else sys.stdin
        self._sink = sink if sink is not None else sys.stderr
        self._asked: asyncio.Future[str] | None = None
        self._reads = False

    @property
    def is_there(self) -> bool:
        """Whether a person can be asked."""
        return self._source is not None and not self._source.closed and self._source.isatty()

    def say(self, text: str) -> None:
        """Show a text; nothing in it can steer the terminal."""
        print(make_visible(text), file=self._sink, flush=True)

    async def ask(self, text: str) -> str | None:
        """Ask for a line; None at the end of the input. The loop goes on meanwhile.

        What was typed before the question was there is no answer to it, and is dropped.
        """
        _drop_typed(self._source)
        print(make_visible(text), end=" ", file=self._sink, flush=True)
        loop = asyncio.get_running_loop()
        self._asked = loop.create_future()
        if not self._reads:  # else a thread still waits, since a question that was withdrawn
            self._reads = True
            # A daemon: a line that nobody types must not keep the program from ending.
            threading.Thread(target=self._read, args=(loop,), name="terminal", daemon=True).start()
        line = await self._asked
        return line.rstrip("\r\n") if line else None

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            line = self._source.readline()
        except (OSError, ValueError):
            line = ""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            loop.call_soon_threadsafe(self._take, line)

    def _take(self, line: str) -> None:
        self._reads = False
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(line)

    async def confirm(self, text: str) -> bool:
        """Ask for yes or no; anything but yes is no."""
        answer = await self.ask(f"{text} [y/N]")
        return (answer or "").strip().casefold() in ("y", "yes")


def _drop_typed(source: TextIO) -> None:
    """Forget what was typed and not read yet, where the source is a terminal."""
    if sys.platform == "win32":
        import msvcrt

        while source.isatty() and msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    with contextlib.suppress(OSError, ValueError, termios.error):  # no terminal, or none with a descriptor
        termios.tcflush(source.fileno(), termios.TCIFLUSH)


async def decide(
    pending: PendingRequest, conversation: Conversation, answers: Answers, terminal: Terminal
) -> dict[str, Any]:
    """The reply to a request of the CLI. Raises AnswersError where a question has no answer."""
    request = pending.request
    if isinstance(request, Elicitation):
        return await _decide_form(request, terminal)
    if not isinstance(request, CanUseTool):
        return permissions.deny("This client does not know this kind of request.")
    if request.tool_name == permissions.QUESTION_TOOL:
        return await _answer(request, conversation, answers, terminal)
    if request.tool_name == permissions.PLAN_TOOL:
        return await _decide_plan(pending, request, conversation, terminal)
    if not terminal.is_there:
        terminal.say(f"{NO_TERMINAL} {request.tool_name}")
        return permissions.deny("Nobody is there to allow this; go on without it.")
    terminal.say(f"\nClaude wants to use {request.tool_name}:")
    terminal.say(json.dumps(request.input, ensure_ascii=False, indent=2))
    if request.decision_reason:
        terminal.say(str(request.decision_reason))
    if await terminal.confirm("Allow it once?"):
        return permissions.allow(request.input)
    return permissions.deny("The user did not allow this.")


async def _answer(
    request: CanUseTool, conversation: Conversation, answers: Answers, terminal: Terminal
) -> dict[str, Any]:
    try:
        ask = questions.parse_questions(request.input)
    except questions.UnusableQuestions as problem:
        return questions.unusable(str(problem))
    given: list[Answer] = []
    for question in ask.questions:
        answer = answers.to(question)
        if answer is None and answers.from_file:
            raise AnswersError(f"The file of answers has none for “{question.text}”. Add one and run again.")
        if answer is None and not terminal.is_there:
            raise AnswersError(
                f"Claude asks “{question.text}” and nobody is there to answer. Run in a terminal, or give --answers."
            )
        given.append(answer if answer is not None else await _ask_question(question, terminal))
    if not any(answer.is_answered for answer in given):
        return questions.dismissed()
    return questions.answered(ask, given, capabilities=conversation.capabilities)


async def _ask_question(question: Question, terminal: Terminal) -> Answer:
    terminal.say(f"\n{question.text}")
    for number, option in enumerate(question.options, 1):
        terminal.say(f"  {number}. {option.label}" + (f" — {option.description}" if option.description else ""))
    hint = "Numbers with commas, or your own words" if question.multi_select else "A number, or your own words"
    while True:
        line = await terminal.ask(f"{hint} (empty: skip):")
        if line is None or not line.strip():
            return Answer(skipped=True)
        try:
            return answer_of(question, picks_of(question, line))
        except AnswersError as error:
            terminal.say(str(error))


def picks_of(question: Question, line: str) -> list[str]:
    """A typed line as picks: numbers become labels, anything else is the person's own words."""
    words = [word.strip() for word in line.split(",")] if question.multi_select else [line.strip()]
    labels = [option.label for option in question.options]
    if all(word.isascii() and word.isdigit() and 1 <= int(word) <= len(labels) for word in words):
        return list(dict.fromkeys(labels[int(word) - 1] for word in words))
    return [line.strip()]


async def _decide_plan(
    pending: PendingRequest, request: CanUseTool, conversation: Conversation, terminal: Terminal
) -> dict[str, Any]:
    if not terminal.is_there:
        terminal.say(f"{NO_TERMINAL} The plan was not approved.")
        return permissions.keep_planning("Nobody is there to approve a plan; end with the plan itself.")
    item = conversation.item(pending.tool_item_id) if pending.tool_item_id is not None else None
    tool_use_input = item.input if isinstance(item, ToolItem) else {}
    terminal.say("\nClaude's plan:\n" + permissions.plan_text(request.input, tool_use_input, read_beginning))
    if await terminal.confirm("Approve it?"):
        return permissions.approve_plan(request.input, None)
    return permissions.keep_planning(await terminal.ask("What should be different?") or "The user wants another plan.")


async def _decide_form(request: Elicitation, terminal: Terminal) -> dict[str, Any]:
    form = permissions.elicitation_form(request)
    if not terminal.is_there:
        terminal.say(f"{NO_TERMINAL} {form.server}")
        return permissions.decline()
    terminal.say(f"\n{form.server} asks: {form.message}")
    if form.mode == "url":
        terminal.say(form.url)
        return permissions.accept({}) if await terminal.confirm("Done?") else permissions.decline()
    content: dict[str, Any] = {}
    for field in form.fields:
        while True:
            line = await terminal.ask(f"{field.title or field.name}{'' if field.required else ' (optional)'}:")
            if line is None:
                return permissions.cancel_elicitation()
            if not line.strip() and not field.required:
                break
            value, problem = permissions.check_field(field, line)
            if problem is None:
                content[field.name] = value
                break
            terminal.say(str(problem))
    return permissions.accept(content)
