"""Faults of our own: a part that fails does not take the window with it, and is told once."""

from __future__ import annotations

import asyncio

import pytest
from pytestqt.qtbot import QtBot

from desktop.transcript.list_view import TranscriptDelegate
from tests.helpers.desk import texts
from tests.helpers.sitting import Sitting


def test_a_row_that_cannot_be_painted_does_not_end_the_program(
    sitting: Sitting, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("this row cannot be painted")

    async def story() -> None:
        opened = await sitting.begin()
        monkeypatch.setattr(TranscriptDelegate, "paint", fails)
        await sitting.person.send("go")
        await sitting.at_rest()
        sitting.page.transcript.list.viewport().update()
        await asyncio.sleep(0.2)
        monkeypatch.undo()
        sitting.page.transcript.list.viewport().update()
        await asyncio.sleep(0.2)
        assert texts(opened) == ["echo: go"]

    with qtbot.captureExceptions() as caught:
        sitting.play(story)
    assert caught
    assert all("this row cannot be painted" in str(error) for _, error, _ in caught)
