"""The Windows half of the processes with Windows' own calls: batch shims, the Job Object, and the end of a tree."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from protocol.claude import find_claude, read_version
from protocol.process import CliProcess, StartError
from protocol.pump import StderrTail, StreamWriter
from tests.faults.conftest import QUICK, StartChild

pytestmark = pytest.mark.skipif(os.name != "nt", reason="needs Windows; tests/faults/test_windows_job.py plays it")

ROOT = Path(__file__).resolve().parents[2]
SLEEPS = "import time; time.sleep(600)"
STARTS_TWO = f"""
import subprocess, sys
deeper = "import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', {SLEEPS!r}]).wait()"
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", deeper])
print("ready", flush=True)
sys.stdin.read() if "leaves" in sys.argv else child.wait()
"""
HOST = f"""
import os, sys
from pathlib import Path
from protocol.process import CliProcess
argv = [sys.executable, "-I", "-S", "-c", {STARTS_TWO!r}]
cli = CliProcess.start(argv, Path.cwd(), os.environ, detached_too="helper" not in sys.argv)
cli.stdout.read(100)
print(cli.pid, flush=True)
sys.stdin.read()
"""
LEAVES_WHILE_IT_STARTS_ONE = f"""
import os, sys, threading, time
from pathlib import Path
from protocol.process import CliProcess, windows

join = windows.Job.add

def join_late(job, pid):
    print(pid, flush=True)
    time.sleep(1.0)
    join(job, pid)

windows.Job.add = join_late
argv = [sys.executable, "-I", "-S", "-c", {SLEEPS!r}]
threading.Thread(target=CliProcess.start, args=(argv, Path.cwd(), os.environ), daemon=True).start()
sys.stdin.readline()
"""
NPM_SHIM = '@ECHO off\r\n"%dp0%\\node_modules\\claude-code\\bin\\claude.exe"   %*\r\n'


def tree_of(pid: int, size: int) -> list[psutil.Process]:
    """The process and its descendants, once there are `size` of them."""
    deadline = time.monotonic() + 20.0
    while len(found := [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]) < size:
        assert time.monotonic() < deadline, f"only {found}"
        time.sleep(0.05)
    return found


def all_gone(processes: list[psutil.Process], seconds: float = 10.0) -> bool:
    return not psutil.wait_procs(processes, timeout=seconds)[1]


@pytest.fixture(params=[[]])
def host(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A program that has started a CLI and says its process id."""
    argv = [sys.executable, "-c", HOST, *request.param]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=ROOT, text=True) as process:
        yield process
        process.kill()


def test_bytes_of_every_kind_go_through_unchanged(start_child: StartChild) -> None:
    child = start_child("import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)")
    text = "漢😀 a\r\nb\n\x1a" * 1000
    writer, tail = StreamWriter(child.stdin), StderrTail(child.stderr)
    writer.put(text.encode())
    writer.close(20.0)
    received = b""
    while data := child.stdout.read(65536):
        received += data
    assert received == text.encode()
    assert child.close(writer, tail=tail).code == 0


def test_a_tree_that_does_not_leave_is_ended(start_child: StartChild) -> None:
    child = start_child(STARTS_TWO)
    assert child.stdout.read(100).startswith(b"ready")
    tree = tree_of(child.pid, 3)
    assert child.close(deadlines=QUICK).how == "killed"
    assert all_gone(tree)
    assert not child.tree_alive()


def test_what_the_cli_leaves_behind_is_ended(start_child: StartChild) -> None:
    child = start_child(STARTS_TWO, "leaves")
    assert child.stdout.read(100).startswith(b"ready")
    tree = tree_of(child.pid, 3)
    assert child.close(deadlines=QUICK).how == "eof"
    assert all_gone(tree)


def test_a_tree_ends_with_its_host_however_that_ends(host: subprocess.Popen[str]) -> None:
    assert host.stdout is not None
    tree = tree_of(int(host.stdout.readline()), 3)
    host.kill()
    assert all_gone(tree)


@pytest.mark.parametrize("host", [["helper"]], indirect=True)
def test_of_a_helper_command_only_what_it_started_outlives_the_host(host: subprocess.Popen[str]) -> None:
    """Such as a login: the browser that it has opened is the user's own."""
    assert host.stdout is not None
    helper, *own = tree_of(int(host.stdout.readline()), 3)
    host.kill()
    assert all_gone([helper])
    assert len(own) == 2
    try:
        assert [process for process in own if not process.is_running()] == []
    finally:
        for process in own:
            process.kill()


def test_a_program_that_leaves_while_it_starts_a_cli_leaves_none_behind() -> None:
    """Else it would be there for ever: created, and never told to run."""
    argv = [sys.executable, "-c", LEAVES_WHILE_IT_STARTS_ONE]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        cli = psutil.Process(int(process.stdout.readline()))
        process.communicate("leave\n", timeout=20.0)
    gone = all_gone([cli])
    if not gone:
        cli.kill()
    assert gone
    assert process.returncode == 0


def test_it_has_no_console(start_child: StartChild) -> None:
    child = start_child("import ctypes; print(ctypes.windll.kernel32.GetConsoleWindow())")
    assert child.wait(20.0) == 0
    assert child.stdout.read(100).strip() == b"0"


@pytest.mark.parametrize("folder", ["plain", "我的 文件夹 & (x)"])
def test_an_npm_shim_leads_to_the_program_behind_it(tmp_path: Path, folder: str) -> None:
    home = tmp_path / folder
    program = home / "npm" / "node_modules" / "claude-code" / "bin" / "claude.exe"
    program.parent.mkdir(parents=True)
    program.touch()
    (home / "npm" / "claude.cmd").write_text(NPM_SHIM, encoding="utf-8")
    env = {"PATH": f'relative;"{home / "npm"}"'}
    assert find_claude(setting=None, env=env, home=home).argv == (str(program),)


def test_a_program_says_its_version_from_a_folder_with_every_kind_of_character(tmp_path: Path) -> None:
    script = tmp_path / "我的 文件夹 & %PATH%" / "claude.py"
    script.parent.mkdir()
    script.write_text("print('2.1.332 (Claude Code)')", encoding="utf-8")
    claude = find_claude(setting=[sys.executable, str(script)], env=os.environ, home=tmp_path)
    assert read_version(claude, os.environ) == (2, 1, 332)


class TestRefusals:
    """What cannot be started is a sentence, not a traceback."""

    def refusal(self, argv: list[str], cwd: Path) -> str:
        with pytest.raises(StartError) as caught:
            CliProcess.start(argv, cwd, os.environ)
        return str(caught.value)

    def test_a_program_that_does_not_exist(self, tmp_path: Path) -> None:
        program = str(tmp_path / "claude.exe")
        assert self.refusal([program], tmp_path) == f"The program {program} does not exist."

    def test_a_name_that_is_not_in_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "claude.exe").touch()
        monkeypatch.chdir(tmp_path)
        assert self.refusal(["claude"], tmp_path) == "The program claude was not found in PATH."

    def test_a_file_that_is_no_program(self, tmp_path: Path) -> None:
        program = tmp_path / "claude.exe"
        program.write_bytes(b"\0\1\2\3")
        assert self.refusal([str(program)], tmp_path) == f"{program} is not a program for this computer."

    def test_a_batch_file(self, tmp_path: Path) -> None:
        program = tmp_path / "claude.cmd"
        program.write_text("@echo off\r\n", encoding="ascii")
        assert "batch files are not run" in self.refusal([str(program)], tmp_path)
