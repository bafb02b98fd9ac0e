"""What a Linux desktop reads of the package, and what its tools say about it."""

from __future__ import annotations

import configparser
import re
import shutil
import struct
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QImage

from desktop import __version__
from desktop.translations import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "resources" / "linux"
ICONS = ROOT / "resources" / "icons"
METAINFO = LINUX / "io.github.handraise.handraise.metainfo.xml"


def entry() -> configparser.SectionProxy:
    read = configparser.RawConfigParser()
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read(LINUX / "handraise.desktop", encoding="utf-8")
    return read["Desktop Entry"]


def test_the_menu_entry_is_the_one_that_the_window_says_it_belongs_to() -> None:
    said = (ROOT / "desktop" / "qt_application.py").read_text("utf-8")
    assert f'setDesktopFileName("{entry()["StartupWMClass"]}")' in said
    assert (LINUX / f"{entry()['StartupWMClass']}.desktop").is_file()


def test_the_menu_speaks_every_language_of_the_interface() -> None:
    for code in LANGUAGES:
        suffix = "" if code == "en" else f"[{code}]"
        assert entry()[f"Comment{suffix}"]
        assert entry()[f"GenericName{suffix}"]


def test_the_app_store_data_fit_the_menu_entry_and_the_version() -> None:
    read = ElementTree.parse(METAINFO).getroot()
    assert read.findtext("launchable") == "handraise.desktop"
    assert read.findtext("id") == METAINFO.name.removesuffix(".metainfo.xml")
    release = read.find("releases/release")
    assert release is not None
    assert release.get("version") == __version__


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-validate is not installed")
def test_the_menu_entry_is_valid() -> None:
    command = ["desktop-file-validate", str(LINUX / "handraise.desktop")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstreamcli is not installed")
def test_the_app_store_data_are_valid() -> None:
    command = ["appstreamcli", "validate", "--no-net", str(METAINFO)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# --- icons


@pytest.mark.parametrize("size", [16, 22, 24, 32, 48, 64, 128, 256, 512])
def test_the_icon_is_there_as_a_picture_of_every_size(size: int) -> None:
    data = (ICONS / f"handraise-{size}.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (size, size)


def test_the_icon_of_windows_has_every_size_that_explorer_shows() -> None:
    data = (ICONS / "handraise.ico").read_bytes()
    reserved, kind, count = struct.unpack("<HHH", data[:6])
    widths = set()
    for index in range(count):
        width, height, _, _, _, bits, length, at = struct.unpack("<BBBBHHII", data[6 + 16 * index : 22 + 16 * index])
        picture = data[at : at + length]
        assert (len(picture), picture[:4], bits) == (length, b"\x89PNG", 32)
        assert struct.unpack(">II", picture[16:24]) == (width or 256, height or 256)
        widths.add(width or 256)
    assert (reserved, kind) == (0, 1)
    assert {16, 20, 24, 32, 40, 48, 64, 256} <= widths


def icns_parts() -> dict[str, bytes]:
    """What macOS reads of its icon: each picture by its four letters."""
    data = (ICONS / "handraise.icns").read_bytes()
    assert struct.unpack(">4sI", data[:8]) == (b"icns", len(data))
    parts, at = {}, 8
    while at < len(data):
        kind, length = struct.unpack(">4sI", data[at : at + 8])
        parts[kind.decode("ascii")] = data[at + 8 : at + length]
        at += length
    return parts


def test_the_icon_of_macos_is_complete() -> None:
    sizes = {
        "ic11": 32, "ic12": 64, "ic07": 128, "ic13": 256, "ic08": 256, "ic14": 512, "ic09": 512, "ic10": 1024,
    }  # fmt: skip
    # 16@2x, 32@2x, 128, 128@2x, 256, 256@2x, 512, 512@2x
    parts = icns_parts()
    assert {kind: (parts[kind][:4], struct.unpack(">II", parts[kind][16:24])) for kind in sizes} == {
        kind: (b"\x89PNG", (size, size)) for kind, size in sizes.items()
    }
    assert set(parts) == {*sizes, "ic04", "ic05"}


@pytest.mark.parametrize(("kind", "size"), [("ic04", 16), ("ic05", 32)])
def test_the_icon_of_macos_has_the_pictures_of_old_screens_as_iconutil_writes_them(kind: str, size: int) -> None:
    data = icns_parts()[kind]
    assert data[:4] == b"ARGB"
    unpacked, at = b"", 4
    while at < len(data):
        lead = data[at]
        if lead < 128:
            unpacked += data[at + 1 : at + lead + 2]
            at += lead + 2
        else:
            unpacked += data[at + 1 : at + 2] * (lead - 125)
            at += 2
    drawn = QImage(str(ICONS / f"handraise-{size}.png")).convertToFormat(QImage.Format.Format_RGBA8888)
    red, green, blue, alpha = (bytes(drawn.constBits())[channel::4] for channel in range(4))
    assert unpacked == alpha + red + green + blue


def test_the_pictures_are_drawn_from_one_file_by_a_script_that_names_their_sizes() -> None:
    script = (ROOT / "resources" / "tools" / "make_icons.py").read_text("utf-8")
    sizes = re.search(r"^PNG_SIZES = \(([\d, ]+)\)", script, re.MULTILINE)
    assert sizes is not None
    expected = {f"handraise-{size.strip()}.png" for size in sizes[1].split(",")}
    assert {path.name for path in ICONS.glob("*.png")} == expected
