"""The shapes of single messages, after the recordings of version 2.1.332."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

from fake_cli.facts import REJECTED as REJECTED

NO_USAGE: dict[str, Any] = {
    "output_tokens_details": {"thinking_tokens": 0},
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    "inference_geo": "",
    "iterations": [],
    "speed": "standard",
    "fallback_credit": None,
}

API_ERRORS: dict[str, dict[str, Any]] = {
    "401": {"text": "Invalid API key · Fix external API key", "error": "authentication_failed", "status": 401,
            "kind": "authentication_error"},
    "429": {"text": "API Error: Request rejected (429) · This request would exceed your account rate limit.",
            "error": "rate_limit", "status": 429, "kind": "rate_limit_error"},
    "529": {"text": "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a "
                    "moment.", "error": "server_error", "status": 529, "kind": "overloaded_error"},
    "not_logged_in": {"text": "Not logged in · Please run /login", "error": "authentication_failed", "status": None,
                      "kind": None},
    "billing": {"text": "Credit balance is too low", "error": "billing_error", "status": 400,
                "kind": "invalid_request_error"},
}
"""What the CLI says when the API fails: recordings api_err401, api_err429, api_overloaded_retry, not_logged_in."""


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def api_message(message_id: str, model: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"id": message_id, "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": None, "stop_sequence": None, "usage": usage}


def synthetic_message(message_id: str, text: str, stop_reason: str = "stop_sequence") -> dict[str, Any]:
    """A message that the CLI itself puts into the assistant's mouth: API errors and local commands."""
    return {"diagnostics": None, "id": message_id, "container": None, "model": "<synthetic>", "role": "assistant",
            "stop_details": None, "stop_reason": stop_reason, "stop_sequence": "", "type": "message",
            "usage": NO_USAGE, "content": [{"type": "text", "text": text}], "context_management": None}


def model_usage(model: str, input_tokens: int, output_tokens: int, cost: float, window: int) -> dict[str, Any]:
    return {
        model: {
            "inputTokens": input_tokens,
            "outputTokens": output_tokens,
            "cacheReadInputTokens": 0,
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": cost,
            "contextWindow": window,
            "maxOutputTokens": 128000,
            "thinkingTokens": 0,
            "canonicalModel": model,
            "provider": "firstParty",
            "costBasis": "list",
        }
    }


def no_conversation(session_id: str) -> dict[str, Any]:
    """The result that comes, even before the reply to initialize, for `--resume` of an unknown id."""
    return {"type": "result", "subtype": "error_during_execution", "duration_ms": 0, "duration_api_ms": 0,
            "is_error": True, "num_turns": 0, "stop_reason": None, "session_id": session_id, "total_cost_usd": 0,
            "usage": NO_USAGE, "modelUsage": {}, "permission_denials": [],
            "errors": [f"No conversation found with session ID: {session_id}"], "result_index": 0}


def new_conversation_id() -> str:
    return str(uuid.uuid4())
