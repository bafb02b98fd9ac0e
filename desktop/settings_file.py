"""The settings file as it is, for the programs without a window. Needs no Qt, and changes nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE_NAME = "settings.json"

GIT_BASH = "CLAUDE_CODE_GIT_BASH_PATH"
"""The variable in which Claude looks for its `bash.exe` on Windows."""


def with_git_bash(env: Mapping[str, str], git_bash: object, platform: str = sys.platform) -> dict[str, str]:
    """An environment for Claude, with the `bash.exe` of the settings in it. Only Windows' CLI has a use for it."""
    if platform != "win32" or not isinstance(git_bash, str) or not git_bash:
        return dict(env)
    return {**env, GIT_BASH: git_bash}


def read_settings(config: Path) -> tuple[dict[str, Any], str | None]:
    """The values in the settings file of a config folder, and what is wrong with it, in a sentence.

    Unlike the window this does not put a damaged file aside; it counts as not there.
    """
    path = config / FILE_NAME
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, RecursionError) as error:
        return {}, f"The settings in {path} cannot be read, so the defaults will be used: {error}"
    if not isinstance(value, dict):
        return {}, f"The settings in {path} are not a JSON object, so the defaults will be used."
    return value, None
