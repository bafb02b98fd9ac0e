"""What can be read of a conversation at any time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from protocol.conversation.asking import Requests
from protocol.conversation.facts import Facts
from protocol.conversation.items import Activity, Change, Item, PendingRequest, State, Task, as_plain
from protocol.conversation.local_commands import LocalCommands
from protocol.conversation.notices import Notices
from protocol.conversation.past import Past
from protocol.conversation.speech import Speech
from protocol.conversation.tools import Tools
from protocol.conversation.transcript import Transcript
from protocol.conversation.users import UserMessages
from protocol.wire import DamagedLine

_DAMAGED_LINES_KEPT = 20


class ConversationState(Facts):
    """The parts of a conversation and a look at each.

    Attributes:
        faults: the first bugs of ours that messages brought to light; the conversation went on. Empty, hopefully.
        damaged: how many lines were no messages; the newest of them are in `damaged_lines`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.damaged = 0
        self.damaged_lines: deque[DamagedLine] = deque(maxlen=_DAMAGED_LINES_KEPT)
        self._transcript = Transcript()
        self._tools = Tools(self._transcript)
        self._speech = Speech(self._transcript, self._tools)
        self._users = UserMessages(self._transcript)
        self._requests = Requests(self._transcript, self._tools)
        self._notices = Notices(self._transcript)
        self._commands = LocalCommands(self._transcript, self._notices)
        self._past = Past(self._transcript, self._tools, self._speech, self._users, self._notices)
        self._base: State = "starting"
        self._activity: Activity = ""

    @property
    def items(self) -> Sequence[Item]:
        """The transcript, oldest first."""
        return self._transcript.items

    def item(self, item_id: str) -> Item:
        """The item of that id; raises KeyError if there is none."""
        return self._transcript.items[self._transcript.position(item_id)]

    def current(self, changes: Sequence[Change]) -> list[Change]:
        """Those of the changes that are still true: not the addition of an item that is gone again by now.

        For hosts that tell changes in batches: `/clear` in the same batch would otherwise leave ids without items.
        """
        return [
            change
            for change in changes
            if change.kind not in ("item_added", "item_changed") or self._transcript.holds(change.id)
        ]

    def index_of(self, item_id: str) -> int:
        """Where the item of that id stands, from 0; raises KeyError if there is none."""
        return self._transcript.position(item_id)

    @property
    def pending(self) -> Mapping[str, PendingRequest]:
        """What waits for a person, by request id, in order of arrival."""
        return self._requests.pending

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Subagents and background commands that run, by task id."""
        return self._tools.tasks

    @property
    def state(self) -> State:
        """What the conversation is at; the CLI's own word for it where it sends one."""
        if self._base == "exited" or not self._requests.pending:
            return self._base
        return "requires_action"

    @property
    def activity(self) -> Activity:
        """What Claude is doing in this turn; "" between turns."""
        return self._activity

    @property
    def current_tool(self) -> str:
        """The tool that the main conversation works with, "" for none."""
        return self._tools.current

    def snapshot(self) -> dict[str, Any]:
        """All of it as plain JSON values; equal histories give equal snapshots."""
        facts = {name: as_plain(value) for name, value in vars(self).items() if not name.startswith("_")}
        del facts["damaged_lines"]
        return {
            **facts,
            "state": self.state,
            "activity": self.activity,
            "current_tool": self.current_tool,
            "items": [as_plain(item) for item in self.items],
            "pending": [as_plain(request) for request in self.pending.values()],
            "tasks": [as_plain(task) for task in self.tasks.values()],
        }
