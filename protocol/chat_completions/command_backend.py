"""Answers from any one-shot CLI: the conversation on its stdin, one JSON object or JSON lines on its stdout."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from protocol.chat_completions.backend import Caller, Event, Finished, Started, TextDelta
from protocol.chat_completions.claude_failures import unknown_model
from protocol.chat_completions.command_output import read_output
from protocol.chat_completions.errors import cli_failed
from protocol.chat_completions.prompt import as_text, render
from protocol.chat_completions.request import CompletionRequest
from protocol.jobs import run_job, settled
from protocol.process import CliProcess, Ladder, StartError
from protocol.pump import StderrTail, StreamWriter, read_stream, run_plain_thread

MOST_BYTES: Final = 16 * 1024 * 1024
"""Of what a CLI prints; one that prints more is ended."""

_ENDING: Final = Ladder(eof=0.0, term=1.0, kill=2.0)
_PIPE_ENDS: Final = 0.3
_READER_ENDS: Final = 5.0
_PREFIX: Final = "handraise-"


class CommandBackend:
    """The backend `command`: see `protocol.chat_completions.backend.Backend`.

    The program is started without a shell, once for each request, and never told anything by its arguments. It reads
    the conversation from stdin until its end, prints, and exits with code 0. Its stderr is read and thrown away.
    """

    def __init__(
        self,
        argv: Sequence[str],
        model_name: str,
        env: Mapping[str, str],
        cwd: Path | None = None,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """A program for one model.

        Args:
            argv: the program and its arguments, always the same.
            model_name: the one model that there is.
            env: the whole environment of the program.
            cwd: where it runs; by default each time in an empty folder that is removed afterwards.
            most_bytes: how much it may print.
        """
        self._argv = tuple(argv)
        self._model = model_name
        self._env = dict(env)
        self._cwd = cwd
        self._most = most_bytes
        self._runs: set[_Run] = set()

    @property
    def supports(self) -> frozenset[str]:
        """Text, and nothing else."""
        return frozenset()

    async def start(self) -> None:
        """Nothing is kept ready: such a program begins with its input."""

    async def models(self) -> tuple[str, ...]:
        """The one name."""
        return (self._model,)

    async def close(self) -> None:
        """End what still runs."""
        for run in list(self._runs):
            await run.close()

    async def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        """The answer, all at once when the program has ended. Raises ApiError."""
        if request.model != self._model:
            raise unknown_model(request.model)
        prompt = as_text(render(request)).encode("utf-8")
        run = _Run(self._argv, self._env, self._cwd, self._most)
        self._runs.add(run)
        try:
            output = read_output(await run.output(prompt))
            yield Started()
            yield TextDelta(output.text)
            yield Finished(output.reason, output.usage)
        finally:
            try:
                await run.close()
            finally:
                self._runs.discard(run)


class _Run:
    """One process, from its start to the end of its tree."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path | None, most: int) -> None:
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._too_much: asyncio.Future[None] = self._loop.create_future()
        self._starting: asyncio.Future[_Process] | None = None
        self._ending: asyncio.Task[None] | None = None

    async def output(self, prompt: bytes) -> bytes:
        """What it prints when it is given that. Raises ApiError."""
        self._starting = run_job(self._loop, self._start, "command start")
        try:
            process = await asyncio.shield(self._starting)
        except (StartError, OSError):
            raise cli_failed("The CLI could not be started.", "cli_not_started") from None
        process.tell(prompt)
        over = run_job(self._loop, process.until_end, "command wait")
        waiting: set[asyncio.Future[Any]] = {over, self._too_much}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self._too_much.done():
            raise cli_failed("The CLI printed more than can be taken.", "too_much_output")
        code, complete = over.result()
        if code != 0:
            raise cli_failed(
                "The CLI failed." if code is None or code < 0 else f"The CLI failed with exit code {code}."
            )
        if not complete:  # something that it started holds the pipe open
            await self.close()
        return bytes(self._received)

    async def close(self) -> None:
        """End what runs of it. However often the caller is cancelled meanwhile: then all of it is gone."""
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(), name="end of a one-shot CLI")
        if await settled(self._ending):
            raise asyncio.CancelledError
        self._ending.result()

    async def _end(self) -> None:
        if self._starting is None:
            return
        await asyncio.wait([self._starting])
        if not self._starting.cancelled() and self._starting.exception() is None:
            await run_job(self._loop, self._starting.result().close, "command close")

    def _start(self) -> _Process:
        folder = None
        if self._cwd is None:
            folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        try:
            cli = CliProcess.start(self._argv, Path(folder.name) if folder else self._cwd or Path(), self._env)
        except BaseException:
            if folder is not None:
                folder.cleanup()
            raise
        return _Process(cli, folder, self._keep)

    def _keep(self, data: bytes) -> None:
        """On the reader's thread. What is too much is read all the same, for the program could not be ended else."""
        if len(self._received) + len(data) <= self._most:
            self._received.extend(data)
            return
        self._most = 0
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(_set, self._too_much)


class _Process:
    """The process, its folder, and the threads at its pipes. Everything but `tell` blocks."""

    def __init__(
        self, cli: CliProcess, folder: tempfile.TemporaryDirectory[str] | None, keep: Callable[[bytes], None]
    ) -> None:
        self.cli = cli
        self._folder = folder
        self._writer = StreamWriter(cli.stdin, name="command stdin")
        self._tail = StderrTail(cli.stderr, 1, name="command stderr")
        self._reader = run_plain_thread(lambda: read_stream(cli.stdout, keep), "command stdout")

    def tell(self, prompt: bytes) -> None:
        """Write that to its stdin and close it, in the background: it may print before it reads, or never read."""
        self._writer.put(prompt)
        run_plain_thread(self._close_stdin, "command stdin closer")

    def _close_stdin(self) -> None:
        self._writer.close(threading.TIMEOUT_MAX)

    def until_end(self) -> tuple[int | None, bool]:
        """Wait for its exit; the return code, and whether all that it printed was read."""
        code = self.cli.wait()
        return code, self._reader.join(_PIPE_ENDS)

    def close(self) -> None:
        """End the tree, take what is still in the pipe, and remove the folder."""
        self.cli.close(self._writer, _ENDING, tail=self._tail)
        self._reader.join(_READER_ENDS)
        if self._folder is not None:
            self._folder.cleanup()


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
