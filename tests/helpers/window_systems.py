"""The window systems and buses that a test starts for itself."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from tests.helpers.required import skip_or_fail

SECONDS = 60
SYSTEM_PYTHON = "/usr/bin/python3"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir={folder}</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


def missing(reason: str) -> NoReturn:
    """Skip, unless HANDRAISE_REQUIRE_DESKTOPS=1 wants that to be a failure."""
    skip_or_fail("HANDRAISE_REQUIRE_DESKTOPS", reason)


@contextlib.contextmanager
def virtual_screen(log: Path) -> Iterator[str]:
    """Runs Xvfb on a free number; gives the display's name. With the context the screen is gone."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    with log.open("wb") as words:
        server = subprocess.Popen(command, pass_fds=(writing,), stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    os.close(writing)
    try:
        yield f":{_first_line(reading, log)}"
    finally:
        os.close(reading)
        end(server)


@contextlib.contextmanager
def wayland(folder: Path) -> Iterator[dict[str, str]]:
    """Runs weston without a screen; gives the variables by which programs find it. With the context it is gone."""
    folder.mkdir(mode=0o700)
    variables = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-test"}
    command = ["weston", "--backend=headless-backend.so", "--use-pixman", "--socket=wayland-test", "--idle-time=0"]
    log = folder / "weston.log"
    with log.open("wb") as words:
        server = subprocess.Popen(
            command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=words, stderr=words
        )
    try:
        deadline = time.monotonic() + SECONDS
        while not (folder / "wayland-test").exists():
            assert server.poll() is None, f"weston has ended:\n{log.read_text(errors='replace')}"
            assert time.monotonic() < deadline, f"weston gave no socket:\n{log.read_text(errors='replace')}"
            time.sleep(0.05)
        yield variables
    finally:
        end(server)


@contextlib.contextmanager
def session_bus(folder: Path) -> Iterator[str]:
    """Runs a message bus on which nobody is, and which starts nobody; gives its address."""
    config, log = folder / "bus.conf", folder / "bus.log"
    config.write_text(BUS.format(folder=folder), encoding="utf-8")
    reading, writing = os.pipe()
    command = ["dbus-daemon", f"--config-file={config}", f"--print-address={writing}", "--nofork", "--nopidfile"]
    with log.open("wb") as words:
        server = subprocess.Popen(command, pass_fds=(writing,), stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    os.close(writing)
    try:
        yield _first_line(reading, log)
    finally:
        os.close(reading)
        end(server)


@contextlib.contextmanager
def portal(bus: str, folder: Path, seen: Path) -> Iterator[None]:
    """Runs the stand-in for the portal on that bus; it answers with `folder` and writes its requests into `seen`."""
    command = [SYSTEM_PYTHON, str(Path(__file__).with_name("fake_portal.py")), str(folder), str(seen)]
    env = {"PATH": os.defpath, "DBUS_SESSION_BUS_ADDRESS": bus}
    server = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + SECONDS
        while not seen.exists():
            assert server.poll() is None, "the stand-in for the portal has ended"
            assert time.monotonic() < deadline, "the stand-in for the portal is not on the bus"
            time.sleep(0.05)
        yield
    finally:
        end(server)


def has_glib() -> bool:
    """Whether the system's Python can run the stand-in for the portal."""
    command = [SYSTEM_PYTHON, "-c", "from gi.repository import Gio"]
    return os.path.exists(SYSTEM_PYTHON) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def end(process: subprocess.Popen[bytes]) -> None:
    """End it, whatever it takes."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(SECONDS)


def _first_line(reading: int, log: Path) -> str:
    said = b""
    deadline = time.monotonic() + SECONDS
    while not said.endswith(b"\n"):
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(reading, 200) if ready else b""
        assert piece, f"nothing came:\n{log.read_text(errors='replace')}"
        said += piece
    return said.decode().strip()
