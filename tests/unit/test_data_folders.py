"""Where Handraise keeps its files on each system, asked on any of them."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs.windows
import pytest

from desktop import paths

NOTHING: dict[str, str] = {}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a space and Chinese characters in its name, and no other word about where files go."""
    folder = tmp_path / "王 小明"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.mark.skipif(os.name == "nt", reason="a folder with a drive is none for XDG")
class TestLinux:
    def test_the_usual_places(self, home: Path) -> None:
        assert paths.config_dir(NOTHING, "linux") == home / ".config" / "handraise"
        assert paths.data_dir(NOTHING, "linux") == home / ".local" / "share" / "handraise"
        assert paths.log_file(NOTHING, "linux") == home / ".local" / "state" / "handraise" / "log" / "handraise.log"

    def test_xdg_variables_put_them_elsewhere(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, folder in {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "s"}.items():
            monkeypatch.setenv(name, str(home / folder))
        assert paths.config_dir(NOTHING, "linux") == home / "c" / "handraise"
        assert paths.data_dir(NOTHING, "linux") == home / "d" / "handraise"
        assert paths.log_file(NOTHING, "linux") == home / "s" / "handraise" / "log" / "handraise.log"

    def test_an_empty_variable_counts_as_none(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", "")
        assert paths.config_dir(NOTHING, "linux") == home / ".config" / "handraise"

    def test_a_relative_one_too_as_the_specification_says(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", "settings")
        assert paths.config_dir(NOTHING, "linux") == home / ".config" / "handraise"


class TestMacOs:
    def test_settings_and_data_share_a_folder_and_the_log_is_with_the_logs(self, home: Path) -> None:
        support = home / "Library" / "Application Support" / "handraise"
        assert paths.config_dir(NOTHING, "darwin") == support
        assert paths.data_dir(NOTHING, "darwin") == support
        assert paths.log_file(NOTHING, "darwin") == home / "Library" / "Logs" / "handraise" / "handraise.log"

    def test_a_start_from_a_terminal_has_the_settings_of_a_start_from_the_dock(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(home / "xdg"))
        self.test_settings_and_data_share_a_folder_and_the_log_is_with_the_logs(home)


class TestWindows:
    @pytest.fixture(autouse=True)
    def known_folders(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What Windows answers when it is asked for its known folders."""
        known = {"CSIDL_LOCAL_APPDATA": str(home / "AppData" / "Local"), "CSIDL_APPDATA": str(home / "Roaming")}
        monkeypatch.setattr(platformdirs.windows, "get_win_folder", known.__getitem__)

    def test_everything_is_local_and_nothing_roams_to_other_computers(self, home: Path) -> None:
        local = home / "AppData" / "Local" / "handraise"
        assert paths.config_dir(NOTHING, "win32") == local
        assert paths.data_dir(NOTHING, "win32") == local
        assert paths.log_file(NOTHING, "win32") == local / "Logs" / "handraise.log"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_own_variables_come_first_everywhere(platform: str, tmp_path: Path) -> None:
    env = {"HANDRAISE_CONFIG_DIR": str(tmp_path / "c"), "HANDRAISE_DATA_DIR": str(tmp_path / "d")}
    assert paths.config_dir(env, platform) == tmp_path / "c"
    assert paths.data_dir(env, platform) == tmp_path / "d"
    assert paths.log_file(env, platform) == tmp_path / "d" / "handraise.log"


@pytest.mark.skipif(os.name == "nt", reason="a folder with a drive is none for XDG")
def test_the_read_me_names_the_folders_that_are_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs.windows, "get_win_folder", lambda _: "%LOCALAPPDATA%")
    read_me = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    rows = [line for line in read_me.splitlines() if line.startswith(("| settings |", "| drafts, ", "| log |"))]
    cells = [row.strip("| ").split(" | ") for row in rows]

    def named(folder: Path) -> str:
        return f"`{str(folder).replace(str(home), '~').replace(os.sep, '/')}`"

    for column, platform in enumerate(("linux", "darwin", "win32"), 1):
        used = [paths.config_dir(NOTHING, platform), paths.data_dir(NOTHING, platform)]
        used.append(paths.log_file(NOTHING, platform).parent)
        assert [cell[column].replace("\\", "/") for cell in cells] == [named(folder) for folder in used]
