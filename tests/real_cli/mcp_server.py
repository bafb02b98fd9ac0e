"""A tiny MCP server on stdio, of the standard library alone: its one tool asks the person through an elicitation.

    python mcp_server.py

The tool `ask_user` takes `{"topic": …}`, asks for a number of servers, a region and a confirmation, and returns what it
was told as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

PROTOCOL = "2025-06-18"

TOOL = {
    "name": "ask_user",
    "title": "Ask User",
    "description": "Asks the person about a topic.",
    "inputSchema": {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
}

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "title": "Region", "enum": ["eu", "us"], "enumNames": ["Europe", "America"]},
        "servers": {"type": "integer", "title": "Servers", "minimum": 1, "maximum": 9},
        "note": {"type": "string", "title": "Note", "description": "For the log"},
        "confirm": {"type": "boolean", "title": "Really?", "default": False},
    },
    "required": ["region", "servers"],
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any] | None:
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def elicit(topic: str) -> dict[str, Any]:
    """Asks the client, and returns its answer: {"action": …, "content": …}."""
    params = {"message": f"How shall I {topic}?", "requestedSchema": SCHEMA}
    send({"id": "elicit-1", "method": "elicitation/create", "params": params})
    while (message := receive()) is not None:
        if message.get("id") == "elicit-1" and "method" not in message:
            return message.get("result") or {"error": message.get("error")}
        answer(message)
    sys.exit(0)


def answer(message: dict[str, Any]) -> None:
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return
    if method == "initialize":
        info = {"name": "demo", "version": "1.0"}
        version = params.get("protocolVersion") or PROTOCOL
        result: dict[str, Any] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "tools/call":
        told = elicit(str((params.get("arguments") or {}).get("topic", "")))
        result = {"content": [{"type": "text", "text": "The person said: " + json.dumps(told)}]}
    elif method == "ping":
        result = {}
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": f"no such method: {method}"}})
        return
    send({"id": message["id"], "result": result})


def main() -> None:
    while (message := receive()) is not None:
        answer(message)


if __name__ == "__main__":
    main()
