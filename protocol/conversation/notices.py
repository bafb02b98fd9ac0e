"""What the user is told beyond what Claude says: errors with advice, retries, limits, summaries, ends.

Texts are English templates. The desktop translates them and fills in the values, so each stands here once, whole.
"""

from __future__ import annotations

import re
from typing import Any

from protocol.conversation.items import NoticeItem, NoticeKind
from protocol.conversation.transcript import Transcript
from protocol.messages import ApiRetry, CompactBoundary, RateLimitEvent, ResultMessage

STOPPED = "Stopped."
CLEARED = "The conversation was cleared."
COMPACTED = "What was said before is now a summary, to make room."
NOT_COMPACTED = "The conversation could not be summarized."
RETRYING = "The servers did not answer (attempt {attempt} of {max_retries}). Trying again in {seconds} s."
LIMIT_NEAR = "You are close to your usage limit."
LIMIT_USED = "You have used {percent} % of your usage limit."
LIMIT_REACHED = "The usage limit is reached. Claude answers again when it resets."
TOO_LONG = "Claude sent {size} bytes in one line, more than can be taken. Restart the conversation to go on."
EXITED = "Claude exited."
EXITED_CODE = "Claude exited (code {code})."
SIGN_IN_FAILED = "Signing in failed."
FROM_CLAUDE = "{message}"
NOT_FOUND = "This conversation was never saved, or not on this computer. A new one can take its place."
FAILED = "Claude could not finish this turn."
TURN_LIMIT = "Claude stopped at the limit of turns that was set."
BUDGET_LIMIT = "Claude stopped at the spending limit that was set."

SIGN_IN = "Claude is not signed in, or the sign-in has expired. Sign in, then send the message again."
USAGE_LIMIT = "The usage limit is reached. Wait until it resets, or choose another model."
BILLING = "There is a problem with this account's billing. Settle it, then send the message again."
OVERLOADED = "Claude's servers are overloaded or out of order. Try again in a moment."
NO_MODEL = "This model is not available to you. Choose another one, then send the message again."
REFUSED = "Claude's servers refused this request."
CUT = "The answer became too long and was cut."
NO_ANSWER = "Claude could not answer."

NOTICE_TEXTS = (
    *(STOPPED, CLEARED, COMPACTED, NOT_COMPACTED, RETRYING, LIMIT_NEAR, LIMIT_USED, LIMIT_REACHED, TOO_LONG),
    *(EXITED, EXITED_CODE, SIGN_IN_FAILED, NOT_FOUND, FAILED, TURN_LIMIT, BUDGET_LIMIT),
    *(SIGN_IN, USAGE_LIMIT, BILLING, OVERLOADED, NO_MODEL, REFUSED, CUT, NO_ANSWER),
)
"""All texts a notice can have, but for other programs' own words. For the translations' tests."""

_ADVICE_BY_ERROR = {
    "authentication_failed": SIGN_IN,
    "oauth_org_not_allowed": SIGN_IN,
    "rate_limit": USAGE_LIMIT,
    "billing_error": BILLING,
    "overloaded": OVERLOADED,
    "server_error": OVERLOADED,
    "model_not_found": NO_MODEL,
    "invalid_request": REFUSED,
    "max_output_tokens": CUT,
}
_ADVICE_BY_STATUS = {401: SIGN_IN, 402: BILLING, 403: SIGN_IN, 404: NO_MODEL, 429: USAGE_LIMIT}
_STATUS_IN_TEXT = re.compile(r"API Error: (\d{3})\b")


def advice(error: str, status: int | None, text: str) -> str:
    """What to tell the user to do.

    Args:
        error: the assistant message's `error`; CLIs before 2.1 say `unknown` for most.
        status: the API's HTTP status, if told.
        text: the CLI's own words, where old CLIs hide the status.
    """
    known = _ADVICE_BY_ERROR.get(error)
    if known is not None:
        return known
    if status is None and (match := _STATUS_IN_TEXT.match(text)):
        status = int(match[1])
    if status is None:
        return NO_ANSWER
    if status >= 500:
        return OVERLOADED
    return _ADVICE_BY_STATUS.get(status, REFUSED if status >= 400 else NO_ANSWER)


