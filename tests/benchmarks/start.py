"""How soon the window is there: `python -m tests.benchmarks.start [--app FOLDER]`, on Linux with Xvfb.

Two frozen programs take turns: Handraise as `build.spec` freezes it, and a bare window of PySide6 (`QMainWindow` with a
`QLabel`), frozen by the same Python and then made of the very same libraries and plugins, stripped and left out alike.
Each start has a home of its own, no `claude` in sight, and ends at the first thing that is drawn in a window on the
screen, as another client of the X server sees it. The files are in the system's cache, unless `--cold`.

`ratio` is Handraise over the bare window, at its very first start; `ratio_again` with settings and a last folder, as
after some days of use. Each is the median of the rounds' ratios. `cpu_ratio` says the same in CPU time of the program
until then, which other work on the machine disturbs less. The exit code is 1 if `ratio` is above the limit.

The tests of the packages use the same folder where HANDRAISE_FROZEN_APP names it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tests.helpers.first_paint import FirstPaint
from tests.helpers.window_systems import virtual_screen
from tests.packaged.packages import ROOT, freeze

LIMIT = 1.5
ROUNDS = 15
LEAVE_SECONDS = 20
BARE = """\
import sys

from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

application = QApplication(sys.argv)
window = QMainWindow()
window.setCentralWidget(QLabel("Handraise"))
window.show()
sys.exit(application.exec())
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds until the first paint: by the clock, and of CPU time."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Way:
    """A program, and what makes a home as it shall find it."""

    program: Path
    furnish: Callable[[Path], None]


def bare_beside(app: Path, into: Path) -> Path:
    """The bare window, frozen and then made of the app's own files, as far as both have them."""
    script = into / "bare.py"
    script.write_text(BARE, encoding="utf-8")
    folder = freeze(script, into, "--onedir", "--noupx", "--specpath", str(into))
    inside, of_app = folder / "_internal", app / "_internal"
    for path in [path for path in inside.rglob("*") if not path.is_dir() or path.is_symlink()]:
        place = path.relative_to(inside)
        twin = of_app / place
        if twin.is_file() and place.name != "base_library.zip":
            path.unlink()
            shutil.copy2(twin, path, follow_symlinks=False)
        elif ".so" in place.name or "PySide6" in place.parts:
            path.unlink()
    return folder


def first_start(home: Path) -> None:
    """A home in which nothing is."""


def start_again(home: Path) -> None:
    """A home with settings and a folder in which the person worked."""
    project = home / "project"
    project.mkdir()
    config = home / ".config" / "handraise"
    config.mkdir(parents=True)
    settings = {"theme": "dark", "last_folder": str(project), "trusted_folders": [str(project)], "notify": False}
    (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def measured(way: Way, display: str, *, cold: bool) -> Start:
    """One start of a program, which is told to leave afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, FirstPaint(display) as watch:
        home = Path(folder)
        way.furnish(home)
        if cold:
            forget_files(way.program.parent)
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "DISPLAY": display}
        silent = subprocess.DEVNULL
        began = time.perf_counter()
        child = subprocess.Popen([way.program], env=env, cwd=home, stdin=silent, stdout=silent, stderr=silent)
        try:
            wall = watch.wait() - began
            return Start(wall, time.clock_gettime(cpu_clock(child.pid)))
        finally:
            child.terminate()
            try:
                child.wait(LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def cpu_clock(pid: int) -> int:
    """Linux' clock of the CPU time of a process with all its threads."""
    return (~pid << 3) | 2


def forget_files(folder: Path) -> None:
    """Asks the system to drop its copies of the files below, which it does unless they are in use."""
    for path in folder.rglob("*"):
        if path.is_file():
            opened = os.open(path, os.O_RDONLY)
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(opened)


def in_turns(rounds: int, ways: dict[str, Way], display: str, *, cold: bool) -> dict[str, list[Start]]:
    """Starts of each way. The first round only warms up; who begins, changes from round to round."""
    starts: dict[str, list[Start]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name in list(ways) if number % 2 else reversed(ways):
            start = measured(ways[name], display, cold=cold)
            if number:
                starts[name].append(start)
    return starts


@contextmanager
def programs(app: Path | None) -> Iterator[tuple[Path, Path]]:
    """The programs of the app and of the bare window; the app is frozen, too, where none is given."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder)
        for name in ("app", "bare"):
            (into / name).mkdir()
        app = app or freeze(ROOT / "build.spec", into / "app")
        yield app / "handraise", bare_beside(app, into / "bare") / "bare"


def figures_of(starts: dict[str, list[Start]]) -> dict[str, Any]:
    """The ratios, and the times behind them."""
    figures: dict[str, Any] = {}
    for name, suffix in (("app", ""), ("app_again", "_again")):
        pairs = list(zip(starts[name], starts["bare"], strict=True))
        figures[f"ratio{suffix}"] = round(median(ours.wall / bare.wall for ours, bare in pairs), 2)
        figures[f"cpu_ratio{suffix}"] = round(median(ours.cpu / bare.cpu for ours, bare in pairs), 2)
    for name, of in starts.items():
        figures[f"{name}_ms"] = round(1000 * median(start.wall for start in of), 1)
        figures[f"{name}_least_ms"] = round(1000 * min(start.wall for start in of), 1)
        figures[f"{name}_cpu_ms"] = round(1000 * median(start.cpu for start in of), 1)
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Runs and prints; 1 where the start takes longer than it may."""
    doc = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.start", description=doc)
    parser.add_argument("--app", type=Path, metavar="FOLDER", help="a folder that build.spec has made (else: make one)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"starts of each (default {ROUNDS})")
    parser.add_argument("--cold", action="store_true", help="without the system's copies of the files; for information")
    chosen = parser.parse_args(arguments)
    with programs(chosen.app and chosen.app.absolute()) as (app, bare), tempfile.TemporaryDirectory() as folder:
        ways = {"app": Way(app, first_start), "app_again": Way(app, start_again), "bare": Way(bare, first_start)}
        # The second client stays: when its last one leaves, the server starts anew and turns others away meanwhile.
        with virtual_screen(Path(folder) / "xvfb.log") as display, FirstPaint(display):
            starts = in_turns(chosen.rounds, ways, display, cold=chosen.cold)
    figures: dict[str, Any] = {"name": "start", "rounds": chosen.rounds, "cold": chosen.cold, "limit": LIMIT}
    figures |= figures_of(starts)
    for name, value in figures.items():
        print(f"{name:24} {value}")
    print(json.dumps(figures))
    return 0 if chosen.cold or figures["ratio"] <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
