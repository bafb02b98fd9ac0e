"""What the README says about the endpoint, run as it stands there, with the stand-in behind `handraise serve`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from protocol.chat_completions import checks
from protocol.chat_completions.options import DEFAULT_PORT, EndpointOptions
from tests.helpers.fake_cli import ROOT
from tests.helpers.program import Program

README = (ROOT / "README.md").read_text("utf-8")
CHAPTER = README.split("## The local endpoint\n")[1].split("\n## ")[0]


def example(beginning: str) -> str:
    """The indented block below the line that begins so."""
    (block,) = re.findall(rf"^{re.escape(beginning)}.*?:\n\n((?:(?:    .*)?\n)+)", CHAPTER, re.MULTILINE)
    return textwrap.dedent(block).strip() + "\n"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The two variables of the examples, with the endpoint that the README's own command starts."""
    folder = tmp_path_factory.mktemp("readme")
    command = re.search(r"handraise serve --backend command --command '(.*?)' --token-file (\S+)", CHAPTER)
    assert command is not None
    argv = [sys.executable, "-m", "desktop", "serve", "--backend", "command", "--command", command[1]]
    own = {"PYTHONPATH": str(ROOT), "HANDRAISE_LOG": str(folder / "log")}
    own |= {name: str(folder / name) for name in ("HANDRAISE_CONFIG_DIR", "HANDRAISE_DATA_DIR")}
    argv += ["--token-file", command[2], "--port", "0"]
    with Program(argv, env=own, cwd=folder) as program:
        address = program.wait_for(lambda message: "url" in message)
        token = Path(address["token_file"]).read_text("utf-8").strip()
        yield {**os.environ, "OPENAI_BASE_URL": address["url"], "OPENAI_API_KEY": token}
        program.process.terminate()
        program.exit_code = -15 if sys.platform == "win32" else 0


@pytest.mark.skipif(shutil.which("curl") is None or os.name != "posix", reason="needs curl and a POSIX shell")
def test_curl_gets_an_answer(env: dict[str, str]) -> None:
    script = "".join(
        line for line in example("curl").splitlines(keepends=True) if not line.startswith("export ")
    ).replace('"default"', '"cli-demo"')
    done = subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert json.loads(done.stdout)["choices"][0]["message"]["content"] == "echo: Which way is north?", done.stderr


def test_openai_python_gets_an_answer(env: dict[str, str]) -> None:
    program = example("openai-python").replace('"default"', '"cli-demo"')
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "echo: Which way is north?", done.stderr


def test_the_curl_example_names_the_port_that_is_used_by_default() -> None:
    assert f"http://127.0.0.1:{DEFAULT_PORT}/v1\n" in example("curl")


def test_every_parameter_that_is_known_is_in_the_table() -> None:
    known = {*checks._SAMPLING, *checks._NOT_DONE, *checks._INERT, *checks._HONOURED}
    named = {
        "frequency_penalty": "penalties", "presence_penalty": "penalties", "repetition_penalty": "penalty",
        "stream_options": "`stream_options.include_usage`",
    }  # fmt: skip
    missing = [name for name in sorted(known) if named.get(name, f"`{name}`") not in CHAPTER]
    assert missing == []


def test_the_limits_are_those_of_the_options() -> None:
    options = {field.name: field.default for field in fields(EndpointOptions)}
    assert (options["max_concurrent"], options["queue"], options["max_body"]) == (2, 8, 1024 * 1024)
    assert (options["timeout"], options["idle_timeout"]) == (600, 120)
    assert (options["question_seconds"], options["stream_question_seconds"]) == (285, 3600)
    for words in ("| 2 and 8 (", "| 1 MiB |", "| 600 s (", "; 120 s of silence", "| 285 s without streaming"):
        assert words in CHAPTER
