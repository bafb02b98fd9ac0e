"""One running CLI: its pipes, its end, and the end of everything it started."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from protocol.process.outcome import Exit, How, Ladder, StartError
from protocol.pump import Readable, Writable, run_plain_thread

_STRAYS_LEAVE = 0.5
_TAIL_ENDS = 1.0
_STDIN_CLOSES = 0.2
_POLL = 0.03


class Child(Protocol):
    """What the halves for POSIX and Windows have in common."""

    gentle: bool
    """Whether the system has a request to end that a program can heed."""
    popen: subprocess.Popen[bytes]

    @property
    def stdin(self) -> Writable:
        """The writing end of the CLI's stdin."""

    @property
    def stdout(self) -> Readable:
        """The reading end of its stdout."""

    @property
    def stderr(self) -> Readable:
        """The reading end of its stderr."""

    def remember(self) -> None:
        """Look at the tree now."""

    def alive(self) -> bool:
        """Whether anything of the tree runs."""

    def terminate(self) -> None:
        """Ask the whole tree to end."""

    def kill(self, timeout: float) -> bool:
        """End the whole tree; True when nothing is left after at most `timeout` seconds."""

    def release(self) -> None:
        """The tree is gone, or was given up: let readers end and give the system's objects back."""


class Closable(Protocol):
    """The writer of a CLI's stdin."""

    def close(self, timeout: float) -> bool:
        """Write what is queued, then close."""


class Tail(Protocol):
    """The keeper of a CLI's last words."""

    def text(self) -> str:
        """The last lines."""

    def join(self, timeout: float) -> bool:
        """Wait for the end of the stream."""


