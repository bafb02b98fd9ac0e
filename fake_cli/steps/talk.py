"""Steps in which the model speaks or thinks, and those that order other steps."""

from __future__ import annotations

from fake_cli.scenario import Step, look_up
from fake_cli.steps.base import BEGINS, Finish, Runner, all_of, step


@step("text", "pace chunk deltas whole")
async def text(runner: Runner, one: Step) -> None:
    await runner.speaker.text(
        one.value, pace=runner.pace(one), chunk=runner.chunk(one), deltas=one.get("deltas", True),
        whole=one.get("whole", True),
    )


@step("thinking", "pace chunk")
async def thinking(runner: Runner, one: Step) -> None:
    await runner.speaker.thinking(one.value, pace=runner.pace(one), chunk=runner.chunk(one))


@step("block")
async def block(runner: Runner, one: Step) -> None:
    """A content block of any type, for instance one that nobody knows yet, or `redacted_thinking`."""
    await runner.speaker.block(one.value)


@step("wait")
async def wait(runner: Runner, one: Step) -> None:
    await runner.session.pause(float(one.value))


@step("together", "serial")
async def together(runner: Runner, one: Step) -> None:
    """Several tool uses in one message. Their requests are open at the same time, unless `serial`."""
    serial = bool(one.get("serial"))
    finishes: list[Finish] = []
    for index, inner in enumerate(one.value):
        begin = BEGINS[inner.kind]
        finishes.append(await begin(runner, runner.filled(inner), serial and index > 0))
        runner.speaker.close_block()
    runner.speaker.end("tool_use")
    if not serial:
        await all_of(finishes)
        return
    for finish in finishes:
        await finish()


@step("choose", "cases")
async def choose(runner: Runner, one: Step) -> None:
    """Runs the case named by a fact (`"choose": "db.decision"`), or the case `*`."""
    value = look_up(one.value, runner.session.facts)
    cases = one.get("cases", {})
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    await runner.run(cases.get(str(value), cases.get("*", ())))


@step("repeat", "steps")
async def repeat(runner: Runner, one: Step) -> None:
    """Runs `steps` that many times; `${i}` counts from 0."""
    for index in range(int(one.value)):
        runner.session.facts["i"] = index
        await runner.run(one.get("steps", ()))
