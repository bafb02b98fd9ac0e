"""`Session` with a scripted peer: requests by id, one reply each, and an end that is noticed however it comes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from protocol import permissions, requests
from protocol.conversation import Change
from protocol.incoming import Incoming
from protocol.options import SessionOptions
from protocol.process import Ladder
from protocol.session import RequestRefused, Session, SessionError, UsageError
from protocol.wire import Line, WireError
from tests.helpers.peer import Peer, run

IDLE = """
    shake()
    until_end()
"""


class TestStart:
    def test_the_command_line_speaks_the_protocol_and_says_only_what_was_chosen(self, tmp_path: Path) -> None:
        plain = SessionOptions(("claude",), tmp_path, {}).command()
        assert plain == [
            "claude",
            *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
            *("--permission-prompt-tool", "stdio", "--include-partial-messages"),
        ]
        chosen = SessionOptions(
            ("claude",),
            tmp_path,
            {},
            model="opus",
            permission_mode="plan",
            resume="id",
            fork=True,
            add_dirs=(Path("/a"), Path("/b")),
            extra_args=("--x",),
        ).command()
        for part in (["--model", "opus"], ["--permission-mode", "plan"], ["--resume", "id", "--fork-session"], ["--x"]):
            at = chosen.index(part[0])
            assert chosen[at : at + len(part)] == part
        # --add-dir takes all words up to the next flag.
        at = chosen.index("--add-dir")
        assert chosen[at : at + 4] == ["--add-dir", "/a", "/b", "--input-format"]

    def test_the_handshake_tells_what_the_cli_offers(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, IDLE, title="My title") as peer:
                assert peer.session.running
                assert [c.name for c in peer.session.initialize_reply.commands] == ["compact"]
                assert peer.session.conversation.state == "idle"
            [request] = peer.heard("control_request")
            assert request["request"] == requests.initialize(title="My title")

        run(test())

    def test_a_session_starts_once(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, IDLE) as peer:
                with pytest.raises(UsageError):
                    await peer.session.start()

        run(test())

    def test_a_program_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        async def test() -> None:
            session = Session(SessionOptions((str(tmp_path / "no-claude"),), tmp_path, {}))
            with pytest.raises(SessionError, match="no-claude"):
                await session.start()
            assert await session.close() is None

        run(test())

    @pytest.mark.parametrize(
        ("script", "words"),
        [
            ("sys.exit(1)", ["Claude exited (code 1)."]),
            ("sys.stderr.write('node: bad option\\n'); sys.exit(9)", ["code 9", "node: bad option"]),
            (
                "print('Please update first:\\nclaude update'); sys.exit(1)",
                ["code 1", "Please update first:\nclaude update"],
            ),
            ("read(); print('Killed'); sys.exit(3)", ["code 3", "Killed"]),
            (
                "read(); say({'type': 'result', 'subtype': 'error_during_execution', 'is_error': True,"
                " 'errors': ['No conversation found with session ID: x']}); sys.exit(1)",
                ["code 1", "No conversation found"],
            ),
            ("os.kill(os.getpid(), 9)", ["SIGKILL"]),
            ("no(read(), 'Not today')", ["refused to start", "Not today"]),
        ],
    )
    def test_a_cli_that_does_not_come_up_gives_its_own_reason(
        self, tmp_path: Path, script: str, words: list[str]
    ) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, script)
            with pytest.raises(SessionError) as caught:
                await peer.session.start()
            assert all(word in str(caught.value) for word in words), str(caught.value)
            assert not peer.session.running
            assert peer.session.exit is not None
            assert peer.session.conversation.state == "exited"

        run(test())

    def test_a_cli_that_says_nothing_is_given_up_at_the_deadline(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "print('Loading…', flush=True); time.sleep(60)", handshake_timeout=0.5)
            began = time.monotonic()
            with pytest.raises(SessionError, match=r"within 0\.5 seconds") as caught:
                await peer.session.start()
            assert "Loading…" in caught.value.detail
            assert time.monotonic() - began < 10
            assert peer.session.exit is not None

        run(test())

    def test_a_program_that_prints_for_ever_instead_of_a_handshake_does_not_fill_the_memory(
        self, tmp_path: Path
    ) -> None:
        script = "write(b'banner 1\\n' + b'yes\\n' * 120_000 + b'done\\n'); time.sleep(60)"

        async def test() -> None:
            peer = Peer(tmp_path, script, handshake_timeout=80.0)
            peer.session._wire_log = None  # this test's own, which would keep every line
            start = asyncio.create_task(peer.session.start())
            while peer.conversation.damaged < 120_002:
                assert not start.done()
                await asyncio.sleep(0.05)
            held = tracemalloc.get_traced_memory()[0]
            await peer.session.close()
            with pytest.raises(SessionError):
                await start
            assert held < 4_000_000

        tracemalloc.start()
        try:
            run(test(), 100)
        finally:
            tracemalloc.stop()

    def test_a_start_that_is_cancelled_leaves_no_process(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "time.sleep(60)")
            start = asyncio.create_task(peer.session.start())
            await asyncio.sleep(0.5)
            pid = peer.session.pid
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start
            assert pid is not None
            assert not psutil.pid_exists(pid)

        run(test())

    def test_a_start_that_is_cancelled_before_the_process_is_there_leaves_none_either(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, IDLE)
            start = asyncio.create_task(peer.session.start())
            await asyncio.sleep(0)
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start
            assert peer.session.pid is None or not psutil.pid_exists(peer.session.pid)

        run(test())

    def test_closing_while_it_starts_ends_the_start(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "time.sleep(60)")
            start = asyncio.create_task(peer.session.start())
            await asyncio.sleep(0)
            assert await peer.session.close() is not None
            with pytest.raises(SessionError, match="closed"):
                await start

        run(test())

    def test_a_process_that_was_started_ahead_hears_nothing_before_the_handshake(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, IDLE)
            session = peer.session
            assert not session.alive
            await session.spawn()
            assert session.alive
            assert not session.running
            with pytest.raises(SessionError, match="not running"):
                session.send("too early")
            handshake = requests.initialize(system_prompt="Be kind.", json_schema={"type": "object"})
            await session.start(handshake)
            assert session.running
            await session.close()
            assert not session.alive
            assert [message["request"] for message in peer.heard()] == [handshake]

        run(test())

    def test_a_process_is_started_once_and_shakes_hands_once(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, IDLE)
            await peer.session.spawn()
            with pytest.raises(UsageError):
                await peer.session.spawn()
            await peer.session.start()
            with pytest.raises(UsageError):
                await peer.session.start()
            await peer.session.close()

        run(test())

    def test_a_process_that_died_before_the_handshake_says_so(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "sys.stderr.write('the login is over'); sys.exit(7)")
            await peer.session.spawn()
            assert (await peer.session.wait_closed()).code == 7
            assert not peer.session.alive
            with pytest.raises(SessionError, match=r"code 7.*\n.*the login is over"):
                await peer.session.start()

        run(test())

    def test_a_process_that_dies_with_the_handshake_says_so(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "read(); sys.exit(7)")
            await peer.session.spawn()
            with pytest.raises(SessionError, match="code 7"):
                await peer.session.start()
            assert peer.session.exit is not None

        run(test())

    def test_a_process_that_was_never_needed_is_ended(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "time.sleep(60)")
            await peer.session.spawn()
            pid = peer.session.pid
            end = await peer.session.close(Ladder(eof=0.0, term=1.0, kill=2.0))
            assert pid is not None
            assert not psutil.pid_exists(pid)
            assert end is not None
            assert end.how == "terminated"
            with pytest.raises(SessionError, match="closed"):
                await peer.session.start()

        run(test())

    def test_a_megabyte_on_stderr_before_the_handshake_stalls_nothing(self, tmp_path: Path) -> None:
        async def test() -> None:
            script = (
                "sys.stderr.write('x' * 1_000_000 + '\\nthe last words\\n'); sys.stderr.flush(); shake(); sys.exit(4)"
            )
            peer = Peer(tmp_path, script)
            await peer.session.start()
            end = await peer.session.wait_closed()
            assert (end.code, end.stderr_tail.strip().endswith("the last words")) == (4, True)

        run(test())


class TestOwnRequests:
    def test_several_are_open_at_once_and_answered_by_id_in_any_order(self, tmp_path: Path) -> None:
        script = """
            shake()
            asked = [read() for _ in range(3)]
            for request in reversed(asked):
                ok(request, {"echo": request["request"]["query"]})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                asking = [peer.session.request(requests.file_suggestions(q)) for q in "abc"]
                assert [reply["echo"] for reply in await asyncio.gather(*asking)] == ["a", "b", "c"]

        run(test())

    def test_a_refusal_is_raised_with_its_reason_and_code(self, tmp_path: Path) -> None:
        script = """
            shake()
            no(read(), "Cannot set permission mode", "bypass_not_launched")
            no(read(), "Unsupported control request subtype: list_models", "unsupported_request")
            no(read(), "")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                with pytest.raises(RequestRefused) as caught:
                    await peer.session.set_permission_mode("bypassPermissions")
                assert (caught.value.error, caught.value.code) == ("Cannot set permission mode", "bypass_not_launched")
                assert not caught.value.unsupported
                with pytest.raises(RequestRefused) as caught:
                    await peer.session.request(requests.list_models())
                assert caught.value.unsupported
                with pytest.raises(RequestRefused, match="without a reason"):
                    await peer.session.set_model("opus")

        run(test())

    def test_a_silent_cli_is_named_after_the_deadline_and_its_late_answer_is_ignored(self, tmp_path: Path) -> None:
        script = """
            shake()
            late = read()
            second = read()
            ok(late, {"number": 1})
            ok(second, {"number": 2})
            ok(second, {"number": 2})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                with pytest.raises(SessionError, match=r"“get_usage” within 0\.2 seconds"):
                    await peer.session.request(requests.get_usage(), timeout=0.2)
                assert await peer.session.request(requests.get_usage()) == {"number": 2}
            # CLIs up to 2.0.76 exit at a control_cancel_request, so none is ever sent.
            assert peer.heard("control_cancel_request") == []

        run(test())

    def test_answers_that_nobody_waits_for_are_ignored(self, tmp_path: Path) -> None:
        script = """
            shake()
            ok({"request_id": "req_999"})
            say({"type": "control_response", "request_id": "beside", "response": {"subtype": "success"}})
            ok(read(), {"fine": True})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                assert await peer.session.request(requests.get_usage()) == {"fine": True}

        run(test())

    def test_whoever_waits_when_the_cli_exits_is_told_why(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "shake(); read(); sys.stderr.write('out of memory\\n'); sys.exit(7)")
            await peer.session.start()
            with pytest.raises(SessionError, match=r"(?s)code 7.*out of memory"):
                await peer.session.request(requests.get_usage())
            await peer.session.wait_closed()
            with pytest.raises(SessionError, match=r"(?s)code 7.*out of memory"):
                peer.session.send("too late")

        run(test())

    def test_what_json_cannot_say_is_our_error_and_nothing_is_sent(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, IDLE) as peer:
                with pytest.raises(WireError):
                    await peer.session.request({"subtype": "x", "value": float("nan")})
                with pytest.raises(WireError):
                    peer.session.send([{"type": "text", "text": b"bytes"}])
                assert peer.session.running
            assert len(peer.heard()) == 1

        run(test())


class TestTheirRequests:
    def test_an_answer_goes_out_once_with_the_id_inside(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ask('r1'); until_end()") as peer:
                await peer.until_pending("r1")
                assert peer.session.answer("r1", permissions.allow({"command": "ls"}))
                assert not peer.session.answer("r1", permissions.deny("no"))
                assert not peer.session.refuse("r1", "no")
                assert not peer.session.answer("never asked", permissions.deny("no"))
            assert peer.heard("control_response") == [
                requests.success("r1", {"behavior": "allow", "updatedInput": {"command": "ls"}})
            ]
            assert ("pending_removed", "r1", "answered") in [(c.kind, c.id, c.reason) for c in peer.changes]

        run(test())

    def test_two_open_requests_are_answered_in_reverse_order(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ask('r1'); ask('r2'); until_end()") as peer:
                await peer.until_pending("r1", "r2")
                assert peer.session.answer("r2", permissions.deny("second first"))
                assert peer.session.answer("r1", permissions.allow({}))
            assert [m["response"]["request_id"] for m in peer.heard("control_response")] == ["r2", "r1"]

        run(test())

    def test_a_request_that_the_cli_takes_back_needs_no_answer_and_gets_none(self, tmp_path: Path) -> None:
        script = """
            shake()
            ask('r1')
            ask('r2')
            say({"type": "control_cancel_request", "request_id": "r1"})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until(lambda: list(peer.session.conversation.pending) == ["r2"])
                assert not peer.session.answer("r1", permissions.allow({}))
            assert peer.heard("control_response") == []
            assert ("pending_removed", "r1", "withdrawn") in [(c.kind, c.id, c.reason) for c in peer.changes]

        run(test())

    def test_a_new_request_with_the_id_of_one_that_was_taken_back_is_told_after_that_one_is_gone(
        self, tmp_path: Path
    ) -> None:
        script = """
            shake()
            ask("r1", input={"command": "ls"})
            read()
            request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf ~"}}
            write(b"".join(json.dumps(message).encode() + b"\\n" for message in [
                {"type": "control_cancel_request", "request_id": "r1"},
                {"type": "control_request", "request_id": "r1", "request": request},
            ]))
            until_end()
        """

        async def test() -> None:
            peer = Peer(tmp_path, script)
            seen: list[list[str]] = []
            listen = peer.session._on_changes

            def look(changes: Sequence[Change]) -> None:
                if any(change.kind == "pending_removed" for change in changes):
                    seen.append([pending.request_id for pending in peer.conversation.pending.values()])
                listen(changes)

            peer.session._on_changes = look
            async with peer:
                await peer.until_pending("r1")
                peer.session.send("go on")
                await peer.until(lambda: "rm -rf ~" in str(peer.conversation.pending["r1"].request))
            # A view that looks when it is told that the first is gone must not find the second under its id.
            assert seen[0] == []

        run(test())

    def test_what_this_host_cannot_answer_gets_an_error_at_once_and_undeclared_dialogs_get_nothing(
        self, tmp_path: Path
    ) -> None:
        script = """
            shake()
            for n, subtype in enumerate(["hook_callback", "mcp_message", "future_x", "request_user_dialog"]):
                say({"type": "control_request", "request_id": f"r{n}", "request": {"subtype": subtype}})
            say({"type": "control_request", "request_id": "r4", "request": {"subtype": "can_use_tool"}})
            say({"type": "control_request", "request_id": "r5"})
            replies = [read() for _ in range(5)]
            ask("done")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until_pending("done")
                assert list(peer.session.conversation.pending) == ["done"]
            replies = [m["response"] for m in peer.heard("control_response")]
            assert [r["request_id"] for r in replies] == ["r0", "r1", "r2", "r4", "r5"]
            assert {r["subtype"] for r in replies} == {"error"}
            assert "hook_callback" in replies[0]["error"]

        run(test())

    @pytest.mark.parametrize(
        ("tool", "response"),
        [
            ("Bash", {"allow": True}),
            ("Bash", {"behavior": "allow"}),
            ("Bash", {"behavior": "deny"}),
            ("Bash", {"behavior": "deny", "message": " "}),
            ("Bash", {}),
            ("AskUserQuestion", {"behavior": "allow", "updatedInput": {"questions": []}}),
            ("AskUserQuestion", {"behavior": "allow", "updatedInput": {"questions": [], "answers": {}}}),
        ],
    )
    def test_a_decision_that_clis_refuse_in_silence_is_our_error_and_the_request_stays_open(
        self, tmp_path: Path, tool: str, response: dict[str, Any]
    ) -> None:
        async def test() -> None:
            async with Peer(tmp_path, f"shake(); ask('r1', {tool!r}); until_end()") as peer:
                await peer.until_pending("r1")
                with pytest.raises(UsageError):
                    peer.session.answer("r1", response)
                assert "r1" in peer.session.conversation.pending
            assert peer.heard("control_response") == []

        run(test())

    def test_an_elicitation_takes_its_own_three_replies(self, tmp_path: Path) -> None:
        script = """
            shake()
            say({"type": "control_request", "request_id": "r1", "request": {"subtype": "elicitation", "message": "m"}})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until_pending("r1")
                for wrong in (permissions.allow({}), {"action": "yes"}, {"action": "accept", "content": [1]}):
                    with pytest.raises(UsageError):
                        peer.session.answer("r1", wrong)
                assert peer.session.answer("r1", permissions.accept({"a": 1}))

        run(test())

    def test_requests_open_since_before_a_reconnect_are_asked_again(self, tmp_path: Path) -> None:
        script = """
            inner = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
            ok(read(), {"pending_permission_requests": [{"request_id": "old", "request": inner}]})
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until_pending("old")
                assert peer.session.answer("old", permissions.deny("no"))

        run(test())

    def test_an_error_reply_can_be_given_to_a_request_that_nobody_can_show(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ask('r1'); until_end()") as peer:
                await peer.until_pending("r1")
                assert peer.session.refuse("r1", "cannot be shown")
            assert peer.heard("control_response") == [requests.error("r1", "cannot be shown")]

        run(test())


class TestMessages:
    def test_a_message_carries_its_uuid_and_reaches_the_transcript(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(
                tmp_path, "shake(); text('echo ' + read()['message']['content']); result(); until_end()"
            ) as peer:
                uuid = peer.session.send("hello", client_composed=True)
                await peer.until(lambda: "echo hello" in peer.texts)
                assert peer.session.send("again", uuid="mine") == "mine"
            first, second = peer.heard("user")
            assert (first["uuid"], first["client_composed"], second["uuid"]) == (uuid, True, "mine")
            assert peer.texts[0] == "hello"

        run(test())

    def test_a_huge_message_and_an_answer_of_the_same_moment_both_arrive_whole(self, tmp_path: Path) -> None:
        big = "漢字 " * 400_000

        async def test() -> None:
            async with Peer(tmp_path, "shake(); ask('r1'); time.sleep(0.3); until_end()") as peer:
                await peer.until_pending("r1")
                peer.session.send(big)
                assert peer.session.answer("r1", permissions.allow({}))
                peer.session.send("half \ud83d an emoji")
            heard = peer.heard()
            assert [m["type"] for m in heard] == ["control_request", "user", "control_response", "user"]
            assert heard[1]["message"]["content"] == big
            assert heard[3]["message"]["content"] == "half \ufffd an emoji"

        run(test())

    def test_a_queued_message_can_be_withdrawn_where_the_cli_can(self, tmp_path: Path) -> None:
        script = """
            shake()
            for reply in ({"cancelled": True}, {"cancelled": False}, {}):
                ok(read(), reply)
            no(read(), "Unsupported control request subtype: cancel_async_message", "unsupported_request")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                assert [await peer.session.withdraw(f"u{n}") for n in range(4)] == [True, False, False, False]
            assert peer.heard("control_request")[1]["request"] == requests.cancel_async_message("u0")

        run(test())

    def test_noise_between_messages_loses_nothing(self, tmp_path: Path) -> None:
        script = r"""
            write(b"Banner\n[debug] x\n[1]\nnull\n42\n\n")
            shake()
            text("one")
            write(b"more noise {\n\xff\xfe\n")
            text("two\u2028three")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until(lambda: {"one", "two\u2028three"} <= set(peer.texts))
                damaged = [m["damaged"] for d, m in peer.traffic if d == "out" and "damaged" in m]
                assert damaged == ["not_json", "not_json", *["not_an_object"] * 3, "not_json", "not_json"]

        run(test())

    def test_a_line_past_the_cap_is_named_and_the_next_one_is_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from protocol.wire import LineReader

        monkeypatch.setattr("protocol.incoming.LineReader", lambda **options: LineReader(10_000, **options))

        async def test() -> None:
            async with Peer(tmp_path, "shake(); text('x' * 20_000); text('after'); until_end()") as peer:
                await peer.until(lambda: "after" in peer.texts)
                assert peer.texts[0].startswith("Claude sent {size} bytes in one line")

        run(test())

    def test_a_line_of_many_megabytes_is_whole_and_so_is_what_follows(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); text('漢' * 4_000_000); text('after'); until_end()") as peer:
                await peer.until(lambda: "after" in peer.texts)
                assert peer.texts == ["漢" * 4_000_000, "after"]

        run(test())

    def test_a_megabyte_on_stderr_during_a_turn_stalls_nothing(self, tmp_path: Path) -> None:
        script = """
            shake()
            read()
            sys.stderr.write("x" * 1_000_000)
            sys.stderr.flush()
            text("still here")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                peer.session.send("go")
                await peer.until(lambda: "still here" in peer.texts)

        run(test())


