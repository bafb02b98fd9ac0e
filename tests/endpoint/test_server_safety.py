"""What the endpoint does against those who should not use it, and against clients that take more than their part."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest

from tests.helpers.endpoint import (
    CHAT,
    HELLO,
    TOKEN,
    Endpoint,
    Hold,
    ScriptedBackend,
    answer,
    read_raw_reply,
    serving,
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving(ScriptedBackend(answer("Hi"))) as running:
        yield running


def closed_after(client: socket.socket, most: float = 15.0) -> float:
    """Seconds until the server closes a connection on which it says nothing."""
    begin = time.monotonic()
    client.settimeout(most)
    try:
        got = client.recv(1000)
    except ConnectionError:
        got = b""
    assert got == b""
    return time.monotonic() - begin


def trickle(client: socket.socket, data: bytes) -> None:
    for byte in data:
        client.sendall(bytes([byte]))
        time.sleep(0.02)  # the pace of this client, not a wait


class TestHost:
    def test_its_three_names(self, endpoint: Endpoint) -> None:
        for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
            assert endpoint.ask(headers=endpoint.head(Host=f"{name}:{endpoint.port}")).status == 200

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example:{port}",
            "localhost.evil.example:{port}",
            "127.0.0.1.evil.example:{port}",
            "0.0.0.0:{port}",
            "127.0.0.2:{port}",
            "2130706433:{port}",
            "localhost",
            "localhost:{other}",
            "localhost.:{port}",
            "user@localhost:{port}",
            "localhost:{port}@evil.example",
            "localhost:{port}, evil.example",
            "::1:{port}",
        ],
    )
    def test_every_other(self, endpoint: Endpoint, host: str) -> None:
        before = len(endpoint.backend.requests)
        reply = endpoint.ask(headers=endpoint.head(Host=host.format(port=endpoint.port, other=endpoint.port + 1)))
        assert reply.status == 421
        assert reply.error["code"] == "wrong_host"
        assert len(endpoint.backend.requests) == before

    def test_two_of_them(self, endpoint: Endpoint) -> None:
        for second in ("evil.example", f"127.0.0.1:{endpoint.port}"):
            request = endpoint.request_bytes().replace(b"\r\n", f"\r\nHost: {second}\r\n".encode(), 1)
            reply = endpoint.talk(request)
            assert reply.status in (400, 421)
            assert reply.error["code"] in ("bad_request", "wrong_host")

    @pytest.mark.parametrize("version", ["1.0", "1.1"])
    def test_none_at_all(self, endpoint: Endpoint, version: str) -> None:
        request = endpoint.request_bytes(Host=None).replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1)
        reply = endpoint.talk(request)
        assert reply.status == 421
        assert reply.error["code"] == "wrong_host"

    def test_one_in_the_request_line(self, endpoint: Endpoint) -> None:
        """As a proxy is asked. The host there would count more than the header."""
        for target in (f"http://evil.example{CHAT}", f"http://127.0.0.1:{endpoint.port}{CHAT}"):
            request = endpoint.request_bytes().replace(CHAT.encode(), target.encode(), 1)
            assert endpoint.talk(request).status == 421

    def test_a_tunnel(self, endpoint: Endpoint) -> None:
        reply = endpoint.talk(f"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1:{endpoint.port}\r\n\r\n".encode())
        assert reply.status in (400, 421)

    def test_old_http_with_a_host(self, endpoint: Endpoint) -> None:
        assert endpoint.talk(endpoint.request_bytes().replace(b"HTTP/1.1", b"HTTP/1.0", 1)).text == "Hi"


class TestPages:
    def test_what_is_no_page_is_let_in(self, endpoint: Endpoint) -> None:
        for headers in (
            {"Sec-Fetch-Mode": "cors"},  # Node's fetch
            {"Sec-Fetch-Site": "none"},
            {"Sec-Fetch-Site": "same-origin", "Origin": f"http://127.0.0.1:{endpoint.port}"},
        ):
            assert endpoint.ask(headers={**endpoint.head(), **headers}).status == 200

    @pytest.mark.parametrize(
        "headers",
        [
            "Origin: https://evil.example",
            "Origin: null",
            "Origin: ",
            "Origin: file://",
            "Origin: app://obsidian.md",
            "Origin: https://127.0.0.1:{port}",
            "Origin: http://127.0.0.1:{port}\r\nOrigin: https://evil.example",
            "Origin: http://127.0.0.1:{port}.evil.example",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
            "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site",
        ],
    )
    def test_pages_are_not_whatever_they_know(self, endpoint: Endpoint, headers: str) -> None:
        added = headers.format(port=endpoint.port).encode()
        reply = endpoint.talk(endpoint.request_bytes().replace(b"\r\n", b"\r\n" + added + b"\r\n", 1))
        assert reply.status == 403
        assert reply.error["code"] == "foreign_origin"

    def test_nobody_is_given_leave_to_read(self, endpoint: Endpoint) -> None:
        """No reply has a header of CORS, also not to a preflight."""
        preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        replies = [
            endpoint.chat(),
            endpoint.ask("GET", "/v1/models"),
            endpoint.ask("OPTIONS", headers={**endpoint.head(), **preflight}),
            endpoint.ask("OPTIONS", headers={**endpoint.head(Authorization=None), **preflight}),
            endpoint.ask("OPTIONS", headers={**endpoint.head(), **preflight, "Origin": "https://evil.example"}),
        ]
        assert [reply.status for reply in replies] == [200, 200, 405, 401, 403]
        for reply in replies:
            assert not any(name.lower().startswith("access-control") for name in reply.headers)


class TestToken:
    def test_whoever_does_not_have_it_does_not_keep_its_connection(self, endpoint: Endpoint) -> None:
        with endpoint.connect() as client:
            client.sendall(endpoint.request_bytes(Authorization="Bearer x"))
            assert read_raw_reply(client).status == 401
            assert client.recv(1) == b""

    def test_ways_to_write_it(self, endpoint: Endpoint) -> None:
        for value in (f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN} "):
            assert endpoint.ask(headers=endpoint.head(Authorization=value)).status == 200

    def test_ways_that_do_not_open(self, endpoint: Endpoint) -> None:
        for path in (f"{CHAT}?api_key={TOKEN}", f"{CHAT}?token={TOKEN}", f"{CHAT}?access_token={TOKEN}"):
            assert endpoint.ask(path=path, headers=endpoint.head(Authorization=None)).status == 401
        for name in ("x-api-key", "api-key", "Cookie"):
            headers = {**endpoint.head(Authorization=None), name: TOKEN}
            assert endpoint.ask(headers=headers).status == 401

    def test_bytes_that_are_no_text(self, endpoint: Endpoint) -> None:
        for value in (b"\xff\xfe", b"\xc3\xa9" * 40, TOKEN.encode() + b"\xff"):
            request = endpoint.request_bytes().replace(TOKEN.encode(), value, 1)
            assert endpoint.talk(request).status == 401

    def test_two_of_them(self, endpoint: Endpoint) -> None:
        added = f"\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
        assert endpoint.talk(endpoint.request_bytes().replace(b"\r\n", added, 1)).status == 401

    def test_a_renewed_one_opens_and_the_old_one_does_not(self) -> None:
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            assert endpoint.chat().status == 200
            endpoint.server.use_token("f" * 64)
            assert endpoint.chat().status == 401
            assert endpoint.ask(headers=endpoint.head(Authorization=f"Bearer {'f' * 64}")).status == 200
            with pytest.raises(ValueError, match="token"):
                endpoint.server.use_token("")

    def test_it_stands_nowhere(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            wrong = "e" * 64
            replies = [
                endpoint.chat(),
                endpoint.ask(headers=endpoint.head(Authorization=f"Bearer {wrong}")),
                endpoint.talk(f"GET /{TOKEN} HTTP/1.1\r\nX {TOKEN}\r\n\r\n".encode()),
                endpoint.ask("GET", f"/{TOKEN}"),
            ]
            seen = caplog.text + repr(endpoint.journal.entries())
            seen += "".join(reply.body.decode() + reply.headers.as_string() for reply in replies)
        assert TOKEN not in seen
        assert wrong not in seen


class TestBodies:
    def test_a_length_over_the_limit_is_refused_before_a_byte_of_it_came(self, endpoint: Endpoint) -> None:
        head = endpoint.request_bytes(b"", Content_Length=str(1024 * 1024 + 1))
        for length in ("1048577", "100000000", "9" * 18):
            reply = endpoint.talk(head.replace(b"1048577", length.encode()))
            assert reply.status == 413
            assert reply.error["code"] == "request_too_large"

    @pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "9" * 30, "5, 5", "", "+5"])
    def test_lengths_that_are_none(self, endpoint: Endpoint, length: str) -> None:
        reply = endpoint.talk(endpoint.request_bytes(b"", Content_Length=length))
        assert reply.status in (400, 413)
        assert reply.error["type"] == "invalid_request_error"

    def test_chunks_are_counted(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), max_body=10_000) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes(b"", Content_Length=None, Transfer_Encoding="chunked"))
            chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
            for _ in range(3):
                client.sendall(chunk)
            reply = read_raw_reply(client)
            assert reply.status == 413, "it waited for the end of a body that was too large already"
            assert reply.error["code"] == "request_too_large"

    def test_chunks_are_taken(self, endpoint: Endpoint) -> None:
        head = endpoint.request_bytes(b"", Content_Length=None, Transfer_Encoding="chunked")
        body = endpoint.request_bytes().partition(b"\r\n\r\n")[2]
        chunks = b"".join(b"1\r\n" + body[i : i + 1] + b"\r\n" for i in range(len(body)))
        assert endpoint.talk(head + chunks + b"0\r\n\r\n").text == "Hi"

    def test_broken_chunks(self, endpoint: Endpoint) -> None:
        head = endpoint.request_bytes(b"", Content_Length=None, Transfer_Encoding="chunked")
        assert endpoint.talk(head + b"zz\r\n\r\n").status == 400

    def test_both_ways_to_say_the_length(self, endpoint: Endpoint) -> None:
        """What one reader takes for a body is another request for the next: request smuggling."""
        reply = endpoint.talk(endpoint.request_bytes(Transfer_Encoding="chunked"))
        assert reply.status == 400

    @pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity, gzip"])
    def test_compressed_ones(self, endpoint: Endpoint, coding: str) -> None:
        reply = endpoint.ask(headers=endpoint.head(Content_Encoding=coding))
        assert reply.status == 415
        assert reply.error["code"] == "unsupported_media_type"

    def test_a_client_that_waits_to_be_told(self, endpoint: Endpoint) -> None:
        """curl does, before a long body."""
        request = endpoint.request_bytes(Expect="100-continue")
        head, _, body = request.partition(b"\r\n\r\n")
        with endpoint.connect() as client:
            client.sendall(head + b"\r\n\r\n")
            assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(body)
            assert read_raw_reply(client).text == "Hi"

    @pytest.mark.parametrize(
        ("changes", "status"),
        [
            ({"Authorization": "Bearer x"}, 401),
            ({"Content-Length": "5000000"}, 413),
            ({"Expect": "coffee"}, 417),
            ({"Content-Type": "text/plain"}, 415),
        ],
    )
    def test_a_client_that_waits_to_be_told_is_told_no(
        self, endpoint: Endpoint, changes: dict[str, str], status: int
    ) -> None:
        reply = endpoint.talk(
            endpoint.request_bytes(b"", **{"Expect": "100-continue", "Content_Length": "9", **changes})
        )
        assert reply.status == status
        assert reply.error["type"]

    def test_an_upgrade_that_nobody_offers_changes_nothing(self, endpoint: Endpoint) -> None:
        """Java's client asks for HTTP/2 with each request."""
        for upgrade in ("h2c", "websocket", "TLS/1.2"):
            request = endpoint.request_bytes(Connection="Upgrade, HTTP2-Settings", Upgrade=upgrade)
            reply = endpoint.talk(request)
            assert reply.status in (200, 400), upgrade
            assert reply.status == 200 or upgrade == "websocket"


