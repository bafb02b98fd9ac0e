"""What a conversation consists of: the items of its transcript, what waits for a person, and what changed.

Items are mutable: each change raises the item's `revision` and is told as a `Change`. Their ids are the
conversation's own, unique for its lifetime. `at` is whatever clock the host passes in, seconds since 1970 usually.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from protocol.messages import CanUseTool, Elicitation, ImageBlock, UnknownRequest, WireModel

State = Literal["starting", "idle", "running", "requires_action", "exited"]
Activity = Literal["", "requesting", "thinking", "writing", "tool", "compacting", "retrying"]
UserState = Literal["queued", "sent", "started", "completed", "cancelled"]
ToolStatus = Literal["streaming", "waiting", "running", "done", "failed", "denied", "interrupted"]
Decision = Literal[
    "",
    "allowed once",
    "allowed always",
    "denied",
    "answered",
    "dismissed",
    "replied",
    "approved",
    "kept planning",
]
NoticeKind = Literal["error", "warning", "retry", "stopped", "compacted", "info", "exited"]
PendingKind = Literal["question", "permission", "plan", "elicitation", "unknown"]
ChangeKind = Literal[
    "item_added",
    "item_changed",
    "item_removed",
    "items_reset",
    "state",
    "pending_added",
    "pending_removed",
    "info",
]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different now.

    A host that collects changes before it looks at them passes them through `Conversation.current` first: what was
    added may be gone again.

    Attributes:
        kind: `item_*` (id: the item's), `items_reset` (look at all of them anew), `pending_*` (id: the request's),
            `state` (state, activity or current tool), `info` (anything else that the conversation knows).
        reason: why a request is gone: `answered`, `withdrawn` (by the CLI) or `exited`.
    """

    kind: ChangeKind
    id: str = ""
    reason: str = ""


class GrowingText:
    """A text field that grows piece by piece: a piece costs its own length, and reading joins what has come.

    Reads and writes as `str`. `grow` adds to it, so an answer of a thousand tokens is not copied a thousand times.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._parts_name = f"_{name}_parts"

    def __get__(self, item: object | None, owner: type) -> str:
        if item is None:
            return ""  # asked on the class, by dataclass: the default
        parts: list[str] = getattr(item, self._parts_name)
        if len(parts) > 1:
            parts[:] = ["".join(parts)]
        return parts[0] if parts else ""

    def __set__(self, item: object, text: str) -> None:
        setattr(item, self._parts_name, [text] if text else [])


def grow(item: StreamedItem | ToolItem, piece: str) -> None:
    """Puts `piece` at the end of the text that streams: an item's `text`, a tool call's `input_json`."""
    parts: list[str] = getattr(item, "_input_json_parts" if isinstance(item, ToolItem) else "_text_parts")
    parts.append(piece)


@dataclass(slots=True, eq=False)
class Item:
    """One entry of the transcript.

    Attributes:
        parent_tool_use_id: the tool call whose subagent this belongs to; None in the main conversation.
    """

    id: str
    revision: int = 0
    parent_tool_use_id: str | None = None
    at: float = 0.0


@dataclass(slots=True, eq=False, kw_only=True)
class UserItem(Item):
    """What the user sent.

    Attributes:
        uuid: the message's own id, "" where the host gave none.
        state: `queued` (waits for its turn), `sent` (nobody told more), `started`, `completed`, `cancelled`
            (withdrawn, or the CLI exited before it took it up).
    """

    text: str = ""
    images: tuple[ImageBlock, ...] = ()
    uuid: str = ""
    state: UserState = "sent"


@dataclass(eq=False, kw_only=True)
class StreamedItem(Item):
    """An item whose text grows while it streams.

    Attributes:
        message_id: the API's id of the message it is part of.
    """

    text: GrowingText = GrowingText()
    streaming: bool = False
    message_id: str = ""


@dataclass(eq=False, kw_only=True)
class TextItem(StreamedItem):
    """What Claude (or a local command) said, in Markdown.

    Attributes:
        aborted: it was cut: by an interrupt, or because the CLI gave this attempt up.
    """

    aborted: bool = False


@dataclass(eq=False, kw_only=True)
class ThinkingItem(StreamedItem):
    """What Claude thought. `duration_ms` is None until the CLI tells it; old CLIs never do."""

    duration_ms: float | None = None


@dataclass(eq=False, kw_only=True)
class ToolItem(Item):
    """A call of a tool.

    Attributes:
        input: what the tool gets; once allowed, what was allowed. {} while it streams.
        input_json: the input's JSON as far as it has streamed; it may not parse.
        status: `waiting` is for a person.
        decision: what the person decided; "" where nobody was asked (or has not answered yet).
        chosen: (question, answer) pairs of an answered AskUserQuestion.
        reply: what the person wrote with a decision, or the reason why the CLI itself refused.
        result_text: the result's words, whole.
        structured: the result's structured form (`tool_use_result`), whatever the tool made it.
        progress: what it is at, in the CLI's words or as a duration.
        agent: what the subagent that calls it was told to do, in short; "" in the main conversation.
    """

    tool_use_id: str = ""
    name: str = ""
    display_name: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    input_json: GrowingText = GrowingText()
    status: ToolStatus = "running"
    decision: Decision = ""
    chosen: list[tuple[str, str]] = field(default_factory=list)
    reply: str = ""
    result_text: str = ""
    result_images: tuple[ImageBlock, ...] = ()
    is_error: bool = False
    structured: Any = None
    progress: str = ""
    agent: str = ""


@dataclass(slots=True, eq=False, kw_only=True)
class NoticeItem(Item):
    """Something the user should know that nobody said.

    Attributes:
        text: an English template; the desktop translates it and fills in `values`.
        values: what the template's `{names}` stand for.
        detail: more, as it came: an error's own words, the end of stderr, a summary.
    """

    kind: NoticeKind = "info"
    text: str = ""
    detail: str = ""
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class TurnEndItem(Item):
    """The end of a turn.

    Attributes:
        cost_usd: what this turn cost, in US dollars; None where it cannot be told.
        usage: the API's token counts, summed over the turn.
    """

    duration_ms: float = 0.0
    cost_usd: float | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    num_turns: int = 0


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A question of the CLI's that waits for a person.

    Attributes:
        agent: what the subagent that asks was told to do, in short; "" for the main conversation.
        at: when it came, by the host's clock.
        tool_item_id: the tool card it belongs to, None where there is none.
    """

    request_id: str
    kind: PendingKind
    request: CanUseTool | Elicitation | UnknownRequest
    agent: str = ""
    at: float = 0.0
    tool_item_id: str | None = None


@dataclass(slots=True)
class Task:
    """A subagent or a background command.

    Attributes:
        kind: the CLI's `task_type`: `local_agent`, `local_bash`, …
        status: `running`, then `completed`, `failed`, `stopped` or what the CLI says.
        progress: what it is at.
        background: the main conversation goes on without waiting for it.
    """

    task_id: str
    tool_use_id: str = ""
    description: str = ""
    kind: str = ""
    subagent_type: str = ""
    status: str = "running"
    progress: str = ""
    summary: str = ""
    background: bool = False
    at: float = 0.0


def as_plain(value: Any) -> Any:
    """What an item, task or message holds, as plain JSON values; for comparing and for logs."""
    if isinstance(value, WireModel):
        return value.raw or value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = {entry.name: as_plain(getattr(value, entry.name)) for entry in dataclasses.fields(value)}
        return {"item": type(value).__name__, **plain} if isinstance(value, Item) else plain
    if isinstance(value, tuple | list):
        return [as_plain(entry) for entry in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return value
