"""What all messages share."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from protocol.messages.fields import Object


class WireModel(BaseModel):
    """One JSON object from the CLI, read-only. Unknown fields survive, as attributes and in `raw`.

    Attributes:
        raw: the original object itself, not a copy; empty where a program built the model by hand.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, protected_namespaces=())

    raw: Object = Field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, value: dict[str, Any]) -> Self:
        """Builds the model from the wire's object.

        Raises:
            pydantic.ValidationError: a field without which the model makes no sense is absent or ill-typed.
        """
        return cls.keep(value, value)

    @classmethod
    def keep(cls, fields: dict[str, Any], raw: dict[str, Any]) -> Self:
        """Builds the model from `fields` and remembers `raw`.

        Raises:
            pydantic.ValidationError: as for `read`.
        """
        model: Self = cls.__pydantic_validator__.validate_python(fields)
        # Past the freeze on purpose: validating `raw` as a field would copy the object, for every message.
        model.__dict__["raw"] = raw
        return model


class Message(WireModel):
    """One line of the CLI's stdout. The subclass says what kind it is."""


class UnknownMessage(Message):
    """A type that this version does not know, or an object that does not hold what its type needs.

    Attributes:
        type: the wire's `type`, "" where there was none.
    """

    type: str = ""
