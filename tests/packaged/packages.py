"""What the tests of the packages share."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.helpers.required import skip_or_fail

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 600


@dataclass(frozen=True)
class Packages:
    """The files that are given to people."""

    archive: Path
    deb: Path

    def unpack(self, into: Path) -> Path:
        """Unpacks the archive; gives the one folder that is in it. (`tar` would need xz, which may be missing.)"""
        with tarfile.open(self.archive) as archive:
            archive.extractall(into, filter="tar")
        return into / self.archive.name.removesuffix(".tar.xz")


def freeze(source: Path, into: Path, *more: str) -> Path:
    """Freezes a spec or a script below that folder; gives the folder with the program. Raises RuntimeError."""
    folders = ["--distpath", str(into / "dist"), "--workpath", str(into / "work")]
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", *folders, *more, str(source)]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    (folder,) = (into / "dist").iterdir()
    return folder


def missing(reason: str) -> NoReturn:
    """Skip, unless HANDRAISE_REQUIRE_PACKAGE=1 wants that to be a failure."""
    skip_or_fail("HANDRAISE_REQUIRE_PACKAGE", reason)


@dataclass(frozen=True)
class Size:
    """What was weighed, in bytes, and the most that it may weigh."""

    what: str
    size: float
    limit: float

    def __str__(self) -> str:
        return f"{self.what:24}{self.size / 1e6:7.1f} of at most {self.limit / 1e6:.0f} MB"


recorded_sizes: list[Size] = []
"""Of this run, for its summary."""


def record_size(what: str, size: float, limit: float) -> None:
    """Notes a size that the summary of the run prints beside its limit, whether or not the test passes.

    Args:
        what: a few words, such as "Windows installer".
        size: bytes.
        limit: bytes; the test itself asserts that it holds.
    """
    recorded_sizes.append(Size(what, size, limit))


def size_of(folder: Path) -> int:
    """Bytes of all files below, each counted once."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
