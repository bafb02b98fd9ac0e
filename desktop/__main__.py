"""The command line. Nothing here imports Qt before a window is really wanted."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from desktop import __version__

FAKE_CLI_SWITCH = "--fake-cli"
"""The hidden first argument that makes the packaged app the stand-in for `claude` that `--demo` runs."""

FINE, FAILED, USAGE = 0, 1, 2

DESCRIPTION = "A desktop client for Claude Code that asks you when Claude needs a decision."
EPILOG = """\
other commands:
  handraise run [--answers F] [--json] PROMPT   one turn in this folder, without a window
  handraise doctor [--json]                     what was found on this computer
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence that says what to do, and exit code 2."""
        self.exit(USAGE, f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.\n")


def window_parser() -> argparse.ArgumentParser:
    """The arguments of the window."""
    parser = _Parser(
        prog="handraise", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="begin a new conversation there")
    parser.add_argument("--demo", action="store_true", help="try it without claude, account or network")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("--smoke-test", action="store_true", help=argparse.SUPPRESS)
    return parser


def run_parser() -> argparse.ArgumentParser:
    """The arguments of `handraise run`."""
    parser = _Parser(prog="handraise run", description="One turn in this folder, without a window.", allow_abbrev=False)
    parser.add_argument("--answers", type=Path, metavar="F", help="a JSON file: {question: answer}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("prompt", metavar="PROMPT", help="what Claude shall do")
    return parser


def doctor_parser() -> argparse.ArgumentParser:
    """The arguments of `handraise doctor`."""
    parser = _Parser(prog="handraise doctor", description="What was found on this computer.", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code: 0 fine, 1 failed, 2 usage."""
    multiprocessing.freeze_support()
    words = list(sys.argv[1:] if argv is None else argv)
    _give_streams()
    if words[:1] == [FAKE_CLI_SWITCH]:
        from fake_cli.__main__ import main as fake_cli_main

        return fake_cli_main(words[1:])
    try:
        return _dispatch(words)
    except KeyboardInterrupt:
        return FAILED


def _dispatch(words: list[str]) -> int:
    from protocol import guardian

    if words[:1] == [guardian.SWITCH]:
        guardian.main()
        return FINE
    if words[:1] == ["run"]:
        run_options = run_parser().parse_args(words[1:])
        from desktop import run

        return run.main(run_options.prompt, answers=run_options.answers, as_json=run_options.json)
    if words[:1] == ["doctor"]:
        doctor_options = doctor_parser().parse_args(words[1:])
        from desktop import doctor

        return doctor.main(json_output=doctor_options.json)
    return _window(words)


def _window(words: list[str]) -> int:
    parser = window_parser()
    options = parser.parse_args(words)
    if options.version:
        print(f"Handraise {__version__}")
        return FINE
    folder: Path | None = options.folder
    if folder is not None and not folder.is_dir():
        parser.error(f"there is no folder {folder}")
    if options.demo and folder is not None:
        parser.error("the demo brings its own folder")
    if options.smoke_test and not options.demo:
        parser.error("the smoke test plays the demo: add --demo")
    try:
        from desktop import application
    except ImportError as error:
        print(f"The window cannot be shown: {error}. Install Handraise again.", file=sys.stderr)
        return FAILED
    return application.main(
        folder.absolute() if folder is not None else None, demo=options.demo, smoke_test=options.smoke_test
    )


def _give_streams() -> None:
    """A packaged app without a console has no streams; what is written to them then goes nowhere."""
    import os

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the whole run)


if __name__ == "__main__":
    sys.exit(main())
