"""The shell scripts, those in the workflows too, have no mistake that shellcheck knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.linters import ROOT, lint, read_yaml
from tests.helpers.workflows import bash_scripts

SCRIPTS = [".ci/run", ".ci/windows", "resources/linux/install.sh", "resources/macos/release.sh"]
WORKFLOWS = ["release.yml", "test.yml"]


def test_every_script_is_looked_at() -> None:
    files = (path for folder in (".ci", "resources") for path in (ROOT / folder).rglob("*") if path.is_file())
    found = [path for path in files if re.match(rb"#!.*sh\n", path.read_bytes()[:80])]
    assert sorted(path.relative_to(ROOT).as_posix() for path in found) == SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_sound(name: str) -> None:
    done = lint("shellcheck", name)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_scripts_in_a_workflow_are_sound(name: str) -> None:
    scripts = dict(bash_scripts(read_yaml((ROOT / ".github" / "workflows" / name).read_text("utf-8"))))
    assert scripts
    found = {step: lint("shellcheck", "--shell=bash", "-", said=script).stdout for step, script in scripts.items()}
    assert {step: words for step, words in found.items() if words} == {}


def test_a_mistake_would_be_found(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nrm -rf $1/*\n", encoding="utf-8")
    done = lint("shellcheck", script)
    assert done.returncode == 1
    assert "SC2086" in done.stdout


def test_a_step_is_read_in_the_shell_that_runs_it() -> None:
    jobs = {
        "a": {"runs-on": "ubuntu-latest", "steps": [{"run": "1"}, {"uses": "x"}, {"run": "2", "shell": "python"}]},
        "b": {"runs-on": "windows-2025", "steps": [{"run": "3"}, {"run": "4", "shell": "bash"}]},
        "c": {
            "runs-on": "${{ matrix.system }}", "steps": [{"run": "5"}],
            "strategy": {"matrix": {"system": ["macos-15", "windows-2025"]}},
        },
        "d": {
            "runs-on": "${{ matrix.on }}", "steps": [{"run": "6"}],
            "strategy": {"matrix": {"include": [{"on": "macos-15"}, {"on": "ubuntu-latest"}]}},
        },
        "e": {"runs-on": "windows-2025", "defaults": {"run": {"shell": "bash"}}, "steps": [{"run": "7"}]},
    }  # fmt: skip
    steps = {"a, step 1": "1", "b, step 2": "4", "d, step 1": "6", "e, step 1": "7"}
    assert dict(bash_scripts({"jobs": jobs})) == steps
