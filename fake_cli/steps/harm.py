"""Steps that do harm once."""

from __future__ import annotations

import asyncio
import base64

from fake_cli import harms
from fake_cli.output import NOISE, write_stderr
from fake_cli.scenario import Step
from fake_cli.steps.base import Runner, crash, step


@step("raw")
async def raw(runner: Runner, one: Step) -> None:
    """A line of text on stdout, whatever it is."""
    runner.session.output.line(one.value)


@step("bytes")
async def raw_bytes(runner: Runner, one: Step) -> None:
    """Bytes on stdout, given in base64, with nothing added."""
    runner.session.output.data(base64.b64decode(one.value))


@step("garbage")
async def garbage(runner: Runner, one: Step) -> None:
    """So many lines that are no JSON objects: banners, an array, null, a number, half an object."""
    for index in range(int(one.value)):
        runner.session.output.line(NOISE[index % len(NOISE)])


@step("flood", "rate line deltas")
async def flood(runner: Runner, one: Step) -> None:
    """So many bytes; `rate` in bytes a second. With `deltas` they are text deltas of one block, else garbage lines."""
    size, rate = int(one.value), float(one.get("rate", 0))
    if not one.get("deltas"):
        await harms.flood_stdout(runner.session.output, size, rate, int(one.get("line", 1000)))
        return
    text = ("All work and no play makes a flood a flood. " * (size // 44 + 1))[:size]
    factor = runner.session.pace_factor or 1
    await runner.speaker.text(text, pace=rate / factor if rate else 0, chunk=int(one.get("line", 20)))


@step("huge", "within")
async def huge(runner: Runner, one: Step) -> None:
    """One line of at least so many bytes: a text block, whole; or `within` the "result" of a tool or an "image"."""
    filler = "x" * (int(one.value) // 4 * 4)
    if one.get("within", "text") == "text":
        await runner.speaker.text(filler, pace=0, chunk=1, deltas=False)
        return
    tool_use_id = runner.new_tool_use_id()
    await runner.speaker.tool_use("Read", {"file_path": "/huge"}, tool_use_id, pace=0)
    runner.speaker.close_block()
    runner.speaker.end("tool_use")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": filler}}
    runner.speaker.tool_result(tool_use_id, [image] if one.get("within") == "image" else filler)


@step("silence")
async def silence(runner: Runner, one: Step) -> None:
    """Says nothing for so many real seconds, whatever the pace; still reads."""
    await asyncio.sleep(float(one.value))


@step("stop_reading")
async def stop_reading(runner: Runner, one: Step) -> None:
    """Reads nothing from stdin for so many real seconds, so that the host's pipe fills up."""
    runner.session.reading.clear()
    runner.session.loop.call_later(float(one.value), runner.session.reading.set)


@step("stderr")
async def stderr(runner: Runner, one: Step) -> None:
    """A text on stderr, or so many bytes of it."""
    if isinstance(one.value, int):
        harms.flood_stderr(one.value)
    else:
        write_stderr(one.value)


@step("crash")
async def crash_now(runner: Runner, one: Step) -> None:
    """Ends at once with this exit code, or by this signal ("KILL", "SEGV", …), without closing anything."""
    crash(str(one.value))


@step("exit")
async def leave(runner: Runner, one: Step) -> None:
    """Ends in an orderly way with this exit code, in the middle of the turn."""
    runner.session.finish(int(one.value))
    await asyncio.Event().wait()


@step("exit_after")
async def leave_after_turn(runner: Runner, one: Step) -> None:
    """Ends with this exit code once the turn is over: between two messages."""
    runner.session.exit_after_turn = int(one.value)


@step("orphan")
async def orphan(runner: Runner, one: Step) -> None:
    """Leaves a grandchild that holds stdout open for so many seconds."""
    harms.spawn_orphan(float(one.value))


@step("close_stdout")
async def close_stdout(runner: Runner, one: Step) -> None:
    runner.session.output.close()
