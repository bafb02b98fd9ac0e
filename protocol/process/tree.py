"""The processes that one CLI brought into being, and how to end them (POSIX).

A CLI starts shells and MCP servers; those start others, leave the process group or the session, and lose their
parent when it dies. So a process belongs to the tree when any of these holds:

* it descends from the CLI, or from a process seen in the tree before (parents, as long as they live);
* it is in the session that the CLI was started as the leader of;
* its environment carries the CLI's mark, which every descendant inherits.

Process ids are reused, so a process that is remembered is remembered with its start time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable

import psutil

MARK = "HANDRAISE_CHILD"
"""The variable that carries the mark of a tree."""

_POLL = 0.03


class ProcessTree:
    """One CLI (`pid`, once it is known) and everything it started.

    `detached_too` says whether processes that left the CLI's session belong to it as well. They do for a
    conversation; they do not for a helper command that opens the user's browser or starts his ssh-agent.
    """

    def __init__(
        self, mark: str, pid: int | None = None, started: float | None = None, *, detached_too: bool = True
    ) -> None:
        self.mark = mark
        self.pid = pid
        self.started = started
        self.detached_too = detached_too
        self._known: dict[int, psutil.Process] = {}
        self._session_is_ours = True

    def members(self) -> list[psutil.Process]:
        """A fresh look at the system: every process of the tree that runs now. Costs some milliseconds."""
        running = {process.pid: process for process in psutil.process_iter() if process.pid > 1}
        running.pop(os.getpid(), None)
        leader = running.get(self.pid or 0)
        self._session_is_ours = leader is None or self._is_the_cli(leader)
        parents = {pid: _parent(process) for pid, process in running.items()}
        found = {pid: process for pid, process in running.items() if self._belongs(process)}
        pending = list(found)
        while pending:
            parent = pending.pop()
            for pid, its_parent in parents.items():
                if its_parent == parent and pid not in found and self._may_descend(pid):
                    found[pid] = running[pid]
                    pending.append(pid)
        self._known = {pid: process for pid, process in found.items() if _runs(process)}
        return list(self._known.values())

    def alive(self) -> bool:
        """Whether anything of the tree still runs; looks around anew only when all that was known is gone."""
        return any(map(_runs, self._known.values())) or bool(self.members())

    def send(self, number: signal.Signals) -> None:
        """Send a signal to every process of the tree; those that are gone meanwhile do not matter."""
        for process in self.members():
            with contextlib.suppress(psutil.Error, OSError):
                process.send_signal(number)

    def _belongs(self, process: psutil.Process) -> bool:
        known = self._known.get(process.pid)
        if process.pid == self.pid:
            return self._is_the_cli(process)
        if known is not None and known == process:
            return True
        if self._in_session(process.pid):
            return True
        return self.detached_too and self._marked(process)

    def _may_descend(self, pid: int) -> bool:
        return self.detached_too or self._in_session(pid)

    def _is_the_cli(self, process: psutil.Process) -> bool:
        if self.started is None:
            return True
        with contextlib.suppress(psutil.Error):
            return abs(process.create_time() - self.started) < 1.0
        return False

    def _in_session(self, pid: int) -> bool:
        """The system does not hand out an id again while a session of that number has a member.

        But it may once the last one is gone: then another process leads a session of that number.
        """
        try:
            return self._session_is_ours and self.pid is not None and os.getsid(pid) == self.pid
        except OSError:
            return False

    def _marked(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error, OSError):
            return process.environ().get(MARK) == self.mark
        return False


def end_trees(trees: Iterable[ProcessTree], *, leave: float, term: float, kill: float) -> bool:
    """Give the trees `leave` seconds to go by themselves, `term` after SIGTERM, `kill` after SIGKILL.

    Returns True when nothing is left.
    """
    trees = list(trees)

    def gone() -> bool:
        return not any(tree.alive() for tree in trees)

    for tree in trees:
        tree.members()
    if wait_until(gone, leave):
        return True
    for tree in trees:
        tree.send(signal.SIGTERM)
    return wait_until(gone, term) or kill_trees(trees, kill)


def kill_trees(trees: Iterable[ProcessTree], timeout: float) -> bool:
    """SIGKILL again and again until nothing is left: a process may start another while it is looked for."""
    trees = list(trees)
    deadline = time.monotonic() + timeout
    while True:
        for tree in trees:
            tree.send(signal.SIGKILL)
        left = min(0.3, deadline - time.monotonic())
        if wait_until(lambda: not any(tree.alive() for tree in trees), left):
            return True
        if time.monotonic() >= deadline:
            return False


def wait_until(done: Callable[[], bool], timeout: float) -> bool:
    """Poll `done` for at most `timeout` seconds; its last word is returned."""
    deadline = time.monotonic() + timeout
    while not done():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(_POLL, left))
    return True


def _parent(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return process.ppid()
    return 0


def _runs(process: psutil.Process) -> bool:
    """A zombie has ended: it only waits for its parent to read the exit code."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
