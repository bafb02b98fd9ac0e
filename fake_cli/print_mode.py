"""`claude -p PROMPT` with text or JSON output: one turn without a host that could be asked."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from fake_cli.output import STDIN

if TYPE_CHECKING:
    from fake_cli.session import Session


def run_print_mode(session: Session) -> int:
    """The prompt is the first word that is no option, or stdin. Prints the result; rc 1 if it is an error."""
    prompt = session.arguments.words[0] if session.arguments.words else _read_stdin()
    session.output.muted = True
    asyncio.run(_one_turn(session, prompt))
    session.output.muted = False
    result: dict[str, Any] = session.output.last_result
    if session.arguments.get("--output-format") == "json":
        session.output.line(json.dumps(result, ensure_ascii=False))
    else:
        session.output.line(str(result.get("result", "Execution error")))
    return 1 if result.get("is_error", True) else 0


async def _one_turn(session: Session, prompt: str) -> None:
    session.begin_without_host(prompt)
    await session.finished


def _read_stdin() -> str:
    chunks = []
    while chunk := os.read(STDIN, 65536):
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace").strip()