class TestPatience:
    def test_a_silent_connection(self) -> None:
        with serving(ScriptedBackend(), header_timeout=0.3) as endpoint, endpoint.connect() as client:
            assert closed_after(client) < 3

    def test_a_head_that_trickles(self) -> None:
        with serving(ScriptedBackend(), header_timeout=0.4) as endpoint, endpoint.connect() as client:
            begin = time.monotonic()
            with pytest.raises(ConnectionError):
                trickle(client, endpoint.request_bytes())
            assert 0.3 < time.monotonic() - begin < 5

    def test_the_second_head_on_a_connection_too(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), header_timeout=0.5) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            assert read_raw_reply(client).status == 200
            client.sendall(b"POST ")
            assert closed_after(client) < 3

    def test_a_connection_between_two_requests_has_more_time(self) -> None:
        options = {"header_timeout": 0.5, "idle_connection": 1.5}
        with serving(ScriptedBackend(answer("Hi")), **options) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            assert read_raw_reply(client).status == 200
            assert 0.8 < closed_after(client) < 8

    def test_an_answer_that_takes_long_is_not_disturbed(self) -> None:
        with serving(ScriptedBackend([1.2, *answer("Hi")]), header_timeout=0.5, idle_connection=0.5) as endpoint:
            assert endpoint.chat().text == "Hi"

    def test_a_body_that_does_not_come(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), body_timeout=0.3) as endpoint:
            reply = endpoint.talk(endpoint.request_bytes()[:-1])
            assert reply.status == 408
            assert reply.error["code"] == "body_timeout"
            assert reply.headers["x-should-retry"] == "false"
            assert endpoint.backend.requests == []

    def test_a_body_that_trickles(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), body_timeout=0.5) as endpoint, endpoint.connect() as client:
            request, begin = endpoint.request_bytes(), time.monotonic()
            head = request.index(b"\r\n\r\n") + 4
            client.sendall(request[:head])
            client.settimeout(0.05)
            got = b""
            for byte in request[head:-1] * 10:
                client.sendall(bytes([byte]))
                try:
                    got = client.recv(1000)
                    break
                except TimeoutError:
                    continue
            assert b"408" in got
            assert time.monotonic() - begin < 10


