"""The version that the deb carries, as Debian compares it."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "resources" / "linux" / "package.py"
IN_ORDER = (
    "1.1.9", "1.2.0.dev1", "1.2.0a1.dev1", "1.2.0a1", "1.2.0b2", "1.2.0rc1.dev3", "1.2.0rc1", "1.2.0rc2", "1.2.0",
    "1.2.0.post1", "1.2.1a1",
)  # fmt: skip
"""As Python orders them."""


@pytest.fixture(scope="module")
def package() -> ModuleType:
    found = importlib.util.spec_from_file_location("linux_package", SCRIPT)
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.2.0", "1.2.0"),
        ("1.2.0a1", "1.2.0~a1"),
        ("1.2.0b2", "1.2.0~b2"),
        ("1.2.0rc1", "1.2.0~rc1"),
        ("1.2.0.dev1", "1.2.0~~dev1"),
        ("1.2.0dev1", "1.2.0~~dev1"),
        ("1.2.0rc1.dev3", "1.2.0~rc1~~dev3"),
        ("1.2.0.post1", "1.2.0.post1"),
    ],
)
def test_a_version_before_the_release_has_a_tilde(package: ModuleType, version: str, expected: str) -> None:
    assert package.debian_version(version) == expected


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg compares, and it is not here")
@pytest.mark.parametrize(("older", "newer"), list(itertools.pairwise(IN_ORDER)))
def test_debian_orders_the_versions_as_python_does(package: ModuleType, older: str, newer: str) -> None:
    compare = ["dpkg", "--compare-versions", package.debian_version(older), "lt", package.debian_version(newer)]
    assert subprocess.run(compare, timeout=60, check=False).returncode == 0


def test_the_change_log_of_the_deb_has_the_version_in_debians_form(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "__version__", "1.2.0rc1")
    assert package._changelog().startswith(b"handraise (1.2.0~rc1) unstable;")
