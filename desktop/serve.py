"""`handraise serve`: the local endpoint alone, for programs that only speak HTTP. Plain asyncio; no Qt.

Nobody sits before it, so what the model asks its user ends its request with an error that says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from desktop import logs
from desktop.demo import ROOT, stand_in
from desktop.hangup import is_unwanted
from desktop.paths import TOKEN_NAME, config_dir, data_dir, log_file
from desktop.settings_file import read_settings, with_git_bash
from protocol.chat_completions.backend import Backend
from protocol.chat_completions.claude_backend import ClaudeBackend, ClaudeOptions
from protocol.chat_completions.claude_cli import Launch, find_launch
from protocol.chat_completions.command_backend import CommandBackend
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.server import EndpointError, EndpointServer
from protocol.chat_completions.token_file import TokenError, TokenFile, without_token

STAND_IN = "fake_cli"
"""As the first word of `--command`: the bundled stand-in, wherever it lies."""
DEMO_MODEL = "cli-demo"
"""The model that the stand-in is."""
LOG_NAME = "handraise-serve.log"
"""Not the window's own file: two programs that rotate one file lose lines."""


@dataclass(frozen=True)
class ServeOptions:
    """What the command line says.

    Attributes:
        limits: the endpoint's port and limits.
        token_file: where the token lies; None for the window's own.
        backend: what answers.
        command: the program of the backend `command`, with its arguments.
        model_name: what its model is called, "" for a name made from the program's.
        tools_in: the folder in which the model of the backend `claude` has tools; None for none.
    """

    limits: EndpointOptions
    token_file: Path | None = None
    backend: Literal["claude", "command"] = "claude"
    command: tuple[str, ...] = ()
    model_name: str = ""
    tools_in: Path | None = None


def main(options: ServeOptions, env: Mapping[str, str] = os.environ) -> int:
    """Serve until a signal says stop; returns the exit code."""
    named = env.get("HANDRAISE_LOG") or str(log_file(env).with_name(LOG_NAME))
    logs.set_up({**env, "HANDRAISE_LOG": named})
    try:
        asyncio.run(_serve(options, env, sys.stdout))
    except (EndpointError, TokenError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Python must not try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print("Nobody reads the endpoint’s address, so it was ended. Start it with an open stdout.", file=sys.stderr)
        return 1
    finally:
        logs.close()
    return 0


async def _serve(options: ServeOptions, env: Mapping[str, str], out: TextIO) -> None:
    stop = asyncio.Event()
    _on_signals(stop.set)
    tokens = TokenFile(options.token_file or data_dir(env) / TOKEN_NAME)
    token = tokens.read_or_create()
    server = EndpointServer(make_backend(options, without_token(env, token)), options.limits, token)
    url = await server.start()
    try:
        print(json.dumps({"url": url, "token_file": str(tokens.path), "pid": os.getpid()}), file=out, flush=True)
        await stop.wait()
    finally:
        await server.stop()


def make_backend(options: ServeOptions, env: Mapping[str, str]) -> Backend:
    """What answers, by the command line and the settings."""
    if options.backend == "command":
        argv, child_env = _command(options.command, env)
        return CommandBackend(argv, options.model_name or _model_of(argv), child_env)
    settings = read_settings(config_dir(env))[0]

    def find() -> Launch:
        own = with_git_bash(env, settings.get("git_bash"))
        return find_launch(settings.get("claude") or None, own, keep_api_key=settings.get("keep_api_key") is True)

    return ClaudeBackend(find, ClaudeOptions(tools_in=options.tools_in, idle_timeout=options.limits.idle_timeout))


def _command(command: tuple[str, ...], env: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The program to start and its environment; the stand-in is found beside this package, installed or not."""
    if command[0] != STAND_IN:
        return command, dict(env)
    rest = command[1:] if "--one-shot" in command else ("--one-shot", *command[1:])
    path = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    return (*stand_in(), *rest), {**env, "PYTHONPATH": path}


def _model_of(argv: tuple[str, ...]) -> str:
    if "--one-shot" in argv and (STAND_IN in argv or "--fake-cli" in argv):
        return DEMO_MODEL
    return Path(argv[0]).stem or "command"


def _on_signals(stop: Callable[[], None]) -> None:
    """Let SIGTERM, Ctrl+C and the end of its terminal end it in an orderly way."""
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is None or is_unwanted(number):
            continue
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
