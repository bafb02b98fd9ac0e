"""Thousands of anything at once: the window reacts all the while, and nothing piles up that a person has to clear away.

Floods through the pipe itself are in `test_bad_input_in_the_window.py`.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.helpers.cli_says import (
    block_start,
    init,
    json_delta,
    message_start,
    system,
    text_delta,
    thinking_delta,
)
from tests.helpers.desk import texts
from tests.helpers.lies import Wire, says
from tests.helpers.sitting import Sitting

LONGEST_PAUSE = 1.5
"""Seconds. What is meant are the minutes that a list or a layout needs whose cost grows with the square."""


def said(message_id: str, *blocks: Wire) -> Wire:
    return {"type": "assistant", "message": {"id": message_id, "content": list(blocks)}, "parent_tool_use_id": None}


def text(number: int) -> Wire:
    return said(f"m{number}", {"type": "text", "text": f"**{number}** word word word word word word word\n\n* a\n* b"})


def call(number: int) -> Wire:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"echo {number}"}}
    return said(f"c{number}", block)


def result(number: int) -> Wire:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "x" * 200}
    return {"type": "user", "message": {"content": [block]}}


def request(number: int) -> Wire:
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": f"echo {number}"}}
    return {"type": "control_request", "request_id": f"r{number}", "request": {**asked, "tool_use_id": f"t{number}"}}


def turn_failed(number: int) -> Wire:
    return {"type": "result", "subtype": "success", "is_error": True, "result": f"API Error: 500 {number}"}


def signed_out(number: int) -> Wire:
    return {**said(f"e{number}", {"type": "text", "text": "Not logged in"}), "error": "authentication_failed"}


def commands(number: int) -> Wire:
    return system("commands_changed", commands=[{"name": f"c{number}-{n}", "description": "d"} for n in range(200)])


def limit(number: int) -> Wire:
    info = {"status": ("allowed", "allowed_warning")[number % 2], "utilization": 0.5}
    return {"type": "rate_limit_event", "rate_limit_info": info}


FLOODS: dict[str, list[Wire]] = {
    "answers": [text(n) for n in range(2000)],
    "calls": [message for n in range(1500) for message in (call(n), result(n))],
    "pieces of an answer": [message_start("s1"), block_start(0), *(text_delta("word " * 3) for _ in range(8000))],
    "thoughts": [message_start("s2"), block_start(0, "thinking"), *(thinking_delta("hm, ") for _ in range(8000))],
    "an input": [message_start("s3"), block_start(0, "tool_use", id="t", name="Write"),
                 *(json_delta("abcdef" * 5) for _ in range(8000))],
    "retries": [system("api_retry", attempt=n, max_retries=99, retry_delay_ms=1000) for n in range(3000)],
    "notifications": [system("notification", text=f"note {n}") for n in range(2000)],
    "failed turns": [turn_failed(n) for n in range(1000)],
    "refused logins": [signed_out(n) for n in range(500)],
    "states": [system("session_state_changed", state=s) for _ in range(2000) for s in ("running", "idle")],
    "titles": [system("session_title_changed", title=f"title {n}") for n in range(3000)],
    "beginnings": [init(session_id=f"s{n}", tools=["a"] * 50, slash_commands=["c"] * 100) for n in range(1000)],
    "limits": [limit(n) for n in range(1000)],
    "commands": [commands(n) for n in range(200)],
    "tasks": [system("task_started", task_id=f"t{n}", description="d", tool_use_id=f"x{n}") for n in range(2000)],
    "requests": [request(n) for n in range(300)],
    "clearings": [{"type": "conversation_reset", "new_conversation_id": f"n{n}"} for n in range(300)],
}  # fmt: skip


@pytest.mark.parametrize("group", [list(FLOODS)[:6], list(FLOODS)[6:]], ids=["of words", "of news"])
def test_thousands_of_anything_at_once_do_not_stop_the_window(sitting: Sitting, group: list[str]) -> None:
    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.at_rest()
        for kind in group:
            end = f"the end of the {kind}"
            says(sitting, *FLOODS[kind], said(end, {"type": "text", "text": end}))
            while end not in texts(opened):
                await reacts(sitting, kind)
            await reacts(sitting, kind)
            if kind == "requests":
                assert len(opened.conversation.pending) == 300
                assert "1 of 300" in sitting.person.visible_text()
        assert opened.conversation.faults == []
        assert not opened.conversation.pending
        assert len(opened.recovered) <= 1
        assert len(sitting.offers) <= 6

    sitting.play(story)


async def reacts(sitting: Sitting, kind: str) -> None:
    try:
        await sitting.reacts(0.1, LONGEST_PAUSE)
    except AssertionError as problem:
        problem.add_note(f"in the flood of {kind}")
        raise


def test_a_flood_while_somebody_types_costs_no_key(sitting: Sitting) -> None:
    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await sitting.at_rest()
        flood: list[Any] = FLOODS["pieces of an answer"]
        for start in range(0, 4000, 200):
            says(sitting, *flood[start : start + 200])
            await sitting.person.write("composer", "k")
            await asyncio.sleep(0)
        assert sitting.composer == "k" * 20

    sitting.play(story)
