"""Says an assistant's messages as the CLI does: the Messages API's stream events first, then the same blocks whole."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from fake_cli import shapes

if TYPE_CHECKING:
    from fake_cli.session import Session

_message_numbers = itertools.count(1)


class Speaker:
    """One voice: the main conversation, or a subagent (then everything carries its tool's id).

    Attributes:
        parent: the Agent tool's id, or None for the main conversation.
        streams: whether stream events are sent.
        message_id: the API message that is open, or None between messages.
        begun: ids of all API messages of this turn.
        unfinished: tool uses without a result yet, by id: (name, input).
        said: the text of the newest text block; the turn's `result`.
    """

    def __init__(self, session: Session, *, parent: str | None = None, agent: dict[str, Any] | None = None,
                 streams: bool = True) -> None:
        self._session = session
        self._agent = agent or {}
        self._index = 0
        self._partial: tuple[str, str] | None = None
        self._output_tokens = 0
        self.parent = parent
        self.streams = streams
        self.message_id: str | None = None
        self.begun: list[str] = []
        self.unfinished: dict[str, tuple[str, Any]] = {}
        self.tool_results = 0
        self.said = ""
        self.marks: dict[str, Any] = {}

    # -- one API message ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Opens an API message if none is open."""
        if self.message_id is not None:
            return
        self.message_id = f"msg_{next(_message_numbers):04d}"
        self.begun.append(self.message_id)
        self._index = 0
        if self.streams and self.parent is None:
            ids = {"user_message_uuids": self.marks["user_message_uuids"]} if self.marks else {}
            self._session.system("status", status="requesting", **ids)
        if self.parent is None:
            self._session.replay_taken_messages()
        self._event({"type": "message_start", "message": self._message([])}, ttft_ms=12, **self.marks)

    def end(self, stop_reason: str) -> None:
        """Closes the open API message, if there is one."""
        if self.message_id is None:
            return
        usage = {"output_tokens": max(self._output_tokens, 1)}
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        self._event({"type": "message_delta", "delta": delta, "usage": usage})
        self._event({"type": "message_stop"})
        self._session.count_usage(10, usage["output_tokens"])
        self._output_tokens = 0
        self.message_id = None

    async def text(self, text: str, *, pace: float, chunk: int, deltas: bool | str = True,
                   whole: bool = True) -> None:
        """A text block. `deltas` may be another text than the whole one, or False: the CLI lies on demand."""
        self.begin()
        streamed = deltas if isinstance(deltas, str) else text
        if deltas is not False:
            self._start({"type": "text", "text": ""})
            await self._deltas("text_delta", "text", streamed, pace, chunk)
        self.said = text
        if whole:
            self.assistant([{"type": "text", "text": text}])
        self.close_block(with_event=deltas is not False)

    async def thinking(self, text: str, *, pace: float, chunk: int) -> None:
        self.begin()
        self._start({"type": "thinking", "thinking": "", "signature": ""}, thinking_display="updates")
        if self.streams:
            tokens = max(1, len(text) // 4)
            self._session.system("thinking_tokens", estimated_tokens=tokens, estimated_tokens_delta=tokens)
        await self._deltas("thinking_delta", "thinking", text, pace, chunk)
        signature = {"type": "signature_delta", "signature": "c2ln"}
        self._event({"type": "content_block_delta", "index": self._index, "delta": signature})
        block = {"type": "thinking", "thinking": text, "signature": "c2ln"}
        self.assistant([block], thinking_duration_ms=int(1000 * len(text) / pace) if pace else 1,
                       thinking_display="updates")
        self.close_block()

    async def block(self, block: dict[str, Any]) -> None:
        """A block of any other type, whole at once."""
        self.begin()
        self._start(block)
        self.assistant([block])
        self.close_block()

    async def tool_use(self, name: str, tool_input: Any, tool_use_id: str, *, pace: float, chunk: int = 40,
                       meta: dict[str, Any] | None = None) -> None:
        """A tool_use block, its input streamed as JSON. The block stays open: the tool starts before it is closed."""
        self.begin()
        self._start({"type": "tool_use", "id": tool_use_id, "name": name, "input": {}})
        text = json.dumps(tool_input, ensure_ascii=False)
        await self._deltas("input_json_delta", "partial_json", text, pace, chunk)
        block = {"type": "tool_use", "id": tool_use_id, "name": name, "input": tool_input}
        self.unfinished[tool_use_id] = (name, tool_input)
        extra = {"tool_use_meta": [{"id": tool_use_id, **meta}]} if meta else {}
        self.assistant([block], **extra)

    def close_block(self, *, with_event: bool = True) -> None:
        self._partial = None
        if with_event:
            self._event({"type": "content_block_stop", "index": self._index})
        self._index += 1

    def assistant(self, content: list[dict[str, Any]], **extra: Any) -> None:
        message = self._message(content) | {"context_management": None}
        self._session.send(
            {"type": "assistant", "message": message, "parent_tool_use_id": self.parent, "timestamp": shapes.now()}
            | extra | self._agent | (self.marks if self.parent is None else {})
        )

    def abort_message(self) -> None:
        """What is said when a turn is interrupted while the model writes (recording `interrupt_streaming`)."""
        kind, text = self._partial or ("", "")
        if kind == "text" and text:
            self.assistant([{"type": "text", "text": text}], aborted=True)
        self._session.user([{"type": "text", "text": "[Request interrupted by user]"}])
        if self.message_id is None:
            return
        if self._partial is not None:
            self._event({"type": "content_block_stop", "index": self._index})
        delta = {"container": None, "stop_details": None, "stop_reason": None, "stop_sequence": None}
        self._event({"type": "message_delta", "context_management": None, "delta": delta, "usage": {}})
        self._event({"type": "message_stop"}, abandoned_blocks={"from_block_index": self._index + 1})
        self.message_id = self._partial = None

    # -- results of tools -----------------------------------------------------------------------------------

    def tool_result(self, tool_use_id: str, content: Any, *, is_error: bool | None = None, structured: Any = None,
                    meta: dict[str, Any] | None = None) -> None:
        self.unfinished.pop(tool_use_id, None)
        self.tool_results += 1
        block: dict[str, Any] = {"tool_use_id": tool_use_id, "type": "tool_result", "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        extra: dict[str, Any] = dict(self._agent)
        if structured is not None and self.parent is None:
            extra["tool_use_result"] = structured
        if meta:
            extra["tool_result_meta"] = [{"id": tool_use_id, **meta}]
        self._session.user([block], parent=self.parent, **extra)

    def rejected(self, tool_use_id: str) -> None:
        """The result of a tool use that a stop cut off."""
        self.tool_result(tool_use_id, shapes.REJECTED, is_error=True, structured="User rejected tool use",
                         meta={"non_execution_kind": "user-rejected"})

    # -- details --------------------------------------------------------------------------------------------

    def _message(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        return shapes.api_message(self.message_id or "msg_none", self._session.model, content)

    def _start(self, block: dict[str, Any], **extra: Any) -> None:
        self._partial = (block["type"], "")
        self._event({"type": "content_block_start", "index": self._index, "content_block": block}, **extra)

    async def _deltas(self, kind: str, key: str, text: str, pace: float, chunk: int) -> None:
        if not self.streams:
            # Without deltas the host sees nothing until the block is whole, after the same time.
            await self._session.pause(len(text) / pace if pace else 0)
            self._output_tokens += len(text) // 4
            return
        block_type = self._partial[0] if self._partial else ""
        for start in range(0, len(text), max(chunk, 1)):
            piece = text[start : start + max(chunk, 1)]
            delta = {"type": kind, key: piece}
            self._event({"type": "content_block_delta", "index": self._index, "delta": delta})
            self._partial = (block_type, text[: start + len(piece)])
            await self._session.pause(len(piece) / pace if pace else 0)
        self._output_tokens += len(text) // 4

    def _event(self, event: dict[str, Any], **extra: Any) -> None:
        if not self.streams:
            return
        self._session.send(
            {"type": "stream_event", "event": event, "parent_tool_use_id": self.parent, **extra,
             "api_message_id": self.message_id}
        )
