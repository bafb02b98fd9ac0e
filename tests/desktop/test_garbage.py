"""Garbage is collected on the window's own thread, and all of it only when the window is idle."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import pytest
from PySide6.QtWidgets import QApplication

from desktop import garbage, loop


class Knot:
    """A reference cycle that notes the thread on which it is collected."""

    def __init__(self, seen: list[int]) -> None:
        self.myself = self
        self.seen = seen

    def __del__(self) -> None:
        self.seen.append(threading.get_ident())


def make_knots(seen: list[int], number: int) -> None:
    for _ in range(number):
        Knot(seen)


def test_another_thread_that_allocates_collects_nothing(qapp: QApplication) -> None:
    seen: list[int] = []

    async def main() -> int:
        await loop.on_thread(make_knots, seen, 20_000)
        assert seen == []
        return 0

    assert loop.run(main(), qapp) == 0
    assert set(seen) <= {threading.get_ident()}
    assert gc.isenabled()


def test_garbage_is_collected_while_the_window_runs(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "INTERVAL_MS", 10)
    seen: list[int] = []

    async def main() -> int:
        make_knots(seen, 5_000)
        for _ in range(1_000):
            if len(seen) == 5_000:
                break
            await asyncio.sleep(0.01)
        return len(seen)

    assert loop.run(main(), qapp) == 5_000


def test_a_full_collection_waits_for_a_quiet_moment(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = garbage.QuietCollector()
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 5))
    try:
        spin_until = time.thread_time() + 0.05
        while time.thread_time() < spin_until:
            pass
        assert collector.look() is None
        time.sleep(0.2)
        assert collector.look() == 2
    finally:
        collector.stop()


def test_a_full_collection_does_not_wait_for_ever(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = garbage.QuietCollector()
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, gc.get_threshold()[2] * garbage.PATIENCE + 1))
    try:
        spin_until = time.thread_time() + 0.05
        while time.thread_time() < spin_until:
            pass
        assert collector.look() == 2
    finally:
        collector.stop()
