"""Content blocks of assistant and user messages, in the Messages API's own shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AliasPath, Field, ValidationError

from protocol.messages.base import WireModel
from protocol.messages.fields import Flag, Object, Text, Through


class Block(WireModel):
    """One content block."""


class TextBlock(Block):
    """Words, in Markdown where Claude wrote them."""

    text: str


class ThinkingBlock(Block):
    """What the model thought aloud; may be empty, where only the signature is sent."""

    thinking: Text = ""
    signature: Text = ""


class RedactedThinkingBlock(Block):
    """Thinking that only the API can read."""

    data: Text = ""


class ToolUseBlock(Block):
    """A call of a tool. `server_tool_use` and `mcp_tool_use` (run by the API itself) have the same shape."""

    id: str
    name: Text = ""
    input: Object = Field(default_factory=dict)


class ImageBlock(Block):
    """A picture.

    Attributes:
        media_type: such as `image/png`.
        data: base64; "" for a picture that is only named by `url`.
    """

    media_type: Text = Field(default="", validation_alias=AliasPath("source", "media_type"))
    data: Text = Field(default="", validation_alias=AliasPath("source", "data"))
    url: Text = Field(default="", validation_alias=AliasPath("source", "url"))


class ToolResultBlock(Block):
    """What a tool returned.

    Attributes:
        content: a string, or a list of block objects (text, images) as they came.
    """

    tool_use_id: str
    content: Annotated[str | list[Any], Through(lambda content: _tool_content(content))] = ""
    is_error: Flag = False

    @property
    def text(self) -> str:
        """The words in the result, its text blocks joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block.text for block in parse_blocks(self.content) if isinstance(block, TextBlock))

    @property
    def images(self) -> tuple[ImageBlock, ...]:
        """The pictures in the result."""
        if isinstance(self.content, str):
            return ()
        return tuple(block for block in parse_blocks(self.content) if isinstance(block, ImageBlock))


class UnknownBlock(Block):
    """A block of a kind that this version does not know, or one without what its kind needs."""

    type: str = ""


_BLOCKS: dict[str, type[Block]] = {
    "text": TextBlock,
    "thinking": ThinkingBlock,
    "redacted_thinking": RedactedThinkingBlock,
    "tool_use": ToolUseBlock,
    "server_tool_use": ToolUseBlock,
    "mcp_tool_use": ToolUseBlock,
    "tool_result": ToolResultBlock,
    "image": ImageBlock,
}
_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    kind: model.__pydantic_validator__.validate_python for kind, model in _BLOCKS.items()
}


def parse_blocks(content: object) -> tuple[Block, ...]:
    """Reads a message's `content`. Total: a plain string is one text block, what is no block at all is unknown."""
    if not isinstance(content, list):
        return (TextBlock(text=content),) if isinstance(content, str) and content else ()
    blocks: list[Block] = []
    for value in content:
        try:
            block = _READERS[value["type"]](value)
        except Exception:  # any reason: an unknown type, no type, no object, not what the type needs
            block = _parse_odd_block(value)
        else:
            block.__dict__["raw"] = value
        blocks.append(block)
    return tuple(blocks)


def _parse_odd_block(value: object) -> Block:
    if isinstance(value, Block):
        return value
    if isinstance(value, str):
        return TextBlock(text=value)
    if not isinstance(value, dict):
        return UnknownBlock.keep({}, {"value": value})
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind.endswith("_tool_result"):  # web_search_tool_result, mcp_tool_result, …
        try:
            return ToolResultBlock.read(value)
        except ValidationError:
            pass
    return UnknownBlock.keep({"type": kind}, value)


def _tool_content(content: object) -> str | list[Any]:
    if isinstance(content, str | list):
        return content
    return [content] if isinstance(content, dict) else ""


Blocks = Annotated[tuple[Block, ...], Through(parse_blocks)]
