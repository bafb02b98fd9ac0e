"""The program as a whole: how it starts, how it ends, and what survives when it does not end well."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QLockFile

from desktop import application
from desktop.__main__ import main
from desktop.application import SCREEN_IS_GONE
from desktop.conversations.drafts import Draft, DraftStore, new_key
from tests.helpers import driven
from tests.helpers.window_systems import missing, virtual_screen, wayland

ROOT = Path(__file__).resolve().parents[2]
POSIX = os.name == "posix"

class Program:
    """One run of the program in a process of its own."""

    def __init__(self, words: list[str], env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *words], env=dict(env), cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def wait_for_cli(self) -> list[psutil.Process]:
        """Wait until the stand-in runs below it; returns every process below it."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = self.children()
            if any("stream-json" in " ".join(_command(one)) for one in found):
                return found
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)
        raise AssertionError("no CLI was started")

    def ended(self, seconds: float = 30) -> tuple[int, str, str]:
        """Wait for its end: (exit code, stdout, stderr)."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out, err


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "project").mkdir()
    return {
        **driven.surroundings(tmp_path),
        "FAKE_CLI_PACE": "0",
        "PYTHONFAULTHANDLER": "",
    }


@pytest.fixture
def started() -> Iterator[list[Program]]:
    programs: list[Program] = []
    yield programs
    for program in programs:
        if program.process.poll() is None:
            program.process.kill()
        program.process.communicate()


def start(started: list[Program], env: Mapping[str, str], *words: str) -> Program:
    program = Program(["-m", "desktop", *words], env)
    started.append(program)
    return program


def drive(started: list[Program], env: Mapping[str, str], folder: Path | None, body: str) -> Program:
    """Run the program with a hand at its window."""
    program = Program(["-c", driven.script(body), *([str(folder)] if folder else [])], env)
    started.append(program)
    return program


def all_gone(processes: list[psutil.Process], seconds: float) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def becomes_true(holds: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


# The command line


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["run", "--help"], ["doctor", "--help"]])
def test_no_qt_is_loaded_where_no_window_is_wanted(words: list[str], env: dict[str, str]) -> None:
    script = (
        "import sys\nfrom desktop.__main__ import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert not [name for name in sys.modules if name.startswith(('PySide6', 'qasync'))]\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [["/no/such/folder"], ["--nonsense"], ["run"], ["doctor", "extra"], ["--demo", "."], ["a", "b"],
     ["--smoke-test"], ["--smoke-test=Hello"], ["--demo", "--smoke-test=Hello"]],
)  # fmt: skip
def test_wrong_usage_is_one_sentence_and_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("--help.\n")


def test_without_a_display_it_says_so(
    env: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if sys.platform in ("win32", "darwin"):
        assert main(["--version"]) == 0
        return
    bare = {name: value for name, value in env.items() if name not in ("QT_QPA_PLATFORM", "DISPLAY")}
    bare.pop("WAYLAND_DISPLAY", None)
    left_behind = {"WAYLAND_DISPLAY": "wayland-9371", "XDG_RUNTIME_DIR": str(tmp_path)}
    for display in ({}, {"DISPLAY": ":9371"}, left_behind):
        assert application.main(None, env={**bare, **display}) == 1
        assert "no display" in capsys.readouterr().err


# The end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_with_everything_it_started(
    number: signal.Signals, started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    program = start(started, env, str(tmp_path / "project"))
    below = program.wait_for_cli()
    program.process.send_signal(number)
    assert program.ended() == (0, "", "")
    assert all_gone(below, 5)


def test_the_last_window_closed_ends_it_with_code_0_and_nothing_on_stderr(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    body = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
window.page.composer.editor.set_text("hello")
window.page.composer.submit()
await self.until(lambda: window.current.conversation.state == "idle" and not window.current.queued)
window.close()
"""
    program = drive(started, env, tmp_path / "project", body)
    assert program.ended() == (0, "", "")
    log = (tmp_path / "data" / "handraise.log").read_text(encoding="utf-8")
    assert "ERROR" not in log
    assert "WARNING" not in log


