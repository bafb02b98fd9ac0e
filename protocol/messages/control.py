"""The control protocol's envelopes, and what the CLI asks its host."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasPath, ConfigDict, Field, ValidationError

from protocol.messages.base import Message, WireModel
from protocol.messages.fields import Flag, Object, Objects, OptionalText, Text, Texts, Through


def _server_name(value: object) -> str:
    """`mcp_server` is `{"name": …, "source": …}` since 2.1.332, a plain name elsewhere."""
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) else ""


class CanUseTool(WireModel):
    """May this tool run with this input? AskUserQuestion and ExitPlanMode arrive as this as well.

    Attributes:
        input: exactly as received; what is shown from it is what is sent back and runs.
        permission_suggestions: what "always" may mean, to be sent back verbatim.
        agent_id: the task of the subagent that asks; "" for the main conversation.
        mcp_server: the name of the server whose tool it is; "" for the CLI's own tools.
        default_to_no: the CLI finds this risky; nothing that allows may be the default.
        suppress_always_allow_rule: do not offer "always".
    """

    tool_name: str
    input: dict[str, Any] = Field(default_factory=dict)
    tool_use_id: Text = ""
    permission_suggestions: Objects = ()
    blocked_path: OptionalText = None
    decision_reason: Text = ""
    title: Text = ""
    display_name: Text = ""
    description: Text = ""
    agent_id: Text = ""
    mcp_server: Annotated[str, Through(_server_name)] = ""
    default_to_no: Flag = False
    suppress_always_allow_rule: Flag = False
    requires_user_interaction: Flag = False


class Elicitation(WireModel):
    """An MCP server asks for values (`mode` form, with a flat JSON schema) or for a visit to `url` (`mode` url)."""

    mcp_server_name: Text = ""
    message: Text = ""
    mode: Text = "form"
    requested_schema: Object = Field(default_factory=dict)
    property_order: Texts = ()
    url: Text = ""
    elicitation_id: Text = ""


class UnknownRequest(WireModel):
    """A request that this host cannot answer, or one without what its subtype needs; it gets an error reply."""

    subtype: str = ""


Request = CanUseTool | Elicitation | UnknownRequest


def parse_request(value: object) -> Request:
    """Reads the inner `request`. Never raises."""
    if isinstance(value, CanUseTool | Elicitation | UnknownRequest):
        return value
    fields = value if isinstance(value, dict) else {}
    subtype = fields.get("subtype")
    try:
        if subtype == "can_use_tool":
            return CanUseTool.read(fields)
        if subtype == "elicitation":
            return Elicitation.read(fields)
    except ValidationError:
        pass  # no tool name, or an input that is no object: nobody can decide on that
    return UnknownRequest.keep({"subtype": subtype if isinstance(subtype, str) else ""}, fields)


class ControlRequest(Message):
    """The CLI asks its host; the reply carries the same `request_id`."""

    request_id: str
    request: Annotated[CanUseTool | Elicitation | UnknownRequest, Through(parse_request)] = UnknownRequest()


class ControlResponse(Message):
    """The CLI's answer to a request of ours. The id sits inside `response`; one beside it is no answer to anything.

    Attributes:
        ok: it did what was asked.
        response: what it returned, {} for nothing.
        error: why not, in words; `error_code` is for machines and only sent by new CLIs.
    """

    # By the wire's names alone: `response` is the envelope's name there, so the two must not be mixed up.
    model_config = ConfigDict(populate_by_name=False)

    request_id: str = Field(validation_alias=AliasPath("response", "request_id"))
    ok: Annotated[bool, Through(lambda subtype: subtype == "success")] = Field(
        default=False, validation_alias=AliasPath("response", "subtype")
    )
    response: Object = Field(default_factory=dict, validation_alias=AliasPath("response", "response"))
    error: Text = Field(default="", validation_alias=AliasPath("response", "error"))
    error_code: Text = Field(default="", validation_alias=AliasPath("response", "error_code"))


class ControlCancelRequest(Message):
    """The CLI no longer wants an answer to this request of its own."""

    request_id: str
