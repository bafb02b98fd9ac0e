"""The Windows half of the processes, on any system: Windows' own calls are stand-ins that behave as documented."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from protocol.process import CliProcess, Exit, Ladder, StartError, cli, windows
from protocol.pump import StderrTail, StreamWriter
from tests.faults.conftest import QUICK

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there the calls are real")

SLEEPS = "import time; time.sleep(600)"
ECHO = "import sys; sys.stdout.write(sys.stdin.read()); sys.stderr.write('bye')"
STARTS_A_SERVER = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-I", "-S", "-c", {SLEEPS!r}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("ready", flush=True)
sys.stdin.read()
"""


class WindowsError(Exception):
    """`pywintypes.error`, which is no OSError."""

    def __init__(self, winerror: int, function: str, text: str) -> None:
        super().__init__(winerror, function, text)
        self.winerror = winerror
        self.strerror = text


class FakeHandle:
    """A handle to a job or to a process."""

    def __init__(self) -> None:
        self.closed = False
        self.pids: set[int] = set()
        self.flags = 0

    def Close(self) -> None:
        self.closed = True
        if self.flags & FakeJobs.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE:
            FakeJobs.end(self)


class FakeJobs:
    """`win32job`: what is added to a job brings its children along."""

    JobObjectExtendedLimitInformation = 9
    JobObjectBasicAccountingInformation = 1
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
    JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK = 0x1000

    def __init__(self) -> None:
        self.jobs: list[FakeHandle] = []
        self.refuse = False

    def CreateJobObject(self, attributes: None, name: str) -> FakeHandle:
        self.jobs.append(FakeHandle())
        return self.jobs[-1]

    def AssignProcessToJobObject(self, job: FakeHandle, process: FakeHandle) -> None:
        if self.refuse:
            raise WindowsError(5, "AssignProcessToJobObject", "access denied")
        job.pids |= process.pids

    def QueryInformationJobObject(self, job: FakeHandle, kind: int) -> dict[str, Any]:
        if kind == self.JobObjectExtendedLimitInformation:
            return {"BasicLimitInformation": {"LimitFlags": job.flags}}
        return {"ActiveProcesses": len(running(job))}

    def SetInformationJobObject(self, job: FakeHandle, kind: int, limits: dict[str, Any]) -> None:
        assert kind == self.JobObjectExtendedLimitInformation
        job.flags = limits["BasicLimitInformation"]["LimitFlags"]

    def TerminateJobObject(self, job: FakeHandle, code: int) -> None:
        self.end(job)

    @staticmethod
    def end(job: FakeHandle) -> None:
        for process in running(job):
            process.kill()


def running(job: FakeHandle) -> list[psutil.Process]:
    found = []
    for pid in list(job.pids):
        if psutil.pid_exists(pid):
            found.append(psutil.Process(pid))
            if not job.flags & FakeJobs.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK:
                found += found[-1].children(recursive=True)
    job.pids |= {process.pid for process in found}
    return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]


class Windows:
    """The parts of Windows that are in use, and what was asked of them."""

    def __init__(self) -> None:
        self.jobs = FakeJobs()
        self.creation_flags: list[int] = []
        self.dll_directories: list[str | None] = []
        self.started: list[subprocess.Popen[bytes]] = []

    def OpenProcess(self, access: int, inherit: bool, pid: int) -> FakeHandle:
        assert access == 0x0101
        assert not inherit
        handle = FakeHandle()
        handle.pids = {pid}
        return handle

    def popen(self, argv: list[str], creationflags: int, **options: Any) -> subprocess.Popen[bytes]:
        self.creation_flags.append(creationflags)
        self.started.append(subprocess.Popen(argv, **options))
        if creationflags & windows.CREATE_SUSPENDED:
            self.started[-1].send_signal(signal.SIGSTOP)
        return self.started[-1]