def test_it_is_closed_while_claude_works_and_while_a_question_is_open(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    scenario = tmp_path / "ask.json"
    ask = {"tool": "Bash", "input": {"command": "ls"}, "result": "", "ask": True}
    scenario.write_text(json.dumps({"turns": [[ask]]}), encoding="utf-8")
    env["FAKE_CLI_SCENARIO"] = str(scenario)
    body = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
window.page.composer.editor.set_text("hello")
window.page.composer.submit()
await self.until(lambda: window.page.slot.shown is not None)
window.close()
"""
    program = drive(started, env, tmp_path / "project", body)
    assert program.ended() == (0, "", "")


def test_what_still_runs_beside_the_window_ends_before_its_parts_are_gone(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    body = """
async def late():
    try:
        await asyncio.sleep(600)
    finally:
        print(window.welcome.isVisible(), flush=True)

await self.until(lambda: window.current is not None and window.current.phase == "running")
loop.spawn(late(), "late")
await asyncio.sleep(0)
window.close()
"""
    program = drive(started, env, tmp_path / "project", body)
    assert program.ended() == (0, "False\n", "")


def test_a_cli_that_will_not_go_delays_the_end_by_the_ladder_only(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    env["FAKE_CLI_HARM"] = "hang-at-eof,ignore-sigterm"
    program = start(started, env, str(tmp_path / "project"))
    below = program.wait_for_cli()
    time.sleep(1.0)
    program.process.send_signal(signal.SIGTERM)
    code, _, err = program.ended(20)
    assert (code, err) == (0, "")
    assert all_gone(below, 5)


TYPED = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
window.page.composer.editor.set_text("half a sentence")
print("typed", flush=True)
"""


LATELY = f"""
await self.until(lambda: window.current is not None)
window.current.texts._timer.setInterval(3_600_000)
{TYPED}"""
"""As if the screen had gone before the words were written to the disk."""


QUIT = """
from PySide6.QtCore import QCoreApplication

await self.until(lambda: window.current is not None and window.current.phase == "running")
window.page.composer.editor.set_text("half a sentence")
QCoreApplication.quit()
"""


@pytest.mark.parametrize("again", [False, True])
def test_the_system_that_wants_it_to_end_ends_it_in_order(
    again: bool, started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    """The Dock's menu, a logout, the end of Windows; also while it is ending."""
    body = QUIT
    if again:
        env["FAKE_CLI_HARM"] = "hang-at-eof"
        body += "await self.until(lambda: not window.isVisible())\nQCoreApplication.quit()\n"
    program = drive(started, env, tmp_path / "project", body)
    below = program.wait_for_cli()
    assert program.ended() == (0, "", "")
    assert all_gone(below, 5)
    assert [draft.text for draft in DraftStore(tmp_path / "data" / "drafts").load()] == ["half a sentence"]


def test_what_was_typed_is_on_the_disk_before_a_session_ends(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    """Windows kills the program right after that word of Qt's."""
    body = (
        LATELY
        + """
assert self.qt.receivers("2commitDataRequest(QSessionManager&)") > 0
self._on_session_ends()
os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
"""
    )
    program = drive(started, env, tmp_path / "project", body)
    below = program.wait_for_cli()
    program.ended()
    assert all_gone(below, 5)
    assert [draft.text for draft in DraftStore(tmp_path / "data" / "drafts").load()] == ["half a sentence"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no hangup")
def test_a_hangup_ends_it_unless_whoever_started_it_wants_that_ignored(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "desktop", str(tmp_path / "project")]
    nohup = f"import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv({sys.executable!r}, {words!r})"
    deaf = Program(["-c", nohup], env)
    started.append(deaf)
    deaf.wait_for_cli()
    deaf.process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    assert deaf.process.poll() is None
    deaf.process.send_signal(signal.SIGTERM)
    assert deaf.ended() == (0, "", "")
    hearing = start(started, env, str(tmp_path / "project"))
    hearing.wait_for_cli()
    hearing.process.send_signal(signal.SIGHUP)
    assert hearing.ended() == (0, "", "")


# One window a config folder


def test_a_second_start_opens_its_folder_in_the_first_window(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    body = f"""
await self.until(lambda: any(one.folder.name == "other" for one in self.conversations))
assert window.current.folder == Path({str(other)!r})
print("it is here", flush=True)
window.close()
"""
    first = drive(started, env, tmp_path / "project", body)
    first.wait_for_cli()
    second = start(started, env, str(other))
    assert second.ended() == (0, "", "")
    assert first.ended() == (0, "it is here\n", "")


def test_a_second_start_while_the_first_window_is_closing_waits_for_its_turn(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    closing = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
window.close()
await self.until(lambda: not window.isVisible())
print("it closes", flush=True)
"""
    first = drive(started, {**env, "FAKE_CLI_HARM": "hang-at-eof,ignore-sigterm"}, tmp_path / "project", closing)
    below = first.wait_for_cli()
    assert first.process.stdout is not None
    assert first.process.stdout.readline() == "it closes\n"
    body = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
print(window.isVisible(), [one.folder.name for one in self.conversations], flush=True)
window.close()
"""
    second = drive(started, env, other, body)
    assert first.ended() == (0, "", "")
    assert all_gone(below, 5)
    assert second.ended() == (0, "True ['other']\n", "")


def test_a_start_with_a_settings_folder_that_takes_no_files_says_so_at_once(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(QLockFile, "tryLock", lambda *_: False)  # root may write anywhere, so it is played
    monkeypatch.setattr(QLockFile, "error", lambda _: QLockFile.LockError.PermissionError)
    began = time.monotonic()
    assert application.main(None, env=env) == 1
    assert time.monotonic() - began < application.TURN_SECONDS / 2
    said = f"The settings folder {tmp_path / 'config'} cannot be used: nothing can be written there.\n"
    assert capsys.readouterr().err == said


def test_the_place_of_the_window_is_remembered_whoever_ends_it(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    body = """
from PySide6.QtCore import QCoreApplication

await self.until(lambda: window.current is not None)
window.resize(777, 555)
await asyncio.sleep(0)
QCoreApplication.quit()
"""
    assert drive(started, env, tmp_path / "project", body).ended() == (0, "", "")
    body = """
print(window.width(), window.height(), flush=True)
window.close()
"""
    assert drive(started, env, None, body).ended() == (0, "777 555\n", "")


def test_a_start_beside_a_window_that_hangs_says_so(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    hang = """
import time
await self.until(lambda: window.current is not None and window.current.phase == "running")
print("it hangs", flush=True)
time.sleep(600)
"""
    first = drive(started, env, tmp_path / "project", hang)
    assert first.process.stdout is not None
    assert first.process.stdout.readline() == "it hangs\n"
    code, out, err = start(started, env, str(tmp_path / "project")).ended()
    assert (code, out) == (1, "")
    which = f"(process {first.process.pid})"
    assert err == f"Handraise runs already {which} but does not answer. End it, then start again.\n"


OPENED = """
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent

def drop(path):
    QCoreApplication.postEvent(self.qt, QFileOpenEvent(QUrl.fromLocalFile(path)))

drop({early!r})
drop({file!r})
await self.until(lambda: window.current is not None and window.current.folder == Path({early!r}))
drop({late!r})
await self.until(lambda: window.current.folder == Path({late!r}))
print(sorted(one.folder.name for one in self.conversations), flush=True)
window.close()
"""


def test_a_folder_that_macos_opens_is_a_new_conversation_before_and_after_the_window_is_there(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    early, late, file = tmp_path / "a folder 早", tmp_path / "late", tmp_path / "file"
    early.mkdir()
    late.mkdir()
    file.touch()
    body = OPENED.format(early=str(early), late=str(late), file=str(file))
    program = drive(started, env, None, body)
    assert program.ended() == (0, f"{[early.name, 'late']}\n", "")


@pytest.mark.skipif(not POSIX, reason="there is no SIGTERM to end it in order")
def test_what_a_desktop_gave_the_window_alone_is_not_passed_on(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    own = {"XDG_ACTIVATION_TOKEN": "token", "DESKTOP_STARTUP_ID": "id"}
    program = start(started, {**env, **own}, str(tmp_path / "project"))
    (cli,) = [one for one in program.wait_for_cli() if "stream-json" in " ".join(_command(one))]
    assert own.keys().isdisjoint(cli.environ())
    program.process.send_signal(signal.SIGTERM)
    assert program.ended()[0] == 0


def test_two_config_folders_are_two_windows(started: list[Program], env: dict[str, str], tmp_path: Path) -> None:
    first = start(started, env, str(tmp_path / "project"))
    first.wait_for_cli()
    second = start(
        started,
        {**env, "HANDRAISE_CONFIG_DIR": str(tmp_path / "config2"), "HANDRAISE_DATA_DIR": str(tmp_path / "data2")},
        str(tmp_path / "project"),
    )
    second.wait_for_cli()
    assert first.process.poll() is None
    for program in (first, second):
        program.process.send_signal(signal.SIGTERM)
        assert program.ended()[0] == 0


# Deaths


KILLED = """
await self.until(lambda: window.current is not None and window.current.phase == "running")
window.page.composer.editor.set_text("half a sentence")
await asyncio.sleep(0.8)
os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
"""


def test_a_draft_survives_the_death_of_the_program_and_no_cli_does(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    program = drive(started, env, tmp_path / "project", KILLED)
    below = program.wait_for_cli()
    assert program.ended()[0] != 0
    assert all_gone(below, 5)
    body = """
await self.until(lambda: window.current is not None)
print(window.page.composer.text(), window.current.folder.name, window.current.phase, flush=True)
window.close()
"""
    again = drive(started, env, None, body)
    assert again.ended() == (0, "half a sentence project unstarted\n", "")


def test_what_stood_in_a_dialog_and_what_had_not_arrived_is_offered_at_the_next_start(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    store = DraftStore(tmp_path / "data" / "drafts")
    store.save(
        Draft.model_validate(
            {
                "key": new_key(),
                "folder": str(tmp_path / "project"),
                "typed": {"r1": "because"},
                "outgoing": [{"text": "never arrived", "state": "sent"}],
            }
        )
    )
    body = """
await self.until(lambda: window.current is not None)
print(window.page.composer.text(), window.current.recovered, flush=True)
window.page.composer.submit()
await self.until(lambda: window.current.conversation.state == "idle" and not window.current.queued)
print([item.text for item in window.current.conversation.items if type(item).__name__ == "TextItem"], flush=True)
window.close()
"""
    program = drive(started, env, None, body)
    assert program.ended() == (0, "never arrived ['because']\n['echo: never arrived']\n", "")


def test_a_crash_of_the_interpreter_is_told_at_the_next_start(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "crash.log").write_text("Fatal Python error: Segmentation fault", encoding="utf-8")
    body = """
await self.until(lambda: "crash" in window.actions_of_window.notices)
print(window.actions_of_window.notices["crash"].detail, flush=True)
window.close()
"""
    program = drive(started, env, None, body)
    assert program.ended() == (0, "Fatal Python error: Segmentation fault\n", "")
    assert (tmp_path / "data" / "crash.log").read_text(encoding="utf-8") == ""


def test_what_a_slot_a_task_and_a_thread_raise_is_told_once_and_logged(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    body = """
import threading
from PySide6.QtCore import QTimer

def fail(where):
    raise ValueError(f"a defect in {where}")

async def lost():
    fail("a task")

QTimer.singleShot(0, lambda: fail("a slot"))
loop.spawn(lost(), "the lost task")
threading.Thread(target=fail, args=["a thread"]).start()
await self.until(lambda: len(self._hooks.reports) == 3)
await asyncio.sleep(0.1)
notice = window.actions_of_window.notices["crash"]
print("told" if "ValueError" in notice.detail else "", flush=True)
window.close()
"""
    program = drive(started, env, None, body)
    code, out, _ = program.ended()
    assert (code, out) == (0, "told\n")
    log = (tmp_path / "data" / "handraise.log").read_text(encoding="utf-8")
    for where in ("a slot", "a task", "a thread"):
        assert f"ValueError: a defect in {where}" in log


def test_a_screen_that_is_gone_ends_it_with_a_sentence_and_everything_in_order(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    if shutil.which("Xvfb") is None:
        missing("Xvfb is not installed.")
    with virtual_screen(tmp_path / "xvfb.log") as display:
        env = {**env, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display}
        program = drive(started, env, tmp_path / "project", TYPED)
        below = program.wait_for_cli()
        assert program.process.stdout is not None
        assert program.process.stdout.readline() == "typed\n"
    code, _, err = program.ended()
    assert (code, err) == (1, f"{SCREEN_IS_GONE}\n")
    assert all_gone(below, 5)
    assert [draft.text for draft in DraftStore(tmp_path / "data" / "drafts").load()] == ["half a sentence"]
    log = (tmp_path / "data" / "handraise.log").read_text(encoding="utf-8")
    assert SCREEN_IS_GONE in log
    assert "Traceback" not in log


def test_a_wayland_that_is_gone_is_told_and_no_cli_stays(
    started: list[Program], env: dict[str, str], tmp_path: Path
) -> None:
    if shutil.which("weston") is None:
        missing("weston is not installed.")
    with wayland(tmp_path / "run") as variables:
        env = {**env, **variables, "QT_QPA_PLATFORM": "wayland"}
        program = drive(started, env, tmp_path / "project", LATELY)
        below = program.wait_for_cli()
        assert program.process.stdout is not None
        assert program.process.stdout.readline() == "typed\n"
    code, _, err = program.ended()
    assert code != 0
    assert err == f"{SCREEN_IS_GONE}\n"
    assert all_gone(below, 10)
    assert [draft.text for draft in DraftStore(tmp_path / "data" / "drafts").load()] == ["half a sentence"]


# The demo


def test_the_demo_needs_nothing_and_leaves_nothing(started: list[Program], env: dict[str, str], tmp_path: Path) -> None:
    env = {**env, "TMPDIR": str(tmp_path / "temp"), "TEMP": str(tmp_path / "temp"), "HANDRAISE_CLAUDE": "/no/claude"}
    (tmp_path / "temp").mkdir()
    program = start(started, env, "--demo")
    below = program.wait_for_cli()
    program.process.send_signal(signal.SIGTERM)
    assert program.ended() == (0, "", "")
    assert all_gone(below, 5)
    assert not (tmp_path / "config").exists()
    assert not (tmp_path / "data").exists()
    assert [one.name for one in (tmp_path / "temp").iterdir() if one.name.startswith("handraise")] == []
