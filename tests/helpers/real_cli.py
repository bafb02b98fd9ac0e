"""Finds and installs the pinned `claude` versions, and makes the clean environment in which tests run them.

    python -m tests.helpers.real_cli            installs every pinned version into the cache and prints where
    python -m tests.helpers.real_cli 2.1.332    that one

The cache is `$HANDRAISE_TEST_CACHE`, or `~/.cache/handraise-ci`; a version lives in `claude/<version>` below it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
VERSIONS_FILE = Path(__file__).resolve().parents[1] / "real_cli" / "versions.txt"
INSTALL_SECONDS = 600

# Read at once: tests give this process another HOME, and must not then install everything anew below it.
_CACHE = Path(os.environ.get("HANDRAISE_TEST_CACHE") or Path.home() / ".cache" / "handraise-ci")

# What a person's shell would have, and no more: nothing that logs in, and nothing of a session that runs these tests.
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USER", "LOGNAME")
MARK = "HANDRAISE_TEST_MARK"


class CannotInstallError(Exception):
    """The pinned CLI is not here and cannot be fetched; the text says why."""


def pinned_versions() -> tuple[str, ...]:
    """The versions of the CLI that the tests run, oldest first: the lines of the one file that names them."""
    return tuple(VERSIONS_FILE.read_text(encoding="utf-8").split())


def cache_folder() -> Path:
    return _CACHE


def is_required() -> bool:
    """True where a missing CLI must fail the tests instead of skipping them."""
    return os.environ.get("HANDRAISE_REQUIRE_REAL_CLI", "") not in ("", "0")


def executable(version: str) -> Path:
    name = "claude.cmd" if sys.platform == "win32" else "claude"
    return cache_folder() / "claude" / version / "node_modules" / ".bin" / name


def install(version: str) -> Path:
    """The path of that version's `claude`, fetched with npm unless the cache has it. Raises CannotInstallError.

    Two runs at once are safe: one installs under a lock, into a folder of its own that is renamed when complete.
    """
    target = executable(version)
    if target.exists():
        return target
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise CannotInstallError(f"claude {version} is not in {cache_folder()}, and npm or node is not installed")
    root = cache_folder() / "claude"
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / ".lock"):
        if not target.exists():
            _fetch(npm, version, root)
    if not target.exists():
        raise CannotInstallError(f"npm installed {PACKAGE}@{version}, but it holds no {target.name}")
    return target


def _fetch(npm: str, version: str, root: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=root) as folder:
        fresh = Path(folder) / version
        fresh.mkdir()
        command = [npm, "install", "--prefix", str(fresh), "--no-audit", "--no-fund", "--no-progress"]
        command += ["--loglevel=error", f"{PACKAGE}@{version}"]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise CannotInstallError(f"npm could not install {PACKAGE}@{version}:\n{done.stdout}\n{done.stderr}")
        broken = root / version
        if broken.exists():  # left by an installation that was cut off before it was renamed into place
            shutil.rmtree(broken)
        fresh.rename(broken)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of that file; another process waits for it."""
    with path.open("a+") as file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class RealCli:
    """One installed `claude`, and the world in which a test runs it.

    Attributes:
        version: as pinned, for example "2.1.332".
        argv: the command, one element.
        home: an empty home folder of this test; `.claude` below it is the CLI's own folder.
        project: an empty working folder of this test.
        env: the whole environment of the child. It names the model and an OAuth token, and marks the test's processes.
    """

    version: str
    argv: tuple[str, ...]
    home: Path
    project: Path
    env: dict[str, str]

    @property
    def config_dir(self) -> Path:
        return Path(self.env["CLAUDE_CONFIG_DIR"])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version for comparing: `cli.numbers >= (2, 1, 300)`."""
        return tuple(int(part) for part in self.version.split("."))

    def stream_argv(self, *extra: str) -> list[str]:
        """The command line of a stream-json session, as the protocol's notes have it."""
        return [
            *self.argv,
            *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
            *("--permission-prompt-tool", "stdio", "--include-partial-messages"),
            *extra,
        ]


def clean_environment(home: Path, model_url: str, mark: str) -> dict[str, str]:
    """The environment of a CLI that knows only the scripted model and only folders below `home`."""
    temporary = home / "tmp"
    config = home / ".claude"
    for folder in (temporary, config):
        folder.mkdir(parents=True, exist_ok=True)
    env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    env |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TMPDIR": str(temporary),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_BASE_URL": model_url,
        "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-of-the-tests",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "NO_PROXY": "127.0.0.1,localhost",
        MARK: mark,
    }
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        env["IS_SANDBOX"] = "1"
    return env


def make_cli(version: str, path: Path, home: Path, model_url: str, mark: str) -> RealCli:
    """That CLI in a fresh world below `home`."""
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    return RealCli(version, (str(path),), home, project, clean_environment(home, model_url, mark))


def main(versions: Mapping[str, None]) -> int:
    for version in versions or dict.fromkeys(pinned_versions()):
        try:
            print(version, install(version), flush=True)
        except CannotInstallError as problem:
            print(problem, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(dict.fromkeys(sys.argv[1:])))
