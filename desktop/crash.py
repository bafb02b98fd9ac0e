"""What happens when a part of this program fails: it is logged, and told to the person once, in full, as plain text.

No Qt in here but for the signal's carrier in `application.py`: the hooks must work before the application exists and
after it is gone.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from desktop import __version__

log = logging.getLogger("handraise.crash")

Listener = Callable[[str], None]


def report_text(exception: BaseException, where: str) -> str:
    """The exact text that the person sees and may copy."""
    trace = "".join(traceback.format_exception(exception))
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"Handraise {__version__} on {system}\nIn {where}:\n\n{trace}"


class CrashHooks:
    """Catches what nobody caught.

    Attributes:
        log_file: where the interpreter writes its stacks when it dies for good.
        reports: what was caught, newest last.
    """

    def __init__(self, log_file: Path) -> None:
        self.log_file = log_file
        self.reports: list[str] = []
        self._listener: Listener | None = None
        self._file: TextIO | None = None
        self._before: tuple[object, object] | None = None

    def install(self) -> str:
        """Put the hooks in place; returns what the last run wrote when it died, "" when it ended well."""
        left = self._open_log()
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        return left

    def forget(self) -> None:
        """Empty the log, since this run is well until now.

        On Windows the interpreter also writes down faults that Qt and COM handle themselves.
        """
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.seek(0)
                self._file.truncate()

    def remove(self) -> None:
        """Take the hooks away; the log of a run that ended well is empty."""
        if self._before is not None:
            sys.excepthook, threading.excepthook = self._before  # type: ignore[assignment]
            self._before = None
        faulthandler.disable()
        self.forget()
        if self._file is not None:
            self._file.close()
            self._file = None

    def listen(self, listener: Listener | None) -> None:
        """Name who shows reports to the person. It may be called from any thread."""
        self._listener = listener

    def caught(self, exception: BaseException, where: str) -> None:
        """Take an exception over that nobody else will see."""
        text = report_text(exception, where)
        self.reports.append(text)
        if self._listener is not None:
            self._listener(text)

    def _open_log(self) -> str:
        left = ""
        try:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                left = self.log_file.read_text(encoding="utf-8", errors="replace").strip()
            self._file = self.log_file.open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        except OSError as error:
            log.warning("No crash log: %s", error)
        return left

    def _on_exception(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, value, trace)
            return
        log.error("Uncaught exception", exc_info=(kind, value, trace))
        self.caught(value, "the window")

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None or issubclass(args.exc_type, SystemExit):
            return
        where = f"the thread {args.thread.name}" if args.thread is not None else "a thread"
        log.error("Uncaught exception in %s", where, exc_info=args.exc_value)
        self.caught(args.exc_value, where)
