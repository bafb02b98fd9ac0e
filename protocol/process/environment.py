"""The environment that a CLI is started in: the user's own, without what would change who pays or who answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Outrank the subscription login and bill the API instead: taken out unless the user's settings keep them."""

_OUTER_SESSION = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")
"""Set by a CLI for its own children; older CLIs refuse to start when they find them."""

_FEATURES = {
    "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
    "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT": "markdown",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true",
}

_NOTABLE = (
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_VERTEX_BASE_URL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
)
_NEVER_SHOWN = (*CREDENTIALS, "CLAUDE_CODE_OAUTH_TOKEN")

_BUNDLER_NAMES = ("_MEI", "_PYI_")
_APPIMAGE_NAMES = ("APPDIR", "APPIMAGE", "ARGV0", "OWD")
_LOADER_NAMES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LIBPATH")
_BUNDLED_FAMILIES = ("QT_", "QML", "PYSIDE", "PYTHON")


@dataclass(frozen=True)
class ChildEnvironment:
    """What the child gets, and what the user should know about it.

    `env` is complete. `removed` names the variables that were taken out because they change the account or
    the behaviour. `notable` maps variables that send the traffic elsewhere or pick another account to what
    may be shown of them: never a credential.
    """

    env: dict[str, str]
    removed: tuple[str, ...]
    notable: dict[str, str]


@dataclass(frozen=True)
class Bundle:
    """The packaged app this process runs in.

    `roots` are its folders. `original` is the environment the process was started with, before the run-time
    hooks of the packager and the app itself changed it; None where the system cannot tell.
    """

    roots: tuple[str, ...]
    original: Mapping[str, str] | None = None

    @staticmethod
    def current() -> Bundle | None:
        """The bundle of this process, None outside of a packaged app."""
        if not getattr(sys, "frozen", False):
            return None
        inside = str(getattr(sys, "_MEIPASS", "") or os.path.dirname(sys.executable))
        roots = [inside]
        contents, app_bundle, _ = inside.partition(".app/Contents/")
        if app_bundle:
            roots.append(f"{contents}.app/Contents")
        mount = os.environ.get("APPDIR")
        if mount and _is_inside(os.path.realpath(sys.executable), [os.path.realpath(mount)]):
            roots.append(mount)
        return Bundle(tuple(roots), _environment_at_start())


def child_environment(
    base: Mapping[str, str],
    *,
    keep_api_key: bool = False,
    extra: Mapping[str, str] | None = None,
    bundle: Bundle | None = None,
) -> ChildEnvironment:
    """The environment for a CLI, made from `base` (the app's own, as a rule `os.environ`).

    `extra` is laid over the result and wins, credentials included. `bundle` is the packaged app to clean up
    after; by default the one this process runs in.
    """
    env = dict(base)
    bundle = bundle or Bundle.current()
    if bundle is not None:
        env = _without_bundle(env, bundle)
    unwanted = {*_OUTER_SESSION, *(() if keep_api_key else CREDENTIALS)}
    removed = tuple(sorted(name for name in env if name.upper() in unwanted))
    env = {name: value for name, value in env.items() if name not in removed and not name.startswith(_BUNDLER_NAMES)}
    env.update(_FEATURES)
    env.update(extra or {})
    return ChildEnvironment(env, removed, _notable(env))


def _notable(env: Mapping[str, str]) -> dict[str, str]:
    """What may be shown of the variables that decide where the traffic goes."""
    names = (*_NOTABLE, *CREDENTIALS)
    return {name: "set" if name in _NEVER_SHOWN else _without_password(env[name]) for name in names if env.get(name)}


def _without_password(value: str) -> str:
    """`value`, with the user and password of an address taken out."""
    try:
        address = urlsplit(value)
    except ValueError:
        return value
    if not address.scheme or "@" not in address.netloc:
        return value
    return address._replace(netloc="…@" + address.netloc.rpartition("@")[2]).geturl()


def _without_bundle(env: Mapping[str, str], bundle: Bundle) -> dict[str, str]:
    """`env` as it was before the packaged app's loader, hooks and code changed it."""
    original = bundle.original
    started_with: Mapping[str, str] = original if original is not None else env
    names = dict.fromkeys([*env, *(name for name in started_with if name.startswith(_BUNDLED_FAMILIES))])
    restored = {}
    for name in names:
        if name.endswith("_ORIG") and _is_loader_name(name.removesuffix("_ORIG")):
            continue
        if name in _APPIMAGE_NAMES and env.get("APPDIR") in bundle.roots:
            continue
        value = env.get(name, "")
        if _is_loader_name(name):
            value = env.get(f"{name}_ORIG", value)
        elif name.startswith(_BUNDLED_FAMILIES):
            value = started_with.get(name, "")
        value = _without_entries(value, bundle.roots)
        if value or not env.get(name, "x"):
            restored[name] = value
    return restored


def _is_loader_name(name: str) -> bool:
    return name in _LOADER_NAMES or name.startswith("DYLD_")


def _without_entries(value: str, roots: Iterable[str]) -> str:
    """A list of paths without the entries inside `roots`; any other text comes back as it is."""
    roots = list(roots)
    entries = value.split(os.pathsep)
    kept = [entry for entry in entries if not _is_inside(entry, roots)]
    return value if len(kept) == len(entries) else os.pathsep.join(kept)


def _is_inside(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/\\") + os.sep) for root in roots)


def _environment_at_start() -> dict[str, str] | None:
    """The environment block this process was started with (POSIX keeps it, Windows overwrites it)."""
    if os.name == "nt":
        return None
    import psutil

    try:
        return psutil.Process().environ()
    except (psutil.Error, OSError):
        return None
