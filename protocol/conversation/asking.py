"""What waits for a person, and what the person decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocol import permissions, questions
from protocol.conversation.items import Decision, PendingKind, PendingRequest, ToolItem
from protocol.conversation.tools import Tools
from protocol.conversation.transcript import Transcript
from protocol.messages import CanUseTool, ControlRequest, Elicitation

_UNSHOWABLE = str(questions.unusable("")["message"]).strip()
_OUR_WORDS = frozenset((questions.DISMISSED, permissions.DENIED, permissions.KEEP_PLANNING))
"""Messages of denials without words of the person's own."""


class Requests:
    """Open requests, in order of arrival.

    Attributes:
        pending: by request id. A request that no host can answer (`UnknownRequest`) never waits for a person.
    """

    def __init__(self, transcript: Transcript, tools: Tools) -> None:
        self.pending: dict[str, PendingRequest] = {}
        self._transcript = transcript
        self._tools = tools

    def add(self, message: ControlRequest) -> None:
        """The CLI asks."""
        request = message.request
        if message.request_id in self.pending:
            return
        if isinstance(request, CanUseTool):
            item = self._tools.asked(request)
            agent = self._tools.agent(request.agent_id, request.tool_use_id)
            item_id = item.id if item else None
            pending = self._new(message, kind_of(request.tool_name), agent, item_id)
        elif isinstance(request, Elicitation):
            pending = self._new(message, "elicitation", "", None)
        else:
            return
        self.pending[message.request_id] = pending
        self._transcript.tell("pending_added", message.request_id)

    def _new(self, message: ControlRequest, kind: PendingKind, agent: str, item_id: str | None) -> PendingRequest:
        return PendingRequest(message.request_id, kind, message.request, agent, self._transcript.now, item_id)

    def answered(self, response: Mapping[str, Any]) -> bool:
        """The host answered; False if nobody waits for that (it was withdrawn meanwhile)."""
        request_id, result = response.get("request_id"), response.get("response")
        pending = self.pending.get(request_id) if isinstance(request_id, str) else None
        if pending is None:
            return False
        item = self._item(pending)
        if item is not None and isinstance(pending.request, CanUseTool):
            if response.get("subtype") == "success" and isinstance(result, dict):
                self._decide(item, pending.kind, pending.request, result)
            else:
                error = response.get("error")
                self._tools.decided(item, "", allowed=False, reply=error if isinstance(error, str) else "")
        self._remove(pending, "answered")
        return True

    def _decide(self, item: ToolItem, kind: PendingKind, request: CanUseTool, result: dict[str, Any]) -> None:
        allowed = result.get("behavior") == "allow"
        message = result.get("message")
        reply = message if isinstance(message, str) and not allowed else ""
        if kind == "question" and allowed:
            item.chosen = _chosen(request, result)
        elif kind == "permission" and allowed and isinstance(updated := result.get("updatedInput"), dict):
            item.input = updated or item.input  # what runs is what the card shows
        own_words = "" if reply in _OUR_WORDS else reply
        self._tools.decided(item, decision_of(kind, result, reply), allowed=allowed, reply=own_words)

    def withdrawn(self, request_id: str) -> None:
        """The CLI no longer asks."""
        pending = self.pending.get(request_id)
        if pending is not None:
            item = self._item(pending)
            if item is not None:
                self._tools.withdrawn(item)
            self._remove(pending, "withdrawn")

    def has_result(self, tool_use_id: str) -> None:
        """A call has its result, so nobody is asked about it any more. Old CLIs do not say so otherwise."""
        for pending in list(self.pending.values()):
            if isinstance(pending.request, CanUseTool) and pending.request.tool_use_id == tool_use_id:
                self.withdrawn(pending.request_id)

    def turn_over(self) -> None:
        """The main conversation asks nothing between turns; subagents and MCP servers may."""
        for pending in list(self.pending.values()):
            if isinstance(pending.request, CanUseTool) and not pending.agent:
                self.withdrawn(pending.request_id)

    def exited(self) -> None:
        """There is nobody left to answer to."""
        for pending in list(self.pending.values()):
            self._remove(pending, "exited")

    def _item(self, pending: PendingRequest) -> ToolItem | None:
        request = pending.request
        return self._tools.get(request.tool_use_id) if isinstance(request, CanUseTool) else None

    def _remove(self, pending: PendingRequest, reason: str) -> None:
        del self.pending[pending.request_id]
        self._transcript.tell("pending_removed", pending.request_id, reason)


def kind_of(tool_name: str) -> PendingKind:
    """What asking about this tool asks for."""
    if tool_name == permissions.QUESTION_TOOL:
        return "question"
    return "plan" if tool_name == permissions.PLAN_TOOL else "permission"


def decision_of(kind: PendingKind, result: Mapping[str, Any], reply: str) -> Decision:
    """What a permission result says that the person decided; `reply` is its message, if it is a denial."""
    if result.get("behavior") == "allow":
        if kind == "question":
            return "answered"
        if kind == "plan":
            return "approved"
        return "allowed always" if result.get("updatedPermissions") else "allowed once"
    if kind == "question":
        if reply == questions.DISMISSED:
            return "dismissed"
        return "denied" if reply.startswith(_UNSHOWABLE) else "replied"
    return "kept planning" if kind == "plan" else "denied"


def _chosen(request: CanUseTool, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        return questions.describe(questions.parse_questions(request.input), result)
    except questions.UnusableQuestions:
        updated = result.get("updatedInput")
        answers = updated.get("answers") if isinstance(updated, dict) else None
        return [(str(key), str(value)) for key, value in answers.items()] if isinstance(answers, dict) else []
