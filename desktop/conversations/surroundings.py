"""What a CLI is started with: which `claude`, in which environment, and what the person should know about both.

Everything here blocks (a login shell, `--version`), so it runs on threads, and is found once for all conversations.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from desktop import loop
from desktop.settings import SettingsStore
from desktop.settings_file import with_git_bash
from protocol import claude as cli
from protocol.claude import Claude, Login, Version
from protocol.process import ChildEnvironment

log = logging.getLogger("handraise.conversations")


@dataclass(frozen=True)
class Prepared:
    """Everything for a start.

    Attributes:
        claude: what to run.
        version: what it says it is.
        environment: the child's environment, and what was taken out of it.
    """

    claude: Claude
    version: Version
    environment: ChildEnvironment


@dataclass
class _Found:
    key: tuple[object, ...] = ()
    prepared: Prepared | None = None
    login_path: str | None = None
    asked_shell: bool = False
    login: Login | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Surroundings:
    """Finds the CLI, and remembers what it found until the settings change or a start fails.

    Attributes:
        environ: the environment of this program, or what a demo puts in its place.
        login: the login state as last read; None before that.
    """

    def __init__(self, settings: SettingsStore, environ: Mapping[str, str], platform: str = sys.platform) -> None:
        self.environ = dict(environ)
        self._settings = settings
        self._platform = platform
        self._found = _Found()

    @property
    def login(self) -> Login | None:
        return self._found.login

    def forget(self) -> None:
        """Look anew at the next start: something was installed, chosen, or signed in."""
        self._found.key = ()
        self._found.prepared = None
        self._found.login = None

    async def prepare(self) -> Prepared:
        """Find the CLI, or answer from what was found before.

        Raises:
            protocol.claude.ClaudeNotFound: there is none.
            protocol.claude.ClaudeBroken: there is one, and it does not say its version.
        """
        async with self._found.lock:
            settings = self._settings.settings
            key = (settings.claude, settings.keep_api_key, settings.git_bash)
            if self._found.prepared is None or self._found.key != key:
                self._found.prepared = await self._look()
                self._found.key = key
            return self._found.prepared

    async def read_login(self) -> Login:
        """Ask the CLI who is signed in, once; `forget` asks anew. Raises what `prepare` raises."""
        prepared = await self.prepare()
        if self._found.login is None:
            self._found.login = await loop.on_thread(cli.read_login, prepared.claude, prepared.environment.env)
        return self._found.login

    async def _look(self) -> Prepared:
        setting = self._settings.settings.claude or None
        env = with_git_bash(self.environ, self._settings.settings.git_bash, self._platform)
        if self._started_without_a_terminal() and (path := await self._shell_path()):
            # The CLI and its MCP servers need the PATH that they have in a terminal, wherever the CLI itself lies.
            env["PATH"] = path
        try:
            claude = await loop.on_thread(self._find, setting, env, None)
        except cli.ClaudeNotFound:
            # A program started from the Dock or a menu has no PATH of the person's own: the login shell knows it.
            login_path = await self._shell_path()
            if login_path is None:
                raise
            claude = await loop.on_thread(self._find, setting, env, login_path)
        environment = cli.claude_environment(claude, env, keep_api_key=self._settings.settings.keep_api_key)
        version = await loop.on_thread(cli.read_version, claude, environment.env)
        log.info("claude is %s (%s), version %s", claude.argv, claude.source, version)
        return Prepared(claude, version, environment)

    def _find(self, setting: str | None, env: Mapping[str, str], login_path: str | None) -> Claude:
        return cli.find_claude(setting=setting, env=env, platform=self._platform, login_path=login_path)

    def _ask_shell(self) -> str | None:
        return cli.login_shell_path(self.environ, platform=self._platform)

    async def _shell_path(self) -> str | None:
        if not self._found.asked_shell:
            self._found.login_path = await loop.on_thread(self._ask_shell)
            self._found.asked_shell = True
        return self._found.login_path

    def _started_without_a_terminal(self) -> bool:
        """Whether the PATH is the bare one of a desktop's launcher, so that the child needs the shell's as well."""
        return self._platform == "darwin" and not self.environ.get("TERM")
