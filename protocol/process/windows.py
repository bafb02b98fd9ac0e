"""The Windows half of starting and ending a CLI: a Job Object, and no console window.

The job holds the CLI and everything that it starts, unless that is the user's own. The last handle to it is ours, so
Windows ends them all when this process is gone, however it went. The CLI is created suspended and joins the job before
its first instruction, so that nothing escapes; this process does not leave in between, for nobody would ever wake or
end that CLI. There is no way to ask a program without a window to end, so the ladder has no such step.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

from protocol.process.outcome import StartError

CREATE_SUSPENDED = 0x00000004
CREATE_NEW_PROCESS_GROUP = 0x00000200
CREATE_NO_WINDOW = 0x08000000
_PROCESS_SET_QUOTA = 0x0100
_PROCESS_TERMINATE = 0x0001
_EXIT_CODE = 1
_POLL = 0.03

_LAST_START = 10.0

_starting = threading.Lock()
"""Held from the creation of a CLI until it runs in its job."""

_PROGRAMS = (".exe", ".com", ".cmd", ".bat")
"""What a name without a suffix may stand for. The batch files are there to be refused by their name."""

_ACCESS_DENIED = 5
_REFUSALS = {
    2: "no program",
    3: "no program",
    193: "other computer",
    206: "arguments too long",
    216: "other computer",
}
"""The system's error numbers (winerror.h). Python's `errno` makes "no such file" of 206, ERROR_FILENAME_EXCED_RANGE."""


def end_starts() -> None:
    """Wait until no CLI is half started, and let none begin after that: this process ends.

    The wait is `_LAST_START` seconds at most, since a program on a dead network drive can take minutes to start.
    """
    _starting.acquire(timeout=_LAST_START)


atexit.register(end_starts)


def find_program(name: str, path: str) -> str | None:
    """Where the folders of a PATH hold the program `name`; None when they do not.

    `shutil.which` would look in the current folder first, which may be anybody's.
    """
    names = [name] if name.lower().endswith(_PROGRAMS) else [name + suffix for suffix in _PROGRAMS]
    folders = [folder for entry in path.split(";") if os.path.isabs(folder := entry.strip('"'))]
    candidates = (os.path.join(folder, each) for folder in folders for each in names)
    return next(filter(os.path.isfile, candidates), None)


def explain(error: OSError, number: int, program: str) -> StartError:
    """Why the system refused to start `program`, from its own error number."""
    if number in _REFUSALS:
        return StartError(_REFUSALS[number], program=program)
    if number == _ACCESS_DENIED and os.path.isdir(program):
        return StartError("is a folder", program=program)
    return StartError("failed", program=program, reason=error)


class Job:
    """A Job Object, which ends its processes with its last handle.

    With `only_first`, what a process of the job starts is no part of it.
    """

    def __init__(self, *, only_first: bool) -> None:
        import win32job

        with _os_errors():
            self._handle: Any = win32job.CreateJobObject(None, "")
            kind = win32job.JobObjectExtendedLimitInformation
            limits = win32job.QueryInformationJobObject(self._handle, kind)
            flags = win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            if only_first:
                flags |= win32job.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
            limits["BasicLimitInformation"]["LimitFlags"] |= flags
            win32job.SetInformationJobObject(self._handle, kind, limits)

    def add(self, pid: int) -> None:
        """Put a process into the job."""
        import win32api
        import win32job

        with _os_errors():
            process = win32api.OpenProcess(_PROCESS_SET_QUOTA | _PROCESS_TERMINATE, False, pid)
            try:
                win32job.AssignProcessToJobObject(self._handle, process)
            finally:
                process.Close()

    def count(self) -> int:
        """The number of processes that run in the job."""
        import win32job

        kind = win32job.JobObjectBasicAccountingInformation
        with _os_errors():
            return int(win32job.QueryInformationJobObject(self._handle, kind)["ActiveProcesses"])

    def end(self) -> None:
        """End every process in the job."""
        import win32job

        with _os_errors():
            win32job.TerminateJobObject(self._handle, _EXIT_CODE)

    def close(self) -> None:
        """Give the handle back."""
        self._handle.Close()


class ReadEnd:
    """The reading end of a pipe, which is given back with the end of the stream."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readinto(self, buffer: bytearray, /) -> int:
        """Wait for data and put it into `buffer`; 0 at the end of the stream, and from then on."""
        if self._file.closed:
            return 0
        size: int | None = self._file.readinto(buffer)  # type: ignore[attr-defined]
        if not size:
            self._file.close()
        return size or 0

    def read(self, size: int = 65536, /) -> bytes:
        """Wait for data and return up to `size` bytes; empty at the end of the stream, and from then on."""
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self.readinto(buffer)])

    def __del__(self) -> None:
        self._file.close()


class WindowsChild:
    """A started CLI and its job."""

    gentle = False

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, detached_too: bool) -> None:
        if argv[0].lower().endswith((".cmd", ".bat")):
            # cmd.exe would read the arguments as a command line: newlines cut them, & and | run other programs.
            raise ValueError("batch files are not run")
        self._whole_job = detached_too
        self._job = Job(only_first=not detached_too)
        self._released = False
        try:
            with _starting, _without_bundle_libraries():
                self.popen = subprocess.Popen(
                    list(argv),
                    cwd=cwd,
                    env=dict(env),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    creationflags=CREATE_NO_WINDOW | CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP,
                )
                self._join_job_and_run()
        except BaseException:
            self._job.close()
            raise
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        assert self.popen.stderr is not None
        self.stdin: IO[bytes] = self.popen.stdin
        self.stdout = ReadEnd(self.popen.stdout)
        self.stderr = ReadEnd(self.popen.stderr)
        self.popen.stdin = self.popen.stdout = self.popen.stderr = None

    def remember(self) -> None:
        """The job remembers."""

    def alive(self) -> bool:
        """Whether anything of the tree runs."""
        if not self._whole_job:
            return self.popen.poll() is None
        return not self._released and self._job.count() > 0

    def terminate(self) -> None:
        """End everything in the job, or the CLI alone where what it started is the user's own."""
        if not self._whole_job:
            self.popen.kill()
        elif not self._released:
            self._job.end()

    def kill(self, timeout: float) -> bool:
        """End the tree as `terminate` does; True when nothing of it is left after at most `timeout` seconds."""
        self.terminate()
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL)
        return True

    def release(self) -> None:
        """Close the job; with it ends what might still be in it."""
        if not self._released:
            self._released = True
            self._job.close()

    def _join_job_and_run(self) -> None:
        try:
            self._job.add(self.popen.pid)
            psutil.Process(self.popen.pid).resume()
        except BaseException:
            with self.popen:
                self.popen.kill()
            raise


@contextlib.contextmanager
def _os_errors() -> Iterator[None]:
    """pywin32's errors are no OSErrors; the callers know only those."""
    import pywintypes

    try:
        yield
    except pywintypes.error as error:
        # The number of Windows' own is no errno: 8 is "not enough memory" there, and "no program" here.
        raise OSError(0, error.strerror, None, error.winerror) from error


@contextlib.contextmanager
def _without_bundle_libraries() -> Iterator[None]:
    """In a packaged app, keep its folder of libraries from the search path that a child inherits.

    WORKAROUND: PyInstaller's bootloader calls SetDllDirectory, and child processes inherit it.
    """
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle is None:
        yield
        return
    import win32api

    win32api.SetDllDirectory(None)
    try:
        yield
    finally:
        win32api.SetDllDirectory(bundle)
