"""Answers that keep to a schema (`initialize.jsonSchema`): a call of the tool StructuredOutput ends the turn."""

from __future__ import annotations

import itertools
from typing import Any

TOOL = "StructuredOutput"
PROVIDED = "Structured output provided successfully"

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_numbers = itertools.count(1)


def is_schema(value: Any) -> bool:
    """Whether the real one would take it; it passes over, in silence, one with a type that does not exist."""
    if not isinstance(value, dict):
        return False
    kinds = value.get("type", "object")
    if not all(kind in _TYPES for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return False
    properties = value.get("properties", {})
    return isinstance(properties, dict) and all(is_schema(inner) for inner in properties.values())


def new_tool_use_id() -> str:
    return f"toolu_structured_{next(_numbers)}"


def example(schema: Any, text: str) -> Any:
    """A value that keeps to the usual parts of a schema; `text` wherever a text without a rule is wanted."""
    if not isinstance(schema, dict):
        return text
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return example(schema[key][0], text)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: example(inner, text) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [example(schema.get("items", {}), text) for _ in range(schema.get("minItems", 1))]
    if kind in ("number", "integer"):
        return schema.get("minimum", 0)
    return {"boolean": True, "null": None}.get(kind, text)
