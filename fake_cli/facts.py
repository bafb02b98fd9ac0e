"""What the real CLI says about itself, from recordings of version 2.1.332: models, commands, capabilities."""

from __future__ import annotations

import re
from typing import Any

VERSION = "2.1.332"
KNOWS_COMPOSED = (2, 1, 248)
"""The first version that takes a message literally when it is told so; older ones run commands in it all the same."""
MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")
EDITING_TOOLS = ("Edit", "MultiEdit", "NotebookEdit", "Write")

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how "
    "to proceed."
)
INVALID_RESULT = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: "
    "object} or {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and "
    "directories in all."
)

EFFORTS = ["low", "medium", "high", "xhigh", "max"]


def _model(value: str, resolved: str, name: str, description: str, *, fast: bool = False) -> dict[str, Any]:
    model: dict[str, Any] = {
        "value": value,
        "resolvedModel": resolved,
        "displayName": name,
        "description": description,
        "supportsEffort": True,
        "supportedEffortLevels": list(EFFORTS),
        "supportsAdaptiveThinking": True,
    }
    if fast:
        model["supportsFastMode"] = True
    return model | {"supportsAutoMode": True, "supportsThinkingOff": False}


MODELS = [
    _model("default", "claude-opus-5-5", "Default (recommended)", "Use the default model (currently Opus 5.5)",
           fast=True),
    _model("opus", "claude-opus-5-5", "Opus", "Opus 5.5 · Best for everyday, complex tasks", fast=True),
    _model("fable", "claude-fable-5-2", "Fable", "Fable 5.2 · Most capable for your hardest work", fast=True),
    _model("sonnet", "claude-sonnet-5-5", "Sonnet", "Sonnet 5.5 · Efficient for routine tasks"),
    _model("haiku", "claude-haiku-5-5", "Haiku", "Haiku 5.5 · Fastest for quick answers"),
]

COMMANDS = [
    {"name": "code-review", "description": "Review the current diff, or a PR number/branch/path target",
     "argumentHint": "[low|medium|high|xhigh|max] [--fix] [--comment] [<target>]", "aliases": ["review"],
     "builtin": True},
    {"name": "clear", "description": "Start a new session with empty context", "argumentHint": "[name]",
     "aliases": ["reset", "new"], "builtin": True},
    {"name": "compact", "description": "Free up context by summarizing the conversation so far",
     "argumentHint": "<optional custom summarization instructions>", "builtin": True},
    {"name": "context", "description": "Show current context usage", "argumentHint": "", "builtin": True},
    {"name": "cost", "description": "Show the cost and duration of this session", "argumentHint": "",
     "builtin": True},
    {"name": "init", "description": "Initialize a new CLAUDE.md file", "argumentHint": "", "builtin": True},
]

AGENTS = [
    {"name": "claude", "description": "Catch-all for any task that doesn't fit a more specific agent"},
    {"name": "Explore", "description": "Fast read-only search agent for locating code", "model": "inherit"},
    {"name": "general-purpose", "description": "General-purpose agent for researching complex questions"},
]

TOOLS = [
    "Task", "AskUserQuestion", "Bash", "Edit", "EnterPlanMode", "ExitPlanMode", "NotebookEdit", "Read", "Skill",
    "TaskStop", "ToolSearch", "WebFetch", "WebSearch", "Write",
]

INIT_CAPABILITIES = [
    "interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1", "request_marker_lists_v1",
    "ask_user_question_unanswered_v1", "ui_surface_v1", "get_usage_detached_v1",
]
REPLY_CAPABILITIES = ["ui_surface_v1", "mcp_call_check_permissions_v1", "get_usage_detached_v1"]


def resolve_model(name: str | None) -> str | None:
    """The full name of a model or of its alias; None for what the CLI would not know."""
    for model in MODELS:
        if name in (None, model["value"], model["resolvedModel"]):
            return str(model["resolvedModel"])
    return name if name and re.fullmatch(r"claude-[a-z0-9.-]+(\[1m\])?", name) else None


def version_tuple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def initialize_reply(
    *, version: str, mode: str, pid: int, account: dict[str, Any], commands: list[Any], models: list[Any]
) -> dict[str, Any]:
    """The reply to `initialize`; CLIs before 2.1 say less (recording of 2.0.71)."""
    reply: dict[str, Any] = {"commands": commands, "output_style": "default",
                             "available_output_styles": ["default", "Explanatory", "Learning"]}
    if version_tuple(version) < (2, 1):
        short = [{key: model[key] for key in ("value", "displayName", "description")} for model in models]
        return reply | {"models": short, "account": account}
    return reply | {
        "agents": AGENTS,
        "models": models,
        "account": account,
        "pid": pid,
        **({"claude_code_version": version} if version_tuple(version) > (2, 1, 197) else {}),
        "current_permission_mode": mode,
        "fast_mode_state": "off",
        "session_state": "idle",
        "capabilities": REPLY_CAPABILITIES,
    }
