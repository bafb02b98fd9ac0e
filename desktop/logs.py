"""The log: one file, by topic (`handraise.process`, `protocol.session`, …), never on the terminal."""

from __future__ import annotations

import contextlib
import json
import logging
import logging.handlers
import os
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from desktop.paths import log_file

MAX_BYTES = 2_000_000
KEPT = 3
FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"

wire = logging.getLogger("handraise.wire")


def set_up(env: Mapping[str, str] = os.environ) -> Path | None:
    """Send all topics to the log file; returns it, or None when it cannot be written (then nothing is logged)."""
    path = log_file(env)
    root = logging.getLogger()
    for handler in list(root.handlers):
        if getattr(handler, "is_handraise", False):
            root.removeHandler(handler)
            handler.close()
    handler = _handler(path)
    handler.setFormatter(logging.Formatter(FORMAT))
    handler.is_handraise = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # qasync tells of each of its own calls at INFO and below.
    logging.getLogger("qasync").setLevel(logging.WARNING)
    return path if not isinstance(handler, logging.NullHandler) else None


def close() -> None:
    """Let go of the file."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        if getattr(handler, "is_handraise", False):
            root.removeHandler(handler)
            handler.close()


def wire_log(env: Mapping[str, str] = os.environ) -> Callable[[str, Mapping[str, Any]], None] | None:
    """What writes the traffic into the log, user text included; None unless HANDRAISE_LOG_WIRE=1 asks for it."""
    if env.get("HANDRAISE_LOG_WIRE") != "1":
        return None

    def write(direction: str, message: Mapping[str, Any]) -> None:
        wire.info("%s %s", direction, json.dumps(message, ensure_ascii=False, default=str))

    return write


class _OwnersFile(logging.handlers.RotatingFileHandler):
    """Each of its files, also one begun later, can be read by its owner alone."""

    def _open(self) -> TextIOWrapper:
        file = super()._open()
        if os.name == "posix":
            os.chmod(self.baseFilename, 0o600)
        return file


def _handler(path: Path) -> logging.Handler:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        return _OwnersFile(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", errors="replace")
    # Without a handler, Python would print warnings on the terminal.
    return logging.NullHandler()
