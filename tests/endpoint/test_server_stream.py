"""The wire of a stream: what comes in which order, and how it ends when it fails."""

from __future__ import annotations

from tests.helpers.endpoint import ScriptedBackend, answer, serving


class TestOrder:
    def test_role_first_then_pieces_then_the_reason_then_done(self) -> None:
        with serving(ScriptedBackend(answer("Hel", "lo"))) as endpoint:
            reply = endpoint.chat(stream=True)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["x-request-id"].startswith("req_")
        deltas = [chunk["choices"][0]["delta"] for chunk in reply.chunks]
        assert deltas == [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {}]
        assert [chunk["choices"][0]["finish_reason"] for chunk in reply.chunks] == [None, None, None, "stop"]
        assert reply.events[-1] == "[DONE]"
        assert reply.body.endswith(b"data: [DONE]\n\n")
        assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in reply.chunks}) == 1
