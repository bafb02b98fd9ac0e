"""The installed app in a world with nothing of this checkout: the real CLI, a screen, an environment all but empty."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.api_client import Client
from tests.helpers.processes import describe, kill_all, wait_until_gone
from tests.helpers.program import Program
from tests.helpers.real_cli import CannotInstallError, clean_environment, install, is_required, pinned_versions
from tests.real_cli.model import ScriptedModel, Text
from tests.real_cli.scripts import QUESTIONS, ask

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these are the packages for Linux"),
]

PROFILES = (".profile", ".bash_profile", ".zprofile")
OF_THE_SHELL = {"PWD", "OLDPWD", "SHLVL", "_"}
"""What `/bin/sh`, which the test puts before the CLI, adds of its own."""
GIVEN_BY_THE_START = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM")
SECONDS = 240


@pytest.fixture
def claude() -> Path:
    """The newest pinned CLI. Skips, or fails where it is required."""
    try:
        return install(pinned_versions()[-1])
    except CannotInstallError as problem:
        if is_required():
            pytest.fail(f"HANDRAISE_REQUIRE_REAL_CLI is set, but {problem}", pytrace=False)
        pytest.skip(str(problem))


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model of this test's own."""
    with ScriptedModel() as scripted:
        yield scripted
    assert scripted.errors == []


class World:
    """A home whose login shell alone knows where `claude` is; what that saw of its environment is written down."""

    def __init__(self, home: Path, claude: Path, model: ScriptedModel) -> None:
        self.home = home
        self.project = home / "工作 資料夾"
        self.project.mkdir(parents=True)
        self.mark = f"handraise-test-{uuid.uuid4()}"
        self.seen_file = home / "seen"
        self.tools = home / "my tools" / "bin"
        self.tools.mkdir(parents=True)
        of_the_cli = clean_environment(home, model.url, self.mark)
        given = {name: value for name, value in of_the_cli.items() if name not in GIVEN_BY_THE_START}
        lines = ["#!/bin/sh", f"env -0 >>{shlex.quote(str(self.seen_file))}"]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in given.items()]
        lines += [f'exec {shlex.quote(str(claude))} "$@"', ""]
        (self.tools / "claude").write_text("\n".join(lines), encoding="utf-8")
        (self.tools / "claude").chmod(0o755)
        for name in PROFILES:
            text = f'echo "Welcome back"\nexport PATH="$PATH:{self.tools}"\n'
            (home / name).write_text(text, encoding="utf-8")

    def start(self, program: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Starts it in the project as `env -i` would, with a PATH that does not know the CLI."""
        variables = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"} | more
        assignments = [f"{name}={value}" for name, value in variables.items()]
        return subprocess.run(
            ["env", "-i", *assignments, str(program), *arguments], cwd=self.project, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip

    def seen(self) -> list[tuple[str, str]]:
        """Every variable that any start of the CLI saw."""
        text = self.seen_file.read_text("utf-8")
        return [(name, value) for name, _, value in (pair.partition("=") for pair in text.split("\0") if pair)]

    def log(self) -> str:
        """The app's log, for the report."""
        return "\n".join(path.read_text("utf-8") for path in self.home.rglob("handraise.log"))


@pytest.fixture
def world(tmp_path: Path, claude: Path, model: ScriptedModel) -> Iterator[World]:
    made = World(tmp_path / "home", claude, model)
    yield made
    left = wait_until_gone(made.mark, tmp_path, seconds=5.0)
    if left:
        names = describe(left)
        kill_all(left)
        pytest.fail(f"the test left these processes running:\n{names}", pytrace=False)


def test_a_question_of_the_real_cli_is_answered_in_the_installed_window(
    world: World, model: ScriptedModel, prefix: Path, display: str
) -> None:
    model.script([Text("Let me ask."), ask(QUESTIONS, "toolu_ask")], "Noted, thank you.")

    done = world.start(prefix / "bin" / "handraise", "--smoke-test=Set up the project", ".", DISPLAY=display)

    assert (done.returncode, done.stderr) == (0, ""), world.log()
    assert "one request with 2 questions was answered" in world.log()
    (result,) = model.tool_results()
    assert not result.is_error
    assert '"Which database should we use?"="PostgreSQL"' in result.text
    assert '"Which features do you want?"=""Search, full text""' in result.text
    names = {name for name, _ in world.seen() if not name.startswith("CLAUDE_CODE_")}
    assert names - OF_THE_SHELL == {"HOME", "PATH", "DISPLAY", "HANDRAISE_CHILD"}
    assert [name for name, value in world.seen() if str(prefix) in value] == []


def test_the_cli_gets_the_variables_that_are_the_persons_own(world: World, prefix: Path) -> None:
    own = {"LD_LIBRARY_PATH": "/mine/lib", "QT_PLUGIN_PATH": "/mine/plugins", "PYTHONPATH": "/mine/python"}

    done = world.start(prefix / "bin" / "handraise", "doctor", "--json", **own)

    report = json.loads(done.stdout)
    assert (report["claude"]["source"], report["claude"]["path"]) == ("login shell", str(world.tools / "claude"))
    assert (report["claude"]["version"], report["packaged"]) == (pinned_versions()[-1], True)
    seen = world.seen()
    assert {name: {value for key, value in seen if key == name} for name in own} == {k: {v} for k, v in own.items()}
    assert [name for name, value in seen if str(prefix) in value] == []


def test_the_local_endpoint_answers_from_the_installed_app(prefix: Path, tmp_path: Path) -> None:
    program = str(prefix / "bin" / "handraise")
    stand_in = json.dumps([program, "--fake-cli", "--one-shot"])
    command = [program, "serve", "--port", "0", "--token-file", str(tmp_path / "token")]
    command += ["--backend", "command", "--model-name", "stand-in", "--command", stand_in]
    world = {"HANDRAISE_CONFIG_DIR": str(tmp_path / "config"), "HANDRAISE_DATA_DIR": str(tmp_path / "data")}
    with Program(command, env=world, cwd=tmp_path) as served:
        address = served.wait_for(lambda message: "url" in message)
        client = Client(address["url"], Path(address["token_file"]).read_text("ascii").strip())
        answer = client.complete("Hello 世界", "stand-in")
        assert (answer.status, answer.text) == (200, "echo: Hello 世界")
        served.process.terminate()


def test_the_local_endpoint_of_the_installed_app_has_claude_behind_it(prefix: Path, tmp_path: Path) -> None:
    program = str(prefix / "bin" / "handraise")
    world = {
        "HANDRAISE_CONFIG_DIR": str(tmp_path / "config"), "HANDRAISE_DATA_DIR": str(tmp_path / "data"),
        "HANDRAISE_CLAUDE": json.dumps([program, "--fake-cli"]), "FAKE_CLI_PACE": "0",
    }  # fmt: skip
    command = [program, "serve", "--port", "0", "--token-file", str(tmp_path / "token")]
    with Program(command, env=world, cwd=tmp_path) as served:
        address = served.wait_for(lambda message: "url" in message)
        client = Client(address["url"], Path(address["token_file"]).read_text("ascii").strip())
        names = [entry["id"] for entry in client.models().body["data"]]
        answer = client.complete("Hello", names[0])
        assert answer.status == 200, answer.body
        assert answer.text
        served.process.terminate()
