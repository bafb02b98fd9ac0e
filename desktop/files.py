"""Writing files so that a crash in the middle leaves the old text, never half of the new one."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

_HELD_SECONDS = 0.5
"""How long another program may hold a file open on Windows (a virus scanner, a backup) before that is an error."""
_POLL = 0.02


def write_atomically(path: Path, text: str, *, durable: bool = False, mode: int = 0o600) -> None:
    """Replace a file's text in one step. Missing folders are made.

    Args:
        path: the file.
        text: its new text, written as UTF-8. Lone surrogates (half an emoji, an odd file name) are replaced.
        durable: also wait until the disk has it. Not needed to survive a killed program, only a power cut.
        mode: the file's permissions on POSIX; what a person typed is nobody else's to read.
    Raises:
        OSError: the folder or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if os.name == "posix":
            os.chmod(name, mode)
        _replace(name, path)
    except BaseException:
        remove_quietly(name)
        raise


def _replace(name: str, path: Path, system: str = os.name) -> None:
    """`os.replace`; Windows refuses it while another program has the file open, which passes."""
    deadline = time.monotonic() + _HELD_SECONDS
    while True:
        try:
            os.replace(name, path)
            return
        except PermissionError:
            if system != "nt" or time.monotonic() >= deadline:
                raise
            time.sleep(_POLL)


def read_beginning(path: str, most: int = 1_000_000) -> str | None:
    """The first `most` characters of a text file, damage replaced; None for what cannot be read.

    Safe for paths that a program names: a pipe that nobody writes to would keep the reader waiting for ever.
    """
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except OSError:
        return None


def remove_quietly(name: str | Path) -> None:
    """Remove a file if it is there and can be removed; never raises."""
    try:
        os.unlink(name)
    except OSError:
        return


def set_aside(path: Path, word: str = "broken") -> Path | None:
    """Rename a file that cannot be read, so that nothing of it is lost; returns its new path.

    The first free name of `name.broken`, `name.broken-2`, … is taken. None when it cannot be renamed.
    """
    for number in range(1, 100):
        target = path.with_name(f"{path.name}.{word}" if number == 1 else f"{path.name}.{word}-{number}")
        if target.exists():
            continue
        try:
            path.rename(target)
        except OSError:
            return None
        return target
    return None
