"""OpenAI's published schema of chat completions, and whether what went over the wire keeps to it."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DOCUMENT = Path(__file__).resolve().parents[1] / "data" / "openapi" / "chat_completions.json"

REQUEST = "CreateChatCompletionRequest"
COMPLETION = "CreateChatCompletionResponse"
CHUNK = "CreateChatCompletionStreamResponse"
MODELS = "ListModelsResponse"
MODEL = "Model"
ERROR = "ErrorResponse"

_SCHEMAS = "#/components/schemas/"


@functools.cache
def _published() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return document


def document() -> dict[str, Any]:
    """The published document, a copy that the caller may change."""
    return copy.deepcopy(_published())


def problems(schema: str, value: Any, *, closed: bool = False) -> list[str]:
    """Where `value` breaks the published schema of that name, a sentence each; empty when it keeps to it.

    With `closed`, fields that the schema does not know are problems, too: the published schemas let them pass.
    """
    found = _validator(schema, closed).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in found]


@functools.cache
def _validator(schema: str, closed: bool) -> Draft202012Validator:
    root = {"$ref": _SCHEMAS + schema, "components": _as_json_schema(document()["components"], closed)}
    return Draft202012Validator(root)


def _as_json_schema(value: Any, closed: bool) -> Any:
    """The document calls itself 3.1 and still says `nullable`, the word of 3.0: in JSON schema, null is a type."""
    if isinstance(value, list):
        return [_as_json_schema(item, closed) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _as_json_schema(item, closed) for key, item in value.items()}
    if closed and isinstance(made.get("properties"), dict) and "type" in made:
        made["unevaluatedProperties"] = False
    return {"anyOf": [made, {"type": "null"}]} if made.pop("nullable", False) is True else made
