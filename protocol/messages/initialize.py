"""The reply to `initialize`: what this CLI offers. Old CLIs send a part of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

from protocol.messages.base import WireModel
from protocol.messages.fields import Flag, Object, Objects, Text, Texts, Through


class CommandInfo(WireModel):
    """A slash command; `name` is without the slash."""

    name: str
    description: Text = ""
    argument_hint: Text = Field(default="", validation_alias="argumentHint")
    aliases: Texts = ()


class ModelInfo(WireModel):
    """A model that can be chosen.

    Attributes:
        value: what `set_model` and `--model` take (`default`, `opus`, …).
        resolved_model: the model's full id, "" where the CLI does not tell.
        supported_effort_levels: values for the setting `effortLevel`.
    """

    value: str
    display_name: Text = Field(default="", validation_alias="displayName")
    description: Text = ""
    resolved_model: Text = Field(default="", validation_alias="resolvedModel")
    supports_effort: Flag = Field(default=False, validation_alias="supportsEffort")
    supported_effort_levels: Texts = Field(default=(), validation_alias="supportedEffortLevels")


def _parse_each(model: type[WireModel], values: object) -> list[Any]:
    parsed = []
    for value in values if isinstance(values, list | tuple) else ():
        try:
            parsed.append(value if isinstance(value, model) else model.read(value))
        except ValidationError:
            continue
    return parsed


def parse_commands(values: object) -> tuple[CommandInfo, ...]:
    """Reads a list of slash commands, leaving out what is none."""
    return tuple(_parse_each(CommandInfo, values))


def parse_models(values: object) -> tuple[ModelInfo, ...]:
    """Reads a list of models, leaving out what is none."""
    return tuple(_parse_each(ModelInfo, values))


class InitializeReply(WireModel):
    """What the CLI answered to `initialize`.

    Attributes:
        account: as far as told: `email`, `organization`, `subscriptionType`, `tokenSource`, `apiKeySource`,
            `apiProvider`.
        pending_permission_requests: control requests still open after a reconnect.
    """

    commands: Annotated[tuple[CommandInfo, ...], Through(parse_commands)] = ()
    models: Annotated[tuple[ModelInfo, ...], Through(parse_models)] = ()
    agents: Objects = ()
    account: Object = Field(default_factory=dict)
    claude_code_version: Text = ""
    capabilities: Texts = ()
    output_style: Text = ""
    pending_permission_requests: Objects = ()


def parse_initialize_reply(value: object) -> InitializeReply:
    """Reads the `response` of the reply to `initialize`. Never raises: what is unusable is left out."""
    if not isinstance(value, dict):
        return InitializeReply()
    return InitializeReply.read(value)
