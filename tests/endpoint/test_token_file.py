"""The token's file: made for its owner alone, and refused when others could have read it or put it there."""

from __future__ import annotations

import logging
import os
import re
import stat
import threading
from pathlib import Path

import pytest

from protocol.chat_completions import token_file
from protocol.chat_completions.token_file import TokenError, TokenFile

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_one_is_made_and_read_again(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "folder" / "token")
    token = file.read_or_create()
    assert re.fullmatch("[0-9a-f]{64}", token)
    assert TokenFile(file.path).read_or_create() == token
    assert TokenFile(tmp_path / "other").read_or_create() != token


@posix
def test_only_its_owner_reads_it_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = TokenFile(tmp_path / "folder" / "token")
        file.read_or_create()
        assert (mode(file.path), mode(file.path.parent)) == (0o600, 0o700)
        file.renew()
        assert mode(file.path) == 0o600
        os.umask(0o777)
        other = TokenFile(tmp_path / "other")
        other.read_or_create()
        assert mode(other.path) == 0o600
    finally:
        os.umask(before)


def test_a_renewed_token_is_another_one_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    old = file.read_or_create()
    new = file.renew()
    assert new != old
    assert file.read_or_create() == new
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


def test_renewing_makes_a_missing_one(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    assert file.renew() == file.read_or_create()


@posix
@pytest.mark.parametrize("others", [0o640, 0o604, 0o660, 0o620, 0o644])
def test_what_others_can_read_or_write_is_refused(tmp_path: Path, others: int) -> None:
    file = TokenFile(tmp_path / "token")
    token = file.read_or_create()
    file.path.chmod(others)
    for act in (file.read_or_create, file.renew):
        with pytest.raises(TokenError, match="can be read by other users") as caught:
            act()
        assert str(file.path) in str(caught.value)
        assert token not in str(caught.value)


@posix
def test_a_link_is_refused_wherever_it_leads(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "token"
    TokenFile(target).read_or_create()
    link.symlink_to(target)
    for act in (TokenFile(link).read_or_create, TokenFile(link).renew):
        with pytest.raises(TokenError, match="is a link"):
            act()
    target.unlink()
    with pytest.raises(TokenError, match="is a link"):
        TokenFile(link).read_or_create()
    assert not target.exists(), "a file was made where a link led to"


@posix
def test_a_pipe_or_a_folder_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    for name in ("pipe", "folder"):
        with pytest.raises(TokenError, match=r"is no file|cannot be read"):
            TokenFile(tmp_path / name).read_or_create()


@posix
def test_somebody_elses_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = TokenFile(tmp_path / "token")
    file.read_or_create()
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    with pytest.raises(TokenError, match="belongs to another user"):
        file.read_or_create()


@pytest.mark.parametrize("text", ["", "short", "0" * 63, "g" * 64, "0" * 64 + "1", "é" * 64, "a" * 10_000])
def test_what_is_no_token_of_ours_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(TokenError, match="holds no token") as caught:
        TokenFile(path).read_or_create()
    assert not text or text not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text, "a file that may be anything was overwritten"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TokenError, match=r"cannot be (made|read)"):
        TokenFile(tmp_path / "file" / "token").read_or_create()


def test_so_it_is_where_the_system_finds_no_file_below_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Windows does: only the making of the folder says what is wrong."""
    (tmp_path / "file").write_text("")

    def find_nothing(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "open", find_nothing)
    with pytest.raises(TokenError, match="cannot be made"):
        TokenFile(tmp_path / "file" / "token").read_or_create()


@pytest.mark.parametrize(("system", "attempts"), [("nt", 3), ("posix", 1)])
def test_a_file_that_windows_refuses_for_a_moment_is_asked_for_again(system: str, attempts: int) -> None:
    refusals = [PermissionError(13, "Permission denied")] * 2
    asked: list[str] = []

    def ask() -> str:
        asked.append("again")
        if refusals:
            raise refusals.pop()
        return "the token"

    if system == "nt":
        assert token_file._patiently(ask, system) == "the token"
    else:
        with pytest.raises(PermissionError):
            token_file._patiently(ask, system)
    assert len(asked) == attempts


def test_two_that_start_at_once_agree(tmp_path: Path) -> None:
    for round_number in range(20):
        path, tokens = tmp_path / f"token{round_number}", []
        together = threading.Barrier(4)

        def start(path: Path = path, tokens: list[str] = tokens, together: threading.Barrier = together) -> None:
            together.wait(10)
            tokens.append(TokenFile(path).read_or_create())

        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tokens) == 4
        assert len(set(tokens)) == 1


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    file = TokenFile(tmp_path / "token")
    assert file.read_or_create() == file.read_or_create()
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


def test_it_is_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    file = TokenFile(tmp_path / "token")
    tokens = {file.read_or_create(), file.renew()}
    assert not any(token in caplog.text + repr(file) for token in tokens)
