"""A program of the other kind that the local endpoint can drive: a text on stdin, one JSON object on stdout."""

from __future__ import annotations

import json
import os
import time

from fake_cli.arguments import Arguments
from fake_cli.harms import flood_stderr, spawn_orphan
from fake_cli.output import STDIN, Output, write_stderr

NAMES = {
    "error": "the object says is_error, with this text",
    "garbage": "prints something that is no JSON",
    "slow": "takes so many seconds",
    "big": "the result has so many characters",
    "json-lines": "prints so many lines of progress objects first, then the result",
    "exit": "exits with this code after a word on stderr, without a result",
    "stderr": "writes so many bytes to stderr first",
    "no-result": "prints an object without `result`",
    "wrong-type": "prints a `result` that is no text",
    "nothing": "prints nothing and exits with 0",
    "unread": "does not read its stdin",
    "orphan": "leaves a grandchild that holds stdout for so many seconds",
    "hang-at-eof": "prints its result and does not end",
}
"""What `--harm NAME=VALUE` does in one-shot mode."""


def run_one_shot(arguments: Arguments) -> int:
    """`--one-shot [--one-shot-reply TEXT] [--harm NAME=VALUE]`; the reply is `echo: ` and the text, unless given."""
    harms = arguments.harms
    unknown = sorted(set(harms) - set(NAMES))
    if unknown:
        write_stderr(f"Unknown harm in one-shot mode: {', '.join(unknown)}. Known: {', '.join(NAMES)}.\n")
        return 2
    output = Output()
    prompt = "" if "unread" in harms else _read_all()
    if "stderr" in harms:
        flood_stderr(int(harms["stderr"] or 1_000_000))
    if "orphan" in harms:
        spawn_orphan(float(harms["orphan"] or 30))
    if "slow" in harms:
        time.sleep(float(harms["slow"] or 5))
    if "exit" in harms:
        write_stderr("The one-shot program gave up.\n")
        return int(harms["exit"] or 1)
    if "nothing" in harms:
        return 0
    _print(output, harms, arguments.get("--one-shot-reply") or f"echo: {prompt}")
    if "hang-at-eof" in harms:
        time.sleep(3600)
    return 0


def _print(output: Output, harms: dict[str, str], reply: str) -> None:
    if "garbage" in harms:
        output.line(harms["garbage"] or "this is <not> JSON")
        return
    for index in range(int(harms.get("json-lines") or ("json-lines" in harms and 3))):
        output.send({"type": "progress", "step": index})
    value: dict[str, object] = {"result": reply}
    if "big" in harms:
        value["result"] = "x" * int(harms["big"] or 5_000_000)
    if "error" in harms:
        value = {"result": harms["error"] or "The model refused.", "is_error": True}
    if "no-result" in harms:
        value = {"answer": reply}
    if "wrong-type" in harms:
        value = {"result": {"text": reply}}
    output.line(json.dumps(value, ensure_ascii=False))


def _read_all() -> str:
    chunks = []
    while chunk := os.read(STDIN, 65536):
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")
