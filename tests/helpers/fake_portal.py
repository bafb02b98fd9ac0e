"""A portal that answers every request for a file with one folder. Run it with the system's Python, which has GLib:

    python3 fake_portal.py FOLDER SEEN

What it was asked goes into the file SEEN, a line of JSON a request; the file is there once it can be asked.
The desktop it speaks for is a dark one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DESKTOP = "/org/freedesktop/portal/desktop"
NAME = "org.freedesktop.portal.Desktop"
INTERFACES = """
<node>
  <interface name="org.freedesktop.portal.FileChooser">
    <method name="OpenFile">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
      <arg type="o" direction="out"/>
    </method>
    <property name="version" type="u" access="read"/>
  </interface>
  <interface name="org.freedesktop.portal.Settings">
    <method name="Read">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/>
    </method>
    <method name="ReadOne">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/>
    </method>
    <method name="ReadAll"><arg type="as" direction="in"/><arg type="a{sa{sv}}" direction="out"/></method>
    <property name="version" type="u" access="read"/>
  </interface>
</node>
"""
APPEARANCE, DARK = "org.freedesktop.appearance", 1


def main(folder: Path, seen: Path) -> None:
    """Answers until the bus is gone."""
    from gi.repository import Gio, GLib  # type: ignore[import-not-found,unused-ignore]

    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    count = 0

    def answer(path: str) -> bool:
        found = {"uris": GLib.Variant("as", [folder.as_uri()])}
        values = GLib.Variant("(ua{sv})", (0, found))
        bus.emit_signal(None, path, "org.freedesktop.portal.Request", "Response", values)
        return False

    def on_call(_: Any, who: str, path: str, interface: str, method: str, words: Any, call: Any) -> None:
        nonlocal count
        given = words.unpack()
        if method == "OpenFile":
            with seen.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"title": given[1], "directory": given[2].get("directory")}) + "\n")
            count += 1
            request = f"{DESKTOP}/request/{who[1:].replace('.', '_')}/number{count}"
            call.return_value(GLib.Variant("(o)", (request,)))
            GLib.timeout_add(300, answer, request)
        elif method == "ReadAll":
            everything = {APPEARANCE: {"color-scheme": GLib.Variant("u", DARK)}}
            call.return_value(GLib.Variant("(a{sa{sv}})", (everything,)))
        elif given == (APPEARANCE, "color-scheme"):
            value = GLib.Variant("u", DARK)
            call.return_value(GLib.Variant("(v)", (GLib.Variant("v", value) if method == "Read" else value,)))
        else:
            call.return_dbus_error("org.freedesktop.portal.Error.NotFound", "There is no such setting")

    def on_get(*_: Any) -> Any:
        return GLib.Variant("u", 4)

    for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
        bus.register_object(DESKTOP, interface, on_call, on_get, None)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: seen.touch(), None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
