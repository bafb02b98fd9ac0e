"""The check of `messages`, every element of it, before anything is started for them."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from protocol.chat_completions.backend import IMAGES
from protocol.chat_completions.check_values import (
    an_object,
    missing,
    one_of,
    only,
    refused,
    required_text,
    text,
    wrong_type,
    wrong_value,
)
from protocol.chat_completions.request import ImagePart, Part, Role, TextPart, Turn
from protocol.chat_completions.words import kind_of, shown

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_OTHER_ROLES: Final = ("tool", "function")

_ECHOED: Final[Mapping[str, object]] = {
    "refusal": "",
    "annotations": [],
    "audio": None,
    "tool_calls": [],
    "function_call": None,
}
"""What clients send back with an answer that they were given, and its empty value, which changes nothing."""

_SAID_AGAIN: Final = "parsed"
"""openai-python's `parse()` adds it: the object that the content, a JSON text, says as well."""

_OTHER_PARTS: Final = ("input_audio", "file", "refusal")

_DATA_URL: Final = re.compile(r"data:image/(?:png|jpe?g|gif|webp)(?:;[^,;]*)*;base64,", re.IGNORECASE)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_HEAD: Final = 16
"""Characters of base64 that hold the twelve bytes by which the four formats are known."""


def read_messages(value: Any, supports: frozenset[str]) -> tuple[Turn, ...]:
    """The conversation.

    Args:
        value: `messages` of the body.
        supports: what the backend can do.

    Raises:
        ApiError: 400 that names the first element, or the part of it, that cannot be taken.
    """
    if value is None:
        raise missing("messages")
    if not isinstance(value, list):
        raise wrong_type("messages", "an array", value)
    if not value:
        raise wrong_value("messages", "is empty; it needs at least one message")
    turns = tuple(_turn(message, f"messages[{index}]", supports) for index, message in enumerate(value))
    if not any(_says_something(turn) for turn in turns):
        raise wrong_value("messages", "holds no user message with words or an image, so there is nothing to answer")
    return turns


def _says_something(turn: Turn) -> bool:
    return turn.role == "user" and any(isinstance(part, ImagePart) or part.text.strip() for part in turn.parts)


def _turn(value: Any, at: str, supports: frozenset[str]) -> Turn:
    message = an_object(value, at)
    role = _role(message, f"{at}.role")
    only(message, ("role", "content", *((*_ECHOED, _SAID_AGAIN) if role == "assistant" else ())), at)
    for name, empty in _ECHOED.items():
        if message.get(name):
            raise refused(f"{at}.{name}", "only the words of an earlier answer are taken")
        if message.get(name) is not None and message[name] != empty:
            raise wrong_type(f"{at}.{name}", "null" if empty is None else f"{kind_of(empty)} or null", message[name])
    return Turn(role, _content(message.get("content"), f"{at}.content", role, supports))


def _role(message: dict[str, Any], at: str) -> Role:
    role = required_text(message, "role", at)
    if role in _OTHER_ROLES:
        raise refused(at, f"the role {shown(role)} belongs to tools of the client, and those are not done")
    return _ROLES[one_of(role, _ROLES, at)]


def _content(value: Any, at: str, role: Role, supports: frozenset[str]) -> tuple[Part, ...]:
    if value is None:
        raise missing(at)
    if isinstance(value, str):
        return (TextPart(value),)
    if not isinstance(value, list):
        raise wrong_type(at, "a string or an array of parts", value)
    if not value:
        raise wrong_value(at, "is an empty array; it needs at least one part")
    return tuple(_part(part, f"{at}[{index}]", role, supports) for index, part in enumerate(value))


def _part(value: Any, at: str, role: Role, supports: frozenset[str]) -> Part:
    part = an_object(value, at)
    kind = required_text(part, "type", f"{at}.type")
    if kind == "text":
        only(part, ("type", "text"), at)
        return TextPart(required_text(part, "text", f"{at}.text"))
    if kind in _OTHER_PARTS:
        raise refused(f"{at}.type", f"parts of the type {shown(kind)} are not done")
    one_of(kind, ("text", "image_url"), f"{at}.type")
    if role != "user":
        raise wrong_value(f"{at}.type", "is 'image_url'; images belong into user messages only")
    if IMAGES not in supports:
        raise refused(f"{at}.type", "this endpoint's CLI takes no images")
    only(part, ("type", "image_url"), at)
    return _image(part, f"{at}.image_url")


def _image(part: dict[str, Any], at: str) -> ImagePart:
    if part.get("image_url") is None:
        raise missing(at)
    image = an_object(part["image_url"], at)
    only(image, ("url", "detail"), at)
    if image.get("detail") is not None and text(image["detail"], f"{at}.detail") != "auto":
        one_of(image["detail"], ("auto", "low", "high", "original"), f"{at}.detail")
        raise refused(f"{at}.detail", "the CLI itself decides how closely it looks; leave it out or say 'auto'")
    return _decoded(required_text(image, "url", f"{at}.url"), f"{at}.url")


def _decoded(url: str, at: str) -> ImagePart:
    if url[:8].lower().startswith(("http://", "https://")):
        raise refused(at, "nothing is fetched for a client; send the image itself as a data: URL")
    head = _DATA_URL.match(url)
    if head is None:
        raise wrong_value(at, "must be a data: URL in base64 of image/png, image/jpeg, image/gif or image/webp")
    data = url[head.end() :]
    if len(data) % 4 or not _BASE64.fullmatch(data):
        raise wrong_value(at, "is not valid base64")
    media_type = _media_type(base64.b64decode(data[:_HEAD]))
    if media_type is None:
        raise wrong_value(at, "holds no PNG, JPEG, GIF or WebP image")
    return ImagePart(media_type, data)


def _media_type(head: bytes) -> str | None:
    """By the content: a wrong label is common, and the model's API would refuse it."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None