@pytest.fixture
def windows_stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Windows]:
    stub = Windows()
    api = SimpleNamespace(OpenProcess=stub.OpenProcess, SetDllDirectory=stub.dll_directories.append)
    monkeypatch.setitem(sys.modules, "win32job", stub.jobs)
    monkeypatch.setitem(sys.modules, "win32api", api)
    monkeypatch.setitem(sys.modules, "pywintypes", SimpleNamespace(error=WindowsError))
    monkeypatch.setattr(
        windows,
        "subprocess",
        SimpleNamespace(Popen=stub.popen, PIPE=subprocess.PIPE),
    )
    monkeypatch.setattr(cli, "_start_child", windows.WindowsChild)
    yield stub
    for process in stub.started:
        process.kill()
        process.wait()


Start = Callable[..., CliProcess]


@pytest.fixture
def start(windows_stub: Windows, tmp_path: Path) -> Start:
    def run(code: str, env: Mapping[str, str] = os.environ, **options: bool) -> CliProcess:
        return CliProcess.start([sys.executable, "-I", "-S", "-c", code], tmp_path, env, **options)

    return run


def test_it_starts_without_a_window_and_joins_the_job_before_it_runs(start: Start, windows_stub: Windows) -> None:
    child = start(ECHO)
    assert windows_stub.creation_flags == [0x08000000 | 0x00000004 | 0x00000200]
    (job,) = windows_stub.jobs.jobs
    assert child.pid in job.pids
    assert job.flags == FakeJobs.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    writer, tail = StreamWriter(child.stdin), StderrTail(child.stderr)
    writer.put("漢😀".encode())
    assert child.close(writer, tail=tail) == Exit(code=0, how="eof", stderr_tail="bye")
    assert child.stdout.read(100) == "漢😀".encode()
    assert job.closed


def test_one_that_does_not_leave_is_ended_with_all_that_it_started(start: Start, windows_stub: Windows) -> None:
    child = start(STARTS_A_SERVER.replace("sys.stdin.read()", "import time; time.sleep(600)"))
    assert child.stdout.read(100) == b"ready\n"
    (job,) = windows_stub.jobs.jobs
    assert len(running(job)) == 2
    assert child.tree_alive()
    assert child.close(deadlines=QUICK).how == "killed"
    assert running(job) == []
    assert not child.tree_alive()


def test_a_server_that_outlives_the_cli_is_ended(start: Start, windows_stub: Windows) -> None:
    child = start(STARTS_A_SERVER)
    assert child.stdout.read(100) == b"ready\n"
    (job,) = windows_stub.jobs.jobs
    assert len(running(job)) == 2
    assert child.close(deadlines=QUICK).how == "eof"
    assert running(job) == []


def test_there_is_no_step_between_the_end_of_stdin_and_the_end(start: Start) -> None:
    child = start(SLEEPS)
    started = time.monotonic()
    child.close(deadlines=Ladder(0.2, 60.0, 20.0))
    assert time.monotonic() - started < 30.0


def test_what_a_helper_command_started_is_the_users_own(start: Start, windows_stub: Windows) -> None:
    child = start(STARTS_A_SERVER.replace("sys.stdin.read()", "import time; time.sleep(600)"), detached_too=False)
    assert child.stdout.read(100) == b"ready\n"
    (job,) = windows_stub.jobs.jobs
    (browser,) = psutil.Process(child.pid).children()
    assert [process.pid for process in running(job)] == [child.pid], "it would outlive this program"
    assert child.close(deadlines=QUICK).how == "killed"
    assert browser.is_running()
    browser.kill()


def test_one_that_cannot_join_the_job_does_not_run(start: Start, windows_stub: Windows) -> None:
    windows_stub.jobs.refuse = True
    with pytest.raises(StartError, match=r"could not be started: .+access denied"):
        start(SLEEPS)
    assert windows_stub.started[0].poll() is not None
    assert windows_stub.jobs.jobs[0].closed


