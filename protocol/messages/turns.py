"""What happens within and around a turn: assistant, user, streamed events, results."""

from __future__ import annotations

from typing import Any

from pydantic import AliasPath, Field

from protocol.messages.base import Message
from protocol.messages.blocks import Blocks
from protocol.messages.fields import (
    Flag,
    Number,
    Object,
    Objects,
    OptionalNumber,
    OptionalObject,
    OptionalText,
    OptionalWhole,
    Text,
    Texts,
    Whole,
)


class AssistantMessage(Message):
    """One finished content block of Claude's, usually; several messages share a `message_id`.

    Attributes:
        error: `authentication_failed`, `rate_limit`, `billing_error`, `overloaded`, …; "" when it is no error.
        aborted: the text was cut by an interrupt.
        parent_tool_use_id: the tool call whose subagent speaks; None for the main conversation.
        agent_id: that subagent's task.
    """

    message_id: Text = Field(default="", validation_alias=AliasPath("message", "id"))
    model: Text = Field(default="", validation_alias=AliasPath("message", "model"))
    content: Blocks = Field(default=(), validation_alias=AliasPath("message", "content"))
    usage: Object = Field(default_factory=dict, validation_alias=AliasPath("message", "usage"))
    error: Text = ""
    aborted: Flag = False
    parent_tool_use_id: OptionalText = None
    agent_id: Text = ""
    thinking_duration_ms: OptionalNumber = None
    uuid: Text = ""


class UserMessage(Message):
    """Tool results, replays of what the user sent, and text that the CLI made up.

    Attributes:
        tool_use_result: the structured form of the tool's result, whatever the tool made it.
        tool_result_meta: one object a result: `id`, `non_execution_kind`, `permission_decision`.
        is_replay: an echo of a message that the host sent, or of a local command's output.
        is_synthetic: nobody typed this.
    """

    content: Blocks = Field(default=(), validation_alias=AliasPath("message", "content"))
    tool_use_result: Any = None
    tool_result_meta: Objects = ()
    is_replay: Flag = Field(default=False, validation_alias="isReplay")
    is_synthetic: Flag = Field(default=False, validation_alias="isSynthetic")
    parent_tool_use_id: OptionalText = None
    uuid: Text = ""


class StreamEvent(Message):
    """One event of the Messages API's stream, as it is."""

    event: Object = Field(default_factory=dict)
    parent_tool_use_id: OptionalText = None


class ResultMessage(Message):
    """Ends one turn, not the session. `is_error` counts before `subtype`.

    Attributes:
        total_cost_usd: what the session cost so far, in US dollars.
        duration_ms: how long the turn took.
        terminal_reason: `completed`, `aborted_streaming`, `aborted_tools`, `api_error`, …; "" from old CLIs.
        stop_reason: why the model stopped: `end_turn`, `max_tokens`, `refusal`, …; "" where not told.
        structured_output: the answer as the handshake's `jsonSchema` wants it; None without one.
        queued_turn_count: turns still to come for messages already sent; None from CLIs that do not count.
        model_usage: per model, with `contextWindow` in tokens.
    """

    subtype: Text = ""
    is_error: Flag = False
    api_error_status: OptionalWhole = None
    result: Text = ""
    errors: Texts = ()
    stop_reason: Text = ""
    structured_output: Any = None
    usage: Object = Field(default_factory=dict)
    model_usage: Object = Field(default_factory=dict, validation_alias="modelUsage")
    model_usage_since_last_result: OptionalObject = None
    permission_denials: Objects = ()
    terminal_reason: Text = ""
    total_cost_usd: OptionalNumber = None
    duration_ms: Number = 0.0
    num_turns: Whole = 0
    queued_turn_count: OptionalWhole = None


class RateLimitEvent(Message):
    """Where the subscription's limits stand.

    Attributes:
        status: `allowed`, `allowed_warning` or `rejected`.
        resets_at: seconds since 1970, None where not told.
        utilization: 0 to 1.
    """

    status: Text = Field(default="", validation_alias=AliasPath("rate_limit_info", "status"))
    resets_at: OptionalNumber = Field(default=None, validation_alias=AliasPath("rate_limit_info", "resetsAt"))
    rate_limit_type: Text = Field(default="", validation_alias=AliasPath("rate_limit_info", "rateLimitType"))
    utilization: OptionalNumber = Field(default=None, validation_alias=AliasPath("rate_limit_info", "utilization"))
    is_using_overage: Flag = Field(default=False, validation_alias=AliasPath("rate_limit_info", "isUsingOverage"))


class ConversationReset(Message):
    """`/clear`: what follows is another conversation."""

    new_conversation_id: Text = ""
    trigger: Text = ""
    user_message_uuid: Text = ""


class PromptSuggestion(Message):
    """What the user might say next."""

    suggestion: Text = ""


class ToolProgress(Message):
    """A tool still runs, since `elapsed_time_seconds`."""

    tool_use_id: Text = ""
    tool_name: Text = ""
    elapsed_time_seconds: Number = 0.0
    parent_tool_use_id: OptionalText = None


class CommandLifecycle(Message):
    """What became of a message that was sent with a uuid: `queued`, `started`, `completed`, `cancelled`."""

    command_uuid: str
    state: Text = ""


class AuthStatus(Message):
    """A login that is going on."""

    is_authenticating: Flag = Field(default=False, validation_alias="isAuthenticating")
    output: Texts = ()
    error: Text = ""


class KeepAlive(Message):
    """Nothing but a sign of life."""
