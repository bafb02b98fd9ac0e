"""Finding the CLI, wherever it was installed, and asking it what it is."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from protocol.claude import (
    MINIMUM_FOR_QUESTIONS,
    Claude,
    ClaudeBroken,
    ClaudeNotFound,
    Version,
    explain_failure,
    explain_version,
    find_claude,
    login_shell_path,
    read_login,
    read_version,
    split_path,
)
from protocol.claude import places as places_module

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are shell scripts")

SH = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def no_claude_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_module, "SYSTEM_FOLDERS", ())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a space and Chinese characters in its name."""
    folder = tmp_path / "我的 home"
    folder.mkdir()
    return folder


def program(path: Path, text: str = SH) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def found(home: Path, env: Mapping[str, str] | None = None, **options: Any) -> Claude:
    options.setdefault("setting", None)
    return find_claude(env=env or {}, home=home, platform=options.pop("platform", "linux"), **options)


def not_found(home: Path, env: Mapping[str, str] | None = None, **options: Any) -> str:
    with pytest.raises(ClaudeNotFound) as caught:
        found(home, env, **options)
    return str(caught.value)


class TestOrder:
    def test_the_setting_comes_first(self, home: Path) -> None:
        mine = program(home / "mine" / "claude")
        env = {"HANDRAISE_CLAUDE": str(program(home / "other" / "claude")), "PATH": str(mine.parent)}
        claude = found(home, env, setting=str(mine))
        assert (claude.argv, claude.source) == ((str(mine),), "settings")

    def test_then_the_variable(self, home: Path) -> None:
        named = program(home / "named" / "claude")
        env = {"HANDRAISE_CLAUDE": str(named), "PATH": str(program(home / "bin" / "claude").parent)}
        claude = found(home, env)
        assert (claude.argv, claude.source) == ((str(named),), "HANDRAISE_CLAUDE")

    def test_then_path_in_its_order(self, home: Path) -> None:
        second, first = program(home / "b" / "claude"), program(home / "a" / "claude")
        program(home / ".local" / "bin" / "claude")
        claude = found(home, {"PATH": f"{home / 'none'}:{first.parent}:{second.parent}"})
        assert (claude.argv, claude.source) == ((str(first),), "PATH")

    def test_then_the_known_places(self, home: Path) -> None:
        native = program(home / ".local" / "bin" / "claude")
        login = program(home / "login" / "claude")
        claude = found(home, {"PATH": "/nowhere"}, login_path=str(login.parent))
        assert (claude.argv, claude.source) == ((str(native),), "known place")

    def test_then_the_login_shells_path(self, home: Path) -> None:
        login = program(home / "login" / "claude")
        claude = found(home, {"PATH": "/nowhere"}, login_path=f"/usr/bin:{login.parent}")
        assert (claude.argv, claude.source) == ((str(login),), "login shell")

    def test_what_the_user_named_is_never_replaced_silently(self, home: Path) -> None:
        env = {"PATH": str(program(home / "bin" / "claude").parent)}
        missing = home / "gone" / "claude"
        assert not_found(home, env, setting=str(missing)) == (
            f"The Claude program in the settings cannot be used: {missing} does not exist."
        )
        assert not_found(home, {**env, "HANDRAISE_CLAUDE": str(missing)}) == (
            f"HANDRAISE_CLAUDE cannot be used: {missing} does not exist."
        )


