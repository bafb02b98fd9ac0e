"""Registry of the kinds of steps, and the runner that takes one step after the other."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from fake_cli.scenario import Step, fill

if TYPE_CHECKING:
    from fake_cli.session import Session
    from fake_cli.speaker import Speaker
    from fake_cli.turn import Turn

Handler = Callable[["Runner", Step], Awaitable[None]]
Finish = Callable[[], Awaitable[None]]
Begin = Callable[["Runner", Step, bool], Awaitable[Finish]]

KINDS: dict[str, frozenset[str]] = {}
_HANDLERS: dict[str, Handler] = {}
BEGINS: dict[str, Begin] = {}

_tool_numbers = itertools.count(1)


def step(kind: str, options: str = "") -> Callable[[Handler], Handler]:
    """Registers a handler and the names of the options that the step may have."""

    def register(handler: Handler) -> Handler:
        KINDS[kind] = frozenset(options.split())
        _HANDLERS[kind] = handler
        return handler

    return register


def tool_step(kind: str, options: str = "") -> Callable[[Begin], Begin]:
    """Registers a step that is a tool use, in two halves: what belongs into the API message, and what follows.

    The third argument says that permission is to be asked in the second half only: tools of one message that
    run one after the other.
    """

    def register(begin: Begin) -> Begin:
        KINDS[kind] = frozenset(options.split())
        BEGINS[kind] = begin
        return begin

    return register


class Runner:
    """Attributes: `agent_id` of the subagent whose steps these are, or None; `background` if it outlives its turn."""

    def __init__(self, session: Session, turn: Turn, speaker: Speaker, *, agent_id: str | None = None,
                 background: bool = False) -> None:
        self.session = session
        self.turn = turn
        self.speaker = speaker
        self.agent_id = agent_id
        self.background = background

    async def run(self, steps: Sequence[Step]) -> None:
        for one in steps:
            await self.run_step(one)

    async def run_step(self, one: Step) -> None:
        self._crash_at(one)
        filled = self.filled(one)
        begin = BEGINS.get(one.kind)
        if begin is None:
            await _HANDLERS[one.kind](self, filled)
            return
        finish = await begin(self, filled, False)
        self.speaker.close_block()
        self.speaker.end("tool_use")
        await finish()

    def filled(self, one: Step) -> Step:
        facts = self.session.facts
        # What a subagent reports may tell of its own steps, so it is filled in when they are done.
        late = ("result",) if one.kind == "agent" else ()
        options = {key: value if key in late else fill(value, facts) for key, value in one.options.items()}
        return Step(one.kind, fill(one.value, facts), options)

    def keep(self, one: Step, outcome: dict[str, Any]) -> None:
        """Outcomes can be named in later steps: `${NAME.decision}`; the newest is also `${last.…}`."""
        self.session.facts["last"] = outcome
        if one.get("as"):
            self.session.facts[one.get("as")] = outcome

    def pace(self, one: Step) -> float:
        """Characters a second; 0 is at once."""
        return float(one.get("pace", self.session.options.get("pace", 0)))

    def tool_pace(self, one: Step) -> float:
        """Inputs of tools are long and nobody reads them while they arrive: much faster than text."""
        return float(one.get("pace", 25 * self.session.options.get("pace", 0)))

    def chunk(self, one: Step) -> int:
        return int(one.get("chunk", self.session.options.get("chunk", 20)))

    def new_tool_use_id(self) -> str:
        return f"toolu_{next(_tool_numbers):05d}"

    def _crash_at(self, one: Step) -> None:
        name, _, code = self.session.harms.get("crash-at", "").partition(":")
        if name and one.get("name") == name:
            crash(code or "1")


def crash(how: str) -> None:
    """Ends the process at once, with an exit code or by a signal's name, without closing anything."""
    if how.lstrip("-").isdigit():
        os._exit(int(how) & 0xFF)
    if sys.platform == "win32":
        os._exit(1)
    os.kill(os.getpid(), signal.Signals[how if how.startswith("SIG") else f"SIG{how}"])


async def all_of(parts: Sequence[Finish]) -> None:
    """Runs them at the same time; when one fails or all are cancelled, none is left behind."""
    tasks = [asyncio.ensure_future(part()) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
