"""A CLI inside the Windows Subsystem for Linux: it cannot be run from Windows, so that it is there has to be said."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

_DISTRIBUTIONS: Final = r"Software\Microsoft\Windows\CurrentVersion\Lxss"
"""The key, below the user's own, with one subkey a distribution. `wsl.exe` itself is on every Windows."""

_IN_WSL: Final = re.compile(r"[\\/]{2}wsl(?:\$|\.localhost)[\\/]", re.IGNORECASE)
_OF_A_TOOL: Final = re.compile(r"docker-desktop|rancher-desktop|podman", re.IGNORECASE)
"""Distributions in which nobody works."""


def is_in_wsl(path: str) -> bool:
    r"""Whether a Windows path leads into a distribution: `\\wsl$\Ubuntu\…`, `\\wsl.localhost\Ubuntu\…`."""
    return _IN_WSL.match(path) is not None


def distributions(platform: str = sys.platform, registry: Any = None) -> tuple[str, ...]:
    """The names of the user's distributions; () on other systems, or where the registry does not say.

    Args:
        platform: as `sys.platform` has it.
        registry: the module `winreg`, or what stands in for it.
    """
    if platform != "win32":
        return ()
    try:
        if registry is None:
            import winreg as registry
        return tuple(name for name in _names(registry) if not _OF_A_TOOL.match(name))
    except (ImportError, OSError):
        return ()


def _names(registry: Any) -> Iterator[str]:
    with registry.OpenKey(registry.HKEY_CURRENT_USER, _DISTRIBUTIONS) as root:
        for index in range(registry.QueryInfoKey(root)[0]):
            with registry.OpenKey(root, registry.EnumKey(root, index)) as key:
                try:
                    name, _ = registry.QueryValueEx(key, "DistributionName")
                except OSError:  # being installed, or half removed
                    continue
                yield str(name)