@pytest.mark.parametrize(
    "place",
    [
        ".local/bin", ".claude/local", ".npm-global/bin", ".npm-packages/bin", "n/bin",
        ".nvm/versions/node/v22.17.1/bin", ".local/share/fnm/aliases/default/bin",
        ".fnm/node-versions/v20.1.0/installation/bin", ".volta/bin", ".asdf/shims",
        ".asdf/installs/nodejs/22.1.0/bin", ".local/share/mise/shims", ".local/share/mise/installs/node/24.0.1/bin",
        ".local/share/mise/installs/npm-anthropic-ai-claude-code/2.1.332/bin", ".bun/bin", ".local/share/pnpm",
        "Library/pnpm", ".yarn/bin", ".nix-profile/bin", "Library/Application Support/fnm/aliases/default/bin",
    ],
)  # fmt: skip
def test_every_installers_place_is_known(home: Path, place: str) -> None:
    claude = program(home / place / "claude")
    assert found(home).argv == (str(claude),)


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("NPM_CONFIG_PREFIX", "bin"), ("VOLTA_HOME", "bin"), ("NVM_DIR", "versions/node/v18.0.0/bin"),
        ("FNM_DIR", "aliases/default/bin"), ("FNM_MULTISHELL_PATH", "bin"), ("ASDF_DATA_DIR", "shims"),
        ("MISE_DATA_DIR", "shims"), ("BUN_INSTALL", "bin"), ("PNPM_HOME", ""), ("N_PREFIX", "bin"),
        ("XDG_DATA_HOME", "mise/shims"),
    ],
)  # fmt: skip
def test_folders_that_a_tool_was_told_to_use_are_known(home: Path, variable: str, below: str) -> None:
    claude = program(home / "elsewhere" / below / "claude")
    assert found(home, {variable: str(home / "elsewhere")}).argv == (str(claude),)


@pytest.mark.parametrize("line", ["prefix=~/.mine", "prefix = ${HOME}/.mine", 'prefix="{home}/.mine"'])
def test_the_npm_prefix_of_the_user_is_read(home: Path, line: str) -> None:
    (home / ".npmrc").write_text(f"registry=https://example.org\n{line.replace('{home}', str(home))}\n")
    claude = program(home / ".mine" / "bin" / "claude")
    assert found(home).argv == (str(claude),)


def test_the_newest_node_of_nvm_wins_by_number(home: Path) -> None:
    for version in ("v9.11.2", "v22.3.0", "v18.20.4"):
        program(home / ".nvm" / "versions" / "node" / version / "bin" / "claude")
    assert "/v22.3.0/" in found(home).argv[0]


