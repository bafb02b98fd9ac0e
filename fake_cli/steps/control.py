"""Steps that change how the stand-in itself behaves from here on."""

from __future__ import annotations

from fake_cli.scenario import Step
from fake_cli.steps.base import Runner, step


@step("harm")
async def harm(runner: Runner, one: Step) -> None:
    """Turns on harms that last (an object of names and values); null as a value turns one off."""
    from fake_cli.harms import apply

    for name, value in one.value.items():
        if value is None:
            runner.session.harms.pop(name, None)
        else:
            runner.session.harms[name] = str(value)
    apply(runner.session)


@step("set")
async def set_facts(runner: Runner, one: Step) -> None:
    """Facts that later steps can refer to."""
    runner.session.facts |= one.value
