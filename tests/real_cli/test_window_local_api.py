"""The local endpoint of the real window, with the newest CLI behind it: a program asks, the model asks its user."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt

from desktop import loop
from tests.helpers.api_client import Client
from tests.helpers.app import AppUnderTest
from tests.helpers.fake_cli import ROOT
from tests.helpers.person import Person, text_of
from tests.helpers.processes import marked_processes
from tests.helpers.program import Program
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import Hang, ScriptedModel, ToolUse
from tests.real_cli.scripts import QUESTIONS, ask

MAKE = ToolUse("Bash", {"command": "touch made_by_the_test", "description": "Make a file"})
CONTROL = Qt.KeyboardModifier.ControlModifier


class Endpoint:
    """The endpoint of the app under test, switched on by hand."""

    def __init__(self, app: AppUnderTest, person: Person, folder: Path) -> None:
        self.api = app.application.local_api
        self._app = app
        self._person = person
        self.folder = folder

    async def switch_on(self, *, tools: bool) -> None:
        self.folder.mkdir(exist_ok=True)
        self._app.application.settings.change(local_api_port=0, local_api_folder=str(self.folder))
        await self._person.click("localApiButton")
        if tools:
            await self._person.click("localApiTools")
        await self._person.click("localApiSwitch")
        await self._person.waits_until(lambda: self.api.state == "on", "the endpoint is on")

    @contextlib.asynccontextmanager
    async def asking(self, text: str) -> AsyncIterator[Client]:
        """A program that asks for a completion; at the end of the block it is waited for."""
        client = Client(self.api.url, self.api.token())
        call = loop.spawn(loop.on_thread(lambda: client.complete(text, model="default")), "a client")
        try:
            yield client
        except BaseException:
            client.hang_up()
            raise
        finally:
            await call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where requests may use tools."""
    return tmp_path / "tools"


def test_a_plain_completion_goes_through_the_window_and_leaves_its_conversation_alone(
    app: AppUnderTest, model: ScriptedModel, folder: Path
) -> None:
    model.script("A fine answer.")

    async def scenario(person: Person) -> None:
        endpoint = Endpoint(app, person, folder)
        await endpoint.switch_on(tools=False)
        async with endpoint.asking("Say something") as client:
            pass
        assert (client.status, client.text) == (200, "A fine answer.")
        await person.waits_until(lambda: [row.words for row in endpoint.api.rows] == ["Answered"], "it is listed")
        app.application.window.local_api.toggle()
        assert app.transcript() == ""

    app.run(scenario)

    (request,) = model.main_requests
    assert request.tools == []


def test_a_question_of_the_model_is_answered_by_hand_and_the_program_gets_its_completion(
    app: AppUnderTest, model: ScriptedModel, folder: Path
) -> None:
    model.script(ask(QUESTIONS), "SQLite it is.")

    async def scenario(person: Person) -> None:
        endpoint = Endpoint(app, person, folder)
        await endpoint.switch_on(tools=True)
        app.application.window.local_api.toggle()  # the person works in a conversation meanwhile
        async with endpoint.asking("Which database?") as client:
            await person.waits_until(lambda: "through the local API" in text_of_status(app), "the status line tells")
            await person.keys(Qt.Key.Key_J, modifier=CONTROL)
            await person.sees("questionDialog")
            await person.reads("openai-python/3.57 asks through the local API")
            for number, question in enumerate(QUESTIONS):
                await person.click_when_read(f"option_{number}_1")
                if question is not QUESTIONS[-1]:
                    await person.keys(Qt.Key.Key_Return)
            await person.keys(Qt.Key.Key_Return, modifier=CONTROL)
        assert (client.status, client.text) == (200, "SQLite it is.")
        await person.sees_no_more("questionDialog")

    app.run(scenario)

    (result,) = model.tool_results()
    assert not result.is_error
    assert all(question["options"][1]["label"] in result.text for question in QUESTIONS)


def test_a_command_runs_in_the_chosen_folder_only_when_it_was_allowed(
    app: AppUnderTest, model: ScriptedModel, folder: Path
) -> None:
    model.script(MAKE, "Made.")

    async def scenario(person: Person) -> None:
        endpoint = Endpoint(app, person, folder)
        await endpoint.switch_on(tools=True)
        async with endpoint.asking("Make it") as client:
            assert "touch made_by_the_test" in text_of(await person.sees("permissionDetail"))
            assert not (folder / "made_by_the_test").exists()
            await person.click("allowOnce")
        assert (client.status, client.text) == (200, "Made.")

    app.run(scenario)

    assert (folder / "made_by_the_test").exists()


