"""The settings file: read tolerantly, written in one step, never lost."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from desktop import files
from desktop.settings.store import Settings, SettingsStore

pytestmark = pytest.mark.logs("^Settings file set aside", "^Settings dropped", "^The settings could not be saved")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_without_a_file_the_defaults_are_in_force_and_nothing_is_written(path: Path) -> None:
    store = SettingsStore(path)
    assert store.settings == Settings()
    assert store.problem is None
    assert not path.exists()


def test_a_change_is_in_the_file_and_the_next_start_reads_it(path: Path) -> None:
    assert SettingsStore(path).change(theme="dark", max_processes=3) is None
    again = SettingsStore(path).settings
    assert (again.theme, again.max_processes) == ("dark", 3)


def test_a_file_that_is_no_json_is_kept_aside_and_said(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"theme": "da', encoding="utf-8")
    store = SettingsStore(path)
    assert store.settings == Settings()
    assert "could not be read" in str(store.problem)
    kept = path.with_name("settings.json.broken")
    assert kept.read_text(encoding="utf-8") == '{"theme": "da'
    assert str(kept) in str(store.problem)


def test_a_second_broken_file_does_not_overwrite_the_first(path: Path) -> None:
    path.parent.mkdir()
    for text in ("one", "two"):
        path.write_text(text, encoding="utf-8")
        SettingsStore(path)
    assert path.with_name("settings.json.broken").read_text(encoding="utf-8") == "one"
    assert path.with_name("settings.json.broken-2").read_text(encoding="utf-8") == "two"


@pytest.mark.parametrize("text", ["[]", "null", "\xff\xfe", "[" * 100_000])
def test_a_file_that_is_no_object_never_keeps_the_window_shut(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    store = SettingsStore(path)
    assert store.settings == Settings()
    assert store.problem is not None


def test_one_bad_value_gets_its_default_and_the_others_are_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"theme": "purple", "max_processes": 900, "language": "zh_TW"}', encoding="utf-8")
    store = SettingsStore(path)
    assert (store.settings.theme, store.settings.max_processes) == ("system", 8)
    assert store.settings.language == "zh_TW"
    assert "max_processes" in str(store.problem)
    assert "theme" in str(store.problem)


def test_a_key_of_a_newer_version_survives_a_change(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"from_the_future": {"a": 1}}', encoding="utf-8")
    SettingsStore(path).change(theme="light")
    assert json.loads(path.read_text(encoding="utf-8"))["from_the_future"] == {"a": 1}


def test_a_value_out_of_range_changes_nothing(path: Path) -> None:
    store = SettingsStore(path)
    with pytest.raises(ValidationError):
        store.change(theme="dark", text_scale=9.0)
    assert store.settings == Settings()
    assert not path.exists()


def test_a_folder_that_cannot_be_written_is_said_and_the_value_still_holds(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file where the folder should be", encoding="utf-8")
    store = SettingsStore(tmp_path / "config" / "settings.json")
    problem = store.change(theme="dark")
    assert problem is not None
    assert "could not be saved" in str(problem)
    assert store.settings.theme == "dark"


def test_trust_is_remembered_for_that_folder_only(path: Path) -> None:
    store = SettingsStore(path)
    store.trust(Path("/home/me/project"))
    assert SettingsStore(path).trusts(Path("/home/me/project"))
    assert not SettingsStore(path).trusts(Path("/home/me"))


def test_listeners_hear_of_each_change(path: Path) -> None:
    store = SettingsStore(path)
    heard: list[str] = []
    store.subscribe(lambda settings: heard.append(settings.theme))
    store.change(theme="dark")
    store.change(theme="light")
    assert heard == ["dark", "light"]


def test_a_write_that_fails_half_way_leaves_the_old_text_and_no_litter(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write_atomically(path, "old")

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(("system", "attempts"), [("nt", 3), ("posix", 1)])
def test_a_file_that_a_virus_scanner_holds_on_windows_is_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, system: str, attempts: int
) -> None:
    tried: list[object] = []
    replace = os.replace

    def refuse_twice(old: str, new: Path) -> None:
        tried.append(new)
        if len(tried) < 3:
            raise PermissionError(13, "The process cannot access the file")
        replace(old, new)

    path.parent.mkdir()
    (path.parent / "new").write_text("new", encoding="utf-8")
    monkeypatch.setattr(files.os, "replace", refuse_twice)
    with contextlib.nullcontext() if system == "nt" else pytest.raises(PermissionError):
        files._replace(str(path.parent / "new"), path, system)
    assert len(tried) == attempts
    assert path.exists() == (system == "nt")


def test_one_that_stays_held_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(files.os, "replace", refuse)
    monkeypatch.setattr(files, "_HELD_SECONDS", 0.05)
    with pytest.raises(PermissionError):
        files._replace("old", path, "nt")


def test_half_an_emoji_is_replaced_and_not_fatal(path: Path) -> None:
    files.write_atomically(path, "a\ud83db")
    assert path.read_text(encoding="utf-8") == "a?b"


def test_what_a_person_typed_is_nobody_elses_to_read(path: Path) -> None:
    files.write_atomically(path, "secret plans")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8") == "secret plans"
