"""Python's cyclic garbage is collected on the window's own thread, and all of it only when the window is idle.

WORKAROUND: Python's collector runs on whatever thread happens to allocate, and a QObject in a cycle that dies on
another thread than its own takes the process with it (as in github.com/napari/napari/issues/1029). So the automatic
collector is off while the window runs.

A full collection looks at every object there is: tens of milliseconds with a few long conversations. By itself it
would come when most is allocated, which is in the middle of an answer that streams.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 500
BUSY = 0.04
"""Share of the time for which the GUI thread may have worked and still counts as quiet."""
PATIENCE = 20
"""How many times its threshold the oldest generation may be over before it is collected in a busy moment too."""


class QuietCollector(QObject):
    """From its making until `stop`, garbage is collected from a timer of this thread, and by nobody else."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.collect()
        gc.freeze()  # what was imported stays for ever and is never looked through again
        gc.disable()
        self._cpu, self._wall = time.thread_time(), time.monotonic()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> int | None:
        """Collect the oldest generation that is due; returns which one, None for none."""
        cpu, wall = time.thread_time(), time.monotonic()
        quiet = (cpu - self._cpu) / max(wall - self._wall, 0.001) < BUSY
        generation = self._due(quiet)
        if generation is not None:
            gc.collect(generation)
        self._cpu, self._wall = time.thread_time(), wall
        return generation

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()

    def _due(self, quiet: bool) -> int | None:
        counts, thresholds = gc.get_count(), gc.get_threshold()
        if counts[2] > thresholds[2] * PATIENCE or (quiet and counts[2] > 0):
            return 2
        return next((one for one in (1, 0) if counts[one] > thresholds[one] > 0), None)
