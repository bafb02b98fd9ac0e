"""`python -m fake_cli`: takes the same arguments as `claude`, and a few of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fake_cli import harms
from fake_cli.arguments import Arguments, UsageError, parse
from fake_cli.one_shot import run_one_shot
from fake_cli.output import Output, TrafficLog, binary_pipes, write_stderr
from fake_cli.print_mode import run_print_mode
from fake_cli.scenario import Scenario, ScenarioError, load
from fake_cli.session import Session
from fake_cli.steps import KINDS

AUTH_HELP = """\
Usage: claude auth [options] [command]

Manage authentication

Options:
  -h, --help        Display help for command

Commands:
  help [command]    display help for command
  login [options]   Sign in to your Anthropic account
  logout [options]  Log out from your Anthropic account
  status [options]  Show authentication status"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the stand-in; returns the exit code: the real CLI's ones, 2 for a wrong scenario, 3 for a wrong host."""
    words = list(sys.argv[1:] if argv is None else argv)
    binary_pipes()
    try:
        arguments = parse(words)
        if arguments.has("--one-shot"):
            return run_one_shot(arguments)
        log = TrafficLog(Path(arguments.values["--log"])) if "--log" in arguments.values else None
        if log:
            log.start(words)
        if arguments.has("--version"):
            return _say(f"{arguments.get('--fake-version')} (Claude Code)")
        if arguments.words[:1] == ["auth"]:
            return _auth(arguments)
        scenario = _scenario(arguments)
    except UsageError as error:
        write_stderr(f"{error}\n")
        return 1
    except ScenarioError as error:
        write_stderr(f"{error}\n")
        return 2
    session = Session(arguments, scenario, Output(log=log), log)
    if "ignore-sigterm" not in session.harms:
        harms.handle_signals()
    code = harms.start(session)
    if code is not None:
        return code
    if arguments.get("--input-format") != "stream-json":
        return run_print_mode(session)
    return asyncio.run(session.run())


def _scenario(arguments: Arguments) -> Scenario:
    path = arguments.get("--scenario")
    return load(Path(path), KINDS) if path else Scenario()


def _auth(arguments: Arguments) -> int:
    """`auth status` prints JSON, rc 1 when signed out; login and logout say that they did nothing."""
    command = arguments.words[1] if len(arguments.words) > 1 else "help"
    if command == "help" or arguments.has("--help"):
        return _say(AUTH_HELP)
    if command != "status":
        return _say(f"The stand-in has nothing to do for auth {command}.")
    signed_in = os.environ.get("FAKE_CLI_SIGNED_IN", "1") != "0"
    status = {
        "loggedIn": signed_in,
        "authMethod": "claude.ai" if signed_in else "none",
        "apiProvider": "firstParty",
        **({"email": "you@example.com", "orgName": "Example", "subscriptionType": "max"} if signed_in else {}),
    }
    _say(json.dumps(status, indent=2))
    return 0 if signed_in else 1


def _say(text: str) -> int:
    Output().line(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
