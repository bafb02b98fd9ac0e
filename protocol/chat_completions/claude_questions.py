"""What the CLI asks its user in the middle of an answer: put to the person, past the client, or the answer's end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from protocol.chat_completions.backend import Caller, Question
from protocol.chat_completions.errors import ApiError, cli_failed, timed_out
from protocol.chat_completions.run import log_defect
from protocol.chat_completions.words import shown
from protocol.conversation import Change, PendingRequest, ToolItem
from protocol.messages import CanUseTool
from protocol.permissions import plan_text
from protocol.routing import UsageError
from protocol.session import Session

_LONGEST_PLAN: Final = 1_000_000


class Questions:
    """The open questions of one answer, each put to the person on its own.

    Attributes:
        open: whether anything waits for a person now.
    """

    def __init__(self, session: Session, caller: Caller, folder: Path, fail: Callable[[ApiError], None]) -> None:
        """`fail` is told, once or more often, why the answer cannot go on."""
        self._session = session
        self._caller = caller
        self._folder = folder
        self._fail = fail
        self._asking: dict[str, asyncio.Task[None]] = {}

    @property
    def open(self) -> bool:
        """Whether the CLI waits for a person."""
        return bool(self._session.conversation.pending)

    def see(self, changes: Sequence[Change]) -> None:
        """Ask what is new, and take back what the CLI does not want to know any more."""
        pending = self._session.conversation.pending
        for change in changes:
            if change.kind == "pending_removed" and (task := self._asking.pop(change.id, None)) is not None:
                task.cancel()
            elif change.kind == "pending_added" and change.id in pending and change.id not in self._asking:
                self._asking[change.id] = asyncio.create_task(self._ask(pending[change.id]), name="endpoint question")

    async def close(self) -> None:
        """Take all of them back, and wait until nobody is asked any more."""
        tasks = list(self._asking.values())
        self._asking.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _ask(self, pending: PendingRequest) -> None:
        try:
            reply = await self._reply(pending)
            if self._session.conversation.pending.get(pending.request_id) is pending:
                self._asking.pop(pending.request_id, None)
                self._session.answer(pending.request_id, reply)
        except ApiError as error:
            self._fail(error)
        except UsageError:
            self._fail(cli_failed("The question of the model was answered in a form that it does not take."))
        except Exception as error:  # a defect of ours must not leave the client waiting
            log_defect(self._caller.request_id, error)
            self._fail(cli_failed(f"{_what(pending)}, and that could not be done.", "question_unanswered"))

    async def _reply(self, pending: PendingRequest) -> dict[str, Any]:
        if self._caller.ask is None:
            raise nobody_there(pending)
        try:
            async with asyncio.timeout_at(self._caller.question_deadline):
                reply = await self._caller.ask(self._question(pending))
        except TimeoutError:
            raise timed_out(f"{_what(pending)}, and nobody answered in time.") from None
        if reply is None:
            raise cli_failed(f"{_what(pending)}, and nobody answered.", "question_unanswered")
        return reply

    def _question(self, pending: PendingRequest) -> Question:
        conversation = self._session.conversation
        return Question(
            pending,
            self._caller.client,
            self._folder,
            frozenset(conversation.capabilities),
            self._plan(pending) if pending.kind == "plan" else "",
        )

    def _plan(self, pending: PendingRequest) -> str:
        request = pending.request
        if not isinstance(request, CanUseTool):
            return ""
        tool_input: dict[str, Any] = {}
        if pending.tool_item_id is not None:
            item = self._session.conversation.item(pending.tool_item_id)
            tool_input = item.input if isinstance(item, ToolItem) else {}
        return plan_text(request.input, tool_input, _read_plan)


def nobody_there(pending: PendingRequest) -> ApiError:
    """There is no way to the person."""
    return cli_failed(
        f"{_what(pending)}, and nobody can be asked here. Use the endpoint of the window to be asked.",
        "question_unanswered",
    )


def _read_plan(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_PLAN)
    except (OSError, ValueError):
        return None


def _what(pending: PendingRequest) -> str:
    request = pending.request
    if pending.kind == "question":
        return "The model asked its user a question"
    if pending.kind == "plan":
        return "The model wanted its plan to be approved"
    if isinstance(request, CanUseTool):
        return f"The model wanted to use the tool {shown(request.tool_name)}"
    return "A tool server asked the user for something"
