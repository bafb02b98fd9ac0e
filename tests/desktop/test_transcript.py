"""The transcript: what is laid out, where it stays, and how it streams."""

from __future__ import annotations

import gc
import random
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop.transcript import TranscriptModel, TranscriptView
from desktop.transcript.flow import MarkdownRow
from desktop.transcript.model import ITEM_ROLE
from desktop.transcript.row_store import KEPT_ROWS
from protocol.conversation import Conversation, TextItem
from protocol.messages import parse_message
from tests.helpers.cli_says import assistant, block_start, message_start, text_delta, tool_result, tool_use
from tests.helpers.transcript import ShownTalk

PARAGRAPHS = "\n\n".join(f"Paragraph {number} with some words in it." for number in range(40))


@pytest.fixture
def talk(qtbot: QtBot) -> ShownTalk:
    return ShownTalk(qtbot)


# The model


def test_each_item_is_a_row_with_its_role_and_words_for_screen_readers(talk: ShownTalk) -> None:
    talk.user("Please **look**.")
    talk.says("I *looked*.")
    model = talk.list.transcript
    spoken = [model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    assert spoken == ["You: Please **look**. (Sent)", "Claude: I *looked*."] or spoken == [
        "You: Please **look**.", "Claude: I *looked*.",
    ]  # fmt: skip
    assert isinstance(model.index(1).data(ITEM_ROLE), TextItem)


def test_a_model_of_a_conversation_that_has_begun_shows_all_of_it() -> None:
    conversation = Conversation()
    conversation.apply(parse_message(assistant("one", message_id="a")))
    conversation.apply(parse_message(assistant("two", message_id="b")))
    assert TranscriptModel(conversation).rowCount() == 2


def test_another_conversation_replaces_the_first_from_its_end(talk: ShownTalk, qtbot: QtBot) -> None:
    talk.says("old")
    other = Conversation()
    other.apply(parse_message(assistant(PARAGRAPHS)))
    assert talk.view is not None
    talk.view.set_conversation(other)
    talk.settle()
    assert talk.all_text.startswith("Paragraph 0")
    assert talk.bar.value() == talk.bar.maximum() > 0


def test_what_a_subagent_does_stands_below_its_call_whenever_it_comes(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("a", "Task", description="first"), tool_use("b", "Task", description="second")))
    talk.cli(assistant("from a", message_id="x", parent="a"), assistant("from b", message_id="y", parent="b"))
    talk.cli(assistant("more from a", message_id="z", parent="a"))
    talk.cli(assistant("main", message_id="w"))
    model = talk.list.transcript
    order = [getattr(model.item(row), "text", getattr(model.item(row), "tool_use_id", "")) for row in range(6)]
    assert order == ["a", "from a", "more from a", "b", "from b", "main"]


# Staying where the person is


def test_new_text_keeps_the_bottom_in_sight(talk: ShownTalk) -> None:
    talk.begins_to_say(PARAGRAPHS)
    for _piece in range(20):
        talk.goes_on("\n\nAnd some more words.")
        assert talk.bar.value() == talk.bar.maximum()
    assert talk.list.following


def test_someone_who_scrolled_up_is_left_alone(talk: ShownTalk) -> None:
    talk.begins_to_say(PARAGRAPHS)
    talk.bar.setValue(100)
    for _piece in range(20):
        talk.goes_on("\n\nAnd some more words.")
    assert talk.bar.value() == 100
    assert talk.bar.maximum() > 700


def test_what_is_read_stays_in_place_when_something_above_changes_its_height(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "TodoWrite", todos=[{"content": "one", "status": "pending"}]), message_id="a"))
    talk.says(PARAGRAPHS)
    talk.bar.setValue(400)
    before = talk.list.top_of(1)
    many = [{"content": f"todo {number}", "status": "pending"} for number in range(20)]
    item = talk.tool
    item.input = {"todos": many}
    talk.cli(tool_result("t1"))
    assert talk.list.top_of(1) == before
    assert talk.list.heights[0] > 300


def test_a_button_leads_back_to_the_latest_message(talk: ShownTalk, qtbot: QtBot) -> None:
    talk.says(PARAGRAPHS)
    button = talk.view.findChild(QPushButton, "jumpToLatest")  # type: ignore[union-attr]
    assert button is not None
    assert not button.isVisible()
    talk.bar.setValue(0)
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert talk.bar.value() == talk.bar.maximum()
    assert not button.isVisible()


