"""Harms that last, on demand: `--harm NAME=VALUE`, FAKE_CLI_HARM=NAME=VALUE,…, options.harm, or a `harm` step."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from fake_cli.output import NOISE, write_stderr

if TYPE_CHECKING:
    from fake_cli.output import Output
    from fake_cli.session import Session

NAMES = {
    "exit-at-start": "exits with this code before it reads anything (default 1)",
    "no-handshake": "never answers initialize",
    "late-handshake": "answers initialize after so many seconds",
    "refuse-handshake": "answers initialize with this error",
    "silent": "reads, and never says anything",
    "banner": "prints this text (or a choice of lines that are no JSON objects) before anything else",
    "noise": "prints a line that is no JSON object before every message",
    "bytewise": "writes one byte at a time",
    "chunks": "writes so many bytes at a time",
    "split-emoji": "cuts every character of several bytes in two writes",
    "stderr": "writes so many bytes to stderr at the start",
    "hang-at-eof": "does not end when stdin ends",
    "ignore-sigterm": "does not end at SIGTERM",
    "ignore-interrupt": "neither acknowledges nor obeys an interrupt",
    "orphan": "leaves a grandchild that holds stdout for so many seconds",
    "duplicate-requests": "sends every request to the host twice, with the same id",
    "crash-at": "NAME:CODE or NAME:SIGNAL: crashes before the step of that name",
}
"""What each harm does."""


def start(session: Session) -> int | None:
    """Harms that come before everything else; an exit code ends it all here."""
    harms = session.harms
    unknown = sorted(set(harms) - set(NAMES))
    if unknown:
        write_stderr(f"Unknown harm: {', '.join(unknown)}. Known: {', '.join(NAMES)}.\n")
        return 2
    if "stderr" in harms:
        flood_stderr(int(harms["stderr"] or 1_000_000))
    if "banner" in harms:
        for line in [harms["banner"]] if harms["banner"] else NOISE:
            session.output.line(line)
    if "orphan" in harms:
        spawn_orphan(float(harms["orphan"] or 30))
    if "exit-at-start" in harms:
        return int(harms["exit-at-start"] or 1)
    apply(session)
    return None


def apply(session: Session) -> None:
    """Makes the lasting harms of the session's list true."""
    harms = session.harms
    session.output.noise = "noise" in harms
    session.output.style = (
        "bytewise" if "bytewise" in harms
        else "emoji" if "split-emoji" in harms
        else int(harms["chunks"]) if "chunks" in harms
        else "whole"
    )
    if "ignore-sigterm" in harms:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def flood_stderr(size: int) -> None:
    line = b"[warn] the cache of the cache is not cached; falling back to the cache\n"
    write_stderr(line * (size // len(line) + 1) + b"[warn] last words on stderr\n")


async def flood_stdout(output: Output, size: int, rate: float, line_length: int) -> None:
    """Lines of garbage: `size` bytes in all, at most `rate` bytes a second (0: as fast as they are read).

    Between the lines what comes in is handled, so that the host can stop it.
    """
    line = b"x" * max(1, line_length - 1) + b"\n"
    written, began = 0, time.monotonic()
    while written < size:
        output.data(line)
        written += len(line)
        ahead = written / rate - (time.monotonic() - began) if rate else 0
        await asyncio.sleep(max(0.0, ahead))


def spawn_orphan(seconds: float) -> None:
    """A grandchild that outlives us and keeps our stdout open; `pid` is told on stderr, for tests."""
    code = f"import time; time.sleep({seconds})"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL)
    write_stderr(f"orphan {child.pid}\n")


def handle_signals(code: int = 143) -> None:
    """At SIGTERM the real CLI leaves with 143, not by the signal."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: os._exit(code))
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(130))
