"""Each case of the endpoint's table has its status, and each reply is a JSON object with a request id."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from protocol.chat_completions.backend import Caller, Event, Finished, Started, TextDelta
from protocol.chat_completions.errors import ApiError, cli_failed, plan_limit_reached
from protocol.chat_completions.request import CompletionRequest
from tests.helpers.endpoint import CHAT, HELLO, TOKEN, Endpoint, Hold, Reply, ScriptedBackend, answer, serving


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving(ScriptedBackend(answer("Hel", "lo"))) as running:
        yield running


def refused(reply: Reply, status: int, code: str) -> dict[str, Any]:
    """The error of a reply, after a look at what all of them have."""
    assert reply.status == status, (reply.status, reply.body)
    assert reply.headers.get_content_type() == "application/json"
    assert re.fullmatch(r"req_[0-9a-f]{24}", reply.headers["x-request-id"])
    assert "Access-Control-Allow-Origin" not in reply.headers
    error = reply.error
    assert error["code"] == code, error
    return error


class TestAnswers:
    def test_a_completion(self, endpoint: Endpoint) -> None:
        reply = endpoint.chat()
        assert reply.status == 200
        assert reply.headers.get_content_type() == "application/json"
        assert reply.headers["x-request-id"].startswith("req_")
        body = reply.json
        assert body["id"].startswith("chatcmpl-")
        assert body["object"] == "chat.completion"
        assert body["model"] == "cli-demo"
        [choice] = body["choices"]
        assert choice["finish_reason"] == "stop"
        assert choice["message"] == {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []}
        assert body["usage"] == {
            "prompt_tokens": 12,
            "completion_tokens": 3,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4},
        }

    def test_the_models_and_one_of_them(self, endpoint: Endpoint) -> None:
        listed = endpoint.ask("GET", "/v1/models").json
        assert [model["id"] for model in listed["data"]] == ["cli-demo"]
        assert endpoint.ask("GET", "/v1/models/cli-demo").json == listed["data"][0]
        assert endpoint.ask("GET", "/v1/models/cli%2Ddemo?x=1").json == listed["data"][0]

    def test_several_requests_on_one_connection(self, endpoint: Endpoint) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=20)
        ids = set()
        for _ in range(3):
            connection.request("POST", CHAT, json.dumps(HELLO), endpoint.head())
            response = connection.getresponse()
            assert json.loads(response.read())["choices"]
            ids.add(response.headers["x-request-id"])
        connection.close()
        assert len(ids) == 3

    @pytest.mark.parametrize("stream", [False, True])
    def test_usage_is_absent_where_the_cli_said_nothing(self, stream: bool) -> None:
        with serving(ScriptedBackend(answer("Hi", usage=None))) as endpoint:
            options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
            reply = endpoint.chat(**options)
        if stream:
            assert [chunk["usage"] for chunk in reply.chunks] == [None, None, None]
        else:
            assert "usage" not in reply.json

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("reason", ["length", "content_filter"])
    def test_a_reason_that_says_why_there_is_no_text_is_an_answer(self, stream: bool, reason: Any) -> None:
        with serving(ScriptedBackend([Started(), Finished(reason)])) as endpoint:
            reply = endpoint.chat(stream=stream)
        assert reply.status == 200
        assert reply.text == ""
        last = reply.chunks[-1] if stream else reply.json
        assert last["choices"][0]["finish_reason"] == reason

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_stop_text_ends_the_answer_and_the_backend(self, stream: bool) -> None:
        never = Hold()
        backend = ScriptedBackend([Started(), TextDelta("one ST"), TextDelta("OP two"), never])
        with serving(backend) as endpoint:
            reply = endpoint.chat(stream=stream, stop="STOP", **({"stream_options": {}} if stream else {}))
            endpoint.wait_until_idle()
        assert reply.text == "one "
        last = reply.chunks[-1] if stream else reply.json
        assert last["choices"][0]["finish_reason"] == "stop"
        assert "usage" not in reply.json if not stream else reply.events[-1] == "[DONE]"

    @pytest.mark.parametrize("stream", [False, True])
    def test_the_beginning_of_a_stop_text_that_does_not_come_belongs_to_the_answer(self, stream: bool) -> None:
        with serving(ScriptedBackend(answer("one ST"))) as endpoint:
            assert endpoint.chat(stream=stream, stop=["STOP"]).text == "one ST"

    def test_what_a_lenient_endpoint_ignores_stands_in_a_header(self) -> None:
        with serving(ScriptedBackend(answer("Hi")), lenient=True) as endpoint:
            for stream in (False, True):
                reply = endpoint.chat(temperature=0, seed=1, stream=stream)
                assert reply.status == 200
                assert reply.headers["x-handraise-ignored"] == "temperature, seed"

    def test_nothing_ignored_no_header(self, endpoint: Endpoint) -> None:
        assert "x-handraise-ignored" not in endpoint.chat().headers

    def test_half_of_a_letter_from_the_cli_is_no_failure(self) -> None:
        with serving(ScriptedBackend(answer("a\ud83d"))) as endpoint:
            assert endpoint.chat().status == 200
            assert endpoint.chat(stream=True).events[-1] == "[DONE]"


class TestBadRequests:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b'{"model": NaN}',
            b'{"a": 1, "a": 2}',
            b"\xef\xbb\xbf{}",
            json.dumps(HELLO).encode("utf-16"),
            b'{"a": "\xff"}',
            b"[" * 100_000,
            b"9" * 5000,
        ],
    )
    def test_bad_json(self, endpoint: Endpoint, body: bytes) -> None:
        refused(endpoint.ask(body=body), 400, "invalid_json")

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"messages": [None]}, None),
            ({"messages": []}, None),
            ({"model": 3}, None),
            ({"temperature": 0}, "unsupported_parameter"),
            ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "unsupported_parameter"),
            ({"n": 2}, "unsupported_parameter"),
        ],
    )
    def test_wrong_shapes_and_what_is_not_done(
        self, endpoint: Endpoint, changes: dict[str, Any], code: str | None
    ) -> None:
        before = len(endpoint.backend.requests)
        reply = endpoint.chat(**changes)
        error = refused(reply, 400, code or reply.error["code"])
        assert error["type"] == "invalid_request_error"
        assert error["param"].startswith(next(iter(changes)))
        assert len(endpoint.backend.requests) == before, "a wrong request got as far as the backend"

    def test_a_model_that_the_backend_does_not_know(self) -> None:
        unknown = ApiError(400, "There is no model of this name.", param="model", code="model_not_found")
        for stream in (False, True):
            with serving(ScriptedBackend([unknown])) as endpoint:
                assert refused(endpoint.chat(stream=stream), 400, "model_not_found")["param"] == "model"

    def test_what_is_no_http(self, endpoint: Endpoint) -> None:
        for nonsense in (b"hello\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
            refused(endpoint.talk(nonsense), 400, "bad_request")

    def test_a_header_that_is_too_long(self, endpoint: Endpoint) -> None:
        reply = endpoint.talk(f"GET /v1/models HTTP/1.1\r\nX: {'a' * 20_000}\r\n\r\n".encode())
        assert reply.status in (400, 431)
        assert reply.error["type"] == "invalid_request_error"


class TestPathsAndMethods:
    @pytest.mark.parametrize(
        "path", ["/", "/v1", "/v1/", "/v1/chat", "/v1/chat/completions/", "/v1/modelsx", "/V1/models"]
    )
    def test_unknown_paths(self, endpoint: Endpoint, path: str) -> None:
        for method in ("GET", "POST"):
            refused(endpoint.ask(method, path), 404, "not_found")

    @pytest.mark.parametrize("path", ["/v1/models/", "/v1/models/gpt-4o", "/v1/models/%00%ff"])
    def test_unknown_models(self, endpoint: Endpoint, path: str) -> None:
        refused(endpoint.ask("GET", path), 404, "model_not_found")

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
    def test_unknown_methods_for_completions(self, endpoint: Endpoint, method: str) -> None:
        reply = endpoint.ask(method, CHAT)
        if reply.status == 400:  # a method that aiohttp's parser does not know
            refused(reply, 400, "bad_request")
            assert method == "BREW"
            return
        refused(reply, 405, "method_not_allowed")
        assert reply.headers["Allow"] == "POST"

    def test_unknown_methods_for_models(self, endpoint: Endpoint) -> None:
        reply = endpoint.ask("POST", "/v1/models")
        refused(reply, 405, "method_not_allowed")
        assert reply.headers["Allow"] == "GET"

    def test_a_head_request_gets_no_body(self, endpoint: Endpoint) -> None:
        reply = endpoint.ask("HEAD", "/v1/models")
        assert (reply.status, reply.body) == (405, b"")

    @pytest.mark.parametrize(
        "media_type",
        [
            None,
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonx",
            "application/json; charset=utf-16",
            "text/plain; application/json",
        ],
    )
    def test_media_types(self, endpoint: Endpoint, media_type: str | None) -> None:
        reply = endpoint.ask(headers=endpoint.head(Content_Type=media_type))
        refused(reply, 415, "unsupported_media_type")

    def test_media_types_that_are_json(self, endpoint: Endpoint) -> None:
        for media_type in ("application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'):
            assert endpoint.ask(headers=endpoint.head(Content_Type=media_type)).status == 200


class TestBackends:
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(
        ("failure", "status", "code"),
        [
            (cli_failed("Claude Code does not start.", "cli_not_started"), 502, "cli_not_started"),
            (cli_failed("Nobody is signed in.", "signed_out"), 502, "signed_out"),
            (plan_limit_reached("The plan's limit is reached."), 429, "plan_limit_reached"),
            (ApiError(504, "Silence.", kind="server_error", code="timeout", should_retry=False), 504, "timeout"),
        ],
    )
    def test_failures_before_the_start(self, stream: bool, failure: ApiError, status: int, code: str) -> None:
        with serving(ScriptedBackend([failure])) as endpoint:
            reply = endpoint.chat(stream=stream)
            refused(reply, status, code)
            assert reply.headers["x-should-retry"] == "false"
            endpoint.wait_until_idle()

    def test_failures_after_the_start_without_streaming(self) -> None:
        with serving(ScriptedBackend([Started(), TextDelta("Hel"), cli_failed("It failed.")])) as endpoint:
            reply = endpoint.chat()
        refused(reply, 502, "cli_failed")

    @pytest.mark.parametrize("stream", [False, True])
    def test_an_answer_without_a_word(self, stream: bool) -> None:
        with serving(ScriptedBackend([Finished("stop")])) as endpoint:
            reply = endpoint.chat(stream=stream)
        refused(reply, 502, "empty_answer")
        assert reply.headers["x-should-retry"] == "false"

    @pytest.mark.parametrize("stream", [False, True])
    def test_an_answer_that_does_not_end(self, stream: bool) -> None:
        """The generator is exhausted without `Finished`: the CLI has gone in the middle."""
        with serving(ScriptedBackend([])) as endpoint:
            refused(endpoint.chat(stream=stream), 502, "cli_failed")

    def test_an_answer_that_is_too_long(self) -> None:
        with serving(ScriptedBackend(answer("é" * 600)), max_output=1000) as endpoint:
            refused(endpoint.chat(), 502, "output_too_large")
            endpoint.wait_until_idle()

    def test_models_that_the_cli_does_not_tell(self) -> None:
        with serving(ScriptedBackend(models=cli_failed("It does not start."))) as endpoint:
            refused(endpoint.ask("GET", "/v1/models"), 502, "cli_failed")

    @pytest.mark.parametrize("stream", [False, True])
    def test_the_deadline(self, stream: bool) -> None:
        with serving(ScriptedBackend([Hold()]), timeout=0.2) as endpoint:
            reply = endpoint.chat(stream=stream)
            refused(reply, 504, "timeout")
            assert reply.headers["x-should-retry"] == "false"
            endpoint.wait_until_idle()

    def test_the_deadline_is_told_although_the_cli_needs_time_to_end(self) -> None:
        tidying = Hold()
        with serving(ScriptedBackend([Hold()], tidying=tidying), timeout=0.2, max_concurrent=1) as endpoint:
            refused(endpoint.chat(), 504, "timeout")
            assert endpoint.server.gate.free == 0, "the place was free before the CLI was gone"
            tidying.release()
            endpoint.wait_until_idle()

    @pytest.mark.logs("unexpected ZeroDivisionError")
    @pytest.mark.parametrize("stream", [False, True])
    def test_a_defect_of_ours_is_a_500_without_details(self, stream: bool, caplog: pytest.LogCaptureFixture) -> None:
        with serving(ScriptedBackend([ZeroDivisionError("a secret of the prompt")])) as endpoint:
            reply = endpoint.chat(stream=stream)
        error = refused(reply, 500, "internal_error")
        assert error["type"] == "server_error"
        assert "secret" not in reply.body.decode()
        assert "secret" not in caplog.text
        assert "_play_steps" in caplog.text, "the log does not say where it was"
        assert reply.headers["x-request-id"] in caplog.text


class TestBusy:
    def test_over_the_limit_and_the_queue(self) -> None:
        hold = Hold()
        backend = ScriptedBackend([hold, *answer("Hi")])
        with serving(backend, max_concurrent=1, queue=0) as endpoint, endpoint.connect() as client:
            client.sendall(endpoint.request_bytes())
            hold.wait_until_reached()
            for stream in (False, True):
                reply = endpoint.chat(stream=stream)
                assert refused(reply, 429, "server_busy")["type"] == "rate_limit_error"
                assert int(reply.headers["Retry-After"]) > 0
                assert "x-should-retry" not in reply.headers, "waiting and asking again is right here"
            hold.release()
            assert b"200 OK" in client.recv(100)
        assert backend.most_running == 1

    def test_the_queue_is_served_in_order(self) -> None:
        hold, order = Hold(), []

        async def play(request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
            order.append(request.turns[0].text)
            await hold.pass_through()
            yield TextDelta("Hi")
            yield Finished("stop")

        with serving(ScriptedBackend(play), max_concurrent=1, queue=3) as endpoint:
            clients = []
            for before, name in enumerate("abcd"):
                clients.append(endpoint.connect())
                clients[-1].sendall(endpoint.request_bytes({**HELLO, "messages": [{"role": "user", "content": name}]}))
                if name == "a":
                    hold.wait_until_reached()
                endpoint.wait_until(lambda n=before: endpoint.server.gate.waiting == n, "it waits")  # type: ignore[misc]
            assert endpoint.chat().status == 429
            hold.release()
            for client in clients:
                with client:
                    assert b"200 OK" in client.recv(100)
        assert order == ["a", "b", "c", "d"]

    def test_a_client_that_asks_one_thing_after_the_other_is_never_too_many(self) -> None:
        """Also not while its last CLI has not quite gone."""
        tidying = Hold()
        with serving(ScriptedBackend(answer("Hi"), tidying=tidying), max_concurrent=1, queue=0) as endpoint:
            assert endpoint.chat().status == 200
            with endpoint.connect() as client:
                client.sendall(endpoint.request_bytes())
                endpoint.wait_until(lambda: endpoint.server.gate.waiting == 1, "the second waits")
                tidying.release()
                assert b"200 OK" in client.recv(100)

    def test_who_waits_longer_than_a_request_may_take_is_told_to_come_again(self) -> None:
        hold = Hold()
        with serving(ScriptedBackend([hold]), max_concurrent=1, queue=1, timeout=0.5) as endpoint:
            with endpoint.connect() as client:
                client.sendall(endpoint.request_bytes())
                hold.wait_until_reached()
                reply = endpoint.chat()
                assert reply.status in (429, 504)
            endpoint.wait_until_idle()


class TestWhoMayNotAsk:
    def test_no_token_and_a_wrong_one(self, endpoint: Endpoint) -> None:
        for value, code in [
            (None, "missing_api_key"),
            ("", "invalid_api_key"),
            ("Bearer", "invalid_api_key"),
            ("Bearer DUMMY_KEY", "invalid_api_key"),
            (f"Bearer {TOKEN}x", "invalid_api_key"),
            (f"Bearer {TOKEN[:-1]}", "invalid_api_key"),
            (f"Basic {TOKEN}", "invalid_api_key"),
            (TOKEN, "invalid_api_key"),
        ]:
            for method, path in [("POST", CHAT), ("GET", "/v1/models"), ("GET", "/nothing"), ("OPTIONS", CHAT)]:
                reply = endpoint.ask(method, path, headers=endpoint.head(Authorization=value))
                assert refused(reply, 401, code)["type"] == "authentication_error"
                assert reply.headers["WWW-Authenticate"] == "Bearer"
                assert TOKEN not in reply.body.decode()

    def test_foreign_origins(self, endpoint: Endpoint) -> None:
        for headers in [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": f"http://localhost:{endpoint.port + 1}"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ]:
            for method in ("POST", "OPTIONS"):
                reply = endpoint.ask(method, headers={**endpoint.head(), **headers})
                assert refused(reply, 403, "foreign_origin")["type"] == "permission_error"

    def test_foreign_hosts(self, endpoint: Endpoint) -> None:
        for host in [
            "evil.example",
            f"evil.example:{endpoint.port}",
            "127.0.0.1",
            f"127.0.0.1:{endpoint.port}.evil",
            "",
        ]:
            refused(endpoint.ask(headers=endpoint.head(Host=host)), 421, "wrong_host")

    def test_bodies_that_are_too_large(self, endpoint: Endpoint) -> None:
        refused(endpoint.ask(body=b" " * (1024 * 1024 + 1)), 413, "request_too_large")
        assert refused(endpoint.ask(body=b" " * (1024 * 1024)), 400, "invalid_json")
