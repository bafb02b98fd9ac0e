"""The refusals that every check of a request shares, and the smallest checks.

All raise ApiError 400 whose `param` names the field, as in `messages[1].content[0].type`, and whose `code` is
`missing_required_parameter`, `invalid_type`, `invalid_value` or `unsupported_parameter`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from protocol.chat_completions.errors import ApiError, unsupported
from protocol.chat_completions.words import kind_of, printable, shown


def missing(param: str) -> ApiError:
    """A field that must be there."""
    return ApiError(400, f"'{param}' is missing.", param=param, code="missing_required_parameter")


def wrong_type(param: str, wanted: str, value: Any) -> ApiError:
    """A field of the wrong JSON type; `wanted` such as `a string`."""
    return ApiError(400, f"'{param}' must be {wanted}, not {kind_of(value)}.", param=param, code="invalid_type")


def wrong_value(param: str, sentence: str) -> ApiError:
    """A field of the right type whose value can never be right; the sentence follows the field's name."""
    return ApiError(400, f"'{param}' {sentence}.", param=param, code="invalid_value")


def refused(param: str, reason: str = "") -> ApiError:
    """A field, or a value of it, that would change the answer and is not done here."""
    return unsupported(param, f"'{param}' is not supported here{': ' + reason if reason else ''}.")


def an_object(value: Any, param: str) -> dict[str, Any]:
    """The value, an object."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    return value


def text(value: Any, param: str) -> str:
    """The value, a string."""
    if not isinstance(value, str):
        raise wrong_type(param, "a string", value)
    return value


def boolean(value: Any, param: str) -> bool:
    """The value, true or false; null is false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise wrong_type(param, "a boolean", value)
    return value


def required_text(fields: Mapping[str, Any], name: str, param: str) -> str:
    """A field that must be there as a string (null counts as missing)."""
    if fields.get(name) is None:
        raise missing(param)
    return text(fields[name], param)


def one_of(value: str, choices: Collection[str], param: str) -> str:
    """The value, one of some words."""
    if value not in choices:
        raise wrong_value(param, f"is {shown(value)}; it must be one of {', '.join(choices)}")
    return value


def only(fields: Mapping[str, Any], known: Collection[str], at: str) -> None:
    """Refuses the first field of an object that is not among the known ones. Null says nothing and may stand."""
    for name, value in fields.items():
        if value is not None and name not in known:
            raise refused(f"{at}.{printable(name)}" if at else printable(name))
