"""Subagents: an Agent tool whose steps run with a voice of their own (recording `subagent_permission`)."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from fake_cli.scenario import Step, fill
from fake_cli.session import Stopped
from fake_cli.speaker import Speaker
from fake_cli.steps.base import Finish, Runner, tool_step
from fake_cli.steps.tools import ACCEPTED_BY_RULE, ToolUse, begin_tool
from fake_cli.turn import Turn


@tool_step("agent", "prompt type steps result background streams after pace chunk")
async def agent(runner: Runner, one: Step, defer: bool) -> Finish:
    """A subagent; the step's value is its description. With `background` the turn goes on at once, and `after` holds
    the steps of the turn that the CLI starts by itself when the subagent is done."""
    subagent = _Subagent(runner, one)
    await begin_tool(runner, subagent.use, one, defer)

    async def finish() -> None:
        subagent.start()
        if not one.get("background"):
            await subagent.work()
            return
        task = runner.session.spawn(subagent.work_in_background())
        runner.session.background[subagent.task_id] = task
        subagent.launched()

    return finish


class _Subagent:
    def __init__(self, runner: Runner, one: Step) -> None:
        self._runner = runner
        self._session = runner.session
        self._step = one
        self.task_id = "a" + uuid.uuid4().hex[:16]
        kind = one.get("type", "general-purpose")
        tool_input = {"description": one.value, "prompt": one.get("prompt", one.value), "subagent_type": kind}
        self.use = ToolUse("Agent", tool_input, tool_input, None)
        self._names = {"agent_id": self.task_id, "subagent_type": kind, "task_description": one.value}

    def start(self) -> None:
        background = bool(self._step.get("background"))
        if background:
            entry = {"task_id": self.task_id, "task_type": "local_agent", "description": self._step.value,
                     "subagent_type": self._names["subagent_type"]}
            self._session.system("background_tasks_changed", tasks=[entry])
        self._session.system(
            "task_started", task_id=self.task_id, tool_use_id=self.use.tool_use_id, description=self._step.value,
            subagent_type=self._names["subagent_type"], is_backgrounded=background, spawn_depth=1,
            task_type="local_agent", prompt=self.use.input["prompt"],
        )

    def launched(self) -> None:
        said = f"Async agent launched successfully.\nagentId: {self.task_id}"
        structured = {"isAsync": True, "status": "async_launched", "agentId": self.task_id,
                      "description": self._step.value, "prompt": self.use.input["prompt"]}
        self._runner.speaker.tool_result(self.use.tool_use_id, [{"type": "text", "text": said}], structured=structured,
                                         meta=ACCEPTED_BY_RULE)

    async def work(self) -> None:
        """In the foreground: the turn waits."""
        try:
            said = await self._run_steps()
        except (asyncio.CancelledError, Stopped):
            self._ended("stopped", "")
            raise
        self._ended("completed", said)
        content = [{"type": "text", "text": said}]
        structured = {"status": "completed", "prompt": self.use.input["prompt"], "agentId": self.task_id,
                      "content": content, "totalDurationMs": 1840, "totalTokens": 3120, "totalToolUseCount": 1}
        self._runner.speaker.tool_result(self.use.tool_use_id, content, structured=structured, meta=ACCEPTED_BY_RULE)
        self._runner.keep(self._step, {"decision": "completed", "result": said})

    async def work_in_background(self) -> None:
        status, said = "completed", ""
        try:
            said = await self._run_steps()
        except (asyncio.CancelledError, Stopped):
            status = "stopped"
        session = self._session
        if session.finished.done():
            return
        self._ended(status, said)
        session.background.pop(self.task_id, None)
        session.system("background_tasks_changed", tasks=[])
        self._runner.keep(self._step, {"decision": status, "result": said})
        after = self._step.get("after")
        if after and status == "completed":
            origin = {"kind": "task-notification", "producer": "session-task"}
            session.follow_ups.append(lambda: Turn(session, [], steps=after, origin=origin).run())
        session.go_on()

    async def _run_steps(self) -> str:
        streams = self._session.partial and bool(self._step.get("streams"))
        voice = Speaker(self._session, parent=self.use.tool_use_id, agent=self._names, streams=streams)
        background = bool(self._step.get("background"))
        inner = Runner(self._session, self._runner.turn, voice, agent_id=self.task_id, background=background)
        await inner.run(self._step.get("steps", ()))
        voice.end("end_turn")
        return str(fill(self._step.get("result"), self._session.facts) or voice.said or "Done.")

    def _ended(self, status: str, summary: str) -> None:
        if self._session.finished.done():
            return
        names: dict[str, Any] = {"task_id": self.task_id}
        self._session.system("task_updated", **names, patch={"status": "killed" if status == "stopped" else status})
        self._session.system(
            "task_notification", **names, tool_use_id=self.use.tool_use_id, status=status, summary=summary,
            output_file="", usage={"total_tokens": 3120, "tool_uses": 1, "duration_ms": 1840},
        )
