"""What Windows' shell is told, tried on any system."""

from __future__ import annotations

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
