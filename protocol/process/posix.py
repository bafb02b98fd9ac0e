"""The POSIX half of starting and ending a CLI: a session of its own, pipes that can be given up, the guardian."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from protocol.process.guard import Guard, shared_guard
from protocol.process.tree import MARK, ProcessTree, kill_trees

_UNDO_SECONDS = 2.0


class ReadEnd:
    """The reading end of a pipe that can be given up.

    A process that outlives the CLI can hold the other end open for ever, and a plain read would wait for it.
    After `stop()` the reader still gets what is in the pipe, and then the end of the stream; with that the
    descriptor is given back.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._wake_reader, self._wake_writer = os.pipe()
        self._closing = threading.Lock()
        self._file = file
        self._poll = select.poll()
        self._poll.register(file.fileno(), select.POLLIN)
        self._poll.register(self._wake_reader, select.POLLIN)

    def readinto(self, buffer: bytearray, /) -> int:
        """Wait for data and put it into `buffer`; 0 at the end of the stream, and from then on."""
        if self._file.closed:
            return 0
        ready = [fd for fd, _ in self._poll.poll()]
        size = os.readv(self._file.fileno(), [buffer]) if self._file.fileno() in ready else 0
        if not size:
            self.close()
        return size

    def read(self, size: int = 65536, /) -> bytes:
        """Wait for data and return up to `size` bytes; empty at the end of the stream, and from then on."""
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self.readinto(buffer)])

    def stop(self) -> None:
        """End the stream after what has arrived; from any thread."""
        with self._closing:
            if not self._file.closed:
                os.write(self._wake_writer, b"x")

    def fileno(self) -> int:
        """The descriptor of the pipe."""
        return self._file.fileno()

    def close(self) -> None:
        """Give the descriptors back. Not while another thread reads."""
        with self._closing:
            if not self._file.closed:
                self._file.close()
                os.close(self._wake_reader)
                os.close(self._wake_writer)

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # else there was no descriptor left to begin with
            self.close()


class PosixChild:
    """A started CLI and its tree."""

    gentle = True

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, detached_too: bool) -> None:
        self._guard: Guard = shared_guard()
        self._tree = ProcessTree(uuid.uuid4().hex, detached_too=detached_too)
        # Announced before it runs: were the app killed in between, the guardian knows the mark.
        self._guard.watch(self._tree)
        try:
            self.popen = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env={**env, MARK: self._tree.mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except BaseException:
            self._guard.forget(self._tree)
            raise
        try:
            self._take_over(self.popen)
        except BaseException:  # such as no more descriptors
            self._undo(self.popen)
            raise

    def _take_over(self, popen: subprocess.Popen[bytes]) -> None:
        """Know the process, and take its pipes."""
        self._tree.pid = popen.pid
        with contextlib.suppress(psutil.Error):
            self._tree.started = psutil.Process(popen.pid).create_time()
        self._guard.watch(self._tree)
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        # The descriptor is ours alone, so the child does not notice; a writer can then give up on a full pipe.
        os.set_blocking(popen.stdin.fileno(), False)
        self.stdin: IO[bytes] = popen.stdin
        self.stdout = ReadEnd(popen.stdout)
        self.stderr = ReadEnd(popen.stderr)
        popen.stdin = popen.stdout = popen.stderr = None

    def _undo(self, popen: subprocess.Popen[bytes]) -> None:
        self._tree.pid = popen.pid
        kill_trees([self._tree], _UNDO_SECONDS)
        popen.kill()
        with popen:  # closes the pipes, and waits
            self._guard.forget(self._tree)

    def remember(self) -> None:
        """Look at the tree while the CLI lives, for what only its parent can tell of it."""
        self._tree.members()

    def alive(self) -> bool:
        """Whether the CLI or anything it started runs."""
        return self._tree.alive()

    def terminate(self) -> None:
        """SIGTERM to the whole tree."""
        self._tree.send(signal.SIGTERM)

    def kill(self, timeout: float) -> bool:
        """SIGKILL to the whole tree until nothing is left, at most `timeout` seconds; True when it is gone."""
        return kill_trees([self._tree], timeout)

    def release(self) -> None:
        """Let the readers end, and let the guardian forget the tree."""
        self.stdout.stop()
        self.stderr.stop()
        self._guard.forget(self._tree)
