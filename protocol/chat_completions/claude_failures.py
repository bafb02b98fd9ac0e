"""What went wrong with a CLI, in words and codes for a client. Nothing that the CLI printed is passed on."""

from __future__ import annotations

import datetime
import re
from typing import Final

from protocol.chat_completions.claude_cli import MINIMUM
from protocol.chat_completions.errors import ApiError, cli_failed, plan_limit_reached, timed_out
from protocol.chat_completions.words import shown

_LIMIT: Final = "The usage limit of the plan is reached{until}."
_BY_ERROR: Final = {
    "authentication_failed": 401,
    "oauth_org_not_allowed": 401,
    "rate_limit": 429,
    "billing_error": 402,
    "overloaded": 529,
    "server_error": 529,
    "model_not_found": 404,
    "invalid_request": 400,
}
"""The HTTP status that the CLI's own word for a failure stands for."""

_STATUS_IN_TEXT: Final = re.compile(r"API Error: (?:Request rejected \()?(\d{3})\b")
_TOO_LONG_WORDS: Final = "The messages are too long for this model."
_TOO_LONG: Final = re.compile(r"prompt is too long|input is too long", re.IGNORECASE)


def not_found() -> ApiError:
    """There is no CLI on this computer."""
    return cli_failed(
        "Claude Code was not found on this computer, or cannot be run. Run handraise doctor to see what is wrong.",
        "cli_not_found",
    )


def not_started() -> ApiError:
    """It is there and does not come up."""
    return cli_failed("Claude Code did not start. Run handraise doctor to see what is wrong.", "cli_not_started")


def silent_start(seconds: float) -> ApiError:
    """It comes up and does not shake hands."""
    return timed_out(f"Claude Code did not answer within {seconds:g} seconds of its start.")


def too_old(version: str) -> ApiError:
    """A text of a client's would not be a text to it."""
    minimum = ".".join(map(str, MINIMUM))
    found = f"Claude Code {version}" if version else "This Claude Code"
    return cli_failed(
        f"{found} is too old to be used by other programs. Update it to {minimum} or newer: claude update",
        "cli_too_old",
    )


def unknown_model(name: str) -> ApiError:
    """The CLI has no model of that name, or the plan does not."""
    return ApiError(
        400,
        f"The model {shown(name)} does not exist here. GET /v1/models lists those that do.",
        param="model",
        code="model_not_found",
    )


def unknown_effort(name: str, levels: tuple[str, ...]) -> ApiError:
    """The model thinks, but not in that way."""
    return ApiError(
        400,
        f"reasoning_effort {shown(name)} is not known to this model; it takes: {', '.join(levels)}.",
        param="reasoning_effort",
        code="invalid_value",
    )


def no_effort() -> ApiError:
    """The model cannot be told how much to think."""
    return ApiError(
        400, "This model takes no reasoning_effort.", param="reasoning_effort", code="unsupported_parameter"
    )


def ended() -> ApiError:
    """The process is gone before the answer was complete."""
    return cli_failed("Claude Code ended before the answer was complete.", "cli_ended")


def silent(seconds: float) -> ApiError:
    """No sign of life for so long."""
    return timed_out(f"Claude Code said nothing for {seconds:g} seconds.")


def began_again() -> ApiError:
    """What was sent already cannot be taken back."""
    return cli_failed("The connection to the model broke, and its answer began anew with other words.")


def too_much() -> ApiError:
    """Longer than any model writes."""
    return cli_failed("Claude Code said more than can be taken.")


def said_nothing() -> ApiError:
    """A success without a word."""
    return cli_failed("Claude gave an empty answer.", "empty_answer")


def no_schema() -> ApiError:
    """The CLI does not take it for one."""
    return ApiError(
        400,
        "This is no JSON Schema that Claude Code can use.",
        param="response_format.json_schema.schema",
        code="invalid_value",
    )


def not_in_the_schema() -> ApiError:
    """The model did not get it right, also after the CLI's own tries."""
    return cli_failed("Claude gave no answer that keeps to the schema.", "schema_not_kept")


def of_the_api(error: str, status: int | None, text: str, resets_at: float | None = None) -> ApiError:
    """A turn that failed.

    Args:
        error: the CLI's word for it, the `error` of an assistant message, or "".
        status: the HTTP status of the model's API, None where not told.
        text: the CLI's own words, only looked at where neither tells.
        resets_at: when the plan's limit ends, in seconds since 1970, if told.
    """
    if status is None and (match := _STATUS_IN_TEXT.match(text)):
        status = int(match[1])
    meaning = _BY_ERROR.get(error, status)
    if meaning == 429:
        return plan_limit_reached(_LIMIT.format(until=_until(resets_at)))
    if meaning in (401, 403):
        return cli_failed("Claude Code is not signed in, or its sign-in has expired: claude /login", "cli_signed_out")
    if meaning == 402:
        return cli_failed("There is a problem with the billing of this account.", "billing_error")
    if meaning == 404:
        return ApiError(400, "This model is not available to you.", param="model", code="model_not_found")
    if _TOO_LONG.search(text):
        return ApiError(
            400, "The messages are too long for this model.", param="messages", code="context_length_exceeded"
        )
    if meaning is not None and meaning >= 500:
        return cli_failed("The servers of the model are overloaded or out of order.", "overloaded")
    if meaning is not None and 400 <= meaning < 500:
        return cli_failed("The servers of the model refused the request.", "refused")
    return cli_failed("Claude could not answer.")


def _until(resets_at: float | None) -> str:
    if resets_at is None:
        return ""
    try:
        moment = datetime.datetime.fromtimestamp(resets_at, datetime.UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"; it resets at {moment:%Y-%m-%d %H:%M} UTC"
