"""Five hundred requests, a third of them cut off at random moments, eight at a time: nothing is left of them.

The endpoint is `handraise serve` in a process of its own, so that what grows, grows there.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.helpers.processes import describe, marked_processes, wait_until_gone

CLIENTS = 8
PLACES, QUEUE = 4, 16
SEED = 20_261_130
SECONDS = 30.0
"""Patience with what must come; the machine may be busy."""
CALM = 10
"""Looks at an unchanged state, one after the other, until it counts as settled."""
MOST_GROWTH = 8 * 1024 * 1024
"""Bytes of resident memory between the middle and the end: the texts of the requests, kept, would be more."""
MOST_BLOCKS = 25
"""Blocks of Python's memory that stay of a request, garbage collected: the journal's entry; a task would be more."""

STAND_IN = [sys.executable, "-S", "-m", "fake_cli"]
ROOT = Path(__file__).resolve().parents[2]
# The program itself, which says on a signal how much memory its objects take.
MEASURED = """
import gc, os, signal, sys
import psutil
from desktop.__main__ import main
def measure(*_):
    gc.collect()
    with open(os.environ["MEASURED"], "w") as file:
        file.write(f"{sys.getallocatedblocks()} {psutil.Process().memory_info().rss} ")
signal.signal(signal.SIGUSR1, measure)
sys.exit(main(sys.argv[1:]))
"""
# What glibc keeps in arenas for threads that are gone is no leak, and hides one.
EXACT_MALLOC = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"}
RESET_AT_CLOSE = struct.pack("ii", 1, 0)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and descriptors as POSIX has them")


@dataclass(frozen=True)
class Job:
    """One request: what it says, and when its client goes, if it does not wait for the answer.

    Attributes:
        text: the prompt; no two are the same.
        stream: whether it wants the answer in pieces.
        cut_after: seconds until the client goes; None for one that stays.
        half: the client that goes has sent half of its body only.
        rude: it goes with a reset instead of a farewell.
    """

    text: str
    stream: bool
    cut_after: float | None
    half: bool
    rude: bool


def jobs(count: int, longest: float) -> list[Job]:
    """So many; a third of them is cut off at some moment of `longest` seconds. The same in every run."""
    dice = random.Random(SEED)
    made = []
    for number in range(count):
        words = f"{number}: " + "Ω≈ç√ " * dice.choice((1, 10, 100, 20_000))
        cut = dice.uniform(0, longest) if number % 3 == 1 else None
        made.append(Job(words.strip(), dice.random() < 0.5, cut, dice.random() < 0.15, dice.random() < 0.5))
    return made


class Served:
    """`handraise serve` as its own process."""

    def __init__(self, folder: Path, mark: str, *words: str, **env: str) -> None:
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.log = folder / "log"
        self._measured = folder / "measured"
        self._token_file = folder / "token"
        self._mark = mark
        own = {
            "HOME": str(folder), "TMPDIR": str(self.temporary), "HANDRAISE_TEST_MARK": mark, "FAKE_CLI_PACE": "0",
            "HANDRAISE_LOG": str(self.log), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
            "MEASURED": str(self._measured), **EXACT_MALLOC, **env,
        }  # fmt: skip
        for name in ("HANDRAISE_CONFIG_DIR", "HANDRAISE_DATA_DIR"):
            own[name] = str(folder / name)
        argv = [sys.executable, "-c", MEASURED, "serve", "--port", "0", "--token-file", str(self._token_file)]
        argv += ["--max-concurrent", str(PLACES), "--queue", str(QUEUE), *words]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HANDRAISE_", "CLAUDE"))}
        self._child = subprocess.Popen(argv, cwd=folder, env={**kept, **own}, stdout=subprocess.PIPE)
        self._process = psutil.Process(self._child.pid)
        assert self._child.stdout is not None
        told = json.loads(self._child.stdout.readline())
        self.port = int(told["url"].rsplit(":", 1)[1].split("/")[0])
        self._token = self._token_file.read_text("ascii").strip()

    def request(self, model: str, job: Job) -> tuple[bytes, bytes]:
        """Head and body as they go over the wire."""
        body = json.dumps(
            {"model": model, "stream": job.stream, "messages": [{"role": "user", "content": job.text}]}
        ).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode(), body

    def standing(self) -> dict[str, int]:
        """How many of what belongs to it there are."""
        return {
            "processes": len(marked_processes(self._mark)),
            "threads": self._process.num_threads(),
            "descriptors": self._process.num_fds() if os.name == "posix" else 0,
            "folders": len(list(self.temporary.iterdir())),
        }

    def settle(self, **expected: int) -> dict[str, int]:
        """Waits until that much of it is there, and nothing changes any more; returns all of `standing`."""
        end = time.monotonic() + SECONDS
        last, calm = self.standing(), 0
        while time.monotonic() < end and calm < CALM:
            time.sleep(0.05)
            now = self.standing()
            calm = calm + 1 if now == last and expected.items() <= now.items() else 0
            last = now
        assert calm, f"this is left: {last}, not {expected}\n{describe(marked_processes(self._mark))}"
        return last

    def memory(self) -> tuple[int, int]:
        """Blocks that its objects take, and bytes of resident memory."""
        self._measured.write_text("")
        self._child.send_signal(signal.SIGUSR1)
        end = time.monotonic() + SECONDS
        while not (told := self._measured.read_text()).endswith(" "):
            assert time.monotonic() < end, "it does not measure itself"
            time.sleep(0.02)
        blocks, size = told.split()
        return int(blocks), int(size)

    def children(self) -> int:
        """How many one-shot programs run now."""
        count = 0
        for child in self._process.children():
            with contextlib.suppress(psutil.Error):
                count += "--one-shot" in child.cmdline()
        return count

    def end(self) -> int:
        """Tells it to end; its return code."""
        self._child.send_signal(signal.SIGTERM)
        return self._child.wait(SECONDS)

    def kill(self) -> None:
        """For the end of a test."""
        self._child.kill()
        self._child.wait(SECONDS)
        assert self._child.stdout is not None
        self._child.stdout.close()


def ask(served: Served, model: str, job: Job) -> str | None:
    """Asks as the job says; the answer's text, None for a client that has gone."""
    head, body = served.request(model, job)
    with socket.create_connection(("127.0.0.1", served.port), SECONDS) as client:
        if job.cut_after is not None:
            _go(client, head + (body[: len(body) // 2] if job.half else body), job)
            return None
        client.sendall(head + body)
        response = http.client.HTTPResponse(client, method="POST")
        response.begin()
        told = response.read()
    assert response.status == 200, told
    return _streamed(told) if job.stream else str(json.loads(told)["choices"][0]["message"]["content"])


def _go(client: socket.socket, data: bytes, job: Job) -> None:
    assert job.cut_after is not None
    end = time.monotonic() + job.cut_after
    client.sendall(data)
    with contextlib.suppress(TimeoutError):
        while (left := end - time.monotonic()) > 0:
            client.settimeout(left)
            if not client.recv(65536):
                break
    if job.rude:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)


def _streamed(told: bytes) -> str:
    events = [line.removeprefix(b"data: ") for line in told.split(b"\n") if line.startswith(b"data: ")]
    assert events[-1] == b"[DONE]", told[-300:]
    chunks: list[dict[str, Any]] = [json.loads(event) for event in events[:-1]]
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


def ask_all(served: Served, model: str, todo: Sequence[Job]) -> None:
    """Eight at a time; whoever stayed has got the answer to its own question."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda job: ask(served, model, job), todo))
    for job, answer in zip(todo, answers, strict=True):
        assert answer == (f"echo: {job.text}" if job.cut_after is None else None)


@contextmanager
def serving(folder: Path, mark: str, *words: str, **env: str) -> Iterator[Served]:
    """The process, which is gone afterwards, come what may."""
    served = Served(folder, mark, *words, **env)
    try:
        yield served
    finally:
        served.kill()


def soak(served: Served, model: str, todo: Sequence[Job], ready: int) -> None:
    """Asks all, and looks in the middle and at the end what is there beside the endpoint, its guardian, and so many
    CLIs that it keeps ready."""
    middle = len(todo) // 2
    ask_all(served, model, todo[:CLIENTS])  # until then, modules are loaded and the guardian is started
    before = served.settle(processes=2 + ready, folders=ready)
    memory = []
    for part in (todo[CLIENTS:middle], todo[middle:]):
        ask_all(served, model, part)
        served.settle(**before)
        memory.append(served.memory())
    (blocks, size), (blocks_then, size_then) = memory
    assert blocks_then - blocks < MOST_BLOCKS * (len(todo) - middle), memory
    assert size_then - size < MOST_GROWTH, memory


def all_ended(served: Served, mark: str) -> None:
    """Ends it in an orderly way, and looks that nothing is left and that nothing went wrong unseen."""
    assert served.end() == 0
    assert describe(wait_until_gone(mark)) == ""
    assert list(served.temporary.iterdir()) == []
    lines = served.log.read_text("utf-8").splitlines()
    assert [line for line in lines if re.search("ERROR|WARNING|unexpected", line)] == []
    outcomes = {match[1] for line in lines if (match := re.search(r"completion[a-z ]*: .*? ([a-z_]+), ", line))}
    assert outcomes <= {"ok", "client_gone"}, outcomes
    assert "client_gone" in outcomes


@pytest.mark.timeout(300)
def test_nothing_is_left_of_requests_to_a_one_shot_program(tmp_path: Path, process_mark: str) -> None:
    command = json.dumps([*STAND_IN, "--one-shot"])
    words = ("--backend", "command", "--command", command, "--model-name", "cli-demo")
    with serving(tmp_path, process_mark, *words) as served:
        soak(served, "cli-demo", jobs(380, longest=0.7), ready=0)
        assert most_at_once(served) == PLACES
        all_ended(served, process_mark)


def most_at_once(served: Served) -> int:
    """Fills every place and the whole queue, all of whom are answered; how many programs ran at once."""
    stop, most = threading.Event(), [0]

    def look() -> None:
        while not stop.is_set():
            most[0] = max(most[0], served.children())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        crowd = [Job(f"place {number}", False, None, False, False) for number in range(PLACES + QUEUE)]
        with ThreadPoolExecutor(len(crowd)) as pool:
            answers = list(pool.map(lambda job: ask(served, "cli-demo", job), crowd))
    finally:
        stop.set()
        looking.join()
    assert answers == [f"echo: {job.text}" for job in crowd]
    return most[0]


@pytest.mark.timeout(300)
def test_nothing_is_left_of_requests_to_sessions(tmp_path: Path, process_mark: str) -> None:
    with serving(tmp_path, process_mark, HANDRAISE_CLAUDE=json.dumps(STAND_IN)) as served:
        soak(served, "default", jobs(120, longest=0.5), ready=1)
        all_ended(served, process_mark)
