"""What the host says: control requests, the replies to the CLI's own requests, and user messages.

Pure builders: each function returns a new dict that `wire.encode_line` turns into a line of stdin. Nothing here
has side effects, and ids are always the caller's.

There are two layers. *Envelopes* (`control_request`, `success`, `error`, `cancel`) are whole lines; *requests*
(`initialize`, `interrupt`, …) are what goes inside `control_request`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

MODES: Final = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
"""The permission modes a CLI may know. Which of them it accepts, only its reply to `set_permission_mode` tells."""


# Envelopes


def control_request(request_id: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """A request of the host; the CLI answers it with a `control_response` of the same id."""
    return {"type": "control_request", "request_id": request_id, "request": dict(request)}


def success(request_id: str, response: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request of the CLI.

    The id belongs *inside* `response`. Beside it, the CLI does not find it and waits for ever without a word.
    """
    return {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": dict(response)},
    }


def error(request_id: str, text: str) -> dict[str, Any]:
    """The refusal of a request of the CLI; `text` goes to its log or to the model."""
    return {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": text},
    }


def cancel(request_id: str) -> dict[str, Any]:
    """Take back a request of the host. It has no reply, and the request gets none either."""
    return {"type": "control_cancel_request", "request_id": request_id}


# Requests


def initialize(
    *,
    supported_dialog_kinds: Sequence[str] = (),
    title: str | None = None,
    per_task_stop: bool = True,
    prompt_suggestions: bool = False,
    system_prompt: str | None = None,
    append_system_prompt: str = "",
    json_schema: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The handshake, sent before anything else.

    Args:
        supported_dialog_kinds: kinds of `request_user_dialog` this host answers. Undeclared kinds are never answered.
        title: the conversation's name, if it has one already.
        per_task_stop: without it an interrupt also kills the background agents.
        prompt_suggestions: ask for `prompt_suggestion` messages after a turn.
        system_prompt: takes the place of the CLI's own; "" for none at all.
        append_system_prompt: goes behind it.
        json_schema: what the answers must keep to; a result then has `structured_output`.
    """
    request: dict[str, Any] = {"subtype": "initialize", "hooks": None}
    if supported_dialog_kinds:
        request["supportedDialogKinds"] = list(supported_dialog_kinds)
    if title is not None:
        request["title"] = title
    if per_task_stop:
        request["perTaskStopAffordance"] = True
    if prompt_suggestions:
        request["promptSuggestions"] = True
    if system_prompt is not None:
        request["systemPrompt"] = system_prompt
    if append_system_prompt:
        request["appendSystemPrompt"] = append_system_prompt
    if json_schema is not None:
        request["jsonSchema"] = dict(json_schema)
    return request


def interrupt(cancel_queued: bool = False) -> dict[str, Any]:
    """Stop the running turn. The reply of newer CLIs names the messages that are `still_queued`."""
    request: dict[str, Any] = {"subtype": "interrupt"}
    if cancel_queued:
        request["cancel_queued"] = True
    return request


def set_model(model: str | None) -> dict[str, Any]:
    """Change the model from the next request on; None is the CLI's default."""
    return {"subtype": "set_model", "model": model}


def set_permission_mode(mode: str) -> dict[str, Any]:
    """Change the permission mode. An unknown or forbidden mode gets an error reply."""
    return {"subtype": "set_permission_mode", "mode": mode}


def set_max_thinking_tokens(tokens: int | None) -> dict[str, Any]:
    """Change the budget for thinking, in tokens; 0 turns thinking off and None leaves it to the model."""
    return {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens}


def apply_flag_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Change settings as if given with `--settings`, for example `{"effortLevel": "high"}`."""
    return {"subtype": "apply_flag_settings", "settings": dict(settings)}


def cancel_async_message(uuid: str) -> dict[str, Any]:
    """Take back a user message that is still queued; the reply says whether it was `cancelled`."""
    return {"subtype": "cancel_async_message", "message_uuid": uuid}


def get_context_usage() -> dict[str, Any]:
    """How full the context window is, by category. Takes about a second."""
    return {"subtype": "get_context_usage"}


def get_usage() -> dict[str, Any]:
    """Cost and tokens of this session, and the limits of the plan where the CLI knows them."""
    return {"subtype": "get_usage"}


def get_session_cost() -> dict[str, Any]:
    """The cost of this session as a text for people."""
    return {"subtype": "get_session_cost"}


def get_settings() -> dict[str, Any]:
    """The effective settings and where they come from."""
    return {"subtype": "get_settings"}


def list_models() -> dict[str, Any]:
    """The models the account may use."""
    return {"subtype": "list_models"}


def list_permission_rules() -> dict[str, Any]:
    """The permission rules in force and where each comes from."""
    return {"subtype": "list_permission_rules"}


def file_suggestions(query: str) -> dict[str, Any]:
    """Files for the completion of `@query`."""
    return {"subtype": "file_suggestions", "query": query}


def mcp_status() -> dict[str, Any]:
    """The state of the MCP servers."""
    return {"subtype": "mcp_status"}


def mcp_reconnect(server: str) -> dict[str, Any]:
    """Connect an MCP server again."""
    return {"subtype": "mcp_reconnect", "serverName": server}


def mcp_toggle(server: str, enabled: bool) -> dict[str, Any]:
    """Switch an MCP server on or off for this session."""
    return {"subtype": "mcp_toggle", "serverName": server, "enabled": enabled}


def rename_session(title: str) -> dict[str, Any]:
    """Give the conversation a name; a `session_title_changed` message follows."""
    return {"subtype": "rename_session", "title": title, "source": "host"}


def rewind_files(user_message_id: str, dry_run: bool = False) -> dict[str, Any]:
    """Put the files back as they were at a user message (needs file checkpoints); `dry_run` only looks."""
    return {"subtype": "rewind_files", "user_message_id": user_message_id, "dry_run": dry_run}


def stop_task(task_id: str) -> dict[str, Any]:
    """Stop one background task."""
    return {"subtype": "stop_task", "task_id": task_id}


def background_tasks() -> dict[str, Any]:
    """Move what runs now into the background."""
    return {"subtype": "background_tasks"}


def get_binary_version() -> dict[str, Any]:
    """The version of the CLI that runs."""
    return {"subtype": "get_binary_version"}


# User messages


def user_message(
    content: str | Sequence[Mapping[str, Any]], *, uuid: str, client_composed: bool = False
) -> dict[str, Any]:
    """What the user says, as a line of stdin.

    Args:
        content: text, or blocks made by `text_block` and `image_block`.
        uuid: a new UUID. With it the CLI reports `command_lifecycle`, and the message can be withdrawn.
        client_composed: take the text as it is, without `@file` expansion and slash commands (CLI 2.1.248 and
            later). Whatever reaches the CLI from another program must set it.
    """
    message: dict[str, Any] = {
        "type": "user",
        "message": {"role": "user", "content": content if isinstance(content, str) else [dict(b) for b in content]},
        "parent_tool_use_id": None,
        "session_id": "",
        "uuid": uuid,
    }
    if client_composed:
        message["client_composed"] = True
    return message


def text_block(text: str) -> dict[str, Any]:
    """A block of text for `user_message`."""
    return {"type": "text", "text": text}


def image_block(data: bytes, media_type: str) -> dict[str, Any]:
    """An image for `user_message`: the bytes of the file, and for example `image/png`."""
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}
