"""What only Windows runs, on any system: WSL, quoting, Git Bash, and the shells that do not count there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.claude import ClaudeNotFound, find_claude, locating, login_shell_path, places, wsl
from tests.helpers.code_page import with_code_page


class Registry:
    """`winreg` with these distributions; None stands for one without a name, a missing key for no WSL at all."""

    HKEY_CURRENT_USER = "HKCU"

    def __init__(self, *names: str | None, missing: bool = False) -> None:
        self._names = names
        self._missing = missing

    @contextmanager
    def OpenKey(self, root: object, name: str) -> Iterator[object]:
        if self._missing:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        yield name

    def QueryInfoKey(self, key: object) -> tuple[int, int, int]:
        return len(self._names), 0, 0

    def EnumKey(self, key: object, index: int) -> str:
        return str(index)

    def QueryValueEx(self, key: str, name: str) -> tuple[str, int]:
        found = self._names[int(key)]
        if name != "DistributionName" or found is None:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        return found, 1


class TestWsl:
    def test_the_distributions_of_the_user_are_named(self) -> None:
        registry = Registry("Ubuntu-24.04", None, "docker-desktop", "docker-desktop-data", "開發機")
        assert wsl.distributions("win32", registry) == ("Ubuntu-24.04", "開發機")

    def test_without_wsl_there_are_none(self) -> None:
        assert wsl.distributions("win32", Registry(missing=True)) == ()
        assert wsl.distributions("win32", Registry()) == ()

    @pytest.mark.parametrize("platform", ["linux", "darwin"])
    def test_no_other_system_has_any(self, platform: str) -> None:
        assert wsl.distributions(platform, Registry("Ubuntu")) == ()

    def test_the_sentence_names_one_that_windows_cannot_use(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(locating, "distributions", lambda platform: ("Ubuntu",) if platform == "win32" else ())
        with pytest.raises(ClaudeNotFound) as caught:
            find_claude(setting=None, env={}, platform="win32", home=tmp_path)
        assert str(caught.value).startswith(
            "Claude Code was not found on Windows. If it is installed inside WSL (Ubuntu), Windows programs cannot"
        )

    def test_without_wsl_nothing_is_said_about_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(places, "SYSTEM_FOLDERS", ())
        monkeypatch.setattr(locating, "distributions", lambda platform: ())
        with pytest.raises(ClaudeNotFound) as caught:
            find_claude(setting=None, env={}, platform="win32", home=tmp_path)
        assert "WSL" not in str(caught.value)

    @pytest.mark.parametrize(
        "path",
        [
            r"\\wsl$\Ubuntu\home\me\.local\bin\claude",
            r"\\wsl.localhost\Ubuntu\home\me\.local\bin\claude",
            r"\\WSL$\Ubuntu\usr\bin\claude",
            "//wsl$/Ubuntu/usr/bin/claude",
        ],
    )
    def test_one_that_was_chosen_inside_wsl_is_refused_in_words(self, path: str, tmp_path: Path) -> None:
        with pytest.raises(ClaudeNotFound) as caught:
            find_claude(setting=path, env={}, platform="win32", home=tmp_path)
        assert f"{path} lies inside WSL, where Windows programs cannot use it." in str(caught.value)

    @pytest.mark.parametrize("path", [r"C:\wsl$\claude.exe", r"\\server\wsl$\claude.exe", r"\\wslx\share\claude.exe"])
    def test_other_paths_are_not_taken_for_it(self, path: str) -> None:
        assert not wsl.is_in_wsl(path)


def arguments_of(line: str) -> list[str]:
    """A command line as `CommandLineToArgvW` and Microsoft's C library take it apart.

    https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments
    """
    arguments: list[str] = []
    current: list[str] | None = None
    quoted = False
    place = 0
    while place < len(line):
        run = len(line[place:]) - len(line[place:].lstrip("\\"))
        if run:
            place += run
            before_quote = line[place : place + 1] == '"'
            current = [*(current or []), "\\" * (run // 2 if before_quote else run)]
            if before_quote and run % 2:
                current.append('"')
                place += 1
        elif line[place] == '"':
            quoted, current = not quoted, current or []
            place += 1
        elif line[place] in " \t" and not quoted:
            if current is not None:
                arguments.append("".join(current))
            current = None
            place += 1
        else:
            current = [*(current or []), line[place]]
            place += 1
    return arguments if current is None else [*arguments, "".join(current)]


class TestQuoting:
    """Arguments reach a Windows program as one line; whatever is in them must come out as it went in."""

    @pytest.mark.parametrize(
        "argument",
        [
            "", " ", "a b", 'say "hi"', "C:\\Users\\王 小明\\", "C:\\a b\\", "\\\\server\\share\\", '\\"', '"', "\\",
            "a\tb", "two\nlines", "%PATH%", "a&calc.exe", "a|b>c", "^", '{"a": "b\\\\"}', "😀", "'single'",
        ],
    )  # fmt: skip
    def test_awkward_arguments_stay_whole(self, argument: str) -> None:
        words = ["C:\\Program Files\\claude.exe", argument, "--end"]
        assert arguments_of(subprocess.list2cmdline(words)) == words

    @given(st.lists(st.text(alphabet=st.sampled_from('a漢 \t\n"\\&%^'), max_size=8), max_size=4))
    def test_so_do_any_others(self, arguments: list[str]) -> None:
        words = ["claude.exe", *arguments]
        assert arguments_of(subprocess.list2cmdline(words)) == words


def test_git_bashs_own_shell_says_nothing_about_windows() -> None:
    """`SHELL=/usr/bin/bash` is what Git Bash sets; the registry, not a start-up file, has the PATH there."""
    assert login_shell_path({"SHELL": "/bin/sh", "PATH": os.environ["PATH"]}, platform="win32") is None


PYTHONS_MANIFEST = """<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <application xmlns="urn:schemas-microsoft-com:asm.v3">
    <windowsSettings>
      <longPathAware xmlns="http://schemas.microsoft.com/SMI/2016/WindowsSettings">true</longPathAware>
    </windowsSettings>
  </application>
