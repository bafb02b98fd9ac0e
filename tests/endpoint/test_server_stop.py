"""The end of the endpoint: new requests hear of it, running ones end with a word, and it takes seconds."""

from __future__ import annotations

import asyncio
import json
import time

import aiohttp
import pytest

from protocol.chat_completions.backend import Started, TextDelta
from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.server import EndpointServer
from tests.helpers.endpoint import HELLO, TOKEN, Endpoint, Hold, ScriptedBackend, answer, read_raw_reply, serving

MOST_SECONDS = 6.0


def ends_in_seconds(endpoint: Endpoint) -> None:
    begin = time.monotonic()
    assert endpoint.thread.stop()
    assert time.monotonic() - begin < MOST_SECONDS


class TestRunningRequests:
    def test_one_in_one_piece_ends_as_a_503(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([Started(), TextDelta("Hel"), hold])
        with serving(backend) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            ends_in_seconds(endpoint)
            reply = read_raw_reply(client)
            assert reply.status == 503
            assert reply.error["code"] == "shutting_down"
            assert reply.headers["x-should-retry"] == "false"
            assert client.recv(1) == b""
        assert backend.ended == 1
        assert backend.closed
        assert [entry.outcome for entry in endpoint.journal.entries()] == ["shutting_down"]

    def test_a_stream_ends_with_an_event(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([Started(), TextDelta("Hel"), hold])
        with serving(backend) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            hold.wait_until_reached()
            ends_in_seconds(endpoint)
            reply = read_raw_reply(client)
        assert reply.status == 200
        assert json.loads(reply.events[-1])["error"]["code"] == "shutting_down"

    def test_a_stream_that_has_not_begun_and_one_that_waits_end_as_a_503(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([hold])
        with serving(backend, max_concurrent=1) as endpoint, endpoint.connect() as one, endpoint.connect() as two:
            one.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            hold.wait_until_reached()
            two.sendall(endpoint.request_bytes())
            endpoint.wait_until(lambda: endpoint.server.gate.waiting == 1, "the second waits")
            ends_in_seconds(endpoint)
            assert [read_raw_reply(client).status for client in (one, two)] == [503, 503]
        assert len(backend.requests) == 1

    def test_the_list_of_models_too(self) -> None:
        hold = Hold()

        class Slow(ScriptedBackend):
            async def models(self) -> tuple[str, ...]:
                await hold.pass_through()
                return ()

        with serving(Slow()) as endpoint, endpoint.connect() as client:
            head = "".join(f"{name}: {value}\r\n" for name, value in endpoint.head().items())
            client.sendall(f"GET /v1/models HTTP/1.1\r\n{head}\r\n".encode())
            hold.wait_until_reached()
            ends_in_seconds(endpoint)
            assert read_raw_reply(client, "GET").status == 503

    def test_clients_that_do_nothing_hold_nothing_up(self) -> None:
        """An idle connection, half a head, half a body, a stream that nobody reads."""
        backend = ScriptedBackend(answer(*["0123456789" * 1000] * 3000))
        with serving(backend, max_output=10**8, header_timeout=60.0, body_timeout=60.0) as endpoint:
            clients = [endpoint.connect() for _ in range(4)]
            request = endpoint.request_bytes({**HELLO, "stream": True})
            clients[1].sendall(request[:40])
            clients[2].sendall(request[:-3])
            clients[3].sendall(request)
            endpoint.wait_until(lambda: len(endpoint.journal.entries()) == 2, "both requests have come")
            endpoint.wait_until(lambda: backend.running == 1, "the stream runs")
            ends_in_seconds(endpoint)
            for client in clients:
                client.close()
        assert backend.ended == 1


class TestNewRequests:
    def test_they_get_a_503_while_others_are_ended(self) -> None:
        hold, tidying = Hold(), Hold()
        backend = ScriptedBackend([hold], tidying=tidying)
        with serving(backend) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            endpoint.thread.ask_to_stop()
            tidying.wait_until_reached()
            for reply in (endpoint.chat(), endpoint.chat(stream=True), endpoint.ask("GET", "/v1/models")):
                assert reply.status == 503
                assert reply.error["code"] == "shutting_down"
            tidying.release()
        assert len(backend.requests) == 1

    def test_one_whose_body_comes_late_starts_nothing_any_more(self) -> None:
        hold, tidying = Hold(), Hold()
        backend = ScriptedBackend([hold], tidying=tidying)
        with serving(backend) as endpoint, endpoint.connect() as client, endpoint.connect() as late:
            client.sendall(endpoint.request_bytes())
            request = endpoint.request_bytes()
            late.sendall(request[:-3])
            hold.wait_until_reached()
            endpoint.wait_until(lambda: len(endpoint.journal.entries()) == 2, "the head has come")
            endpoint.thread.ask_to_stop()
            tidying.wait_until_reached()
            late.sendall(request[-3:])
            assert read_raw_reply(late).status == 503
            tidying.release()
        assert len(backend.requests) == 1


@pytest.mark.logs("unexpected (ZeroDivisionError|TimeoutError)")
@pytest.mark.parametrize("fault", ["raises", "hangs"])
def test_a_backend_that_does_not_close_holds_nothing_up(fault: str) -> None:
    class Broken(ScriptedBackend):
        async def close(self) -> None:
            if fault == "raises":
                raise ZeroDivisionError
            await Hold().pass_through()

    with serving(Broken(answer("Hi")), closing=0.5) as endpoint:
        assert endpoint.chat().status == 200
        ends_in_seconds(endpoint)


def test_it_serves_on_anybodys_loop_until_it_is_told_to_end() -> None:
    """As a program without a window does it."""

    async def test() -> None:
        backend, end = ScriptedBackend(answer("Hi")), asyncio.Event()
        server = EndpointServer(backend, EndpointOptions(port=0), TOKEN)
        url = await server.start()
        serves = asyncio.create_task(server.run_until(end))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession() as client, client.get(f"{url}/models", headers=headers) as reply:
            assert reply.status == 200
        end.set()
        await asyncio.wait_for(serves, 10)
        assert backend.closed
        await server.stop()

    asyncio.run(test())


@pytest.mark.logs("had not ended")
def test_an_answer_that_does_not_end_is_said_and_cut_off() -> None:
    never = Hold()
    with serving(ScriptedBackend([Hold()], tidying=never), closing=0.3) as endpoint, endpoint.connect() as client:
        client.sendall(endpoint.request_bytes())
        endpoint.wait_until(lambda: endpoint.backend.running == 1, "it runs")
        ends_in_seconds(endpoint)
