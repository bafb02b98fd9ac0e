"""Where this program keeps its files. Nothing here creates anything.

The variables HANDRAISE_CONFIG_DIR, HANDRAISE_DATA_DIR and HANDRAISE_LOG put them elsewhere, for tests and for people
who carry their settings along.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from platformdirs.api import PlatformDirsABC

TOKEN_NAME = "local-api-token"
"""The file with the local endpoint's token, below the data folder: the window's and `handraise serve`'s."""

_NAME = "handraise"


def config_dir(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder of the settings."""
    return _named(env, "HANDRAISE_CONFIG_DIR") or _system(platform).user_config_path


def data_dir(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder of drafts, tokens and everything else that is kept."""
    return _named(env, "HANDRAISE_DATA_DIR") or _system(platform).user_data_path


def log_file(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The log: where the system keeps logs, but inside the data folder once that was put elsewhere."""
    named = _named(env, "HANDRAISE_LOG")
    if named is not None:
        return named
    elsewhere = _named(env, "HANDRAISE_DATA_DIR")
    folder = elsewhere if elsewhere is not None else _system(platform).user_log_path
    return folder / "handraise.log"


def _system(platform: str) -> PlatformDirsABC:
    """The folders that a system has for programs: `XDG_*`, the Library, or %LOCALAPPDATA%."""
    if platform == "win32":
        from platformdirs.windows import Windows

        return Windows(_NAME, appauthor=False)
    if platform == "darwin":
        return _library()
    from platformdirs.unix import Unix

    return Unix(_NAME)


def _library() -> PlatformDirsABC:
    """macOS' own places, whatever `XDG_*` says.

    Newer releases of platformdirs follow these variables there, too. They are set for a program that a terminal starts
    and not for one that the Dock starts, which would then have other settings and drafts.
    """
    from platformdirs.macos import MacOS

    class Library(MacOS):
        @property
        def user_data_dir(self) -> str:
            return os.path.join(os.path.expanduser("~"), "Library", "Application Support", _NAME)

        @property
        def user_config_dir(self) -> str:
            return self.user_data_dir

        @property
        def user_log_dir(self) -> str:
            return os.path.join(os.path.expanduser("~"), "Library", "Logs", _NAME)

    return Library(_NAME)


def _named(env: Mapping[str, str], variable: str) -> Path | None:
    value = env.get(variable)
    return Path(os.path.abspath(os.path.expanduser(value))) if value else None