</assembly>"""


class TestCodePage:
    """The Python of the tests that speaks another language: what its manifest asks of Windows."""

    def test_the_manifest_asks_for_it_and_for_all_that_it_asked_before(self) -> None:
        settings = ElementTree.fromstring(with_code_page(PYTHONS_MANIFEST, "zh-CN"))[0][0]
        asked = {entry.tag: entry.text for entry in settings}
        assert asked == {
            "{http://schemas.microsoft.com/SMI/2016/WindowsSettings}longPathAware": "true",
            "{http://schemas.microsoft.com/SMI/2019/WindowsSettings}activeCodePage": "zh-CN",
        }

    def test_one_that_asks_already_or_has_no_settings_is_refused(self) -> None:
        for manifest in ("<assembly/>", with_code_page(PYTHONS_MANIFEST, "zh-CN")):
            with pytest.raises(ValueError, match="not one of Python's"):
                with_code_page(manifest, "ja-JP")


class TestShims:
    """Which program is run, from what npm and others lay into a folder of PATH. More in test_claude_locating."""

    def argv(self, home: Path, env: dict[str, str], **options: Any) -> tuple[str, ...]:
        return find_claude(setting=None, env=env, platform="win32", home=home, **options).argv

    def put(self, path: Path, text: str = "") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_a_home_with_spaces_and_chinese_characters(self, tmp_path: Path) -> None:
        npm = tmp_path / "王 小明" / "AppData" / "Roaming" / "npm"
        script = self.put(npm / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js")
        node = self.put(tmp_path / "Program Files" / "nodejs" / "node.exe")
        self.put(npm / "claude.cmd", '@"%~dp0\\node_modules\\@anthropic-ai\\claude-code\\cli.js" %*\r\n')
        env = {"Path": str(npm), "ProgramFiles": str(tmp_path / "Program Files")}
        assert self.argv(tmp_path, env) == (str(node), str(script))

    def test_an_entry_of_path_may_be_quoted(self, tmp_path: Path) -> None:
        native = self.put(tmp_path / "a b" / "claude.exe")
        assert self.argv(tmp_path, {"PATH": f'"{native.parent}";'}) == (str(native),)

    def test_the_native_installer_is_preferred_to_an_old_shim_that_leads_nowhere(self, tmp_path: Path) -> None:
        shim = self.put(tmp_path / "npm" / "claude.cmd", '@"%~dp0\\node_modules\\gone\\cli.js" %*\r\n')
        native = self.put(tmp_path / ".local" / "bin" / "claude.exe")
        assert self.argv(tmp_path, {"PATH": str(shim.parent)}) == (str(native),)

    def test_a_shim_that_leads_to_another_is_followed(self, tmp_path: Path) -> None:
        """As `yarn global add` lays them."""
        yarn = tmp_path / "AppData" / "Local" / "Yarn"
        modules = yarn / "Data" / "global" / "node_modules"
        script = self.put(modules / "@anthropic-ai" / "claude-code" / "cli.js")
        node = self.put(tmp_path / "nodejs" / "node.exe")
        self.put(modules / ".bin" / "claude.cmd", '@node  "%~dp0\\..\\@anthropic-ai\\claude-code\\cli.js" %*\r\n')
        self.put(
            yarn / "bin" / "claude.cmd", '@"%~dp0\\..\\Data\\global\\node_modules\\.bin\\claude.cmd"   %*\r\n'
        )
        env = {"PATH": str(node.parent), "LOCALAPPDATA": str(yarn.parent)}
        assert self.argv(tmp_path, env) == (str(node), str(script))

    def test_shims_that_lead_to_each_other_are_no_endless_search(self, tmp_path: Path) -> None:
        first = self.put(tmp_path / "a" / "claude.cmd", '@"%~dp0\\..\\b\\claude.cmd" %*\r\n')
        self.put(tmp_path / "b" / "claude.cmd", '@"%~dp0\\..\\a\\claude.cmd" %*\r\n')
        with pytest.raises(ClaudeNotFound, match="is a batch file, and the program behind it was not found"):
            self.argv(tmp_path, {"PATH": str(first.parent)})

    def test_voltas_shim_names_no_program_and_what_it_leads_to_is_found(self, tmp_path: Path) -> None:
        volta = tmp_path / "AppData" / "Local" / "Volta"
        self.put(volta / "bin" / "claude.cmd", "@echo off\r\nvolta run claude %*\r\n")
        package = volta / "tools" / "image" / "packages" / "@anthropic-ai" / "claude-code"
        program = self.put(package / "node_modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe")
        target = "node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"
        self.put(package / "claude.cmd", f'@ECHO off\r\n"%dp0%\\{target}"   %*\r\n')
        env = {"PATH": str(volta / "bin"), "LOCALAPPDATA": str(volta.parent)}
        assert self.argv(tmp_path, env) == (str(program),)
