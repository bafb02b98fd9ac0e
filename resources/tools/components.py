"""The list of what is inside a frozen app (CycloneDX 1.6), and the licence texts that go with it.

`build.spec` calls `collect` with what PyInstaller found. Python packages are named by their own metadata, libraries of
the system by the package manager that installed them. Windows and macOS have none: `native_libraries` knows them there.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

from resources.tools import native_libraries

OWN_LICENCES = Path(__file__).resolve().parents[1] / "licenses"
LIST = "components.cdx.json"
FOLDER = "licenses"
NAMESPACE = uuid.UUID("6c1f6a52-8f1d-5d0c-9c3f-1f0a4f9f7c11")
NOT_NATIVE = (".py", ".pyi", ".pyc")
LICENCE_WORDS = ("licen", "copying", "notice", "authors")
NATIVE = OWN_LICENCES / "native"
OF_QT = ("LGPL-3.0.txt", "GPL-3.0.txt")

Entry = native_libraries.Entry


@dataclass(frozen=True)
class Component:
    """One thing inside the app that somebody else made.

    Attributes:
        version: empty where nobody knows it.
        licence: an SPDX expression where `is_spdx`, otherwise whatever its maker calls it.
        texts: the files that say so; never empty.
    """

    name: str
    version: str
    kind: str
    purl: str
    licence: str
    is_spdx: bool
    texts: tuple[Path, ...]

    def as_json(self) -> dict[str, object]:
        """As CycloneDX has it."""
        licence = {"expression": self.licence} if self.is_spdx else {"license": {"name": self.licence}}
        version = {"version": self.version} if self.version else {}
        return {
            "type": self.kind, "bom-ref": self.purl, "name": self.name, **version, "purl": self.purl,
            "licenses": [licence],
        }  # fmt: skip


class NoLicenceError(Exception):
    """Something is inside whose licence text was not found; the app cannot be given away like this."""


def collect(pure: Iterable[Entry], binaries: Iterable[Entry], version: str, folder: Path) -> list[Entry]:
    """Write the list and the licence texts into `folder`; returns them as PyInstaller's entries.

    Raises:
        NoLicenceError: names what has no licence text, or what nobody knows.
    """
    components = sorted(found(list(pure), list(binaries)), key=lambda component: component.purl)
    silent = [component.name for component in components if not component.texts]
    if silent:
        raise NoLicenceError(f"no licence text was found for {', '.join(silent)}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / LIST).write_text(json.dumps(as_list(components, version), indent=1) + "\n", encoding="utf-8")
    entries: list[Entry] = [(LIST, str(folder / LIST), "DATA")]
    for text in sorted(path for path in OWN_LICENCES.iterdir() if path.is_file()):
        entries.append((f"{FOLDER}/{text.name}", str(text), "DATA"))
    for component in components:
        place = folder / FOLDER / component.name
        place.mkdir(parents=True, exist_ok=True)
        for text in component.texts:
            # Of one component there may be two versions.
            if (place / text.name).exists() and (place / text.name).read_bytes() == text.read_bytes():
                continue
            # One package may bring those of several others, all under one name.
            name = f"{text.parent.name}-{text.name}" if (place / text.name).exists() else text.name
            shutil.copyfile(text, place / name)
            entries.append((f"{FOLDER}/{component.name}/{name}", str(place / name), "DATA"))
    return entries


def as_list(components: Iterable[Component], version: str) -> dict[str, object]:
    """The CycloneDX document. The same components give the same document, byte by byte."""
    listed = [component.as_json() for component in components]
    purls = "\n".join(str(component["purl"]) for component in listed)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(NAMESPACE, f"{version}\n{purls}").urn,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": "handraise", "name": "Handraise", "version": version,
                "licenses": [{"expression": "MIT"}],
            }
        },
        "components": listed,
    }  # fmt: skip


def found(pure: list[Entry], binaries: list[Entry]) -> Iterator[Component]:
    """Everything foreign inside: Python itself, the program's start-up code, packages, Qt, libraries of the system."""
    yield _python()
    names = {entry[0].partition(".")[0] for entry in pure}
    names |= {PurePath(entry[0]).parts[0].partition(".")[0] for entry in binaries}
    owners = metadata.packages_distributions()
    packages = {owner for name in names for owner in owners.get(name, ())} | {"pyinstaller"}
    by_file = _owners_of_files()
    if sys.platform in native_libraries.LIBRARIES:
        packages |= {owner for _, source, _ in binaries if (owner := by_file.get(native_libraries.same_place(source)))}
        yield from native(binaries, sys.platform, by_file)
    for package in sorted({metadata.distribution(package).name for package in packages} - {"handraise"}):
        yield _package(metadata.distribution(package))
    yield from _qt(binaries)
    if sys.platform.startswith("linux"):
        yield from libraries_of_the_system(binaries, by_file)


