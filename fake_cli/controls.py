"""Answers to the host's control requests, each exactly once, with the real CLI's words where they were recorded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fake_cli import facts, strict

if TYPE_CHECKING:
    from fake_cli.session import Session

Answer = dict[str, Any] | None


class RefusedError(Exception):
    """An error reply."""

    def __init__(self, error: str, code: str | None = None, **extra: Any) -> None:
        super().__init__(error)
        self.body: dict[str, Any] = {"error": error, **({"error_code": code} if code else {}), **extra}


def handle(session: Session, request_id: str, request: dict[str, Any]) -> None:
    if request["subtype"] == "initialize":
        _initialize(session, request_id, request)
        return
    if request["subtype"] == "interrupt":
        _interrupt(session, request_id, request)
        return
    handler = _HANDLERS.get(request["subtype"])
    try:
        if handler is None:
            subtype = request["subtype"]
            raise RefusedError(f"Unsupported control request subtype: {subtype}", "unsupported_request")
        response = _told_replies(session).get(request["subtype"]) or handler(session, request)
    except RefusedError as refused:
        reply(session, "error", request_id, refused.body)
        return
    reply(session, "success", request_id, {} if response is None else {"response": response})
    if request["subtype"] == "set_permission_mode":
        session.set_mode(session.mode)


def _told_replies(session: Session) -> dict[str, Any]:
    """What the scenario wants to be answered, by subtype, in place of the truth."""
    replies: dict[str, Any] = session.options.get("replies") or {}
    return replies


def reply(session: Session, subtype: str, request_id: str, body: dict[str, Any]) -> None:
    response = {"subtype": subtype, "request_id": request_id, **body}
    session.output.send({"type": "control_response", "response": response})


def _initialize(session: Session, request_id: str, request: dict[str, Any]) -> None:
    if session.initialized is not None:
        reply(session, "error", request_id, {"error": "Already initialized"})
        return
    problem = strict.handshake(request)
    if problem:
        session.violation(problem)
        return
    session.initialized = request
    session.title = request.get("title")
    system = request.get("systemPrompt", request.get("appendSystemPrompt", ""))
    session.facts["system"] = "\n\n".join(system) if isinstance(system, list) else system
    harms = session.harms
    if "no-handshake" in harms:
        return
    if "refuse-handshake" in harms:
        reply(session, "error", request_id, {"error": harms["refuse-handshake"] or "refused"})
        return
    account = session.options.get("account") or {
        "email": "you@example.com", "organization": "Example", "subscriptionType": "Claude Max",
        "tokenSource": "claude.ai", "apiKeySource": "none", "apiProvider": "firstParty",
    }
    response = _told_replies(session).get("initialize") or facts.initialize_reply(
        version=session.version, mode=session.mode, pid=os.getpid(), account=account,
        commands=session.options.get("commands") or facts.COMMANDS, models=session.models,
    )
    body: dict[str, Any] = {"response": response, "pending_permission_requests": [], "pending_user_dialog_requests": []}
    if "late-handshake" in harms:
        session.loop.call_later(float(harms["late-handshake"] or 2), reply, session, "success", request_id, body)
    else:
        reply(session, "success", request_id, body)


def _interrupt(session: Session, request_id: str, request: dict[str, Any]) -> None:
    if "ignore-interrupt" in session.harms:
        return
    keep_tasks = bool((session.initialized or {}).get("perTaskStopAffordance"))
    session.withdraw_all(background=not keep_tasks)
    if request.get("cancel_queued"):
        for queued in session.queue:
            session.lifecycle(queued, "cancelled")
        session.queue.clear()
    still_queued = [queued.uuid for queued in session.queue if queued.uuid]
    reply(session, "success", request_id, {"response": {"still_queued": still_queued}})
    session.stop_turn()
    if not keep_tasks:
        for task in list(session.background.values()):
            task.cancel()


def _set_model(session: Session, request: dict[str, Any]) -> Answer:
    model = facts.resolve_model(request.get("model"))
    if model is None:
        name = request.get("model")
        raise RefusedError(f"Unable to validate model: {name} was not found", "check_failed", model=session.model)
    session.model = model
    return {"model": model}


def _set_permission_mode(session: Session, request: dict[str, Any]) -> Answer:
    mode = request.get("mode")
    if mode not in facts.MODES:
        allowed = ", ".join(facts.MODES)
        raise RefusedError(f"Cannot set permission mode: must be one of {allowed}", "invalid_mode")
    if mode == "bypassPermissions" and not session.arguments.has("--dangerously-skip-permissions"):
        raise RefusedError(
            "Cannot set permission mode to bypassPermissions because the session was not launched with "
            "--dangerously-skip-permissions", "bypass_not_launched",
        )
    if mode == "plan" and session.mode != "plan":
        session.mode_before_plan = session.mode
    session.mode = mode
    return {"mode": mode}


def _apply_flag_settings(session: Session, request: dict[str, Any]) -> Answer:
    settings = request.get("settings")
    if not isinstance(settings, dict):
        kind = "array" if isinstance(settings, list) else "string" if isinstance(settings, str) else "undefined"
        raise RefusedError(f"apply_flag_settings requires `settings` to be an object, got {kind}")
    if settings.get("effortLevel") in facts.EFFORTS:  # others are passed over in silence
        session.facts["effort"] = settings["effortLevel"]
    return None


def _cancel_async_message(session: Session, request: dict[str, Any]) -> Answer:
    for queued in session.queue:
        if queued.uuid and queued.uuid == request.get("message_uuid"):
            session.queue.remove(queued)
            session.lifecycle(queued, "cancelled")
            return {"cancelled": True, "message_uuid": queued.uuid}
    return {"cancelled": False}


def _get_context_usage(session: Session, _request: dict[str, Any]) -> Answer:
    window = int(session.options.get("context_window", 1_000_000))
    used = int(session.usage["context"])
    categories = [
        {"id": "system_prompt", "name": "System prompt", "tokens": 2177, "color": "promptBorder", "kind": "used"},
        {"id": "messages", "name": "Messages", "tokens": used - 2177, "color": "purple", "kind": "used"},
        {"id": "free_space", "name": "Free space", "tokens": window - used, "color": "promptBorder", "kind": "free"},
    ]
    return {"categories": categories, "totalTokens": used, "maxTokens": window, "rawMaxTokens": window,
            "percentage": round(100 * used / window), "gridRows": [], "model": session.model, "memoryFiles": [],
            "mcpTools": [], "agents": []}


def _get_usage(session: Session, _request: dict[str, Any]) -> Answer:
    spent = {"total_cost_usd": session.usage["cost"], "total_api_duration_ms": 0, "total_duration_ms": 0,
             "total_lines_added": 0, "total_lines_removed": 0, "model_usage": {}}
    return {"session": spent, "subscription_type": "max", "rate_limits_available": False, "rate_limits": None,
            "behaviors": None}


def _rename_session(session: Session, request: dict[str, Any]) -> Answer:
    if not isinstance(request.get("title"), str) or not request["title"].strip():
        raise RefusedError("A session needs a title")
    session.title = request["title"]
    session.system("session_title_changed", title=session.title)
    return None


def _stop_task(session: Session, request: dict[str, Any]) -> Answer:
    task = session.background.get(str(request.get("task_id")))
    if task is not None:
        for pending in list(session.pending.values()):
            if pending.request.get("agent_id") == request["task_id"]:
                session.withdraw(pending)
        task.cancel()
    return {}


def _file_suggestions(session: Session, request: dict[str, Any]) -> Answer:
    query = str(request.get("query", "")).lower()
    names = ["README.md", "billing/invoices.py", "ledger/migrations.py", "ledger/models.py", "ledger/settings.py"]
    found = [{"path": name, "type": "file"} for name in names if query in name.lower()]
    return {"suggestions": found, "cwd": session.facts["cwd"]}


def _no_server(_session: Session, request: dict[str, Any]) -> Answer:
    raise RefusedError(f"Server not found: {request.get('serverName')}")


def _no_rewind(_session: Session, _request: dict[str, Any]) -> Answer:
    raise RefusedError("File rewinding is not enabled.")


_HANDLERS: dict[str, Callable[[Session, dict[str, Any]], Answer]] = {
    "set_model": _set_model,
    "set_permission_mode": _set_permission_mode,
    "set_max_thinking_tokens": lambda session, request: None,
    "apply_flag_settings": _apply_flag_settings,
    "cancel_async_message": _cancel_async_message,
    "get_context_usage": _get_context_usage,
    "get_usage": _get_usage,
    "get_session_cost": lambda session, request: {"text": f"Estimated cost:        ${session.usage['cost']:.4f}"},
    "get_settings": lambda session, request: {
        "effective": {}, "sources": [], "applied": {"model": session.model, "effort": "medium"}
    },
    "list_models": lambda session, request: {"models": session.models},
    "list_permission_rules": lambda session, request: {
        "state": {"rules": session.rules, "workspaceDirectories": [], "originalCwd": session.facts["cwd"],
                  "managedOnly": False}
    },
    "file_suggestions": _file_suggestions,
    "mcp_status": lambda session, request: {"mcpServers": session.options.get("mcp_servers", [])},
    "mcp_reconnect": _no_server,
    "mcp_toggle": _no_server,
    "rename_session": _rename_session,
    "rewind_files": _no_rewind,
    "stop_task": _stop_task,
    "background_tasks": lambda session, request: {},
    "get_binary_version": lambda session, request: {"version": session.version},
}
