"""Puts the tests' own MCP server (`tests/real_cli/mcp_server.py`) before a CLI."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.helpers.real_cli import RealCli

SERVER = Path(__file__).resolve().parents[1] / "real_cli" / "mcp_server.py"


def demo_server() -> dict[str, object]:
    """The entry of a configuration file."""
    return {"type": "stdio", "command": sys.executable, "args": [str(SERVER)]}


def mcp_config(folder: Path) -> Path:
    """A file for `--mcp-config` that starts the server under the name `demo`."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"demo": demo_server()}}), encoding="utf-8")
    return path


def use_mcp_server(cli: RealCli) -> None:
    """Writes the server into the person's own configuration, as `claude mcp add --scope user` does."""
    path = cli.config_dir / ".claude.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known["mcpServers"] = {"demo": demo_server()}
    path.write_text(json.dumps(known), encoding="utf-8")
