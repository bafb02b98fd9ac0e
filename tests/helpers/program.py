"""A program under test: its output as parsed lines, `wait_for`, and a full account of what went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

Message = dict[str, Any]
DEADLINE = 30.0


class Program:
    """Runs a program that prints JSON objects, one a line. Use it as a context manager.

    At the end stdin is closed, and the program must leave with `exit_code` within the deadline. A line that is no JSON
    object fails the test at the end, unless `noise_is_fine`. Every failure carries the whole log.

    Attributes:
        messages: the objects printed so far.
        noise: the other lines, as text.
        raw: everything printed, as bytes.
        stderr: what came on stderr so far.
        exit_code: the code that is expected; set it while the program runs.
        output_ended: whether stdout has ended: nobody holds it open any more.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        exit_code: int = 0,
        noise_is_fine: bool = False,
    ) -> None:
        self.messages: list[Message] = []
        self.noise: list[str] = []
        self._raw: list[bytes] = []
        self._stderr: list[str] = []
        self.exit_code = exit_code
        self._noise_is_fine = noise_is_fine
        self._sent: list[str] = []
        self._changed = threading.Condition()
        self.output_ended = False
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=None if env is None else {**os.environ, **env}
        )
        # Daemons: a program that is killed may leave a grandchild that holds the pipes.
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read_stdout, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self._kill()
            if error is not None:
                error.add_note(self.account("the log up to here"))
            return
        try:
            self.finish()
        finally:
            self._kill()

    @property
    def raw(self) -> bytes:
        return b"".join(self._raw)

    @property
    def stderr(self) -> str:
        return "".join(self._stderr)

    # What is said to the program

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self._sent.append(data[:400].decode("utf-8", "replace").rstrip())
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError:
            self._sent.append("(its stdin is closed)")

    def send(self, message: Any) -> None:
        self.send_bytes(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:
            self._sent.append("(its stdin is closed)")

    # What the program says

    def wait_for(self, matches: Callable[[Message], bool], timeout: float = DEADLINE, after: int = 0) -> Message:
        """The first message from number `after` on that matches; fails when the program ends or time is up."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for message in self.messages[after:]:
                    if matches(message):
                        return message
                if self.output_ended or not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(self.account(f"nothing matched within {timeout} s"))

    def wait_until(self, holds: Callable[[], bool], timeout: float = DEADLINE) -> None:
        """Until something about this object is true; it is looked at whenever the program has said something."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not holds():
                if self.output_ended or not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(self.account(f"it did not come true within {timeout} s"))

    def wait_for_exit(self, timeout: float = DEADLINE) -> int:
        """The exit code of a program that ends by itself."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.account(f"it did not end within {timeout} s")) from None
        for thread in self._threads:
            # Not for long: a grandchild may hold the pipes open.
            thread.join(2)
        return code

    def finish(self) -> None:
        """Closes stdin, waits, and checks the exit code and the lines."""
        self.close_stdin()
        code = self.wait_for_exit()
        if code != self.exit_code:
            raise AssertionError(self.account(f"it ended with {code} instead of {self.exit_code}"))
        if self.noise and not self._noise_is_fine:
            raise AssertionError(self.account(f"a line is no JSON object: {self.noise[0][:200]!r}"))

    def account(self, headline: str) -> str:
        """What was said and heard, for the message of a failed test."""
        ended = f"ended with {self.process.poll()}" if self.process.poll() is not None else "still running"
        heard = [json.dumps(message, ensure_ascii=False)[:500] for message in self.messages[-60:]]
        return "\n".join([f"{headline} ({ended})", "--- sent", *self._sent[-30:], "--- heard", *heard, *self.noise[:20],
                          "--- stderr", self.stderr[-4000:]])  # fmt: skip

    # The readers' threads

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._take(line)
        with self._changed:
            self.output_ended = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            value = json.loads(line.decode("utf-8"))
        except ValueError:
            value = None
        with self._changed:
            self._raw.append(line)
            if isinstance(value, dict):
                self.messages.append(value)
            else:
                self.noise.append(line.decode("utf-8", "replace").rstrip("\n"))
            self._changed.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self._stderr.append(line.decode("utf-8", "replace"))
                self._changed.notify_all()

    def _kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue
