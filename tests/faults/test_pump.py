"""Threads at the pipes: whole pieces in order, no caller ever blocked, every end bounded."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from typing import IO

import pytest

from protocol.pump import StderrTail, StreamWriter, read_stream, run_plain_thread
from tests.faults.conftest import QUICK, StartChild

ECHO = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
NEVER_READS = "import time; time.sleep(600)"
COUNTS = "import sys; print(len(sys.stdin.buffer.read()))"


class Pieces:
    """A stream that yields what it was given, then fails or ends."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self._pieces = list(pieces)
        self._error = error

    def readinto(self, buffer: bytearray, /) -> int:
        if self._pieces:
            piece = self._pieces.pop(0)
            buffer[: len(piece)] = piece
            return len(piece)
        if self._error is not None:
            raise self._error
        return 0


class Kept(io.BytesIO):
    """A stream whose content outlives its closing."""

    content = b""

    def close(self) -> None:
        if not self.closed:
            self.content = self.getvalue()
        super().close()


@pytest.fixture
def pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as read_end, os.fdopen(writer, "wb", buffering=0) as write_end:
        yield read_end, write_end


def test_everything_read_is_handed_over_in_order() -> None:
    received: list[bytes] = []
    read_stream(Pieces(b"a", b"bc", "漢".encode()), received.append)
    assert b"".join(received) == "abc漢".encode()


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("read of closed file")])
def test_a_stream_that_fails_has_ended(error: Exception) -> None:
    received: list[bytes] = []
    read_stream(Pieces(b"last words", error=error), received.append)
    assert received == [b"last words"]


def test_a_failing_receiver_is_logged_and_reading_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    received: list[bytes] = []

    def receive(data: bytes) -> None:
        if data == b"bad":
            raise RuntimeError("receiver broke")
        received.append(data)

    read_stream(Pieces(b"one", b"bad", b"two"), receive)
    assert received == [b"one", b"two"]
    assert "the receiver of 3 bytes failed" in caplog.text
    caplog.clear()


def test_pieces_are_written_whole_and_in_order() -> None:
    stream = Kept()
    writer = StreamWriter(stream)
    pieces = [f"{number}\n".encode() for number in range(1000)]
    assert all(writer.put(piece) for piece in pieces)
    assert writer.close(10.0)
    assert stream.content == b"".join(pieces)


def test_pieces_of_many_threads_never_interleave(start_child: StartChild) -> None:
    child = start_child(ECHO)
    received: list[bytes] = []
    reader = run_plain_thread(lambda: read_stream(child.stdout, received.append), "reader")
    writer = StreamWriter(child.stdin)
    lines = [bytes([letter]) * 1_000_000 + b"\n" for letter in b"abcd"]
    threads = [threading.Thread(target=writer.put, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert writer.close(30.0)
    assert reader.join(30.0)
    assert sorted(b"".join(received).splitlines(keepends=True)) == lines


def test_a_prompt_of_two_megabytes_is_written_whole_before_anything_closes(start_child: StartChild) -> None:
    child = start_child(COUNTS)
    writer = StreamWriter(child.stdin)
    writer.put(b"x" * 2_000_000)
    child.close(writer)
    assert (child.stdout.read() or b"").strip() == b"2000000"


def test_a_child_that_never_reads_does_not_block_the_caller(start_child: StartChild) -> None:
    child = start_child(NEVER_READS)
    writer = StreamWriter(child.stdin)
    started = time.monotonic()
    for _ in range(100):
        assert writer.put(b"x" * 100_000)
    assert time.monotonic() - started < 1.0
    assert writer.failed is None


def test_closing_gives_up_on_a_child_that_never_reads(start_child: StartChild) -> None:
    child = start_child(NEVER_READS)
    writer = StreamWriter(child.stdin)
    writer.put(b"x" * 10_000_000)
    started = time.monotonic()
    assert not writer.close(0.2)
    assert time.monotonic() - started < 3.0
    child.close(deadlines=QUICK)
    assert not writer.close(10.0)  # by now the thread is gone, and what was left is known as lost
    assert isinstance(writer.failed, OSError)


def test_a_reader_that_is_gone_is_remembered_not_raised(pipe: tuple[IO[bytes], IO[bytes]]) -> None:
    read_end, write_end = pipe
    read_end.close()
    writer = StreamWriter(write_end)
    writer.put(b"into the void")
    assert not writer.close(10.0)
    assert isinstance(writer.failed, OSError)
    assert not writer.put(b"more")


def test_nothing_is_taken_after_closing() -> None:
    stream = Kept()
    writer = StreamWriter(stream)
    writer.close(10.0)
    assert not writer.put(b"late")
    assert stream.content == b""


def test_closing_twice_is_closing_once() -> None:
    stream = Kept()
    writer = StreamWriter(stream)
    writer.put(b"once")
    assert writer.close(10.0)
    assert writer.close(10.0)
    assert stream.content == b"once"


def test_the_tail_keeps_the_last_whole_lines() -> None:
    tail = StderrTail(Pieces(b"first line\nsecond li", b"ne\nthird line\n"), max_bytes=25)
    assert tail.join(10.0)
    assert tail.text() == "second line\nthird line\n"


def test_the_tail_of_one_endless_line_is_its_end() -> None:
    tail = StderrTail(Pieces(b"x" * 100, b"the end"), max_bytes=10)
    assert tail.join(10.0)
    assert tail.text() == "xxxthe end"


def test_a_short_text_is_kept_whole_and_damaged_bytes_do_not_matter() -> None:
    tail = StderrTail(Pieces(b"caf\xe9\n", b"\xe6\xbc", b"\xa2"))
    assert tail.join(10.0)
    assert tail.text() == "caf�\n漢"


def test_a_failing_thread_is_logged_and_joined(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("thread broke")

    handle = run_plain_thread(fail, "doomed")
    assert handle.join(10.0)
    assert "the thread doomed failed" in caplog.text
    caplog.clear()


def test_joining_is_bounded() -> None:
    release = threading.Event()

    def wait() -> None:
        release.wait(30.0)

    handle = run_plain_thread(wait, "patient")
    assert not handle.join(0.05)
    release.set()
    assert handle.join(10.0)
