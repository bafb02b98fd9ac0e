"""The Linux packages: small enough, installed with one command, and away again with one."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from desktop import __version__
from resources.linux.package import debian_version
from tests.packaged.packages import Packages, record_size, size_of

pytestmark = pytest.mark.timeout(900)

DOWNLOAD_LIMIT = 45e6
INSTALLED_LIMIT = 140e6


def field(deb: Path, name: str) -> str:
    asked = ["dpkg-deb", "--field", str(deb), name]
    return subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_the_download_stays_small(packages: Packages) -> None:
    """The `.deb` holds the same; here it is packed fast, and therefore larger."""
    size = packages.archive.stat().st_size
    record_size("Linux download", size, DOWNLOAD_LIMIT)
    assert size <= DOWNLOAD_LIMIT


def test_what_is_installed_stays_small(prefix: Path) -> None:
    size = size_of(prefix)
    record_size("Linux installed", size, INSTALLED_LIMIT)
    assert size <= INSTALLED_LIMIT


def test_the_archive_belongs_to_root_and_everybody_may_read_it(packages: Packages) -> None:
    with tarfile.open(packages.archive) as archive:
        members = archive.getmembers()
    roots = {member.name.split("/")[0] for member in members}
    assert roots == {packages.archive.name.removesuffix(".tar.xz")}
    assert {(member.uid, member.gid) for member in members} == {(0, 0)}
    files = [member for member in members if member.isreg()]
    assert all(member.mode in (0o644, 0o755) for member in files)


def test_the_installed_program_starts_from_its_prefix(prefix: Path, tmp_path: Path) -> None:
    command = [str(prefix / "bin" / "handraise"), "--version"]
    said = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=120, check=True)
    assert (said.stdout, said.stderr) == (f"Handraise {__version__}\n", "")


def test_the_menu_starts_it_by_its_whole_path(prefix: Path) -> None:
    entry = (prefix / "share" / "applications" / "handraise.desktop").read_text("utf-8")
    assert f'\nExec="{prefix}/bin/handraise" %f\n' in entry
    icons = prefix / "share" / "icons" / "hicolor"
    assert (icons / "scalable" / "apps" / "handraise.svg").is_file()
    assert (icons / "48x48" / "apps" / "handraise.png").is_file()


def test_installing_again_replaces_and_uninstalling_leaves_nothing(packages: Packages, tmp_path: Path) -> None:
    unpacked = packages.unpack(tmp_path)
    prefix = tmp_path / "home" / ".local"
    kept = prefix / "share" / "handraise" / "drafts"
    older = prefix / "lib" / "handraise" / "of-an-older-version"
    for file in (kept, older):
        file.parent.mkdir(parents=True)
        file.write_text("words", encoding="utf-8")
    install = [str(unpacked / "install.sh")]
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}

    for _ in range(2):
        subprocess.run(install, env=environment, check=True, timeout=300, capture_output=True)
        assert (prefix / "bin" / "handraise").is_file()
        assert not older.exists()

    subprocess.run([*install, "--uninstall"], env=environment, check=True, timeout=300, capture_output=True)
    left = {path for path in prefix.rglob("*") if not path.is_dir()}
    assert {path for path in left if path.suffix != ".cache" and path.name != "mimeinfo.cache"} == {kept}


def test_the_deb_says_what_it_is_and_what_it_needs(packages: Packages) -> None:
    assert field(packages.deb, "Package") == "handraise"
    assert field(packages.deb, "Version") == debian_version(__version__)
    needs = field(packages.deb, "Depends").split(", ")
    assert {"libegl1", "libgl1", "libstdc++6", "libx11-6", "libdbus-1-3", "libfontconfig1"} <= set(needs)
    listed = subprocess.run(
        ["dpkg-deb", "--contents", str(packages.deb)], capture_output=True, text=True, timeout=300, check=True
    ).stdout  # fmt: skip
    for path in ("usr/share/applications/handraise.desktop", "usr/share/doc/handraise/copyright",
                 "usr/lib/handraise/_internal/components.cdx.json", "usr/share/icons/hicolor/16x16/apps/handraise.png",
                 "usr/share/metainfo/io.github.handraise.handraise.metainfo.xml"):  # fmt: skip
        assert f"./{path}\n" in listed
    assert "./usr/bin/handraise -> ../lib/handraise/handraise\n" in listed
    assert all(line.split()[1] == "root/root" for line in listed.splitlines())
