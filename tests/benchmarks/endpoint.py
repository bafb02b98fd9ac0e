"""How soon the local endpoint answers: `python -m tests.benchmarks.endpoint`.

Two questions, in one run.

How long does a program wait for the first words? The true `claude` talks to a scripted model on loopback that answers
at once, and two ways take turns, pair by pair: a streamed completion through the endpoint, whose pool keeps a CLI
started, timed from before the connection to the first content; and `claude -p` with the same flags that isolate it,
from before its start to its first text. `ratio` is the endpoint's time over that of `claude -p`, the median of the
pairs' ratios. What the pool needs to become warm again is waited for, not timed: that is what it is for.

What does the endpoint add by itself? The stand-in CLI answers, once through HTTP and once by the same backend asked
directly on the same loop, in turns: `http_ms` and `direct_ms` are their medians, for whole answers of a one-shot CLI
started for each of them, and with `_stream` for the first words of a session from the warm pool. On a busy machine the
start of a program varies by more than HTTP adds. So `added_ms` is what a client waited longer than the backend took
over the very same request, from the call of `complete` to the event that was waited for; the median of all requests.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from protocol.chat_completions.backend import Backend, Caller, Event, Finished, TextDelta
from protocol.chat_completions.checks import read_request
from protocol.chat_completions.claude_backend import ClaudeBackend
from protocol.chat_completions.claude_cli import Launch
from protocol.chat_completions.command_backend import CommandBackend
from protocol.chat_completions.request import CompletionRequest
from tests.helpers.endpoint import CHAT, SECONDS, Endpoint, serving
from tests.helpers.real_cli import MARK, CannotInstallError, RealCli, install, make_cli, pinned_versions
from tests.real_cli.model import ScriptedModel, Text

PAIRS = 11
REQUESTS = 31

SYSTEM = "You answer in one sentence."
QUESTION = "Which way is north?"
ANSWER = "North is where the needle of a compass points."
ISOLATED = (
    *("--tools", ""),
    *("--setting-sources", ""),
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
    *("--system-prompt", SYSTEM),
)
ROOT = Path(__file__).resolve().parents[2]
STAND_IN = (sys.executable, "-S", "-m", "fake_cli")
STILL_SECONDS = 0.3
"""A CLI that used no CPU for so long has come up."""


def body(model: str, *, stream: bool) -> bytes:
    """The request, the same each time."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    return json.dumps({"model": model, "messages": messages, "stream": stream}).encode()


def through_http(endpoint: Endpoint, model: str, *, stream: bool) -> float:
    """Seconds until the first content of a stream, or until the whole answer; reads to the end."""
    request = body(model, stream=stream)
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=SECONDS)
    try:
        connection.request("POST", CHAT, request, endpoint.head())
        response = connection.getresponse()
        assert response.status == 200, response.read()
        taken = _first_content(response, began) if stream else None
        rest = response.read()
        taken = time.perf_counter() - began if taken is None else taken
        assert rest.endswith(b"data: [DONE]\n\n") if stream else json.loads(rest)["choices"]
        return taken
    finally:
        connection.close()


def _first_content(response: http.client.HTTPResponse, began: float) -> float:
    while line := response.readline():
        if line.startswith(b"data: {") and json.loads(line[6:])["choices"][0]["delta"].get("content"):
            return time.perf_counter() - began
    raise AssertionError("the stream had no content")


class Timed:
    """A backend that notes how long the other one took until the event that the client waits for.

    Attributes:
        taken: seconds, of the last request.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.taken = 0.0
        self.start, self.models, self.close = backend.start, backend.models, backend.close

    @property
    def supports(self) -> frozenset[str]:
        """What the other one supports."""
        return self._backend.supports

    async def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        """The other one's answer."""
        began, self.taken = time.perf_counter(), 0.0
        awaited = TextDelta if request.stream else Finished
        async with aclosing(self._backend.complete(request, caller)) as events:
            async for event in events:
                if not self.taken and isinstance(event, awaited):
                    self.taken = time.perf_counter() - began
                yield event


def asked_directly(endpoint: Endpoint, model: str, *, stream: bool) -> float:
    """The same by the backend alone, on the server's own loop."""
    wanted = read_request(body(model, stream=stream), supports=endpoint.backend.supports)

    async def ask() -> float:
        async for _ in endpoint.backend.complete(wanted, Caller("of-the-benchmark")):
            pass
        return float(endpoint.backend.taken)

    return endpoint.thread.call(ask()).result(SECONDS)


