"""The log file: for nobody else's eyes, and no larger than it may be."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import logs


@pytest.fixture
def log_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(logs, "MAX_BYTES", 1000)
    before = logging.getLogger().level
    path = logs.set_up({"HANDRAISE_LOG": str(tmp_path / "a" / "log.txt")})
    assert path is not None
    yield path
    logs.close()
    logging.getLogger().setLevel(before)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_every_file_of_the_log_is_for_its_owner_alone(log_file: Path) -> None:
    before = os.umask(0o022)
    try:
        for number in range(100):
            logging.getLogger("handraise.test").info("line %d of a long story", number)
    finally:
        os.umask(before)
    files = sorted(log_file.parent.iterdir())
    assert len(files) == logs.KEPT + 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_traffic_is_only_logged_where_it_was_asked_for() -> None:
    assert logs.wire_log({}) is None
    assert logs.wire_log({"HANDRAISE_LOG_WIRE": "0"}) is None
    assert logs.wire_log({"HANDRAISE_LOG_WIRE": "1"}) is not None