class TestCrowds:
    def test_one_connection_too_many_is_told_so(self) -> None:
        hold = Hold()
        with serving(ScriptedBackend([hold, *answer("Hi")]), max_connections=3) as endpoint:
            clients = [endpoint.connect() for _ in range(3)]
            clients[0].sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            reply = endpoint.chat()
            assert reply.status == 503
            assert reply.error["code"] == "too_many_connections"
            assert reply.headers["Retry-After"]
            hold.release()
            assert read_raw_reply(clients[0]).text == "Hi"
            for client in clients:
                client.close()
            endpoint.wait_until(lambda: endpoint.chat().status == 200, "there is room again")

    def test_a_flood_of_them_is_cut_off(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), max_connections=5, header_timeout=30.0) as endpoint:
            clients = [endpoint.connect() for _ in range(40)]
            endpoint.wait_until(lambda: server_connections(endpoint) == 10, "no more than twice as many are held")
            for client in clients:
                client.close()
            endpoint.wait_until(lambda: server_connections(endpoint) == 0, "all are gone")
            assert endpoint.chat().status == 200

    def test_many_headers(self, endpoint: Endpoint) -> None:
        for count, size in ((2000, 10), (60, 1000)):
            added = "".join(f"\r\nX-{i}: {'a' * size}" for i in range(count)).encode()
            reply = endpoint.talk(endpoint.request_bytes().replace(b"\r\n", added + b"\r\n", 1))
            assert reply.status in (400, 431)
            assert reply.error["type"] == "invalid_request_error"

    @pytest.mark.parametrize("line", ["X-{}: a\r\n", "X: {}\r\n ", "X{}"])
    def test_headers_without_an_end(self, line: str) -> None:
        """What was read is bounded also in those versions of aiohttp that count no headers."""
        endless = "".join(line.format(i) for i in range(1_500_000)).encode()
        with serving(ScriptedBackend(), header_timeout=60.0) as endpoint, endpoint.connect() as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            with pytest.raises(ConnectionError):
                client.sendall(endless)
            endpoint.wait_until(lambda: server_connections(endpoint) == 0, "it is gone")

    def test_as_many_headers_as_clients_send(self, endpoint: Endpoint) -> None:
        headers = {**endpoint.head(), **{f"x-stainless-{i}": "a" * 100 for i in range(40)}}
        assert endpoint.ask(headers=headers).status == 200

    def test_many_requests_in_one_breath(self, endpoint: Endpoint) -> None:
        """Pipelining is not done: the first is answered, then the connection ends."""
        with endpoint.connect() as client:
            client.sendall(endpoint.request_bytes() * 50)
            with client.makefile("rb") as file:
                got = file.read()
        assert got.count(b"HTTP/1.1 200 OK") == 1


