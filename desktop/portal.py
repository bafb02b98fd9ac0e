"""Whether the desktop's own file dialog is to be had through the portal (XDG Desktop Portal, Linux). Needs no Qt.

Qt draws GTK's dialog where its gtk3 plugin is there, and KDE's where KDE's own plugin is. The packaged app has neither,
and a sandbox would only show the sandbox's files. The portal shows the right one in all of these cases, but Qt has to
be told so before it starts; and where nobody answers there, Qt's dialog for it would close at once.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

log = logging.getLogger("handraise.portal")

THEME = "xdgdesktopportal"
"""What Qt calls it, as an argument of `-platformtheme`."""
_PLUGIN = "qxdgdesktopportal"
OLDEST_FILE_CHOOSER = 3
"""The first version of the portal's interface that lets folders be chosen."""
ANSWER_MS = 1500
"""How long it may take: it may have to be started first."""

_LIBRARY = "libdbus-1.so.3"
"""Not written into the call itself, where PyInstaller would find it and pack this computer's own."""
_PLUGINS = {
    "kde": ("KDEPlasmaPlatformTheme6",),
    "lxqt": ("qtlxqt",),
    **dict.fromkeys(("gnome", "x-cinnamon", "cinnamon", "mate", "xfce", "unity", "budgie", "pantheon"), ("qgtk3",)),
}
"""Qt's plugins with a desktop's own dialogs, by the desktop's name in XDG_CURRENT_DESKTOP."""


def qt_arguments(
    env: Mapping[str, str],
    plugins: Iterable[str],
    *,
    platform: str = sys.platform,
    sandbox_file: Path = Path("/.flatpak-info"),
    ask: Callable[[], int] | None = None,
) -> list[str]:
    """The arguments for QApplication that make it use the portal; none where it shall decide by itself.

    They are arguments and no variable, so that no program that is started from here gets them.

    Args:
        env: the variables of this process.
        plugins: the names of Qt's platform theme plugins that are there, without `lib` and `.so`.
        platform: as `sys.platform` has it.
        sandbox_file: what is there in a Flatpak.
        ask: gives the version of the portal's file chooser, 0 for none; the bus is asked by default.
    """
    if not platform.startswith("linux") or env.get("QT_QPA_PLATFORMTHEME") or _PLUGIN not in (there := set(plugins)):
        return []
    if env.get("QT_QPA_PLATFORM", "").partition(":")[0] in ("offscreen", "minimal", "vnc", "linuxfb"):
        return []
    in_sandbox = sandbox_file.exists() or bool(env.get("SNAP"))
    if not in_sandbox and any(there.intersection(_PLUGINS.get(name, ())) for name in _desktops(env)):
        return []
    if not _has_session_bus(env):
        return []
    version = (ask or file_chooser_version)()
    log.debug("The portal's file chooser has version %d", version)
    return ["-platformtheme", THEME] if version >= OLDEST_FILE_CHOOSER else []


def theme_plugins(folder: Path) -> list[str]:
    """The names of the plugins in Qt's folder of platform themes."""
    try:
        return [path.stem.removeprefix("lib") for path in folder.iterdir() if path.suffix == ".so"]
    except OSError:
        return []


def _desktops(env: Mapping[str, str]) -> list[str]:
    return [name.lower() for name in env.get("XDG_CURRENT_DESKTOP", "").split(":") if name]


def _has_session_bus(env: Mapping[str, str]) -> bool:
    # Without one libdbus would start one of its own, which nobody else is on.
    if env.get("DBUS_SESSION_BUS_ADDRESS"):
        return True
    folder = env.get("XDG_RUNTIME_DIR")
    return bool(folder) and os.path.exists(os.path.join(folder or "", "bus"))


def file_chooser_version() -> int:
    """The version of the portal's file chooser on the session bus, 0 where there is none or nobody answers in time."""
    try:
        bus = ctypes.CDLL(_LIBRARY)
    except OSError:
        return 0
    pointer = ctypes.c_void_p
    for name in ("dbus_bus_get_private", "dbus_message_new_method_call", "dbus_connection_send_with_reply_and_block"):
        getattr(bus, name).restype = pointer
    connection = pointer(bus.dbus_bus_get_private(0, None))  # 0: DBUS_BUS_SESSION
    if not connection:
        return 0
    try:
        bus.dbus_connection_set_exit_on_disconnect(connection, 0)
        return _asked_version(bus, connection)
    finally:
        bus.dbus_connection_close(connection)
        bus.dbus_connection_unref(connection)


def _asked_version(bus: ctypes.CDLL, connection: ctypes.c_void_p) -> int:
    """Calls org.freedesktop.DBus.Properties.Get for the file chooser's `version`."""
    names = (b"org.freedesktop.portal.Desktop", b"/org/freedesktop/portal/desktop", b"org.freedesktop.DBus.Properties")
    call = ctypes.c_void_p(bus.dbus_message_new_method_call(*names, b"Get"))
    if not call:
        return 0
    iterator, inner = (ctypes.create_string_buffer(256) for _ in range(2))  # DBusMessageIter is 72 bytes
    bus.dbus_message_iter_init_append(call, iterator)
    for word in (b"org.freedesktop.portal.FileChooser", b"version"):
        bus.dbus_message_iter_append_basic(iterator, ord("s"), ctypes.byref(ctypes.c_char_p(word)))
    # No error is asked for, so one comes back as no reply.
    reply = ctypes.c_void_p(bus.dbus_connection_send_with_reply_and_block(connection, call, ANSWER_MS, None))
    bus.dbus_message_unref(call)
    if not reply:
        return 0
    version = ctypes.c_uint32(0)
    if bus.dbus_message_iter_init(reply, iterator) and bus.dbus_message_iter_get_arg_type(iterator) == ord("v"):
        bus.dbus_message_iter_recurse(iterator, inner)
        if bus.dbus_message_iter_get_arg_type(inner) == ord("u"):
            bus.dbus_message_iter_get_basic(inner, ctypes.byref(version))
    bus.dbus_message_unref(reply)
    return version.value
