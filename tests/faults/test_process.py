"""Starting a CLI, and ending it with everything that it started, however it behaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from protocol.process import CliProcess, Exit, Ladder, StartError
from protocol.process.guard import shared_guard
from protocol.process.tree import MARK, ProcessTree, wait_until
from protocol.pump import StderrTail, StreamWriter, read_stream, run_plain_thread
from tests.faults.conftest import QUICK, StartChild
from tests.helpers.processes import marked_processes, wait_until_gone

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the POSIX half; tests/faults/test_windows_job.py has the other"
)

LEAVES_AT_EOF = "import sys; print('ready', flush=True); sys.stdin.read()"
SLEEPS = "import time; time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
)
HEEDS_TERM = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
print('ready', flush=True)
time.sleep(600)
"""
NOISY = """
import sys
noise = b'x' * 99 + b'\\n'
sys.stderr.buffer.write(noise * 10_000 + b'before\\n'); sys.stderr.flush()
print('ready', flush=True)
sys.stdin.readline()
sys.stderr.buffer.write(noise * 10_000 + b'during\\n'); sys.stderr.flush()
print('answer', flush=True)
sys.stdin.read()
"""
STARTS = """
import subprocess, sys, time
grandchild, how = sys.argv[1:3]
subprocess.Popen([sys.executable, '-I', '-S', '-c', grandchild], start_new_session='new session' in how,
                 stdin=subprocess.DEVNULL, stdout=None if 'holds stdout' in how else subprocess.PIPE)
if 'holds stdout' not in how:
    time.sleep(0.3)
print('ready', flush=True)
sys.exit(0) if 'then exits' in how else sys.stdin.read()
"""
PRINTS_OPEN_FILES = """
import os
for fd in range(3, 256):
    try:
        os.fstat(fd)
        print(fd)
    except OSError:
        pass
print('ready')
"""
DAEMONISES = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])
    os._exit(0)
