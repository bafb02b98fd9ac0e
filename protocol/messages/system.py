"""`system/*`: what the CLI says about itself. One class a subtype, `SystemMessage` for those not listed."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

from pydantic import AliasPath, Field

from protocol.messages.base import Message
from protocol.messages.fields import (
    Flag,
    Number,
    Object,
    Objects,
    OptionalText,
    OptionalWhole,
    Text,
    Through,
    Whole,
    every,
)
from protocol.messages.initialize import CommandInfo, parse_commands


class SystemMessage(Message):
    """Any `system` message; of this very class where the subtype is not known."""

    subtype: Text = ""


class SystemInit(SystemMessage):
    """Comes at the start of every turn; the newest wins. Old CLIs send a part of it (no `capabilities`).

    Its lists hold some hundred words, the same ones each turn, so they are only read when somebody asks.
    """

    session_id: Text = ""
    cwd: Text = ""
    model: Text = ""
    permission_mode: Text = Field(default="", validation_alias="permissionMode")
    api_key_source: Text = Field(default="", validation_alias="apiKeySource")
    claude_code_version: Text = ""

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that the model has."""
        return every(str, self.raw.get("tools"))

    @cached_property
    def slash_commands(self) -> tuple[str, ...]:
        """The names of the commands, without the slash."""
        return every(str, self.raw.get("slash_commands"))

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """The names of the kinds of subagents."""
        return every(str, self.raw.get("agents"))

    @cached_property
    def capabilities(self) -> tuple[str, ...]:
        """What this CLI can do beyond the older ones."""
        return every(str, self.raw.get("capabilities"))

    @cached_property
    def mcp_servers(self) -> tuple[dict[str, Any], ...]:
        """The MCP servers: `name`, `status`."""
        return every(dict, self.raw.get("mcp_servers"))


class SystemStatus(SystemMessage):
    """What the CLI is at: `requesting`, `compacting`, or None when that is over. May also tell a new mode."""

    status: OptionalText = None
    permission_mode: OptionalText = Field(default=None, validation_alias="permissionMode")
    compact_result: Text = ""
    compact_error: Text = ""


class SessionStateChanged(SystemMessage):
    """`running`, `requires_action` or `idle`; only sent where CLAUDE_CODE_SDK_READS_SESSION_STATE asked for it."""

    state: Text = ""


class ApiRetry(SystemMessage):
    """The API refused and the CLI will try again after `retry_delay_ms`."""

    attempt: Whole = 0
    max_retries: Whole = 0
    retry_delay_ms: Number = 0.0
    error_status: OptionalWhole = None
    error: Text = ""


class CompactBoundary(SystemMessage):
    """What came before is now a summary. `trigger` is `manual` or `auto`; `pre_tokens` the size before."""

    trigger: Text = Field(default="", validation_alias=AliasPath("compact_metadata", "trigger"))
    pre_tokens: Whole = Field(default=0, validation_alias=AliasPath("compact_metadata", "pre_tokens"))


class TaskStarted(SystemMessage):
    """A subagent or a background command began."""

    task_id: str
    tool_use_id: Text = ""
    description: Text = ""
    subagent_type: Text = ""
    task_type: Text = ""
    is_backgrounded: Flag = False
    prompt: Text = ""


class TaskProgress(SystemMessage):
    """What a task is at, in words."""

    task_id: str
    tool_use_id: Text = ""
    description: Text = ""
    last_tool_name: Text = ""
    summary: Text = ""
    usage: Object = Field(default_factory=dict)


class TaskUpdated(SystemMessage):
    """Fields of a task that changed, such as `status` and `end_time` (milliseconds since 1970)."""

    task_id: str
    patch: Object = Field(default_factory=dict)


class TaskNotification(SystemMessage):
    """A task is over: `status` completed, failed or stopped."""

    task_id: str
    tool_use_id: Text = ""
    status: Text = ""
    summary: Text = ""
    output_file: Text = ""


class BackgroundTasksChanged(SystemMessage):
    """The whole set of background tasks; replaces the one before."""

    tasks: Objects = ()


class ThinkingTokens(SystemMessage):
    """How much was thought so far, estimated."""

    estimated_tokens: Whole = 0
    estimated_tokens_delta: Whole = 0


class PermissionDenied(SystemMessage):
    """A tool was refused without asking anybody (mode, rule); the tool's result says so as well."""

    tool_name: Text = ""
    tool_use_id: Text = ""
    decision_reason_type: Text = ""
    message: Text = ""


class CommandsChanged(SystemMessage):
    """The slash commands, anew."""

    commands: Annotated[tuple[CommandInfo, ...], Through(parse_commands)] = ()


class Notification(SystemMessage):
    """Words for the user, with `priority` low, medium, high or immediate."""

    text: Text = ""
    priority: Text = ""
    key: Text = ""


class SessionTitleChanged(SystemMessage):
    """The conversation has a new title."""

    title: Text = ""


SYSTEM_MESSAGES: dict[str, type[SystemMessage]] = {
    "init": SystemInit,
    "status": SystemStatus,
    "session_state_changed": SessionStateChanged,
    "api_retry": ApiRetry,
    "compact_boundary": CompactBoundary,
    "task_started": TaskStarted,
    "task_progress": TaskProgress,
    "task_updated": TaskUpdated,
    "task_notification": TaskNotification,
    "background_tasks_changed": BackgroundTasksChanged,
    "thinking_tokens": ThinkingTokens,
    "permission_denied": PermissionDenied,
    "commands_changed": CommandsChanged,
    "notification": Notification,
    "session_title_changed": SessionTitleChanged,
}
