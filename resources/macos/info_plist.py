"""The bundle's Info.plist, as `build.spec` hands it to PyInstaller: the template and the version."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("Info.plist")


def info_plist(version: str) -> dict[str, Any]:
    """The entries of Info.plist.

    Args:
        version: as in "0.1.0"; macOS compares only its leading numbers, three at most.

    Raises ValueError when the version does not begin with a number.
    """
    numbers = re.match(r"\d+(?:\.\d+){0,2}", version)
    if numbers is None:
        raise ValueError(f"{version!r} does not begin with a number")
    entries: dict[str, Any] = plistlib.loads(TEMPLATE.read_bytes())
    return entries | {"CFBundleShortVersionString": numbers[0], "CFBundleVersion": numbers[0]}
