"""What the window says about a conversation: modes, states, ages, account, limits. Pure functions, no widgets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from PySide6.QtCore import QDateTime, QLocale

from desktop import translations
from desktop.conversations import OpenConversation
from desktop.durations import elapsed
from desktop.keys import as_typed
from desktop.translations import tr
from desktop.widgets import DotState
from protocol.messages import RateLimitEvent


def mode_words(mode: str) -> tuple[str, str]:
    """A permission mode's name and what it does, honestly; a mode that nobody knows keeps its own name."""
    known = {
        "default": (
            tr("Ask each time"),
            tr("Claude asks before it changes a file or runs a command."),
        ),
        "acceptEdits": (
            tr("Edit freely"),
            tr("Claude edits files in this folder without asking, and asks before it runs commands."),
        ),
        "plan": (
            tr("Plan first"),
            tr("Claude reads and plans, and changes nothing until you approve the plan."),
        ),
        "auto": (
            tr("Let Claude judge"),
            tr("Claude decides itself which actions are harmless, and asks about the others."),
        ),
        "dontAsk": (
            tr("Never ask"),
            tr("What your rules do not allow is denied without asking; Claude cannot ask questions either."),
        ),
        "bypassPermissions": (
            tr("Allow everything"),
            tr("Every command and every change is done without asking. Dangerous outside of a sandbox."),
        ),
    }
    return known.get(mode, (mode, ""))


def dot_of(opened: OpenConversation) -> tuple[DotState, str]:
    """The dot before a conversation, and the words for its tooltip and for screen readers."""
    conversation, phase = opened.conversation, opened.phase
    if conversation.pending:
        return "waiting", tr("Waiting for your answer")
    if phase == "untrusted":
        return "waiting", tr("Waiting for your decision about the folder")
    if phase == "failed" or (phase == "exited" and "start" in opened.notices):
        return "failed", tr("Stopped by an error")
    if phase == "running" and conversation.state == "running":
        return "working", tr("Working")
    if phase in ("starting", "queued"):
        return "working", tr("Starting") if phase == "starting" else tr("Waiting for a free place")
    if opened.unseen:
        return "done", tr("Done")
    return "rest", tr("At rest")


def state_words(opened: OpenConversation, seconds: float | None = None) -> str:
    """What the conversation is at, for the status line.

    Args:
        opened: the conversation.
        seconds: how long it has been at it, or None.
    """
    words = _state(opened)
    if seconds is None or seconds < 2:
        return words
    return tr("{state} · {time}", state=words, time=elapsed(seconds))


def _state(opened: OpenConversation) -> str:
    conversation = opened.conversation
    phases = {
        "unstarted": tr("Not started"),
        "untrusted": tr("Waiting for your decision about the folder"),
        "queued": tr("Waiting for a free place"),
        "starting": tr("Starting"),
        "exited": tr("Claude is not running"),
        "failed": tr("Claude is not running"),
        "closed": tr("Closed"),
    }
    if opened.phase in phases:
        return phases[opened.phase]
    if conversation.pending:
        return tr("Waiting for your answer")
    if conversation.state != "running":
        return tr("Ready")
    if conversation.activity == "tool" and conversation.current_tool:
        return tr("Running {tool}", tool=conversation.current_tool)
    activities = {
        "requesting": tr("Waiting for Claude"),
        "thinking": tr("Thinking"),
        "writing": tr("Writing"),
        "tool": tr("Using a tool"),
        "compacting": tr("Compacting…"),
        "retrying": tr("Trying again"),
    }
    return activities.get(conversation.activity, tr("Working"))


def waiting_words(here: int, elsewhere: int, *, only_questions: bool, local_api: int = 0) -> str:
    """How many requests wait, and the key that leads to the next; "" for none.

    They are called questions when all of them are, for a permission, a plan or a form is a request, not a question.

    Args:
        here: in the shown conversation.
        elsewhere: in others.
        only_questions: whether all of them, those of the local API included, are questions.
        local_api: of programs that use the local API.
    """
    if not here and not elsewhere and not local_api:
        return ""
    parts = [_waiting_here(here, only_questions)] if here else []
    if elsewhere:
        parts.append(tr("{count} in another", count=elsewhere) if here else _waiting_there(elsewhere, only_questions))
    if local_api:
        parts.append(
            tr("{count} through the local API", count=local_api) if parts else _waiting_api(local_api, only_questions)
        )
    return tr("{what} · {key}", what=tr(", ").join(parts), key=as_typed("Ctrl+J"))