def by_claude_p(cli: RealCli, folder: Path) -> float:
    """Seconds from the start of `claude -p` to its first text; waits for its end."""
    argv = [*cli.argv, "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", *ISOLATED]
    began = time.perf_counter()
    with subprocess.Popen(argv, cwd=folder, env=cli.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(QUESTION.encode())
        child.stdin.close()
        taken = 0.0
        for line in child.stdout:
            if not taken and b'"text_delta"' in line:
                taken = time.perf_counter() - began
    assert taken, f"claude -p said nothing and ended with {child.returncode}"
    return taken


def wait_until_warm(mark: str) -> None:
    """Waits until exactly one CLI is started in reserve, and has come up."""
    end = time.monotonic() + SECONDS
    last, still_since = (-1, -1.0), time.monotonic()
    while time.monotonic() < end:
        now = _sessions(mark)
        if now != last or now[0] != 1:
            last, still_since = now, time.monotonic()
        elif time.monotonic() - still_since >= STILL_SECONDS:
            return
        time.sleep(0.02)
    raise AssertionError("the pool did not become warm")


def _sessions(mark: str) -> tuple[int, float]:
    """How many session processes this one has started that still run, and their CPU time."""
    count, seconds = 0, 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            if "--permission-prompt-tool" in child.cmdline() and child.environ().get(MARK) == mark:
                count, seconds = count + 1, seconds + sum(child.cpu_times()[:2])
        except psutil.Error:
            continue
    return count, seconds


Way = Callable[[], float]


def in_turns(rounds: int, before: Callable[[], None], ways: dict[str, Way]) -> dict[str, list[float]]:
    """Times of each way. The first round only warms up; who begins, changes from round to round.

    `before` waits until what the last one has left to tidy up is gone.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name in list(ways) if number % 2 else reversed(ways):
            before()
            gc.collect()
            taken = ways[name]()
            if number:
                times[name].append(taken)
    return times


def first_words(pairs: int) -> dict[str, Any]:
    """The endpoint beside `claude -p`. Raises CannotInstallError."""
    version = pinned_versions()[-1]
    path = install(version)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ScriptedModel() as model:
        mark = f"handraise-benchmark-{os.getpid()}"
        cli = make_cli(version, path, Path(folder), model.url, mark)
        model.when(reply=[Text(ANSWER, pieces=4)])
        with serving(ClaudeBackend(lambda: Launch(cli.argv, cli.env))) as endpoint:
            times = in_turns(
                pairs,
                lambda: wait_until_warm(mark),
                {
                    "endpoint": lambda: through_http(endpoint, "default", stream=True),
                    "claude_p": lambda: by_claude_p(cli, cli.project),
                },
            )
        assert not model.errors, model.errors
    pairs_of = zip(times["endpoint"], times["claude_p"], strict=True)
    return {
        "cli": version,
        "ratio": round(median(ours / theirs for ours, theirs in pairs_of), 3),
        "first_words_endpoint_ms": _milliseconds(times["endpoint"]),
        "first_words_claude_p_ms": _milliseconds(times["claude_p"]),
    }


def added(requests: int, backend: Backend, model: str, suffix: str = "", mark: str = "") -> dict[str, Any]:
    """What HTTP adds to that backend."""
    stream, timed = bool(suffix), Timed(backend)
    more: list[float] = []
    with serving(timed) as endpoint:

        def before() -> None:
            gate = endpoint.server.gate
            endpoint.wait_until(lambda: gate.free == gate.max_concurrent, "the endpoint has become idle")
            if mark:
                wait_until_warm(mark)

        def ask() -> float:
            taken = through_http(endpoint, model, stream=stream)
            more.append(taken - timed.taken)
            return taken

        ways = {"http": ask, "direct": lambda: asked_directly(endpoint, model, stream=stream)}
        times = in_turns(requests, before, ways)
    return {
        f"added_ms{suffix}": _milliseconds(more[1:]),
        f"http_ms{suffix}": _milliseconds(times["http"]),
        f"direct_ms{suffix}": _milliseconds(times["direct"]),
    }


def _milliseconds(times: list[float]) -> float:
    return round(1000 * median(times), 2)


def stand_in(requests: int) -> dict[str, Any]:
    """What HTTP adds, with the stand-in in both of its ways."""
    mark = f"handraise-benchmark-stand-in-{os.getpid()}"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FAKE_CLI_PACE": "0", MARK: mark}
    command = CommandBackend([*STAND_IN, "--one-shot"], "cli-demo", env)
    session = ClaudeBackend(lambda: Launch(STAND_IN, env))
    return {
        **added(requests, command, "cli-demo"),
        **added(requests, session, "default", "_stream", mark),
    }


def main(arguments: list[str] | None = None) -> int:
    """Runs and prints; 1 where the true CLI is not here and cannot be fetched."""
    doc = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.endpoint", description=doc)
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"with the true CLI, of each way (default {PAIRS})")
    parser.add_argument("--requests", type=int, default=REQUESTS, help=f"with the stand-in (default {REQUESTS})")
    parser.add_argument("--stand-in-only", action="store_true", help="without the true CLI")
    chosen = parser.parse_args(arguments)
    figures: dict[str, Any] = {"name": "endpoint", "requests": chosen.requests, **stand_in(chosen.requests)}
    if not chosen.stand_in_only:
        try:
            figures |= {"pairs": chosen.pairs, **first_words(chosen.pairs)}
        except CannotInstallError as problem:
            print(problem, file=sys.stderr)
            return 1
    for name, value in figures.items():
        print(f"{name:32} {value}")
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
