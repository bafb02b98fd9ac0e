"""Python's cyclic garbage is looked for when the window has nothing else to do.

A full collection looks at every object there is: tens of milliseconds with a few long conversations, and by itself it
comes when most is allocated, which is in the middle of an answer that streams.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 2000
BUSY = 0.04
"""Share of the time for which the GUI thread may have worked and still counts as quiet."""
_NEVER = 1 << 30


class QuietCollector(QObject):
    """From its making on, full collections happen in quiet moments only. Young garbage is collected as ever."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = gc.get_threshold()
        gc.collect()
        gc.freeze()  # what was imported stays for ever and is never looked through again
        gc.set_threshold(self._before[0], self._before[1], _NEVER)
        self._cpu, self._wall = time.thread_time(), time.monotonic()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> bool:
        """Collect if the time since the last look was quiet and something was allocated; returns whether it did."""
        cpu, wall = time.thread_time(), time.monotonic()
        busy = (cpu - self._cpu) / max(wall - self._wall, 0.001)
        collected = busy < BUSY and gc.get_count()[2] > 0
        if collected:
            gc.collect()
        self._cpu, self._wall = time.thread_time(), wall
        return collected

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.set_threshold(*self._before)
        gc.unfreeze()
