"""The settings file as it is, for the programs without a window. Needs no Qt, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE_NAME = "settings.json"


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