def test_a_program_that_hangs_up_closes_the_dialog_and_ends_its_cli(
    app: AppUnderTest, model: ScriptedModel, folder: Path, process_mark: str, tmp_path: Path
) -> None:
    model.script(MAKE)

    async def scenario(person: Person) -> None:
        endpoint = Endpoint(app, person, folder)
        await endpoint.switch_on(tools=True)

        def of_endpoint() -> list[psutil.Process]:
            """The CLIs of the endpoint: no conversation's is told where its settings come from."""
            found = []
            for one in marked_processes(process_mark, tmp_path):
                with contextlib.suppress(psutil.Error):  # gone in this moment
                    if "--setting-sources" in one.cmdline():
                        found.append(one)
            return found

        # The one that is kept ready answers; the next one is started meanwhile, and stays.
        tree = await person.waits_until(of_endpoint, "a CLI is kept ready")
        async with endpoint.asking("Make it") as client:
            await person.sees("permissionDialog")
            await person.write("denyReason", "Not like this")
            assert all(one.is_running() for one in tree)
            client.hang_up()
            await person.sees_no_more("permissionDialog", patience=5)
            await person.waits_until(lambda: not any(one.is_running() for one in tree), "its CLI is gone", patience=5)
        await person.waits_until(lambda: not endpoint.api.live, "its place is free")
        await person.reads("Not like this")  # what was typed is still at hand
        gone = ["The program hung up"]
        await person.waits_until(lambda: [row.words for row in endpoint.api.rows] == gone, "it is listed")

    app.run(scenario)

    assert not (folder / "made_by_the_test").exists()


def test_the_window_closes_while_programs_wait_and_leaves_nothing_behind(
    app: AppUnderTest, model: ScriptedModel, folder: Path
) -> None:
    model.when(text="Be quiet", reply=Hang())
    model.when(text="Make it", reply=MAKE)
    clients: list[Client] = []
    calls: list[asyncio.Task[Client]] = []

    async def scenario(person: Person) -> None:
        endpoint = Endpoint(app, person, folder)
        await endpoint.switch_on(tools=True)
        for text in ("Make it", "Be quiet"):
            clients.append(Client(endpoint.api.url, endpoint.api.token()))
            call = loop.on_thread(lambda one=clients[-1], text=text: one.complete(text, model="default"))
            calls.append(asyncio.create_task(call))
        await person.sees("permissionDialog")
        await person.waits_until(lambda: model.find_request(lambda one: "Be quiet" in one.everything), "both are asked")
        app.application.window.close()
        await asyncio.wait(calls)

    app.run(scenario)

    assert [one.code for one in clients] == [clients[0].code, "shutting_down"]
    assert clients[0].code in ("question_unanswered", "shutting_down")
    assert not (folder / "made_by_the_test").exists()


def test_without_a_window_a_question_ends_its_request_with_an_error_that_says_so(
    claude: RealCli, model: ScriptedModel, tmp_path: Path
) -> None:
    model.script(ask(QUESTIONS), "Never said.")
    env = claude.env | {
        "HANDRAISE_CLAUDE": json.dumps(claude.argv),
        "HANDRAISE_CONFIG_DIR": str(tmp_path / "config"),
        "HANDRAISE_DATA_DIR": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
    }
    words = [sys.executable, "-m", "desktop", "serve", "--port", "0", "--tools-in", str(claude.project)]
    with Program(words, env=env, cwd=tmp_path) as program:
        told = program.wait_for(lambda message: "url" in message)
        token = Path(told["token_file"]).read_text(encoding="ascii").strip()
        client = Client(told["url"], token).complete("Which database?", model="default")
        program.process.terminate()

    assert (client.status, client.code) == (502, "question_unanswered")
    assert client.headers["x-should-retry"] == "false"
    assert "nobody can be asked here" in client.body["error"]["message"]


def text_of_status(app: AppUnderTest) -> str:
    return str(app.application.window.status.text())
