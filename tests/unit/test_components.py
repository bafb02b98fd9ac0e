"""Whose the native files of the frozen app are on Windows and macOS, and that nothing is given away unlisted."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from resources.tools import components, native_libraries
from resources.tools.components import NoLicenceError

WINDOWS_FILES = (
    r"PySide6\MSVCP140.dll", r"PySide6\MSVCP140_1.dll", r"PySide6\VCRUNTIME140_1.dll", r"shiboken6\VCRUNTIME140.dll",
    "VCRUNTIME140.dll", "VCRUNTIME140_1.dll", "ucrtbase.dll", "api-ms-win-crt-runtime-l1-1-0.dll",
    "_asyncio.pyd", "_bz2.pyd", "_ctypes.pyd", "_decimal.pyd", "_hashlib.pyd", "_lzma.pyd", "_overlapped.pyd",
    "_queue.pyd", "_socket.pyd", "_sqlite3.pyd", "_ssl.pyd", "_uuid.pyd", "_zoneinfo.pyd", "pyexpat.pyd", "select.pyd",
    "unicodedata.pyd", "libcrypto-3.dll", "libssl-3.dll", r"PySide6\libssl-3-x64.dll", "libffi-8.dll", "sqlite3.dll",
    "python3.dll", "python311.dll",
)  # fmt: skip
MACOS_FILES = (
    "Python.framework/Versions/3.11/Python", "libpython3.11.dylib", "libssl.3.dylib", "libcrypto.3.dylib",
    "libffi.8.dylib", "libncursesw.5.dylib", "libncurses.6.dylib", "liblzma.5.dylib", "libsqlite3.0.dylib",
    "libz.1.3.1.dylib", "libintl.8.dylib", "python3.11/lib-dynload/_ssl.cpython-311-darwin.so",
    "lib-dynload/_lzma.cpython-311-darwin.so", "lib-dynload/_scproxy.cpython-311-darwin.so",
    "lib-dynload/pyexpat.cpython-311-darwin.so", "lib-dynload/_decimal.cpython-311-darwin.so",
)  # fmt: skip
OF_WINDOWS = {
    "Microsoft Visual C++ Runtime", "Microsoft Universal C Runtime", "OpenSSL", "libffi", "SQLite", "zlib", "bzip2",
    "XZ Utils", "Expat", "libmpdec",
}  # fmt: skip
OF_MACOS = {"OpenSSL", "libffi", "ncurses", "XZ Utils", "SQLite", "zlib", "libintl", "Expat", "libmpdec"}
EACH_SYSTEM = pytest.mark.parametrize("system", ["win32", "darwin"])


def entries(folder: Path, names: tuple[str, ...], content: bytes = b"") -> list[components.Entry]:
    """What PyInstaller would say of files with these names; each of them exists."""
    made: list[components.Entry] = []
    for name in names:
        source = folder / name.replace("\\", "/")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(content)
        made.append((name, str(source), "EXTENSION" if name.endswith((".pyd", ".so")) else "BINARY"))
    return made


def version_resource(*numbers: int) -> bytes:
    first, second, third, fourth = numbers
    return b"MZ" + struct.pack("<IIII", 0xFEEF04BD, 0x10000, first << 16 | second, third << 16 | fourth) + bytes(36)


@pytest.mark.parametrize(
    ("system", "names", "expected"), [("win32", WINDOWS_FILES, OF_WINDOWS), ("darwin", MACOS_FILES, OF_MACOS)]
)
def test_what_python_org_brings_is_listed_with_a_licence_and_its_text(
    tmp_path: Path, system: str, names: tuple[str, ...], expected: set[str]
) -> None:
    listed = list(components.native(entries(tmp_path, names), system, ()))
    assert {one.name for one in listed} == expected
    assert all(one.licence and one.texts and one.texts[0].stat().st_size for one in listed)
    assert len({one.purl for one in listed}) == len(listed)


@EACH_SYSTEM
def test_a_file_that_nobody_knows_is_not_given_away(tmp_path: Path, system: str) -> None:
    unknown = entries(tmp_path, ("PySide6/libstrange-2.dll", "libstrange.2.dylib", "strange.pyd", "strange.so"))
    with pytest.raises(NoLicenceError, match=r"libstrange-2\.dll.*libstrange\.2\.dylib.*LIBRARIES"):
        list(components.native(unknown, system, ()))


@EACH_SYSTEM
def test_a_file_of_a_package_is_the_packages(tmp_path: Path, system: str) -> None:
    found = entries(tmp_path, ("yarl/_quoting_c.so", "pywin32_system32/PyWinTypes311.dll"))
    owned = {native_libraries.same_place(source) for _, source, _ in found}
    assert list(components.native(found, system, owned)) == []
    with pytest.raises(NoLicenceError):
        list(components.native(found, system, ()))


def test_microsofts_files_are_listed_whoever_brings_them_and_each_version_once(tmp_path: Path) -> None:
    new = entries(tmp_path / "new", (r"PySide6\MSVCP140.dll", r"shiboken6\MSVCP140.dll"),
                  version_resource(14, 44, 35211, 0))  # fmt: skip
    old = entries(tmp_path / "old", ("VCRUNTIME140.dll",), version_resource(14, 0, 24247, 2))
    owned = {native_libraries.same_place(source) for _, source, _ in new}
    listed = list(components.native(new + old, "win32", owned))
    assert [one.version for one in listed] == ["14.0.24247.2", "14.44.35211"]
    assert {one.licence for one in listed} == {"LicenseRef-Microsoft-Distributable-Code"}


@EACH_SYSTEM
def test_an_old_openssl_has_another_licence_and_is_not_taken_for_the_new(tmp_path: Path, system: str) -> None:
    with pytest.raises(NoLicenceError):
        list(components.native(entries(tmp_path, ("libssl-1_1.dll", "libssl.1.1.dylib")), system, ()))


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="on Linux it is dpkg that knows the libraries")
def test_a_file_that_dpkg_does_not_know_is_not_given_away_either(tmp_path: Path) -> None:
    strange = entries(tmp_path, ("libstrange.so.2",))
    with pytest.raises(NoLicenceError, match=r"libstrange\.so\.2"):
        list(components.libraries_of_the_system(strange, ()))
    owned = {native_libraries.same_place(source) for _, source, _ in strange}
    assert list(components.libraries_of_the_system(strange, owned)) == []


def test_a_link_is_not_a_file_of_its_own(tmp_path: Path) -> None:
    assert list(components.native([("Strange", str(tmp_path / "gone"), "SYMLINK")], "darwin", ())) == []


def test_bzip2_is_asked_in_the_file_that_holds_it(tmp_path: Path) -> None:
    said = entries(tmp_path, ("_bz2.pyd",), version_resource(3, 11, 9150, 1013) + b"\x001.0.8, 13-Jul-2019\0")
    assert [one.version for one in components.native(said, "win32", ())] == ["1.0.8"]


def test_python_tells_the_versions_of_its_own_libraries() -> None:
    for library in (native_libraries.OPENSSL, native_libraries.ZLIB, native_libraries.EXPAT):
        assert native_libraries.version_from_python(library)[:1].isdigit()
    assert native_libraries.version_from_python(native_libraries.LIBFFI) == ""


@pytest.mark.parametrize("content", [b"", b"MZ", version_resource(1, 2, 3, 4)[:14]])
def test_a_file_without_a_whole_version_has_none(content: bytes) -> None:
    assert native_libraries.stamped_version(content) == ""


def test_a_component_without_a_version_says_none(tmp_path: Path) -> None:
    (libffi,) = components.native(entries(tmp_path, ("libffi-8.dll",)), "win32", ())
    assert libffi.as_json() == {
        "type": "library", "bom-ref": "pkg:generic/libffi", "name": "libffi", "purl": "pkg:generic/libffi",
        "licenses": [{"expression": "MIT"}],
    }  # fmt: skip


def test_every_text_is_there_and_each_is_of_something_in_the_tables() -> None:
    tables = [*native_libraries.LIBRARIES.values(), *native_libraries.INSIDE_PYTHON.values()]
    named = {library.text for table in tables for library in table.values()}
    assert named == {path.name for path in components.NATIVE.iterdir()}
