"""What the window's event loop promises."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog

from desktop import loop


@pytest.fixture
def reported() -> Iterator[list[tuple[BaseException, str]]]:
    seen: list[tuple[BaseException, str]] = []
    loop.set_reporter(lambda error, where: seen.append((error, where)))
    yield seen
    loop.set_reporter(None)


def test_a_lost_exception_is_reported_with_the_name_of_its_task(
    qapp: QApplication, reported: list[tuple[BaseException, str]], caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise ValueError("nobody awaits me")

    async def main() -> int:
        loop.spawn(fail(), "the failing task")
        await asyncio.sleep(0.01)
        return 0

    assert loop.run(main(), qapp) == 0
    assert [(str(error), where) for error, where in reported] == [("nobody awaits me", "the failing task")]
    assert "Lost exception in the failing task" in caplog.text
    caplog.clear()


def test_what_is_still_running_at_the_end_is_cancelled(qapp: QApplication) -> None:
    ended = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main() -> int:
        loop.spawn(for_ever(), "waits for ever")
        await asyncio.sleep(0)
        return 7

    assert loop.run(main(), qapp) == 7
    assert ended == [True]
    assert loop.spawned() == frozenset()


def test_a_dialog_is_awaited_while_other_tasks_go_on(qapp: QApplication) -> None:
    ticks = []

    async def tick() -> None:
        while True:
            ticks.append(True)
            await asyncio.sleep(0.005)

    async def main() -> int:
        dialog = QDialog()
        task = loop.spawn(tick(), "ticks")
        QTimer.singleShot(100, dialog.accept)
        result = await loop.finished(dialog)
        task.cancel()
        return result

    assert loop.run(main(), qapp) == QDialog.DialogCode.Accepted.value
    assert len(ticks) > 3


def test_a_blocking_call_runs_on_another_thread_and_its_error_comes_back(qapp: QApplication) -> None:
    def fail() -> None:
        raise OSError("gone")

    async def main() -> int:
        assert await loop.on_thread(threading.get_ident) != threading.get_ident()
        with pytest.raises(OSError, match="gone"):
            await loop.on_thread(fail)
        return 0

    assert loop.run(main(), qapp) == 0


def test_a_blocking_call_that_never_returns_does_not_keep_the_loop_from_ending(qapp: QApplication) -> None:
    release = threading.Event()

    async def main() -> int:
        loop.spawn(loop.on_thread(release.wait), "waits")
        await asyncio.sleep(0.01)
        return 0

    assert loop.run(main(), qapp) == 0
    release.set()


@pytest.mark.logs("did not end")
def test_a_task_that_does_not_let_itself_be_cancelled_does_not_keep_the_loop_from_ending(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CANCEL_SECONDS", 0.2)
    released = asyncio.Event()

    async def stubborn() -> None:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    async def main() -> int:
        loop.spawn(stubborn(), "a stubborn task")
        await asyncio.sleep(0.01)
        return 0

    assert loop.run(main(), qapp) == 0
    (left,) = loop.spawned()
    left._log_destroy_pending = False  # type: ignore[attr-defined]
    loop._tasks.clear()


def test_an_interrupt_in_a_step_of_the_program_does_not_hang_it() -> None:
    script = (
        "from desktop import loop\nfrom PySide6.QtWidgets import QApplication\n"
        "async def main():\n    raise KeyboardInterrupt\n"
        "application = QApplication([])\nloop.run(main(), application)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
