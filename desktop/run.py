"""`handraise run`: one turn without a window. Also the smallest example of a program that stops to ask its user.

The questions of the turn go to the terminal, or to a file of answers; everything else that wants a decision is asked
on the terminal and denied where there is none. Plain asyncio and `protocol`; no Qt.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from desktop.paths import config_dir
from desktop.run_answers import Answers, AnswersError, Terminal, decide
from desktop.settings_file import read_settings, with_git_bash
from protocol.claude import ClaudeBroken, ClaudeNotFound, claude_environment, find_claude_or_ask_shell, read_version
from protocol.conversation import Change, Conversation, NoticeItem, PendingRequest, TextItem, ToolItem, TurnEndItem
from protocol.permissions import make_visible
from protocol.session import Session, SessionError, SessionOptions


class RunError(Exception):
    """The turn could not be made; the text is one sentence for the person."""


@dataclass
class Outcome:
    """What came of the turn.

    Attributes:
        text: what Claude said last.
        texts: all that it said, in order.
        errors: why it failed; empty when it did not.
        asked: (question, answer) pairs.
        denied: tools that were not allowed.
    """

    text: str = ""
    texts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)
    session_id: str = ""
    cost_usd: float | None = None
    duration_ms: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The outcome for programs."""
        return {
            "ok": not self.errors,
            "text": self.text,
            "errors": self.errors,
            "questions": [{"question": question, "answer": answer} for question, answer in self.asked],
            "denied": self.denied,
            "session_id": self.session_id,
            "cost_usd": self.cost_usd,
            "duration_ms": self.duration_ms,
        }


class Turn:
    """One session, one message, and the decisions in between."""

    def __init__(self, options: SessionOptions, answers: Answers, terminal: Terminal, on_text: Any = None) -> None:
        self.conversation = Conversation()
        self.outcome = Outcome()
        self._answers = answers
        self._terminal = terminal
        self._on_text = on_text
        self._changed = asyncio.Event()
        self._told = 0
        self._sent = False
        self._over = False
        self._session = Session(options, conversation=self.conversation, on_changes=self._on_changes)

    async def run(self, prompt: str) -> Outcome:
        """Start, send, decide, and end. Raises RunError, AnswersError."""
        try:
            try:
                await self._session.start()
                self._session.send(prompt)
                self._sent = True
            except SessionError as error:
                raise RunError(" ".join(str(error).split())) from error
            await self._until_over()
        finally:
            await self._session.close()
        self._summarize()
        return self.outcome

    async def _until_over(self) -> None:
        while not self._over:
            await self._changed.wait()
            self._changed.clear()
            self._say_finished_texts()
            while self.conversation.pending and not self._over:
                await self._decide(next(iter(self.conversation.pending.values())))
            if self.conversation.state == "exited":
                raise RunError(f"{self._session.exit or 'Claude exited.'} Run handraise doctor to see what is wrong.")

    async def _decide(self, pending: PendingRequest) -> None:
        """Answer a request; one that the CLI takes back while the person thinks needs no answer any more."""
        decision = asyncio.create_task(decide(pending, self.conversation, self._answers, self._terminal))
        try:
            # The very request: its id can come again with another one.
            while not decision.done() and self.conversation.pending.get(pending.request_id) is pending:
                self._changed.clear()
                change = asyncio.create_task(self._changed.wait())
                await asyncio.wait({decision, change}, return_when=asyncio.FIRST_COMPLETED)
                change.cancel()
            result = decision.result() if decision.done() else None
            if result is not None and self.conversation.pending.get(pending.request_id) is pending:
                self._session.answer(pending.request_id, result)
            else:
                self._terminal.say("\nThis needs no answer any more.")
        finally:
            decision.cancel()

    def _on_changes(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.kind == "item_added" and isinstance(self.conversation.item(change.id), TurnEndItem):
                self._over = True
        if self._sent and self.conversation.state == "idle":
            self._over = True  # some commands of the CLI's own end without a turn: /clear
        self._changed.set()

    def _say_finished_texts(self) -> None:
        """Hand over what Claude has finished saying, once, while it works on."""
        texts = [item for item in self.conversation.items if isinstance(item, TextItem) and _is_main(item)]
        while self._told < len(texts) and (self._over or not texts[self._told].streaming):
            if self._on_text is not None:
                self._on_text(texts[self._told].text)
            self._told += 1

    def _summarize(self) -> None:
        self._say_finished_texts()
        outcome = self.outcome
        outcome.session_id = self.conversation.session_id
        for item in self.conversation.items:
            if isinstance(item, TextItem) and _is_main(item):
                outcome.texts.append(item.text)
                outcome.text = item.text
            elif isinstance(item, NoticeItem) and item.kind == "error":
                outcome.errors.append(item.text.format_map(item.values))
            elif isinstance(item, ToolItem):
                outcome.asked += item.chosen
                if item.status == "denied" and not item.chosen and item.decision != "replied":
                    outcome.denied.append(item.name)
            elif isinstance(item, TurnEndItem):
                outcome.cost_usd, outcome.duration_ms = item.cost_usd, item.duration_ms


def _is_main(item: TextItem) -> bool:
    return item.parent_tool_use_id is None


def find_options(folder: Path, env: Mapping[str, str], settings: Mapping[str, Any]) -> SessionOptions:
    """What to start: the same CLI and environment as the window's. Raises RunError."""
    setting = settings.get("claude") or None
    env = with_git_bash(env, settings.get("git_bash"))
    try:
        claude = find_claude_or_ask_shell(setting=setting, env=env)
        environment = claude_environment(claude, env, keep_api_key=settings.get("keep_api_key") is True)
        read_version(claude, environment.env)
    except (ClaudeNotFound, ClaudeBroken) as error:
        raise RunError(" ".join(str(error).split())) from error
    return SessionOptions(argv=claude.argv, cwd=folder, env=environment.env)


async def _run(options: SessionOptions, answers: Answers, prompt: str, *, as_json: bool, out: TextIO) -> Outcome:
    task = asyncio.current_task()
    if task is not None and os.name == "posix":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)

    def say(text: str) -> None:
        if text.strip():
            print(make_visible(text) if out.isatty() else text, file=out, flush=True)

    turn = Turn(options, answers, Terminal(), on_text=None if as_json else say)
    return await turn.run(prompt)


def main(prompt: str, *, answers: Path | None, as_json: bool, env: Mapping[str, str] = os.environ) -> int:
    """Run one turn in the current folder; returns the exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if not prompt.strip():
        print("The prompt is empty. Say what Claude shall do.", file=sys.stderr)
        return 2
    try:
        return _main(prompt, answers, env, as_json=as_json)
    except BrokenPipeError:  # whoever read the output has left; Python must not try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("Stopped.", file=sys.stderr)
        return 1


def _main(prompt: str, answers: Path | None, env: Mapping[str, str], *, as_json: bool) -> int:
    try:
        known = Answers.read(answers) if answers is not None else Answers()
        options = find_options(Path.cwd(), env, read_settings(config_dir(env))[0])
        outcome = asyncio.run(_run(options, known, prompt, as_json=as_json, out=sys.stdout))
    except (RunError, AnswersError) as error:
        if as_json:
            print(json.dumps({"ok": False, "errors": [str(error)]}, ensure_ascii=False))
        print(error, file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(outcome.as_json(), ensure_ascii=False))
    for words in outcome.errors:
        print(words, file=sys.stderr)
    sys.stdout.flush()
    return 1 if outcome.errors else 0
