"""`Conversation`: messages in, items and changes out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from protocol.conversation import notices as texts
from protocol.conversation.items import (
    Activity,
    Change,
    NoticeKind,
    TextItem,
    TurnEndItem,
)
from protocol.conversation.local_commands import CLEARING
from protocol.conversation.state import ConversationState
from protocol.conversation.users import text_of
from protocol.messages import (
    ApiRetry,
    AssistantMessage,
    AuthStatus,
    BackgroundTasksChanged,
    CanUseTool,
    CommandLifecycle,
    CommandsChanged,
    CompactBoundary,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ConversationReset,
    Message,
    Notification,
    PermissionDenied,
    PromptSuggestion,
    RateLimitEvent,
    ResultMessage,
    SessionStateChanged,
    SessionTitleChanged,
    StreamEvent,
    SystemInit,
    SystemStatus,
    TaskNotification,
    TaskProgress,
    TaskStarted,
    TaskUpdated,
    ToolProgress,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    parse_message,
)
from protocol.wire import DamagedLine

_log = logging.getLogger(__name__)

_FAULTS_KEPT = 20
_INTERRUPTED = "[Request interrupted by user"
_SYNTHETIC = "<synthetic>"  # the `model` of what the CLI itself says; its usage is all zeros
_BLOCK_ACTIVITY: dict[object, Activity] = {
    "text": "writing",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool",
    "server_tool_use": "tool",
    "mcp_tool_use": "tool",
}


class Conversation(ConversationState):
    """One conversation as its user sees it. Pure: no clock, no I/O, no threads; nothing here raises.

    Feed it what the CLI says (`apply`), what the host wrote (`apply_sent`), lines that were no messages
    (`apply_damage`) and the process's end (`apply_exit`); each returns what changed. It outlives the process: the
    next `initialize` begins anew, below what is there.
    """

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, dict[str, Any]] = {}  # our own requests that have no answer yet
        self._state_is_told = False
        self._turn_began = False
        self._spoke = False  # this turn has shown words
        self._interrupted = False  # this turn was asked to stop
        self._handlers: dict[type[Message], Callable[[Any], None]] = {
            StreamEvent: self._on_stream,
            AssistantMessage: self._on_assistant,
            UserMessage: self._on_user,
            ResultMessage: self._on_result,
            ControlRequest: self._on_request,
            ControlResponse: self._on_response,
            ControlCancelRequest: lambda message: self._requests.withdrawn(message.request_id),
            SystemInit: self._on_init,
            SystemStatus: self._on_status,
            SessionStateChanged: self._on_state,
            ApiRetry: self._on_retry,
            CompactBoundary: self._notices.compacted,
            TaskStarted: self._tools.task_started,
            TaskProgress: self._tools.task_progress,
            TaskUpdated: self._tools.task_updated,
            TaskNotification: self._tools.task_over,
            BackgroundTasksChanged: self._tools.background_tasks,
            PermissionDenied: self._tools.refused,
            CommandsChanged: lambda message: self._learn(commands=message.commands),
            Notification: self._on_notification,
            SessionTitleChanged: lambda message: self._learn(title=message.title),
            RateLimitEvent: self._on_rate_limit,
            ConversationReset: self._on_reset,
            PromptSuggestion: lambda message: self._learn(suggestion=message.suggestion),
            ToolProgress: self._on_tool_progress,
            CommandLifecycle: self._on_lifecycle,
            AuthStatus: self._on_auth,
        }

    # Write

    def apply(self, message: Message, at: float = 0.0) -> list[Change]:
        """Takes one message of the CLI's; `at` is the host's time. Unknown messages change nothing."""
        return self._change(at, self._handlers.get(type(message), _nothing), message)

    def apply_sent(self, value: Mapping[str, Any], at: float = 0.0) -> list[Change]:
        """Takes one object that the host wrote: user messages, answers and requests have their effect here."""
        return self._change(at, self._on_sent, value)

    def apply_damage(self, line: DamagedLine, at: float = 0.0) -> list[Change]:
        """Takes a line that was no message. Only one past the cap is worth telling: something was lost."""
        return self._change(at, self._on_damage, line)

    def apply_exit(
        self, code: int | None, stderr_tail: str = "", at: float = 0.0, *, asked: bool = False
    ) -> list[Change]:
        """The process is gone: nothing waits, runs or streams any more.

        Args:
            asked: the host closed it; that is nothing to tell the person.
        """
        return self._change(at, lambda _: self._on_exit(code, stderr_tail, asked=asked), None)

    def load(self, entries: Iterable[Mapping[str, Any]]) -> list[Change]:
        """Shows a conversation of an earlier day, from the lines that the CLI keeps on disk, oldest first."""
        return self._change(0.0, self._load, entries)

    def notice(self, kind: NoticeKind, text: str, detail: str = "", at: float = 0.0, **values: Any) -> list[Change]:
        """Adds a notice of the host's own; `text` is a template for `values`."""
        return self._change(at, lambda _: self._notices.add(kind, text, detail, **values), None)

    def _change(self, at: float, handler: Callable[[Any], Any], argument: Any) -> list[Change]:
        self._transcript.now = at
        before = (self.state, self._activity, self.current_tool)
        self._guarded(handler, argument)
        if (self.state, self._activity, self.current_tool) != before:
            self._transcript.tell("state")
        if self._learned:
            self._learned = False
            self._transcript.tell("info")
        return self._transcript.take_changes()

    def _guarded(self, handler: Callable[[Any], Any], argument: Any) -> None:
        try:
            handler(argument)
        except Exception as error:  # a bug of ours must not end the user's conversation
            _log.exception("could not apply %s", type(argument).__name__)
            if len(self.faults) < _FAULTS_KEPT:
                self.faults.append(f"{type(argument).__name__}: {error!r}")

    def _load(self, entries: Iterable[Mapping[str, Any]]) -> None:
        for entry in entries:
            self._guarded(self._past.entry, entry)
        self._past.over()
        self._transcript.take_changes()
        self._transcript.tell("items_reset")

    # What the host wrote

    def _on_sent(self, value: Mapping[str, Any]) -> None:
        kind, response, request_id = value.get("type"), value.get("response"), value.get("request_id")
        if kind == "user":
            self._on_sent_user(value)
        elif kind == "control_response" and isinstance(response, dict):
            self._on_sent_response(response)
        elif kind == "control_request" and isinstance(request_id, str):
            request = value.get("request")
            self._on_sent_request(request_id, request if isinstance(request, dict) else {})

    def _on_sent_user(self, value: Mapping[str, Any]) -> None:
        idle = self._base in ("idle", "starting", "exited")
        self._users.sent(value, idle=idle)
        self.suggestion = ""
        if self._base == "idle":
            self._base, self._activity = "running", "requesting"

    def _on_sent_response(self, response: Mapping[str, Any]) -> None:
        request_id = response.get("request_id")
        pending = self.pending.get(request_id) if isinstance(request_id, str) else None
        if pending is None or not self._requests.answered(response):
            return
        if self._base == "requires_action":
            self._base = "running"
        result = response.get("response")
        if not isinstance(pending.request, CanUseTool) or not isinstance(result, dict):
            return
        self._interrupted = self._interrupted or result.get("interrupt") is True
        for update in _dicts(result.get("updatedPermissions")):
            mode = update.get("mode")
            if update.get("type") == "setMode" and isinstance(mode, str) and result.get("behavior") == "allow":
                self._learn(permission_mode=mode)

    def _on_sent_request(self, request_id: str, request: dict[str, Any]) -> None:
        self._asked[request_id] = request
        if request.get("subtype") == "interrupt" and self._base != "idle":
            self._interrupted = True
        elif request.get("subtype") == "initialize":  # a new process
            self._asked = {request_id: request}
            self._base, self._activity = "starting", ""
            self.permission_mode = ""  # it may not take the one that it is asked for
            self._state_is_told = self._turn_began = self._spoke = self._interrupted = False
            title = request.get("title")
            self._learn(title=title if isinstance(title, str) else "")

    # What the CLI says: control

    def _on_request(self, message: ControlRequest) -> None:
        self._requests.add(message)

    def _on_response(self, message: ControlResponse) -> None:
        request = self._asked.pop(message.request_id, None)
        if request is None or not message.ok:
            return
        reply = self._learn_reply(request, message.response)
        if reply is not None:
            if self._base == "starting":
                self._base = "running" if self._users.unanswered else "idle"
            for pending in reply.pending_permission_requests:
                again = parse_message({"type": "control_request", **pending})
                if isinstance(again, ControlRequest):
                    self._on_request(again)
        elif request.get("subtype") == "cancel_async_message" and message.response.get("cancelled") is True:
            uuid = request.get("message_uuid")
            self._users.cancelled(uuid if isinstance(uuid, str) else "")

    def _on_lifecycle(self, message: CommandLifecycle) -> None:
        self._users.lifecycle(message.command_uuid, message.state)

    # What the CLI says: the course of a turn

    def _on_init(self, message: SystemInit) -> None:
        # CLIs before 2.1.332 tell of a /clear only by a new session id.
        command = self._users.last_text.split(maxsplit=1)[:1]
        if self.session_id not in ("", message.session_id) and CLEARING.issuperset(command) and command:
            self._clear("")
        self._learn_init(message)
        self._users.turn_started()
        if self._users.unanswered:
            self._running("requesting")

    def _running(self, activity: Activity) -> None:
        self._turn_began = True
        if not self._state_is_told and self._base != "exited":
            self._base = "running"
        self._activity = activity

    def _on_state(self, message: SessionStateChanged) -> None:
        if message.state == "running":
            self._base = "running"
        elif message.state == "requires_action":
            self._base = "requires_action"
        elif message.state == "idle":
            self._base, self._activity = "idle", ""
        else:
            return
        self._state_is_told = True

    def _on_status(self, message: SystemStatus) -> None:
        self._learn(permission_mode=message.permission_mode)
        if message.status == "compacting":
            self._activity = "compacting"
        elif message.status == "requesting":
            self._running("requesting")
        elif self._activity == "compacting":
            self._activity = "" if self._base == "idle" else "requesting"
        if message.compact_result == "failed" and not self._users.last_text.startswith("/compact"):
            self._notices.add("warning", texts.NOT_COMPACTED, message.compact_error)

    def _on_retry(self, message: ApiRetry) -> None:
        self._notices.retry(message)
        self._running("retrying")

    def _on_stream(self, message: StreamEvent) -> None:
        event, parent = message.event, message.parent_tool_use_id
        self._speech.event(event, parent)
        if parent is not None:
            return
        kind = event.get("type")
        if kind == "message_start":
            self._notices.retry_over()
            self._running("requesting")
            inner = event.get("message")
            self._learn_usage(inner.get("usage") if isinstance(inner, dict) else None, fresh=True)
        elif kind == "content_block_start":
            block = event.get("content_block")
            block_type = block.get("type") if isinstance(block, dict) else None
            activity = _BLOCK_ACTIVITY.get(block_type) if isinstance(block_type, str) else None
            self._running(activity or "writing")
        elif kind == "message_delta":
            self._learn_usage(event.get("usage"), fresh=False)

    def _on_assistant(self, message: AssistantMessage) -> None:
        main = message.parent_tool_use_id is None
        if message.error and main:
            status = message.raw.get("api_error_status")
            self._notices.error(message.error, status if isinstance(status, int) else None, text_of(message.content))
            self._spoke = True
            self._running("requesting")
            return
        spoke = self._speech.message(message)
        if not main:
            return
        self._notices.retry_over()
        self._spoke = self._spoke or spoke
        self._running("tool" if any(isinstance(block, ToolUseBlock) for block in message.content) else "writing")
        if message.model != _SYNTHETIC:
            self._learn_usage(message.usage, fresh=False)

    def _on_user(self, message: UserMessage) -> None:
        results = [block for block in message.content if isinstance(block, ToolResultBlock)]
        metas = {meta.get("id"): meta for meta in message.tool_result_meta if isinstance(meta.get("id"), str)}
        for block in results:
            self._requests.has_result(block.tool_use_id)
            structured = message.tool_use_result if len(results) == 1 else None
            self._tools.result(block, structured, metas.get(block.tool_use_id, {}))
        if message.parent_tool_use_id is not None:
            return  # a subagent's results, and the prompt that it was given
        if results:
            if self._activity == "tool":
                self._activity = "tool" if self._tools.current else "requesting"
            return
        self._on_user_text(message, text_of(message.content))

    def _on_user_text(self, message: UserMessage, text: str) -> None:
        if text.startswith(_INTERRUPTED):
            self._interrupted = True
        elif self._commands.show(text):
            self._spoke = True
        elif message.is_replay and not message.is_synthetic:
            if not text.lstrip().startswith("<"):  # <command-name>, <task-notification>, <system-reminder>, …
                self._users.replayed(message)
        else:
            self._notices.summary(text)

    def _on_result(self, message: ResultMessage) -> None:
        cost = self._learn_result(message)
        failed = message.is_error or message.subtype.startswith("error")
        stopped = message.terminal_reason.startswith("aborted") or (
            not message.terminal_reason and message.subtype == "error_during_execution" and self._interrupted
        )
        self._speech.turn_over()
        self._requests.turn_over()
        self._tools.turn_over()
        if not failed and not self._spoke and message.result.strip():  # such as "Unknown skill: …" of 2.1.76
            self._transcript.add(TextItem(self._transcript.new_id(), text=message.result))
        self._notices.turn_over(message, stopped=stopped)
        self._users.turn_over()
        if self._turn_began:
            self._transcript.add(
                TurnEndItem(
                    self._transcript.new_id(),
                    duration_ms=message.duration_ms,
                    cost_usd=cost,
                    usage=message.usage,
                    num_turns=message.num_turns,
                )
            )
        self._turn_began = self._spoke = self._interrupted = False
        self._activity = ""
        if not self._state_is_told and self._base not in ("starting", "exited"):
            self._base = "running" if message.queued_turn_count or self._users.waiting else "idle"

    # What the CLI says: the rest

    def _on_tool_progress(self, message: ToolProgress) -> None:
        self._tools.progress(message.tool_use_id, f"{message.elapsed_time_seconds:.0f} s")

    def _on_notification(self, message: Notification) -> None:
        if message.text:
            self._notices.add("info", texts.FROM_CLAUDE, message=message.text)

    def _on_rate_limit(self, message: RateLimitEvent) -> None:
        self._learn(rate_limit=message)
        self._notices.rate_limit(message)

    def _on_auth(self, message: AuthStatus) -> None:
        self._learn(auth=message)
        if message.error:
            self._notices.add("error", texts.SIGN_IN_FAILED, message.error)

    def _on_reset(self, message: ConversationReset) -> None:
        self._clear(message.user_message_uuid)
        self._learn(session_id=message.new_conversation_id)

    def _clear(self, uuid: str) -> None:
        self._requests.exited()
        self._transcript.reset(self._users.cleared(uuid))
        self._tools.reset()
        self._speech.reset()
        self._notices.reset()
        self.usage = {}
        self._spoke = True
        self._notices.add("info", texts.CLEARED)

    def _on_damage(self, line: DamagedLine) -> None:
        self.damaged += 1
        self.damaged_lines.append(line)
        if line.kind == "too_long":
            self._notices.add("warning", texts.TOO_LONG, line.text, size=line.size)

    def _on_exit(self, code: int | None, stderr_tail: str, *, asked: bool) -> None:
        if self._base == "exited":
            return
        self._speech.exited()
        self._requests.exited()
        self._tools.exited()
        self._users.exited()
        self._notices.exited(code, stderr_tail, told=not asked)
        self._asked.clear()
        self._base, self._activity = "exited", ""


def _nothing(_message: Message) -> None:
    """For messages that tell a conversation nothing: keep-alives, thinking tokens, types of the future."""


def _dicts(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
