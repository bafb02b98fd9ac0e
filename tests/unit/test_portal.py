"""When the desktop's own file dialog comes through the portal, and when Qt is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop import portal

PACKAGED = ["qxdgdesktopportal"]
FROM_A_WHEEL = ["qgtk3", "qxdgdesktopportal"]
USED = ["-platformtheme", "xdgdesktopportal"]
SESSION = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus"}


def version(number: int) -> Callable[[], int]:
    return lambda: number


def chosen(env: dict[str, str], plugins: list[str], *, found: int = 4, sandbox: Path = Path("/nowhere")) -> list[str]:
    return portal.qt_arguments(SESSION | env, plugins, platform="linux", sandbox_file=sandbox, ask=version(found))


@pytest.mark.parametrize("desktop", ["GNOME", "ubuntu:GNOME", "KDE", "XFCE", "sway", ""])
def test_the_packaged_app_asks_the_portal_on_every_desktop_that_has_one(desktop: str) -> None:
    assert chosen({"XDG_CURRENT_DESKTOP": desktop}, PACKAGED) == USED


@pytest.mark.parametrize(("desktop", "used"), [("GNOME", []), ("ubuntu:GNOME", []), ("XFCE", []), ("KDE", USED)])
def test_where_qt_has_the_desktops_own_plugin_it_is_left_alone(desktop: str, used: list[str]) -> None:
    assert chosen({"XDG_CURRENT_DESKTOP": desktop}, FROM_A_WHEEL) == used


def test_in_a_sandbox_it_is_the_portal_whatever_plugins_there_are(tmp_path: Path) -> None:
    assert chosen({"XDG_CURRENT_DESKTOP": "GNOME", "SNAP": "/snap/handraise/1"}, FROM_A_WHEEL) == USED
    flatpak = tmp_path / ".flatpak-info"
    flatpak.touch()
    assert chosen({"XDG_CURRENT_DESKTOP": "GNOME"}, FROM_A_WHEEL, sandbox=flatpak) == USED


def test_what_the_person_has_set_is_kept() -> None:
    assert chosen({"QT_QPA_PLATFORMTHEME": "qt6ct"}, PACKAGED) == []


def test_a_portal_that_is_not_there_or_cannot_choose_folders_is_not_used() -> None:
    assert chosen({}, PACKAGED, found=0) == []
    assert chosen({}, PACKAGED, found=2) == []
    assert chosen({}, PACKAGED, found=3) == USED


def test_without_a_session_bus_nobody_is_asked() -> None:
    def must_not_be_asked() -> int:
        raise AssertionError("libdbus would start a bus")

    assert portal.qt_arguments({}, PACKAGED, platform="linux", ask=must_not_be_asked) == []


def test_the_bus_of_the_runtime_folder_is_a_session_bus(tmp_path: Path) -> None:
    (tmp_path / "bus").touch()
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert portal.qt_arguments(env, PACKAGED, platform="linux", ask=version(4)) == USED


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_have_no_portal(platform: str) -> None:
    assert portal.qt_arguments(SESSION, PACKAGED, platform=platform, ask=version(4)) == []


def test_the_plugin_must_be_there(tmp_path: Path) -> None:
    assert chosen({}, portal.theme_plugins(tmp_path / "missing")) == []
    (tmp_path / "libqxdgdesktopportal.so").touch()
    assert chosen({}, portal.theme_plugins(tmp_path)) == USED
