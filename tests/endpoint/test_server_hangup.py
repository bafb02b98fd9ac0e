"""A client goes, at any moment: its generator is closed, its place is free, and no task is left."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from protocol.chat_completions.backend import Caller, Event, Finished, Started, TextDelta
from protocol.chat_completions.request import CompletionRequest
from tests.helpers.endpoint import CHAT, HELLO, Endpoint, Hold, ScriptedBackend, Step, answer, serving


def hang_up(client: socket.socket, rudely: bool = False) -> None:
    """Closes a connection; rudely with a reset."""
    if rudely:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def tasks(endpoint: Endpoint) -> list[str]:
    """The tasks of the endpoint's loop that belong to requests or connections."""

    async def look() -> list[str]:
        mine = asyncio.current_task()
        # On Windows asyncio accepts connections in a task of its own.
        others = [repr(task) for task in asyncio.all_tasks() if task is not mine]
        return [task for task in others if "_serve" not in task and "accept_coro" not in task]

    return endpoint.thread.call(look()).result(10)


def nothing_left(endpoint: Endpoint) -> None:
    """Waits until everything of the requests so far is gone."""
    endpoint.wait_until_idle()
    endpoint.wait_until(lambda: tasks(endpoint) == [], f"no task is left: {tasks(endpoint)}")
    assert [entry.state for entry in endpoint.journal.entries() if entry.state != "done"] == []


