"""A conversation as its user sees it: turns, words, tool calls, tasks, and what waits for a person.

`Conversation` is a pure machine (no clock, no I/O, no threads): messages go in, items and changes come out.
"""

from protocol.conversation.items import (
    Activity,
    Change,
    ChangeKind,
    Decision,
    Item,
    NoticeItem,
    NoticeKind,
    PendingKind,
    PendingRequest,
    State,
    StreamedItem,
    Task,
    TextItem,
    ThinkingItem,
    ToolItem,
    ToolStatus,
    TurnEndItem,
    UserItem,
    UserState,
)
from protocol.conversation.machine import Conversation
from protocol.conversation.notices import NOTICE_TEXTS

__all__ = [
    "NOTICE_TEXTS",
    "Activity",
    "Change",
    "ChangeKind",
    "Conversation",
    "Decision",
    "Item",
    "NoticeItem",
    "NoticeKind",
    "PendingKind",
    "PendingRequest",
    "State",
    "StreamedItem",
    "Task",
    "TextItem",
    "ThinkingItem",
    "ToolItem",
    "ToolStatus",
    "TurnEndItem",
    "UserItem",
    "UserState",
]
