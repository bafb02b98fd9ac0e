"""From a file called `claude` to the arguments that run it: links, scripts that need node, Windows' batch shims."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from protocol.words import Sentence

SCRIPTS = (".js", ".mjs", ".cjs")
BATCH = (".cmd", ".bat")

FindNode = Callable[[Path], Path | None]
"""Where `node` is, given the folder where it is likely: that of the script or its shim. None when there is none."""

# "%~dp0" and "%dp0%" both stand for the shim's own folder, in the shims of npm, pnpm, yarn and bun. Yarn's leads to
# another shim.
_SHIM_TARGET = re.compile(r"%(?:~dp0|dp0%)\\?([^\"%\r\n]+?\.(?:exe|js|mjs|cjs|cmd))\"?", re.IGNORECASE)
_MOST_SHIMS = 4


SENTENCES: Final = {
    "not executable": "{path} is not executable. Make it so with: chmod +x",
    "dead link": "{path} is a link to {target}, which does not exist.",
    "missing": "{path} does not exist.",
    "folder": "{path} is a folder, not a program.",
    "no node": "{path} needs node, which was not found. Install Node.js, or Claude Code's own native version.",
    "no interpreter": "{path} needs {interpreter}, which does not exist.",
    "unreadable": "{path} cannot be read: {reason}.",
    "not for Windows": "{path} is not a program that Windows can run. Choose claude.exe or claude.cmd.",
    "in WSL": "{path} lies inside WSL, where Windows programs cannot use it. Install Claude Code for Windows, and "
    "choose its claude.exe.",
    "empty shim": "{path} is a batch file, and the program behind it was not found. Choose claude.exe instead.",
    "no array": "{command} is not a JSON array: {reason}",
    "no command": "the command must be a path, or a JSON array of a program and its arguments.",
}
"""Why a file cannot be run as the CLI, as templates for a translator's catalogue."""


class Unusable(Exception):  # noqa: N818 — the name says what is the matter
    """This file cannot be run as the CLI. The text is a `Sentence` that says why."""

    def __init__(self, what: str, **values: object) -> None:
        """Of `SENTENCES[what]`."""
        self.sentence = Sentence(SENTENCES[what], {name: str(value) for name, value in values.items()})
        super().__init__(self.sentence)


def runnable(path: Path, platform: str, find_node: FindNode) -> tuple[str, ...]:
    """The arguments that run the program at `path`, never through a shell.

    Raises:
        Unusable: it is missing, no program, or needs something that is missing.
    """
    _check_file(path)
    if path.suffix.lower() in SCRIPTS and (platform == "win32" or not os.access(path, os.X_OK)):
        return _with_node(path, path.parent, find_node)
    if platform == "win32":
        return _windows(path, find_node)
    if not os.access(path, os.X_OK):
        raise Unusable("not executable", path=path)
    return _posix(path, find_node)


def _check_file(path: Path) -> None:
    if os.path.islink(path) and not os.path.exists(path):
        raise Unusable("dead link", path=path, target=os.readlink(path))
    if not os.path.exists(path):
        raise Unusable("missing", path=path)
    if not os.path.isfile(path):
        raise Unusable("folder", path=path)


def _with_node(script: Path, beside: Path, find_node: FindNode, options: Sequence[str] = ()) -> tuple[str, ...]:
    node = find_node(beside)
    if node is None:
        raise Unusable("no node", path=script)
    return (str(node), *options, str(script))


def _posix(path: Path, find_node: FindNode) -> tuple[str, ...]:
    interpreter, *options = _interpreter(path) or [""]
    if interpreter == "node":
        # Named outright, since the PATH of a desktop's launcher often has none.
        return _with_node(path, path.parent, find_node, options)
    if interpreter.startswith("/") and not os.path.exists(interpreter):
        raise Unusable("no interpreter", path=path, interpreter=interpreter)
    return (str(path),)


def _interpreter(path: Path) -> list[str]:
    """What the first line of a script asks for: a path, or a name for `env`, and its options; [] for a binary."""
    try:
        with path.open("rb") as file:
            first_line = file.read(512).split(b"\n", 1)[0]
    except OSError as error:
        raise Unusable("unreadable", path=path, reason=error.strerror) from error
    if not first_line.startswith(b"#!"):
        return []
    words = first_line[2:].decode("utf-8", errors="replace").split()
    if words and os.path.basename(words[0]) == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words


def _windows(path: Path, find_node: FindNode) -> tuple[str, ...]:
    suffix = path.suffix.lower()
    if suffix == ".exe":
        return (str(path),)
    if suffix not in BATCH:
        raise Unusable("not for Windows", path=path)
    target = _behind_shim(path)
    if target.suffix.lower() == ".exe":
        return (str(target),)
    return _with_node(target, path.parent, find_node)


def _behind_shim(shim: Path, most: int = _MOST_SHIMS) -> Path:
    """The program that a batch shim runs. cmd.exe cuts arguments at newlines and runs what follows an `&`."""
    text = shim.read_text(encoding="utf-8", errors="replace") if most else ""
    for relative in _SHIM_TARGET.findall(text):
        target = Path(os.path.normpath(shim.parent.joinpath(*relative.split("\\"))))
        if target.stem.lower() == "node" or not target.is_file():
            continue
        if target.suffix.lower() not in BATCH:
            return target
        with contextlib.suppress(Unusable):
            return _behind_shim(target, most - 1)
    raise Unusable("empty shim", path=shim)