def test_homebrew_is_a_system_folder(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.undo()
    assert {"/opt/homebrew/bin", "/usr/local/bin"} <= set(places_module.SYSTEM_FOLDERS)


class TestNamedCommands:
    def test_a_path_may_contain_spaces_quotes_around_it_and_a_tilde(self, home: Path) -> None:
        claude = program(home / "my tools" / "claude code")
        assert found(home, setting=str(claude)).argv == (str(claude),)
        assert found(home, setting=f'"{claude}"').argv == (str(claude),)
        assert found(home, setting="~/my tools/claude code").argv == (str(claude),)

    def test_a_relative_path_becomes_absolute(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        claude = program(home / "tools" / "claude")
        monkeypatch.chdir(home)
        assert found(home, {"HANDRAISE_CLAUDE": "tools/claude"}).argv == (str(claude),)
        assert found(home, {"HANDRAISE_CLAUDE": "./tools/claude"}).argv == (str(claude),)

    def test_a_name_is_looked_up_in_path(self, home: Path) -> None:
        claude = program(home / "bin" / "claude-canary")
        assert found(home, {"HANDRAISE_CLAUDE": "claude-canary", "PATH": str(claude.parent)}).argv == (str(claude),)

    def test_a_json_array_is_a_command_with_arguments(self, home: Path) -> None:
        python = program(home / "bin" / "python3")
        command = json.dumps(["python3", "-m", "fake_cli", "--scenario", "a b.toml"])
        claude = found(home, {"HANDRAISE_CLAUDE": command, "PATH": str(python.parent)})
        assert claude.argv == (str(python), "-m", "fake_cli", "--scenario", "a b.toml")

    def test_a_sequence_is_one_too(self, home: Path) -> None:
        python = program(home / "bin" / "python3")
        assert found(home, setting=(str(python), "x.py")).argv == (str(python), "x.py")

    @pytest.mark.parametrize("command", ["[", "[]", "[1]", '[""]', '["claude", null]', '["a" "b"]'])
    def test_a_command_that_is_none_is_refused_in_words(self, home: Path, command: str) -> None:
        assert not_found(home, {"HANDRAISE_CLAUDE": command}).startswith("HANDRAISE_CLAUDE cannot be used: ")


class TestUnusable:
    def test_nothing_anywhere(self, home: Path) -> None:
        with pytest.raises(ClaudeNotFound, match=r"^Claude Code was not found\. Install it \(https://") as caught:
            found(home, {"PATH": "/nowhere"})
        assert "/nowhere/claude" in caught.value.searched
        assert str(home / ".local/bin/claude") in caught.value.searched
        assert len(set(caught.value.searched)) == len(caught.value.searched)

    def test_a_broken_link(self, home: Path) -> None:
        link = home / "claude"
        link.symlink_to("/gone/claude")
        assert f"{link} is a link to /gone/claude, which does not exist." in not_found(home, setting=str(link))

    def test_a_folder(self, home: Path) -> None:
        assert f"{home} is a folder, not a program." in not_found(home, setting=str(home))

    def test_a_file_that_is_not_executable(self, home: Path) -> None:
        claude = program(home / "claude")
        claude.chmod(stat.S_IRUSR)
        assert f"{claude} is not executable. Make it so with: chmod +x" in not_found(home, setting=str(claude))

    def test_a_folder_called_claude_in_path_is_passed_over(self, home: Path) -> None:
        (home / "a" / "claude").mkdir(parents=True)
        claude = program(home / "b" / "claude")
        assert found(home, {"PATH": f"{home}/a:{home}/b"}).argv == (str(claude),)

    def test_one_that_cannot_run_is_passed_over_for_one_that_can(self, home: Path) -> None:
        (home / "a").mkdir()
        (home / "a" / "claude").symlink_to("/gone")
        claude = program(home / ".local" / "bin" / "claude")
        assert found(home, {"PATH": str(home / "a")}).argv == (str(claude),)

    def test_when_none_can_run_the_reason_of_the_first_is_given(self, home: Path) -> None:
        (home / "a").mkdir()
        (home / "a" / "claude").symlink_to("/gone")
        assert "is a link to /gone" in not_found(home, {"PATH": str(home / "a")})

    def test_a_project_cannot_bring_its_own_claude(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program(home / "project" / "claude")
        monkeypatch.chdir(home / "project")
        assert "was not found" in not_found(home, {"PATH": f".::{home}/none"})
        assert split_path(".::/bin:bin") == [Path("/bin")]


class TestScripts:
    """Claude Code up to 2.1.1xx is `cli.js`, whose first line asks for node."""

    node_script = "#!/usr/bin/env node\nconsole.log('2.0.71 (Claude Code)')\n"

    def test_node_of_the_path_runs_it(self, home: Path) -> None:
        claude = program(home / "a" / "claude", self.node_script)
        node = program(home / "b" / "node")
        assert found(home, {"PATH": f"{home}/a:{home}/b"}).argv == (str(node), str(claude))

    def test_node_is_found_beside_it_where_the_path_has_none(self, home: Path) -> None:
        bin_folder = home / ".nvm" / "versions" / "node" / "v22.0.0" / "bin"
        script = program(bin_folder.parent / "lib" / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js",
                         self.node_script)  # fmt: skip
        node = program(bin_folder / "node")
        (bin_folder / "claude").symlink_to(script)
        claude = found(home, {"PATH": "/usr/bin-of-a-launcher"})
        assert claude.argv == (str(node), str(bin_folder / "claude"))
        assert claude.child_path == f"/usr/bin-of-a-launcher:{bin_folder}"

    def test_the_node_beside_it_is_preferred(self, home: Path) -> None:
        claude, beside = program(home / "a" / "claude", self.node_script), program(home / "a" / "node")
        program(home / "b" / "node")
        assert found(home, {"PATH": f"{home}/b:{home}/a"}).argv == (str(beside), str(claude))

    def test_node_of_the_login_shell_runs_it(self, home: Path) -> None:
        claude = program(home / ".claude" / "local" / "claude", self.node_script)
        node = program(home / "login" / "node")
        assert found(home, login_path=str(home / "login")).argv == (str(node), str(claude))

    def test_without_node_a_sentence_says_so(self, home: Path) -> None:
        claude = program(home / "a" / "claude", self.node_script)
        assert not_found(home, {"PATH": str(home / "a")}) == (
            f"{claude} needs node, which was not found. Install Node.js, or Claude Code's own native version."
        )

    def test_a_javascript_file_that_is_not_executable_runs_with_node(self, home: Path) -> None:
        script, node = home / "cli.mjs", program(home / "bin" / "node")
        script.write_text("1")
        assert found(home, {"PATH": str(node.parent)}, setting=str(script)).argv == (str(node), str(script))

    def test_options_in_the_first_line_are_kept(self, home: Path) -> None:
        claude = program(home / "claude", "#!/usr/bin/env -S node --no-warnings\n")
        node = program(home / "bin" / "node")
        argv = found(home, {"PATH": str(node.parent)}, setting=str(claude)).argv
        assert argv == (str(node), "--no-warnings", str(claude))

    def test_another_interpreter_that_is_missing_is_named(self, home: Path) -> None:
        claude = program(home / "claude", "#!/nowhere/bash\n")
        assert f"{claude} needs /nowhere/bash, which does not exist." in not_found(home, setting=str(claude))

    def test_a_binary_runs_as_it_is(self, home: Path) -> None:
        claude = home / "claude"
        claude.write_bytes(b"\x7fELF\x00\xff\xfe")
        claude.chmod(0o755)
        assert found(home, setting=str(claude)).argv == (str(claude),)


class TestChildPath:
    def test_nothing_changes_where_path_has_it_all(self, home: Path) -> None:
        claude = program(home / "bin" / "claude")
        assert found(home, {"PATH": f"/usr/bin:{claude.parent}"}).child_path == ""

    def test_the_login_shells_folders_follow_the_own_ones(self, home: Path) -> None:
        claude = program(home / "bin" / "claude")
        path = found(home, {"PATH": "/usr/bin:/bin"}, login_path=f"{claude.parent}:/usr/bin:/opt/x").child_path
        assert path == f"/usr/bin:/bin:{claude.parent}:/opt/x"


NPM_SHIM = r"""@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\TARGET" %*
"""
PNPM_SHIM = r"""@SETLOCAL
@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\TARGET" %*
) ELSE (
  node  "%~dp0\TARGET" %*
)
"""
NATIVE_SHIM = '@ECHO off\r\n"%dp0%\\TARGET"   %*\r\n'


class TestWindows:
    cli_js = r"node_modules\@anthropic-ai\claude-code\cli.js"
    cli_exe = r"node_modules\@anthropic-ai\claude-code\bin\claude.exe"

    def install(self, folder: Path, shim: str, target: str) -> Path:
        path = folder.joinpath(*target.split("\\"))
        program(Path(os.path.normpath(path)), "")
        program(folder / "claude", SH)
        program(folder / "claude.ps1", "")
        return program(folder / "claude.cmd", shim.replace("TARGET", target))

    def argv(self, home: Path, env: Mapping[str, str] | None = None, **options: Any) -> tuple[str, ...]:
        return found(home, env, platform="win32", **options).argv

    @pytest.mark.parametrize("shim", [NPM_SHIM, PNPM_SHIM], ids=["npm", "pnpm"])
    def test_a_batch_shim_becomes_node_and_the_script(self, home: Path, shim: str) -> None:
        npm = home / "AppData" / "Roaming" / "npm"
        self.install(npm, shim, self.cli_js)
        node = program(home / "Program Files" / "nodejs" / "node.exe")
        env = {"PATH": f'{home}/x;"{npm}";{node.parent}'}
        assert self.argv(home, env) == (str(node), str(npm.joinpath(*self.cli_js.split("\\"))))

    def test_a_batch_shim_before_a_native_program_becomes_that(self, home: Path) -> None:
        npm = home / "npm"
        self.install(npm, NATIVE_SHIM, self.cli_exe)
        assert self.argv(home, {"PATH": str(npm)}) == (str(npm.joinpath(*self.cli_exe.split("\\"))),)

    def test_a_local_installation_points_upwards(self, home: Path) -> None:
        target = r"..\@anthropic-ai\claude-code\cli.js"
        shim = self.install(home / "node_modules" / ".bin", NPM_SHIM, target)
        node = program(home / "node_modules" / ".bin" / "node.exe")
        script = home / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js"
        assert self.argv(home, setting=str(shim)) == (str(node), str(script))

    def test_a_native_program_is_preferred(self, home: Path) -> None:
        self.install(home / "bin", NPM_SHIM, self.cli_js)
        native = program(home / "bin" / "claude.exe")
        assert self.argv(home, {"PATH": str(home / "bin")}) == (str(native),)

    @pytest.mark.parametrize("name", ["claude", "claude.exe"])
    def test_a_chosen_path_may_lack_its_suffix(self, home: Path, name: str) -> None:
        native = program(home / "bin" / "claude.exe")
        assert self.argv(home, setting=str(home / "bin" / name)) == (str(native),)

    def test_a_batch_file_with_nothing_behind_it_is_refused(self, home: Path) -> None:
        shim = program(home / "claude.cmd", "@volta run claude %*")
        sentence = not_found(home, platform="win32", setting=str(shim))
        assert f"{shim} is a batch file, and the program behind it was not found." in sentence

    def test_without_node_a_sentence_says_so(self, home: Path) -> None:
        shim = self.install(home / "npm", NPM_SHIM, self.cli_js)
        assert "cli.js needs node, which was not found." in not_found(home, platform="win32", setting=str(shim))

    def test_something_else_is_refused(self, home: Path) -> None:
        script = program(home / "claude.ps1", "")
        assert "is not a program that Windows can run" in not_found(home, platform="win32", setting=str(script))

    @pytest.mark.parametrize(
        ("variable", "below"),
        [
            ("APPDATA", "npm"), ("LOCALAPPDATA", "Volta/bin"), ("LOCALAPPDATA", "Microsoft/WinGet/Links"),
            ("NVM_SYMLINK", ""), ("ProgramFiles", "nodejs"), ("PNPM_HOME", ""), ("BUN_INSTALL", "bin"),
            ("LOCALAPPDATA", "Microsoft/WinGet/Packages/Anthropic.ClaudeCode_Microsoft.Winget.Source_8wekyb3d8bbwe"),
            ("LOCALAPPDATA", "Yarn/bin"), ("LOCALAPPDATA", "pnpm"), ("LOCALAPPDATA", "mise/installs/claude/2.1.332"),
            ("NVM_HOME", "v22.1.0"), ("VOLTA_HOME", "bin"), ("SCOOP", "shims"), ("SCOOP", "persist/nodejs-lts/bin"),
        ],
    )  # fmt: skip
    def test_the_installers_places_are_known(self, home: Path, variable: str, below: str) -> None:
        native = program(home / "elsewhere" / below / "claude.exe")
        assert self.argv(home, {variable: str(home / "elsewhere")}) == (str(native),)

    def test_the_child_path_is_joined_as_windows_does(self, home: Path) -> None:
        native = program(home / ".local" / "bin" / "claude.exe")
        claude = found(home, {"Path": "/a;/b"}, platform="win32")
        assert claude.child_path == f"/a;/b;{native.parent}"


class TestVersion:
    env: ClassVar = {"PATH": os.environ["PATH"]}

    def version(self, home: Path, text: str, timeout: float = 30.0) -> Version:
        return read_version(Claude((str(program(home / "claude", SH + text)),), "settings"), self.env, timeout)

    def broken(self, home: Path, text: str, timeout: float = 30.0) -> ClaudeBroken:
        with pytest.raises(ClaudeBroken) as caught:
            self.version(home, text, timeout)
        return caught.value

    @pytest.mark.parametrize(
        "said", ["2.1.332 (Claude Code)", "2.1.332", "warning: old node\n2.1.332 (Claude Code)", "2.1.332-beta.1"]
    )
    def test_it_is_read(self, home: Path, said: str) -> None:
        version = self.version(home, f'[ "$*" = --version ] && echo "{said}"')
        assert version == (2, 1, 332)
        assert str(version) == "2.1.332"

    @pytest.mark.parametrize("said", ["v22.3.0", "Python 3.11.7", "hello", "", "2.1"])
    def test_another_program_is_recognised(self, home: Path, said: str) -> None:
        assert f"does not seem to be Claude Code: its version is “{said}”" in str(self.broken(home, f"echo '{said}'"))

    def test_a_failure_keeps_what_it_printed(self, home: Path) -> None:
        error = self.broken(home, "echo 'cannot find my library' >&2; exit 1")
        assert str(error).endswith("cannot be used: asked for its version, it failed. (Claude exited (code 1).)")
        assert error.detail == "cannot find my library"

    def test_bin_false_is_broken(self) -> None:
        with pytest.raises(ClaudeBroken, match=r"\(code 1\)"):
            read_version(Claude(("/bin/false",), "settings"), self.env)

    def test_a_cli_that_hangs_is_ended(self, home: Path) -> None:
        started = time.monotonic()
        error = self.broken(home, "trap '' TERM; echo waiting for the network; sleep 600", timeout=0.5)
        assert "did not say its version within 0.5 seconds" in str(error)
        assert error.detail == "waiting for the network"
        assert time.monotonic() - started < 15.0

    def test_a_missing_program_is_a_sentence(self, home: Path) -> None:
        with pytest.raises(ClaudeBroken, match="does not exist"):
            read_version(Claude((str(home / "gone"),), "settings"), self.env)

    def test_a_wrapper_whose_node_is_missing_is_explained(self, home: Path) -> None:
        error = self.broken(home, "echo \"env: 'node': No such file or directory\" >&2; exit 127")
        assert "Claude Code needs node, which was not found." in str(error)

    def test_it_is_not_asked_in_the_apps_folder(self, home: Path) -> None:
        claude = program(home / "claude", SH + 'echo "1.2.3 (Claude Code)"; pwd >&2; exit 9')
        with pytest.raises(ClaudeBroken) as caught:
            read_version(Claude((str(claude),), "settings"), {**self.env, "HOME": str(home)})
        assert str(home) in caught.value.detail

    def test_questions_need_a_version_that_offers_them(self) -> None:
        assert explain_version(MINIMUM_FOR_QUESTIONS) is None
        assert explain_version((2, 1, 0)) is None
        assert explain_version((2, 0, 70)) == (
            "Claude Code 2.0.70 is too old to ask you questions; you can still chat. "
            "Update it to 2.0.71 or newer: claude update"
        )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("env: 'node': No such file or directory", "Node.js"),
        ("env: node: No such file or directory", "Node.js"),
        ("/x/claude: line 2: exec: node: not found", "Node.js"),
        ("Error: Claude Code on Windows requires git-bash (https://git-scm.com/downloads/win).", "Git Bash"),
        ('Claude Code was unable to find CLAUDE_CODE_GIT_BASH_PATH path "C:\\x"', "Git Bash"),
    ],
)
def test_a_missing_part_is_named(text: str, names: str) -> None:
    assert names in (explain_failure(text) or "")


def test_anything_else_is_not_explained_away() -> None:
    assert explain_failure("TypeError: x is not a function") is None


class TestLogin:
    env: ClassVar = {"PATH": os.environ["PATH"]}
    help_text = "echo 'Usage: claude auth'; echo '  status [options]  Show authentication status'"

    def claude(self, home: Path, status: str, help_text: str | None = None) -> Claude:
        text = f'case "$*" in\n"auth --help") {help_text or self.help_text};;\n"auth status") {status};;\n'
        return Claude((str(program(home / "claude", SH + text + "*) exit 66;;\nesac\n")),), "settings")

    def test_signed_in(self, home: Path) -> None:
        status = {"loggedIn": True, "authMethod": "claude.ai", "apiProvider": "firstParty", "email": "a@b.c"}
        status |= {"orgName": "B", "subscriptionType": "max", "accessToken": "secret", "apiKeySource": "none"}
        login = read_login(self.claude(home, f"echo '{json.dumps(status)}'"), self.env)
        assert login.logged_in is True
        assert (login.auth_method, login.api_provider, login.email) == ("claude.ai", "firstParty", "a@b.c")
        assert (login.organization, login.subscription) == ("B", "max")
        assert login.raw == {name: value for name, value in status.items() if name != "accessToken"}

    def test_signed_out_has_exit_code_1(self, home: Path) -> None:
        status = 'echo \'{\n "loggedIn": false,\n "authMethod": "none"\n}\'; exit 1'
        login = read_login(self.claude(home, status), self.env)
        assert login.logged_in is False
        assert login.problem == ""

    def test_an_old_cli_is_not_asked_for_it_would_take_the_words_for_a_prompt(self, home: Path) -> None:
        asked = home / "asked"
        claude = self.claude(home, f"touch '{asked}'", "echo 'Usage: claude [options] [command] [prompt]'")
        assert read_login(claude, self.env).logged_in is None
        assert not asked.exists()

    @pytest.mark.parametrize(
        "status", ["echo hello", "echo '[]'", "echo '{}'", 'echo \'{"loggedIn": "yes"}\'', "exit 1"]
    )
    def test_an_answer_that_is_none_is_a_problem_in_words(self, home: Path, status: str) -> None:
        login = read_login(self.claude(home, status), self.env)
        assert login.logged_in is None
        assert login.problem == "Claude did not say who is signed in."

    def test_a_cli_that_hangs_is_ended(self, home: Path) -> None:
        login = read_login(self.claude(home, "sleep 600"), self.env, timeout=0.7)
        assert login.logged_in is None
        assert login.problem == "Claude did not say who is signed in within 0.7 seconds."

    def test_a_missing_program_is_a_problem_in_words(self, home: Path) -> None:
        login = read_login(Claude((str(home / "gone"),), "settings"), self.env)
        assert login.problem == f"The program {home / 'gone'} does not exist."


class TestLoginShell:
    def path(self, home: Path, shell: str, timeout: float = 30.0) -> str | None:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "SHELL": str(program(home / "shell", SH + shell))}
        return login_shell_path(env, timeout)

    def test_the_real_shell_says_what_its_start_up_files_set(self, home: Path) -> None:
        (home / ".profile").write_text("echo hello from .profile\nexport PATH=/from/profile:/usr/bin:/bin\n")
        env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": "/bin/sh"}
        assert login_shell_path(env, 30.0) == "/from/profile:/usr/bin:/bin"

    def test_noise_around_the_answer_does_not_matter(self, home: Path) -> None:
        shell = 'echo "Welcome __handraise"; export PATH="/a b:/漢:$PATH"; eval "$4"; echo bye'
        path = self.path(home, shell)
        assert path == f"/a b:/漢:{os.environ['PATH']}"

    def test_it_is_an_interactive_login_shell(self, home: Path) -> None:
        assert self.path(home, '[ "$1 $2 $3" = "-i -l -c" ] && eval "$4"') == os.environ["PATH"]

    def test_a_shell_that_hangs_is_given_up(self, home: Path) -> None:
        started = time.monotonic()
        assert self.path(home, "sleep 600", timeout=0.5) is None
        assert time.monotonic() - started < 15.0

    @pytest.mark.parametrize("shell", ["exit 1", "echo no answer", "printf __handraise_path____handraise_path__"])
    def test_a_shell_that_does_not_say_it_gives_none(self, home: Path, shell: str) -> None:
        assert self.path(home, shell) is None

    @pytest.mark.parametrize("shell", ["/nowhere/sh", "sh"])
    def test_a_shell_that_is_none_gives_none(self, shell: str) -> None:
        assert login_shell_path({"SHELL": shell, "PATH": "/bin:/usr/bin"}) is None

    def test_windows_has_none_even_where_git_bash_says_so(self, home: Path) -> None:
        env = {"SHELL": str(program(home / "bash.exe", SH + 'eval "$4"')), "PATH": os.environ["PATH"]}
        assert login_shell_path(env, platform="linux") == os.environ["PATH"]
        assert login_shell_path(env, platform="win32") is None
