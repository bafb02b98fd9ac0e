"""One turn: from a user message to its result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fake_cli import local_commands, shapes, structured
from fake_cli.facts import AGENTS
from fake_cli.scenario import Step
from fake_cli.session import Queued, Session, Stopped
from fake_cli.speaker import Speaker

if TYPE_CHECKING:
    from fake_cli.steps.base import Runner


class TurnFailedError(Exception):
    """The API failed; carries what the result says."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure["text"])
        self.failure = failure


class Turn:
    """Attributes:
        messages: the user messages of this turn; more may be folded in while a request is open.
        denials: tool uses that were refused, for the result.
        overrides: fields that the scenario wants in the result; None there: no result at all.
    """

    def __init__(self, session: Session, messages: list[Queued], *, steps: Sequence[Step] | None = None,
                 origin: dict[str, Any] | None = None) -> None:
        self.session = session
        self.messages = messages
        self.denials: list[dict[str, Any]] = []
        self.overrides: dict[str, Any] | None = {}
        self.speaker = Speaker(session, streams=session.partial)
        self._steps = steps
        self._origin = origin
        self._started = time.monotonic()

    async def run(self) -> None:
        session = self.session
        session.turn_begun = True
        session.update_state()
        for message in self.messages:
            session.lifecycle(message, "started")
        session.facts["turn"] += 1
        session.facts |= {"model": session.model, "mode": session.mode}
        if self.messages:
            session.facts["user"] = self.messages[0].text
        try:
            await self._say()
        except (asyncio.CancelledError, Stopped):
            if session.finished.done():
                return
            session.withdraw_all(background=False)
            self._abort()
            self._end_lifecycle("cancelled")
        except TurnFailedError as error:
            self._result_of_failure(error.failure)
            self._end_lifecycle("completed")
        else:
            self._end_lifecycle("completed")

    def fold_in(self, messages: list[Queued]) -> None:
        """The model gets these with the next API message."""
        for message in messages:
            self.session.lifecycle(message, "started")
        self.messages.extend(messages)
        self.session.facts["folded"] = [message.text for message in messages]
        self._mark()

    def deny(self, tool_use_id: str, name: str, tool_input: Any) -> None:
        self.denials.append({"tool_name": name, "tool_use_id": tool_use_id, "tool_input": tool_input})

    def send_init(self) -> None:
        session = self.session
        servers = session.options.get("mcp_servers", [])
        fields: dict[str, Any] = {
            "cwd": session.facts["cwd"],
            "session_id": session.session_id,
            "tools": [*session.tools, *([structured.TOOL] if session.schema is not None else [])],
            "mcp_servers": servers,
            "model": session.model,
            "permissionMode": session.mode,
            "slash_commands": [command["name"] for command in session.options.get("commands") or local_commands.ALL],
            "apiKeySource": "none",
            "claude_code_version": session.version,
            "output_style": "default",
            "agents": [agent["name"] for agent in AGENTS],
            "skills": [],
            "plugins": [],
            "capabilities": session.capabilities,
            "additional_directories": session.arguments.lists.get("--add-dir", []),
            "fast_mode_state": "off",
        }
        uuids = self.speaker.marks.get("user_message_uuids")
        session.system("init", **fields, **({"user_message_uuids": uuids} if uuids else {}))

    def send_result(self, **fields: Any) -> None:
        """The result with what every result carries; `fields` say what this one is about."""
        session = self.session
        if self.overrides is None:
            return
        usage = shapes.NO_USAGE | {"input_tokens": session.usage["input"], "output_tokens": session.usage["output"]}
        window = int(session.options.get("context_window", 1_000_000))
        per_model = shapes.model_usage(session.model, int(session.usage["input"]), int(session.usage["output"]),
                                       session.usage["cost"], window)
        elapsed = int(1000 * (time.monotonic() - self._started))
        result: dict[str, Any] = {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "duration_ms": elapsed,
            "duration_api_ms": elapsed,
            "num_turns": 1 + self.speaker.tool_results,
            "stop_reason": "end_turn",
            "total_cost_usd": session.usage["cost"],
            "usage": usage,
            "modelUsage": per_model,
            "permission_denials": self.denials,
            "terminal_reason": "completed",
            "fast_mode_state": "off",
            "queued_turn_count": len(session.queue),
            "result_index": session.usage["results"],
        }
        result |= fields | ({"origin": self._origin} if self._origin else {}) | self.speaker.marks
        result |= self.overrides
        session.usage["results"] += 1
        session.last_was_error = bool(result["is_error"])
        session.send(result)

    async def _say(self) -> None:
        if self.messages and await local_commands.run(self):
            return
        self._mark()
        self.session.replay_later(self.messages)
        self.send_init()
        if self.session.stop_wanted:
            raise Stopped
        await self._runner().run(self._steps_to_run())
        if self.session.schema is not None and self.overrides is not None:
            await self._keep_to(self.session.schema)
        self.speaker.end("end_turn")
        self._result_of_success()

    async def _keep_to(self, schema: dict[str, Any]) -> None:
        """The tool call that ends a turn with a schema (recorded from 2.1.332); the scenario may say its value."""
        assert self.overrides is not None
        value = self.overrides.get("structured_output", structured.example(schema, self.speaker.said))
        if value is None:
            return
        tool_use_id = structured.new_tool_use_id()
        await self.speaker.tool_use(structured.TOOL, value, tool_use_id, pace=0)
        self.speaker.close_block()
        self.speaker.end("tool_use")
        self.speaker.tool_result(tool_use_id, structured.PROVIDED, structured=structured.PROVIDED)
        self.speaker.said = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self.overrides = {"structured_output": value, "stop_reason": "tool_use"} | self.overrides

    # -- details --------------------------------------------------------------------------------------------

    def _runner(self) -> Runner:
        from fake_cli.steps.base import Runner

        return Runner(self.session, self, self.speaker)

    def _steps_to_run(self) -> Sequence[Step]:
        if self._steps is not None:
            return self._steps
        return self.session.scenario.script_for(self.messages[0].text)

    def _mark(self) -> None:
        uuids = [message.uuid for message in self.messages if message.uuid]
        if uuids:
            self.speaker.marks = {"user_message_uuid": uuids[0], "user_message_uuids": uuids}

    def _result_of_success(self) -> None:
        begun = {"begun_message_ids": self.speaker.begun} if self.session.partial else {}
        self.send_result(api_error_status=None, result=self.speaker.said, ttft_ms=12, **begun)
        self.session.memory.save(self.session.scenario)

    def _result_of_failure(self, failure: dict[str, Any]) -> None:
        session = self.session
        extra = {"is_api_error_message": True}
        if failure["status"] is not None:
            extra |= {"api_error_status": failure["status"], "api_error_type": failure["kind"]}
        message = shapes.synthetic_message(f"synthetic_{session.usage['results']}", failure["text"])
        session.send({"type": "assistant", "message": message, "parent_tool_use_id": None, "timestamp": shapes.now(),
                      "error": failure["error"], **extra})
        self.send_result(is_error=True, api_error_status=failure["status"], result=failure["text"],
                         terminal_reason="api_error", stop_reason="stop_sequence")

    def _abort(self) -> None:
        """A stop: recordings ask_interrupted, bash_deny_interrupt, interrupt_streaming and ask_stdin_closed."""
        speaker = self.speaker
        in_tools = bool(speaker.unfinished)
        if in_tools:
            speaker.end("tool_use")
            for tool_use_id, (name, tool_input) in list(speaker.unfinished.items()):
                speaker.rejected(tool_use_id)
                if not self.session.input_closed:
                    self.deny(tool_use_id, name, tool_input)
            self.session.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
        else:
            speaker.abort_message()
        reason = "tool_use" if in_tools else None
        said = f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={reason or 'null'}"
        self.send_result(
            subtype="error_during_execution", is_error=True, stop_reason=reason, errors=[said],
            terminal_reason="aborted_tools" if in_tools else "aborted_streaming",
            num_turns=2 + speaker.tool_results,
        )
        self.session.memory.save(self.session.scenario)

    def _end_lifecycle(self, state: str) -> None:
        for message in self.messages:
            self.session.lifecycle(message, state)
