"""Makes what is given to people from a frozen folder: a `.tar.xz` with an installer script, and a `.deb`.

    pyinstaller build.spec && python resources/linux/package.py dist/handraise --into dist

Prints each file with its size. Needs `dpkg-deb`.
"""

from __future__ import annotations

import argparse
import datetime
import email.utils
import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from desktop import __version__  # noqa: E402 (a script: the checkout is put into the path first)
from desktop.release import PROJECT  # noqa: E402
from resources.tools import shared_libraries  # noqa: E402

DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
ICON_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
METAINFO = "io.github.handraise.handraise.metainfo.xml"
LEVEL: Final = 6
"""Of xz. More takes much longer and gains nothing here."""
HOMEPAGE = f"https://github.com/{PROJECT}"
MAINTAINER = "The Handraise authors <handraise@users.noreply.github.com>"
"""A `.deb` must name an address. The project has no mailbox: this one belongs to its account and says that nobody reads
it; who has something to say finds the project's page in `Homepage`."""
SUMMARY = "desktop client for Claude Code that asks you when it needs a decision"
DESCRIPTION = """\
 Talk to Claude Code about a folder, in a window. When Claude needs a decision,
 it stops and asks: the question comes up as a dialog, you choose, the work goes
 on. It uses the claude that is already on the machine.
 .
 It is not an official client, and not made by Anthropic.
"""


def tree(frozen: Path, prefix: Path) -> None:
    """Lay the frozen folder out below a prefix, with the files that a desktop looks for."""
    shutil.copytree(frozen, prefix / "lib" / "handraise", symlinks=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "handraise").symlink_to("../lib/handraise/handraise")
    share = prefix / "share"
    _put(HERE / "handraise.desktop", share / "applications" / "handraise.desktop")
    _put(HERE / METAINFO, share / "metainfo" / METAINFO)
    icons = ROOT / "resources" / "icons"
    _put(icons / "handraise.svg", share / "icons" / "hicolor" / "scalable" / "apps" / "handraise.svg")
    for size in ICON_SIZES:
        place = share / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "handraise.png"
        _put(icons / f"handraise-{size}.png", place)
    documents = share / "doc" / "handraise"
    _put(ROOT / "LICENSE", documents / "copyright")
    with (documents / "copyright").open("a", encoding="utf-8") as file:
        file.write("\nWhat others made: components.cdx.json and licenses/ in lib/handraise/_internal.\n")
    documents.joinpath("CHANGELOG.md.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))


def _put(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def set_modes(folder: Path) -> None:
    """Whatever the builder's umask is: everybody may read, and programs may be executed. (No library needs that.)"""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or bool(path.stat().st_mode & 0o100 and ".so" not in path.name)
            path.chmod(0o755 if runs else 0o644)


def make_archive(frozen: Path, into: Path) -> Path:
    """The `.tar.xz`: one folder with a tree to be copied into a prefix, and `install.sh`, which does that."""
    name = f"handraise-{__version__}-linux-{platform.machine()}"
    target = into / f"{name}.tar.xz"
    with tempfile.TemporaryDirectory(dir=into) as work:
        tree(frozen, Path(work) / name)
        script = (HERE / "install.sh").read_text("utf-8").replace("@GLIBC@", shared_libraries.glibc_version(frozen))
        (Path(work) / name / "install.sh").write_text(script, encoding="utf-8")
        shutil.copyfile(ROOT / "LICENSE", Path(work) / name / "LICENSE")
        (Path(work) / name / "install.sh").chmod(0o755)
        set_modes(Path(work) / name)
        # Not with `tar --xz`: that program is not on every system.
        with tarfile.open(target, "w:xz", preset=LEVEL) as archive:
            for path in [Path(work) / name, *sorted((Path(work) / name).rglob("*"))]:
                member = path.relative_to(work).as_posix()
                archive.add(path, member, recursive=False, filter=_of_root)
    return target


def _of_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = int(_when())
    return member


def make_deb(frozen: Path, into: Path, *, level: int) -> Path:
    """The `.deb`, packed with xz's `level`. What it depends on is read from the libraries themselves."""
    machine = DEBIAN_NAMES[platform.machine()]
    target = into / f"handraise_{__version__}_{machine}.deb"
    with tempfile.TemporaryDirectory(dir=into) as work:
        root = Path(work) / "root"
        tree(frozen, root / "usr")
        documents = root / "usr" / "share" / "doc" / "handraise"
        documents.joinpath("changelog.gz").write_bytes(gzip.compress(_changelog(), mtime=0))
        set_modes(root)
        files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        size = sum(path.stat().st_size for path in files) // 1024
        control = root / "DEBIAN"
        control.mkdir(mode=0o755)
        depends = shared_libraries.debian_packages(frozen)
        (control / "control").write_text(
            f"Package: handraise\nVersion: {debian_version(__version__)}\nArchitecture: {machine}\n"
            f"Maintainer: {MAINTAINER}\nHomepage: {HOMEPAGE}\n"
            f"Installed-Size: {size}\nDepends: {', '.join(depends)}\n"
            "Recommends: fontconfig, xdg-desktop-portal\nSuggests: fonts-noto-cjk, fonts-noto-color-emoji\n"
            "Section: devel\nPriority: optional\n"
            f"Description: {SUMMARY}\n{DESCRIPTION}"
            f" .\n It runs with glibc {shared_libraries.glibc_version(frozen)} or newer.\n",
            encoding="utf-8",
        )
        sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root).as_posix()}" for path in files]
        (control / "md5sums").write_text("\n".join(sums) + "\n", encoding="utf-8")
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--build", str(root), str(target)]
        environment = os.environ | {"SOURCE_DATE_EPOCH": _when()}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return target


def debian_version(version: str) -> str:
    """The version as Debian sorts it: for dpkg `1.2.0rc1` is newer than `1.2.0`, but `1.2.0~rc1` is older."""
    # Python puts a dev before the a of the same number, so it gets one more.
    return re.sub(r"\.?(a|b|rc)(?=\d)", r"~\1", re.sub(r"\.?(dev)(?=\d)", r"~~\1", version))


def _changelog() -> bytes:
    """In Debian's own form, which its tools read; the words are in the change log of the project."""
    date = email.utils.format_datetime(datetime.datetime.fromtimestamp(int(_when()), datetime.UTC))
    text = "  * What is new is told in CHANGELOG.md.gz beside this file."
    first = f"handraise ({debian_version(__version__)}) unstable; urgency=medium"
    return f"{first}\n\n{text}\n\n -- {MAINTAINER}  {date}\n".encode()


def _when() -> str:
    """The time that all files get, in seconds: that of the last commit, where the builder says it."""
    return os.environ.get("SOURCE_DATE_EPOCH", "1767225600")


def main() -> int:
    """Make both; exit code 0."""
    parser = argparse.ArgumentParser(description="Makes the Linux packages from a frozen folder.")
    parser.add_argument("frozen", type=Path, help="the folder that PyInstaller made, with the program in it")
    parser.add_argument("--into", type=Path, default=Path("dist"), help="where the packages go (dist)")
    parser.add_argument("--quick-deb", action="store_true", help="pack the .deb fast and larger, for a test")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    # Side by side: packing is what takes the time, and neither needs the interpreter for it.
    with ThreadPoolExecutor() as pool:
        frozen, into = given.frozen.resolve(), given.into.resolve()
        making = [
            pool.submit(make_archive, frozen, into),
            pool.submit(make_deb, frozen, into, level=0 if given.quick_deb else LEVEL),
        ]
    for made in (future.result() for future in making):
        print(f"{made.name} {made.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
