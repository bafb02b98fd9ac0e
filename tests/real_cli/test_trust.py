"""What the true CLI starts without asking, and that the window knows of it beforehand."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from desktop.conversations.trust import own_settings
from protocol.session import SessionOptions
from tests.helpers.peer import Listening, run
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel


@pytest.mark.parametrize("where", ["project", "project/a"])
def test_a_server_of_any_folder_above_is_started_unasked_and_named_before(
    each_claude: RealCli, model: ScriptedModel, where: str
) -> None:
    folder = each_claude.home / "project" / "a" / "b"
    folder.mkdir(parents=True)
    trace = each_claude.home / "trace"
    place = each_claude.home / where
    servers = {"stranger": {"command": "touch", "args": [str(trace)]}}
    (place / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    assert own_settings(folder, each_claude.env, home=each_claude.home) == (str(place / ".mcp.json"),)

    async def start() -> None:
        async with Listening(SessionOptions(each_claude.argv, folder, each_claude.env)) as one:
            one.session.send("hello")
            await one.until_idle()
            await until_there(trace)

    model.script("Hello.")
    run(start())


async def until_there(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not await asyncio.to_thread(path.exists):
        assert time.monotonic() < deadline, "the server was never started"
        await asyncio.sleep(0.05)
