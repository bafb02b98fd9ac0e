"""The QThread around the blocking read loop of `protocol.pump`."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QDeadlineTimer, QThread


class ReaderThread(QThread):
    """Runs one blocking function. A QThread, because Windows pipes cannot be read from an event loop, and because
    Qt then knows the thread and names it in its own warnings."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._work = work

    def join(self, timeout: float) -> bool:
        """Wait until the thread has ended. `timeout` in seconds; False when it still runs then."""
        return self.wait(QDeadlineTimer(int(timeout * 1000)))

    def run(self) -> None:
        self._work()


_threads: set[ReaderThread] = set()


def run_qthread(work: Callable[[], None], name: str) -> ReaderThread:
    """Start `work` on a QThread: the desktop's `protocol.pump.RunThread`.

    Every thread is referenced until it has ended: a QThread that is collected while it runs aborts the process.
    The ended ones are let go when the next one starts, since a thread cannot let go of itself.
    """
    _threads.difference_update([thread for thread in _threads if thread.isFinished()])
    thread = ReaderThread(work, name)
    _threads.add(thread)
    thread.start()
    return thread
