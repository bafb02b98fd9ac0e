"""Which processes a test left behind: found by a mark in their environment, or by the test's own folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil


def marked_processes(mark: str, folder: Path | None = None) -> list[psutil.Process]:
    """Running processes, other than this one, that carry `mark` in their environment, run in `folder` or name it.

    The mark goes down to grandchildren and survives a lost parent. The folder is for children whose environment was
    cleaned by the program between.
    """
    return [process for process in psutil.process_iter() if _belongs(process, mark, str(folder or ""))]


def _belongs(process: psutil.Process, mark: str, folder: str) -> bool:
    if process.pid == os.getpid():
        return False
    try:
        if process.status() == psutil.STATUS_ZOMBIE or _is_our_guardian(process):
            return False
        if mark in process.environ().values():
            return True
        return bool(folder) and (
            process.cwd().startswith(folder) or any(folder in part for part in process.cmdline())
        )
    except psutil.Error:
        return False


def _is_our_guardian(process: psutil.Process) -> bool:
    """The app's own watchdog lives as long as the process that started it: here, the test run."""
    return process.ppid() == os.getpid() and any("protocol.guardian" in part for part in process.cmdline())


def wait_until_gone(mark: str, folder: Path | None = None, seconds: float = 5.0) -> list[psutil.Process]:
    """What still runs after waiting for at most that long: empty when all is well."""
    deadline = time.monotonic() + seconds
    while (left := marked_processes(mark, folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits for its parent to look is none."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def describe(processes: list[psutil.Process]) -> str:
    return "\n".join(_lines(processes))


def _lines(processes: list[psutil.Process]) -> Iterator[str]:
    for process in processes:
        try:
            yield f"  {process.pid} (parent {process.ppid()}): {' '.join(process.cmdline())[:300]}"
        except psutil.Error:
            yield f"  {process.pid}: gone while it was looked at"


def kill_all(processes: list[psutil.Process]) -> None:
    for process in processes:
        try:
            process.kill()
        except psutil.Error:
            continue
    psutil.wait_procs(processes, timeout=5)
