"""What Windows' shell is told, tried on any system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from desktop import windows_shell


def test_a_second_start_lends_the_first_its_right_to_come_to_the_front() -> None:
    told: list[int] = []
    windows_shell.allow_foreground(42, told.append, "win32")
    windows_shell.allow_foreground(0, told.append, "win32")  # nobody knows which process it is
    windows_shell.allow_foreground(42, told.append, "linux")
    assert told == [42]


def test_only_a_window_of_pythons_own_program_has_a_name_for_the_taskbar() -> None:
    told: list[str] = []
    windows_shell.name_for_taskbar(told.append, "win32", packaged=False)
    windows_shell.name_for_taskbar(told.append, "win32", packaged=True)
    windows_shell.name_for_taskbar(told.append, "darwin", packaged=False)
    assert told == [windows_shell.TASKBAR_NAME]


class WindowsVersion(tuple[int, int, int]):
    """What sys.getwindowsversion() gives."""

    platform_version = (10, 0, 22631)
    service_pack_major = 0
    product_type = 1


def test_no_shell_is_started_to_learn_which_windows_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def flash(*_: object, **__: object) -> str:
        raise AssertionError("a console flashes up")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "getwindowsversion", lambda: WindowsVersion((10, 0, 22631)), raising=False)
    monkeypatch.setattr(subprocess, "check_output", flash)
    monkeypatch.setattr(platform, "_syscmd_ver", platform._syscmd_ver)  # type: ignore[attr-defined]  # put back after
    with pytest.raises(AssertionError, match="flashes"):
        platform.win32_ver()

    windows_shell.keep_version_from_shell("win32")

    assert platform.win32_ver()[1] == "10.0.22631"


def test_elsewhere_the_library_is_left_alone() -> None:
    before = platform._syscmd_ver  # type: ignore[attr-defined]
    windows_shell.keep_version_from_shell("linux")
    assert platform._syscmd_ver is before  # type: ignore[attr-defined]
