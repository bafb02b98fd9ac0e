"""Every recording of the true CLI in the transcript, and one as a person sees it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from protocol.conversation import TextItem, ToolItem, UserItem
from protocol.messages import parse_message
from tests.helpers import recordings
from tests.helpers.transcript import ShownTalk

VERSIONS = sorted({version for version, _scenario in recordings.names()})


def play(talk: ShownTalk, version: str, scenario: str) -> None:
    """Feed a recording line by line, opening every card as soon as it is there."""
    opened: set[str] = set()
    for entry in recordings.load(version, scenario).entries:
        conversation = talk.conversation
        if entry.direction == "in":
            changes = conversation.apply_sent(entry.value, entry.at)
        elif entry.direction == "out":
            changes = conversation.apply(parse_message(entry.value), entry.at)
        else:
            changes = conversation.apply_exit(entry.code)
        talk._seen(changes)
        for item in conversation.items:
            if item.id not in opened:
                opened.add(item.id)
                talk.list.store.open(item, whole=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_all_that_a_cli_said_can_be_shown(qtbot: QtBot, version: str) -> None:
    for scenario in (name for found, name in recordings.names() if found == version):
        talk = ShownTalk(qtbot)
        play(talk, version, scenario)
        shown = talk.all_text
        assert talk.list.transcript.rowCount() == len(talk.conversation.items)
        for item in talk.conversation.items:
            if isinstance(item, UserItem):
                assert item.text.strip() in shown
            elif isinstance(item, TextItem):
                assert item.text.split()[0].strip("#*`") in shown
            elif isinstance(item, ToolItem):
                for _question, answer in item.chosen:
                    assert answer in shown
        assert talk.view is not None
        talk.view.close()


def test_an_answered_question_reads_as_question_and_answer(qtbot: QtBot) -> None:
    talk = ShownTalk(qtbot)
    play(talk, "2.1.332", "ask")
    tool = next(item for item in talk.conversation.items if isinstance(item, ToolItem) and item.chosen)
    card = talk.text(talk.list.transcript.row_of(tool.id))
    assert card.startswith("Question ✓ answered")
    for question, answer in tool.chosen:
        assert f"{question}\n{answer}" in card
