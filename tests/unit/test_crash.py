"""What is left of a run in the crash log: nothing, where it ended well."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

import pytest

from desktop import crash


@pytest.fixture
def interpreters_files(monkeypatch: pytest.MonkeyPatch) -> list[TextIO]:
    """The files that the interpreter was given to write its last stacks to. The test run keeps its own."""
    files: list[TextIO] = []
    monkeypatch.setattr(crash, "faulthandler", SimpleNamespace(enable=files.append, disable=lambda: None))
    return files


def test_a_fault_that_was_survived_is_no_crash_at_the_next_start(
    tmp_path: Path, interpreters_files: list[TextIO]
) -> None:
    """Windows also tells the interpreter of faults that COM raises and handles itself."""
    hooks = crash.CrashHooks(tmp_path / "crash.log")
    assert hooks.install() == ""
    os.write(interpreters_files[0].fileno(), b"Windows fatal exception: code 0x8001010d\n")
    hooks.remove()
    assert (tmp_path / "crash.log").read_bytes() == b""


def test_what_comes_after_a_forgotten_fault_stands_at_the_head_of_the_log(
    tmp_path: Path, interpreters_files: list[TextIO]
) -> None:
    """The end of a session may be called off after that."""
    hooks = crash.CrashHooks(tmp_path / "crash.log")
    hooks.install()
    os.write(interpreters_files[0].fileno(), b"Windows fatal exception: code 0x8001010d\n")
    hooks.forget()
    assert (tmp_path / "crash.log").read_bytes() == b""
    os.write(interpreters_files[0].fileno(), b"Fatal Python error: Aborted\n")
    assert (tmp_path / "crash.log").read_bytes() == b"Fatal Python error: Aborted\n"
    hooks.remove()


def test_what_a_run_that_died_wrote_is_handed_over_once(tmp_path: Path, interpreters_files: list[TextIO]) -> None:
    (tmp_path / "crash.log").write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    hooks = crash.CrashHooks(tmp_path / "crash.log")
    assert hooks.install() == "Fatal Python error: Segmentation fault"
    hooks.remove()
    assert (tmp_path / "crash.log").read_bytes() == b""