class TestInterrupt:
    def test_it_is_enveloped_and_its_acknowledgement_is_awaited(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ok(read(), {'still_queued': ['u1']}); until_end()") as peer:
                assert await peer.session.interrupt() == {"still_queued": ["u1"]}
                assert peer.session.running
            assert peer.heard("control_request")[1]["request"] == {"subtype": "interrupt"}

        run(test())

    def test_a_cli_that_does_not_react_is_ended_by_the_ladder(self, tmp_path: Path) -> None:
        script = """
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            shake()
            while True:
                time.sleep(1)
        """

        async def test() -> None:
            peer = Peer(tmp_path, script, interrupt_timeout=0.3)
            await peer.session.start()
            with pytest.raises(SessionError, match="did not react"):
                await peer.session.interrupt()
            assert peer.session.exit is not None
            assert peer.session.exit.how == "killed"
            assert peer.session.pid is not None
            assert not psutil.pid_exists(peer.session.pid)

        run(test())


class TestEnd:
    def test_a_clean_end_is_code_0_and_can_be_asked_for_twice_and_at_once(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, IDLE)
            await peer.session.start()
            first, second, waited = await asyncio.gather(
                peer.session.close(), peer.session.close(), peer.session.wait_closed()
            )
            assert first is second is waited is await peer.session.close()
            assert first is not None
            assert (first.code, first.how) == (0, "eof")
            assert not peer.session.running

        run(test())

    def test_a_caller_who_is_cancelled_does_not_stop_the_ending(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "shake(); until_end(); time.sleep(0.4)")
            await peer.session.start()
            closing = asyncio.create_task(peer.session.close())
            await asyncio.sleep(0.05)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
            assert (await peer.session.wait_closed()).code == 0

        run(test())

    def test_closing_what_was_never_started_is_nothing(self, tmp_path: Path) -> None:
        async def test() -> None:
            session = Peer(tmp_path, IDLE).session
            assert await session.close() is None
            with pytest.raises(UsageError):
                await session.wait_closed()

        run(test())

    def test_an_exit_with_a_question_open_says_so_and_nothing_can_be_answered(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ask('r1'); read(); sys.exit(5)") as peer:
                await peer.until_pending("r1")
                peer.session.send("go")
                end = await peer.session.wait_closed()
                assert end.code == 5
                assert not peer.session.answer("r1", permissions.allow({}))
            assert ("pending_removed", "r1", "exited") in [(c.kind, c.id, c.reason) for c in peer.changes]
            assert peer.session.conversation.state == "exited"

        run(test())

    def test_the_exit_counts_and_not_the_end_of_stdout_which_a_grandchild_can_hold(self, tmp_path: Path) -> None:
        script = """
            shake()
            read()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            text("the last words")
            result()
            os._exit(0)
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                peer.session.send("go")
                began = time.monotonic()
                end = await peer.session.wait_closed()
                assert time.monotonic() - began < 10
                assert (end.code, "the last words" in peer.texts) == (0, True)

        run(test())

    def test_everything_said_before_the_exit_is_heard_first(self, tmp_path: Path) -> None:
        async def test() -> None:
            peer = Peer(tmp_path, "shake()\nfor n in range(2000): text(f'line {n}')\nsys.exit(0)")
            await peer.session.start()
            await peer.session.wait_closed()
            said = [m for d, m in peer.traffic if d == "out" and m.get("type") == "assistant"]
            assert said[-1]["message"]["content"][0]["text"] == "line 1999"

        run(test())

    def test_a_cli_that_closes_its_stdout_and_stays_is_ended(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("protocol.session._EOF_GRACE_SECONDS", 0.3)

        async def test() -> None:
            async with Peer(tmp_path, "shake(); os.close(1); until_end()") as peer:
                end = await peer.session.wait_closed()
                assert end.how in ("eof", "by itself")

        run(test())

    def test_a_cli_that_hears_nothing_any_more_is_ended(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("protocol.session._EOF_GRACE_SECONDS", 0.3)

        async def test() -> None:
            async with Peer(tmp_path, "shake(); os.close(0); text('deaf'); time.sleep(60)") as peer:
                await peer.until(lambda: "deaf" in peer.texts)
                peer.session.send("are you there?")
                end = await asyncio.wait_for(peer.session.wait_closed(), 10)
                assert end.how == "terminated"
                assert not peer.session.running

        run(test())

    def test_a_cli_that_ignores_everything_is_killed(self, tmp_path: Path) -> None:
        script = """
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            shake()
            while True:
                time.sleep(1)
        """

        async def test() -> None:
            peer = Peer(tmp_path, script)
            await peer.session.start()
            end = await peer.session.close()
            assert end is not None
            assert end.how == "killed"

        run(test())

    @pytest.mark.logs("could not be ended properly")
    def test_an_ending_that_fails_still_tells_whoever_waits(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from protocol.process import CliProcess

        real = CliProcess.close

        def close(self: CliProcess, *args: Any, **more: Any) -> Any:
            real(self, *args, **more)
            raise OSError("a defect of the system")

        async def test() -> None:
            peer = Peer(tmp_path, "shake(); read(); sys.exit(6)")
            await peer.session.start()
            monkeypatch.setattr(CliProcess, "close", close)
            with pytest.raises(SessionError, match="code 6"):
                await peer.session.request(requests.get_usage())
            assert (await peer.session.wait_closed()).code == 6

        run(test())


class TestListening:
    def test_a_listener_that_fails_does_not_end_the_conversation(self, tmp_path: Path) -> None:
        lost: list[Any] = []

        async def test() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: lost.append(context["exception"]))
            peer = Peer(tmp_path, "shake(); text('one'); ok(read(), {'fine': 1}); until_end()")

            def listener(changes: object) -> None:
                raise RuntimeError("a defect of the window")

            session = Session(peer.options, on_changes=listener)
            await session.start()
            assert await session.request(requests.get_usage()) == {"fine": 1}
            await session.close()

        run(test())
        assert lost
        assert all(isinstance(error, RuntimeError) for error in lost)

    def test_the_wire_log_sees_both_directions_in_order(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, "shake(); ok(read()); until_end()") as peer:
                await peer.session.set_model("opus")
            assert [(d, m["type"]) for d, m in peer.traffic] == [
                ("in", "control_request"),
                ("out", "control_response"),
                ("in", "control_request"),
                ("out", "control_response"),
            ]

        run(test())

    def test_changes_that_come_together_are_told_together(self, tmp_path: Path) -> None:
        script = """
            shake()
            lines, write = [], lambda data: lines.append(data)
            for n in range(300):
                text(f"line {n}")
            text("done")
            sys.stdout.buffer.write(b"".join(lines))
            sys.stdout.buffer.flush()
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                await peer.until(lambda: "done" in peer.texts)
                assert len(peer.changes) > 300
                assert len(peer.batches) < 100

        run(test())


class TestFlood:
    def test_a_flood_leaves_the_loop_time_for_everything_else(self, tmp_path: Path) -> None:
        script = """
            shake()
            line = json.dumps({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
                               "delta": {"type": "text_delta", "text": "x" * 40}}}).encode() + b"\\n"
            for _ in range(300):
                write(line * 500)
            text("the end of the flood")
            until_end()
        """

        async def test() -> None:
            async with Peer(tmp_path, script) as peer:
                gaps, last = [], time.perf_counter()
                while "the end of the flood" not in peer.texts:
                    await asyncio.sleep(0.005)
                    now = time.perf_counter()
                    gaps.append(now - last)
                    last = now
                # 150,000 messages: seconds of work, in turns so short that a beat of 5 ms goes on between them.
                assert len(gaps) > 50
                assert sorted(gaps)[len(gaps) // 2] < 0.05

        run(test(), seconds=100)

    def test_a_flood_can_be_ended(self, tmp_path: Path) -> None:
        script = """
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            shake()
            line = json.dumps({"type": "unheard_of", "x": "y" * 100}).encode() + b"\\n"
            while True:
                write(line * 1000)
        """

        async def test() -> None:
            peer = Peer(tmp_path, script)
            await peer.session.start()
            await asyncio.sleep(0.5)
            began = time.monotonic()
            end = await peer.session.close()
            assert end is not None
            assert end.how == "killed"
            assert time.monotonic() - began < 15

        run(test())

    def test_what_was_said_before_the_end_is_heard_however_long_that_takes(self) -> None:
        heard: list[Line] = []

        def take(line: Line) -> None:
            time.sleep(0.01)  # a window that has much to draw
            heard.append(line)

        async def test() -> None:
            incoming = Incoming(asyncio.get_running_loop(), take, lambda: None)
            incoming.put(b'{"a": 1}\n' * 100)
            incoming.end()
            assert await incoming.finished(0.2)
            assert len(heard) == 100

        run(test())

    def test_the_end_of_a_stream_that_never_ends_is_not_waited_for(self) -> None:
        async def test() -> None:
            incoming = Incoming(asyncio.get_running_loop(), lambda line: None, lambda: None)
            incoming.put(b'{"a": 1}\n')
            assert not await incoming.finished(0.2)

            async def print_on() -> None:
                while True:
                    incoming.put(b'{"a": 1}\n')
                    await asyncio.sleep(0.01)

            printing = asyncio.create_task(print_on())
            assert not await incoming.finished(0.2, most=0.5)
            printing.cancel()

        run(test())

    def test_a_reader_that_is_far_ahead_waits_for_the_loop(self) -> None:
        async def test() -> None:
            lines: list[Any] = []
            incoming = Incoming(asyncio.get_running_loop(), lines.append, lambda: None)
            size, count = 1024 * 1024, 12
            data = b'{"a": "' + b"x" * (size - 10) + b'"}\n'
            put = 0

            def read() -> None:
                nonlocal put
                for _ in range(count):
                    incoming.put(data)
                    put += 1
                incoming.end()

            import threading

            thread = threading.Thread(target=read)
            thread.start()
            time.sleep(0.3)  # noqa: ASYNC251 - the loop is busy with something else
            assert put <= 6
            assert await incoming.finished(20)
            thread.join(5)
            assert len(lines) == count

        run(test())


class TestLibrary:
    def test_importing_the_package_loads_nothing_and_a_session_needs_no_qt(self) -> None:
        script = """
            import sys
            import protocol
            assert "pydantic" not in sys.modules and "asyncio" not in sys.modules
            protocol.Session, protocol.SessionOptions, protocol.child_environment
            assert not [name for name in sys.modules if name.startswith(("PySide6", "qasync", "desktop"))]
            assert set(protocol.__all__) <= set(dir(protocol))
            try:
                protocol.no_such_name
            except AttributeError as error:
                print(error)
        """
        import textwrap

        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=True
        )
        assert "no_such_name" in done.stdout

    def test_the_traffic_of_a_session_is_one_json_object_a_line(self, tmp_path: Path) -> None:
        async def test() -> None:
            async with Peer(tmp_path, IDLE) as peer:
                peer.session.send("a\nb\u2028c")
            data = (tmp_path / "heard.jsonl").read_bytes()
            assert data.count(b"\n") == 2
            assert json.loads(data.split(b"\n")[1])["message"]["content"] == "a\nb\u2028c"

        run(test())
