"""A CLI that lies: the window neither believes more than it must nor stumbles, and the next message is answered.

What is said here cannot be had from the true CLI on demand; it is what a new version, a foreign one or a wrapper can
say. An exception in a slot, a lost task or a warning of Qt's fails each of these tests by itself.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QDesktopServices

from protocol import incoming
from protocol.conversation import TurnEndItem
from protocol.wire import LineReader
from tests.helpers.cli_says import (
    block_start,
    block_stop,
    event,
    message_start,
    system,
    text_delta,
)
from tests.helpers.desk import sent, texts
from tests.helpers.lies import Wire, emits, goes_on, lie, notices, raw, says, tools
from tests.helpers.sitting import Sitting

MESSAGES = Path(__file__).resolve().parents[1] / "data" / "messages"
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 10**400, 1e308, float("nan"), float("inf"), "", "x", "a\u0000b\u202e<b>&amp;\n\ud83d",
    [], [None], {}, {"a": []},
)  # fmt: skip
"""What stands in a message where something else should."""

# Turns and results


def test_a_result_without_a_turn_and_a_second_one_end_nothing_twice(sitting: Sitting) -> None:
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "", "session_id": "s"}
    sitting.desk.stand_in([{"text": "said"}, *emits(result, result)])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await goes_on(sitting)
        ends = [item for item in opened.conversation.items if isinstance(item, TurnEndItem)]
        assert len(ends) == 2  # one a turn

    sitting.play(story)


def test_a_turn_without_a_result_is_over_when_the_cli_is_idle(sitting: Sitting) -> None:
    lie(sitting, {"result": None})


def test_a_state_that_is_not_so_does_not_stop_the_next_message(sitting: Sitting) -> None:
    lie(sitting, *emits(*(system("session_state_changed", state=state) for state in ("idle", "requires_action", "?"))))


def test_what_streamed_is_replaced_by_what_is_said_in_the_end(sitting: Sitting) -> None:
    sitting.desk.stand_in([{"text": "the truth", "deltas": "a lie"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await goes_on(sitting)
        assert texts(opened) == ["the truth", "echo: are you there"]

    sitting.play(story)


def test_deltas_of_blocks_that_never_began_or_have_ended_harm_nothing(sitting: Sitting) -> None:
    lie(
        sitting,
        *emits(
            text_delta("stray", index=99), block_stop(7), block_stop(99), message_start("m1"), message_start("m1"),
            text_delta("minus", index=-1), block_start(0, "tool_use", id="", name=""), block_start(0, "of_the_future"),
            text_delta("of a strange block"), event("content_block_delta", index="0", delta={"text": "x"}),
            event("content_block_delta", index=10**20, delta={"type": "text_delta", "text": "far"}),
            event("message_stop"), event("message_stop"),
        ),
    )  # fmt: skip


def test_half_an_emoji_in_a_delta_a_code_block_and_a_title_is_shown_and_kept(sitting: Sitting) -> None:
    text = "half \ud83d an emoji\n\n```py\nx = '\ud83d'\n```\n\n| a | \ud83d |\n|---|---|\n| b | c |\n"
    sitting.desk.stand_in(
        [
            raw(system("session_title_changed", title="cut in the middle \ud83d")),
            raw(message_start("m9")), raw(block_start(0)), raw(text_delta(text)), raw(block_stop(0)),
            raw({"type": "assistant", "message": {"id": "m9", "content": [{"type": "text", "text": text}]}}),
            {"question": [{"question": "?"}], "raw": {"questions": [{"question": "Which?"}]}, "name": "q"},
        ]
    )  # fmt: skip

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.person.sees("questionDialog")
        assert opened.title.startswith("cut in the middle")
        await sitting.person.write("otherText_0", "words in the dialog")
        await sitting.until(lambda: "words in the dialog" in kept_on_disk(sitting), "the dialog's text is on the disk")
        await sitting.person.click("dismissQuestions")
        await sitting.person.click("throwAway")
        await goes_on(sitting)

    sitting.play(story)


def kept_on_disk(sitting: Sitting) -> str:
    folder = sitting.desk.drafts.folder
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.json"))


# What it tells about itself


@pytest.mark.parametrize("limit", [
    {"status": "rejected", "resetsAt": 1e300}, {"status": "allowed_warning", "utilization": -4, "resetsAt": -1e18},
    {"status": ["?"], "utilization": "a lot"}, {"status": "allowed_warning", "utilization": 10**400}, None,
], ids=repr)  # fmt: skip
def test_limits_of_any_kind_are_told_or_left_out(sitting: Sitting, limit: Any) -> None:
    lie(sitting, *emits({"type": "rate_limit_event", "rate_limit_info": limit}))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN"])
def test_numbers_that_are_none_are_left_out(sitting: Sitting, number: str) -> None:
    message = (
        '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","utilization":N,"resetsAt":N}}',
        '{"type":"result","subtype":"success","total_cost_usd":N,"duration_ms":N,"usage":{"input_tokens":N}}',
        '{"type":"tool_progress","tool_use_id":"t","elapsed_time_seconds":N}',
        '{"type":"system","subtype":"api_retry","retry_delay_ms":N,"attempt":N,"max_retries":N}',
    )
    lie(sitting, *({"raw": line.replace("N", number)} for line in message))


@pytest.mark.parametrize("replies", [
    {"get_context_usage": {"totalTokens": "many", "maxTokens": 0}},
    {"get_context_usage": {"totalTokens": 10**400, "maxTokens": 1}},
    {"get_context_usage": {"totalTokens": -5, "maxTokens": -7}, "get_settings": {"applied": {"effort": 3}}},
    {"get_settings": {"applied": "x"}, "initialize": {"models": "none", "commands": {"a": 1}, "account": "me"}},
    {"initialize": {"models": [None, {"value": 3}, {}], "commands": [1, {"name": None}], "account": {"email": 1,
                    "subscriptionType": ["max"], "organization": {}}}},
    {"file_suggestions": {"suggestions": [1, {"path": 2}, {"path": "a\nb<b>"}]}},
], ids=lambda replies: "-".join(replies))  # fmt: skip
def test_answers_of_any_form_leave_the_window_as_it_was(sitting: Sitting, replies: Wire) -> None:
    sitting.desk.stand_in([{"text": "said"}], replies=replies)

    async def story() -> None:
        await sitting.begin()
        await sitting.person.send("go")
        await goes_on(sitting)
        await sitting.person.write("composer", "@a")
        await asyncio.sleep(0.4)
        sitting.window.refresh()

    sitting.play(story)


def test_a_title_is_plain_text_on_one_line_however_it_comes(sitting: Sitting) -> None:
    lie(sitting, *emits(system("session_title_changed", title="<img src=x>\n\u202eevil\n" + "x" * 100_000)))
    assert "\n" not in sitting.window.windowTitle()
    assert len(sitting.window.windowTitle()) < 300


# Any message at all


def strange_messages() -> Iterator[Wire]:
    """Every known message with each of its values replaced by each strange one. Requests are another test's."""
    for path in sorted(MESSAGES.glob("*.json")):
        if path.name.startswith(("control_request", "control_response", "conversation_reset")):
            continue
        wire = json.loads(path.read_text(encoding="utf-8"))["wire"]
        for place in places(wire):
            if place != ("type",):
                for value in STRANGE:
                    yield replaced(wire, place, value)


