"""An older build, and a window of it that is in the middle of something while a newer one is installed over it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

OLDER = "0.0.1~older"
"""The version of the older build."""
STRAY = "lib/handraise/_internal/of-an-older-version"
"""A file that only the older build has, below its prefix."""
CHANGED = "lib/handraise/_internal/components.cdx.json"
"""A file that is another in the older build."""
SECONDS = 60
HEARD = '"type": "user"'
"""In the traffic, once the stand-in is up and was told what to do."""


def make_older(prefix: Path) -> None:
    """Makes an installed tree one of another build.

    Its program holds the same modules at other places, as every other build's does: what it reads of itself after it
    was replaced is read at places where the newer one has something else.
    """
    (prefix / STRAY).write_text("no longer of use", encoding="utf-8")
    (prefix / CHANGED).write_text("{}", encoding="utf-8")
    program = prefix / "lib" / "handraise" / "handraise"
    payload, padding = program.with_suffix(".payload"), program.with_suffix(".padding")
    padding.write_bytes(b"older" * 1001)
    section = "pydata"  # where PyInstaller puts all that belongs to the program
    for options in (
        ["--dump-section", f"{section}={payload}"],
        ["--remove-section", section, "--add-section", f"padding={padding}"],
        ["--add-section", f"{section}={payload}"],
    ):
        subprocess.run(["objcopy", *options, str(program)], check=True, timeout=60)
    payload.unlink()
    padding.unlink()


def repack(deb: Path, into: Path) -> Path:
    """The same package as an older build would have been."""
    tree = into / "older"
    subprocess.run(["dpkg-deb", "--raw-extract", str(deb), str(tree)], check=True, timeout=120)
    make_older(tree / "usr")
    control = tree / "DEBIAN" / "control"
    lines = control.read_text("utf-8").splitlines(keepends=True)
    lines = [f"Version: {OLDER}\n" if line.startswith("Version:") else line for line in lines]
    control.write_text("".join(lines), encoding="utf-8")
    target = into / "older.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(target)]
    subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL)
    return target


@contextlib.contextmanager
def busy_window(command: list[str], traffic: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Runs the smoke test of a window, whose stand-in keeps it waiting for a question until the block ends.

    Afterwards it has to answer that question and to leave; the caller waits for that.

    Args:
        command: what starts it, and leads the stand-in to write what it hears and says (FAKE_CLI_LOG) to:
        traffic: that file.
        options: of Popen.
    """
    window = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    stand_in: list[psutil.Process] = []
    try:
        deadline = time.monotonic() + SECONDS
        while not (traffic.exists() and HEARD in traffic.read_text("utf-8")):
            assert window.poll() is None, window.communicate()
            assert time.monotonic() < deadline, "the window sent its stand-in nothing"
            time.sleep(0.02)
        stand_in = _stand_ins(window.pid)
        assert stand_in, "the stand-in has gone"
        for process in stand_in:
            process.send_signal(signal.SIGSTOP)
        yield window
    except BaseException:
        window.kill()
        window.communicate()
        raise
    finally:
        for process in stand_in:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


def _stand_ins(window: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(window).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # one that was asked for its version is just about gone
            if "--fake-cli" in (line := child.cmdline()) and "--version" not in line:
                found.append(child)
    return found
