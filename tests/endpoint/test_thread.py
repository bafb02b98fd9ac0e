"""The endpoint in its own thread: it comes up or says why not, it is not delayed by others, and it ends."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest

from protocol.chat_completions.options import EndpointOptions
from protocol.chat_completions.server import EndpointError, EndpointServer
from protocol.chat_completions.thread import EndpointThread
from tests.helpers.endpoint import TOKEN, Hold, ScriptedBackend, answer, serving


def thread_on(port: int, backend: ScriptedBackend | None = None) -> EndpointThread:
    return EndpointThread(
        lambda: EndpointServer(backend or ScriptedBackend(answer("Hi")), EndpointOptions(port=port), TOKEN)
    )


class TestStart:
    def test_the_address_is_literal(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            assert endpoint.url == f"http://127.0.0.1:{endpoint.port}/v1"
            assert endpoint.backend.started
            assert endpoint.thread.running

    def test_it_listens_on_loopback_alone(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            for address, family in (("127.0.0.2", socket.AF_INET), ("::1", socket.AF_INET6)):
                with socket.socket(family) as client, pytest.raises(OSError):
                    client.connect((address, endpoint.port))

    def test_a_port_in_use_is_a_sentence(self) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            thread = thread_on(port)
            with pytest.raises(EndpointError, match=f"Port {port} is in use by another program"):
                thread.start()
        assert thread.stop()

    @pytest.mark.parametrize("port", [-1, 65536])
    def test_a_port_that_is_none_is_a_sentence(self, port: int) -> None:
        thread = thread_on(port)
        with pytest.raises(EndpointError, match=f"port {port}"):
            thread.start()
        assert thread.stop()

    def test_two_do_not_share_a_port(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            with pytest.raises(EndpointError, match="in use"):
                thread_on(endpoint.port).start()
            assert endpoint.chat().status == 200

    def test_the_port_is_free_again_after_the_end(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            port = endpoint.port
            assert endpoint.chat().status == 200
        again = thread_on(port)
        assert again.start().endswith(f":{port}/v1")
        assert again.stop()

    def test_what_fails_while_it_is_made_comes_to_the_one_who_starts_it(self) -> None:
        def make() -> EndpointServer:
            raise LookupError("no such backend")

        thread = EndpointThread(make)
        with pytest.raises(LookupError, match="no such backend"):
            thread.start()
        assert thread.stop()

    def test_an_endpoint_without_a_token_is_not_made(self) -> None:
        with pytest.raises(ValueError, match="token"):
            EndpointServer(ScriptedBackend(), EndpointOptions(), "")


class TestCall:
    def test_a_coroutine_runs_on_its_loop(self) -> None:
        async def where() -> str:
            return threading.current_thread().name

        with serving(ScriptedBackend()) as endpoint:
            assert endpoint.thread.call(where()).result(10) == "local endpoint"

    def test_one_that_has_ended_takes_none(self) -> None:
        async def never() -> None:
            raise AssertionError("it ran")

        thread = thread_on(0)
        with pytest.raises(EndpointError, match="does not run"):
            thread.call(never())
        thread.start()
        assert thread.stop()
        with pytest.raises(EndpointError, match="does not run"):
            thread.call(never())

    def test_a_busy_loop_elsewhere_does_not_delay_it(self) -> None:
        """What a window does to its own loop is no matter to a client."""
        busy_until = time.monotonic() + 1.0
        times = []

        async def window() -> None:
            while time.monotonic() < busy_until:
                time.sleep(0.2)  # noqa: ASYNC251  it is this loop's fault, on purpose

        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            endpoint.chat()
            window_thread = threading.Thread(target=lambda: asyncio.run(window()))
            window_thread.start()
            while time.monotonic() < busy_until:
                begin = time.monotonic()
                assert endpoint.chat().status == 200
                times.append(time.monotonic() - begin)
            window_thread.join()
        assert sorted(times)[len(times) // 2] < 0.1


class TestEnd:
    def test_it_ends_once_and_may_be_told_so_again(self) -> None:
        thread = thread_on(0)
        assert thread.stop(), "one that never started has not ended"
        thread.start()
        assert thread.stop()
        assert thread.stop()
        assert not thread.running

    def test_its_backend_is_closed(self) -> None:
        backend = ScriptedBackend(answer("Hi"))
        with serving(backend):
            assert not backend.closed
        assert backend.closed

    def test_with_streams_open_it_takes_seconds(self) -> None:
        hold = Hold()
        with serving(ScriptedBackend([hold])) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            begin = time.monotonic()
            assert endpoint.thread.stop()
            assert time.monotonic() - begin < 5
