"""`handraise serve`: the endpoint as a program of its own, on the one-shot stand-in."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from desktop.__main__ import main, serve_options
from protocol.chat_completions.token_file import TokenFile
from tests.helpers.api_client import Client
from tests.helpers.fake_cli import ROOT
from tests.helpers.program import Program

POSIX = os.name == "posix"
DEMO = "cli-demo"


class Place:
    """A folder to serve from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            "HANDRAISE_CONFIG_DIR": str(folder / "config"),
            "HANDRAISE_DATA_DIR": str(folder / "data"),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
        }

    @property
    def token_path(self) -> Path:
        return self.folder / "data" / "local-api-token"

    @property
    def log(self) -> str:
        return (self.folder / "data" / "handraise-serve.log").read_text(encoding="utf-8")

    def argv(self, *words: str, harms: tuple[str, ...] = ()) -> list[str]:
        """The command line on the stand-in, with what it shall do wrong."""
        command = ["fake_cli", "--one-shot"]
        for harm in harms:
            command += ["--harm", harm]
        serve = ["-m", "desktop", "serve", "--port", "0", "--backend", "command", "--command", json.dumps(command)]
        return [sys.executable, *serve, *words]

    @contextmanager
    def serving(self, *words: str, harms: tuple[str, ...] = ()) -> Iterator[Served]:
        """The program, from its first line to the end that SIGTERM brings."""
        with Program(self.argv(*words, harms=harms), env=self.env, cwd=self.folder) as program:
            served = Served(program)
            yield served
            if program.process.poll() is None:
                program.process.terminate()
            program.exit_code = 0 if POSIX else 1

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A start that comes to nothing."""
        return subprocess.run(
            [*self.argv(), *words], env={**os.environ, **self.env}, cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip


class Served:
    """The running program, and what it said of itself."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.told = program.wait_for(lambda message: "url" in message)

    @property
    def token(self) -> str:
        return Path(self.told["token_file"]).read_text(encoding="ascii").strip()

    def client(self) -> Client:
        return Client(self.told["url"], self.token)

    def in_background(self, text: str, **more: object) -> tuple[Client, threading.Thread]:
        """A client that asks on a thread of its own."""
        client = self.client()
        thread = threading.Thread(target=lambda: client.complete(text, DEMO, **more))
        thread.start()
        return client, thread

    def wait_for_one_shot(self) -> None:
        """Until a CLI is at work."""
        deadline = time.monotonic() + 30
        while not psutil.Process(self.program.process.pid).children(recursive=True):
            assert time.monotonic() < deadline, "no CLI was started"
            time.sleep(0.02)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# It serves


def test_it_says_where_it_listens_in_one_line_and_answers(place: Place) -> None:
    with place.serving() as served:
        assert set(served.told) == {"url", "token_file", "pid"}
        assert served.told["pid"] == served.program.process.pid
        assert served.told["token_file"] == str(place.token_path)
        assert served.client().models().body["data"][0]["id"] == DEMO
        answer = served.client().complete("Hello $(id) `id` @/etc/hostname", DEMO)
        assert (answer.status, answer.text) == (200, "echo: Hello $(id) `id` @/etc/hostname")
        assert "usage" not in answer.body
    assert len(served.program.messages) == 1
    assert served.program.stderr == ""


@pytest.mark.skipif(not POSIX, reason="Windows has access lists instead of modes")
def test_its_token_is_kept_for_its_owner_and_taken_again(place: Place) -> None:
    with place.serving() as served:
        first = served.token
        assert stat.S_IMODE(place.token_path.stat().st_mode) == 0o600
        assert len(bytes.fromhex(first)) == 32
    with place.serving() as served:
        assert served.token == first
    with place.serving("--token-file", "other") as served:
        assert served.told["token_file"] == str(place.folder / "other")
        assert served.token != first


def test_a_token_that_was_exported_for_programs_is_not_in_the_environment_of_the_cli(place: Place) -> None:
    token = TokenFile(place.token_path).read_or_create()
    place.env |= {"OPENAI_API_KEY": token, "CURL_HEADER": f"Authorization: Bearer {token}", "OPENAI_BASE_URL": "here"}
    program = "import json, os; print(json.dumps({'result': json.dumps(dict(os.environ))}))"
    with place.serving("--command", json.dumps([sys.executable, "-c", program]), "--model-name", DEMO) as served:
        env = json.loads(served.client().complete("What is in your environment?", DEMO).text)
    assert env["OPENAI_BASE_URL"] == "here"
    assert not {"OPENAI_API_KEY", "CURL_HEADER"} & set(env)
    assert token not in json.dumps(env)


def test_its_log_holds_no_word_of_anybody(place: Place) -> None:
    with place.serving(harms=("stderr=2000",)) as served:
        served.client().complete("a very private word", DEMO)
        token = served.token
        Client(served.told["url"], "wrong-token").models()
    assert "completion: 200 ok" in place.log
    assert "models: 401 invalid_api_key" in place.log
    for secret in ("private", token, "wrong-token", "echo"):
        assert secret not in place.log


def test_what_is_wrong_with_a_request_is_its_status(place: Place) -> None:
    with place.serving() as served:
        statuses = [
            Client(served.told["url"], "wrong").models().status,
            served.client().complete("x", "no-such-model").status,
            served.client().complete("x", DEMO, temperature=0.5).status,
        ]
        assert statuses == [401, 400, 400]
    with place.serving("--lenient") as served:
        lenient = served.client().complete("x", DEMO, temperature=0.5)
        assert (lenient.status, lenient.headers["x-handraise-ignored"]) == (200, "temperature")


