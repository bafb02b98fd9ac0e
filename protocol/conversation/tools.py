"""Tool calls and tasks: what runs, what it waits for, what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from protocol.conversation.items import Decision, Task, ToolItem, ToolStatus, grow
from protocol.conversation.transcript import Transcript
from protocol.messages import (
    BackgroundTasksChanged,
    CanUseTool,
    PermissionDenied,
    TaskNotification,
    TaskProgress,
    TaskStarted,
    TaskUpdated,
    ToolResultBlock,
    ToolUseBlock,
)

_REFUSALS = frozenset({"denied", "dismissed", "replied", "kept planning"})
_STOPPED_RESULTS = (
    "The user doesn't want to proceed with this tool use",  # 2.1.76 and later
    "Tool permission request failed: AbortError",  # 2.0.x
    "[Request interrupted by user",
)
_TASK_ENDS: dict[str, ToolStatus] = {"completed": "done", "failed": "failed"}


class Tools:
    """The tool calls of a conversation, by their ids, and its tasks.

    Attributes:
        tasks: subagents and background commands that run, by task id.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.tasks: dict[str, Task] = {}
        self._transcript = transcript
        self._items: dict[str, ToolItem] = {}
        self._open: dict[str, ToolItem] = {}  # in order of their start
        self._withdrawn: set[str] = set()  # asked about, but the CLI took the question back
        self._background: set[str] = set()  # calls whose result only says that the work goes on
        self._agents: dict[str, str] = {}  # task id to what the subagent was told, also after its end
        self._agent_calls: dict[str, str] = {}  # task id to the call that started it

    # Calls

    def get(self, tool_use_id: str) -> ToolItem | None:
        """The item of a call."""
        return self._items.get(tool_use_id)

    @property
    def current(self) -> str:
        """The name of the tool that the main conversation works with; "" for none."""
        for item in reversed(self._open.values()):
            if item.parent_tool_use_id is None and item.tool_use_id not in self._background:
                return item.name
        return ""

    def begin(self, tool_use_id: str, name: str, parent: str | None, status: ToolStatus) -> ToolItem:
        """The item of a call, made if this is the first that is heard of it."""
        item = self._items.get(tool_use_id)
        if item is None:
            item = ToolItem(
                self._transcript.new_id(),
                parent_tool_use_id=parent,
                tool_use_id=tool_use_id,
                name=name,
                status=status,
                agent=self.description_of(parent),
            )
            self._items[tool_use_id] = self._open[tool_use_id] = item
            self._transcript.add(item)
        return item

    def stream(self, item: ToolItem, piece: str) -> None:
        """More of the input's JSON."""
        grow(item, piece)
        self._transcript.touch(item)

    def streamed(self, item: ToolItem) -> None:
        """The input is all there."""
        if item.status != "streaming":
            return
        item.status = "running"
        if not item.input:
            try:
                value = json.loads(item.input_json or "{}")
            except (ValueError, RecursionError):
                value = None
            item.input = value if isinstance(value, dict) else {}
        self._transcript.touch(item)

    def abandoned(self, item: ToolItem) -> None:
        """The call streamed but never became part of a message, so it never ran."""
        if item.tool_use_id in self._open and item.status in ("streaming", "running"):
            self._finish(item, "interrupted")

    def use(self, block: ToolUseBlock, parent: str | None, display_name: str) -> None:
        """The finished call, streamed before or not."""
        item = self.begin(block.id, block.name, parent, "running")
        item.parent_tool_use_id = item.parent_tool_use_id or parent
        item.name = block.name or item.name
        item.display_name = display_name or item.display_name
        if not item.decision:  # what a person allowed is what runs
            item.input = block.input or item.input
        if item.status == "streaming":
            item.status = "running"
        self._transcript.touch(item)

    def result(self, block: ToolResultBlock, structured: Any, meta: Mapping[str, Any]) -> None:
        """What a call returned; results of calls never seen (cleared away) are left out."""
        item = self._items.get(block.tool_use_id)
        if item is None:
            return
        item.result_text, item.result_images, item.is_error = block.text, block.images, block.is_error
        item.structured, item.progress = structured, ""
        if isinstance(structured, dict) and structured.get("status") == "async_launched":
            self._background.add(block.tool_use_id)
            item.status = "running"
            self._transcript.touch(item)
        else:
            self._finish(item, self._outcome(item, meta))

    def _outcome(self, item: ToolItem, meta: Mapping[str, Any]) -> ToolStatus:
        if item.decision in _REFUSALS or item.status == "denied":
            return "denied"
        if not item.is_error:
            return "done"
        kind = meta.get("non_execution_kind")
        stopped = kind == "user-rejected" or item.tool_use_id in self._withdrawn
        if stopped or item.result_text.startswith(_STOPPED_RESULTS):
            return "interrupted"
        return "denied" if kind == "permission-rule" else "failed"

    def _finish(self, item: ToolItem, status: ToolStatus) -> None:
        item.status = status
        self._open.pop(item.tool_use_id, None)
        self._background.discard(item.tool_use_id)
        self._withdrawn.discard(item.tool_use_id)
        self._transcript.touch(item)

    def progress(self, tool_use_id: str, text: str) -> None:
        """What a call is at."""
        item = self._open.get(tool_use_id)
        if item is not None and text:
            item.progress = text
            self._transcript.touch(item)

    # Decisions

    def asked(self, request: CanUseTool) -> ToolItem | None:
        """A person is asked about a call; it waits."""
        if not request.tool_use_id:
            return None
        # CLIs around 2.1.197 ask for a subagent's call before they show it; its task tells whose it is.
        parent = self._agent_calls.get(request.agent_id) or None
        item = self.begin(request.tool_use_id, request.tool_name, parent, "waiting")
        item.display_name = request.display_name or item.display_name
        item.input = item.input or request.input
        item.agent = item.agent or self._agents.get(request.agent_id, "")
        item.status = "waiting"
        self._open[item.tool_use_id] = item
        self._transcript.touch(item)
        return item

    def decided(self, item: ToolItem, decision: Decision, *, allowed: bool, reply: str) -> None:
        """The person has decided."""
        item.decision, item.reply = decision, reply
        item.status = "running" if allowed else "denied"
        self._transcript.touch(item)

    def withdrawn(self, item: ToolItem) -> None:
        """The CLI no longer asks: something else allowed it, or the turn was stopped. The result will tell."""
        if item.status == "waiting":
            item.status = "running"
            self._withdrawn.add(item.tool_use_id)
            self._transcript.touch(item)

    def refused(self, message: PermissionDenied) -> None:
        """The CLI itself refused a call, without asking."""
        item = self._items.get(message.tool_use_id)
        if item is not None:
            item.status, item.reply = "denied", message.message
            self._transcript.touch(item)

    # Ends

    def turn_over(self) -> None:
        """Calls and tasks of this turn that have no result will not get one; what is in the background goes on."""
        for task in list(self.tasks.values()):
            if not task.background and task.tool_use_id not in self._background:
                del self.tasks[task.task_id]
        for item in list(self._open.values()):
            if not self._goes_on(item):
                self._finish(item, "denied" if item.status == "denied" else "interrupted")

    def _goes_on(self, item: ToolItem) -> bool:
        seen: set[str] = set()
        call: ToolItem | None = item
        while call is not None and call.tool_use_id not in seen:
            if call.tool_use_id in self._background:
                return True
            seen.add(call.tool_use_id)
            call = self._items.get(call.parent_tool_use_id or "")
        return False

    def exited(self) -> None:
        """Nothing runs any more."""
        self._background.clear()
        self.turn_over()
        self.tasks.clear()

    def reset(self) -> None:
        """The items are gone."""
        for known in (self._items, self._open, self.tasks, self._agents, self._agent_calls):
            known.clear()
        self._withdrawn.clear()
        self._background.clear()

    # Tasks

    def description_of(self, parent: str | None) -> str:
        """What the subagent behind a call of Agent (Task, in old CLIs) was told, in short."""
        call = self._items.get(parent or "")
        if call is None:
            return ""
        for key in ("description", "subagent_type"):
            text = call.input.get(key)
            if isinstance(text, str) and text:
                return text
        return call.display_name or call.name

    def agent(self, agent_id: str, tool_use_id: str) -> str:
        """Who asks, in words; "" for the main conversation."""
        item = self._items.get(tool_use_id)
        if item is not None and item.agent:
            return item.agent
        return self._agents.get(agent_id, agent_id)

    def task_started(self, message: TaskStarted) -> None:
        """A task began, or its background twin is told in full."""
        task = self._task(message.task_id)
        task.tool_use_id = message.tool_use_id or task.tool_use_id
        task.description = message.description or task.description
        task.kind = message.task_type or task.kind
        task.subagent_type = message.subagent_type or task.subagent_type
        task.background = task.background or message.is_backgrounded
        self._agents[task.task_id] = task.description or task.subagent_type
        self._agent_calls[task.task_id] = task.tool_use_id

    def task_progress(self, message: TaskProgress) -> None:
        """A task tells what it is at."""
        task = self.tasks.get(message.task_id)
        text = message.summary or message.description or message.last_tool_name
        if task is not None:
            task.progress = text
        self.progress(message.tool_use_id or (task.tool_use_id if task else ""), text)

    def task_updated(self, message: TaskUpdated) -> None:
        """A task has changed; an end is only taken note of, since `task_notification` tells what came of it."""
        task = self.tasks.get(message.task_id)
        if task is None:
            return
        status, background = message.patch.get("status"), message.patch.get("is_backgrounded")
        if isinstance(status, str) and status:
            task.status = status
        if isinstance(background, bool):
            task.background = background

    def task_over(self, message: TaskNotification) -> None:
        """A task is over; a call that was answered with "it goes on" gets its true result."""
        task = self.tasks.pop(message.task_id, None)
        tool_use_id = message.tool_use_id or (task.tool_use_id if task else "")
        item = self._open.get(tool_use_id)
        if item is not None and tool_use_id in self._background:
            item.result_text = message.summary or item.result_text
            item.is_error, item.progress = message.status == "failed", ""
            self._finish(item, _TASK_ENDS.get(message.status, "interrupted"))

    def background_tasks(self, message: BackgroundTasksChanged) -> None:
        """The whole set of background tasks; what the main conversation waits for is not among them."""
        told: dict[str, Task] = {}
        for fields in message.tasks:
            task_id = fields.get("task_id")
            if isinstance(task_id, str) and task_id:
                told[task_id] = self._background_task(task_id, fields)
        waited_for = {key: task for key, task in self.tasks.items() if not task.background and key not in told}
        self.tasks.clear()
        self.tasks.update(waited_for | told)

    def _background_task(self, task_id: str, fields: Mapping[str, Any]) -> Task:
        task = self._task(task_id)
        task.background = True
        for name, key in (("description", "description"), ("kind", "task_type"), ("subagent_type", "subagent_type")):
            value = fields.get(key)
            if isinstance(value, str) and value:
                setattr(task, name, value)
        self._agents[task_id] = task.description or task.subagent_type
        return task

    def _task(self, task_id: str) -> Task:
        return self.tasks.setdefault(task_id, Task(task_id, at=self._transcript.now))
