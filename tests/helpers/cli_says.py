"""Objects as the CLI prints them, short enough to write a test with, and a conversation to try them on."""

from __future__ import annotations

from typing import Any

from protocol import requests
from protocol.conversation import Change, Conversation, Item, NoticeItem, TextItem, ThinkingItem, ToolItem, UserItem
from protocol.messages import parse_message

Wire = dict[str, Any]


def init(**fields: Any) -> Wire:
    return {"type": "system", "subtype": "init", "session_id": "s1", "model": "claude-x", **fields}


def system(subtype: str, **fields: Any) -> Wire:
    return {"type": "system", "subtype": subtype, **fields}


def status(value: str | None, **fields: Any) -> Wire:
    return system("status", status=value, **fields)


def told_state(value: str) -> Wire:
    return system("session_state_changed", state=value)


def event(kind: str, parent: str | None = None, **fields: Any) -> Wire:
    return {"type": "stream_event", "event": {"type": kind, **fields}, "parent_tool_use_id": parent}


def message_start(message_id: str = "m1", parent: str | None = None, **message: Any) -> Wire:
    return event("message_start", parent, message={"id": message_id, "content": [], **message})


def block_start(index: int, kind: str = "text", parent: str | None = None, **block: Any) -> Wire:
    return event("content_block_start", parent, index=index, content_block={"type": kind, **block})


def text_delta(text: str, index: int = 0, parent: str | None = None) -> Wire:
    return event("content_block_delta", parent, index=index, delta={"type": "text_delta", "text": text})


def thinking_delta(text: str, index: int = 0, parent: str | None = None) -> Wire:
    return event("content_block_delta", parent, index=index, delta={"type": "thinking_delta", "thinking": text})


def json_delta(piece: str, index: int = 0, parent: str | None = None) -> Wire:
    return event("content_block_delta", parent, index=index, delta={"type": "input_json_delta", "partial_json": piece})


def block_stop(index: int = 0, parent: str | None = None) -> Wire:
    return event("content_block_stop", parent, index=index)


def message_stop(parent: str | None = None) -> Wire:
    return event("message_stop", parent)


def assistant(*blocks: Wire | str, message_id: str = "m1", parent: str | None = None, **fields: Any) -> Wire:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": message_id, "model": "claude-x", "content": content}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, **fields}


def thinking(text: str) -> Wire:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def tool_use(tool_use_id: str = "t1", name: str = "Bash", **tool_input: Any) -> Wire:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": tool_input}


def tool_result(
    tool_use_id: str = "t1", content: Any = "done", *, is_error: bool = False, parent: str | None = None, **fields: Any
) -> Wire:
    block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent, **fields}


def user_text(text: str, **fields: Any) -> Wire:
    content = [{"type": "text", "text": text}]
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None, **fields}


def result(**fields: Any) -> Wire:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", "total_cost_usd": 0.0, **fields}


def aborted(reason: str = "aborted_streaming") -> Wire:
    return result(subtype="error_during_execution", is_error=True, terminal_reason=reason, errors=["[ede_diagnostic]"])


def may_i(request_id: str = "r1", tool_use_id: str = "t1", tool_name: str = "Bash", **fields: Any) -> Wire:
    request = {"subtype": "can_use_tool", "tool_name": tool_name, "tool_use_id": tool_use_id, "input": {}, **fields}
    return {"type": "control_request", "request_id": request_id, "request": request}


def cancel(request_id: str = "r1") -> Wire:
    return {"type": "control_cancel_request", "request_id": request_id}


def yes(request_id: str, response: Wire | None = None) -> Wire:
    inner = {"subtype": "success", "request_id": request_id, "response": response or {}}
    return {"type": "control_response", "response": inner}


def no(request_id: str, error: str = "no") -> Wire:
    return {"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": error}}


def question(text: str = "Which?", *labels: str) -> Wire:
    options = [{"label": label, "description": ""} for label in labels or ("A", "B")]
    return {"questions": [{"question": text, "header": "H", "options": options, "multiSelect": False}]}


class Talk:
    """A conversation that has had its handshake, to feed and look at. Fails on a fault of the conversation's own."""

    def __init__(self, *, handshake: bool = True) -> None:
        self.conversation = Conversation()
        self.changes: list[Change] = []
        if handshake:
            self.sends(requests.control_request("init", requests.initialize()))
            self.cli(yes("init", {}))
        self.changes.clear()

    def cli(self, *values: Wire, at: float = 0.0) -> list[Change]:
        """The CLI prints these."""
        changes: list[Change] = []
        for value in values:
            changes += self.conversation.apply(parse_message(value), at)
        return self._seen(changes)

    def sends(self, *values: Wire, at: float = 0.0) -> list[Change]:
        """The host writes these."""
        changes: list[Change] = []
        for value in values:
            changes += self.conversation.apply_sent(value, at)
        return self._seen(changes)

    def user(self, text: str = "hello", uuid: str = "") -> list[Change]:
        """The user sends a message."""
        message = requests.user_message(text, uuid=uuid)
        return self.sends(message if uuid else {**message, "uuid": None})

    def begins(self, text: str = "hello") -> None:
        """A turn that has just started; what it changed is forgotten."""
        self.user(text)
        self.cli(init())
        self.changes.clear()

    def answers(self, request_id: str, response: Wire) -> list[Change]:
        """The host answers a request of the CLI's."""
        return self.sends(requests.success(request_id, response))

    def _seen(self, changes: list[Change]) -> list[Change]:
        assert self.conversation.faults == []
        self.changes += changes
        return changes

    # Looking

    def only(self, kind: type[Item]) -> Any:
        """The one item of that kind."""
        found = [item for item in self.conversation.items if isinstance(item, kind)]
        assert len(found) == 1, [type(item).__name__ for item in self.conversation.items]
        return found[0]

    @property
    def tool(self) -> ToolItem:
        item = self.only(ToolItem)
        assert isinstance(item, ToolItem)
        return item

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.conversation.items if isinstance(item, TextItem)]

    @property
    def thoughts(self) -> list[str]:
        return [item.text for item in self.conversation.items if isinstance(item, ThinkingItem)]

    @property
    def notices(self) -> list[str]:
        """The kinds of the notices."""
        return [item.kind for item in self.conversation.items if isinstance(item, NoticeItem)]

    @property
    def messages(self) -> dict[str, str]:
        """The user's messages and their states."""
        return {item.text: item.state for item in self.conversation.items if isinstance(item, UserItem)}

    @property
    def kinds(self) -> list[str]:
        """The items' kinds, in order: `User`, `Text`, `Tool`, …"""
        return [type(item).__name__.removesuffix("Item") for item in self.conversation.items]


def kinds(changes: list[Change]) -> list[str]:
    """What kinds of changes these are, in order."""
    return [change.kind for change in changes]
