"""Whose the native files of a frozen app are on Windows and macOS, where no package manager knows it.

Python from python.org brings libraries of others, as files beside it and inside its own files. They are told by the
names of those files. What nobody here knows is named, so that it can be put into the tables before it is given away.
"""

from __future__ import annotations

import re
import ssl
import struct
import sys
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

Entry = tuple[str, str, str]


@dataclass(frozen=True)
class Library:
    """What somebody else made.

    Attributes:
        text: the name of its licence's file in `resources/licenses/native`.
    """

    name: str
    licence: str
    text: str
    is_spdx: bool = True


@dataclass(frozen=True)
class Found:
    """A library that is inside; its version is empty where neither its file nor Python tells it."""

    library: Library
    version: str


VC_RUNTIME = Library("Microsoft Visual C++ Runtime", "LicenseRef-Microsoft-Distributable-Code", "Microsoft.txt")
UCRT = Library("Microsoft Universal C Runtime", "LicenseRef-Microsoft-Distributable-Code", "Microsoft.txt")
OPENSSL = Library("OpenSSL", "Apache-2.0", "OpenSSL.txt")
LIBFFI = Library("libffi", "MIT", "libffi.txt")
SQLITE = Library("SQLite", "blessing", "SQLite.txt")
ZLIB = Library("zlib", "Zlib", "zlib.txt")
BZIP2 = Library("bzip2", "bzip2-1.0.6", "bzip2.txt")
XZ = Library("XZ Utils", "public domain, from 5.6 on 0BSD", "XZ.txt", is_spdx=False)
EXPAT = Library("Expat", "MIT", "Expat.txt")
LIBMPDEC = Library("libmpdec", "BSD-2-Clause", "libmpdec.txt")
NCURSES = Library("ncurses", "X11-distribute-modifications-variant", "ncurses.txt")
LIBINTL = Library("libintl", "LGPL-2.1-or-later", "libintl.txt")

LIBRARIES: dict[str, dict[str, Library]] = {
    "win32": {
        # Whoever built a wheel may have put its own copy beside it, with a mark in the name.
        r"(vcruntime|msvcp|concrt|vccorlib|vcomp|vcamp)140.*\.dll": VC_RUNTIME,
        r"ucrtbase\.dll|api-ms-win-.+\.dll": UCRT,
        # Not of 1.1, which has another licence.
        r"lib(ssl|crypto)-3(-\w+)?\.dll": OPENSSL,
        r"libffi-\d+\.dll": LIBFFI,
        r"sqlite3\.dll": SQLITE,
        r"zlib1?\.dll": ZLIB,
    },
    "darwin": {
        r"lib(ssl|crypto)\.3\.dylib": OPENSSL,
        r"libffi\.\d+\.dylib": LIBFFI,
        r"libsqlite3(\.[\d.]+)?\.dylib": SQLITE,
        r"libz\.[\d.]+\.dylib": ZLIB,
        r"libbz2\.[\d.]+\.dylib": BZIP2,
        r"liblzma\.\d+\.dylib": XZ,
        r"libexpat\.\d+\.dylib": EXPAT,
        r"libmpdec\.[\d.]+\.dylib": LIBMPDEC,
        r"lib(ncurses|form|menu|panel|tinfo)w?\.\d+\.dylib": NCURSES,
        r"libintl\.\d+\.dylib": LIBINTL,  # of a Python that was built with Homebrew's libraries
    },
}
"""Files that are a library, by a pattern of their names."""

INSIDE_PYTHON: dict[str, dict[str, Library]] = {
    "win32": {
        r"python3\d+t?\.dll": ZLIB,
        r"_bz2\..*pyd": BZIP2,
        r"_lzma\..*pyd": XZ,
        r"pyexpat\..*pyd": EXPAT,
        r"_decimal\..*pyd": LIBMPDEC,
    },
    # The others are those of macOS itself.
    "darwin": {r"_lzma\..+": XZ, r"_sqlite3\..+": SQLITE, r"pyexpat\..+": EXPAT, r"_decimal\..+": LIBMPDEC},
}
"""Files of Python that have a library linked into them."""

