"""The control protocol's envelopes, and what the CLI asks its host."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

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


def parse_request(value: dict[str, Any]) -> Request:
    """Reads the inner `request`. Never raises."""
    subtype = value.get("subtype")
    try:
        if subtype == "can_use_tool":
            return CanUseTool.read(value)
        if subtype == "elicitation":
            return Elicitation.read(value)
    except ValidationError:
        pass  # no tool name, or an input that is no object: nobody can decide on that
    return UnknownRequest(subtype=subtype if isinstance(subtype, str) else "", raw=value)


class ControlRequest(Message):
    """The CLI asks its host; the reply carries the same `request_id`."""

    request_id: str
    request: CanUseTool | Elicitation | UnknownRequest

    @classmethod
    def read(cls, value: dict[str, Any]) -> ControlRequest:
        """Builds it from the wire's envelope; raises pydantic.ValidationError without a usable `request_id`."""
        inner = value.get("request")
        request = parse_request(inner if isinstance(inner, dict) else {})
        return cls.keep({"request_id": value.get("request_id"), "request": request}, value)


class ControlResponse(Message):
    """The CLI's answer to a request of ours.

    Attributes:
        ok: it did what was asked.
        response: what it returned, {} for nothing.
        error: why not, in words; `error_code` is for machines and only sent by new CLIs.
    """

    request_id: str
    ok: bool = False
    response: Object = Field(default_factory=dict)
    error: Text = ""
    error_code: Text = ""

    @classmethod
    def read(cls, value: dict[str, Any]) -> ControlResponse:
        """Builds it from the wire's envelope; raises pydantic.ValidationError without a usable `request_id`.

        The id sits inside `response`. One beside it is no answer to anything.
        """
        inner = value.get("response")
        fields = inner if isinstance(inner, dict) else {}
        known = {name: fields[name] for name in ("request_id", "response", "error", "error_code") if name in fields}
        return cls.keep({**known, "ok": fields.get("subtype") == "success"}, value)


class ControlCancelRequest(Message):
    """The CLI no longer wants an answer to this request of its own."""

    request_id: str
