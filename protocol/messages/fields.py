"""Field types for what a stranger sends: an absent or ill-typed field takes its default, it never spoils a message.

The CLI changes weekly, so no field but the type is relied on. pydantic falls back in its own core
(`on_error="default"`), so tolerance costs no Python call a field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AllowInfNan, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


class OrElse:
    """Annotation: what does not validate becomes `default`."""

    __slots__ = ("_default",)

    def __init__(self, default: object) -> None:
        self._default = default

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=self._default, on_error="default")


class As:
    """Annotation: an instance of `kind` as it is, not copied, not looked into; else a fresh one from `factory`."""

    __slots__ = ("_factory", "_kind")

    def __init__(self, kind: type, factory: Callable[[], object]) -> None:
        self._kind, self._factory = kind, factory

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.is_instance_schema(self._kind)
        return core_schema.with_default_schema(schema, default_factory=self._factory, on_error="default")


class Each:
    """Annotation: a tuple of the list's items that are of `kind`; the others are left out, a non-list is empty."""

    __slots__ = ("_kind",)

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        item: CoreSchema = core_schema.is_instance_schema(self._kind)
        if self._kind is str:
            item = core_schema.str_schema()  # the same, and quicker
        all_of_them = core_schema.tuple_variable_schema(item)
        the_good_ones = core_schema.tuple_variable_schema(core_schema.with_default_schema(item, on_error="omit"))
        items = core_schema.union_schema([all_of_them, the_good_ones], mode="left_to_right")
        return core_schema.with_default_schema(items, default=(), on_error="default")


class Through:
    """Annotation: whatever comes goes through `function`, which must be total."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._function)


_Kind = TypeVar("_Kind")


def every(kind: type[_Kind], values: object) -> tuple[_Kind, ...]:
    """The entries of a list that are of `kind`; none where it is no list."""
    return tuple([value for value in values if isinstance(value, kind)]) if isinstance(values, list) else ()


Text = Annotated[str, OrElse("")]
OptionalText = Annotated[str | None, OrElse(None)]
Flag = Annotated[bool, OrElse(False)]
Whole = Annotated[int, OrElse(0)]
OptionalWhole = Annotated[int | None, OrElse(None)]
Finite = Annotated[float, AllowInfNan(False)]  # Python's JSON reads NaN, and 1e999 as infinity
Number = Annotated[Finite, OrElse(0.0)]
OptionalNumber = Annotated[Finite | None, OrElse(None)]
Object = Annotated[dict[str, Any], As(dict, dict)]
OptionalObject = Annotated[dict[str, Any] | None, OrElse(None)]
Texts = Annotated[tuple[str, ...], Each(str)]
Objects = Annotated[tuple[dict[str, Any], ...], Each(dict)]
