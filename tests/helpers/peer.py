"""A peer for sessions: a few lines of Python that run as the CLI, and what a test needs around them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from protocol.conversation import Change, Conversation, PendingRequest
from protocol.process import Ladder
from protocol.pump import RunThread, run_plain_thread
from protocol.session import Session, SessionOptions

T = TypeVar("T")

PRELUDE = '''
import json, os, subprocess, sys, time

def read():
    """The next message of the host, None at the end."""
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    message = json.loads(line)
    with open("heard.jsonl", "ab") as file:
        file.write(line)
    return message

def say(message):
    write(json.dumps(message).encode() + b"\\n")

def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def ok(request, response=None):
    say({"type": "control_response",
         "response": {"subtype": "success", "request_id": request["request_id"], "response": response or {}}})

def no(request, text, code=""):
    say({"type": "control_response", "response": {"subtype": "error", "request_id": request["request_id"],
         "error": text, "error_code": code}})

def shake():
    """The handshake."""
    ok(read(), {"commands": [{"name": "compact"}], "models": [{"value": "default"}]})

def ask(request_id, tool="Bash", **fields):
    """A permission request."""
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": {"command": "ls"}, "tool_use_id": "toolu_1"}
    say({"type": "control_request", "request_id": request_id, "request": {**request, **fields}})

def text(words):
    message = {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": words}]}
    say({"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s1"})

def result(**fields):
    say({"type": "result", "subtype": "success", "is_error": False, "result": "", "session_id": "s1", **fields})

def until_end():
    while read() is not None:
        pass
'''

QUICK = Ladder(eof=1.0, term=0.5, kill=2.0)


class Listening:
    """A session, and what a test wants to know of it. As a context manager it starts and closes the session.

    Attributes:
        changes: everything the session's listener was told, and `batches` how much of it at a time.
        told_on: the threads it was told on.
        traffic: what the wire log saw, as (direction, message).
    """

    def __init__(self, options: SessionOptions, run_thread: RunThread = run_plain_thread) -> None:
        self.options = options
        self.changes: list[Change] = []
        self.batches: list[int] = []
        self.told_on: set[threading.Thread] = set()
        self.traffic: list[tuple[str, Any]] = []
        self._news = asyncio.Event()
        self.session = Session(
            options,
            on_changes=self._listen,
            run_thread=run_thread,
            log=lambda direction, message: self.traffic.append((direction, message)),
        )

    async def __aenter__(self) -> Self:
        await self.session.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    def _listen(self, changes: Sequence[Change]) -> None:
        self.changes += changes
        self.batches.append(len(changes))
        self.told_on.add(threading.current_thread())
        self._news.set()

    @property
    def conversation(self) -> Conversation:
        return self.session.conversation

    async def until(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait for changes until the condition holds."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"it never came to that in {seconds} s; the transcript: {self.texts}") from None

    async def until_pending(self, *request_ids: str) -> None:
        """Wait until these requests are open."""
        await self.until(lambda: set(request_ids) <= set(self.conversation.pending))

    async def next_request(self, kind: str = "") -> PendingRequest:
        """Wait until the CLI asks something of this kind."""
        found: list[PendingRequest] = []

        def asked() -> bool:
            found[:] = [p for p in self.conversation.pending.values() if kind in ("", p.kind)]
            return bool(found)

        await self.until(asked, seconds=40)
        return found[0]

    async def until_idle(self) -> None:
        """Wait until the turn is over."""
        await self.until(lambda: self.conversation.state == "idle", seconds=40)

    @property
    def texts(self) -> list[str]:
        """The words in the transcript: the user's, Claude's, and the notices'."""
        return [item.text for item in self.conversation.items if hasattr(item, "text")]


class Peer(Listening):
    """A scripted CLI in a folder of its own, and a session with it."""

    def __init__(self, folder: Path, script: str, *, run_thread: RunThread = run_plain_thread, **options: Any) -> None:
        self.folder = folder
        program = folder / "peer.py"
        program.write_text(PRELUDE + textwrap.dedent(script), encoding="utf-8")
        options = {"ladder": QUICK, "handshake_timeout": 20.0, "request_timeout": 20.0, **options}
        command = (sys.executable, "-S", str(program))
        super().__init__(SessionOptions(command, folder, dict(os.environ), **options), run_thread)

    def heard(self, kind: str = "") -> list[dict[str, Any]]:
        """What the peer has read so far, of that type."""
        path = self.folder / "heard.jsonl"
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        messages = [json.loads(line) for line in lines if line]
        return [message for message in messages if kind in ("", message["type"])]


def run(coroutine: Coroutine[Any, Any, T], seconds: float = 60.0) -> T:
    """Run a test's coroutine on a plain asyncio loop, and make sure that it leaves no thread of a session behind.

    What the loop's exception handler is told fails the test.
    """
    lost: list[dict[str, Any]] = []

    async def main() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: lost.append(context))
        loop.slow_callback_duration = 10.0  # asyncio's own warning is about the machine of the moment
        async with asyncio.timeout(seconds):
            return await coroutine

    outcome = asyncio.run(main(), debug=True)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("claude ")]
    for thread in threads:
        thread.join(2.0)
    left = [thread.name for thread in threads if thread.is_alive()]
    assert not left, f"threads left behind: {left}"
    assert not lost, f"exceptions that nobody saw: {lost}"
    return outcome