os.wait()
print('ready', flush=True)
sys.stdin.read()
"""


def wait_until_ready(process: CliProcess) -> None:
    text = b""
    while b"ready" not in text:
        piece = process.stdout.read()
        assert piece, "the child ended before it was ready"
        text += piece


def test_a_cli_leaves_when_its_stdin_ends(start_child: StartChild) -> None:
    child = start_child(LEAVES_AT_EOF)
    wait_until_ready(child)
    assert child.poll() is None
    assert child.close() == Exit(code=0, how="eof")
    assert not child.tree_alive()


def test_a_cli_that_ignores_the_end_of_stdin_is_asked_to_terminate(start_child: StartChild) -> None:
    child = start_child(HEEDS_TERM)
    wait_until_ready(child)
    assert child.close(deadlines=Ladder(0.2, 20.0, 20.0)) == Exit(code=143, how="terminated")


def test_a_cli_that_ignores_sigterm_too_is_killed(start_child: StartChild) -> None:
    child = start_child(STUBBORN)
    wait_until_ready(child)
    started = time.monotonic()
    assert child.close(deadlines=QUICK) == Exit(code=None, signal=signal.SIGKILL, how="killed")
    assert time.monotonic() - started < 10.0


def test_the_exit_of_a_cli_that_left_by_itself_is_kept_with_its_last_words(start_child: StartChild) -> None:
    child = start_child("import sys; sys.stderr.write('no such model\\n'); sys.exit(3)")
    tail = StderrTail(child.stderr)
    assert child.wait(30.0) == 3
    ended = child.close(tail=tail)
    assert ended == Exit(code=3, how="by itself", stderr_tail="no such model\n")
    assert str(ended) == "Claude exited (code 3)."


def test_a_cli_that_a_signal_ended_says_which(start_child: StartChild) -> None:
    child = start_child(SLEEPS)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait(30.0) == -signal.SIGKILL
    ended = child.close()
    assert (ended.code, ended.signal, ended.how) == (None, signal.SIGKILL, "by itself")
    assert str(ended) == "Claude was ended by SIGKILL."


def test_closing_again_and_from_several_threads_gives_the_same_exit(start_child: StartChild) -> None:
    child = start_child(LEAVES_AT_EOF)
    exits: list[Exit] = []
    threads = [threading.Thread(target=lambda: exits.append(child.close())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert len(exits) == 4
    assert all(ended is exits[0] for ended in exits)


def test_bin_false_exits_with_its_code(marked_env: dict[str, str], tmp_path: Path) -> None:
    child = CliProcess.start(["false"], tmp_path, marked_env)
    writer = StreamWriter(child.stdin)
    writer.put(b"x" * 1_000_000)
    assert child.wait(30.0) == 1
    assert str(child.close(writer)) == "Claude exited (code 1)."


def test_a_cli_that_exits_before_it_reads_is_no_error_of_ours(start_child: StartChild) -> None:
    child = start_child("raise SystemExit(7)")
    assert child.wait(30.0) == 7
    writer = StreamWriter(child.stdin)
    writer.put(b"hello\n")
    assert child.close(writer).code == 7
    assert isinstance(writer.failed, BrokenPipeError)


def test_a_megabyte_on_stderr_before_and_during_a_turn_stalls_nothing(start_child: StartChild) -> None:
    child = start_child(NOISY)
    writer, tail = StreamWriter(child.stdin), StderrTail(child.stderr)
    wait_until_ready(child)
    writer.put(b"go\n")
    assert child.stdout.read() == b"answer\n"
    ended = child.close(writer, tail=tail)
    assert ended.code == 0
    assert ended.stderr_tail.endswith("x\nduring\n")
    assert len(ended.stderr_tail) <= 16384


def test_a_cli_that_nobody_drained_is_ended_within_seconds(start_child: StartChild) -> None:
    child = start_child("import sys\nwhile True: sys.stderr.write('x' * 1000); sys.stdout.write('y' * 1000)")
    time.sleep(0.5)
    started = time.monotonic()
    ended = child.close(deadlines=QUICK)
    assert ended.how == "terminated"
    assert time.monotonic() - started < 10.0


def test_the_exit_is_noticed_while_a_grandchild_holds_stdout(start_child: StartChild) -> None:
    child = start_child(STARTS, SLEEPS, "holds stdout, then exits")
    received: list[bytes] = []
    reader = run_plain_thread(lambda: read_stream(child.stdout, received.append), "reader")
    assert child.wait(30.0) == 0
    assert not reader.join(0.2)
    assert child.tree_alive()
    assert child.close().how == "by itself"
    assert reader.join(10.0)
    assert received == [b"ready\n"]
    assert not child.tree_alive()


@pytest.mark.parametrize("how", ["same session", "new session", "new session, then exits", "then exits"])
@pytest.mark.parametrize("grandchild", [SLEEPS, STUBBORN], ids=["sleeps", "ignores SIGTERM"])
def test_grandchildren_end_with_the_cli(start_child: StartChild, process_mark: str, how: str, grandchild: str) -> None:
    child = start_child(STARTS, grandchild, how)
    wait_until_ready(child)
    assert wait_until(lambda: len(marked_processes(process_mark)) >= 1, 10.0)
    child.close(deadlines=QUICK)
    assert marked_processes(process_mark) == []


def test_a_daemon_whose_parent_is_gone_ends_with_the_cli(start_child: StartChild, process_mark: str) -> None:
    child = start_child(DAEMONISES)
    wait_until_ready(child)
    assert len(marked_processes(process_mark)) == 2
    child.close(deadlines=QUICK)
    assert marked_processes(process_mark) == []


def test_a_grandchild_that_dropped_its_environment_is_known_by_its_parent(
    start_child: StartChild, tmp_path: Path
) -> None:
    code = STARTS.replace("start_new_session=", "env={'WHO': 'nobody'}, start_new_session=")
    child = start_child(code, f"# {tmp_path}\n{SLEEPS}", "new session")
    wait_until_ready(child)
    child.close(deadlines=QUICK)
    assert wait_until_gone("nobody", tmp_path, seconds=0.0) == []


def test_what_a_helper_command_left_to_the_user_is_spared(start_child: StartChild, process_mark: str) -> None:
    child = start_child(STARTS, SLEEPS, "new session, then exits", detached_too=False)
    child.wait(30.0)
    child.close(deadlines=QUICK)
    (browser,) = marked_processes(process_mark)
    browser.kill()


def test_a_helper_command_that_hangs_is_ended_with_its_session(start_child: StartChild, process_mark: str) -> None:
    child = start_child(STARTS, SLEEPS, "same session", detached_too=False)
    wait_until_ready(child)
    os.kill(child.pid, signal.SIGSTOP)
    assert child.close(deadlines=QUICK).how == "killed"
    assert wait_until_gone(process_mark, seconds=5.0) == []


def test_what_is_queued_is_written_before_stdin_closes(start_child: StartChild) -> None:
    child = start_child("import sys, time; time.sleep(0.5); sys.exit(len(sys.stdin.buffer.read()) // 100_000)")
    writer = StreamWriter(child.stdin)
    writer.put(b"x" * 2_000_000)
    assert child.close(writer, Ladder(30.0, 5.0, 5.0)) == Exit(code=20, how="eof")


def test_a_full_stdin_does_not_hold_up_the_ending(start_child: StartChild) -> None:
    child = start_child(SLEEPS)
    writer = StreamWriter(child.stdin)
    writer.put(b"x" * 5_000_000)
    started = time.monotonic()
    assert child.close(writer, QUICK).how == "terminated"
    assert time.monotonic() - started < 10.0
    assert writer.failed is not None


def test_ctrl_c_in_the_terminal_does_not_reach_the_cli_before_us(start_child: StartChild) -> None:
    child = start_child(LEAVES_AT_EOF)
    assert os.getpgid(child.pid) == os.getsid(child.pid) == child.pid != os.getsid(0)


def test_nothing_but_the_three_pipes_is_inherited(start_child: StartChild) -> None:
    with open(os.devnull) as ours:
        os.set_inheritable(ours.fileno(), True)
        child = start_child(PRINTS_OPEN_FILES)
        assert child.stdout.read() == b"ready\n"


def test_the_environment_is_the_given_one_and_the_mark(marked_env: dict[str, str], tmp_path: Path) -> None:
    child = CliProcess.start(["env"], tmp_path, {"PATH": marked_env["PATH"], "WHO": "漢😀"})
    (mark,) = [line for line in (child.stdout.read() or b"").decode().splitlines() if line.startswith(f"{MARK}=")]
    assert child.close().code == 0
    assert len(mark) > len(MARK) + 20


def test_a_home_with_spaces_and_chinese_characters_is_no_obstacle(marked_env: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / "我的 文件夹 '\"$(x)"
    home.mkdir()
    program = home / "claude code"
    program.write_text(f'#!/bin/sh\npwd; printf "%s|" "$@"; exec {sys.executable} -c "print()"\n')
    program.chmod(0o755)
    child = CliProcess.start([str(program), "a b", "c\nd", "", "é😀"], home, marked_env)
    assert child.wait(30.0) == 0
    assert child.stdout.read() == f"{home}\na b|c\nd||é😀|\n".encode()
    child.close()


class TestRefusals:
    """What cannot be started is a sentence, not a traceback."""

    def refusal(self, argv: list[str], cwd: Path, env: dict[str, str] | None = None) -> str:
        with pytest.raises(StartError) as caught:
            CliProcess.start(argv, cwd, {"PATH": os.environ["PATH"]} if env is None else env)
        return str(caught.value)

    def test_no_command(self, tmp_path: Path) -> None:
        assert self.refusal([], tmp_path) == "No command was given for Claude."

    def test_a_program_that_does_not_exist(self, tmp_path: Path) -> None:
        assert self.refusal([f"{tmp_path}/claude"], tmp_path) == f"The program {tmp_path}/claude does not exist."

    def test_a_name_that_is_not_in_path(self, tmp_path: Path) -> None:
        sentence = self.refusal(["claude"], tmp_path, {"PATH": str(tmp_path)})
        assert sentence == "The program claude was not found in PATH."

    def test_a_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        sentence = self.refusal(["true"], tmp_path / "gone")
        assert sentence == f"The folder {tmp_path}/gone does not exist."

    def test_a_folder_that_the_system_cannot_even_look_at(self, tmp_path: Path) -> None:
        assert "does not exist" in self.refusal(["true"], tmp_path / ("x" * 300))

    def test_a_folder_as_the_program(self, tmp_path: Path) -> None:
        assert self.refusal([str(tmp_path)], tmp_path) == f"{tmp_path} is a folder, not a program."

    def test_a_file_that_is_not_executable(self, tmp_path: Path) -> None:
        (tmp_path / "claude").write_text("#!/bin/sh\n")
        sentence = self.refusal([f"{tmp_path}/claude"], tmp_path)
        assert sentence == f"{tmp_path}/claude is not executable. Make it so with: chmod +x"

    def test_a_script_whose_interpreter_is_missing(self, tmp_path: Path) -> None:
        (tmp_path / "claude").write_text("#!/nowhere/node\n")
        (tmp_path / "claude").chmod(0o755)
        sentence = self.refusal([f"{tmp_path}/claude"], tmp_path)
        assert sentence.endswith("the interpreter named in its first line is missing.")

    def test_a_program_for_another_computer(self, tmp_path: Path) -> None:
        (tmp_path / "claude").write_bytes(b"\x00\x01\x02\x03")
        (tmp_path / "claude").chmod(0o755)
        sentence = self.refusal([f"{tmp_path}/claude"], tmp_path)
        assert sentence == f"{tmp_path}/claude is not a program for this computer."

    def test_arguments_that_are_too_long(self, tmp_path: Path) -> None:
        sentence = self.refusal(["true", "x" * 10_000_000], tmp_path)
        assert sentence == "The arguments for Claude are too long for this system."

    def test_a_null_character(self, tmp_path: Path) -> None:
        assert "could not be started" in self.refusal(["true", "a\0b"], tmp_path)

    def test_a_refusal_leaves_nothing_for_the_guardian(self, tmp_path: Path) -> None:
        watched = dict(shared_guard().watched)
        self.refusal([f"{tmp_path}/claude"], tmp_path)
        assert shared_guard().watched == watched


def test_a_start_that_fails_half_way_leaves_nothing_running(
    marked_env: dict[str, str], process_mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = len(shared_guard().watched)

    def no_more_files(file: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("protocol.process.posix.ReadEnd", no_more_files)
    with pytest.raises(StartError, match="Too many open files"):
        CliProcess.start([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, marked_env)
    assert marked_processes(process_mark) == []
    assert len(shared_guard().watched) == watched


def test_the_session_number_of_a_stranger_is_not_ours() -> None:
    """Once the CLI is gone its process id can come back as the leader of somebody else's session."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as stranger:
        tree = ProcessTree("no such mark", stranger.pid, psutil.Process(stranger.pid).create_time() - 3600)
        assert tree.members() == []
        tree = ProcessTree("no such mark", stranger.pid, psutil.Process(stranger.pid).create_time())
        assert [process.pid for process in tree.members()] == [stranger.pid]
        stranger.kill()


def test_a_start_costs_little(start_child: StartChild) -> None:
    start_child(LEAVES_AT_EOF)
    started = time.monotonic()
    start_child(LEAVES_AT_EOF)
    assert time.monotonic() - started < 0.5
