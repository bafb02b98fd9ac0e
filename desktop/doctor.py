"""`handraise doctor`: what was found on this computer, and whether Handraise can work with it. No Qt."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop import __version__
from desktop.paths import config_dir, data_dir, log_file
from desktop.settings_file import read_settings, with_git_bash
from protocol.claude import (
    Claude,
    ClaudeBroken,
    ClaudeNotFound,
    Login,
    Version,
    explain_version,
    find_claude_or_ask_shell,
    read_login,
    read_version,
)
from protocol.process import ChildEnvironment, child_environment

_PACKAGES = ("PySide6-Essentials", "qasync", "pydantic", "aiohttp", "psutil")


@dataclass
class DoctorReport:
    """What was found.

    `problems` prevent work, `notes` are good to know; both are sentences. `claude`, `version` and `login` are None
    where there was nothing to find or to ask.
    """

    environment: ChildEnvironment
    config: Path
    data: Path
    log: Path
    claude: Claude | None = None
    version: Version | None = None
    login: Login | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether Handraise can work."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "ok": self.ok,
            "problems": self.problems,
            "notes": self.notes,
            "handraise": __version__,
            "python": platform.python_version(),
            "system": platform.platform(),
            "packaged": bool(getattr(sys, "frozen", False)),
            "packages": _packages(),
            "claude": self._claude_as_json(),
            "login": self._login_as_json(),
            "environment": {"removed": list(self.environment.removed), "notable": self.environment.notable},
            "folders": {"config": str(self.config), "data": str(self.data)},
            "log": str(self.log),
        }

    def as_text(self) -> str:
        """The report for people."""
        lines = [f"Handraise {__version__} (Python {platform.python_version()}, {platform.platform()})", ""]
        lines += [f"{name + ':':<13}{value}" for name, value in self._rows()]
        lines += [f"\nNote: {note}" for note in self.notes]
        lines += [f"\nProblem: {problem}" for problem in self.problems]
        if self.ok:
            lines.append("\nHandraise can work with this.")
        return "\n".join(lines)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("Claude", self._claude_as_text()), ("Login", self._login_as_text())]
        rows += [("Removed", name) for name in self.environment.removed]
        rows += [("Passed on", f"{name}={value}") for name, value in self.environment.notable.items()]
        return [*rows, ("Settings", str(self.config)), ("Data", str(self.data)), ("Log", str(self.log))]

    def _claude_as_text(self) -> str:
        if self.claude is None:
            return "not found"
        version = f"version {self.version}" if self.version is not None else "version unknown"
        return f"{self.claude} ({self.claude.source}), {version}"

    def _login_as_text(self) -> str:
        if self.login is None or self.login.logged_in is None:
            return "unknown"
        if not self.login.logged_in:
            return "signed out"
        parts = (self.login.auth_method, self.login.subscription, self.login.organization)
        how = ", ".join(part for part in parts if part)
        return " ".join(filter(None, ("signed in", self.login.email and f"as {self.login.email}", how and f"({how})")))

    def _claude_as_json(self) -> dict[str, Any] | None:
        if self.claude is None:
            return None
        return {
            "path": self.claude.argv[0],
            "argv": list(self.claude.argv),
            "source": self.claude.source,
            "version": str(self.version) if self.version is not None else None,
        }

    def _login_as_json(self) -> dict[str, Any] | None:
        if self.login is None:
            return None
        return {
            "logged_in": self.login.logged_in,
            "auth_method": self.login.auth_method,
            "api_provider": self.login.api_provider,
            "email": self.login.email,
            "organization": self.login.organization,
            "subscription": self.login.subscription,
        }


def report(env: Mapping[str, str] = os.environ) -> DoctorReport:
    """Look at everything. Runs the CLI up to three times, so it takes seconds; changes nothing."""
    settings, problem = read_settings(config_dir(env))
    own = with_git_bash(env, settings.get("git_bash"))
    environment = child_environment(own, keep_api_key=settings.get("keep_api_key") is True)
    found = DoctorReport(environment, config_dir(env), data_dir(env), log_file(env))
    if problem:
        found.notes.append(problem)
    _look_at_environment(found)
    _look_for_claude(found, settings.get("claude") or None, env)
    for folder in (found.config, found.data, found.log.parent):
        _look_at_folder(found, folder)
    return found


def main(json_output: bool = False) -> int:
    """Print the report; 0 when Handraise can work, 1 when a problem prevents it."""
    found = report()
    text = json.dumps(found.as_json(), indent=2) if json_output else found.as_text()
    if sys.stdout is not None:  # a packaged app without a console has none
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "replace").decode(encoding))
    return 0 if found.ok else 1


def _look_at_environment(found: DoctorReport) -> None:
    for name in found.environment.removed:
        if name.startswith("ANTHROPIC_"):
            found.notes.append(
                f"{name} is set here, and Claude will not get it: it would bill the API instead of your subscription. "
                "A setting passes it on."
            )


def _look_for_claude(found: DoctorReport, setting: Any, env: Mapping[str, str]) -> None:
    try:
        found.claude = find_claude_or_ask_shell(setting=setting, env=env)
    except ClaudeNotFound as error:
        found.problems.append(str(error))
        return
    child = dict(found.environment.env)
    if found.claude.child_path:
        child["PATH"] = found.claude.child_path
    try:
        found.version = read_version(found.claude, child)
    except ClaudeBroken as error:
        found.problems.append(f"{error}\n{error.detail}" if error.detail else str(error))
        return
    if too_old := explain_version(found.version):
        found.notes.append(too_old)
    found.login = read_login(found.claude, child)
    if found.login.logged_in is False:
        found.problems.append("You are not signed in to Claude. Sign in with: claude auth login")
    if found.login.problem:
        found.notes.append(found.login.problem)


def _look_at_folder(found: DoctorReport, folder: Path) -> None:
    """A folder that is there, or can be made, and written to."""
    existing = folder
    # Not the methods of `Path`: they raise where a folder on the way may not be entered.
    while not os.path.exists(existing) and existing != existing.parent:
        existing = existing.parent
    if not os.path.isdir(existing):
        sentence = f"{folder} cannot be used: {existing} is not a folder."
    elif not os.access(existing, os.W_OK | os.X_OK):
        sentence = f"{folder} cannot be written to."
    else:
        return
    if sentence not in found.problems:
        found.problems.append(sentence)


def _packages() -> dict[str, str]:
    """Versions of what matters in a report; a packaged app does not know them."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
