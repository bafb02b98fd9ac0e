"""Every desktop test has folders of its own and sees neither the person's settings nor their `~/.claude`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folders_of_this_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Points everything that the app reads or writes below the test's own folder, which it returns."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "HANDRAISE_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "HANDRAISE_CONFIG_DIR": tmp_path / "config",
        "HANDRAISE_DATA_DIR": tmp_path / "data",
    }.items():
        monkeypatch.setenv(name, str(folder))
    return tmp_path
