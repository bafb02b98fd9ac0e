"""The wire of a stream: what comes in which order, when its status is out, and how it ends when it fails."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from protocol.chat_completions.backend import Caller, Event, Finished, Started, TextDelta
from protocol.chat_completions.errors import ApiError, cli_failed
from protocol.chat_completions.request import CompletionRequest
from tests.helpers.endpoint import HELLO, SECONDS, Hold, Reply, ScriptedBackend, answer, serving


def failed_in_the_middle(reply: Reply, code: str) -> dict[str, Any]:
    """The error event that a stream ends with, after a look at what must not be there."""
    assert reply.status == 200
    assert "[DONE]" not in reply.events
    *chunks, last = reply.chunks
    assert set(last) == {"error"}
    assert set(last["error"]) == {"message", "type", "param", "code"}
    assert last["error"]["code"] == code
    assert all(choice["finish_reason"] is None for chunk in chunks for choice in chunk["choices"])
    assert reply.headers.get("x-should-retry") is None
    return dict(last["error"])


def read_until(client: socket.socket, mark: bytes) -> bytes:
    """What comes until a mark is in it."""
    client.settimeout(SECONDS)
    got = b""
    while mark not in got:
        piece = client.recv(65536)
        assert piece, f"it ended before {mark!r} came: {got!r}"
        got += piece
    return got


class TestOrder:
    def test_role_first_then_pieces_then_the_reason_then_done(self) -> None:
        with serving(ScriptedBackend(answer("Hel", "lo"))) as endpoint:
            reply = endpoint.chat(stream=True)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["x-request-id"].startswith("req_")
        deltas = [chunk["choices"][0]["delta"] for chunk in reply.chunks]
        assert deltas == [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {}]
        assert [chunk["choices"][0]["finish_reason"] for chunk in reply.chunks] == [None, None, None, "stop"]
        assert reply.events[-1] == "[DONE]"
        assert reply.body.endswith(b"data: [DONE]\n\n")
        assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in reply.chunks}) == 1

    def test_the_role_comes_also_from_a_backend_that_does_not_say_that_it_started(self) -> None:
        with serving(ScriptedBackend([TextDelta("Hi"), Finished("stop")])) as endpoint:
            reply = endpoint.chat(stream=True)
        assert reply.chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert reply.text == "Hi"

    def test_usage_comes_last_where_it_was_asked_for(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            asked = endpoint.chat(stream=True, stream_options={"include_usage": True})
            unasked = endpoint.chat(stream=True)
        assert [chunk["usage"] for chunk in asked.chunks[:-1]] == [None, None, None]
        assert asked.chunks[-1]["choices"] == []
        assert asked.chunks[-1]["usage"]["total_tokens"] == 15
        assert not any("usage" in chunk for chunk in unasked.chunks)

    def test_what_fields_a_stream_has(self) -> None:
        """No `id:`, no `event:`, no empty `data:`: clients have stumbled over each."""
        with serving(ScriptedBackend([0.3, *answer("Hi")]), keepalive=0.1) as endpoint:
            reply = endpoint.chat(stream=True)
        lines = reply.body.decode().split("\n")
        assert {line.partition(":")[0] for line in lines} == {"data", ""}
        assert [line for line in lines if line.startswith(":")][:1] == [": k"]
        assert all(line.strip() != "data:" for line in lines)

    def test_old_http_gets_it_without_chunks_of_http(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            request = endpoint.request_bytes({**HELLO, "stream": True}).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
            reply = endpoint.talk(request)
        assert "Transfer-Encoding" not in reply.headers
        assert reply.text == "Hi"
        assert reply.events[-1] == "[DONE]"


class TestStatus:
    def test_it_is_held_back_until_the_cli_has_started(self) -> None:
        before, after = Hold(), Hold()
        backend = ScriptedBackend([before, Started(), after, TextDelta("Hi"), Finished("stop")])
        with serving(backend) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            before.wait_until_reached()
            client.settimeout(0.3)
            with pytest.raises(TimeoutError):
                client.recv(1)
            before.release()
            assert b'"role":"assistant"' in read_until(client, b"\n\n")
            after.release()
            assert b'"Hi"' in read_until(client, b"[DONE]")

    def test_it_is_not_held_back_longer_than_clients_wait(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([hold, cli_failed("It did not start after all.", "cli_not_started")])
        with serving(backend, keepalive=0.1) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            got = read_until(client, b": k\n")
            assert b"HTTP/1.1 200 OK" in got
            assert b"data:" not in got
            hold.release()
            got += read_until(client, b"0\r\n\r\n")
        assert b"cli_not_started" in got
        assert b"[DONE]" not in got

    def test_also_who_waits_for_a_place_hears_that_somebody_is_there(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([hold, *answer("Hi")])
        with serving(backend, keepalive=0.1, max_concurrent=1) as endpoint, endpoint.connect() as client:
            with endpoint.connect() as first:
                first.sendall(endpoint.request_bytes())
                hold.wait_until_reached()
                client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
                read_until(client, b": k\n")
                hold.release()
            assert b'"Hi"' in read_until(client, b"[DONE]")


class TestKeepalive:
    def test_a_silent_backend_is_covered_by_comments(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([Started(), TextDelta("Hi"), hold, Finished("stop")])
        with serving(backend, keepalive=0.1) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            got = b""
            while got.count(b": k\n") < 3:
                got += client.recv(1000)
            hold.release()
            got += read_until(client, b"[DONE]")
        assert got.index(b'"Hi"') < got.index(b": k\n")

    def test_text_that_is_held_back_does_not_count_as_a_sign_of_life(self) -> None:
        """A model that writes what may become a stop text is silence for the client."""
        steps: list[Any] = [Started()]
        for letter in "STOPSTOPSTOP":
            steps += [TextDelta(letter), 0.05]
        with serving(ScriptedBackend([*steps, TextDelta("!"), Finished("stop")]), keepalive=0.15) as endpoint:
            reply = endpoint.chat(stream=True, stop="STOPSTOPSTOP.")
        assert reply.text == "STOPSTOPSTOP!"
        assert reply.body.count(b": k\n") >= 2

    def test_a_busy_backend_needs_none(self) -> None:
        with serving(ScriptedBackend(answer(*["word "] * 200))) as endpoint:
            reply = endpoint.chat(stream=True)
        assert b": k" not in reply.body
        assert reply.text == "word " * 200


class TestFailures:
    @pytest.mark.parametrize("steps", [[Started()], [Started(), TextDelta("Hel")]])
    def test_a_failure_after_the_start_is_an_event_and_the_end(self, steps: list[Any]) -> None:
        failure = ApiError(429, "The limit is reached.", kind="rate_limit_error", code="plan_limit_reached")
        with serving(ScriptedBackend([*steps, failure])) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            got = read_until(client, b"0\r\n\r\n")
            assert client.recv(1) == b"", "the connection stays open after a stream that failed"
        assert json.loads(got.split(b"data: ")[-1].split(b"\n")[0]) == failure.body()

    def test_nothing_said_at_all(self) -> None:
        with serving(ScriptedBackend([Started(), Finished("stop")])) as endpoint:
            failed_in_the_middle(endpoint.chat(stream=True), "empty_answer")

    def test_the_cli_goes_in_the_middle(self) -> None:
        with serving(ScriptedBackend([Started(), TextDelta("Hel")])) as endpoint:
            reply = endpoint.chat(stream=True)
        assert failed_in_the_middle(reply, "cli_failed")["type"] == "server_error"
        assert reply.chunks[1]["choices"][0]["delta"]["content"] == "Hel"

    def test_the_deadline(self) -> None:
        with serving(ScriptedBackend([Started(), TextDelta("Hel"), Hold()]), timeout=0.3) as endpoint:
            failed_in_the_middle(endpoint.chat(stream=True), "timeout")
            endpoint.wait_until_idle()

    def test_too_much(self) -> None:
        with serving(ScriptedBackend(answer(*["0123456789"] * 20)), max_output=100) as endpoint:
            reply = endpoint.chat(stream=True)
            failed_in_the_middle(reply, "output_too_large")
            endpoint.wait_until_idle()
        assert sum(b"0123456789" in event.encode() for event in reply.events) == 10

    @pytest.mark.logs("unexpected KeyError")
    def test_a_defect_of_ours(self, caplog: pytest.LogCaptureFixture) -> None:
        with serving(ScriptedBackend([Started(), KeyError("a secret")])) as endpoint:
            reply = endpoint.chat(stream=True)
        failed_in_the_middle(reply, "internal_error")
        assert "secret" not in caplog.text + reply.body.decode()


class TestPace:
    def test_pieces_come_as_they_are_written(self) -> None:
        """Not gathered somewhere on the way."""
        holds = [Hold(), Hold()]
        steps = [
            Started(),
            TextDelta("one"),
            holds[0],
            TextDelta("two"),
            holds[1],
            TextDelta("three"),
            Finished("stop"),
        ]
        with serving(ScriptedBackend(steps)) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            assert b"two" not in read_until(client, b"one")
            holds[0].release()
            assert b"three" not in read_until(client, b"two")
            holds[1].release()
            read_until(client, b"[DONE]")

    def test_a_client_that_reads_slowly_slows_the_backend_and_gets_everything(self) -> None:
        piece, most = "0123456789" * 1000, 2500
        given = 0

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            nonlocal given
            for _ in range(most):
                given += 1
                yield TextDelta(piece)
            yield Finished("stop")

        with serving(ScriptedBackend(play), max_output=10**8) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            with client.makefile("rb") as file:
                lines = iter(file.readline, b"data: [DONE]\n")
                assert any(piece.encode() in line for line in lines)
                wait_until_it_stays(lambda: given)
                assert given < most, "25 MB were taken from the backend for a client that reads nothing"
                assert sum(piece.encode() in line for line in lines) == most - 1


def wait_until_it_stays(number: Callable[[], int]) -> None:
    """Waits until a number has not changed for a while."""
    last, since = number(), time.monotonic()
    while time.monotonic() < since + 0.5:
        time.sleep(0.02)
        if number() != last:
            last, since = number(), time.monotonic()