def _waiting_here(count: int, only_questions: bool) -> str:
    if only_questions:
        one = tr("1 question in this conversation")
        many = tr("{count} questions in this conversation", count=count)
    else:
        one = tr("1 request in this conversation")
        many = tr("{count} requests in this conversation", count=count)
    return one if count == 1 else many


def _waiting_there(count: int, only_questions: bool) -> str:
    if only_questions:
        one = tr("1 question in another conversation")
        many = tr("{count} questions in other conversations", count=count)
    else:
        one = tr("1 request in another conversation")
        many = tr("{count} requests in other conversations", count=count)
    return one if count == 1 else many


def _waiting_api(count: int, only_questions: bool) -> str:
    if only_questions:
        one = tr("1 question through the local API")
        many = tr("{count} questions through the local API", count=count)
    else:
        one = tr("1 request through the local API")
        many = tr("{count} requests through the local API", count=count)
    return one if count == 1 else many


def age_words(at: float, now: float) -> str:
    """When something happened last, as short as a list wants it."""
    seconds = now - at
    if seconds < 60:
        return tr("now")
    if seconds < 3600:
        return tr("{minutes} min", minutes=int(seconds // 60))
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    days = (today.date() - then.date()).days
    if days <= 0 or seconds < 6 * 3600:
        return tr("{hours} h", hours=int(seconds // 3600))
    if days == 1:
        return tr("yesterday")
    locale = QLocale(translations.language())
    if days < 7:
        return locale.dayName(then.isoweekday(), QLocale.FormatType.ShortFormat)
    return locale.toString(QDateTime.fromSecsSinceEpoch(int(at)).date(), QLocale.FormatType.ShortFormat)


def account_words(account: Mapping[str, Any], notable: Mapping[str, str], signed_in: bool | None) -> str:
    """Who pays, in a few words.

    Args:
        account: the handshake's `account`.
        notable: environment variables that send the traffic elsewhere, see `ChildEnvironment.notable`.
        signed_in: what `claude auth status` said, None when nobody asked or it did not tell.
    """
    if "CLAUDE_CODE_USE_BEDROCK" in notable:
        return tr("Amazon Bedrock")
    if "CLAUDE_CODE_USE_VERTEX" in notable:
        return tr("Google Vertex AI")
    if notable.get("ANTHROPIC_BASE_URL"):
        return tr("Through {address}", address=notable["ANTHROPIC_BASE_URL"])
    key = account.get("apiKeySource")
    if isinstance(key, str) and key not in ("", "none") and not account.get("subscriptionType"):
        return tr("Billed to an API key")
    plan = account.get("subscriptionType")
    if isinstance(plan, str) and plan:
        name = plan.removeprefix("Claude ")
        return tr("Signed in · {plan} plan", plan=name[:1].upper() + name[1:])
    if account.get("email") or account.get("tokenSource") or signed_in:
        return tr("Signed in")
    if signed_in is False:
        return tr("Not signed in")
    return tr("Account unknown")


def account_detail(account: Mapping[str, Any], notable: Mapping[str, str], removed: tuple[str, ...]) -> str:
    """The account chip's tooltip: what is known, and what the environment changes."""
    lines = [str(account[name]) for name in ("email", "organization") if account.get(name)]
    lines += [f"{name}={value}" for name, value in notable.items()]
    if removed:
        lines.append(tr("Not handed to Claude: {names}", names=", ".join(removed)))
    return "\n".join(lines)


def plan_words(limit: RateLimitEvent | None, now: float | None = None) -> str:
    """Where the plan's limit stands: "Plan: 41 % of 5 h · resets 18:00"; "" when nothing was told."""
    if limit is None or (limit.utilization is None and limit.status in ("", "allowed")):
        return ""
    window = {"five_hour": tr("5 h"), "seven_day": tr("7 days"), "seven_day_opus": tr("7 days (Opus)")}.get(
        limit.rate_limit_type, tr("the limit")
    )
    if limit.status == "rejected":
        words = tr("Plan: limit reached")
    elif limit.utilization is not None:
        words = tr("Plan: {percent} % of {window}", percent=round(limit.utilization * 100), window=window)
    else:
        words = tr("Plan: close to the limit")
    if limit.resets_at:
        words = tr("{what} · resets {time}", what=words, time=_clock_time(limit.resets_at, now or time.time()))
    return words


def _clock_time(at: float, now: float) -> str:
    try:
        then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    except (OverflowError, OSError, ValueError):
        return "?"
    if then - today < timedelta(hours=20):
        return then.strftime("%H:%M")
    return QLocale(translations.language()).dayName(then.isoweekday(), QLocale.FormatType.ShortFormat) + then.strftime(
        " %H:%M"
    )
