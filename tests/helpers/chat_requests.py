"""Bodies of chat completions, read and refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from protocol.chat_completions.backend import IMAGES, JSON_SCHEMA, REASONING_EFFORT
from protocol.chat_completions.checks import read_request
from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.request import CompletionRequest

EVERYTHING = frozenset({IMAGES, JSON_SCHEMA, REASONING_EFFORT})
HI = {"role": "user", "content": "Hi"}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"
GIF = b"GIF89a\x01\x00\x01\x00"
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L"


def read(*, lenient: bool = False, supports: frozenset[str] = EVERYTHING, **fields: Any) -> CompletionRequest:
    """A request with these fields, beside a model and one message; `...` leaves one out."""
    body = {"model": "opus", "messages": [HI], **fields}
    body = {name: value for name, value in body.items() if value is not ...}
    return read_request(json.dumps(body).encode(), lenient=lenient, supports=supports)


def refused(*, lenient: bool = False, supports: frozenset[str] = EVERYTHING, **fields: Any) -> tuple[str | None, str]:
    """`param` and `code` with which the same is refused."""
    with pytest.raises(ApiError) as caught:
        read(lenient=lenient, supports=supports, **fields)
    error = caught.value
    assert (error.status, error.kind) == (400, "invalid_request_error")
    assert error.code is not None
    assert error.message.isprintable()
    assert error.param is None or f"'{error.param}'" in error.message
    return error.param, error.code


def image(data: bytes, label: str = "image/png", **more: Any) -> dict[str, Any]:
    url = f"data:{label};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url, **more}}
