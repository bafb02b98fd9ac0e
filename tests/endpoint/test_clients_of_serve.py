"""The same clients against `handraise serve` as a program of its own, with a one-shot CLI behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.endpoint.clients import CLIENTS, OPENAI_CLIENTS, Place, ask
from tests.helpers.fake_cli import FAKE_CLI, ROOT
from tests.helpers.program import Program

ODD = 'Was kostet "das"? $(id) `id` @/etc/hostname\n/cost 100 % \\ 多少錢？'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where the clients find it. At the end it is told to leave, and leaves in order."""
    folder = tmp_path_factory.mktemp("serve")
    command = [sys.executable, "-m", "desktop", "serve", "--backend", "command", "--model-name", "cli-demo"]
    command += ["--command", json.dumps([*FAKE_CLI, "--one-shot"]), "--port", "0"]
    command += ["--token-file", str(folder / "token")]
    env = {
        "PYTHONPATH": str(ROOT),
        "HANDRAISE_CONFIG_DIR": str(folder / "config"),
        "HANDRAISE_DATA_DIR": str(folder / "data"),
    }
    with Program(command, env=env, cwd=folder) as program:
        address = program.wait_for(lambda message: "url" in message)
        token = Path(address["token_file"]).read_text(encoding="utf-8").strip()
        yield Place(address["url"], token, "cli-demo", folder)
        program.process.terminate()
        program.exit_code = -15 if sys.platform == "win32" else 0


@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "llm"])
def test_a_client_hears_a_one_shot_program_without_and_with_streaming(client: str, served: Place) -> None:
    for outcome in ask(client, served, ("whole", ODD), ("stream", ODD)):
        assert outcome["text"].startswith("echo: "), outcome
        assert ODD in outcome["text"]
        assert outcome["finish_reason"] == "stop"
        if client in OPENAI_CLIENTS:
            assert outcome["usage"] is None  # such a program counts no tokens, and nobody makes them up


def test_llm_hears_it_with_streaming_which_is_its_default(served: Place) -> None:
    """Without, `llm` 0.36 falls over any answer that has no `usage`, though the published schema has it optional."""
    whole, streamed = ask("llm", served, ("whole", ODD), ("stream", ODD))

    assert streamed["text"].startswith("echo: ")
    assert ODD in streamed["text"]
    assert "'NoneType' object has no attribute 'model_dump'" in whole["error"]["message"]


@pytest.mark.parametrize("client", OPENAI_CLIENTS)
def test_its_one_model_is_listed(client: str, served: Place) -> None:
    assert ask(client, served, ("models", "")) == [{"models": ["cli-demo"], "one": "cli-demo"}]
