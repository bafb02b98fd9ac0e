"""What is inside the frozen app, and what is not."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from resources.tools import shared_libraries

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the names are those of Linux"),
]

PLUGINS = {
    "platforms": {"qxcb", "qwayland", "qoffscreen"},
    "platforminputcontexts": {"composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"},
    "platformthemes": {"qxdgdesktopportal"},
    "iconengines": {"qsvgicon"},
    "imageformats": {"qsvg", "qjpeg", "qgif", "qwebp", "qico"},
    "tls": {"qopensslbackend"},
    "xcbglintegrations": {"qxcb-egl-integration", "qxcb-glx-integration"},
    "wayland-shell-integration": {"xdg-shell"},
    "wayland-decoration-client": {"adwaita", "bradient"},
    "wayland-graphics-integration-client": {"qt-plugin-wayland-egl"},
}
"""Every plugin of Qt that the package has, and no other."""

NOT_ON_EVERY_DESKTOP = (
    "libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxcb-image.so.0", "libxcb-keysyms.so.1", "libxcb-render-util.so.0",
    "libxkbcommon-x11.so.0", "libxkbcommon.so.0", "libssl.so.3", "libcrypto.so.3",
)  # fmt: skip
LEFT_OUT = (
    "libQt6Quick*", "libQt6Qml*", "libQt6Pdf*", "libQt6VirtualKeyboard*", "libQt6EglFS*", "libQt6Sql*",
    "libgtk*", "libcairo*", "libpango*", "libatk*", "libgdk*", "libstdc++*", "libX11.so*", "libfontconfig*",
    "_curses*", "readline*", "_tkinter*", "hypothesis", "mypy", "ast_serialize", "numpy", "PIL", "rich", "*.icns",
)  # fmt: skip


def inside(frozen_app: Path) -> Path:
    return frozen_app.parent / "_internal"


def test_every_plugin_of_qt_that_is_used_is_there_and_no_other(frozen_app: Path) -> None:
    folder = inside(frozen_app) / "PySide6" / "Qt" / "plugins"
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.so"):
        found.setdefault(path.parent.name, set()).add(path.stem.removeprefix("lib"))
    assert found == PLUGINS


def test_qts_own_words_are_there_in_the_languages_of_the_interface(frozen_app: Path) -> None:
    found = {path.name for path in inside(frozen_app).rglob("*.qm")}
    assert found == {"qtbase_en.qm", "qtbase_zh_TW.qm"}


def test_what_the_window_system_needs_and_a_desktop_may_lack_is_inside(frozen_app: Path) -> None:
    assert [name for name in NOT_ON_EVERY_DESKTOP if not any(inside(frozen_app).rglob(name))] == []


def test_nothing_is_inside_that_is_not_used(frozen_app: Path) -> None:
    assert {pattern: found for pattern in LEFT_OUT if (found := list(inside(frozen_app).rglob(pattern)))} == {}


def test_no_link_inside_leads_nowhere(frozen_app: Path) -> None:
    links = [path for path in frozen_app.parent.rglob("*") if path.is_symlink()]
    assert [path.name for path in links if not path.exists()] == []
    assert any(path.name.startswith("libQt6Core") for path in links)


def test_whatever_else_it_needs_is_in_a_package_of_debian(frozen_app: Path) -> None:
    needs = shared_libraries.debian_packages(frozen_app.parent)
    assert {"libegl1", "libgl1", "libx11-6", "libxcb1", "libfontconfig1", "libwayland-client0"} <= set(needs)
    assert needs[-1].startswith("libc6 (>= 2.")
    assert not any("xcb-" in package for package in needs), "these are inside"


# --- the list of components


def components(frozen_app: Path) -> list[dict[str, object]]:
    listed = json.loads((inside(frozen_app) / "components.cdx.json").read_text("utf-8"))
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6")
    found: list[dict[str, object]] = listed["components"]
    return found


def test_the_list_of_components_names_what_the_app_depends_on_with_its_version(frozen_app: Path) -> None:
    versions = {str(component["name"]).lower().replace("_", "-"): component for component in components(frozen_app)}
    for package in ("PySide6-Essentials", "shiboken6", "qasync", "pydantic", "pydantic-core", "aiohttp",
                    "platformdirs", "Pygments", "markdown-it-py", "psutil", "pyinstaller"):  # fmt: skip
        assert versions[package.lower()]["version"] == metadata.version(package)
    assert {"python", "qt", "icu"} <= set(versions)


def test_nothing_of_the_tests_is_in_the_list_of_components(frozen_app: Path) -> None:
    names = {str(component["name"]).lower() for component in components(frozen_app)}
    assert names.isdisjoint({"pytest", "hypothesis", "mypy", "ruff", "jsonschema", "openai", "pillow", "rich"})


def test_every_component_has_one_identity_a_licence_and_its_text(frozen_app: Path) -> None:
    listed = components(frozen_app)
    assert len({component["bom-ref"] for component in listed}) == len(listed)
    assert all(str(component["purl"]).startswith("pkg:") and component["licenses"] for component in listed)
    folder = inside(frozen_app) / "licenses"
    texts = {str(component["name"]): list((folder / str(component["name"])).glob("*")) for component in listed}
    assert [name for name, files in texts.items() if not files or not all(file.stat().st_size for file in files)] == []
    assert (folder / "LGPL-3.0.txt").is_file()
