"""The `.deb` in a Debian in which nothing else was ever installed: what it depends on suffices, and nothing is left.

The window is a real one: inside is Qt's X11 plugin with what the package brought, outside a virtual screen.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import __version__
from tests.packaged import clean_debian
from tests.packaged.clean_debian import HOME, USER, CannotMakeError, CleanDebian
from tests.packaged.packages import Packages
from tests.packaged.upgrade import OLDER, STRAY, busy_window, repack

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the package is for Linux"),
]

ID = "io.github.handraise.handraise"
ENTRY = "/usr/share/applications/handraise.desktop"
DESKTOP = ("desktop-file-utils", "gtk-update-icon-cache", "hicolor-icon-theme", "appstream", "libglib2.0-bin")
"""What a desktop has that looks at the files of the package."""
ICONS = "usr/share/icons/hicolor/icon-theme.cache"
SMOKE_TEST = ("handraise", "--demo", "--smoke-test")
ANSWERED = "Smoke test: one request with 2 questions was answered"
SECONDS = 120


@pytest.fixture
def debian(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanDebian]:
    """A Debian of the test's own. Skips where none can be made, or fails where HANDRAISE_REQUIRE_DEBIAN=1."""
    folder = tmp_path_factory.mktemp("clean")
    try:
        yield clean_debian.make(folder)
    except CannotMakeError as problem:
        clean_debian.missing(str(problem))
    finally:
        shutil.rmtree(folder)


def window_of(display: str, **more: str) -> dict[str, str]:
    return {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "HANDRAISE_LOG": f"{HOME}/handraise.log"} | more


def log_of(debian: CleanDebian) -> str:
    log = debian.home() / "handraise.log"
    return log.read_text("utf-8") if log.exists() else "no log"


def test_what_it_depends_on_suffices_for_its_window_and_a_purge_leaves_nothing_but_the_persons_own(
    debian: CleanDebian, packages: Packages, display: str
) -> None:
    before = debian.files()
    deb = debian.add(packages.deb, "/var/cache/handraise.deb")

    debian.install(deb)
    done = debian.run(*SMOKE_TEST, user=USER, **window_of(display, FAKE_CLI_PACE="0"))

    assert (done.returncode, done.stderr) == (0, ""), log_of(debian)
    assert ANSWERED in log_of(debian)
    settings = debian.home() / ".config" / "handraise" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("{}", encoding="utf-8")
    own = sorted(debian.home().rglob("*"))
    debian.do("apt-get", "purge", "--yes", "handraise")
    debian.do("apt-get", "autoremove", "--purge", "--yes")
    after = debian.files()
    assert {place: kind for place, kind in after.items() if before.get(place) != kind} == {}
    assert before.keys() - after.keys() == set()
    assert sorted(debian.home().rglob("*")) == own


def test_a_desktop_finds_it_and_an_older_build_that_runs_is_replaced_and_ends_well(
    debian: CleanDebian, packages: Packages, display: str, tmp_path: Path
) -> None:
    deb = debian.add(packages.deb, "/var/cache/handraise.deb")
    debian.install(*DESKTOP, debian.add(repack(packages.deb, tmp_path), "/var/cache/older.deb"))
    assert version(debian) == OLDER
    assert (debian.root / "usr" / STRAY).is_file()

    world = window_of(display, FAKE_CLI_LOG=f"{HOME}/traffic")
    with busy_window(debian.command(*SMOKE_TEST, user=USER, **world), debian.home() / "traffic") as older:
        said = debian.install(deb)
        assert older.poll() is None, older.communicate()

    assert (version(debian), (debian.root / "usr" / STRAY).exists()) == (__version__, False)
    assert debian.do("dpkg", "--verify", "handraise") == ""
    words = older.communicate(timeout=SECONDS)
    assert (older.returncode, words) == (0, ("", "")), log_of(debian)
    assert ANSWERED in log_of(debian)
    # The desktop's own tools were told, and like what they see.
    assert "Processing triggers for hicolor-icon-theme" in said
    assert b"handraise" in icons(debian)
    debian.do("desktop-file-validate", ENTRY)
    debian.do("appstreamcli", "validate", "--no-net", "--pedantic", f"/usr/share/metainfo/{ID}.metainfo.xml")
    assert f"Identifier: {ID} [desktop-application]" in debian.do("appstreamcli", "search", "Handraise")
    the_menu_starts_it(debian, display)
    debian.do("apt-get", "purge", "--yes", "handraise")
    assert b"handraise" not in icons(debian)


def version(debian: CleanDebian) -> str:
    return debian.do("dpkg-query", "--show", "--showformat=${Version}", "handraise")


def icons(debian: CleanDebian) -> bytes:
    """The cache of icons; without any icon there is none."""
    cache = debian.root / ICONS
    return cache.read_bytes() if cache.exists() else b""


def the_menu_starts_it(debian: CleanDebian, display: str) -> None:
    """`gio launch` does what a menu does with an entry. What it starts lives as long as the namespace it is in."""
    (debian.home() / "handraise.log").unlink(missing_ok=True)
    click = ["sh", "-c", f"gio launch {ENTRY} && exec tail -f /dev/null"]
    launched = subprocess.Popen(
        debian.command(*click, user=USER, **window_of(display)),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + SECONDS
        while "the window is there" not in log_of(debian):
            assert launched.poll() is None, "the entry cannot be launched"
            assert time.monotonic() < deadline, log_of(debian)
            time.sleep(0.05)
    finally:
        launched.kill()
        launched.wait()
