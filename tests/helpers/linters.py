"""Runs the linters of what is no Python: of the workflows, and of the shell scripts in them and beside them."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from tests.helpers.required import skip_or_fail

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 100


def missing(what: str) -> NoReturn:
    """Skip, unless HANDRAISE_REQUIRE_LINTERS=1 wants that to be a failure."""
    skip_or_fail("HANDRAISE_REQUIRE_LINTERS", f"{what} is not installed; pip install '.[lint]' brings it.")


def lint(program: str, *words: str | Path, said: str | None = None) -> subprocess.CompletedProcess[str]:
    """A run of that linter, which asks nobody on the network; skips where it is not installed.

    Args:
        program: its name; the one beside this Python comes before one in PATH.
        words: its arguments.
        said: what it reads from its standard input.
    """
    beside = str(Path(sys.executable).parent)
    found = shutil.which(program, path=beside) or shutil.which(program)
    if found is None:
        missing(program)
    return subprocess.run(
        [found, *map(str, words)], cwd=ROOT, input=said, stdin=subprocess.DEVNULL if said is None else None,
        capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False,
    )  # fmt: skip


def read_yaml(text: str) -> Any:
    """What a YAML text says; skips where its reader, which the linters bring, is not installed."""
    try:
        yaml = importlib.import_module("ruamel.yaml")
    except ImportError:
        missing("ruamel.yaml")
    return yaml.YAML(typ="safe", pure=True).load(text)
