"""The journal: what runs and what ran, in bounds, and nothing of what was said."""

from __future__ import annotations

import logging

import pytest

from protocol.chat_completions.journal import Entry, Journal


def test_an_entry_from_its_arrival_to_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    seen: list[Entry] = []
    journal = Journal(on_change=seen.append)
    journal.begin(Entry("req_1", method="POST", what="completion", client="Demo"))
    journal.update("req_1", state="running", model="opus", stream=True, bytes_in=7)
    journal.end("req_1", "ok", status=200, bytes_out=9)
    assert [entry.state for entry in seen] == ["waiting", "running", "done"]
    [last] = journal.entries()
    assert last == seen[-1]
    assert (last.outcome, last.status, last.bytes_in, last.bytes_out) == ("ok", 200, 7, 9)
    assert last.ended is not None
    assert last.ended >= last.arrived > 1_700_000_000
    assert caplog.messages == ["req_1 completion stream: 200 ok, 0.000 s, 7 bytes in, 9 bytes out"]


def test_an_end_without_a_reply_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    journal = Journal()
    journal.begin(Entry("req_1"))
    journal.end("req_1", "client_gone", status=0, bytes_out=0)
    assert "no reply client_gone" in caplog.text


def test_what_is_done_does_not_change_any_more() -> None:
    journal = Journal()
    journal.begin(Entry("req_1"))
    journal.end("req_1", "ok", status=200, bytes_out=0)
    before = journal.entries()
    journal.update("req_1", state="running")
    journal.end("req_1", "client_gone", status=0, bytes_out=0)
    journal.update("req_2", state="running")
    assert journal.entries() == before


@pytest.mark.logs("could not be shown")
def test_a_list_that_cannot_be_shown_does_not_stop_the_endpoint() -> None:
    def show(entry: Entry) -> None:
        raise RuntimeError("the window is gone")

    journal = Journal(on_change=show)
    journal.begin(Entry("req_1"))
    assert [entry.request_id for entry in journal.entries()] == ["req_1"]


def test_the_oldest_go_and_what_runs_stays() -> None:
    journal = Journal(keep=3)
    journal.begin(Entry("runs"))
    for number in range(10):
        journal.begin(Entry(f"req_{number}"))
        journal.end(f"req_{number}", "ok", status=200, bytes_out=0)
    assert [entry.request_id for entry in journal.entries()] == ["req_7", "req_8", "req_9", "runs"]
