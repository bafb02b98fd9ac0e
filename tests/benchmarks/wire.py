"""How fast lines become typed messages: `python -m tests.benchmarks.wire`.

A child process prints the recordings of all CLI versions through a real pipe. Two readers take turns, round by round:

* ours: `pump.read_stream`, `LineReader` with `fast_json`, `parse_message`, as a session does it;
* that of `claude-agent-sdk`: its own `SubprocessCLITransport.read_messages` on anyio's streams, and its own
  `parse_message`.

`ratio` is ours over theirs, in lines a second, on the lines of which both make a typed object. The SDK has no types
for control messages and for kinds that it does not know: its parser makes None of them, and control messages never
reach it. `ratio_all_lines` counts those lines too, though ours then does more. Each is the median of the rounds'
ratios. Since a busy machine shares its clock with others, `cpu_ratio` says the same in CPU time of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from protocol import pump
from protocol.messages import fast_json, parse_message
from protocol.wire import LineReader, encode_line
from tests.helpers import recordings

SDK = "claude-agent-sdk"
UNTYPED_BY_SDK = ("control_", "command_lifecycle")
LINES = 40_000
ROUNDS = 11

# Has all in memory and says so before it is told to print, and ends without an interpreter's farewell, so that neither
# reader's clock runs while the child starts, reads or leaves; through a roomy pipe where the system has one (Linux:
# F_SETPIPE_SZ), so that the readers are timed and not the scheduler.
CHILD = """
import os, sys
try:
    import fcntl
    fcntl.fcntl(1, 1031, 1 << 20)
except (ImportError, OSError):
    pass
with open(sys.argv[1], "rb") as file:
    rest = memoryview(file.read())
os.write(1, b"!")
sys.stdin.buffer.readline()
while rest:
    rest = rest[os.write(1, rest):]
os._exit(0)
"""
READY = b"!"


class CannotCompareError(Exception):
    """The other side is not here; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """One pass over the whole output: how many messages came, in what time."""

    messages: int
    wall: float
    cpu: float


Reader = Callable[[Path], Run]


def output(lines: int, *, typed: bool) -> bytes:
    """The stdout of all recordings, repeated up to that many lines; `typed` is without what the SDK does not type."""
    pieces = [
        encode_line(entry.value)
        for version, scenario in recordings.names()
        for entry in recordings.load(version, scenario).entries
        if entry.direction == "out" and not (typed and entry.value["type"].startswith(UNTYPED_BY_SDK))
    ]
    return b"".join((pieces * (lines // len(pieces) + 1))[:lines])


def read_ours(path: Path) -> Run:
    """One pass with our reader."""
    argv = [sys.executable, "-S", "-c", CHILD, str(path)]
    reader = LineReader(parse=fast_json)
    count = 0

    def take(data: bytes) -> None:
        nonlocal count
        for line in reader.lines(data):
            if type(line) is dict:
                parse_message(line)
                count += 1

    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.read(1) == READY
        wall, cpu = time.perf_counter(), time.process_time()
        child.stdin.write(b"\n")
        pump.read_stream(child.stdout, take)
        return Run(count, time.perf_counter() - wall, time.process_time() - cpu)


def read_theirs(path: Path) -> Run:
    """One pass with the SDK's reader. Raises CannotCompareError where the SDK is not installed."""
    try:
        importlib.metadata.version(SDK)
    except importlib.metadata.PackageNotFoundError as error:
        raise CannotCompareError(f"{SDK} is not installed: pip install '.[benchmark]'") from error
    return asyncio.run(_read_theirs(path))


async def _read_theirs(path: Path) -> Run:
    import anyio
    from anyio.streams.text import TextReceiveStream
    from claude_agent_sdk import ClaudeAgentOptions
    from claude_agent_sdk._internal.message_parser import parse_message as parse
    from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

    transport: Any = SubprocessCLITransport("", ClaudeAgentOptions(cli_path=sys.executable))
    argv = [sys.executable, "-S", "-c", CHILD, str(path)]
    count = 0
    async with await anyio.open_process(argv, stderr=None) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert await child.stdout.receive(1) == READY
        transport._process, transport._stdout_stream = child, TextReceiveStream(child.stdout)
        wall, cpu = time.perf_counter(), time.process_time()
        await child.stdin.send(b"\n")
        async for value in transport.read_messages():
            parse(value)
            count += 1
        return Run(count, time.perf_counter() - wall, time.process_time() - cpu)


def measure(data: bytes, lines: int, rounds: int, readers: dict[str, Reader]) -> dict[str, list[Run]]:
    """Lets the readers take turns; the first round only warms up."""
    runs: dict[str, list[Run]] = {name: [] for name in readers}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output.jsonl"
        path.write_bytes(data)
        for number in range(rounds + 1):
            for name, read in readers.items():
                gc.collect()
                run = read(path)
                if run.messages != lines:
                    raise AssertionError(f"{name} read {run.messages} of {lines} lines")
                if number:
                    runs[name].append(run)
    return runs


def figures_of(lines: int, runs: dict[str, list[Run]], suffix: str = "") -> dict[str, Any]:
    """Speeds, and the ratios where there are two."""
    figures: dict[str, Any] = {}
    for name, passes in runs.items():
        figures[f"{name}_lines_per_second{suffix}"] = round(lines / median(run.wall for run in passes))
        figures[f"{name}_cpu_microseconds_per_line{suffix}"] = round(1e6 * median(run.cpu for run in passes) / lines, 2)
    if "theirs" in runs:
        pairs = list(zip(runs["theirs"], runs["ours"], strict=True))
        figures[f"ratio{suffix}"] = round(median(theirs.wall / ours.wall for theirs, ours in pairs), 2)
        figures[f"cpu_ratio{suffix}"] = round(median(theirs.cpu / ours.cpu for theirs, ours in pairs), 2)
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Runs and prints; 1 where there is nothing to compare with."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.wire", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", type=int, default=LINES, help=f"lines a pass (default {LINES})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"passes of each (default {ROUNDS})")
    parser.add_argument("--ours-only", action="store_true", help="without the comparison")
    chosen = parser.parse_args(arguments)
    readers: dict[str, Reader] = {"ours": read_ours}
    if not chosen.ours_only:
        readers["theirs"] = read_theirs
    figures: dict[str, Any] = {"name": "wire", "lines": chosen.lines, "rounds": chosen.rounds}
    try:
        for typed, suffix in ((True, ""), (False, "_all_lines")):
            data = output(chosen.lines, typed=typed)
            figures |= figures_of(chosen.lines, measure(data, chosen.lines, chosen.rounds, readers), suffix)
    except CannotCompareError as problem:
        print(problem, file=sys.stderr)
        return 1
    if not chosen.ours_only:
        figures["sdk"] = importlib.metadata.version(SDK)
    for name, value in figures.items():
        print(f"{name:44} {value}")
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
