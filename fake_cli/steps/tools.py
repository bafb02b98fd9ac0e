"""Tool uses, with their permission requests and results. Everything they work on is imaginary."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import dataclass, field
from typing import Any

from fake_cli import facts, strict
from fake_cli.scenario import Step
from fake_cli.session import Check, Pending, Reply, Stopped
from fake_cli.steps.base import Finish, Runner, tool_step

ACCEPTED = {"permission_decision": {"decision": "accept", "source": "user_temporary"}}
ACCEPTED_BY_RULE = {"permission_decision": {"decision": "accept", "source": "config"}}
ACCEPTED_BY_MODE = {"permission_decision": {"decision": "accept", "source": "config", "reason_type": "mode"}}
DENIED = {"decision": "reject", "source": "user_reject"}


@dataclass
class ToolUse:
    """Attributes:
    shown: the input in the permission request; usually the tool's own.
    fields: what else the request says; None when nobody is to be asked.
    always_asks: whether a person is asked in every mode (questions and plans).
    """

    name: str
    input: Any
    shown: Any
    fields: dict[str, Any] | None
    check: Check | None = None
    always_asks: bool = False
    tool_use_id: str = ""
    withdraw_after: float | None = None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass
class Decision:
    """What a person or the mode decided; `outcome` is what later steps can refer to."""

    allowed: bool
    reply: dict[str, Any]
    outcome: dict[str, Any]
    accepted_meta: dict[str, Any] = field(default_factory=lambda: ACCEPTED_BY_RULE)
    asked: bool = False


class Permission:
    """Asks for one tool use, if somebody has to be asked, and handles everything but an allow."""

    def __init__(self, runner: Runner, tool: ToolUse) -> None:
        self._runner = runner
        self._tool = tool
        self._pending: Pending | None = None
        self._verdict = _verdict(runner, tool)

    def ask(self) -> None:
        """Sends the request; `decision` waits for the reply."""
        if self._verdict != "ask" or self._pending is not None:
            return
        tool = self._tool
        request: dict[str, Any] = {"subtype": "can_use_tool", "tool_name": tool.name, "display_name": tool.name,
                                   "input": tool.shown}
        request |= tool.fields or {}
        request["tool_use_id"] = tool.tool_use_id
        if self._runner.agent_id:
            request["agent_id"] = self._runner.agent_id
        if tool.always_asks:
            request["requires_user_interaction"] = True
        self._pending = self._runner.session.ask(request, self._check, background=self._runner.background)

    async def decision(self) -> Decision:
        """Raises Stopped when the person denied and stopped the turn with it."""
        if self._verdict == "allow":
            meta = ACCEPTED_BY_RULE if self._tool.fields is None else ACCEPTED_BY_MODE
            return Decision(True, {"updatedInput": self._tool.shown}, {"decision": "allowed", "by": "mode"}, meta)
        if self._verdict == "deny":
            return self._denied_by_mode()
        self.ask()
        assert self._pending is not None
        reply = await self._reply(self._pending)
        if reply.withdrawn:
            self._runner.speaker.rejected(self._tool.tool_use_id)
            return Decision(False, {}, {"decision": "withdrawn"}, asked=True)
        if reply.error is not None:
            return self._denied(f"Tool permission request failed: {reply.error}", "refused", "other")
        if reply.response.get("behavior") == "allow":
            return self._allowed(reply.response)
        message = reply.response.get("message")
        if not isinstance(message, str) or reply.response.get("behavior") != "deny":
            return self._denied(facts.INVALID_RESULT, "invalid", "other")  # only with --lenient
        if reply.response.get("interrupt"):
            raise Stopped
        return self._denied(message, "denied")

    async def _reply(self, pending: Pending) -> Reply:
        if self._tool.withdraw_after is None:
            return await pending.future
        try:
            return await asyncio.wait_for(asyncio.shield(pending.future), self._tool.withdraw_after)
        except TimeoutError:
            self._runner.session.withdraw(pending)
            return await pending.future

    def _check(self, response: dict[str, Any]) -> str | None:
        tool = self._tool
        suggestions = (tool.fields or {}).get("permission_suggestions", [])
        plan = tool.name == "ExitPlanMode"
        shown = None if tool.check else tool.shown
        problem = strict.permission_result(response, shown, suggestions, plan)
        if problem or tool.check is None or response.get("behavior") != "allow":
            return problem
        return tool.check(response)

    def _allowed(self, response: dict[str, Any]) -> Decision:
        session = self._runner.session
        updates = response.get("updatedPermissions") or []
        mode = None
        for update in updates:
            if update.get("type") == "setMode":
                mode = update["mode"]
                session.set_mode(mode)
            elif update.get("type") == "addRules":
                session.rules.extend(update.get("rules", []))
        outcome = {"decision": "allowed", "by": "person", "always": bool(updates), "mode": mode or session.mode,
                   "updates": updates}
        return Decision(True, response, outcome, ACCEPTED, asked=True)

    def _denied(self, message: str, decision: str, reason: str | None = None) -> Decision:
        """`reason`: why it was not the person who denied it."""
        why = {"decision": "reject", "source": "config", "reason_type": reason} if reason else DENIED
        self._runner.speaker.tool_result(
            self._tool.tool_use_id, message, is_error=True, structured=f"Error: {message}",
            meta={"non_execution_kind": "permission-rule", "permission_decision": why},
        )
        self._runner.turn.deny(self._tool.tool_use_id, self._tool.name, self._tool.shown)
        return Decision(False, {}, {"decision": decision, "message": message}, asked=True)

    def _denied_by_mode(self) -> Decision:
        name = self._tool.name
        message = (f"Permission to use {name} has been denied because Claude Code is running in don't ask mode. "
                   "STOP and explain to the user what you were trying to do.")
        self._runner.session.system("permission_denied", tool_name=name, tool_use_id=self._tool.tool_use_id,
                                    decision_reason_type="mode", message=message)
        return self._denied(message, "denied by mode", "mode")


def _verdict(runner: Runner, tool: ToolUse) -> str:
    session = runner.session
    if tool.fields is None:
        return "allow"
    if session.mode == "dontAsk":
        return "deny"
    if tool.always_asks:
        return "ask"
    if session.mode == "bypassPermissions" or (session.mode == "acceptEdits" and tool.name in facts.EDITING_TOOLS):
        return "allow"
    content = tool.input.get("command") if isinstance(tool.input, dict) else None
    for rule in session.rules:
        if rule.get("toolName") == tool.name and rule.get("ruleContent") in (None, content):
            return "allow"
    return "ask"


async def begin_tool(runner: Runner, tool: ToolUse, one: Step, defer: bool) -> Permission:
    """The tool_use block and, unless deferred, the request."""
    tool.tool_use_id = runner.new_tool_use_id()
    pace = runner.tool_pace(one)
    await runner.speaker.tool_use(tool.name, tool.input, tool.tool_use_id, pace=pace, meta=tool.meta or None)
    if runner.agent_id:
        runner.session.system("task_progress", task_id=runner.agent_id, tool_use_id=runner.speaker.parent,
                              description=f"Running {tool.name}", last_tool_name=tool.name,
                              usage={"total_tokens": 13, "tool_uses": 1, "duration_ms": 55})
    permission = Permission(runner, tool)
    if not defer:
        permission.ask()
    return permission


def fold_waiting_messages(runner: Runner, decision: Decision) -> None:
    """Messages that came while a person was asked belong to this turn."""
    if decision.asked and runner.agent_id is None and runner.session.queue:
        runner.turn.fold_in(runner.session.take_queued())


@tool_step(
    "tool",
    "input result structured is_error takes progress ask shown pace chunk withdraw_after line original",
)
async def tool(runner: Runner, one: Step, defer: bool) -> Finish:
    """Any tool. `ask` (true, or an object with fields of the request) makes it ask for permission first."""
    tool_input = one.get("input", {})
    ask = one.get("ask")
    fields = None if not ask else dict(ask) if isinstance(ask, dict) else {}
    if fields is not None and isinstance(tool_input, dict) and "description" in tool_input:
        fields = {"description": tool_input["description"], **fields}
    use = ToolUse(one.value, tool_input, one.get("shown", tool_input), fields, withdraw_after=one.get("withdraw_after"))
    permission = await begin_tool(runner, use, one, defer)

    async def finish() -> None:
        decision = await permission.decision()
        if decision.allowed:
            await _work(runner, one, use)
            content, structured = result_of(one)
            is_error = one.get("is_error", False if one.value == "Bash" else None)
            runner.speaker.tool_result(use.tool_use_id, content, is_error=is_error, structured=structured,
                                       meta=decision.accepted_meta)
        runner.keep(one, decision.outcome)
        fold_waiting_messages(runner, decision)

    return finish


@tool_step("todos", "pace")
async def todos(runner: Runner, one: Step, defer: bool) -> Finish:
    """A TodoWrite: a list of `[status, content]`, or of whole entries."""
    entries = [
        {"content": item[1], "status": item[0], "activeForm": item[1]} if isinstance(item, list) else item
        for item in one.value
    ]
    use = ToolUse("TodoWrite", {"todos": entries}, None, None)
    await begin_tool(runner, use, one, defer)

    async def finish() -> None:
        said = "Todos have been modified successfully. Ensure that you continue to use the todo list."
        runner.speaker.tool_result(use.tool_use_id, said, structured={"oldTodos": [], "newTodos": entries})

    return finish


async def _work(runner: Runner, one: Step, use: ToolUse) -> None:
    seconds = float(one.get("takes", 0))
    elapsed = 0.0
    while one.get("progress") and elapsed + 1 < seconds:
        await runner.session.pause(1)
        elapsed += 1
        runner.session.send({"type": "tool_progress", "tool_use_id": use.tool_use_id, "tool_name": use.name,
                             "parent_tool_use_id": runner.speaker.parent, "elapsed_time_seconds": elapsed})
    await runner.session.pause(seconds - elapsed)


def result_of(one: Step) -> tuple[Any, Any]:
    """(content, structured result), made up in the tool's own form where the scenario gives only the essence."""
    tool_input = one.get("input", {})
    content, structured = one.get("result"), one.get("structured")
    path = tool_input.get("file_path", "") if isinstance(tool_input, dict) else ""
    if one.value == "Bash":
        text = content if isinstance(content, str) else ""
        structured = structured or {"stdout": text, "stderr": "", "interrupted": False, "isImage": False,
                                    "noOutputExpected": not text}
        content = content or "(Bash completed with no output)"
    elif one.value == "Edit":
        content = content or f"The file {path} has been updated successfully."
        structured = structured or _edit_result(one, tool_input)
    elif one.value == "Write":
        content = content or f"File created successfully at: {path}"
        structured = structured or {"type": "create", "filePath": path, "content": tool_input.get("content", ""),
                                    "structuredPatch": [], "originalFile": None}
    elif one.value == "Read" and isinstance(content, str):
        lines = content.split("\n")
        start = int(tool_input.get("offset", 1))
        structured = structured or {"type": "text", "file": {"filePath": path, "content": content,
                                    "numLines": len(lines), "startLine": start, "totalLines": len(lines)}}
        content = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start))
    return ("" if content is None else content), structured


def _edit_result(one: Step, tool_input: dict[str, Any]) -> dict[str, Any]:
    old, new = str(tool_input.get("old_string", "")), str(tool_input.get("new_string", ""))
    line = int(one.get("line", 1))
    changes = [change[0] + change[2:] for change in difflib.ndiff(old.split("\n"), new.split("\n"))
               if not change.startswith("?")]
    hunk = {"oldStart": line, "oldLines": len(old.split("\n")), "newStart": line, "newLines": len(new.split("\n")),
            "lines": changes}
    return {"filePath": tool_input.get("file_path", ""), "oldString": old, "newString": new,
            "originalFile": one.get("original"), "structuredPatch": [hunk], "userModified": False,
            "replaceAll": bool(tool_input.get("replace_all"))}
