"""How to start a CLI for a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from protocol.process import Ladder


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How to start a CLI.

    Attributes:
        argv: the CLI itself, for example `Claude.argv`; the protocol's own flags are added.
        cwd: the folder to work in.
        env: the whole environment of the child; see `child_environment`.
        model, permission_mode: for `--model` and `--permission-mode`; None leaves it to the CLI.
        resume: the id of the conversation to go on with; `fork` goes on in a copy of it.
        add_dirs: more folders it may work in.
        extra_args: flags passed on as they are.
        title: a name for the conversation, told in the handshake.
        handshake_timeout, request_timeout, interrupt_timeout: seconds until the CLI counts as silent.
        ladder: seconds for each step of an ending.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    model: str | None = None
    permission_mode: str | None = None
    resume: str | None = None
    fork: bool = False
    add_dirs: tuple[Path, ...] = ()
    extra_args: tuple[str, ...] = ()
    title: str | None = None
    handshake_timeout: float = 60.0
    request_timeout: float = 30.0
    interrupt_timeout: float = 5.0
    ladder: Ladder = field(default_factory=Ladder)

    def command(self) -> list[str]:
        """The whole command line."""
        command = list(self.argv)
        if self.add_dirs:  # takes every word up to the next flag, so one of ours has to follow
            command += ["--add-dir", *map(str, self.add_dirs)]
        command += ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        command += ["--permission-prompt-tool", "stdio", "--include-partial-messages"]
        if self.model is not None:
            command += ["--model", self.model]
        if self.permission_mode is not None:
            command += ["--permission-mode", self.permission_mode]
        if self.resume is not None:
            command += ["--resume", self.resume, *(["--fork-session"] if self.fork else [])]
        return [*command, *self.extra_args]
