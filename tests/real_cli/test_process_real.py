"""Finding, asking, starting and ending the true CLI, with MCP servers that refuse to go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protocol.claude import find_claude, read_login, read_version
from protocol.process import CliProcess, Ladder
from protocol.process.tree import wait_until
from protocol.pump import StderrTail, StreamWriter, read_stream, run_plain_thread
from protocol.requests import control_request, initialize, user_message
from protocol.wire import encode_line
from tests.helpers.processes import describe, marked_processes, wait_until_gone
from tests.helpers.real_cli import RealCli
from tests.real_cli import mcp_server
from tests.real_cli.model import Fail, Hang, ScriptedModel

ROOT = Path(__file__).resolve().parents[2]

STUBBORN_SERVER = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
helper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-I", "-S", "-c", helper + "  # stubborn"], start_new_session=True,
                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.execv(sys.executable, [sys.executable, sys.argv[1]])
"""
APP = """
import json, os, sys, time
from pathlib import Path
from protocol.process import CliProcess
argv, env = json.loads(sys.argv[1])
child = CliProcess.start(argv, Path.cwd(), env)
print("running", flush=True)
while child.stdout.read(): pass
"""


@pytest.fixture
def mcp_arguments(tmp_path: Path) -> tuple[str, ...]:
    """Arguments for a CLI with an MCP server that ignores SIGTERM, and has a helper in a session of its own."""
    script = tmp_path / "stubborn_server.py"
    script.write_text(STUBBORN_SERVER)
    server = {"command": sys.executable, "args": [str(script), mcp_server.__file__]}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"stubborn": server}}))
    return ("--mcp-config", str(config))


def has_helper(mark: str) -> bool:
    return any("# stubborn" in " ".join(process.cmdline()) for process in marked_processes(mark))


class Running:
    """The CLI on our own pipes."""

    def __init__(self, cli: RealCli, *extra: str, env: dict[str, str] | None = None) -> None:
        self.process = CliProcess.start(cli.stream_argv(*extra), cli.project, env or cli.env)
        self.writer = StreamWriter(self.process.stdin)
        self.tail = StderrTail(self.process.stderr)
        self.received = b""
        self.reader = run_plain_thread(lambda: read_stream(self.process.stdout, self._keep), "reader")

    def _keep(self, data: bytes) -> None:
        self.received += data

    def handshake(self) -> None:
        self.writer.put(encode_line(control_request("1", initialize())))
        assert wait_until(lambda: b"control_response" in self.received, 60.0), self.tail.text()

    def say(self, text: str) -> None:
        self.writer.put(encode_line(user_message(text, uuid="8d6e3b1c-0d2c-4f6e-9d0a-3f1f0c6f7a11")))


def test_it_is_found_and_says_its_version(each_claude: RealCli) -> None:
    claude = find_claude(setting=each_claude.argv[0], env=each_claude.env, home=each_claude.home)

    assert str(read_version(claude, each_claude.env, timeout=60.0)) == each_claude.version


def test_it_says_who_is_signed_in_and_an_old_one_is_not_asked(each_claude: RealCli, model: ScriptedModel) -> None:
    claude = find_claude(setting=each_claude.argv[0], env=each_claude.env, home=each_claude.home)
    signed_out = {name: value for name, value in each_claude.env.items() if name != "CLAUDE_CODE_OAUTH_TOKEN"}

    logins = [read_login(claude, env, timeout=60.0) for env in (each_claude.env, signed_out)]

    knows = each_claude.numbers >= (2, 1)
    assert [login.logged_in for login in logins] == ([True, False] if knows else [None, None])
    assert [login.auth_method for login in logins] == (["oauth_token", "none"] if knows else ["", ""])
    assert model.main_requests == []


def test_it_leaves_when_stdin_closes_and_its_stubborn_servers_do_not_stay(
    each_claude: RealCli, mcp_arguments: tuple[str, ...], process_mark: str
) -> None:
    running = Running(each_claude, *mcp_arguments)
    running.handshake()
    assert wait_until(lambda: has_helper(process_mark), 60.0)

    ended = running.process.close(running.writer, Ladder(20.0, 3.0, 10.0), tail=running.tail)

    assert (ended.code, ended.how) == (0, "eof")
    assert marked_processes(process_mark) == [], describe(marked_processes(process_mark))
    assert running.reader.join(10.0)


def test_nothing_is_left_of_an_app_that_was_killed_with_a_turn_under_way(
    claude: RealCli, mcp_arguments: tuple[str, ...], process_mark: str
) -> None:
    command = json.dumps([claude.stream_argv(*mcp_arguments), claude.env])
    app = subprocess.Popen(
        [sys.executable, "-c", APP, command],
        cwd=claude.project,
        env={"PYTHONPATH": str(ROOT), "HANDRAISE_TEST_MARK": process_mark},
        stdout=subprocess.PIPE,
    )
    with app:
        assert app.stdout is not None
        assert app.stdout.readline() == b"running\n"
        assert wait_until(lambda: has_helper(process_mark), 60.0)
        app.kill()
    left = wait_until_gone(process_mark, seconds=5.0)
    assert left == [], describe(left)


@pytest.mark.parametrize("trouble", [Fail(401, "authentication_error"), Hang()], ids=["retries", "hangs"])
def test_a_turn_that_does_not_end_does_not_hold_up_the_closing(
    claude: RealCli, model: ScriptedModel, process_mark: str, trouble: Fail | Hang
) -> None:
    model.when(reply=trouble)
    running = Running(claude, env={**claude.env, "CLAUDE_CODE_MAX_RETRIES": "10"})
    running.handshake()
    running.say("Hello")
    model.wait_for_request(timeout=60.0)

    started = time.monotonic()
    ended = running.process.close(running.writer, Ladder(2.0, 5.0, 10.0), tail=running.tail)

    assert time.monotonic() - started < 17.0
    assert ended.code is not None or ended.signal is not None
    assert marked_processes(process_mark) == []


def test_one_that_was_killed_and_that_nobody_drained_is_closed_within_seconds(
    claude: RealCli, mcp_arguments: tuple[str, ...], process_mark: str
) -> None:
    process = CliProcess.start(claude.stream_argv("--debug", *mcp_arguments), claude.project, claude.env)
    assert wait_until(lambda: has_helper(process_mark), 60.0)
    os.kill(process.pid, signal.SIGKILL)

    started = time.monotonic()
    ended = process.close(deadlines=Ladder(1.0, 1.0, 10.0))

    assert (ended.signal, ended.how) in ((signal.SIGKILL, "by itself"), (signal.SIGKILL, "eof"))
    assert time.monotonic() - started < 15.0
    assert marked_processes(process_mark) == []
