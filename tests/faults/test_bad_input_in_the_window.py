"""Whatever is wrong with the CLI or the folder is a sentence in the window that says what to do; no word is lost.

One case a test: missing, too old, broken, signed out, gone, dead, silent, flooding. What lies is in
`test_lies_in_the_window.py`.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from desktop.composer.attachments import Image
from protocol import claude, session
from protocol.conversation import NoticeItem
from tests.helpers.desk import question, sent, texts
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs that are tried here are POSIX scripts")

DRAFT = "Words that must not be lost"
PICTURE = Image(b"\x89PNG\r\n\x1a\npixels", "image/png", "a.png")


def program(folder: Path, text: str, *, mode: int = 0o755) -> str:
    """A program with this text in it; its path."""
    path = folder / "claude"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


BRIEF = """
import json, sys
if "--version" in sys.argv:
    sys.exit(print("2.1.332 (Claude Code)"))
request_id = json.loads(sys.stdin.readline())["request_id"]
response = {"subtype": "success", "request_id": request_id, "response": {}}
print(json.dumps({"type": "control_response", "response": response}), flush=True)
sys.exit(5)
"""


async def mends(sitting: Sitting) -> None:
    """The person does what the notice says, and presses its button: then it runs, and what was typed is there."""
    assert sitting.composer == DRAFT
    sitting.desk.stand_in()
    await sitting.person.click("restart_start")
    await sitting.until(lambda: sitting.opened.phase == "running", "it runs")
    assert sitting.composer == DRAFT
    await sitting.person.click("sendButton")
    await sitting.until(lambda: f"echo: {DRAFT}" in texts(sitting.opened), "Claude has answered")
    assert sitting.offers == []


class TestAMissingCli:
    def test_where_none_is_installed_the_window_says_how_to_install_it(self, sitting: Sitting) -> None:
        sitting.environment(HANDRAISE_CLAUDE="", PATH="/nowhere", SHELL="")

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert "Claude Code was not found. Install it (https://" in sitting.says
            assert "choose its program in the settings" in sitting.says
            assert sitting.offers == ["Look again", "Choose the program…", "How to install it"]
            sitting.environment(PATH=os.environ["PATH"])
            await mends(sitting)

        sitting.play(story)

    def test_one_that_was_named_and_is_not_there_is_named(self, sitting: Sitting) -> None:
        sitting.environment(HANDRAISE_CLAUDE="/nowhere/claude")

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert "HANDRAISE_CLAUDE cannot be used: " in sitting.says
            assert "/nowhere/claude" in sitting.says
            await mends(sitting)

        sitting.play(story)

    def test_one_that_disappears_between_two_starts_is_looked_for_anew(self, sitting: Sitting) -> None:
        wrapper = program(sitting.desk.root, f'#!/bin/sh\nexec {sys.executable} -m fake_cli "$@"\n')
        sitting.desk.stand_in([{"crash": 1}])
        sitting.environment(HANDRAISE_CLAUDE=wrapper, FAKE_CLI_HARM="crash-at=x:1")

        async def story() -> None:
            opened = await sitting.begin()
            os.unlink(wrapper)
            await asyncio.to_thread(os.kill, opened.session.pid, 9)  # type: ignore[union-attr,arg-type]
            await sitting.until(lambda: opened.phase == "exited", "it is dead")
            await sitting.person.write("composer", DRAFT)
            await sitting.person.click("restart_start")
            await sitting.until(lambda: opened.phase == "failed", "it could not start")
            assert f"The program {wrapper} does not exist." in sitting.says
            await mends(sitting)

        sitting.play(story)


class TestABrokenCli:
    @pytest.mark.parametrize(
        ("text", "mode", "said"),
        [
            ("#!/bin/sh\nexit 1\n", 0o755, "asked for its version, it failed. (Claude exited (code 1).)"),
            ("#!/bin/sh\necho 2.1.332\n", 0o644, "is not executable"),
            ("#!/bin/sh\necho quick brown fox\n", 0o755, "does not seem to be Claude Code: its version is “quick"),
            ("#!/nowhere/node\n", 0o755, "/nowhere/node"),
            ("\0\1\2", 0o755, "is not a program for this computer"),
            ("#!/bin/sh\nexec node oops\n", 0o755, "needs node, which was not found. Install Node.js"),
            ("#!/bin/sh\nkill -9 $$\n", 0o755, "Claude was ended by SIGKILL"),
        ],
        ids=["fails", "not executable", "no version", "no interpreter", "no program", "no node", "killed"],
    )
    def test_is_named_with_what_is_wrong(self, sitting: Sitting, text: str, mode: int, said: str) -> None:
        path = program(sitting.desk.root, text, mode=mode)
        sitting.environment(HANDRAISE_CLAUDE=path, PATH="/nowhere")

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert said in sitting.says
            assert path in sitting.says or "node" in said
            assert "Choose the program…" in sitting.offers
            sitting.environment(PATH=os.environ["PATH"])
            await mends(sitting)

        sitting.play(story)

    def test_bin_false_is_no_claude(self, sitting: Sitting) -> None:
        sitting.environment(HANDRAISE_CLAUDE="/bin/false")

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert "/bin/false cannot be used: asked for its version, it failed." in sitting.says
            await mends(sitting)

        sitting.play(story)

    def test_one_that_never_says_its_version_is_given_up(
        self, sitting: Sitting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claude, "read_version", functools.partial(claude.read_version, timeout=0.5))
        sitting.environment(HANDRAISE_CLAUDE=program(sitting.desk.root, "#!/bin/sh\nsleep 600\n"))

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert "did not say its version within 0.5 seconds" in sitting.says
            monkeypatch.undo()
            await mends(sitting)

        sitting.play(story)

    def test_one_that_refuses_its_flags_says_so_itself(self, sitting: Sitting) -> None:
        script = (
            'case "$1" in --version) echo "2.1.332 (Claude Code)";; '
            "*) echo \"error: unknown option '--include-partial-messages'\" >&2; exit 1;; esac"
        )
        sitting.environment(HANDRAISE_CLAUDE=program(sitting.desk.root, f"#!/bin/sh\n{script}\n"))

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert "Claude exited (code 1)." in sitting.says
            assert "unknown option '--include-partial-messages'" in sitting.says
            await mends(sitting)

        sitting.play(story)


class TestACliThatIsTooOld:
    def test_chats_and_the_window_says_how_to_update_it(self, sitting: Sitting) -> None:
        sitting.environment(FAKE_CLI_VERSION="2.0.14")

        async def story() -> None:
            await sitting.begin(typed=DRAFT)
            assert "Claude Code 2.0.14 is too old to ask you questions; you can still chat." in sitting.says
            assert "claude update" in sitting.says
            await sitting.person.click("sendButton")
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(sitting.opened), "Claude has answered")
            await sitting.person.click("dismiss_version")
            assert sitting.offers == []

        sitting.play(story)


class TestASignedOutCli:
    @pytest.mark.parametrize("how", ["not_logged_in", "401"])
    def test_the_message_comes_back_and_the_way_to_sign_in_is_one_click(self, sitting: Sitting, how: str) -> None:
        sitting.desk.stand_in([{"fail": how}], sessions=True)

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send(DRAFT)
            await sitting.person.sees("notice_login")
            assert "Claude is not signed in. Sign in, and this conversation goes on" in sitting.says
            assert "Sign in" in sitting.offers
            await sitting.at_rest()
            assert sitting.composer == DRAFT
            sitting.desk.stand_in(sessions=True)
            sitting.desk.conversations.restart_signed_out()
            await sitting.until(lambda: "login" not in opened.notices and opened.phase == "running", "it runs again")
            await sitting.person.click("sendButton")
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(opened), "Claude has answered")

        sitting.play(story)


    def test_pictures_come_back_too_also_beside_what_was_typed_meanwhile(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"silence": 0.5}, {"fail": "401"}])

        async def story() -> None:
            opened = await sitting.begin()
            sitting.page.composer.attachments.add_image(PICTURE)
            await sitting.person.send("look at this")
            await sitting.person.write("composer", DRAFT)
            await sitting.person.sees("notice_login")
            await sitting.at_rest()
            assert sitting.composer == f"{DRAFT}\nlook at this"
            assert [image.data for image in sitting.page.composer.images()] == [PICTURE.data]
            assert opened.recovered == []

        sitting.play(story)


class TestAFolderThatIsGone:
    def test_before_the_start(self, sitting: Sitting) -> None:
        sitting.desk.folder.rmdir()

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert f"The folder {sitting.desk.folder} is not there" in sitting.says
            assert "Put it back, or choose another." in sitting.says
            assert sitting.offers == ["Choose another folder…", "Try again"]
            sitting.desk.folder.mkdir()
            await mends(sitting)

        sitting.play(story)

    def test_that_is_a_file_now(self, sitting: Sitting) -> None:
        sitting.desk.folder.rmdir()
        sitting.desk.folder.write_text("a file", encoding="utf-8")

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert f"The folder {sitting.desk.folder} is not there" in sitting.says
            sitting.desk.folder.unlink()
            sitting.desk.folder.mkdir()
            await mends(sitting)

        sitting.play(story)

    def test_while_claude_works_in_it(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"text": "one"}], sessions=True)

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("first")
            await sitting.at_rest()
            shutil.rmtree(sitting.desk.folder)
            await asyncio.to_thread(os.kill, pid_of(sitting), 9)
            await sitting.until(lambda: opened.phase == "exited", "it is dead")
            await sitting.person.write("composer", DRAFT)
            await sitting.person.click("restart_start")
            await sitting.until(lambda: opened.phase == "failed", "it could not start")
            assert f"The folder {sitting.desk.folder} is not there" in sitting.says
            sitting.desk.folder.mkdir()
            sitting.desk.stand_in(sessions=True)
            await mends(sitting)
            assert sent(opened) == ["first", DRAFT]

        sitting.play(story)


def pid_of(sitting: Sitting) -> int:
    session_ = sitting.opened.session
    assert session_ is not None
    assert session_.pid is not None
    return session_.pid


class TestACliThatDies:
    @pytest.mark.parametrize(
        ("harm", "said"),
        [
            ("exit-at-start=7,stderr=300000", "Claude exited (code 7).\n[warn] the cache"),
            ("exit-at-start=0", "Claude exited (code 0)."),
            ("banner=Please update me,exit-at-start=3", "Claude exited (code 3).\nPlease update me"),
            ("refuse-handshake=no such plan", "Claude refused to start the conversation.\nno such plan"),
        ],
        ids=["with words on stderr", "without a word", "with words on stdout", "in its handshake"],
    )
    def test_at_its_start(self, sitting: Sitting, harm: str, said: str) -> None:
        sitting.desk.stand_in(harm=harm)

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert said.split("\n")[0] in sitting.says
            assert said.split("\n")[-1] in sitting.says
            assert sitting.offers == ["Choose the program…", "Try again"]
            await mends(sitting)

        sitting.play(story)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("Claude Code on Windows requires git-bash (git-scm.com)", "needs Git Bash. Install Git for Windows"),
            ("env: node: No such file or directory", "needs node, which was not found. Install Node.js"),
        ],
        ids=["git-bash", "node"],
    )
    def test_at_its_start_for_want_of_a_part_that_is_then_named(self, sitting: Sitting, words: str, said: str) -> None:
        script = f'case "$1" in --version) echo "2.1.332 (Claude Code)";; *) echo "{words}" >&2; exit 1;; esac'
        sitting.environment(HANDRAISE_CLAUDE=program(sitting.desk.root, f"#!/bin/sh\n{script}\n"))

        async def story() -> None:
            await sitting.begin(until="failed", typed=DRAFT)
            assert said in sitting.says
            assert words in sitting.says
            await mends(sitting)

        sitting.play(story)

    def test_right_after_its_handshake(self, sitting: Sitting) -> None:
        script = sitting.desk.root / "brief.py"
        script.write_text(BRIEF, encoding="utf-8")
        sitting.environment(HANDRAISE_CLAUDE=json.dumps([sys.executable, str(script)]))

        async def story() -> None:
            opened = sitting.window.open_folder(sitting.desk.folder)
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: opened.phase in ("exited", "failed"), "its end was noticed", patience=10)
            assert "Claude exited (code 5)." in sitting.says
            assert sitting.offers[-1] in ("Restart", "Try again")
            await mends(sitting)

        sitting.play(story)

    @pytest.mark.parametrize(
        ("step", "said"),
        [
            ({"crash": 3}, "Claude exited (code 3). Restart to go on where it was."),
            ({"crash": "SEGV"}, "Claude was ended by SIGSEGV. Restart to go on where it was."),
            ({"exit": 0}, "Claude exited (code 0). Restart to go on where it was."),
            ({"exit_after": 4}, "Claude exited (code 4). Restart to go on where it was."),
        ],
        ids=["crash", "signal", "leaves", "between two messages"],
    )
    def test_in_the_middle(self, sitting: Sitting, step: dict[str, object], said: str) -> None:
        sitting.desk.stand_in([{"text": "half of it"}, {"stderr": "the roof is on fire\n"}, step], sessions=True)

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: opened.phase == "exited", "it is dead")
            assert said in sitting.says
            assert "the roof is on fire" in sitting.says
            assert texts(opened) == ["half of it"]
            assert sitting.offers[-1] == "Restart"
            opened.runner.resume.forget()  # a stand-in that died in its first turn has saved nothing
            await mends(sitting)

        sitting.play(story)

    def test_leaving_a_grandchild_that_holds_its_output(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"orphan": 60}, {"text": "done"}, {"exit_after": 5}])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.until(lambda: opened.phase == "exited", "its end was noticed", patience=10)
            assert "Claude exited (code 5)." in sitting.says
            assert texts(opened) == ["done"]

        sitting.play(story)

    def test_with_a_question_open_and_an_answer_half_written(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([question("Which?", "A", "B")])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.person.click("other_0")
            await sitting.person.write("otherText_0", "half an answer")
            await asyncio.to_thread(os.kill, pid_of(sitting), 9)
            await sitting.person.sees_no_more("questionDialog")
            assert "Claude was ended by SIGKILL." in sitting.says
            assert opened.recovered == ["half an answer"]
            await sitting.person.click("useRecovered_0")
            assert sitting.composer == "half an answer"

        sitting.play(story)


class TestACliThatHangs:
    def test_before_the_handshake(self, sitting: Sitting) -> None:
        sitting.desk.stand_in(harm="no-handshake")

        async def story() -> None:
            opened = sitting.window.open_folder(sitting.desk.folder)
            opened.runner.handshake_timeout = 1.0
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: opened.phase == "failed", "it was given up")
            assert "Claude did not answer within 1 seconds of its start." in sitting.says
            opened.runner.handshake_timeout = 30.0
            await mends(sitting)

        sitting.play(story)

    def test_with_a_late_handshake_what_was_sent_meanwhile_arrives(self, sitting: Sitting) -> None:
        sitting.desk.stand_in(harm="late-handshake=1")

        async def story() -> None:
            opened = sitting.window.open_folder(sitting.desk.folder)
            await sitting.person.send(DRAFT)
            assert "Waiting to be sent" in sitting.person.visible_text()
            assert DRAFT in sitting.kept
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(opened), "Claude has answered")
            assert sent(opened) == [DRAFT]

        sitting.play(story)

    @pytest.mark.parametrize("press", ["stop_silence", "restart_silence"])
    def test_in_the_middle_of_a_turn(self, sitting: Sitting, press: str) -> None:
        sitting.desk.stand_in([{"text": "hello"}], [{"text": "well"}, {"silence": 60}], sessions=True)

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("hi")
            await sitting.at_rest()
            opened.controls.silence_after = 0.5
            await sitting.person.send("go")
            await sitting.person.write("composer", DRAFT)
            await sitting.person.sees("notice_silence")
            assert "No sign of life from Claude" in sitting.says
            assert "wait, stop this turn, or restart" in sitting.says
            first = opened.session
            sitting.desk.stand_in(sessions=True)
            await sitting.person.click(press)
            if press == "restart_silence":
                await sitting.until(lambda: opened.session is not first and opened.phase == "running", "it runs anew")
            else:
                await sitting.until(lambda: opened.conversation.state == "idle", "the turn has stopped")
            assert sitting.composer == DRAFT
            opened.controls.silence_after = 60.0
            await sitting.person.click("sendButton")
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(opened), "Claude has answered")

        sitting.play(story)

    def test_that_does_not_stop_when_it_is_told_to_is_ended_and_the_window_says_so(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"text": "well"}, {"silence": 60}], harm="ignore-interrupt")

        async def story() -> None:
            opened = await sitting.begin()
            assert opened.session is not None
            object.__setattr__(opened.session.options, "interrupt_timeout", 0.5)
            await sitting.person.send("go")
            await sitting.until(lambda: texts(opened) == ["well"], "it is at work")
            await sitting.person.click("stopButton")
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: opened.phase == "exited", "it was ended")
            assert "Claude did not react when it was stopped, so it was ended." in sitting.says
            await mends(sitting)

        sitting.play(story)

    def test_that_closes_its_output_and_stays(self, sitting: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(session, "_EOF_GRACE_SECONDS", 0.5)
        sitting.desk.stand_in([{"text": "well"}, {"close_stdout": True}, {"silence": 60}])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: opened.phase == "exited", "it was ended")
            assert "Restart to go on where it was." in sitting.says
            await mends(sitting)

        sitting.play(story)

    def test_that_reads_nothing_gets_no_message_and_each_of_them_comes_back(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"stop_reading": 60}, {"silence": 60}])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.until(lambda: opened.conversation.state == "running", "it is at work")
            await asyncio.sleep(0.3)
            sitting.page.composer.add_text("x" * 300_000)
            sitting.page.composer.submit()
            await sitting.person.send("second")
            await asyncio.to_thread(os.kill, pid_of(sitting), 9)
            await sitting.until(lambda: opened.phase == "exited", "it is dead")
            assert "What it had not received is kept." in sitting.says
            assert "x" * 300_000 in sitting.kept
            assert "second" in sitting.kept

        sitting.play(story)

    def test_that_neither_leaves_nor_dies_does_not_keep_the_window_open(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"silence": 600}], harm="hang-at-eof,ignore-sigterm")

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.until(lambda: opened.conversation.state == "running", "it is at work")
            started = asyncio.get_running_loop().time()
            await sitting.desk.conversations.close_all()
            assert asyncio.get_running_loop().time() - started < 10.0
            assert opened.session is not None
            assert str(opened.session.exit) == "Claude was ended by SIGKILL."

        sitting.play(story)


class TestACliThatFloods:
    @pytest.mark.parametrize(
        "step",
        [
            {"flood": 2_000_000, "deltas": True, "line": 100},
            {"flood": 50_000_000, "line": 1000},
            {"stderr": 20_000_000},
        ],
        ids=["deltas", "garbage", "stderr"],
    )
    def test_the_window_reacts_and_what_comes_after_it_is_whole(
        self, sitting: Sitting, step: dict[str, object]
    ) -> None:
        sitting.desk.stand_in([step, {"text": "dry again"}])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.person.write("composer", DRAFT)
            while "dry again" not in texts(opened):
                await sitting.reacts(0.2, longest=1.0)
            assert sitting.composer == DRAFT
            await sitting.person.click("sendButton")
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(opened), "Claude has answered")

        sitting.play(story)

    def test_a_flood_can_be_stopped_with_the_stop_button(self, sitting: Sitting) -> None:
        sitting.desk.stand_in([{"flood": 20_000_000, "deltas": True, "line": 100}])

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.send("go")
            await sitting.until(lambda: texts(opened), "it has begun")
            await sitting.person.click("stopButton")
            await sitting.until(lambda: opened.conversation.state in ("idle", "exited"), "it has stopped", patience=30)

        sitting.play(story)


class TestWhereThingsAreKept:
    @pytest.mark.logs("A draft could not be saved")
    def test_a_disk_that_takes_no_drafts_is_said_once_and_the_words_stay(self, sitting: Sitting) -> None:
        blocker = sitting.desk.root / "data"
        blocker.write_text("a file where a folder should be", encoding="utf-8")

        async def story() -> None:
            opened = await sitting.begin()
            await sitting.person.write("composer", DRAFT)
            await sitting.until(lambda: "draft" in opened.notices, "it is said")
            assert "What you type cannot be kept on the disk" in sitting.says
            assert sitting.composer == DRAFT
            await sitting.person.click("sendButton")
            await sitting.until(lambda: f"echo: {DRAFT}" in texts(opened), "Claude has answered")

        sitting.play(story)


def test_the_cli_is_named_by_json_that_is_none(sitting: Sitting) -> None:
    sitting.environment(HANDRAISE_CLAUDE='["claude", ')

    async def story() -> None:
        await sitting.begin(until="failed", typed=DRAFT)
        assert "HANDRAISE_CLAUDE cannot be used: " in sitting.says
        assert "is not a JSON array" in sitting.says
        await mends(sitting)

    sitting.play(story)


def test_an_answer_that_never_ends_is_no_error_and_notices_do_not_pile_up(sitting: Sitting) -> None:
    """Each failed start takes the place of the notice before; the transcript keeps what happened."""
    sitting.environment(HANDRAISE_CLAUDE=json.dumps([sys.executable, "-c", "import sys; sys.exit(9)"]))

    async def story() -> None:
        opened = await sitting.begin(until="failed", typed=DRAFT)
        for _ in range(3):
            await sitting.person.click("restart_start")
            await sitting.until(lambda: opened.phase == "failed", "it failed again")
        assert len(opened.notices) == 1
        assert not [item for item in opened.conversation.items if isinstance(item, NoticeItem)]
        await mends(sitting)

    sitting.play(story)
