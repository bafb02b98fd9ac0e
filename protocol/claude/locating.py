"""Finding the CLI: what the user said, PATH, where installers put it, the login shell's PATH."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from protocol.claude.places import known_folders
from protocol.claude.programs import Unusable, runnable
from protocol.claude.wsl import distributions, is_in_wsl
from protocol.words import Sentence

INSTALL_PAGE = "https://code.claude.com/docs/en/setup"


SENTENCES: Final = {
    "settings": "The Claude program in the settings cannot be used: {reason}",
    "HANDRAISE_CLAUDE": "HANDRAISE_CLAUDE cannot be used: {reason}",
    "nowhere": "Claude Code was not found. Install it ({page}), or choose its program in the settings.",
    "only in WSL": "Claude Code was not found on Windows. If it is installed inside WSL ({names}), Windows programs "
    "cannot use that one: install it for Windows as well ({page}), or choose its program in the settings.",
}
"""Why there is no CLI, as templates for a translator's catalogue. The reasons are those of `programs`."""


class ClaudeNotFound(Exception):  # noqa: N818 — the name says what is the matter
    """There is no CLI to run. The text is a sentence; `searched` are the places that were looked at."""

    def __init__(self, sentence: str, searched: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.searched = tuple(searched)


@dataclass(frozen=True)
class Claude:
    """A CLI that can be started.

    Attributes:
        argv: absolute path of the program, and the arguments that belong to it.
        source: where it was found: "settings", "HANDRAISE_CLAUDE", "PATH", "known place" or "login shell".
        child_path: the PATH that it needs, "" where the one it was looked for with will do.
    """

    argv: tuple[str, ...]
    source: str
    child_path: str = ""

    def __str__(self) -> str:
        return " ".join(self.argv)


def find_claude(
    *,
    setting: str | Sequence[str] | None,
    env: Mapping[str, str],
    platform: str = sys.platform,
    home: Path | None = None,
    login_path: str | None = None,
) -> Claude:
    """Find the CLI. What the user named is taken, or the reason why not is raised; nothing replaces it silently.

    Args:
        setting: the user's choice: a path, a JSON array of arguments, or such a sequence.
        env: where PATH, HANDRAISE_CLAUDE and the tools' own folders are looked up.
        home: the user's home folder; by default that of this process.
        login_path: what `login_shell_path` found. It is also handed to the child, in `child_path`.

    Raises:
        ClaudeNotFound: a sentence that says what is wrong or what to install.
    """
    search = _Search(env, platform, home or Path.home(), login_path or "")
    if setting:
        return search.named(setting, "settings")
    if env.get("HANDRAISE_CLAUDE"):
        return search.named(env["HANDRAISE_CLAUDE"], "HANDRAISE_CLAUDE")
    return search.anywhere()


def split_path(path: str, platform: str = sys.platform) -> list[Path]:
    """The folders of a PATH. Relative ones are left out: a project must not bring its own `claude`."""
    separator = ";" if platform == "win32" else ":"
    folders = (Path(entry.strip('"')) for entry in path.split(separator) if entry)
    return [folder for folder in folders if folder.is_absolute()]


@dataclass
class _Search:
    env: Mapping[str, str]
    platform: str
    home: Path
    login_path: str
    searched: list[str] = field(default_factory=list)
    problems: list[Sentence] = field(default_factory=list)

    def named(self, command: str | Sequence[str], source: str) -> Claude:
        """What the user asked for, and nothing else."""
        try:
            program, *arguments = _words(command)
            return self._claude(self._named_program(program), arguments, source)
        except Unusable as reason:
            raise ClaudeNotFound(Sentence(SENTENCES[source], {"reason": reason.sentence}), self.searched) from reason

    def anywhere(self) -> Claude:
        """The first that can be run; when none can, the reason of the first that was there."""
        for source, folder in self._folders():
            for name in self._names("claude"):
                path = folder / name
                if str(path) in self.searched:
                    continue
                self.searched.append(str(path))
                if not os.path.lexists(path) or os.path.isdir(path):
                    continue
                try:
                    return self._claude(path, [], source)
                except Unusable as reason:
                    self.problems.append(reason.sentence)
        if self.problems:
            raise ClaudeNotFound(self.problems[0], self.searched)
        raise ClaudeNotFound(self._nowhere(), self.searched)

    def _nowhere(self) -> Sentence:
        """That there is none, and where there may be one that Windows cannot use."""
        if names := distributions(self.platform):
            return Sentence(SENTENCES["only in WSL"], {"names": ", ".join(names), "page": INSTALL_PAGE})
        return Sentence(SENTENCES["nowhere"], {"page": INSTALL_PAGE})

    def _folders(self) -> Iterator[tuple[str, Path]]:
        yield from (("PATH", folder) for folder in self._path())
        yield from (("known place", folder) for folder in known_folders(self.env, self.platform, self.home))
        yield from (("login shell", folder) for folder in split_path(self.login_path, self.platform))

    def _path(self) -> list[Path]:
        return split_path(self.env.get("PATH", self.env.get("Path", "")), self.platform)

    def _names(self, name: str) -> tuple[str, ...]:
        return (f"{name}.exe", f"{name}.cmd") if self.platform == "win32" else (name,)

    def _named_program(self, program: str) -> Path:
        """A path (relative to this process's folder, `~` allowed), or a name that is looked up in PATH."""
        if self.platform == "win32" and is_in_wsl(program):
            raise Unusable("in WSL", path=program)
        if program.startswith("~/") or (self.platform == "win32" and program.startswith("~\\")):
            program = str(self.home / program[2:])
        if "/" not in program and not (self.platform == "win32" and "\\" in program):
            for folder in [*self._path(), *split_path(self.login_path, self.platform)]:
                for name in dict.fromkeys((program, *self._names(program))):
                    self.searched.append(str(folder / name))
                    if os.path.isfile(folder / name):
                        return folder / name
        path = Path(os.path.abspath(program))
        self.searched.append(str(path))
        if self.platform == "win32" and not path.suffix:
            return next((found for suffix in (".exe", ".cmd") if (found := path.with_suffix(suffix)).is_file()), path)
        return path

    def _claude(self, path: Path, arguments: Sequence[str], source: str) -> Claude:
        argv = runnable(path, self.platform, self._find_node)
        return Claude((*argv, *arguments), source, self._child_path(Path(argv[0]).parent))

    def _find_node(self, beside: Path) -> Path | None:
        name = "node.exe" if self.platform == "win32" else "node"
        login = split_path(self.login_path, self.platform)
        others = known_folders(self.env, self.platform, self.home)
        # The node beside it is the one it was installed with; another may be too old.
        for folder in (beside, *self._path(), *login, *others):
            node = folder / name
            if os.path.isfile(node) and os.access(node, os.X_OK):
                return node
        return None

    def _child_path(self, program_folder: Path) -> str:
        """PATH, the login shell's behind it, and the program's folder: what the child and its MCP servers need."""
        own = self._path()
        wanted = list(dict.fromkeys([*own, *split_path(self.login_path, self.platform)]))
        if program_folder not in wanted:
            wanted.append(program_folder)
        if wanted == list(dict.fromkeys(own)):
            return ""
        return (";" if self.platform == "win32" else ":").join(map(str, wanted))


def _words(command: str | Sequence[str]) -> list[str]:
    """A command as the settings and HANDRAISE_CLAUDE have it: a path with all its spaces, or a JSON array."""
    if isinstance(command, str):
        text = command.strip()
        if not text.startswith("["):
            return [text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text]
        try:
            command = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unusable("no array", command=text, reason=error) from error
    is_list = isinstance(command, (list, tuple)) and all(isinstance(word, str) for word in command)
    if not is_list or not any(command[:1]):
        raise Unusable("no command")
    return list(command)