def server_connections(endpoint: Endpoint) -> int:
    server = endpoint.server._server
    assert server is not None
    return len(server.transports)


class TestSilence:
    def test_a_request_is_one_line_of_log_without_its_content(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        with serving(ScriptedBackend(answer("the-answer"))) as endpoint:
            reply = endpoint.chat(model="the-model", messages=[{"role": "user", "content": "the-prompt"}])
        lines = [record.getMessage() for record in caplog.records if record.name.startswith(("protocol", "aiohttp"))]
        [line] = lines
        request_id = reply.headers["x-request-id"]
        sizes = f"{endpoint.journal.entries()[0].bytes_in} bytes in, {len(reply.body)} bytes out"
        assert line.startswith(f"{request_id} completion: 200 ok, 0.")
        assert line.endswith(sizes)
        assert not any(word in caplog.text for word in ("the-prompt", "the-answer", "the-model"))

    def test_refusals_are_one_line_too(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        with serving(ScriptedBackend(answer("Hi"))) as endpoint:
            endpoint.ask("GET", "/the-path?the-query")
            endpoint.talk(b"the-nonsense\r\n\r\n")
            endpoint.ask(headers=endpoint.head(Host="the-host"))
            endpoint.chat(messages="the-prompt")
        lines = [record.getMessage() for record in caplog.records if record.name.startswith(("protocol", "aiohttp"))]
        assert len(lines) == 4
        assert "the-" not in caplog.text

    def test_what_the_client_calls_itself_is_short_and_harmless(self, endpoint: Endpoint) -> None:
        for agent, name in [
            ("OpenAI/Python 3.57.0", "OpenAI/Python"),
            ("evil\u202egnp.exe/1", "evil⟨U+202E⟩gnp.exe/1"),
            ("a" * 500, "a" * 60),
            ("", ""),
        ]:
            request = endpoint.request_bytes().replace(b"\r\n", f"\r\nUser-Agent: {agent}\r\n".encode(), 1)
            assert endpoint.talk(request).status == 200
            assert endpoint.journal.entries()[-1].client == name
            assert endpoint.backend.callers[-1].client == name
            assert HELLO["model"] == endpoint.journal.entries()[-1].model
