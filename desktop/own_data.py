"""Everything that Handraise keeps on the disk, and its removal. Claude's own data is never touched. Needs no Qt."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from desktop.paths import TOKEN_NAME, data_dir, log_file
from desktop.settings_file import FILE_NAME

_IN_CONFIG: Final = (
    FILE_NAME, f"{FILE_NAME}.broken*", f".{FILE_NAME}.*.new", "window.ini", "window.ini.*", "instance.lock",
)  # fmt: skip
_IN_DATA: Final = (TOKEN_NAME, f".{TOKEN_NAME}.*.new", "crash.log", "instance.lock")
_DRAFTS: Final = ("drafts", "local-api")
_IN_DRAFTS: Final = ("*.json", "*.json.broken*", "*.image", ".*.new")


@dataclass(frozen=True)
class OwnData:
    """Where it lies.

    Files are found by their names, and folders go only once they are empty: `HANDRAISE_DATA_DIR` may be a folder that
    holds other things as well.

    Attributes:
        config: the folder of the settings.
        data: the folder of drafts and the token.
        log: the log file.
    """

    config: Path
    data: Path
    log: Path

    @staticmethod
    def of(config: Path, env: Mapping[str, str]) -> OwnData:
        """That of a window with this folder of settings."""
        return OwnData(config, data_dir(env), log_file(env))

    def folders(self) -> tuple[Path, ...]:
        """The folders that are used, each once."""
        return tuple(dict.fromkeys((self.config, self.data, self.log.parent)))

    def files(self) -> Iterator[Path]:
        """The files that are there."""
        yield from _named(self.config, _IN_CONFIG)
        yield from _named(self.data, _IN_DATA)
        for name in _DRAFTS:
            if not (self.data / name).is_symlink():  # somebody's own arrangement
                yield from _named(self.data / name, _IN_DRAFTS)
        yield from _named(self.log.parent, (self.log.name, f"{self.log.name}.[0-9]"))

    def remove(self) -> list[str]:
        """Remove it; returns what could not be removed, each with its reason."""
        left = []
        for path in dict.fromkeys(self.files()):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                left.append(f"{path}: {error.strerror or error}")
        for folder in self._emptied():
            try:
                folder.rmdir()
            except OSError:  # not there, or not empty: then it holds what is not ours
                continue
        return left

    def _emptied(self) -> Iterator[Path]:
        """The folders that were made for it, the inner ones first."""
        yield from (self.data / name for name in _DRAFTS)
        if self.log.parent.parent.name == "handraise":
            yield from (self.log.parent, self.log.parent.parent)
        elif self.log.parent.name == "handraise":
            yield self.log.parent
        yield from (self.data, self.config)


def remove_at_end(own: OwnData, register: Callable[[Callable[[], None]], object] = atexit.register) -> None:
    """Remove it when this program has ended.

    Not before: the end itself still writes (the last drafts, the window's place, the log), and Windows removes no file
    that is open.
    """

    def remove() -> None:
        for line in own.remove():
            print(f"Could not be removed: {line}", file=sys.stderr)

    register(remove)


def claudes_own(env: Mapping[str, str]) -> Path:
    """The folder of Claude Code's own data, which stays."""
    named = env.get("CLAUDE_CONFIG_DIR")
    return Path(os.path.abspath(named)) if named else Path.home() / ".claude"


def _named(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            yield from sorted(path for path in folder.glob(pattern) if path.is_symlink() or path.is_file())
        except OSError:  # may not be entered
            continue