def test_scrolling_up_through_rows_that_were_never_laid_out_moves_by_what_was_asked(qtbot: QtBot) -> None:
    conversation = Conversation()
    for number in range(300):
        text = f"Message {number}: " + "words " * ((number * 37) % 200) + "\n\n- item\n" * (number % 5)
        conversation.apply(parse_message(assistant(text, message_id=f"m{number}")))
    view = TranscriptView(conversation)
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    qtbot.waitExposed(view)
    random.seed(7)
    for _step in range(80):
        rows = view.list
        index = rows.row_at(300)
        before, step = rows.top_of(index), random.randint(20, 250)
        rows.verticalScrollBar().setValue(rows.verticalScrollBar().value() - step)
        assert rows.top_of(index) == before + step


def test_a_narrower_window_keeps_the_message_that_is_read(talk: ShownTalk) -> None:
    talk.says(*(f"Message {number}. " + "words and more words " * 30 for number in range(30)))
    talk.bar.setValue(talk.bar.maximum() // 2)
    index = talk.list.row_at(0)
    talk.view.resize(480, 600)  # type: ignore[union-attr]
    talk.settle()
    assert talk.list.row_at(0) in (index, index + 1)
    left, width = talk.list.column()
    assert left + width <= 480


def test_the_column_is_760_wide_and_in_the_middle(qtbot: QtBot) -> None:
    talk = ShownTalk(qtbot, width=1300)
    left, width = talk.list.column()
    assert width == 760
    assert abs(left - (talk.list.width() - 760) // 2) <= 1


# Work


def test_a_change_lays_out_only_the_item_that_changed(talk: ShownTalk) -> None:
    talk.says(*(f"Message {number}" for number in range(8)))
    talk.begins_to_say("streams")
    rows = [talk.row(index) for index in range(9)]
    made = talk.list.store.made
    segments = [row.segments[0] for row in rows]
    talk.goes_on(" on")
    assert talk.list.store.made == made
    assert [talk.row(index).segments[0] for index in range(8)] == segments[:8]
    assert talk.text() == "streams on"


def test_settled_paragraphs_of_a_message_are_not_made_again_while_it_streams(talk: ShownTalk) -> None:
    talk.begins_to_say("# Title\n\nFirst.\n\nSecond.\n\nThird")
    before = list(talk.row(-1).segments)
    talk.goes_on(" goes on\n\nFourth")
    after = talk.row(-1).segments
    assert after[:3] == before[:3]
    assert talk.text() == "Title\n\nFirst.\n\nSecond.\n\nThird goes on\n\nFourth"


def test_of_ten_thousand_messages_only_those_in_sight_are_made(qtbot: QtBot) -> None:
    conversation = Conversation()
    for number in range(10_000):
        conversation.apply(parse_message(assistant(f"Message {number}\n\nwith **words**", message_id=f"m{number}")))
    view = TranscriptView(conversation)
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    qtbot.waitExposed(view)
    assert view.list.store.made < 40
    started = time.thread_time()
    for number in range(20):
        view.apply_changes(conversation.apply(parse_message(assistant("more", message_id=f"x{number}"))))
        view.flush()
    assert (time.thread_time() - started) / 20 < 0.05
    for value in range(0, view.list.verticalScrollBar().maximum(), view.list.verticalScrollBar().maximum() // 100):
        view.list.verticalScrollBar().setValue(value)
    assert len(view.list.store) <= KEPT_ROWS


def test_a_transcript_that_nobody_sees_is_laid_out_when_it_is_seen(talk: ShownTalk, qtbot: QtBot) -> None:
    view = talk.view
    assert view is not None
    talk.begins_to_say("Some words")
    view.hide()
    made = talk.list.store.made
    for _piece in range(5):
        view.apply_changes(talk.conversation.apply(parse_message(text_delta("\n\nmore words"))))
        view.apply_changes(talk.conversation.notice("info", "Stopped."))
        qtbot.wait(50)
    assert talk.list.store.made == made
    view.show()
    qtbot.waitUntil(lambda: talk.list.store.made > made)
    assert talk.text(0).endswith("more words")
    assert talk.list.following


def test_rows_that_come_and_go_in_one_batch_leave_nothing(talk: ShownTalk) -> None:
    changes = talk.conversation.apply(parse_message(assistant("kept", message_id="a")))
    changes += talk.conversation.notice("info", "Stopped.")
    assert talk.view is not None
    talk.view.apply_changes(changes)
    talk.view.flush()
    assert talk.view.model.rowCount() == len(talk.conversation.items) == 2


def test_a_cleared_conversation_is_empty(talk: ShownTalk) -> None:
    talk.says("one", "two")
    talk.cli({"type": "conversation_reset", "session_id": "s2"})
    assert "one" not in talk.all_text


@pytest.mark.parametrize(
    "text",
    ["words and more words, " * 4500, "```python\n" + "value = compute(1, 2)  # so\n" * 3600,
     "| a | b |\n|--|--|\n" + "| cell | other |\n" * 5900, "- item with words\n" * 5500],
    ids=["one paragraph", "one fence", "one table", "one list"],
)
def test_100_kb_at_once_hold_the_window_up_for_no_noticeable_time(talk: ShownTalk, text: str) -> None:
    talk.begins_to_say("")
    gc.collect()
    gc.disable()
    try:
        turns = _turns(talk, text)
    finally:
        gc.enable()
    assert max(turns) < sum(turns) / 4  # in milliseconds: tests/benchmarks/transcript.py
    assert isinstance(talk.row(-1), MarkdownRow)


def _turns(talk: ShownTalk, text: str) -> list[float]:
    """CPU seconds of each turn of the event loop while a text arrives in large pieces."""
    turns = []
    for at in range(0, len(text), 5000):
        started = time.thread_time()
        changes = talk.conversation.apply(parse_message(text_delta(text[at : at + 5000])))
        talk.view.apply_changes(changes)  # type: ignore[union-attr]
        talk.view.flush()  # type: ignore[union-attr]
        turns.append(time.thread_time() - started)
    while talk.list.busy:
        started = time.thread_time()
        talk.list._read_on()
        turns.append(time.thread_time() - started)
    return turns


def on_screen(view: TranscriptView) -> QImage:
    """What the window's surface holds."""
    picture = QGuiApplication.primaryScreen().grabWindow(view.winId()).toImage()
    return picture.convertToFormat(QImage.Format.Format_RGB32)


def painted(view: TranscriptView) -> QImage:
    """The view, painted whole."""
    return view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def test_what_is_moved_on_the_screen_looks_as_if_it_had_been_painted(talk: ShownTalk, qtbot: QtBot) -> None:
    view = talk.view
    assert view is not None
    talk.begins_to_say("")
    text = "\n\n".join(["Some **words** and `code`.", "- a list\n- of things", "```py\nx = 1\n```", "> quoted"] * 12)
    random.seed(3)
    at = 0
    while at < len(text):
        size = random.choice([4, 10, 40])
        talk.goes_on(text[at : at + size])
        at += size
        if random.random() < 0.15:
            talk.bar.setValue(talk.bar.value() + random.choice([-300, -40, -7, 25, 90, 10_000]))
        if random.random() < 0.1:
            qtbot.waitUntil(lambda: on_screen(view) == painted(view), timeout=2000)


def test_a_message_that_starts_again_with_other_words_is_shown_anew(talk: ShownTalk) -> None:
    talk.cli(message_start(), block_start(0), text_delta("Wrong **start**"))
    item = talk.only(TextItem)
    item.text = "Other words"
    talk.view.list.show_changes([item.id])  # type: ignore[union-attr]
    assert talk.text() == "Other words"


def test_an_entry_that_cannot_be_shown_says_so_and_the_others_stay(
    talk: ShownTalk, caplog: pytest.LogCaptureFixture
) -> None:
    talk.says("before")
    talk.cli(assistant(tool_use("t1", "TodoWrite", todos=[])))
    talk.tool.chosen = None  # type: ignore[assignment]
    talk.tool.name = "AskUserQuestion"
    talk.list.store.forget(talk.tool.id)
    assert talk.all_text == "before\n\nThis entry cannot be shown. The log says why."
    assert "An entry of the transcript cannot be shown" in caplog.text
    caplog.clear()
