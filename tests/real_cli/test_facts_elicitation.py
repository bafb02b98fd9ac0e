"""An MCP server asks the person, and hears what they said: on bare pipes, with the newest CLI."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.mcp import mcp_config
from tests.helpers.raw_cli import RawCli
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import ScriptedModel, ToolUse


def test_the_form_reaches_the_host_and_what_was_filled_in_reaches_the_server(
    claude: RealCli, model: ScriptedModel, tmp_path: Path
) -> None:
    model.script(ToolUse("mcp__demo__ask_user", {"topic": "deploy"}), "Deployed.")
    with RawCli(claude, "--mcp-config", str(mcp_config(tmp_path))) as raw:
        raw.initialize()
        raw.wait_until(lambda: raw.ask("mcp_status")["response"]["mcpServers"][0]["status"] == "connected")
        raw.say("Deploy it")
        permission = raw.wait_for_permission("mcp__demo__ask_user")
        raw.reply(permission, {"behavior": "allow", "updatedInput": permission["request"]["input"]})
        form = raw.wait_for(lambda m: m["type"] == "control_request" and m["request"]["subtype"] == "elicitation")
        raw.reply(form, {"action": "accept", "content": {"region": "eu", "servers": 3}})
        raw.wait_for_result()

    request = form["request"]
    assert (request["mcp_server_name"], request["message"]) == ("demo", "How shall I deploy?")
    assert request["requested_schema"]["properties"]["servers"]["maximum"] == 9
    (result,) = model.tool_results()
    assert '"region": "eu"' in result.text
    assert '"servers": 3' in result.text


def test_a_declined_form_tells_the_server_so(claude: RealCli, model: ScriptedModel, tmp_path: Path) -> None:
    model.script(ToolUse("mcp__demo__ask_user", {"topic": "deploy"}), "Not deployed.")
    with RawCli(claude, "--mcp-config", str(mcp_config(tmp_path))) as raw:
        raw.initialize()
        raw.wait_until(lambda: raw.ask("mcp_status")["response"]["mcpServers"][0]["status"] == "connected")
        raw.say("Deploy it")
        permission = raw.wait_for_permission("mcp__demo__ask_user")
        raw.reply(permission, {"behavior": "allow", "updatedInput": permission["request"]["input"]})
        form = raw.wait_for(lambda m: m["type"] == "control_request" and m["request"]["subtype"] == "elicitation")
        raw.reply(form, {"action": "decline"})
        raw.wait_for_result()

    assert '"action": "decline"' in model.tool_results()[0].text
