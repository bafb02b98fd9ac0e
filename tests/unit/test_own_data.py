"""What Handraise leaves on the disk goes as a whole, and nothing that is not Handraise's goes with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.own_data import OwnData, claudes_own, remove_at_end

OWN = (
    "config/settings.json", "config/settings.json.broken", "config/settings.json.broken-2",
    "config/.settings.json.x1.new", "config/window.ini", "config/instance.lock", "data/local-api-token",
    "data/.local-api-token.0a.new", "data/crash.log", "data/instance.lock", "data/drafts/0a.json",
    "data/drafts/0b.json.broken", "data/drafts/0c.image", "data/drafts/.0a.json.x.new", "data/local-api/00.json",
    "data/handraise.log", "data/handraise.log.1", "data/handraise.log.3",
)  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> OwnData:
    for name in OWN:
        put(tmp_path / name)
    return OwnData(tmp_path / "config", tmp_path / "data", tmp_path / "data" / "handraise.log")


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x", encoding="utf-8")
    return path


def test_all_of_it_goes_with_its_folders(own: OwnData, tmp_path: Path) -> None:
    assert sorted(own.files()) == sorted(tmp_path / name for name in OWN)
    assert own.remove() == []
    assert list(tmp_path.iterdir()) == []


def test_where_there_is_nothing_nothing_is_made(tmp_path: Path) -> None:
    own = OwnData(tmp_path / "a" / "config", tmp_path / "b", tmp_path / "c" / "handraise.log")
    assert own.remove() == []
    assert list(tmp_path.iterdir()) == []


def test_what_others_put_there_stays(own: OwnData, tmp_path: Path) -> None:
    """`HANDRAISE_DATA_DIR` may be somebody's documents."""
    others = [
        put(tmp_path / name)
        for name in ("data/letter.txt", "data/drafts/novel.odt", "config/my.json", "data/handraise.log.old")
    ]
    assert own.remove() == []
    assert all(path.is_file() for path in others)
    assert not any((tmp_path / name).exists() for name in OWN)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_are_not_followed(own: OwnData, tmp_path: Path) -> None:
    elsewhere = put(tmp_path / "elsewhere" / "0a.json")
    for path in (tmp_path / "data" / "drafts").iterdir():
        path.unlink()
    (tmp_path / "data" / "drafts").rmdir()
    (tmp_path / "data" / "drafts").symlink_to(elsewhere.parent)
    (tmp_path / "config" / "window.ini").unlink()
    (tmp_path / "config" / "window.ini").symlink_to(elsewhere)
    assert own.remove() == []
    assert elsewhere.is_file()
    assert not os.path.lexists(tmp_path / "config" / "window.ini")


@pytest.mark.parametrize("below", ["state/handraise/log", "Library/Logs/handraise", "Local/handraise/Logs"])
def test_the_logs_own_folders_go_too(tmp_path: Path, below: str) -> None:
    log = put(tmp_path / below / "handraise.log")
    OwnData(tmp_path / "no config", tmp_path / "no data", log).remove()
    assert not any(path.name == "handraise" for path in tmp_path.rglob("*"))


def test_a_folder_that_was_named_for_the_log_alone_stays(tmp_path: Path) -> None:
    log = put(tmp_path / "mine" / "handraise.log")
    OwnData(tmp_path / "no config", tmp_path / "no data", log).remove()
    assert list((tmp_path / "mine").iterdir()) == []


def test_what_cannot_be_removed_is_named(own: OwnData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def fail(path: Path, missing_ok: bool = False) -> None:
        if path.name == "handraise.log":
            raise PermissionError(13, "It is open in another program")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", fail)
    assert own.remove() == [f"{tmp_path / 'data' / 'handraise.log'}: It is open in another program"]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["handraise.log"]


def test_it_goes_when_the_program_has_ended_and_not_before(own: OwnData) -> None:
    at_end: list[Callable[[], None]] = []
    remove_at_end(own, at_end.append)
    assert len(list(own.files())) == len(OWN)
    at_end[0]()
    assert list(own.files()) == []


def test_folders_are_named_once(tmp_path: Path) -> None:
    assert OwnData(tmp_path, tmp_path, tmp_path / "Logs" / "x.log").folders() == (tmp_path, tmp_path / "Logs")


def test_claudes_own_folder_is_named_as_claude_finds_it(tmp_path: Path) -> None:
    assert claudes_own({"CLAUDE_CONFIG_DIR": str(tmp_path)}) == tmp_path
    assert claudes_own({}) == Path.home() / ".claude"
