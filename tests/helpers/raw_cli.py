"""A CLI on bare pipes, without any of the app's own protocol code: a second, independent reading of the wire."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.helpers.real_cli import RealCli

Message = dict[str, Any]
DEADLINE = 40.0


class RawCli:
    """One stream-json session. Everything printed is kept: `messages`, `noise` (lines that are no objects), `stderr`.

    Use it as a context manager: at the end stdin is closed and the process must leave by itself within the deadline.
    """

    def __init__(
        self, cli: RealCli, *extra: str, argv: Sequence[str] | None = None, env: dict[str, str] | None = None
    ) -> None:
        self.cli = cli
        self.messages: list[Message] = []
        self.noise: list[str] = []
        self.stderr = ""
        self._seen = 0
        self._changed = threading.Condition()
        self._ended = False
        argv = argv or cli.stream_argv(*extra)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cli.project, env=env or cli.env, start_new_session=True
        )
        self._threads = [threading.Thread(target=run) for run in (self._read_stdout, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> RawCli:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        """Closes stdin and waits; kills what does not leave. The exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            code = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait(DEADLINE)
        for thread in self._threads:
            thread.join(DEADLINE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    # What the host says

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Message) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def say(self, content: str | list[Message], **extra: Any) -> None:
        """A user message."""
        message = {"role": "user", "content": content}
        self.send({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", **extra})

    def ask(self, subtype: str, **fields: Any) -> Message:
        """A control request and the inner `response` object that answers it."""
        request_id = f"req_{os.urandom(4).hex()}"
        request = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": request_id, "request": request})
        answer = self.wait_for(
            lambda m: m["type"] == "control_response" and m["response"].get("request_id") == request_id, anywhere=True
        )
        found: Message = answer["response"]
        return found

    def initialize(self) -> Message:
        """The handshake; the reply's payload."""
        answer = self.ask("initialize", hooks=None)
        assert answer["subtype"] == "success", answer
        payload: Message = answer["response"]
        return payload

    def reply(self, request: Message, response: Message) -> None:
        """The success reply to one of the CLI's own control requests."""
        envelope = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": envelope})

    # What the CLI says

    def wait_for(
        self, matches: Callable[[Message], bool], timeout: float = DEADLINE, anywhere: bool = False
    ) -> Message:
        """The next message that matches, after the one found last; `anywhere` looks at all and leaves that place be."""
        deadline = time.monotonic() + timeout
        with self._changed:
            place = 0 if anywhere else self._seen
            while True:
                for index in range(place, len(self.messages)):
                    if matches(self.messages[index]):
                        if not anywhere:
                            self._seen = index + 1
                        return self.messages[index]
                place = len(self.messages)
                if self._ended or not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(self.account(f"nothing matched within {timeout} s"))

    def wait_for_permission(self, tool_name: str) -> Message:
        """The next `can_use_tool` of that tool: the whole envelope."""
        return self.wait_for(
            lambda m: (
                m["type"] == "control_request"
                and m["request"]["subtype"] == "can_use_tool"
                and m["request"]["tool_name"] == tool_name
            )
        )

    def wait_for_result(self) -> Message:
        return self.wait_for(lambda m: m["type"] == "result")

    def wait_until(self, holds: Callable[[], bool], timeout: float = DEADLINE) -> None:
        """Asks again and again until `holds()` does."""
        deadline = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < deadline, self.account(f"did not come true within {timeout} s")
            time.sleep(0.1)

    def account(self, headline: str) -> str:
        """What was seen, for the message of a failed test."""
        ended = f"exited with {self.process.poll()}" if self._ended else "still running"
        lines = [json.dumps(message)[:600] for message in self.messages if message["type"] != "stream_event"]
        return "\n".join([f"claude {self.cli.version} ({ended}): {headline}", *lines, *self.noise, self.stderr[-4000:]])

    @property
    def everything(self) -> str:
        """All that was printed, as one text to search."""
        return "\n".join([*(json.dumps(m, ensure_ascii=False) for m in self.messages), *self.noise, self.stderr])

    # The readers' threads

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._take(line)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\n")
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        with self._changed:
            if isinstance(value, dict):
                self.messages.append(value)
            else:
                self.noise.append(text)
            self._changed.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line.decode("utf-8", "replace")
