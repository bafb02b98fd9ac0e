"""What the README tells people to download and to install is what the release makes and needs."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
RELEASE = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
DOWNLOAD = README.split("## Download\n")[1].split("\n## ")[0]


def for_qt(text: str) -> set[str]:
    """The packages that a bare Linux needs for Qt, as the README has them, of those that a text names."""
    line = next(line for line in README.splitlines() if "apt-get install -y python3-venv " in line)
    return set(line.split("install -y ")[1].split()) & set(re.split(r"[\s()]+", text))


def test_each_file_that_the_readme_names_is_made_by_that_name() -> None:
    named = set(re.findall(r"`(handraise[-_]X[\w.-]*)`", DOWNLOAD))
    macos = {f"handraise-X-macos-{name}.dmg" for name in re.findall(r"architecture: (\w+)", RELEASE)}
    assert len(macos) == 2
    assert "IMAGE: handraise-${{ needs.version.outputs.version }}-macos-${{ matrix.architecture }}.dmg" in RELEASE
    assert "packages\\handraise-$env:VERSION-setup.exe" in RELEASE
    assert "packages/handraise-$VERSION-x86_64.AppImage" in RELEASE
    package = (ROOT / "resources" / "linux" / "package.py").read_text("utf-8")
    assert 'f"handraise-{__version__}-linux-{platform.machine()}"' in package
    assert 'f"handraise_{__version__}_{machine}.deb"' in package
    assert named == macos | {
        "handraise-X-setup.exe", "handraise_X_amd64.deb", "handraise-X-x86_64.AppImage",
        "handraise-X-linux-x86_64.tar.xz",
    }  # fmt: skip
    assert "SHA256SUMS" in RELEASE


def test_the_readme_names_the_oldest_system_on_which_each_file_runs() -> None:
    entries = plistlib.loads((ROOT / "resources" / "macos" / "Info.plist").read_bytes())
    assert f"| macOS {float(entries['LSMinimumSystemVersion']):g} or later |" in DOWNLOAD
    installer = (ROOT / "resources" / "windows" / "handraise.nsi").read_text("utf-8")
    assert "${IfNot} ${AtLeastWin10}\n  ${OrIfNot} ${RunningX64}" in installer
    assert "| Windows 10 or 11, 64 bit |" in DOWNLOAD
    assert "container: debian:12\n" in RELEASE
    assert "| Debian 12, " in DOWNLOAD


def test_all_that_installs_for_qt_installs_what_the_readme_names() -> None:
    wanted = for_qt(README)
    assert len(wanted) > 10
    assert for_qt((ROOT / ".ci" / "run").read_text("utf-8")) == wanted
    assert for_qt(RELEASE.split("\n  linux:\n")[1].split("\n  newer-linux:\n")[0]) == wanted
    mounted = for_qt(RELEASE.split("\n  appimage:\n")[1].split("\n  windows:\n")[0])
    assert mounted == wanted - {"python3-venv"}


def test_what_freezes_with_a_python_of_debian_brings_its_shared_library_and_what_reads_libraries() -> None:
    assert " libpython3.11 binutils " in RELEASE
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "binutils" in run
    assert "'' | /usr/bin/python3) packages+=(libpython3-dev) ;;" in run
    assert "libpython3-dev binutils" in README.split("## Build the app\n")[1]
