"""What a client asks for, after all checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture that came with the request.

    Attributes:
        media_type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        data: base64, checked.
    """

    media_type: str
    data: str


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation. `developer` is `system` here."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its words, the text parts joined as they are."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request that can be answered.

    Attributes:
        model: as the client named it; whether it exists is checked by the backend.
        turns: the conversation, at least one turn, in the client's order.
        stream: whether the answer comes in pieces.
        include_usage: whether a stream ends with the usage.
        stop: up to four texts at which the answer ends.
        reasoning_effort: as the client named it, None for the model's own.
        json_schema: the JSON schema that the answer must keep to, None for plain text.
        ignored: parameters that were set, would change the answer and are not done (lenient mode), in the body's order.
    """

    model: str
    turns: tuple[Turn, ...]
    stream: bool = False
    include_usage: bool = False
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    json_schema: dict[str, Any] | None = field(default=None, compare=False)
    ignored: tuple[str, ...] = ()
