"""`handraise --demo`: the window on the bundled stand-in. No claude, no account, no network, nothing kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from desktop.__main__ import FAKE_CLI_SWITCH

FOLDER = "billing-service"
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Demo:
    """Where the demo lives.

    Attributes:
        root: a temporary folder with everything in it; `remove` takes it away.
        folder: the imaginary project.
    """

    root: Path
    folder: Path

    @classmethod
    def create(cls) -> Demo:
        """Make the folders. Raises OSError."""
        root = Path(tempfile.mkdtemp(prefix="handraise-demo-"))
        folder = root / FOLDER
        folder.mkdir()
        return cls(root, folder)

    def environment(self, env: Mapping[str, str], language: str) -> dict[str, str]:
        """The program's environment: folders of its own, so that a demo never mixes with the person's own things."""
        return {
            **env,
            "HANDRAISE_CONFIG_DIR": str(self.root / "config"),
            "HANDRAISE_DATA_DIR": str(self.root / "data"),
            "HANDRAISE_LOG": env.get("HANDRAISE_LOG") or str(self.root / "data" / "handraise.log"),
            "HANDRAISE_CLAUDE": json.dumps([*stand_in(), "--scenario", str(scenario(language))]),
            "CLAUDE_CONFIG_DIR": str(self.root / "claude"),
            # The stand-in starts in another folder, and finds itself beside this package, installed or not.
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")])),
        }

    def remove(self) -> None:
        """Take everything away again."""
        shutil.rmtree(self.root, ignore_errors=True)


def stand_in() -> list[str]:
    """The command that runs the stand-in: this Python, or this packaged app under another name."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FAKE_CLI_SWITCH]
    return [sys.executable, "-m", "fake_cli"]


def scenario(language: str) -> Path:
    """The scenario in a language, or the English one."""
    folder = Path(str(resources.files("resources").joinpath("demo")))
    translated = folder / f"demo.{language}.json"
    return translated if translated.is_file() else folder / "demo.json"
