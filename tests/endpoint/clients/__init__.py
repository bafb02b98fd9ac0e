"""Real clients of the endpoint, each as a small script of its own, and how a test runs one.

The pins are beside the scripts: `requirements-*.txt` and `package.json` (`tests.helpers.clients` installs them).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.clients import node_modules, python_of

SCRIPTS = Path(__file__).resolve().parent
SECONDS = 60
"""What one client may take, its start on a busy machine and its pauses between two tries included."""

OPENAI_CLIENTS = ("openai-python", "openai-python-2", "openai-node")
CLIENTS = (*OPENAI_CLIENTS, "langchain", "llm")


@dataclass(frozen=True)
class Place:
    """Where a client asks.

    Attributes:
        url: the base URL, with `/v1`.
        token: the key that it sends.
        model: the model that it names.
        folder: its home; empty.
    """

    url: str
    token: str
    model: str
    folder: Path


def _node() -> list[str]:
    node_modules()
    return [shutil.which("node") or "node", str(SCRIPTS / "with_node.mjs")]


_COMMANDS: dict[str, Callable[[], list[str]]] = {
    "openai-python": lambda: [sys.executable, str(SCRIPTS / "with_openai.py")],
    "openai-python-2": lambda: [str(python_of("old-openai")), str(SCRIPTS / "with_openai.py")],
    "openai-node": _node,
    "langchain": lambda: [str(python_of("programs")), str(SCRIPTS / "with_langchain.py")],
    "llm": lambda: [str(python_of("programs")), str(SCRIPTS / "with_llm.py")],
}


def ask(client: str, place: Place, *requests: tuple[str, str]) -> list[dict[str, Any]]:
    """What that client sees of each request, sent one after the other. Skips the test where the client is not here.

    Args:
        client: one of `CLIENTS`.
        place: where it asks.
        requests: mode and the user's words. The modes are `whole` and `stream`; OpenAI's clients know `models` and
            `parse` (a JSON schema), too.

    Returns:
        For each `text`, and what else the client tells (`finish_reason`, `usage`, `pieces`); or `error`.
    """
    command = _COMMANDS[client]()
    inherited = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "TEMP")
    env = {name: os.environ[name] for name in inherited if name in os.environ} | {
        "HOME": str(place.folder),
        "USERPROFILE": str(place.folder),
        "LLM_USER_PATH": str(place.folder),
        "OPENAI_BASE_URL": place.url,
        "OPENAI_API_KEY": place.token,
        "PYTHONUTF8": "1",
        "NO_PROXY": "127.0.0.1",
        **({"CLIENT_MODULES": str(node_modules())} if client == "openai-node" else {}),
    }
    done = subprocess.run(
        command,
        input=json.dumps([{"mode": mode, "model": place.model, "prompt": prompt} for mode, prompt in requests]),
        env=env,
        cwd=place.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{client} died:\n{done.stdout}\n{done.stderr}"
    outcomes: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(outcomes) == len(requests)
    return outcomes
