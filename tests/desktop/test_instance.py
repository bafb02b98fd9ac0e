"""One window for one set of folders: settings and drafts have one writer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desktop.instance import SingleInstance, Wish


def test_one_config_folder_has_one_window_at_a_time(tmp_path: Path) -> None:
    first, second = SingleInstance(tmp_path / "config"), SingleInstance(tmp_path / "config")
    assert first.claim()
    assert not second.claim()
    assert (second.is_taken, second.can_be_told, second.other_pid()) == (True, True, os.getpid())
    first.release()
    assert second.claim()
    second.release()


def test_windows_with_settings_of_their_own_do_not_share_a_folder_of_drafts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first, second = SingleInstance(tmp_path / "one", data), SingleInstance(tmp_path / "two", data)
    assert first.claim()
    assert not second.claim()
    assert (second.is_taken, second.can_be_told, second.other_pid()) == (True, False, os.getpid())
    other = SingleInstance(tmp_path / "two", tmp_path / "more")
    assert other.claim()
    for instance in (first, second, other):
        instance.release()


def test_a_data_folder_that_cannot_be_made_keeps_no_window_from_opening(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    instance = SingleInstance(tmp_path / "config", tmp_path / "file" / "data")
    assert instance.claim()
    instance.release()


@pytest.mark.parametrize("wish", [Wish(), Wish("/tmp/工作 folder"), Wish("/a", "activation-token")])
def test_a_wish_arrives_as_it_was(wish: Wish) -> None:
    assert Wish.decode(wish.encode()) == wish


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"folder": 1}', b'{"token": []}', b"\xff"])
def test_what_is_no_wish_is_none(data: bytes) -> None:
    assert Wish.decode(data) is None


def test_a_start_of_an_older_version_is_understood() -> None:
    assert Wish.decode(b'{"folder": "/a"}') == Wish("/a")
