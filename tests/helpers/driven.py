"""The program with a hand at its window: a script that plays a body inside the running application."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_DRIVER = """
import asyncio, os, signal, sys
from pathlib import Path
from desktop import application, loop

class Driven(application.Application):
    async def run(self, left):
        loop.spawn(self.drive(), "the driver")
        return await super().run(left)

    async def until(self, condition):
        while not condition():
            await asyncio.sleep(0.01)

    async def drive(self):
        await asyncio.sleep(0)
        window = self.window
{body}

application.Application = Driven
sys.exit(application.main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
"""


def script(body: str) -> str:
    """The script for `python -c`. It takes a folder; the body sees `self`, `window` and `await self.until(holds)`."""
    indented = "\n".join(" " * 8 + line for line in body.strip("\n").splitlines())
    return _DRIVER.replace("{body}", indented)


def surroundings(folder: Path) -> dict[str, str]:
    """An offscreen program's environment: its own folders below that one, and the stand-in for the CLI."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("HANDRAISE_")},
        "HANDRAISE_CONFIG_DIR": str(folder / "config"),
        "HANDRAISE_DATA_DIR": str(folder / "data"),
        "HANDRAISE_CLAUDE": json.dumps([sys.executable, "-m", "fake_cli"]),
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }
