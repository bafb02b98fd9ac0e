"""What the window says about modes, ages, accounts and limits."""

from __future__ import annotations

from datetime import datetime

import pytest

from desktop.durations import elapsed
from desktop.window.wording import (
    account_detail,
    account_words,
    age_words,
    mode_words,
    plan_words,
    waiting_words,
)
from protocol.messages import RateLimitEvent, parse_message
from protocol.requests import MODES

NOON = datetime(2026, 11, 25, 12, 0).timestamp()  # a Wednesday
HOUR, DAY = 3600, 86400


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_has_a_name_and_says_what_it_does(mode: str) -> None:
    name, detail = mode_words(mode)
    assert name != mode
    assert detail.endswith(".")


def test_the_dangerous_mode_says_so_and_an_unknown_one_keeps_its_name() -> None:
    assert "Dangerous" in mode_words("bypassPermissions")[1]
    assert mode_words("from_the_future") == ("from_the_future", "")


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (0, "now"), (59, "now"), (60, "1 min"), (3599, "59 min"), (HOUR, "1 h"), (5 * HOUR, "5 h"), (11 * HOUR, "11 h"),
        (13 * HOUR, "yesterday"), (DAY, "yesterday"), (2 * DAY, "Mon"), (-5, "now"),
    ],
)  # fmt: skip
def test_an_age_is_short(ago: float, words: str) -> None:
    assert age_words(NOON - ago, NOON) == words


def test_what_is_older_than_a_week_has_a_date() -> None:
    assert "25" in age_words(NOON - 31 * DAY, NOON)


@pytest.mark.parametrize(("seconds", "words"), [(0, "0:00"), (42, "0:42"), (725, "12:05"), (7207, "2:00:07")])
def test_a_duration(seconds: float, words: str) -> None:
    assert elapsed(seconds) == words


@pytest.mark.parametrize(
    ("here", "elsewhere", "words"),
    [
        (0, 0, ""),
        (1, 0, "1 question in this conversation · Ctrl+J"),
        (2, 1, "2 questions in this conversation, 1 in another · Ctrl+J"),
        (0, 1, "1 question in another conversation · Ctrl+J"),
        (0, 3, "3 questions in other conversations · Ctrl+J"),
    ],
)
def test_what_waits_is_counted(here: int, elsewhere: int, words: str) -> None:
    assert waiting_words(here, elsewhere, only_questions=True) == words
    assert waiting_words(here, elsewhere, only_questions=False) == words.replace("question", "request")


@pytest.mark.parametrize(
    ("account", "notable", "signed_in", "words"),
    [
        ({"subscriptionType": "max", "email": "me@x"}, {}, None, "Signed in · Max plan"),
        ({"subscriptionType": "Claude Pro"}, {}, None, "Signed in · Pro plan"),
        ({"email": "me@x"}, {}, None, "Signed in"),
        ({"apiKeySource": "ANTHROPIC_API_KEY"}, {}, None, "Billed to an API key"),
        ({"apiKeySource": "none", "tokenSource": "oauth"}, {}, None, "Signed in"),
        ({}, {}, False, "Not signed in"),
        ({}, {}, None, "Account unknown"),
        ({}, {"CLAUDE_CODE_USE_BEDROCK": "1"}, None, "Amazon Bedrock"),
        ({}, {"ANTHROPIC_BASE_URL": "http://localhost:1"}, None, "Through http://localhost:1"),
        ({"subscriptionType": 7, "email": None}, {}, None, "Account unknown"),
    ],
)
def test_who_pays_is_in_words(
    account: dict[str, object], notable: dict[str, str], signed_in: bool | None, words: str
) -> None:
    assert account_words(account, notable, signed_in) == words


def test_the_accounts_detail_says_what_was_not_handed_over() -> None:
    detail = account_detail({"email": "me@x"}, {"ANTHROPIC_BASE_URL": "u"}, ("ANTHROPIC_API_KEY",))
    assert detail.splitlines() == ["me@x", "ANTHROPIC_BASE_URL=u", "Not handed to Claude: ANTHROPIC_API_KEY"]


def limit(**info: object) -> RateLimitEvent:
    message = parse_message({"type": "rate_limit_event", "rate_limit_info": info})
    assert isinstance(message, RateLimitEvent)
    return message


def test_where_the_plan_stands() -> None:
    at = datetime(2026, 11, 25, 18, 0).timestamp()
    event = limit(status="allowed", utilization=0.41, rateLimitType="five_hour", resetsAt=at)
    assert plan_words(event, NOON) == "Plan: 41 % of 5 h · resets 18:00"
    assert plan_words(limit(status="rejected", resetsAt=at), NOON) == "Plan: limit reached · resets 18:00"
    assert plan_words(limit(status="allowed_warning"), NOON) == "Plan: close to the limit"
    assert plan_words(limit(status="allowed"), NOON) == ""
    assert plan_words(None, NOON) == ""
    assert plan_words(limit(status="rejected", resetsAt=1e30), NOON).startswith("Plan: limit reached")