def places(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(entries)[:6]:
        yield (*so_far, key)
        yield from places(inner, (*so_far, key))


def replaced(wire: Wire, place: tuple[Any, ...], value: Any) -> Wire:
    changed = copy.deepcopy(wire)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def test_any_message_with_anything_in_it_leaves_a_window_that_works(sitting: Sitting) -> None:
    messages = list(strange_messages())
    assert len(messages) > 5000

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.at_rest()
        for start in range(0, len(messages), 500):
            mark = f"so far: {start}"
            block = {"type": "text", "text": mark}
            said = {"type": "assistant", "message": {"id": mark, "content": [block]}}
            says(sitting, *messages[start : start + 500], said)
            await sitting.until(lambda mark=mark: mark in texts(opened), mark)  # type: ignore[misc]
            bar = sitting.page.transcript.list.verticalScrollBar()
            bar.setValue(bar.maximum() // 2)
            await asyncio.sleep(0.02)
            sitting.window.refresh()
            sitting.window.sidebar.refresh()
        assert opened.conversation.faults == []
        assert sent(opened)[0] == "go"

    sitting.play(story)


# What the model writes


def test_html_images_and_links_of_a_model_load_nothing_and_open_nothing_by_themselves(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_by_system: list[Any] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened_by_system.append)
    secret = sitting.desk.root / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n")
    before = secret.stat().st_atime_ns
    text = (
        f'<img src="file://{secret}"> <script>alert(1)</script> <b>bold</b> ![picture](file://{secret})\n\n'
        f"![remote](http://127.0.0.1:9/x.png) [click](file://{secret}) [run](javascript:alert(1)) [app](vscode://x)\n\n"
        f'<a href="https://evil.example">kind.example</a> &lt;i&gt; <table><tr><td>cell</td></tr></table>\n'
    )
    lie(sitting, {"text": text})
    assert opened_by_system == []
    assert secret.stat().st_atime_ns == before


@pytest.mark.parametrize("within", ["text", "result", "image"])
def test_a_line_of_twelve_megabytes_is_shown_and_what_follows_is_intact(sitting: Sitting, within: str) -> None:
    sitting.desk.stand_in([{"huge": 12_000_000, "within": within}, {"text": "said"}])

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        while "said" not in texts(opened):
            await sitting.reacts(0.2, longest=2.0)
        whole: dict[str, Callable[[], int]] = {
            "text": lambda: len(texts(opened)[0]),
            "result": lambda: len(tools(sitting)[0].result_text),
            "image": lambda: len(tools(sitting)[0].result_images[0].data),
        }
        assert whole[within]() == 12_000_000
        await goes_on(sitting)

    sitting.play(story)


def test_a_line_past_the_cap_is_said_and_a_restart_is_one_click_away(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "LineReader", functools.partial(LineReader, max_line=100_000))
    sitting.desk.stand_in([{"text": "one"}], [{"huge": 200_000}, {"text": "said"}], sessions=True)

    async def story() -> None:
        opened = await sitting.begin()
        await sitting.person.send("go")
        await sitting.at_rest()
        await sitting.person.send("more")
        await sitting.until(lambda: "said" in texts(opened), "what follows is intact")
        assert any("more than can be taken. Restart the conversation" in text for text in notices(sitting))
        first = opened.session
        sitting.desk.stand_in(sessions=True)
        await sitting.person.click("restart_line")
        await sitting.until(lambda: opened.session is not first and opened.phase == "running", "it runs again")
        assert opened.session is not None
        assert opened.session.options.resume
        await goes_on(sitting)

    sitting.play(story)
