"""No input raises out of a conversation, or leaves it in disorder, whatever it is and in whatever order it comes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from protocol.conversation import Change, Conversation
from protocol.messages import parse_message
from tests.helpers import recordings
from tests.helpers.cli_says import Talk, assistant, init, may_i, message_start, tool_use
from tests.unit.test_messages import altered_messages, odd_messages
from tests.unit.test_wire import json_objects

ALL = recordings.names()


def started() -> Talk:
    """A conversation in the midst of everything."""
    talk = Talk()
    talk.begins()
    talk.cli(init(), message_start(), assistant(tool_use("t1")), may_i("r1", "t1"))
    return talk


@given(st.lists(st.one_of(json_objects, odd_messages(), altered_messages()), max_size=8))
def test_no_message_raises_or_finds_a_fault(values: list[dict[str, Any]]) -> None:
    conversation = started().conversation
    for value in values:
        conversation.apply(parse_message(value))
        assert conversation.faults == []
    json.dumps(conversation.snapshot(), default=str)
    conversation.apply_exit(None, "")
    assert conversation.faults == []
    assert [conversation.index_of(item.id) for item in conversation.items] == list(range(len(conversation.items)))


@given(st.lists(st.one_of(json_objects, odd_messages()), max_size=5))
def test_nothing_that_a_host_writes_raises_either(values: list[dict[str, Any]]) -> None:
    conversation = started().conversation
    for value in values:
        conversation.apply_sent(value)
    assert conversation.faults == []


@given(st.lists(st.one_of(json_objects, odd_messages(), altered_messages()), max_size=6))
def test_nothing_that_lies_on_the_disk_raises_either(values: list[dict[str, Any]]) -> None:
    conversation = Conversation()
    assert conversation.load(values) == [Change("items_reset")]
    assert conversation.faults == []


@given(st.lists(st.sampled_from(ALL), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_messages_in_any_order_leave_a_sound_conversation(chosen: list[tuple[str, str]], random: Any) -> None:
    entries = [entry for name in chosen for entry in recordings.load(*name).entries]
    random.shuffle(entries)
    conversation = Conversation()
    for entry in entries:
        if entry.direction == "in":
            conversation.apply_sent(entry.value)
        elif entry.direction == "out":
            conversation.apply(parse_message(entry.value))
    conversation.apply_exit(1, "")
    assert conversation.faults == []
    assert (conversation.state, conversation.pending) == ("exited", {})
    assert [conversation.index_of(item.id) for item in conversation.items] == list(range(len(conversation.items)))
