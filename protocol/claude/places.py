"""Where installers put `claude` and `node`, for programs whose PATH does not say (Finder, Dock, desktop menus)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

SYSTEM_FOLDERS = (
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/opt/local/bin",
    "/usr/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
)
"""Homebrew (Apple Silicon, Intel, Linux), MacPorts, distributions, Snap, NixOS."""


def known_folders(env: Mapping[str, str], platform: str, home: Path) -> Iterator[Path]:
    """Folders that may hold `claude` and `node`, the likeliest first. Not all of them exist."""
    yield home / ".local" / "bin"  # Claude Code's own installer
    yield home / ".claude" / "local"  # `claude migrate-installer`, before that
    if platform == "win32":
        yield from _windows(env, home)
        return
    for folder in SYSTEM_FOLDERS:
        yield Path(folder)
    yield from _npm(env, home)
    yield from _version_managers(env, home)
    yield from _other_package_managers(env, home)


def _at(env: Mapping[str, str], variable: str, default: Path) -> Path:
    """The folder that a tool was told to use, or the one it uses otherwise."""
    return Path(env[variable]) if env.get(variable) else default


def _npm(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    for variable in ("NPM_CONFIG_PREFIX", "npm_config_prefix"):
        if env.get(variable):
            yield Path(env[variable]) / "bin"
    if configured := npm_prefix(home):
        yield configured / "bin"
    for name in (".npm-global", ".npm-packages", ".npm"):
        yield home / name / "bin"
    yield _at(env, "N_PREFIX", home / "n") / "bin"


def npm_prefix(home: Path) -> Path | None:
    """The `prefix` of ~/.npmrc: where `npm install --global` puts programs."""
    try:
        text = (home / ".npmrc").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^\s*prefix\s*=\s*(.+?)\s*$", text, re.MULTILINE)
    if found is None:
        return None
    value = found[1].strip("\"'").replace("${HOME}", str(home))
    path = home / value[2:] if value.startswith("~/") else Path(value)
    return path if path.is_absolute() else None


def _version_managers(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    """nvm, fnm, Volta, asdf, mise: the newest Node first; a shim last, for it needs a version to be set."""
    share = _at(env, "XDG_DATA_HOME", home / ".local" / "share")
    volta = _at(env, "VOLTA_HOME", home / ".volta")
    asdf = _at(env, "ASDF_DATA_DIR", home / ".asdf")
    mise = _at(env, "MISE_DATA_DIR", share / "mise")
    yield from _newest_first(_at(env, "NVM_DIR", home / ".nvm") / "versions" / "node", "*/bin")
    if env.get("FNM_MULTISHELL_PATH"):
        yield Path(env["FNM_MULTISHELL_PATH"]) / "bin"
    for fnm in (
        _at(env, "FNM_DIR", share / "fnm"),
        home / ".fnm",
        home / "Library" / "Application Support" / "fnm",
    ):
        yield fnm / "aliases" / "default" / "bin"
        yield from _newest_first(fnm / "node-versions", "*/installation/bin")
    yield volta / "bin"
    yield from _newest_first(volta / "tools" / "image" / "node", "*/bin")
    yield from _newest_first(mise / "installs" / "npm-anthropic-ai-claude-code", "*/bin")
    yield from _newest_first(mise / "installs" / "claude", "*")
    for installs in (asdf / "installs" / "nodejs", mise / "installs" / "node"):
        yield from _newest_first(installs, "*/bin")
    yield asdf / "shims"
    yield mise / "shims"


def _other_package_managers(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    yield _at(env, "BUN_INSTALL", home / ".bun") / "bin"
    yield _at(env, "PNPM_HOME", home / ".local" / "share" / "pnpm")
    yield home / "Library" / "pnpm"
    yield home / ".yarn" / "bin"
    yield home / ".config" / "yarn" / "global" / "node_modules" / ".bin"
    yield home / ".nix-profile" / "bin"
    yield home / "bin"


def _windows(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    roaming = _at(env, "APPDATA", home / "AppData" / "Roaming")
    local = _at(env, "LOCALAPPDATA", home / "AppData" / "Local")
    yield roaming / "npm"
    if configured := npm_prefix(home):
        yield configured
    for variable in ("NVM_SYMLINK", "FNM_MULTISHELL_PATH", "PNPM_HOME"):
        if env.get(variable):
            yield Path(env[variable])
    for variable in ("ProgramFiles", "PROGRAMFILES"):
        if env.get(variable):
            yield Path(env[variable]) / "nodejs"
    yield from _newest_first(_at(env, "NVM_HOME", roaming / "nvm"), "v*")
    yield roaming / "fnm" / "aliases" / "default"
    yield from _volta_on_windows(_at(env, "VOLTA_HOME", local / "Volta"))
    yield _at(env, "BUN_INSTALL", home / ".bun") / "bin"
    yield local / "pnpm"
    yield local / "Yarn" / "bin"
    yield local / "Microsoft" / "WinGet" / "Links"
    # Links need a right that not everybody has; without it winget leaves the program where it unpacked it.
    yield from _newest_first(local / "Microsoft" / "WinGet" / "Packages", "Anthropic.ClaudeCode_*")
    scoop = _at(env, "SCOOP", home / "scoop")
    yield scoop / "shims"
    for node in ("nodejs", "nodejs-lts"):
        yield scoop / "persist" / node / "bin"  # where its npm puts programs
        yield scoop / "apps" / node / "current"
    mise = _at(env, "MISE_DATA_DIR", local / "mise") / "installs"
    for tool in ("npm-anthropic-ai-claude-code", "claude", "node"):
        yield from _newest_first(mise / tool, "*")


def _volta_on_windows(volta: Path) -> Iterator[Path]:
    """Its shims are batch files that ask Volta itself; what they lead to is here."""
    yield volta / "bin"
    yield volta / "tools" / "image" / "packages" / "@anthropic-ai" / "claude-code"
    yield from _newest_first(volta / "tools" / "image" / "node", "*")


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    """What `pattern` finds in a folder of versions, by version numbers (so that v22 comes before v9)."""
    try:
        found = list(folder.glob(pattern))
    except OSError:
        return []

    def version(path: Path) -> tuple[list[int], str]:
        name = path.relative_to(folder).parts[0]
        return [int(number) for number in re.findall(r"\d+", name)], name

    return sorted(found, key=version, reverse=True)