class CliProcess:
    """A CLI in a process group or job of its own.

    It does not outlive this process, however that ends: see `protocol.process.guard` (POSIX) and
    `protocol.process.windows` (Job Object). The pipes are raw; write through `pump.StreamWriter` only, since
    `stdin.write` takes what fits.
    """

    def __init__(self, child: Child, *, detached_too: bool) -> None:
        self._child = child
        self._detached_too = detached_too
        self._closing = threading.Lock()
        self._exit: Exit | None = None
        self.pid: int = child.popen.pid
        self.stdin: Writable = child.stdin
        self.stdout: Readable = child.stdout
        self.stderr: Readable = child.stderr

    @classmethod
    def start(cls, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, detached_too: bool = True) -> CliProcess:
        """Start `argv` in the folder `cwd` with exactly the environment `env`.

        `argv[0]` is a path, or a name that is looked up in the PATH of `env`. `detached_too=False` is for
        commands whose detached children are the user's own (a browser, an ssh-agent): those are left alone.

        Raises:
            StartError: a sentence that says what is wrong with the program or the folder.
        """
        if not argv:
            raise StartError("no command")
        program = _program(argv[0], env)
        if not os.path.isdir(cwd):  # `Path.is_dir` raises for a network drive that does not answer
            raise StartError("no folder", folder=cwd)
        try:
            child = _start_child([program, *argv[1:]], cwd, env, detached_too=detached_too)
        except (OSError, ValueError) as error:
            raise _explain(error, program, cwd) from error
        return cls(child, detached_too=detached_too)

    def poll(self) -> int | None:
        """The return code (negative: a signal), None while the CLI runs."""
        return self._child.popen.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the exit of the CLI, at most `timeout` seconds; the return code, or None.

        The exit is the end, not the end of stdout: something the CLI started may hold that open.
        """
        try:
            return self._child.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def tree_alive(self) -> bool:
        """Whether the CLI or anything that it started runs."""
        return self.poll() is None or self._child.alive()

    def terminate_tree(self) -> None:
        """Ask everything to end; where the system has no way to ask (Windows), end it."""
        self._child.terminate()

    def kill_tree(self, timeout: float = 1.0) -> bool:
        """End everything; True when nothing is left after at most `timeout` seconds."""
        return self._child.kill(timeout) and self.wait(timeout) is not None

    def close(
        self, writer: Closable | None = None, deadlines: Ladder | None = None, *, tail: Tail | None = None
    ) -> Exit:
        """End the CLI and everything it started: close stdin, terminate, kill, each with its deadline.

        What is queued in `writer` is written first, within the first deadline. `tail` gives the last words.
        Blocks for the sum of the deadlines at most; call it on a thread. A second call returns the same exit.
        """
        with self._closing:
            if self._exit is None:
                how = self._end(writer, deadlines or Ladder())
                self._child.release()
                if tail is not None:
                    tail.join(_TAIL_ENDS)
                self._exit = Exit.from_returncode(self.poll(), how, tail.text() if tail is not None else "")
            return self._exit

    def _end(self, writer: Closable | None, deadlines: Ladder) -> How:
        how: How = "by itself"
        if self.poll() is None:
            how = "eof"
            self._child.remember()
            started = time.monotonic()
            self._close_stdin(writer, deadlines.eof)
            if self.wait(max(0.0, started + deadlines.eof - time.monotonic())) is None:
                how = self._force(deadlines)
        else:
            self._close_stdin(writer, 0.0)
        if self._detached_too or how in ("terminated", "killed"):
            self._end_strays(deadlines)
        self._close_stdin(writer, _STRAYS_LEAVE)
        return how

    def _close_stdin(self, writer: Closable | None, timeout: float) -> None:
        if writer is not None:
            writer.close(timeout)
        else:
            # On Windows this waits for a thread that writes, and so for ever where the CLI does not read.
            run_plain_thread(self.stdin.close, "stdin closer").join(max(timeout, _STDIN_CLOSES))

    def _force(self, deadlines: Ladder) -> How:
        """Stdin is closed and the CLI still runs."""
        if self._child.gentle:
            self._child.terminate()
            if self.wait(deadlines.term) is not None:
                return "terminated"
        self._child.kill(deadlines.kill)
        self.wait(deadlines.kill)
        return "killed"

    def _end_strays(self, deadlines: Ladder) -> None:
        """The CLI is gone; what it started may not be."""
        if self._all_gone(_STRAYS_LEAVE):
            return
        if self._child.gentle:
            self._child.terminate()
            if self._all_gone(deadlines.term):
                return
        self._child.kill(deadlines.kill)

    def _all_gone(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self._child.alive():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL)
        return True


def _start_child(argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, detached_too: bool) -> Child:
    if os.name == "nt":
        from protocol.process.windows import WindowsChild

        return WindowsChild(argv, cwd, env, detached_too=detached_too)
    from protocol.process.posix import PosixChild

    return PosixChild(argv, cwd, env, detached_too=detached_too)


def _program(name: str, env: Mapping[str, str]) -> str:
    """The absolute path of a program; a relative one starts from the app's folder, not from the CLI's."""
    if os.path.dirname(name):
        return os.path.abspath(name)
    found = _in_path(name, env)
    if found is None:
        raise StartError("not in PATH", program=name)
    return os.path.abspath(found)


def _in_path(name: str, env: Mapping[str, str]) -> str | None:
    if os.name == "nt":
        from protocol.process.windows import find_program

        return find_program(name, env.get("PATH") or env.get("Path", ""))
    return shutil.which(name, path=env.get("PATH", os.defpath))


def _explain(error: OSError | ValueError, program: str, cwd: Path) -> StartError:
    """Why the system refused to start `program`, and what to do."""
    number = getattr(error, "winerror", None)
    if isinstance(error, OSError) and number:
        from protocol.process.windows import explain

        return explain(error, number, program)
    code = getattr(error, "errno", None)
    if code == errno.ENOENT and os.path.isfile(program):
        return StartError("no interpreter", program=program)
    if code == errno.ENOENT:
        return StartError("no program", program=program)
    if code == errno.EACCES and os.path.isdir(program):
        return StartError("is a folder", program=program)
    if code == errno.EACCES and not os.access(cwd, os.X_OK):
        return StartError("closed folder", folder=cwd)
    if code == errno.EACCES:
        return StartError("not executable", program=program)
    if code == errno.ENOEXEC:
        return StartError("other computer", program=program)
    if code == errno.E2BIG:
        return StartError("arguments too long")
    return StartError("failed", program=program, reason=error)
