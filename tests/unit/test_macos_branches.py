"""What only macOS runs, on any system: the Finder's environment, the login shell, the Keychain."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from desktop.conversations.notices import SIGN_IN, login_unreadable
from protocol.claude import Claude, explain_failure, find_claude, login_shell_path, places, read_login

FINDERS_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
"""What launchd gives to a program that the Finder or the Dock starts."""

needs_sh = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are shell scripts")


def program(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@needs_sh
class TestFinder:
    def test_homebrews_claude_is_found_without_its_folder_in_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        brew = program(tmp_path / "opt" / "homebrew" / "bin" / "claude")
        monkeypatch.setattr(places, "SYSTEM_FOLDERS", (str(brew.parent),))
        claude = find_claude(setting=None, env={"PATH": FINDERS_PATH}, platform="darwin", home=tmp_path)
        assert (claude.argv, claude.source) == ((str(brew),), "known place")
        assert claude.child_path == f"{FINDERS_PATH}:{brew.parent}"

    def test_the_login_shell_finds_what_lies_anywhere_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(places, "SYSTEM_FOLDERS", ())
        mine = program(tmp_path / "我的 工具" / "claude")
        shell = program(tmp_path / "zsh", f'echo "Last login: today"; export PATH="{mine.parent}:$PATH"; eval "$4"')
        env = {"PATH": FINDERS_PATH, "SHELL": str(shell), "HOME": str(tmp_path)}
        login_path = login_shell_path(env, 30.0, "darwin")
        assert login_path == f"{mine.parent}:{FINDERS_PATH}"
        claude = find_claude(setting=None, env=env, platform="darwin", home=tmp_path, login_path=login_path)
        assert (claude.argv, claude.source) == ((str(mine),), "login shell")


def shell_program(name: str) -> str:
    """The path of a shell; skips without it, unless HANDRAISE_REQUIRE_SHELLS=1 wants that to be a failure."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("HANDRAISE_REQUIRE_SHELLS") == "1":
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed")
    return found


@needs_sh
@pytest.mark.parametrize(
    ("shell", "file", "text"),
    [
        ("bash", ".bash_profile", 'export PATH="$HOME/my tools:$PATH"'),
        ("zsh", ".zprofile", 'eval "$(helper)"'),
        ("zsh", ".zshrc", 'path=("$HOME/my tools" $path)'),
        ("fish", ".config/fish/config.fish", 'set -gx PATH "$HOME/my tools" $PATH'),
        ("tcsh", ".tcshrc", 'setenv PATH "$HOME/my tools:$PATH"'),
    ],
)
def test_what_a_real_shells_own_file_says_is_found_from_the_dock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, file: str, text: str
) -> None:
    """`helper` does what macOS' `path_helper` does: it prints a line that sets PATH."""
    monkeypatch.setattr(places, "SYSTEM_FOLDERS", ())
    home = tmp_path / "王 小明"
    claude = program(home / "my tools" / "claude")
    helper = program(tmp_path / "helper", f"echo 'PATH=\"{home}/my tools:{FINDERS_PATH}\"; export PATH;'")
    started = home / file
    started.parent.mkdir(parents=True, exist_ok=True)
    started.write_text(text.replace("helper", f"'{helper}'") + "\n", encoding="utf-8")
    env = {"PATH": FINDERS_PATH, "SHELL": shell_program(shell), "HOME": str(home), "LC_ALL": "C.UTF-8"}
    login_path = login_shell_path(env, 60.0, "darwin") or ""
    assert login_path.split(":")[0] == str(claude.parent)
    found = find_claude(setting=None, env=env, platform="darwin", home=home, login_path=login_path)
    assert found.argv == (str(claude),)


class TestKeychain:
    @pytest.mark.parametrize(
        "text",
        [
            # of the CLI
            "Claude Code could not read the macOS keychain, so a saved sign-in may still be there. The keychain may be "
            "locked. Unlock it, for example with `security unlock-keychain`, then try again.",
            "Failed to refresh OAuth token: can't save to the Keychain. If locked, run `security unlock-keychain`.",
            "Couldn't save your login. If your Mac's keychain is locked, unlock it and log in again.",
            # of macOS' own program, which the CLI calls
            "security: SecKeychainItemCopyContent: User interaction is not allowed.",
            "SecItemCopyMatching failed: errSecInteractionNotAllowed (-25308)",
        ],
    )
    def test_a_refusal_is_named(self, text: str) -> None:
        assert (explain_failure(text) or "").startswith("The macOS Keychain did not let Claude read or save its login.")

    @pytest.mark.parametrize("text", ["No OAuth token in keychain", "auth: token found via keychain re-check"])
    def test_other_words_about_it_are_none(self, text: str) -> None:
        assert explain_failure(text) is None

    @needs_sh
    def test_a_login_that_it_kept_back_is_not_taken_for_none(self, tmp_path: Path) -> None:
        status = json.dumps({"loggedIn": False, "authMethod": "none"})
        claude = program(
            tmp_path / "claude",
            'case "$*" in\n"auth --help") echo "  status  Show authentication status";;\n'
            f"\"auth status\") echo '{status}'; echo 'The keychain may be locked.' >&2; exit 1;;\nesac",
        )
        login = read_login(Claude((str(claude),), "settings"), {"PATH": os.environ["PATH"]})
        assert login.logged_in is False
        assert login.problem.startswith("The macOS Keychain")
        notice = login_unreadable(login.problem)
        assert str(notice.text) == login.problem
        assert [action.name for action in notice.actions] == ["restart", SIGN_IN.name]
