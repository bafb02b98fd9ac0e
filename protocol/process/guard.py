"""The app's side of the guardian: a small process that ends our CLIs when this process is killed (POSIX).

Nothing inside a process survives `kill -9`, and the parent-death signal of Linux reaches neither grandchildren nor
macOS, and comes when the *thread* ends that started the child. So a guardian waits at the other end of a pipe:
its end of file says that this process is gone, however it went. Windows has Job Objects for this.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import psutil

from protocol.guardian import SWITCH
from protocol.process.tree import MARK, ProcessTree

log = logging.getLogger(__name__)

_IS_GUARDIAN = "HANDRAISE_GUARDIAN"


class Guard:
    """Keeps one guardian process informed of the trees that must not outlive this process.

    The guardian is started with the first tree and again should it be gone. Without one (it cannot be started)
    everything else works; only the protection against `kill -9` is missing, and the log says so.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: dict[str, ProcessTree] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The guardian's process id."""
        return self._process.pid if self._process is not None else None

    @property
    def watched(self) -> Mapping[str, ProcessTree]:
        """The trees that have not ended, by their marks."""
        return self._trees

    def watch(self, tree: ProcessTree) -> None:
        """From now on `tree` ends with this process. Call again when more of it is known."""
        with self._lock:
            self._trees[tree.mark] = tree
            if self._process is None or self._process.poll() is not None or not self._send(_watch(tree)):
                self._start()

    def forget(self, tree: ProcessTree) -> None:
        """`tree` has ended."""
        with self._lock:
            if self._trees.pop(tree.mark, None) is not None and self._process is not None:
                self._send({"forget": tree.mark})

    def close(self) -> None:
        """Let the guardian go. With trees left it first does its work, and is not waited for."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            assert process.stdin is not None
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.0 if self._trees else 1.0)
            # It may outlive us for some seconds, on purpose: nobody will wait for it.
            process.returncode = process.returncode or 0

    def abandon(self) -> None:
        """In a fork of this process: the guardian stays the parent's, and must see the end of its pipe."""
        process, self._process = self._process, None
        self._trees = {}
        self._lock = threading.Lock()
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.returncode = 0  # not our child

    def _start(self) -> None:
        self._bury()
        if os.environ.get(_IS_GUARDIAN):
            log.warning("not starting a guardian from a guardian: does the app handle %s?", SWITCH)
            return
        try:
            self._process = subprocess.Popen(
                guardian_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env=_guardian_environment(os.environ),
                start_new_session=True,
            )
        except OSError as error:
            self._process = None
            log.warning("no guardian: %s", error)
            return
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        for tree in self._trees.values():
            self._send(_watch(tree))

    def _bury(self) -> None:
        """The guardian is gone, or does not read: make sure of it, before another takes its place."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.kill()
            process.wait()
            process.stdin.close()

    def _send(self, message: Mapping[str, object]) -> bool:
        assert self._process is not None
        assert self._process.stdin is not None
        line = json.dumps(message).encode() + b"\n"
        try:
            return self._process.stdin.write(line) == len(line)
        except (OSError, ValueError):
            return False


def _watch(tree: ProcessTree) -> dict[str, object]:
    return {"watch": tree.mark, "pid": tree.pid, "started": tree.started, "detached_too": tree.detached_too}


@cache
def shared_guard() -> Guard:
    """The one guardian of this process."""
    guard = Guard()
    atexit.register(guard.close)
    os.register_at_fork(after_in_child=guard.abandon)
    return guard


def guardian_command() -> list[str]:
    """How to run `protocol.guardian`: the packaged app itself with a switch, or this interpreter.

    The interpreter gets the folders it needs instead of `site`, which would cost most of its start.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, SWITCH]
    folders = [str(Path(__file__).resolve().parents[2]), str(Path(psutil.__file__).resolve().parents[1])]
    code = "import sys; sys.path += sys.argv[1:]; from protocol.guardian import main; main()"
    return [sys.executable, "-I", "-S", "-c", code, *folders]


def _guardian_environment(base: Mapping[str, str]) -> dict[str, str]:
    return {**{name: value for name, value in base.items() if name != MARK}, _IS_GUARDIAN: "1"}
