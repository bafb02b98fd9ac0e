"""Asking a CLI for its version and its login, and a login shell for its PATH. Everything here blocks."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from protocol.claude.locating import Claude, ClaudeNotFound, find_claude
from protocol.process import ChildEnvironment, CliProcess, Exit, Ladder, StartError, child_environment
from protocol.pump import StderrTail, read_stream, run_plain_thread
from protocol.words import Sentence

MINIMUM_FOR_QUESTIONS = (2, 0, 71)
"""The oldest CLI that offers AskUserQuestion to a host over stdio."""

_MAX_OUTPUT = 1_000_000
_ENDING = Ladder(eof=0.0, term=1.0, kill=2.0)
_MARKER = "__handraise_path__"
_KEYCHAIN = re.compile(
    r"unlock-keychain|unlock your keychain|keychain (?:is|may be) (?:locked|unreadable)"
    r"|(?:could not read|(?:can['’]t|could not) save to) the (?:macOS )?keychain"
    r"|errSec(?:InteractionNotAllowed|AuthFailed)|User interaction is not allowed",
    re.IGNORECASE,
)
"""What the CLI, and macOS' own program `security`, print when the Keychain is locked or refuses."""
_SECRET = re.compile(r"token|secret|key$|password|credential", re.IGNORECASE)


SENTENCES: Final = {
    "no version in time": "{claude} did not say its version within {seconds} seconds.",
    "failed": "{claude} cannot be used: asked for its version, it failed.",
    "failed and ended": "{reason} ({end})",
    "not Claude": "{claude} does not seem to be Claude Code: its version is “{version}”.",
    "too old": "Claude Code {version} is too old to ask you questions; you can still chat. "
    "Update it to {minimum} or newer: claude update",
    "no login in time": "Claude did not say who is signed in within {seconds} seconds.",
    "no login": "Claude did not say who is signed in.",
    "no Git Bash": "Claude Code on Windows needs Git Bash. Install Git for Windows, or set "
    "CLAUDE_CODE_GIT_BASH_PATH to its bash.exe.",
    "Keychain": "The macOS Keychain did not let Claude read or save its login. Unlock it (in a terminal: security "
    "unlock-keychain), allow the access if macOS asks, then try again.",
    "no node": "Claude Code needs node, which was not found. Install Node.js, or Claude Code's own native version.",
}
"""What a CLI that was asked about itself did wrong, as templates for a translator's catalogue."""


def _sentence(what: str, **values: object) -> Sentence:
    return Sentence(SENTENCES[what], {name: str(value) for name, value in values.items()})


class ClaudeBroken(Exception):  # noqa: N818 — the name says what is the matter
    """The program cannot be used as the CLI. The text is a sentence; `detail` is what it printed about it."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail.strip()


class Version(NamedTuple):
    """A version of the CLI; compares with tuples: `version >= (2, 0, 71)`."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class Login:
    """Who is signed in, as the CLI says. No token is ever part of it.

    `logged_in` is None where it cannot be told: the CLI is too old to be asked, or `problem` says what went wrong. With
    False, `problem` may say why nobody seems to be signed in.
    `auth_method` is the CLI's word: "claude.ai", "oauth_token", "api_key", "none", …
    """

    logged_in: bool | None
    auth_method: str = ""
    api_provider: str = ""
    email: str = ""
    organization: str = ""
    subscription: str = ""
    problem: str = ""
    raw: dict[str, Any] = field(default_factory=dict)


def find_claude_or_ask_shell(*, setting: str | Sequence[str] | None, env: Mapping[str, str]) -> Claude:
    """`find_claude`; where that finds nothing, once more with the PATH of the login shell (seconds at worst).

    Raises:
        ClaudeNotFound: as `find_claude` does.
    """
    try:
        return find_claude(setting=setting, env=env)
    except ClaudeNotFound:
        login_path = login_shell_path(env)
        if login_path is None:
            raise
        return find_claude(setting=setting, env=env, login_path=login_path)


def claude_environment(claude: Claude, env: Mapping[str, str], *, keep_api_key: bool = False) -> ChildEnvironment:
    """The environment in which that CLI runs: what `child_environment` makes of `env`, with the PATH that it needs."""
    own = {**env, "PATH": claude.child_path} if claude.child_path else env
    return child_environment(own, keep_api_key=keep_api_key)


def read_version(claude: Claude, env: Mapping[str, str], timeout: float = 15.0) -> Version:
    """Run `claude --version`, for at most `timeout` seconds.

    Raises:
        ClaudeBroken: it does not start, fails, hangs, or prints something that is no version of Claude Code.
    """
    try:
        output = _run([*claude.argv, "--version"], env, timeout)
    except StartError as error:
        raise ClaudeBroken(error.sentence) from error
    if output.timed_out:
        raise ClaudeBroken(_sentence("no version in time", claude=claude, seconds=f"{timeout:g}"), output.everything)
    if output.exit.code != 0:
        why = explain_failure(output.everything) or _sentence("failed", claude=claude)
        both = Sentence(SENTENCES["failed and ended"], {"reason": why, "end": output.exit.sentence})
        raise ClaudeBroken(both, output.everything)
    found = re.search(r"^(\d+)\.(\d+)\.(\d+)\b", output.stdout, re.MULTILINE)
    if found is None:
        said = output.stdout.strip().split("\n")[0][:80]
        raise ClaudeBroken(_sentence("not Claude", claude=claude, version=said), output.everything)
    return Version(*map(int, found.groups()))


