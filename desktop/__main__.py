"""The command line. Nothing here imports Qt before a window is really wanted."""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from desktop import __version__, windows_shell

if TYPE_CHECKING:
    from desktop.serve import ServeOptions

FAKE_CLI_SWITCH = "--fake-cli"
"""The hidden first argument that makes the packaged app the stand-in for `claude` that `--demo` runs."""

FINE, FAILED, USAGE = 0, 1, 2

DESCRIPTION = "A desktop client for Claude Code that asks you when Claude needs a decision."
EPILOG = """\
other commands:
  handraise run [--answers F] [--json] PROMPT   one turn in this folder, without a window
  handraise serve [--port N] …                  the local OpenAI-compatible endpoint alone, without a window
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
    parser.add_argument("--smoke-test", nargs="?", const="", metavar="PROMPT", help=argparse.SUPPRESS)
    return parser


def run_parser() -> argparse.ArgumentParser:
    """The arguments of `handraise run`."""
    parser = _Parser(prog="handraise run", description="One turn in this folder, without a window.", allow_abbrev=False)
    parser.add_argument("--answers", type=Path, metavar="F", help="a JSON file: {question: answer}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("prompt", metavar="PROMPT", help="what Claude shall do")
    return parser


def serve_parser() -> argparse.ArgumentParser:
    """The arguments of `handraise serve`."""
    parser = _Parser(
        prog="handraise serve", allow_abbrev=False,
        description="The local, OpenAI-compatible endpoint on 127.0.0.1, without a window. Once it listens it prints "
        "one line of JSON: its url, the file with its token, its process id.",
    )  # fmt: skip
    add = parser.add_argument
    add("--port", type=_whole(0, 65535), default=8473, metavar="N", help="where it listens (8473; 0: any free one)")
    add("--token-file", type=Path, metavar="F", help="the file with the token, made if need be (the window's own)")
    add("--backend", choices=("claude", "command"), default="claude", help="what answers: Claude Code, or a command")
    add("--command", type=_command, metavar="JSON-ARRAY", help='a one-shot program, as in ["program", "argument"]')
    add("--model-name", metavar="M", help="what the command's model is called (the program's name)")
    add("--timeout", type=_seconds, default=600.0, metavar="S", help="seconds that an answer may take (600)")
    add("--max-concurrent", type=_whole(1, 64), default=2, metavar="N", help="answers at once (2)")
    add("--queue", type=_whole(0, 1000), default=8, metavar="N", help="requests that may wait (8)")
    add("--lenient", action="store_true", help="ignore sampling parameters instead of refusing them")
    add("--tools-in", type=Path, metavar="FOLDER", help="give Claude its tools, in this folder; nobody can be asked")
    return parser


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _command(text: str) -> tuple[str, ...]:
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = None
    good = isinstance(words, list) and words and all(isinstance(word, str) and "\0" not in word for word in words)
    if not good or not words[0].strip():
        raise argparse.ArgumentTypeError("it is no JSON array of a program and its arguments, as in '[\"llm\"]'")
    return tuple(words)


def serve_options(words: Sequence[str]) -> ServeOptions:
    """The arguments of `handraise serve`, checked. Leaves with exit code 2 when they do not fit."""
    parser = serve_parser()
    given = parser.parse_args(words)
    if given.backend == "command" and given.command is None:
        parser.error("the backend “command” needs the program: --command '[\"program\", \"argument\"]'")
    if given.backend == "claude" and (given.command is not None or given.model_name is not None):
        parser.error("--command and --model-name belong to --backend command")
    if given.model_name is not None and not given.model_name.strip():
        parser.error("--model-name is empty")
    if given.tools_in is not None and given.backend == "command":
        parser.error("--tools-in belongs to --backend claude; a command brings its own tools")
    if given.tools_in is not None and not given.tools_in.is_dir():
        parser.error(f"there is no folder {given.tools_in}")
    from desktop.serve import ServeOptions
    from protocol.chat_completions.options import EndpointOptions

    return ServeOptions(
        EndpointOptions(
            port=given.port, lenient=given.lenient, timeout=given.timeout, max_concurrent=given.max_concurrent,
            queue=given.queue,
        ),
        token_file=given.token_file.absolute() if given.token_file is not None else None,
        backend=given.backend, command=given.command or (), model_name=given.model_name or "",
        tools_in=given.tools_in.resolve() if given.tools_in is not None else None,
    )  # fmt: skip


def doctor_parser() -> argparse.ArgumentParser:
    """The arguments of `handraise doctor`."""
    parser = _Parser(prog="handraise doctor", description="What was found on this computer.", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code: 0 fine, 1 failed, 2 usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    _give_streams()
    windows_shell.keep_version_from_shell()
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
    if words[:1] == ["serve"]:
        serve_words = serve_options(words[1:])
        from desktop import serve

        return serve.main(serve_words)
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
    if options.smoke_test == "" and not options.demo:
        parser.error("the smoke test plays the demo: add --demo, or a prompt and a folder")
    if options.smoke_test and (options.demo or folder is None):
        parser.error("the smoke test with a prompt needs a folder, and no demo")
    # What is loaded is no garbage, and looking for some takes time; `desktop.garbage` does it once the window is there.
    gc.disable()
    try:
        return _shown(options)
    finally:
        gc.enable()


def _shown(options: argparse.Namespace) -> int:
    folder: Path | None = options.folder
    opened = None
    try:
        if not options.demo:
            from desktop import opening

            opened = opening.open_window(os.environ)
        from desktop import application
    except ImportError as error:
        print(f"The window cannot be shown: {error}. Install Handraise again.", file=sys.stderr)
        return FAILED
    return application.main(
        folder.absolute() if folder is not None else None, demo=options.demo, smoke_test=options.smoke_test,
        opened=opened,
    )  # fmt: skip


def _give_streams() -> None:
    """A packaged app without a console has no streams; what is written to them then goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the whole run)


if __name__ == "__main__":
    sys.exit(main())
