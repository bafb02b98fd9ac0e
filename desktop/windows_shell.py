"""What Windows' shell wants to be told, and what must not be asked there; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable

TASKBAR_NAME = "Handraise.Handraise"


def allow_foreground(pid: int, call: Callable[[int], object] | None = None, platform: str = sys.platform) -> None:
    """Lend the other window the right to come to the front, which Windows gave this start and nobody else."""
    if platform == "win32" and pid:
        (call or _allow_set_foreground_window)(pid)


def name_for_taskbar(
    call: Callable[[str], object] | None = None,
    platform: str = sys.platform,
    *,
    packaged: bool = bool(getattr(sys, "frozen", False)),
) -> None:
    """Keep the window out of the group of Python's other windows, whose icon it would have.

    The packaged app has no need of it: Windows knows it by its program's file, as it does the shortcut in the start
    menu. A name here would have to be in that shortcut, too, or what is pinned there would be another program.
    """
    if platform == "win32" and not packaged:
        (call or _set_app_user_model_id)(TASKBAR_NAME)


def keep_version_from_shell(platform: str = sys.platform) -> None:
    """Let `platform` ask Windows itself for its version, as it does anyway where there is no shell.

    WORKAROUND: Python's `platform.win32_ver()` runs `ver` in cmd.exe, and so do `platform.system()` and `platform()`,
    which aiohttp calls when it is imported: for a program without a console a black window flashes up.
    """
    if platform == "win32":
        import platform as asked

        setattr(asked, "_syscmd_ver", lambda *_, **__: ("", "", ""))  # noqa: B010 (a private name of the library's)


def _allow_set_foreground_window(pid: int) -> object:
    import ctypes

    return ctypes.WinDLL("user32").AllowSetForegroundWindow(pid)  # type: ignore[attr-defined,unused-ignore]


def _set_app_user_model_id(name: str) -> object:
    import ctypes

    shell = ctypes.WinDLL("shell32")  # type: ignore[attr-defined,unused-ignore]
    return shell.SetCurrentProcessExplicitAppUserModelID(ctypes.c_wchar_p(name))