def explain_version(version: tuple[int, int, int]) -> Sentence | None:
    """What the user should know about a version that is too old for questions; None for all others."""
    if tuple(version) >= MINIMUM_FOR_QUESTIONS:
        return None
    minimum = ".".join(map(str, MINIMUM_FOR_QUESTIONS))
    return _sentence("too old", version=".".join(map(str, version)), minimum=minimum)


def read_login(claude: Claude, env: Mapping[str, str], timeout: float = 20.0) -> Login:
    """Ask the CLI who is signed in; never raises.

    A CLI without the command `auth` (2.0.x) takes these words for a prompt and would run a turn with them, so its
    help is asked first. `timeout` is for each of the two.
    """
    try:
        help_text = _run([*claude.argv, "auth", "--help"], env, timeout).stdout
        if not re.search(r"^\s*status\b", help_text, re.MULTILINE):
            return Login(None)
        output = _run([*claude.argv, "auth", "status"], env, timeout)
    except StartError as error:
        return Login(None, problem=error.sentence)
    if output.timed_out:
        return Login(None, problem=_sentence("no login in time", seconds=f"{timeout:g}"))
    status = _object_in(output.stdout)
    if status is None or not isinstance(status.get("loggedIn"), bool):
        problem = explain_failure(output.everything) or _sentence("no login")
        return Login(None, problem=problem, raw=status or {})
    refused = not status["loggedIn"] and _KEYCHAIN.search(output.everything)
    return Login(
        status["loggedIn"],
        problem=_sentence("Keychain") if refused else "",
        auth_method=_text(status, "authMethod"),
        api_provider=_text(status, "apiProvider"),
        email=_text(status, "email"),
        organization=_text(status, "orgName", "organization"),
        subscription=_text(status, "subscriptionType"),
        raw=status,
    )


def login_shell_path(env: Mapping[str, str], timeout: float = 5.0, platform: str = sys.platform) -> str | None:
    """The PATH that the user's login shell sets up; None on Windows, or when the shell does not say in time.

    The shell's start-up files may print anything, so the answer stands between markers.
    """
    if platform == "win32":  # Git Bash sets SHELL there, and its PATH is none that Windows can read
        return None
    shell = env.get("SHELL") or _shell_of_the_user()
    if not shell or not os.path.isabs(shell):
        return None
    # csh takes -l alone only, and reads its start-up file in any case.
    options = () if os.path.basename(shell) in ("csh", "tcsh") else ("-i", "-l")
    script = f"printf %s {_MARKER}; printenv PATH; printf %s {_MARKER}"
    quiet = {
        "TERM": "dumb",
        "DISABLE_AUTO_UPDATE": "true",  # oh-my-zsh asks a question otherwise
        "ZSH_TMUX_AUTOSTART": "false",
        "HANDRAISE_READS_PATH": "1",  # for start-up files that want to know
    }
    try:
        # What start-up files leave in the background (ssh-agent, gpg-agent) is the user's own.
        output = _run([shell, *options, "-c", script], {**env, **quiet}, timeout, detached_too=False)
    except StartError:
        return None
    found = re.search(f"{_MARKER}(.*?)\r?\n?{_MARKER}", output.stdout, re.DOTALL)
    return found[1] or None if found else None


def explain_failure(text: str) -> Sentence | None:
    """A sentence for what a CLI prints when a part of its world is missing; None for anything else."""
    if needs_git_bash(text):
        return _sentence("no Git Bash")
    if re.search(r"\bnode['’]?: (No such file|not found|command not found)|exec: node: not found", text):
        return _sentence("no node")
    if _KEYCHAIN.search(text):
        return _sentence("Keychain")
    return None


def needs_git_bash(text: str) -> bool:
    """Whether a CLI says that it found no Git Bash, or none where it was told to look."""
    return re.search(r"git-?bash|CLAUDE_CODE_GIT_BASH_PATH", text, re.IGNORECASE) is not None


@dataclass(frozen=True)
class _Output:
    stdout: str
    exit: Exit
    timed_out: bool

    @property
    def everything(self) -> str:
        return f"{self.stdout}\n{self.exit.stderr_tail}".strip()


def _run(argv: Sequence[str], env: Mapping[str, str], timeout: float, *, detached_too: bool = True) -> _Output:
    """Run a command with nothing to read, and end its whole tree at the deadline. Raises StartError."""
    process = CliProcess.start(argv, _harmless_folder(env), env, detached_too=detached_too)
    received = bytearray()

    def keep(data: bytes) -> None:
        received.extend(data[: _MAX_OUTPUT - len(received)])

    reader = run_plain_thread(lambda: read_stream(process.stdout, keep), "stdout reader")
    tail = StderrTail(process.stderr)
    process.stdin.close()
    timed_out = process.wait(timeout) is None
    ended = process.close(deadlines=_ENDING, tail=tail)
    reader.join(1.0)
    return _Output(bytes(received).decode("utf-8", errors="replace"), ended, timed_out)


def _harmless_folder(env: Mapping[str, str]) -> Path:
    """Not the app's folder: a project's own settings must not have a say here."""
    home = Path(env.get("HOME") or env.get("USERPROFILE") or tempfile.gettempdir())
    return home if home.is_absolute() and home.is_dir() else Path(tempfile.gettempdir())


def _shell_of_the_user() -> str:
    if os.name == "nt":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object in a text that may have lines around it, without anything that may be a credential."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except ValueError:
        return None
    return {name: entry for name, entry in value.items() if not _SECRET.search(name)}


def _text(status: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := status.get(name), str)), "")