def test_a_program_does_not_leave_while_it_starts_one(
    start: Start, windows_stub: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "_starting", threading.Lock())
    join = windows_stub.jobs.AssignProcessToJobObject
    joining, go_on = threading.Event(), threading.Event()

    def join_late(job: FakeHandle, process: FakeHandle) -> None:
        joining.set()
        assert go_on.wait(20.0)
        join(job, process)

    monkeypatch.setattr(windows_stub.jobs, "AssignProcessToJobObject", join_late)
    with ThreadPoolExecutor(2) as threads:
        starting = threads.submit(start, SLEEPS)
        assert joining.wait(20.0)
        leaving = threads.submit(windows.end_starts)
        assert not wait([leaving], 0.2).done
        assert psutil.Process(windows_stub.started[0].pid).status() == psutil.STATUS_STOPPED
        go_on.set()
        leaving.result(20.0)
        (job,) = windows_stub.jobs.jobs
        assert [process.status() for process in running(job)] != [psutil.STATUS_STOPPED]
        starting.result(20.0).close(deadlines=QUICK)
    assert windows._starting.locked(), "another CLI could begin"


@pytest.mark.parametrize("name", ["claude.cmd", "claude.CMD", "claude.bat"])
def test_a_batch_file_is_never_run(windows_stub: Windows, tmp_path: Path, name: str) -> None:
    with pytest.raises(StartError, match="batch files are not run"):
        CliProcess.start([str(tmp_path / name), "-p", "a&calc"], tmp_path, {})
    assert windows_stub.started == []


def test_a_packaged_apps_libraries_are_kept_from_the_child(
    start: Start, windows_stub: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", "C:\\handraise\\_internal", raising=False)
    start(ECHO).close()
    assert windows_stub.dll_directories == [None, "C:\\handraise\\_internal"]


def test_an_error_of_windows_keeps_its_own_number_and_words(windows_stub: Windows) -> None:
    with pytest.raises(OSError, match="not enough memory") as caught, windows._os_errors():
        raise WindowsError(8, "CreateJobObject", "not enough memory")
    assert caught.value.errno != errno.ENOEXEC


class TestPrograms:
    """A name becomes a path by PATH alone."""

    @pytest.fixture
    def folders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for name in ("here/llm.exe", "first/llm.cmd", "second/llm.exe", "second/llm.bat", "second/other", "third/llm"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.touch()
        monkeypatch.chdir(tmp_path / "here")
        return tmp_path

    def test_the_current_folder_is_not_looked_into(self, folders: Path) -> None:
        path = f'.;;relative;"{folders / "second"}"'
        assert windows.find_program("llm", path) == str(folders / "second" / "llm.exe")
        assert windows.find_program("llm", ".") is None
        assert windows.find_program("llm.exe", "") is None

    def test_the_first_folder_wins_and_a_batch_file_is_found_to_be_refused_by_its_name(self, folders: Path) -> None:
        path = f"{folders / 'third'};{folders / 'first'};{folders / 'second'}"
        assert windows.find_program("llm", path) == str(folders / "first" / "llm.cmd")
        assert windows.find_program("llm.exe", path) == str(folders / "second" / "llm.exe")

    def test_a_file_without_a_suffix_is_no_program(self, folders: Path) -> None:
        assert windows.find_program("other", str(folders / "second")) is None


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (2, "The program {program} does not exist."),
        (193, "{program} is not a program for this computer."),
        (206, "The arguments for Claude are too long for this system."),
        (216, "{program} is not a program for this computer."),
        (5, "{program} could not be started: access denied"),
        (740, "{program} could not be started: access denied"),
    ],
)
def test_a_refusal_of_windows_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, sentence: str
) -> None:
    class RefusalError(OSError):
        winerror = number

        def __str__(self) -> str:
            return "access denied"

    def refuse(*_: object, **__: object) -> None:
        # The errno that Python makes of it would tell another story.
        raise RefusalError(errno.ENOENT, "access denied")

    monkeypatch.setattr(cli, "_start_child", refuse)
    with pytest.raises(StartError) as caught:
        CliProcess.start([sys.executable], tmp_path, {})
    assert str(caught.value) == sentence.format(program=sys.executable)


def test_a_folder_as_the_program_is_called_one(tmp_path: Path) -> None:
    error = windows.explain(OSError(errno.EACCES, "access denied"), 5, str(tmp_path))
    assert str(error) == f"{tmp_path} is a folder, not a program."
