"""What all messages share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict


class WireModel(BaseModel):
    """One JSON object from the CLI, read-only. Unknown fields survive in `raw`, and as attributes."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, protected_namespaces=())

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The original object itself, not a copy; empty where a program built the model by hand."""
        return {}

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
        model.__dict__["raw"] = raw  # as the cached property would; a field would copy it for every message
        return model

    if not TYPE_CHECKING:  # a checker must go on finding misspelt fields

        def __getattr__(self, name: str) -> Any:
            try:
                return self.__dict__["raw"][name]
            except KeyError:
                return super().__getattr__(name)


class Message(WireModel):
    """One line of the CLI's stdout. The subclass says what kind it is."""


class UnknownMessage(Message):
    """A type that this version does not know, or an object that does not hold what its type needs.

    Attributes:
        type: the wire's `type`, "" where there was none.
    """

    type: str = ""