class TestAnyMoment:
    @pytest.mark.parametrize("rudely", [False, True])
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("before", [[], [Started()], [Started(), TextDelta("Hel")]])
    def test_while_the_cli_works(self, rudely: bool, stream: bool, before: list[Step]) -> None:
        hold = Hold()
        backend = ScriptedBackend([*before, hold, *answer("never")])
        with serving(backend) as endpoint:
            client = endpoint.connect()
            client.sendall(endpoint.request_bytes({**HELLO, "stream": stream}))
            hold.wait_until_reached()
            hang_up(client, rudely)
            nothing_left(endpoint)
            assert backend.ended == 1
            [entry] = endpoint.journal.entries()
            assert entry.outcome == "client_gone"

    def test_while_it_waits_for_its_turn(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([hold, *answer("Hi")])
        with serving(backend, max_concurrent=1, queue=1) as endpoint, endpoint.connect() as first:
            first.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            waiting = endpoint.connect()
            waiting.sendall(endpoint.request_bytes())
            endpoint.wait_until(lambda: endpoint.server.gate.waiting == 1, "the second waits")
            hang_up(waiting)
            endpoint.wait_until(lambda: endpoint.server.gate.waiting == 0, "its place in the queue is free")
            hold.release()
            assert b"200 OK" in first.recv(100)
            first.close()
            nothing_left(endpoint)
        assert len(backend.requests) == 1, "the CLI was started for a client that had gone"

    def test_in_the_middle_of_its_head_and_of_its_body(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            request = endpoint.request_bytes()
            for length in (1, 30, request.index(b"\r\n\r\n") + 2, request.index(b"\r\n\r\n") + 4, len(request) - 1):
                client = endpoint.connect()
                client.sendall(request[:length])
                hang_up(client)
            nothing_left(endpoint)
            assert endpoint.backend.requests == []

    def test_the_place_is_free_only_when_the_cli_is_gone(self) -> None:
        hold, tidying = Hold(), Hold()
        backend = ScriptedBackend([hold], tidying=tidying)
        with serving(backend, max_concurrent=1) as endpoint:
            client = endpoint.connect()
            client.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            hang_up(client)
            tidying.wait_until_reached()
            assert endpoint.server.gate.free == 0
            tidying.release()
            nothing_left(endpoint)

    def test_after_the_answer_while_the_cli_still_tidies_up(self) -> None:
        """The tidying is not disturbed: it was the backend's own way to end."""
        tidied = []
        tidying = Hold()

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            yield TextDelta("Hi")
            yield Finished("stop")
            await tidying.pass_through()
            tidied.append(True)

        with serving(ScriptedBackend(play)) as endpoint:
            assert endpoint.chat().text == "Hi"
            tidying.wait_until_reached()
            tidying.release()
            nothing_left(endpoint)
        assert tidied == [True]

    @pytest.mark.parametrize(
        "more",
        [
            b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n" * 100,
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b" " * 800_000,
        ],
        ids=["many", "long"],
    )
    def test_a_client_with_more_to_say_is_noticed_when_it_goes(self, more: bytes) -> None:
        """Requests on top of one that runs would fill a buffer, and reading would stop."""
        hold = Hold()
        with serving(ScriptedBackend([hold])) as endpoint:
            client = endpoint.connect()
            client.sendall(endpoint.request_bytes() + more)
            hold.wait_until_reached()
            client.sendall(b" " * 100_000)
            hang_up(client)
            nothing_left(endpoint)
            assert [entry.what for entry in endpoint.journal.entries()] == ["completion"]

    def test_while_the_models_are_listed(self) -> None:
        hold = Hold()

        class Slow(ScriptedBackend):
            async def models(self) -> tuple[str, ...]:
                await hold.pass_through()
                return ()

        with serving(Slow()) as endpoint:
            client = endpoint.connect()
            head = "".join(f"{name}: {value}\r\n" for name, value in endpoint.head().items())
            client.sendall(f"GET /v1/models HTTP/1.1\r\n{head}\r\n".encode())
            hold.wait_until_reached()
            hang_up(client)
            nothing_left(endpoint)


class TestManyMoments:
    def test_clients_that_go_at_random_moments(self) -> None:
        """A third of them goes; the others get their whole answer."""
        dice = random.Random(3)

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            yield Started()
            for _ in range(5):
                await asyncio.sleep(dice.random() * 0.01)
                yield TextDelta("word ")
            yield Finished("stop")
            await asyncio.sleep(dice.random() * 0.005)

        backend = ScriptedBackend(play)
        with serving(backend, max_concurrent=3, queue=100) as endpoint:
            for _ in range(15):
                clients = [endpoint.connect() for _ in range(6)]
                for number, client in enumerate(clients):
                    client.sendall(endpoint.request_bytes({**HELLO, "stream": number % 2 == 0}))
                for client in clients[::3]:
                    time.sleep(dice.random() * 0.02)
                    hang_up(client, dice.random() < 0.5)
                for number, client in enumerate(clients):
                    if number % 3:
                        got = b""
                        while (
                            b"[DONE]" not in got and b'"usage"' not in got and b'"finish_reason":"stop"}]}' not in got
                        ):
                            got += client.recv(10_000)
                        client.close()
            nothing_left(endpoint)
        assert backend.most_running <= 3


class TestTheServerHangsUp:
    def test_on_a_client_that_does_not_read_a_stream(self) -> None:
        backend = ScriptedBackend(answer(*["0123456789" * 1000] * 3000))
        with serving(backend, write_timeout=0.3, max_output=10**8) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes({**HELLO, "stream": True}))
            endpoint.wait_until(lambda: backend.ended == 1, "the answer was given up")
            nothing_left(endpoint)
            [entry] = endpoint.journal.entries()
            assert entry.outcome == "client_too_slow"

    def test_on_a_client_that_does_not_read_an_answer(self) -> None:
        backend = ScriptedBackend(answer("0123456789" * 3_000_000))
        with serving(backend, write_timeout=0.3, max_output=10**8) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            endpoint.wait_until(lambda: backend.ended == 1, "the answer was given up")
            nothing_left(endpoint)
            [entry] = endpoint.journal.entries()
            assert entry.outcome == "client_too_slow"

    def test_not_on_a_client_that_reads_slowly(self) -> None:
        size = 12_000_000
        backend = ScriptedBackend(answer("0" * size))
        with serving(backend, write_timeout=0.5, max_output=10**8) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            got, begin = 0, time.monotonic()
            while got < size:
                got += len(client.recv(200_000))
                if got < 8_000_000:
                    time.sleep(0.03)  # the pace of this client, not a wait
            assert time.monotonic() - begin > 1.0, "it was no slow client"

    def test_gone_clients_leave_no_entry_open(self) -> None:
        entries: list[Any] = []
        with serving(ScriptedBackend([Hold()])) as endpoint:
            for _ in range(5):
                client = endpoint.connect()
                client.sendall(endpoint.request_bytes())
                hang_up(client)
            nothing_left(endpoint)
            entries += endpoint.journal.entries()
        assert {entry.outcome for entry in entries} <= {"client_gone"}
        assert CHAT not in repr(entries)