OF_PYTHON = {
    "win32": r"python3(\d+t?)?\.dll",
    "darwin": r"Python|libpython3\.\d+t?\.dylib",
}

_KNOWN_TO_PYTHON: dict[Library, Callable[[], str]] = {
    OPENSSL: lambda: ssl.OPENSSL_VERSION,
    ZLIB: lambda: zlib.ZLIB_RUNTIME_VERSION,
    SQLITE: lambda: str(import_module("sqlite3").sqlite_version),
    EXPAT: lambda: str(import_module("pyexpat").EXPAT_VERSION),
    LIBMPDEC: lambda: str(import_module("_decimal").__libmpdec_version__),
    NCURSES: lambda: ".".join(map(str, import_module("curses").ncurses_version)),
}
_BZIP2_SAYS = re.compile(rb"(1\.\d+\.\d+), \d+-[A-Z][a-z]{2}-\d{4}")
_FIXED_FILE_INFO = struct.pack("<II", 0xFEEF04BD, 0x10000)
"""How the numbers of a version begin in a file of Windows: VS_FIXEDFILEINFO of its API."""


def identified(
    binaries: Iterable[Entry], system: str, of_packages: Collection[str]
) -> tuple[set[Found], list[str]]:  # fmt: skip
    """The libraries among what PyInstaller collected, and the files that nobody knows.

    Args:
        system: what `sys.platform` says where the app will run.
        of_packages: the files of Python packages, as `same_place` writes them. Their licences are those packages'.
    """
    found: set[Found] = set()
    unknown: list[str] = []
    for place, source, kind in binaries:
        name = place.replace("\\", "/").rpartition("/")[2]
        if kind == "SYMLINK":
            continue
        # Before packages: a wheel may bring Microsoft's files too.
        if (library := _matching(LIBRARIES[system], name)) is not None:
            found.add(Found(library, stamped_version(_content(source)) or version_from_python(library)))
        elif (library := _matching(INSIDE_PYTHON[system], name)) is not None:
            found.add(Found(library, _version_inside(library, source)))
        elif same_place(source) not in of_packages and not is_of_python(name, system):
            unknown.append(place)
    return found, unknown


def same_place(path: str | Path) -> str:
    """A path to compare by: links are followed, and small letters stand for large ones."""
    return str(Path(path).resolve()).casefold()


def is_of_python(name: str, system: str) -> bool:
    """Whether that is the name of Python's library, or of a module of its standard library."""
    if re.fullmatch(OF_PYTHON[system], name, re.IGNORECASE):
        return True
    return name.endswith((".pyd", ".so")) and name.partition(".")[0] in sys.stdlib_module_names


def stamped_version(content: bytes) -> str:
    """What Windows shows as the version of a file, without a fourth number that says nothing; or an empty text."""
    start = content.find(_FIXED_FILE_INFO)
    if start < 0 or len(content) < start + 16:
        return ""
    high, low = struct.unpack_from("<II", content, start + 8)
    numbers = [high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF]
    return ".".join(map(str, numbers if numbers[3] else numbers[:3]))


def version_from_python(library: Library) -> str:
    """What the Python that builds says about a library of its own; or an empty text."""
    try:
        said = _KNOWN_TO_PYTHON[library]()
    except (KeyError, ImportError, AttributeError):
        return ""
    number = re.search(r"\d[\w.]*", said)
    return number[0] if number else ""


def _version_inside(library: Library, source: str) -> str:
    if library is BZIP2:
        said = _BZIP2_SAYS.search(_content(source))
        return said[1].decode() if said else ""
    return version_from_python(library)


def _matching(table: dict[str, Library], name: str) -> Library | None:
    return next((library for pattern, library in table.items() if re.fullmatch(pattern, name, re.IGNORECASE)), None)


def _content(source: str) -> bytes:
    return Path(source).read_bytes()
