"""Whether a folder brings settings of its own, which a CLI without a terminal obeys without asking.

`.claude/settings.json` can allow tools and run hooks, `.mcp.json` starts programs. In a terminal the CLI asks once
whether the folder is trusted; started by another program it does not, so the window asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

OWN_SETTINGS = (".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".claude/hooks")


def own_settings(folder: Path, env: Mapping[str, str], home: Path | None = None) -> tuple[str, ...]:
    """The files of a folder, and of the repository it is in, that a CLI started there would obey.

    Args:
        folder: where the conversation would begin.
        env: for CLAUDE_CONFIG_DIR: the person's own settings are not the folder's.
        home: the person's home; the real one when left out.

    Returns:
        Paths as they are shown: relative to the folder where they are in it. Blocking (a few `stat` calls).
    """
    home = home or Path.home()
    persons_own = {home / ".claude"}
    if env.get("CLAUDE_CONFIG_DIR"):
        persons_own.add(Path(env["CLAUDE_CONFIG_DIR"]))
    found = []
    for place in (folder, *_up_to_the_repository(folder, home)):
        for name in OWN_SETTINGS:
            path = place / name
            if path.parent in persons_own or not _is_there(path):
                continue
            found.append(name if place == folder else str(path))
    return tuple(found)


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


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
