"""What the shared libraries of a frozen Linux app need of each other and of the system."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

Entry = tuple[str, str, str]
"""An entry of PyInstaller's tables: where it goes, where it comes from, its type."""

LEFT_TO_THE_SYSTEM = re.compile(
    r"lib(stdc\+\+|gcc_s|X11|X11-xcb|Xext|Xrender|Xau|Xdmcp|fontconfig|freetype|expat|dbus-1)\.so(\.|$)"
)
"""What every desktop has, and what breaks when an old copy comes with the app: the graphics drivers want the system's
libstdc++, the fonts' cache the system's fontconfig (as in the `excludelist` of AppImageCommunity/pkg2appimage)."""

PACKAGES: Mapping[str, str] = {
    "ld-linux-x86-64.so.2": "libc6", "ld-linux-aarch64.so.1": "libc6",
    "libc.so.6": "libc6", "libdl.so.2": "libc6", "libm.so.6": "libc6", "libpthread.so.0": "libc6",
    "libresolv.so.2": "libc6", "librt.so.1": "libc6", "libutil.so.1": "libc6", "libcrypt.so.1": "libcrypt1",
    "libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6",
    "libEGL.so.1": "libegl1", "libGL.so.1": "libgl1", "libGLX.so.0": "libglx0",
    "libX11.so.6": "libx11-6", "libX11-xcb.so.1": "libx11-xcb1", "libXext.so.6": "libxext6",
    "libXrender.so.1": "libxrender1", "libxcb.so.1": "libxcb1",
    "libdbus-1.so.3": "libdbus-1-3", "libexpat.so.1": "libexpat1", "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libwayland-client.so.0": "libwayland-client0", "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}  # fmt: skip
"""The Debian package of each library that may be left to the system. One that is missing here must be in the app."""


class ForeignLibraryError(Exception):
    """The app needs a library that is neither inside nor known to be on every system."""


def _dynamic_section(path: Path) -> str:
    done = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout if done.returncode == 0 else ""


def needed(path: Path) -> set[str]:
    """The names of the libraries that a library or program names itself. Needs binutils, as PyInstaller does."""
    return set(re.findall(r"^\s+NEEDED\s+(\S+)", _dynamic_section(path), re.MULTILINE))


def is_library(destination: str) -> bool:
    """Whether it is there only for those that need it: a library beside the program, or one of Qt's own."""
    place = PurePosixPath(destination)
    return ".so" in place.name and str(place.parent) in (".", "PySide6/Qt/lib")


def without_unneeded(binaries: Iterable[Entry]) -> list[Entry]:
    """The entries without libraries that are left to the system, and without those that nothing needs any more."""
    kept = [entry for entry in binaries if not LEFT_TO_THE_SYSTEM.match(PurePosixPath(entry[0]).name)]
    files = [entry for entry in kept if entry[2] != "SYMLINK"]
    names = {entry[0]: needed(Path(entry[1])) for entry in files}
    wanted = {entry[0] for entry in files if not is_library(entry[0]) or entry[0].startswith("libpython")}
    fresh = set(wanted)
    while fresh:
        sonames = set().union(*(names[destination] for destination in fresh))
        fresh = {place for place in names if place not in wanted and PurePosixPath(place).name in sonames}
        wanted |= fresh
    return [entry for entry in files if entry[0] in wanted]


def without_dead_links(datas: Iterable[Entry], binaries: Iterable[Entry]) -> list[Entry]:
    """The entries of `datas` without links to libraries that are not among `binaries` any more.

    PyInstaller puts a link beside the program for each of Qt's libraries; its target is relative to the link.
    """
    there = {entry[0] for entry in binaries}

    def leads_somewhere(entry: Entry) -> bool:
        return entry[2] != "SYMLINK" or str(PurePosixPath(entry[0]).parent / entry[1]) in there

    return [entry for entry in datas if leads_somewhere(entry)]


def foreign(folder: Path) -> dict[str, set[str]]:
    """The libraries that a frozen folder needs and does not hold, each with the files that want it."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    binaries = [path for path in files if _is_elf(path)]
    inside = {path.name for path in folder.rglob("*.so*")}
    wanted: dict[str, set[str]] = {}
    for path in binaries:
        for name in needed(path) - inside:
            wanted.setdefault(name, set()).add(path.relative_to(folder).as_posix())
    return wanted


def debian_packages(folder: Path) -> list[str]:
    """The Debian packages that a frozen folder depends on, glibc with the version that it was built against.

    Raises:
        ForeignLibraryError: it needs a library that is in no known package.
    """
    wanted = foreign(folder)
    unknown = {name: sorted(files)[:3] for name, files in wanted.items() if name not in PACKAGES}
    if unknown:
        raise ForeignLibraryError(f"neither in the app nor known on every system: {unknown}")
    packages = {PACKAGES[name] for name in wanted} | {"libdbus-1-3", "libfontconfig1"}  # Qt opens these by name
    return [*sorted(packages - {"libc6"}), f"libc6 (>= {glibc_version(folder)})"]


def glibc_version(folder: Path) -> str:
    """The newest glibc that anything in the folder asks for, such as "2.34"."""
    asked = {(2, 17)}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and _is_elf(path):
            found = re.findall(r"\bGLIBC_(\d+)\.(\d+)", _dynamic_section(path))
            asked |= {(int(major), int(minor)) for major, minor in found}
    return ".".join(map(str, max(asked)))


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
