"""The app as a program of its own, with a person before it who does what a test says by name.

    python -m tests.helpers.outside SCENARIO [ARGUMENT…]

The arguments are those of `python -m desktop`. What the person sees is printed, a line each.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.app import Play, Scenario, app_environment
from tests.helpers.person import Person, text_of
from tests.helpers.real_cli import RealCli

ROOT = Path(__file__).resolve().parents[2]


def tell(text: str) -> None:
    print(text, flush=True)


async def lets_a_command_run_and_writes_a_draft(person: Person) -> None:
    await person.send("Run it")
    await person.click("allowOnce")
    await person.sees_no_more("permissionDialog")
    tell("the command runs")
    await person.write("composer", "a draft that must survive")
    tell("a draft stands in the composer")
    await asyncio.sleep(3600)


async def reads_the_draft(person: Person) -> None:
    composer = await person.sees("composer")
    await person.waits_until(lambda: text_of(composer), "the draft is back")
    tell(f"the composer holds {text_of(composer)}")


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario for scenario in (lets_a_command_run_and_writes_a_draft, reads_the_draft)
}


class OutsideApp:
    """Starts the program and reads what it prints.

    Attributes:
        pid: of the running program.
        lines: what it has printed.
    """

    def __init__(self, cli: RealCli, folder: Path) -> None:
        self.cli = cli
        self.folder = folder
        self.lines: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._printed = threading.Condition()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @contextmanager
    def start(self, scenario: str, *arguments: str) -> Iterator[OutsideApp]:
        """Runs the program with a scenario. One that still runs at the end is terminated, and must then leave well."""
        env = app_environment(self.cli, self.folder) | {"PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-m", "tests.helpers.outside", scenario, *arguments]
        self.lines = []
        with subprocess.Popen(
            argv, env=env, cwd=self.cli.project, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as self._process:
            reader = threading.Thread(target=self._read, args=(self._process.stdout,))
            reader.start()
            try:
                yield self
            finally:
                if self._process.poll() is None:
                    self._process.terminate()
                self._process.wait(30)
                reader.join(30)

    def wait_for(self, beginning: str, seconds: float = 60) -> str:
        """The first line that begins so; AssertionError with all lines when it does not come."""
        deadline = time.monotonic() + seconds
        with self._printed:
            while True:
                for line in self.lines:
                    if line.startswith(beginning):
                        return line
                left = deadline - time.monotonic()
                if left <= 0 or not self._printed.wait(left):
                    raise AssertionError(f"it did not say {beginning!r}:\n" + "\n".join(self.lines))

    def _read(self, stream: Any) -> None:
        for line in stream:
            with self._printed:
                self.lines.append(line.rstrip("\n"))
                self._printed.notify_all()


def main(name: str, arguments: list[str], start: Callable[[list[str]], int]) -> int:
    from desktop import application

    play = Play(SCENARIOS[name])
    application.Application = play.application_class()  # type: ignore[misc]
    code = start(arguments)
    play.verdict()
    return code


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from desktop.__main__ import main as start

    sys.exit(main(sys.argv[1], sys.argv[2:], start))
