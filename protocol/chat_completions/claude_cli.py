"""One CLI process for one completion: how it is started, in which folder, and what it says."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from protocol.chat_completions.errors import ApiError
from protocol.claude import Claude, ClaudeBroken, claude_environment, find_claude_or_ask_shell, read_version
from protocol.conversation import Change
from protocol.jobs import run_job, settled
from protocol.options import SessionOptions
from protocol.process import Ladder
from protocol.session import Session

log = logging.getLogger(__name__)

MINIMUM: Final = (2, 1, 248)
"""The oldest CLI that takes a text literally (`client_composed`). Older ones read the files that a text names with @
and run its /commands, so whoever may send a text could read any file."""

_PLAIN: Final = (
    *("--tools", ""),
    *("--setting-sources", ""),
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
)
_WITH_TOOLS: Final = ("--setting-sources", "user", "--no-session-persistence")
"""Not the folder's settings: its hooks and tool servers would run unasked, and its rules would allow tools."""

AFTER_AN_ANSWER: Final = Ladder(eof=2.0, term=1.0, kill=2.0)
IN_THE_MIDDLE: Final = Ladder(eof=0.0, term=1.0, kill=2.0)
"""A CLI whose stdin ends first finishes its turn, which nobody wants any more; so it is told to end at once."""

_LONGER_THAN_ANYBODY_WAITS: Final = 3600.0
"""Seconds; the one deadline for all that comes before the prompt is the backend's."""

_PREFIX: Final = "handraise-"


@dataclass(frozen=True)
class Launch:
    """Which CLI to start.

    Attributes:
        argv: the CLI itself; flags are added.
        env: its whole environment, see `protocol.process.child_environment`.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)


FindLaunch = Callable[[], Launch]
"""Finds the CLI anew for each process, on a thread, so it may block. Raises ClaudeNotFound."""


def find_launch(setting: str | Sequence[str] | None, env: Mapping[str, str], *, keep_api_key: bool = False) -> Launch:
    """The same CLI and environment as the window's.

    Args:
        setting: the CLI that the user chose, None to look for it.
        env: the environment of this process.
        keep_api_key: whether the user wants an API key of the environment to be used, and paid.

    Raises:
        ClaudeNotFound: there is none.
    """
    claude = find_claude_or_ask_shell(setting=setting, env=env)
    return Launch(claude.argv, claude_environment(claude, env, keep_api_key=keep_api_key).env)


@dataclass(frozen=True, slots=True)
class Failure:
    """Something beside the CLI that ends the answer, put among what the CLI says."""

    error: ApiError


Heard = Mapping[str, Any] | Sequence[Change] | Failure
"""A message of the CLI's as it came, what changed in the conversation, or a failure."""


class Cli:
    """A CLI that answers once.

    Attributes:
        session: its session; use `spawn()` and `close()` of this class instead of the session's.
        launch: how it was started, once it was.
        folder: where it works.
        heard: what it said and what changed by it, in order.
        heard_at: when it last said something that is a message, by the loop's clock.
    """

    def __init__(self, find: FindLaunch, tools_in: Path | None) -> None:
        self.heard: asyncio.Queue[Heard] = asyncio.Queue()
        self.heard_at = 0.0
        self.session: Session | None = None
        self.launch = Launch((), {})
        self._find = find
        self._tools_in = tools_in
        self._loop = asyncio.get_running_loop()
        self._own_folder: tempfile.TemporaryDirectory[str] | None = None
        self._spawning: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        """The working folder, absolute."""
        return self._tools_in if self._tools_in is not None else Path(self._own_folder.name)  # type: ignore[union-attr]

    @property
    def alive(self) -> bool:
        """Whether it runs, or is just being started."""
        if self._closing is not None or self._spawning is None:
            return False
        if not self._spawning.done():
            return True
        return self.session is not None and self.session.alive

    async def spawn(self) -> None:
        """Start the process, or wait for the start that is going on.

        Raises:
            ClaudeNotFound, SessionError, OSError: it could not be started.
        """
        if self._spawning is None:
            self._spawning = self._loop.create_task(self._spawn(), name="start of an endpoint's CLI")
            self._spawning.add_done_callback(_look_at)
        await asyncio.shield(self._spawning)

    async def _spawn(self) -> None:
        self.launch, self._own_folder = await run_job(self._loop, self._prepare, "claude lookup")
        launch = self.launch
        options = SessionOptions(
            argv=launch.argv,
            cwd=self.folder,
            env=launch.env,
            permission_mode=None if self._tools_in is None else "default",
            extra_args=_PLAIN if self._tools_in is None else _WITH_TOOLS,
            handshake_timeout=_LONGER_THAN_ANYBODY_WAITS,
            ladder=IN_THE_MIDDLE,
        )
        self.session = Session(options, on_changes=self.heard.put_nowait, log=self._hear)
        await self.session.spawn()

    async def version(self) -> str:
        """What the program says when it is asked for its version, "" where that is no version. Only where it runs."""
        claude, env = Claude(self.launch.argv, "endpoint"), self.launch.env
        try:
            return str(await run_job(self._loop, lambda: read_version(claude, env), "claude version"))
        except ClaudeBroken:
            return ""

    async def ended(self) -> None:
        """Wait until the process has ended by itself. Only where it was started."""
        assert self.session is not None
        await self.session.wait_closed()

    def _prepare(self) -> tuple[Launch, tempfile.TemporaryDirectory[str] | None]:
        launch = self._find()
        if self._tools_in is not None:
            return launch, None
        return launch, tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)

    def _hear(self, direction: Literal["in", "out"], message: Mapping[str, Any]) -> None:
        if direction == "in" or "damaged" in message or message.get("type") == "keep_alive":
            return
        self.heard_at = self._loop.time()
        self.heard.put_nowait(message)

    async def close(self, ladder: Ladder) -> None:
        """End it and everything that it started, and remove its folder. May be called again.

        However often the caller is cancelled meanwhile: when this returns or raises, all of it is gone.
        """
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(ladder), name="end of an endpoint's CLI")
        if await settled(self._closing):
            raise asyncio.CancelledError
        self._closing.result()

    async def _close(self, ladder: Ladder) -> None:
        if self._spawning is not None:
            await asyncio.wait([self._spawning])
        if self.session is not None:
            await self.session.close(ladder)
        if self._own_folder is not None:
            await run_job(self._loop, self._own_folder.cleanup, "folder cleanup")


def _look_at(task: asyncio.Task[None]) -> None:
    """Whoever takes the CLI is told; a start that nobody waited for is no lost exception."""
    with contextlib.suppress(asyncio.CancelledError):
        task.exception()
