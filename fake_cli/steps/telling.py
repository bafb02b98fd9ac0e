"""Steps in which the CLI tells about itself: status, retries, limits, compacting, failures, anything at all."""

from __future__ import annotations

import time
from typing import Any

from fake_cli import shapes
from fake_cli.scenario import Step
from fake_cli.steps.base import Runner, step
from fake_cli.turn import TurnFailedError


@step("status")
async def status(runner: Runner, one: Step) -> None:
    runner.session.system("status", status=one.value)


@step("compact", "tokens")
async def compact(runner: Runner, one: Step) -> None:
    """Compacting for so many seconds: status, silence, status null, then the boundary."""
    runner.session.system("status", status="compacting")
    await runner.session.pause(float(one.value))
    runner.session.system("status", status=None, compact_result="success")
    metadata = {"trigger": "auto", "pre_tokens": one.get("tokens", 155000)}
    runner.session.system("compact_boundary", compact_metadata=metadata)


@step("api_retry", "max_retries delay error_status error")
async def api_retry(runner: Runner, one: Step) -> None:
    """The n-th attempt failed; waits for the delay (seconds) that it announces."""
    delay = float(one.get("delay", 0.6))
    runner.session.system(
        "api_retry", attempt=int(one.value), max_retries=one.get("max_retries", 10), retry_delay_ms=int(1000 * delay),
        error_status=one.get("error_status", 529), error=one.get("error", "overloaded"),
    )
    await runner.session.pause(delay)


@step("rate_limit", "resets_in")
async def rate_limit(runner: Runner, one: Step) -> None:
    """A status ("allowed", "allowed_warning", "rejected") or the whole info; it resets in so many seconds from now."""
    info = {"status": one.value} if isinstance(one.value, str) else dict(one.value)
    if one.get("resets_in") is not None:
        info["resetsAt"] = int(time.time() + float(one.get("resets_in")))
    runner.session.send({"type": "rate_limit_event", "rate_limit_info": {"isUsingOverage": False, **info}})


@step("fail")
async def fail(runner: Runner, one: Step) -> None:
    """The API fails and ends the turn: 401, 429, 529, billing, not_logged_in, or {text, error, status, kind}."""
    known = shapes.API_ERRORS.get(one.value) if isinstance(one.value, str) else None
    failure: dict[str, Any] = {"text": "API Error", "error": "unknown", "status": None, "kind": None}
    raise TurnFailedError(failure | (known or (one.value if isinstance(one.value, dict) else {"text": one.value})))


@step("result")
async def result(runner: Runner, one: Step) -> None:
    """Fields for the turn's result, in place of the usual ones; null: the turn ends without any result."""
    if one.value is None:
        runner.turn.overrides = None
    elif runner.turn.overrides is not None:
        runner.turn.overrides |= one.value


@step("system")
async def system(runner: Runner, one: Step) -> None:
    """Any system message: an object with `subtype`."""
    fields = dict(one.value)
    runner.session.system(fields.pop("subtype"), **fields)


@step("send")
async def send(runner: Runner, one: Step) -> None:
    """Any message; session_id and uuid are added."""
    runner.session.send(one.value)


@step("emit")
async def emit(runner: Runner, one: Step) -> None:
    """Any JSON value as one line, exactly as it stands."""
    runner.session.output.send(one.value)


@step("mode")
async def mode(runner: Runner, one: Step) -> None:
    runner.session.set_mode(one.value)


@step("title")
async def title(runner: Runner, one: Step) -> None:
    runner.session.system("session_title_changed", title=one.value)


@step("suggest")
async def suggest(runner: Runner, one: Step) -> None:
    """What the person might say next; only hosts that want such suggestions get one."""
    if (runner.session.initialized or {}).get("promptSuggestions"):
        runner.session.send({"type": "prompt_suggestion", "suggestion": one.value})


@step("usage")
async def usage(runner: Runner, one: Step) -> None:
    """Counts as if so many more tokens of context had been used."""
    runner.session.usage["context"] += int(one.value)
