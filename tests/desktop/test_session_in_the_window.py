"""A session on the window's own loop, with its readers on QThreads."""

from __future__ import annotations

import asyncio
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from desktop import loop
from desktop.reader import run_qthread
from protocol import permissions
from protocol.session import SessionError
from tests.helpers.peer import Peer


def test_a_whole_session_runs_on_the_windows_loop(qapp: QApplication, tmp_path: Path) -> None:
    script = "shake(); read(); ask('r1'); read(); text('thanks'); result(); until_end()"

    async def main() -> int:
        async with Peer(tmp_path, script, run_thread=run_qthread) as peer:
            peer.session.send("go")
            await peer.until_pending("r1")
            assert peer.session.answer("r1", permissions.allow({}))
            await peer.until(lambda: "thanks" in peer.texts)
            assert peer.told_on == {threading.current_thread()}
        end = peer.session.exit
        assert end is not None
        return -1 if end.code is None else end.code

    assert loop.run(main(), qapp) == 0


def test_a_flood_leaves_the_window_time_to_draw(qapp: QApplication, tmp_path: Path) -> None:
    script = """
        shake()
        line = json.dumps({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
                           "delta": {"type": "text_delta", "text": "x" * 40}}}).encode() + b"\\n"
        for _ in range(100):
            write(line * 500)
        text("the end of the flood")
        until_end()
    """
    beats: list[float] = []
    timer = QTimer()
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))

    async def main() -> int:
        async with Peer(tmp_path, script, run_thread=run_qthread) as peer:
            timer.start(10)
            await peer.until(lambda: "the end of the flood" in peer.texts, seconds=60)
            timer.stop()
        return 0

    assert loop.run(main(), qapp) == 0
    gaps = sorted(later - earlier for earlier, later in pairwise(beats))
    assert len(gaps) > 10
    assert gaps[len(gaps) // 2] < 0.1


def test_an_exit_during_the_start_is_told_and_leaves_no_thread(qapp: QApplication, tmp_path: Path) -> None:
    async def main() -> int:
        peer = Peer(tmp_path, "print('Update me'); sys.exit(3)", run_thread=run_qthread)
        with pytest.raises(SessionError, match="Update me"):
            await peer.session.start()
        return 3

    assert loop.run(main(), qapp) == 3


def test_a_window_that_closes_while_a_session_runs_ends_it(qapp: QApplication, tmp_path: Path) -> None:
    peer = Peer(tmp_path, "shake(); until_end()", run_thread=run_qthread)
    started = asyncio.Event()

    async def live() -> None:
        await peer.session.start()
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await peer.session.close()

    async def main() -> int:
        loop.spawn(live(), "the conversation")
        await started.wait()
        return 0

    assert loop.run(main(), qapp) == 0
    assert peer.session.exit is not None
    assert peer.session.exit.code == 0
    assert not [t for t in threading.enumerate() if t.name.startswith("claude ") and not t.daemon]
