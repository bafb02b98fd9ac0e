"""The stand-in CLI as a program under test, and as arguments for whatever starts a CLI."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.helpers.program import Message, Program

FAKE_CLI = (sys.executable, "-m", "fake_cli")
ROOT = Path(__file__).resolve().parents[2]
STREAM_FLAGS = (
    "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
    "--permission-prompt-tool", "stdio",
)  # fmt: skip


def write_scenario(folder: Path, *turns: list[Any], **options: Any) -> Path:
    """A scenario file whose turns are taken one after the other."""
    return write_json(folder, {"options": options, "turns": list(turns)})


def write_json(folder: Path, scenario: Any) -> Path:
    path = folder / f"scenario-{uuid.uuid4().hex[:8]}.json"
    path.write_text(json.dumps(scenario, ensure_ascii=False), encoding="utf-8")
    return path


class FakeCli(Program):
    """One stream-json session with the stand-in; waits are switched off unless `pace` says otherwise."""

    def __init__(
        self,
        *flags: str,
        scenario: Path | None = None,
        partial: bool = True,
        pace: float = 0,
        env: Mapping[str, str] | None = None,
        exit_code: int = 0,
        noise_is_fine: bool = False,
    ) -> None:
        argv = [*FAKE_CLI, *STREAM_FLAGS, *flags]
        if partial:
            argv.append("--include-partial-messages")
        if scenario is not None:
            argv += ["--scenario", str(scenario)]
        super().__init__(
            argv, env={"FAKE_CLI_PACE": str(pace), **(env or {})}, cwd=ROOT, exit_code=exit_code,
            noise_is_fine=noise_is_fine,
        )  # fmt: skip
        self._requests = 0

    def __enter__(self) -> FakeCli:
        return self

    # What the host says

    def ask(self, subtype: str, **fields: Any) -> Message:
        """A control request; returns the inner `response` object that answers it."""
        request_id = self.request(subtype, **fields)
        answer = self.wait_for(
            lambda m: m.get("type") == "control_response" and m["response"].get("request_id") == request_id
        )
        response: Message = answer["response"]
        return response

    def request(self, subtype: str, **fields: Any) -> str:
        self._requests += 1
        request_id = f"req_{self._requests}"
        self.send({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})
        return request_id

    def initialize(self, **fields: Any) -> Message:
        answer = self.ask("initialize", hooks=None, **fields)
        assert answer["subtype"] == "success", self.account("the handshake failed")
        reply: Message = answer["response"]
        return reply

    def say(self, content: Any, **extra: Any) -> None:
        message = {"role": "user", "content": content}
        self.send({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", **extra})

    def reply(self, request: Message, response: Message) -> None:
        envelope = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": envelope})

    def allow(self, request: Message, **changes: Any) -> None:
        """Allows with the input that was shown, and `changes` to it."""
        shown = request["request"]["input"]
        self.reply(request, {"behavior": "allow", "updatedInput": {**shown, **changes}})

    def deny(self, request: Message, message: str = "No.", **extra: Any) -> None:
        self.reply(request, {"behavior": "deny", "message": message, **extra})

    # What the CLI says

    def next_request(self, subtype: str = "can_use_tool", number: int = 0) -> Message:
        """The `number`-th control request of that subtype, from 0."""
        self.wait_until(lambda: len(self.requests(subtype)) > number)
        return self.requests(subtype)[number]

    def requests(self, subtype: str = "can_use_tool") -> list[Message]:
        return [m for m in self.messages if m.get("type") == "control_request" and m["request"]["subtype"] == subtype]

    def result(self, number: int = 0) -> Message:
        """The `number`-th result, from 0."""
        self.wait_until(lambda: len(self.of_type("result")) > number)
        return self.of_type("result")[number]

    def of_type(self, kind: str, **fields: Any) -> list[Message]:
        return [m for m in self.messages if m.get("type") == kind and all(m.get(k) == v for k, v in fields.items())]

    def texts(self, **fields: Any) -> list[str]:
        """The text blocks of the assistant's whole messages that have these fields."""
        blocks = [block for message in self.of_type("assistant", **fields) for block in message["message"]["content"]]
        return [block["text"] for block in blocks if block["type"] == "text"]

    def streamed(self) -> str:
        """All text deltas, joined."""
        deltas = [m["event"].get("delta", {}) for m in self.of_type("stream_event")]
        return "".join(delta["text"] for delta in deltas if delta.get("type") == "text_delta")

    def violation(self, exit_code: int = 3) -> str:
        """What the CLI says on stderr when it ends because the host was wrong."""
        self.exit_code = exit_code
        code = self.wait_for_exit()
        assert code == exit_code, self.account(f"it ended with {code}")
        return self.stderr
