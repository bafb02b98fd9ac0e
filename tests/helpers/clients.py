"""Finds and installs the pinned programs that the local endpoint is tried with: other clients, schemathesis, a browser.

    python -m tests.helpers.clients             installs all of them into the cache and prints where
    python -m tests.helpers.clients contract    that one

What is pinned are the files `requirements-*.txt` and `package.json` in `tests/endpoint/clients`. Each set lives in a
virtual environment (or a node_modules) of its own below the cache, so that none of it bends what the tests run on. The
cache is the one of the pinned CLIs; a set whose pins have changed gets another folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Never

import pytest

from tests.helpers.real_cli import cache_folder, locked

PINS = Path(__file__).resolve().parents[1] / "endpoint" / "clients"
INSTALL_SECONDS = 600
NODE = "node"
"""The one set that is no Python."""

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class CannotInstallError(Exception):
    """That set is not here and cannot be fetched; the text says why."""


def names() -> tuple[str, ...]:
    """The sets: those of Python by the files that pin them, and Node's."""
    return (*sorted(path.stem.removeprefix("requirements-") for path in PINS.glob("requirements-*.txt")), NODE)


def is_required() -> bool:
    """True where a client that is missing must fail the tests instead of skipping them."""
    return os.environ.get("HANDRAISE_REQUIRE_CLIENTS", "") not in ("", "0")


def python_of(name: str) -> Path:
    """The Python that has this set. Skips the test where it cannot be had, or fails it where it is required."""
    return _or_skip(name)


def node_modules() -> Path:
    """The folder `node_modules` with Node's clients. Skips or fails as `python_of` does."""
    return _or_skip(NODE)


def browser() -> Path:
    """A Chromium of this machine. Skips the test where there is none, or fails it where it is required."""
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        _cannot("no Chromium is installed")
    return Path(found)


_missing: dict[tuple[Path, str], str] = {}
"""What could not be had in this run, by the cache: asked for by many tests, and without network each try takes long."""


def _or_skip(name: str) -> Path:
    wanted = cache_folder(), name
    if wanted in _missing:
        _cannot(_missing[wanted])
    try:
        return install(name)
    except CannotInstallError as problem:
        _missing[wanted] = str(problem)
        _cannot(str(problem))


def _cannot(reason: str) -> Never:
    if is_required():
        pytest.fail(f"HANDRAISE_REQUIRE_CLIENTS is set, but {reason}", pytrace=False)
    pytest.skip(reason.partition("\n")[0].rstrip(":"))


def install(name: str) -> Path:
    """The Python of that set (for `NODE` its node_modules), fetched unless the cache has it. Raises CannotInstallError.

    Two runs at once are safe: one installs under a lock, and a set counts as there only when it is complete.
    """
    pins = PINS / ("package.json" if name == NODE else f"requirements-{name}.txt")
    root = cache_folder() / "clients"
    folder = root / f"{name}-{_fingerprint(pins)}"
    complete = folder / "complete"
    if not complete.exists():
        root.mkdir(parents=True, exist_ok=True)
        with locked(root / f".{name}.lock"):
            if not complete.exists():
                shutil.rmtree(folder, ignore_errors=True)  # left by an installation that was cut off
                _fetch(name, pins, folder)
                complete.touch()
    return folder / "node_modules" if name == NODE else _python(folder)


def _fingerprint(pins: Path) -> str:
    """Changes with the pins, and for Python also with the interpreter on which the environment rests."""
    rests_on = b"" if pins.name == "package.json" else f"{sys.version_info[:2]} {sys.base_prefix}".encode()
    return hashlib.sha256(pins.read_bytes() + rests_on).hexdigest()[:12]


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _fetch(name: str, pins: Path, folder: Path) -> None:
    if name == NODE:
        npm = shutil.which("npm")
        if npm is None or shutil.which("node") is None:
            raise CannotInstallError(f"the clients for Node are not in {folder}, and npm or node is not installed")
        folder.mkdir()
        shutil.copy(pins, folder)
        _run(name, [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"])
        return
    _run(name, [sys.executable, "-m", "venv", str(folder)])
    _run(name, [str(_python(folder)), "-m", "pip", "install", "--quiet", "--retries", "2", "-r", str(pins)])


def _run(name: str, command: Sequence[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise CannotInstallError(f"the clients {name!r} could not be installed:\n{done.stdout}\n{done.stderr}")


def main(wanted: Sequence[str]) -> int:
    for name in wanted or names():
        try:
            print(install(name), flush=True)
        except CannotInstallError as problem:
            print(problem, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
