"""Who may run: never more than allowed, first come first served, and no place is ever lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest

from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.gate import Gate


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


class Visitor:
    """Goes through a gate, and stays until it is let go."""

    def __init__(self, gate: Gate) -> None:
        self.inside = asyncio.Event()
        self.may_go = asyncio.Event()
        self.leaving = asyncio.Event()
        self.task = asyncio.create_task(self._visit(gate))

    async def _visit(self, gate: Gate) -> None:
        async with gate.enter() as slot:
            self.inside.set()
            await self.may_go.wait()
            if self.leaving.is_set():
                slot.leaving()
                self.may_go.clear()
                await self.may_go.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class TestGate:
    def test_as_many_as_may_and_no_more(self) -> None:
        async def test() -> None:
            gate = Gate(2, 1)
            visitors = [Visitor(gate) for _ in range(3)]
            await settle()
            assert [visitor.inside.is_set() for visitor in visitors] == [True, True, False]
            assert (gate.free, gate.waiting) == (0, 1)
            with pytest.raises(ApiError) as caught:
                async with gate.enter():
                    raise AssertionError("one too many came in")
            assert (caught.value.status, caught.value.code) == (429, "server_busy")
            assert caught.value.retry_after
            assert caught.value.should_retry is None
            for visitor in visitors:
                visitor.may_go.set()
            await asyncio.gather(*(visitor.task for visitor in visitors))
            assert (gate.free, gate.waiting) == (2, 0)

        run(test())

    def test_first_come_first_served_also_against_those_who_come_just_now(self) -> None:
        async def test() -> None:
            gate = Gate(1, 5)
            first, second, third = Visitor(gate), Visitor(gate), Visitor(gate)
            await settle()
            first.may_go.set()
            await first.task
            fourth = Visitor(gate)
            await settle()
            assert [v.inside.is_set() for v in (second, third, fourth)] == [True, False, False]
            for visitor in (second, third, fourth):
                visitor.may_go.set()
                await visitor.task
            assert gate.free == 1

        run(test())

    def test_who_is_cancelled_while_it_waits_frees_its_place(self) -> None:
        async def test() -> None:
            gate = Gate(1, 1)
            first, second = Visitor(gate), Visitor(gate)
            await settle()
            second.task.cancel()
            await settle()
            third = Visitor(gate)
            await settle()
            first.may_go.set()
            await first.task
            await settle()
            assert third.inside.is_set()
            third.may_go.set()
            await third.task
            assert (gate.free, gate.waiting) == (1, 0)

        run(test())

    def test_cancelled_in_the_moment_before_its_turn_comes(self) -> None:
        """The one who leaves must not hand the place to somebody who is on its way out."""

        async def test() -> None:
            gate = Gate(1, 5)
            first, second, third = Visitor(gate), Visitor(gate), Visitor(gate)
            await settle()
            second.task.cancel()
            first.task.cancel()
            await settle()
            assert third.inside.is_set()
            third.may_go.set()
            await third.task
            assert (gate.free, gate.waiting) == (1, 0)

        run(test())

    def test_cancelled_in_the_moment_after_its_turn_has_come(self) -> None:
        async def test() -> None:
            gate = Gate(1, 5)
            first, second, third = Visitor(gate), Visitor(gate), Visitor(gate)
            await settle()
            gate._give()  # its turn comes …
            second.task.cancel()  # … and it has not heard of it yet
            await settle()
            assert not second.inside.is_set()
            assert third.inside.is_set()
            third.may_go.set()
            first.task.cancel()
            await settle()
            assert gate.waiting == 0

        run(test())

    def test_who_only_tidies_up_makes_room_in_the_queue(self) -> None:
        async def test() -> None:
            gate = Gate(1, 0)
            first = Visitor(gate)
            first.leaving.set()
            await settle()
            first.may_go.set()
            await settle()
            second = Visitor(gate)
            await settle()
            assert gate.waiting == 1
            with pytest.raises(ApiError):
                async with gate.enter():
                    raise AssertionError("one too many came in")
            first.may_go.set()
            await first.task
            await settle()
            assert second.inside.is_set()
            with pytest.raises(ApiError):
                async with gate.enter():
                    raise AssertionError("there is no queue any more")
            second.may_go.set()
            await second.task
            assert (gate.free, gate.waiting) == (1, 0)

        run(test())

    @pytest.mark.parametrize("seed", range(5))
    def test_no_place_is_lost_whatever_happens(self, seed: int) -> None:
        async def test() -> None:
            dice, gate, inside, most = random.Random(seed), Gate(3, 20), 0, 0

            async def visit() -> None:
                nonlocal inside, most
                try:
                    async with gate.enter() as slot:
                        inside += 1
                        most = max(most, inside)
                        try:
                            for _ in range(dice.randrange(4)):
                                await asyncio.sleep(0)
                            slot.leaving()
                            for _ in range(dice.randrange(4)):
                                await asyncio.sleep(0)
                        finally:
                            inside -= 1
                except ApiError:
                    return

            tasks = []
            for _ in range(500):
                tasks.append(asyncio.create_task(visit()))
                if dice.random() < 0.4:
                    dice.choice(tasks).cancel()
                for _ in range(dice.randrange(3)):
                    await asyncio.sleep(0)
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (gate.free, gate.waiting) == (3, 0)
            assert most == 3
            assert gate._leaving == 0

        run(test())
