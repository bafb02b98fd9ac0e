"""What Claude says and thinks: streamed piece by piece, then told again whole, shown once.

With partial messages on, the Messages API's own events come first (`stream_event`), then each finished block comes
again as an `assistant` message. That message arrives before the block's `content_block_stop`, and several of them
share one `message_id`. Subagents stream at the same time, told apart by `parent_tool_use_id`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from protocol.conversation.items import Item, StreamedItem, TextItem, ThinkingItem, ToolItem, grow
from protocol.conversation.tools import Tools
from protocol.conversation.transcript import Transcript
from protocol.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock

_Streamed = TypeVar("_Streamed", TextItem, ThinkingItem)
_TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")
_EMPTY = "(no content)"  # what the CLI puts where a local command has nothing to say


@dataclass(slots=True)
class _Stream:
    """One message while it streams.

    Attributes:
        open: the item of each block that is not over, by the block's index.
        unconfirmed: items whose `assistant` message has not come yet, in the order of their blocks.
    """

    message_id: str
    open: dict[int, Item] = field(default_factory=dict)
    unconfirmed: list[StreamedItem | ToolItem] = field(default_factory=list)


class Speech:
    """Turns stream events and assistant messages into text, thinking and tool items."""

    def __init__(self, transcript: Transcript, tools: Tools) -> None:
        self._transcript = transcript
        self._tools = tools
        self._streams: dict[str | None, _Stream] = {}

    # Streaming

    def event(self, event: dict[str, Any], parent: str | None) -> None:
        """Takes one event of the Messages API's stream. What it does not understand does nothing."""
        kind = event.get("type")
        if kind == "message_start":
            self._start_message(event, parent)
        elif kind == "content_block_start":
            self._start_block(event, parent)
        elif kind == "content_block_delta":
            self._delta(event, parent)
        elif kind == "content_block_stop":
            stream, index = self._streams.get(parent), event.get("index")
            if stream is not None and isinstance(index, int):
                self._stop(stream.open.pop(index, None))
        elif kind == "message_stop":
            stream = self._streams.get(parent)
            for item in stream.open.values() if stream else ():
                self._stop(item)

    def _start_message(self, event: dict[str, Any], parent: str | None) -> None:
        # WORKAROUND: CLIs before 2.1 send the message's `content` with text in it already, which then streams again
        # (they print an object that is being filled). Only the deltas count.
        self._give_up(parent)
        message = event.get("message")
        message_id = message.get("id") if isinstance(message, dict) else ""
        self._streams[parent] = _Stream(message_id if isinstance(message_id, str) else "")

    def _start_block(self, event: dict[str, Any], parent: str | None) -> None:
        block, index = event.get("content_block"), event.get("index")
        if not isinstance(block, dict) or not isinstance(index, int):
            return
        stream = self._streams.setdefault(parent, _Stream(""))
        kind, tool_use_id, name = block.get("type"), block.get("id"), block.get("name")
        if kind in _TOOL_USES and isinstance(tool_use_id, str) and tool_use_id:
            item = self._tools.begin(tool_use_id, name if isinstance(name, str) else "", parent, "streaming")
            stream.open[index] = item
            if item.status == "streaming":
                stream.unconfirmed.append(item)
        else:
            stream.open.pop(index, None)  # text and thinking get their item with the first words

    def _delta(self, event: dict[str, Any], parent: str | None) -> None:
        delta, index = event.get("delta"), event.get("index")
        if not isinstance(delta, dict) or not isinstance(index, int):
            return
        stream = self._streams.setdefault(parent, _Stream(""))
        item = stream.open.get(index)
        if isinstance(item, ToolItem):
            piece = delta.get("partial_json")
            if isinstance(piece, str) and piece and item.status == "streaming":
                self._tools.stream(item, piece)
            return
        is_text = delta.get("type") == "text_delta"
        piece = delta.get("text" if is_text else "thinking")
        if not isinstance(piece, str) or not piece:
            return
        if not isinstance(item, StreamedItem):
            kind = TextItem if is_text else ThinkingItem
            item = kind(
                self._transcript.new_id(),
                parent_tool_use_id=parent,
                message_id=stream.message_id,
                streaming=True,
            )
            stream.open[index] = item
            stream.unconfirmed.append(item)
            self._transcript.add(item)
        if item.streaming:  # else its whole text is here already
            grow(item, piece)
            self._transcript.touch(item)

    def _stop(self, item: Item | None) -> None:
        if isinstance(item, ToolItem):
            self._tools.streamed(item)
        elif isinstance(item, StreamedItem) and item.streaming:
            item.streaming = False
            self._transcript.touch(item)

    def _give_up(self, parent: str | None) -> None:
        """This attempt is over; what streamed and was never confirmed is all there will be of it."""
        stream = self._streams.pop(parent, None)
        if stream is None:
            return
        for item in stream.unconfirmed:
            if isinstance(item, ToolItem):
                self._tools.abandoned(item)
                continue
            item.streaming = False
            if isinstance(item, TextItem):
                item.aborted = True
            self._transcript.touch(item)

    # Whole messages

    def message(self, message: AssistantMessage) -> bool:
        """Takes an assistant message; True if it showed any words."""
        spoke = False
        for block in message.content:
            if isinstance(block, TextBlock):
                spoke = self._text(block, message) or spoke
            elif isinstance(block, ThinkingBlock):
                self._thinking(block, message)
            elif isinstance(block, ToolUseBlock):
                self._confirm_tool(block.id, message.parent_tool_use_id)
                self._tools.use(block, message.parent_tool_use_id, _display_name(message, block.id))
            elif isinstance(block, ToolResultBlock):  # of a tool that the API ran itself
                self._tools.result(block, block.content, {})
        return spoke

    def _text(self, block: TextBlock, message: AssistantMessage) -> bool:
        item = self._confirm(TextItem, block.text, message)
        if item is None:
            if not block.text.strip() or block.text == _EMPTY:
                return False
            item = TextItem(
                self._transcript.new_id(),
                parent_tool_use_id=message.parent_tool_use_id,
                message_id=message.message_id,
            )
            self._transcript.add(item)
        item.text, item.streaming, item.aborted = block.text, False, message.aborted
        self._transcript.touch(item)
        return True

    def _thinking(self, block: ThinkingBlock, message: AssistantMessage) -> None:
        item = self._confirm(ThinkingItem, block.thinking, message)
        if item is None:
            if not block.thinking.strip():
                return
            item = ThinkingItem(
                self._transcript.new_id(),
                parent_tool_use_id=message.parent_tool_use_id,
                message_id=message.message_id,
            )
            self._transcript.add(item)
        item.text, item.streaming = block.thinking or item.text, False
        item.duration_ms = message.thinking_duration_ms
        self._transcript.touch(item)

    def _confirm(self, kind: type[_Streamed], text: str, message: AssistantMessage) -> _Streamed | None:
        """The streamed item that this message tells again: the oldest of its kind that none has told again yet.

        Where the ids differ (a gateway that makes up its own), the text must be the same.
        """
        stream = self._streams.get(message.parent_tool_use_id)
        for index, item in enumerate(stream.unconfirmed if stream else ()):
            if isinstance(item, kind):
                if stream is None or (stream.message_id != message.message_id and item.text != text):
                    return None
                del stream.unconfirmed[index]
                return item
        return None

    def _confirm_tool(self, tool_use_id: str, parent: str | None) -> None:
        stream = self._streams.get(parent)
        if stream is not None:
            stream.unconfirmed = [
                item for item in stream.unconfirmed if not isinstance(item, ToolItem) or item.tool_use_id != tool_use_id
            ]

    # Ends

    def turn_over(self) -> None:
        """The main conversation's stream is over; subagents in the background may stream on."""
        self._give_up(None)

    def exited(self) -> None:
        """All streams are over."""
        for parent in list(self._streams):
            self._give_up(parent)

    def reset(self) -> None:
        """The items are gone."""
        self._streams.clear()


def _display_name(message: AssistantMessage, tool_use_id: str) -> str:
    """A readable name for an MCP server's tool, which 2.1.332 sends along in `tool_use_meta`."""
    metas = message.raw.get("tool_use_meta")
    for meta in metas if isinstance(metas, list) else ():
        if isinstance(meta, dict) and meta.get("id") == tool_use_id:
            name = meta.get("display_name")
            return name if isinstance(name, str) else ""
    return ""