class Notices:
    """Adds notices to a transcript, each thing told once."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._retry: NoticeItem | None = None
        self._turn_error: NoticeItem | None = None
        self._summary: NoticeItem | None = None
        self._limit = "allowed"

    def add(self, kind: NoticeKind, text: str, detail: str = "", **values: Any) -> NoticeItem:
        """Puts one at the end of the transcript."""
        item = NoticeItem(self._transcript.new_id(), kind=kind, text=text, detail=detail, values=values)
        self._transcript.add(item)
        return item

    def retry(self, message: ApiRetry) -> None:
        """One notice for all attempts in a row, updated in place."""
        values = {
            "attempt": message.attempt,
            "max_retries": message.max_retries,
            "seconds": max(1, round(message.retry_delay_ms / 1000)),
        }
        if self._retry is None:
            self._retry = self.add("retry", RETRYING, message.error, **values)
            return
        self._retry.values, self._retry.detail = values, message.error
        self._transcript.touch(self._retry)

    def retry_over(self) -> None:
        """It worked, or it is given up: the notice about trying has nothing more to say."""
        if self._retry is not None:
            self._transcript.remove(self._retry)
            self._retry = None

    def error(self, error: str, status: int | None, text: str) -> None:
        """The API refused."""
        self.retry_over()
        self._turn_error = self.add("error", advice(error, status, text), text)

    def turn_over(self, result: ResultMessage, *, stopped: bool) -> None:
        """The end of a turn, where it is not a plain success. `is_error` counts before `subtype`."""
        self.retry_over()
        told, self._turn_error = self._turn_error, None
        failed = result.is_error or result.subtype.startswith("error")
        if stopped:
            self.add("stopped", STOPPED)
        elif failed and told is not None:
            # The assistant's message told it already; the result may know the status that it lacked.
            better = advice("", result.api_error_status, result.result)
            if told.text == NO_ANSWER and better != NO_ANSWER:
                told.text = better
                self._transcript.touch(told)
        elif failed:
            self._failure(result)

    def _failure(self, result: ResultMessage) -> None:
        detail = "\n".join(result.errors) or result.result
        if result.subtype == "error_max_turns":
            self.add("warning", TURN_LIMIT, detail)
        elif result.subtype == "error_max_budget_usd":
            self.add("warning", BUDGET_LIMIT, detail)
        elif any(error.startswith("No conversation found") for error in result.errors):
            self.add("error", NOT_FOUND, detail)
        elif result.subtype.startswith("error"):
            self.add("error", FAILED, detail)
        else:
            self.add("error", advice("", result.api_error_status, result.result), detail)

    def compacted(self, message: CompactBoundary) -> None:
        """What came before is now a summary; the summary itself follows as a made-up user message."""
        self._summary = self.add("compacted", COMPACTED, trigger=message.trigger, tokens=message.pre_tokens)

    def summary(self, text: str) -> bool:
        """Takes the text of a made-up user message; False if no summary is awaited."""
        if self._summary is None:
            return False
        self._summary.detail = text
        self._transcript.touch(self._summary)
        self._summary = None
        return True

    def rate_limit(self, event: RateLimitEvent) -> None:
        """Told when the limit comes near and when it is reached, not with every event."""
        before, self._limit = self._limit, event.status
        if event.status == before:
            return
        if event.status == "rejected":
            self.add("warning", LIMIT_REACHED, resets_at=event.resets_at)
        elif event.status == "allowed_warning" and event.utilization is not None:
            percent = round(event.utilization * 100)
            self.add("warning", LIMIT_USED, percent=percent, resets_at=event.resets_at)
        elif event.status == "allowed_warning":
            self.add("warning", LIMIT_NEAR, resets_at=event.resets_at)

    def exited(self, code: int | None, stderr_tail: str, *, told: bool = True) -> None:
        """The process is gone. Not `told` where the person closed it."""
        self.retry_over()
        self._turn_error = self._summary = None
        if not told:
            return
        if code is None:
            self.add("exited", EXITED, stderr_tail)
        else:
            self.add("exited", EXITED_CODE, stderr_tail, code=code)

    def reset(self) -> None:
        """The items are gone; forget which of them still waited for more."""
        self._retry = self._turn_error = self._summary = None