def native(binaries: Iterable[Entry], system: str, of_packages: Collection[str]) -> Iterator[Component]:
    """What comes with Python, and what Microsoft adds.

    Raises:
        NoLicenceError: names the files that neither a package nor the tables know.
    """
    libraries, unknown = native_libraries.identified(binaries, system, of_packages)
    if unknown:
        raise NoLicenceError(
            f"nobody knows whose these files are: {', '.join(sorted(unknown))}. Put a pattern for each into"
            f" LIBRARIES[{system!r}] in resources/tools/native_libraries.py, and its licence's text into {NATIVE}"
        )
    for one in sorted(libraries, key=lambda each: (each.library.name, each.version)):
        known = one.library
        short = re.sub(r"[^a-z0-9]+", "-", known.name.lower().replace("+", "p"))
        purl = f"pkg:generic/{short}@{one.version}" if one.version else f"pkg:generic/{short}"
        text = _first([NATIVE / known.text])
        yield Component(known.name, one.version, "library", purl, known.licence, known.is_spdx, text)


def _owners_of_files() -> dict[str, str]:
    """The package of each native file that is installed in this Python."""
    return {
        native_libraries.same_place(str(distribution.locate_file(file))): distribution.name
        for distribution in metadata.distributions()
        for file in distribution.files or ()
        if file.suffix not in NOT_NATIVE
    }


def _python() -> Component:
    version = platform.python_version()
    stdlib = Path(sysconfig.get_path("stdlib"))
    base = Path(sys.base_prefix)
    places = (stdlib / "LICENSE.txt", base / "LICENSE.txt", base / "LICENSE", OWN_LICENCES / "Python.txt")
    purl = f"pkg:generic/python@{version}"
    return Component("Python", version, "framework", purl, "Python-2.0", True, _first(places))


def _package(distribution: metadata.Distribution) -> Component:
    about = distribution.metadata
    name = distribution.name
    expression = next(iter(about.get_all("License-Expression") or []), "")
    plain = next(iter(about.get_all("License") or []), "")
    licence = expression or plain or _classified(about.get_all("Classifier") or [])
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{distribution.version}"
    if name.lower().startswith(("pyside6", "shiboken6")):
        # Their wheels bring no text.
        texts = tuple(OWN_LICENCES / text for text in OF_QT)
        return Component(name, distribution.version, "library", purl, "LGPL-3.0-only", True, texts)
    short = licence.strip().splitlines()[0] if licence.strip() else "see the text"
    return Component(name, distribution.version, "library", purl, short, bool(expression), tuple(_texts(distribution)))


def _classified(classifiers: Iterable[str]) -> str:
    return next((line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")), "")


def _texts(distribution: metadata.Distribution) -> Iterator[Path]:
    for file in distribution.files or ():
        inside = ".dist-info" in file.parts[0] and any(word in file.name.lower() for word in LICENCE_WORDS)
        if inside and (path := Path(str(distribution.locate_file(file)))).is_file():
            yield path


def _qt(binaries: list[Entry]) -> Iterator[Component]:
    from PySide6.QtCore import qVersion

    texts = tuple(OWN_LICENCES / text for text in OF_QT)
    yield Component("Qt", qVersion(), "framework", f"pkg:generic/qt@{qVersion()}", "LGPL-3.0-only", True, texts)
    icu = next((name for name, _, _ in binaries if "icudata.so." in name and "PySide6" in name), None)
    if icu is not None:
        version = icu.rpartition(".so.")[2]
        text = (OWN_LICENCES / "ICU.txt",)
        yield Component("ICU", version, "library", f"pkg:generic/icu@{version}", "Unicode-DFS-2016", True, text)


def libraries_of_the_system(binaries: list[Entry], of_packages: Collection[str]) -> Iterator[Component]:
    """What was taken from the machine that builds, by Debian's own list of files.

    Raises:
        NoLicenceError: names the files that are of no package, neither Debian's nor Python's.
    """
    prefixes = tuple(str(Path(place).resolve()) for place in {sys.prefix, sys.base_prefix} if place != "/usr")
    if shutil.which("dpkg-query") is None:
        return
    packages: set[str] = set()
    unknown: list[str] = []
    for name, source, kind in binaries:
        path = Path(source).resolve() if kind != "SYMLINK" else None
        if path is None or "PySide6" in PurePath(name).parts or str(path).startswith(prefixes):
            continue
        owners = _debian_owner(path) or _debian_owner(Path(source))
        if not owners and native_libraries.same_place(source) not in of_packages:
            unknown.append(source)
        packages |= owners
    if unknown:
        raise NoLicenceError(f"these files are of no package, so nobody knows their licence: {', '.join(unknown)}")
    for package in sorted(packages):
        asked = ["dpkg-query", "--show", "--showformat", "${Version}", package]
        version = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout
        purl = f"pkg:deb/debian/{package}@{version}"
        plain = package.partition(":")[0]
        text = _first([Path("/usr/share/doc") / plain / "copyright"])
        yield Component(plain, version, "library", purl, "see the text", False, text)


def _debian_owner(path: Path) -> set[str]:
    """The package that a file belongs to; /lib and /usr/lib are one folder, and dpkg knows either name."""
    plain = str(path)
    others = [plain.removeprefix("/usr") if plain.startswith("/usr/lib") else f"/usr{plain}", plain]
    for one in others:
        done = subprocess.run(["dpkg-query", "--search", one], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0:
            return {done.stdout.partition(": ")[0].partition(",")[0].strip()}
    return set()


def _first(places: Iterable[Path]) -> tuple[Path, ...]:
    return next(((place,) for place in places if place.is_file()), ())
