"""However the app ends, nothing that it started is left five seconds later."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from protocol.guardian import KILL, LEAVE, SWITCH, TERM
from protocol.process import guard
from protocol.process.guard import Guard, guardian_command
from protocol.process.tree import ProcessTree, wait_until
from tests.helpers.processes import describe, marked_processes, wait_until_gone

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends a Job Object with its last handle")

ROOT = Path(__file__).resolve().parents[2]

APP = """
import os, sys, time
from pathlib import Path
from protocol.process import CliProcess
child = CliProcess.start([sys.executable, "-I", "-S", "-c", sys.argv[1]], Path.cwd(), os.environ)
while b"ready" not in child.stdout.read(): pass
print("running", flush=True)
{then}
"""
STUCK_CLI = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stuck = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
for new_session in (False, True):
    subprocess.Popen([sys.executable, "-I", "-S", "-c", stuck], start_new_session=new_session)
time.sleep(0.3)
print("ready", flush=True)
time.sleep(600)
"""
CLI_THAT_LEAVES_ITS_SERVERS = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True,
                 stdin=subprocess.DEVNULL)
print("ready", flush=True)
sys.stdin.read()
"""
WAITS = "time.sleep(600)"

RunApp = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def run_app(marked_env: dict[str, str], tmp_path: Path) -> Iterator[RunApp]:
    """Runs a small app on `protocol.process` and waits until its CLI runs."""
    apps: list[subprocess.Popen[bytes]] = []

    def run(cli: str, then: str = WAITS) -> subprocess.Popen[bytes]:
        env = {**marked_env, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", APP.format(then=then), cli]
        app = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE)
        apps.append(app)
        assert app.stdout is not None
        assert app.stdout.readline() == b"running\n"
        return app

    yield run
    for app in apps:
        app.kill()
        app.wait()
        assert app.stdout is not None
        app.stdout.close()


def assert_nothing_left(process_mark: str) -> None:
    left = wait_until_gone(process_mark, seconds=5.0)
    assert left == [], describe(left)


@pytest.mark.parametrize("cli", [STUCK_CLI, CLI_THAT_LEAVES_ITS_SERVERS], ids=["stuck", "leaves its servers"])
def test_nothing_is_left_of_an_app_that_was_killed(run_app: RunApp, process_mark: str, cli: str) -> None:
    app = run_app(cli)
    assert len(marked_processes(process_mark)) >= 4  # the app, its guardian, the CLI and its servers
    app.kill()
    app.wait()
    assert_nothing_left(process_mark)


def test_nothing_is_left_of_an_app_that_was_killed_right_after_the_start(run_app: RunApp, process_mark: str) -> None:
    app = run_app("print('ready', flush=True); import time; time.sleep(600)", then="os.kill(os.getpid(), 9)")
    app.wait()
    assert_nothing_left(process_mark)


@pytest.mark.parametrize(
    "then",
    ["sys.exit()", "os._exit(1)", "raise RuntimeError", "os.abort()", "os.execvp('true', ['true'])"],
)
def test_nothing_is_left_of_an_app_that_never_closed_its_cli(run_app: RunApp, process_mark: str, then: str) -> None:
    run_app(STUCK_CLI, then).wait(30.0)
    assert_nothing_left(process_mark)


def test_a_fork_of_the_app_does_not_keep_its_cli_alive(run_app: RunApp, process_mark: str) -> None:
    app = run_app(STUCK_CLI, then="if os.fork() == 0: print('forked', flush=True)\ntime.sleep(600)")
    assert app.stdout is not None
    assert app.stdout.readline() == b"forked\n"
    app.kill()
    app.wait()
    gone = wait_until(lambda: len(marked_processes(process_mark)) == 1, 5.0)
    (fork, *others) = marked_processes(process_mark)
    fork.kill()
    assert gone, describe(others)


def test_nothing_is_left_after_ctrl_c_in_the_terminal(
    marked_env: dict[str, str], process_mark: str, tmp_path: Path
) -> None:
    controller, terminal = pty.openpty()
    login = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    app = subprocess.Popen(
        [sys.executable, "-c", login, "-c", APP.format(then=WAITS), STUCK_CLI],
        cwd=tmp_path,
        env={**marked_env, "PYTHONPATH": str(ROOT)},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        read_until(controller, b"running")
        os.write(controller, b"\x03")
        read_until(controller, b"KeyboardInterrupt")
        app.wait(30.0)
        assert_nothing_left(process_mark)
    finally:
        app.kill()
        app.wait()
        os.close(controller)


def read_until(descriptor: int, text: bytes) -> None:
    seen = b""
    while text not in seen:
        assert select.select([descriptor], [], [], 30.0)[0], seen
        seen += os.read(descriptor, 4096)


@pytest.fixture
def own_guard() -> Iterator[Guard]:
    own = Guard()
    yield own
    for tree in list(own.watched.values()):
        own.forget(tree)
    own.close()


def test_a_guardian_that_was_killed_is_replaced_and_told_everything(own_guard: Guard) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as first:
        own_guard.watch(ProcessTree("first", first.pid, psutil.Process(first.pid).create_time()))
        assert own_guard.pid is not None
        os.kill(own_guard.pid, signal.SIGKILL)
        assert wait_until(lambda: not psutil.pid_exists(own_guard.pid or 0) or _is_zombie(own_guard.pid), 10.0)
        own_guard.watch(ProcessTree("second"))
        own_guard.close()
        assert first.wait(10.0) == -signal.SIGTERM


def _is_zombie(pid: int | None) -> bool:
    return pid is not None and psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_guardian_leaves_alone_what_has_ended_in_order(own_guard: Guard) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        tree = ProcessTree("other", other.pid, psutil.Process(other.pid).create_time())
        own_guard.watch(tree)
        guardian = psutil.Process(own_guard.pid)
        own_guard.forget(tree)
        own_guard.close()
        assert not guardian.is_running()
        assert other.poll() is None
        other.kill()


def test_a_guardian_survives_what_ends_the_app(own_guard: Guard) -> None:
    own_guard.watch(ProcessTree("none"))
    guardian = psutil.Process(own_guard.pid)
    assert wait_until(lambda: not sys.platform.startswith("linux") or guardian.name() == "hr-guardian", 20.0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        guardian.send_signal(number)
    time.sleep(0.3)
    assert guardian.is_running()
    assert guardian.status() != psutil.STATUS_ZOMBIE
    assert os.getsid(guardian.pid) == guardian.pid
    assert guardian.cwd() == "/"


def test_a_guardian_is_lean(own_guard: Guard) -> None:
    code = f"import sys; sys.path += {guardian_command()[5:]!r}; import protocol.guardian, protocol.process.tree; "
    code += "print([m for m in sys.modules if m.startswith(('PySide6', 'asyncio', 'pydantic', 'aiohttp'))])"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True, timeout=60)
    assert loaded.stdout == b"[]\n"


def test_the_guardian_has_done_its_work_well_within_five_seconds() -> None:
    assert LEAVE + TERM + KILL < 4.0


def test_a_packaged_app_is_its_own_guardian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert guardian_command() == [sys.executable, SWITCH]


def test_a_guardian_never_starts_a_guardian(
    own_guard: Guard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A packaged program that does not know the switch would otherwise start itself for ever."""
    monkeypatch.setenv("HANDRAISE_GUARDIAN", "1")
    own_guard.watch(ProcessTree("none"))
    assert own_guard.pid is None
    assert SWITCH in caplog.text
    caplog.clear()


def test_without_a_guardian_everything_else_works(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(guard, "guardian_command", lambda: ["/nowhere/python"])
    lonely = Guard()
    tree = ProcessTree("none")
    lonely.watch(tree)
    lonely.forget(tree)
    lonely.close()
    assert "no guardian" in caplog.text
    caplog.clear()