@pytest.mark.parametrize("harm", ["exit=3", "nothing", "garbage", "error=no", "no-result", "wrong-type"])
def test_a_program_that_fails_is_a_502_that_is_not_tried_again(place: Place, harm: str) -> None:
    with place.serving(harms=(harm,)) as served:
        answer = served.client().complete("x", DEMO)
        assert (answer.status, answer.headers["x-should-retry"]) == (502, "false")
        assert str(place.folder) not in json.dumps(answer.body)


def test_limits_of_the_command_line_are_kept(place: Place) -> None:
    words = ("--max-concurrent", "1", "--queue", "0", "--timeout", "3")
    with place.serving(*words, harms=("slow=60",)) as served:
        slow, thread = served.in_background("x")
        served.wait_for_one_shot()
        refused = served.client().complete("x", DEMO)
        thread.join()
        assert (refused.status, refused.code) == (429, "server_busy")
        assert "retry-after" in refused.headers
        assert (slow.status, slow.code) == (504, "timeout")


def test_the_model_is_called_as_its_program_or_as_told(place: Place) -> None:
    def name(*words: str) -> str:
        with place.serving(*words) as served:
            return str(served.client().models().body["data"][0]["id"])

    assert name("--model-name", "my model") == "my model"
    assert name("--command", '["/usr/bin/some-llm.sh"]') == "some-llm"
    assert name("--command", json.dumps([sys.executable, "-m", "fake_cli", "--one-shot"])) == DEMO


# It ends


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP] if POSIX else [])
@pytest.mark.parametrize("stream", [False, True])
def test_a_signal_ends_it_in_seconds_with_answers_open(place: Place, number: int, stream: bool) -> None:
    with place.serving(harms=("slow=60",)) as served:
        client, thread = served.in_background("x", stream=stream)
        served.wait_for_one_shot()
        children = psutil.Process(served.program.process.pid).children(recursive=True)
        began = time.monotonic()
        served.program.process.send_signal(number)
        assert served.program.wait_for_exit() == 0
        assert time.monotonic() - began < 10
        thread.join()
        assert (client.status, client.code) == (503, "shutting_down")
        assert not any(child.is_running() for child in children)


def test_a_reader_that_has_left_before_the_address_ends_it(place: Place) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        done = subprocess.run(
            place.argv(), env={**os.environ, **place.env}, cwd=place.folder, stdin=subprocess.DEVNULL, stdout=nobody,
            stderr=subprocess.PIPE, text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Nobody reads the endpoint’s address, so it was ended. Start it with an open stdout.\n"


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
def test_a_reader_that_leaves_after_the_address_does_not_end_it(place: Place) -> None:
    with subprocess.Popen(
        place.argv(), env={**os.environ, **place.env}, cwd=place.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        process.stdout.close()
        token = place.token_path.read_text(encoding="ascii").strip()
        assert Client(told["url"], token).models().status == 200
        process.terminate()
        assert process.wait(30) == 0


# It does not start


def one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and "Traceback" not in text and text.strip().endswith(".")


def test_a_port_in_use_is_said_in_one_sentence(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = place.run("--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    assert one_sentence(done.stderr)
    assert f"Port {port} is in use" in done.stderr


@pytest.mark.skipif(not POSIX, reason="Windows has access lists instead of modes")
def test_a_token_file_that_cannot_be_trusted_is_said_in_one_sentence(place: Place) -> None:
    path = place.folder / "token"
    path.write_text("a" * 64, encoding="ascii")
    path.chmod(0o644)
    done = place.run("--token-file", str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert one_sentence(done.stderr)
    assert "delete it" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backend", "command"], "needs the program: --command"),
        (["--backend", "other"], "invalid choice"),
        (["--backend", "command", "--command", "llm"], "JSON array"),
        (["--backend", "command", "--command", "[]"], "JSON array"),
        (["--backend", "command", "--command", '["llm", 1]'], "JSON array"),
        (["--backend", "command", "--command", '["a\\u0000b"]'], "JSON array"),
        (["--backend", "command", "--command", '["llm"]', "--model-name", " "], "--model-name is empty"),
        (["--backend", "command", "--command", '["llm"]', "--tools-in", "."], "--tools-in belongs to"),
        (["--command", '["llm"]'], "belong to --backend command"),
        (["--model-name", "m"], "belong to --backend command"),
        (["--port", "65536"], "no whole number from 0 to 65535"),
        (["--port", "-1"], "no whole number"),
        (["--port", "٣"], "no whole number"),
        (["--timeout", "0"], "no number of seconds above 0"),
        (["--timeout", "nan"], "no number of seconds above 0"),
        (["--max-concurrent", "0"], "no whole number from 1 to 64"),
        (["--queue", "x"], "no whole number from 0 to 1000"),
        (["--tools-in", "/no/such/folder"], "no folder"),
        (["--lenie"], "--lenie"),
        (["surplus"], "surplus"),
    ],
)
def test_a_usage_error_is_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words])
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert one_sentence(told.err)
    assert said in told.err


def test_the_words_of_the_command_line_become_the_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = serve_options(["--port", "0", "--timeout", "1.5", "--max-concurrent", "3", "--queue", "0", "--lenient",
                             "--tools-in", ".", "--token-file", "t"])  # fmt: skip
    limits = options.limits
    assert (limits.port, limits.timeout, limits.max_concurrent, limits.queue) == (0, 1.5, 3, 0)
    assert (limits.lenient, options.backend) == (True, "claude")
    assert (options.tools_in, options.token_file) == (tmp_path.resolve(), tmp_path / "t")
    assert serve_options([]).limits.port == 8473


def test_it_needs_no_qt() -> None:
    script = "import sys, desktop.serve; print([name for name in sys.modules if name.startswith(('PySide', 'qasync'))])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
