"""Whether a folder brings settings of its own, which a CLI without a terminal obeys without asking.

`.claude/settings.json` can allow tools and run hooks, `.mcp.json` starts programs. In a terminal the CLI asks once
whether the folder is trusted; started by another program it does not, so the window asks.

The programs of an `.mcp.json` start from any folder above, too, in a repository or not (2.0.71 to 2.1.332).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

SERVERS = ".mcp.json"
OWN_SETTINGS = (".claude/settings.json", ".claude/settings.local.json", SERVERS, ".claude/hooks")


def own_settings(folder: Path, env: Mapping[str, str], home: Path | None = None) -> tuple[str, ...]:
    """The files of a folder, of the repository it is in, and of what is above, that a CLI started there would obey.

    Args:
        folder: where the conversation would begin.
        env: for CLAUDE_CONFIG_DIR: the person's own settings are not the folder's.
        home: the person's home; the real one when left out.

    Returns:
        Paths as they are shown: relative to the folder where they are in it. Blocking (a few `stat` calls).
    """
    # Behind links: a CLI looks above the true place of its folder.
    folder, home = _true(folder), _true(home or Path.home())
    persons_own = {home / ".claude"}
    if env.get("CLAUDE_CONFIG_DIR"):
        persons_own.add(_true(Path(env["CLAUDE_CONFIG_DIR"])))
    inside = (folder, *_up_to_the_repository(folder, home))
    looked_at = [place / name for place in inside for name in OWN_SETTINGS]
    looked_at += [place / SERVERS for place in folder.parents if place not in inside]
    return tuple(
        str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
        for path in looked_at
        if path.parent not in persons_own and path != home / SERVERS and _is_there(path)
    )


def _up_to_the_repository(folder: Path, home: Path) -> list[Path]:
    """The parents up to the one that holds `.git`; none when there is no repository, or the home itself is it."""
    parents: list[Path] = []
    for place in (folder, *folder.parents):
        if place == home:
            return []
        if place != folder:
            parents.append(place)
        if _is_there(place / ".git"):
            return parents
    return []


def _true(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
