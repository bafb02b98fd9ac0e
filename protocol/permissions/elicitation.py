"""Elicitation: the form that an MCP server asks its user to fill in.

The schema is a flat JSON schema (Model Context Protocol, "elicitation"): an object of strings, numbers, booleans and
choices. Servers write what they like, so every property becomes a field: one of a kind nobody knows is asked for as
JSON. The server has the last word on validity; the checks here spare the user a round trip.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from protocol.words import Sentence

if TYPE_CHECKING:
    from protocol.messages import Elicitation

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "choices", "json"]


@dataclass(frozen=True, slots=True)
class FormField:
    """One thing to fill in.

    Attributes:
        name: the key in the reply.
        title: what to call it; the name, where the schema gives no title.
        kind: "choice" is one of `choices`, "choices" any number of them, "json" a value typed as JSON.
        default: the schema's default, or None.
        choices: (value, title) pairs; the value is what is sent.
        minimum, maximum: limits of a number, inclusive.
        min_length, max_length: limits in characters, or in picks for "choices".
        format: "email", "uri", "date", "date-time", another word, or "".
        pattern: a regular expression the text must match somewhere, or "".
    """

    name: str
    title: str
    description: str
    kind: FieldKind
    required: bool
    default: Any = None
    choices: tuple[tuple[Any, str], ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class ElicitationForm:
    """What one MCP server asks. In mode "url" it wants a page opened, and there are no fields."""

    server: str
    message: str
    mode: str
    url: str
    fields: tuple[FormField, ...]


# In


def elicitation_form(request: Elicitation) -> ElicitationForm:
    """The form for a request; never raises, whatever the schema is."""
    schema: Any = request.requested_schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    properties = properties if isinstance(properties, Mapping) else {}
    required = _strings(schema.get("required")) if isinstance(schema, Mapping) else ()
    order = [name for name in dict.fromkeys(request.property_order) if name in properties]
    names = [*order, *(name for name in properties if name not in order)]
    return ElicitationForm(
        server=request.mcp_server_name,
        message=request.message,
        mode=request.mode or "form",
        url=request.url or "",
        fields=tuple(_field(name, properties[name], name in required) for name in names),
    )


def _field(name: str, schema: Any, required: bool) -> FormField:
    if not isinstance(schema, Mapping):
        schema = {}
    kind, choices = _kind_of(schema)
    low, high = ("minItems", "maxItems") if kind == "choices" else ("minLength", "maxLength")
    return FormField(
        name=name,
        title=_text(schema.get("title")) or name,
        description=_text(schema.get("description")),
        kind=kind,
        required=required,
        default=schema.get("default"),
        choices=choices,
        minimum=_number(schema.get("minimum")),
        maximum=_number(schema.get("maximum")),
        min_length=_length(schema.get(low)),
        max_length=_length(schema.get(high)),
        format=_text(schema.get("format")),
        pattern=_text(schema.get("pattern")),
    )


def _kind_of(schema: Mapping[str, Any]) -> tuple[FieldKind, tuple[tuple[Any, str], ...]]:
    choices = _choices(schema)
    if choices:
        return "choice", choices
    kind = schema.get("type")
    if isinstance(kind, list):  # ["string", "null"]: an optional string
        kinds = [k for k in kind if k != "null"]
        kind = kinds[0] if len(kinds) == 1 else None
    if kind == "array":
        items = schema.get("items")
        choices = _choices(items) if isinstance(items, Mapping) else ()
        return ("choices", choices) if choices else ("json", ())
    if kind == "string":
        return "text", ()
    if kind in ("integer", "number", "boolean"):
        return kind, ()
    return "json", ()


def _choices(schema: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    """The values to choose from: `enum` (with `enumNames`), or `oneOf`/`anyOf` of constants with titles."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else [None] * len(values)
        return tuple((v, _text(t) or _plain(v)) for v, t in zip(values, titles, strict=True))
    for key in ("oneOf", "anyOf"):
        options = schema.get(key)
        if isinstance(options, list) and options and all(isinstance(o, Mapping) and "const" in o for o in options):
            return tuple((o["const"], _text(o.get("title")) or _plain(o["const"])) for o in options)
    if "const" in schema:
        return ((schema["const"], _plain(schema["const"])),)
    return ()


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _length(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


# Checks

_PROBLEMS: Final = {
    "empty": "Please fill this in.",
    "not_offered": "Please choose one of the values offered.",
    "too_short": "Please write at least {count} characters.",
    "too_long": "Please write at most {count} characters.",
    "pattern": "Please write it in the form {pattern}.",
    "email": "Please write an e-mail address, for example name@example.com.",
    "uri": "Please write a whole address, for example https://example.com.",
    "date": "Please write a date as year-month-day, for example 2026-12-31.",
    "date-time": "Please write a date and time with its zone, for example 2026-12-31T18:00:00Z.",
    "number": "Please write a number.",
    "integer": "Please write a whole number.",
    "too_small": "Please write a number of at least {minimum}.",
    "too_large": "Please write a number of at most {maximum}.",
    "boolean": "Please choose yes or no.",
    "none_of_these": "Please choose among the values offered.",
    "too_few": "Please choose at least {count}.",
    "too_many": "Please choose at most {count}.",
    "json": 'Please write a JSON value, for example "text", 3, true or [1, 2].',
}

PROBLEM_TEMPLATES: Final[tuple[str, ...]] = tuple(_PROBLEMS.values())
"""Every template that `check_field` can give, for a translator's catalogue."""


def _problem(key: str, **values: object) -> Sentence:
    return Sentence(_PROBLEMS[key], {name: str(value) for name, value in values.items()})


def check_field(field: FormField, given: Any) -> tuple[Any, Sentence | None]:
    """What to send for one field, and what is wrong with it.

    Args:
        given: the text typed, or the value chosen: a bool for "boolean", one of the values for "choice", a sequence
            of them for "choices". None, "" and blank text mean that nothing was given.

    Returns:
        (value, None) where all is well; the value is None where an optional field was left empty, and then the key
        is left out of the reply. (None, problem) otherwise; `problem.words` can be translated.
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return (None, _problem("empty")) if field.required else (None, None)
    if field.kind == "text":
        return _check_text(field, str(given))
    if field.kind in ("integer", "number"):
        return _check_number(field, given)
    if field.kind == "boolean":
        return _check_boolean(given)
    if field.kind == "choice":
        known = _known(field, given)
        return (given, None) if known else (None, _problem("not_offered"))
    if field.kind == "choices":
        return _check_choices(field, given)
    return _check_json(given)


def _check_text(field: FormField, text: str) -> tuple[Any, Sentence | None]:
    if field.min_length is not None and len(text) < field.min_length:
        return None, _problem("too_short", count=field.min_length)
    if field.max_length is not None and len(text) > field.max_length:
        return None, _problem("too_long", count=field.max_length)
    problem = _format_problem(field.format, text)
    if problem is None and field.pattern and _mismatches(field.pattern, text):
        problem = _problem("pattern", pattern=field.pattern)
    return (None, problem) if problem else (text, None)


def _format_problem(name: str, text: str) -> Sentence | None:
    if name == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        return _problem("email")
    if name == "uri" and not _is_uri(text):
        return _problem("uri")
    if name == "date" and not _is_date(text):
        return _problem("date")
    if name == "date-time" and not _is_date_time(text):
        return _problem("date-time")
    return None


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def _is_date_time(text: str) -> bool:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return moment.tzinfo is not None and re.match(r"\d{4}-\d\d-\d\d[Tt]", text) is not None


def _mismatches(pattern: str, text: str) -> bool:
    """Whether the text fails the pattern. A pattern that could take for ever, or is none in Python, is left alone.

    The pattern comes from a server. Groups under a quantifier can backtrack exponentially and several open
    quantifiers polynomially, so only patterns without the first and with few of the second are tried.
    """
    risky = re.search(r"\)[*+?{]|\\[1-9]", pattern) or len(re.findall(r"[*+]|\{\d+,", pattern)) > 3
    if risky or len(text) > 200:
        return False
    try:
        return re.search(pattern, text) is None
    except (re.error, RecursionError, OverflowError):
        return False


def _check_number(field: FormField, given: Any) -> tuple[Any, Sentence | None]:
    value = _parse_number(given)
    if value is None:
        return None, _problem("number")
    if field.kind == "integer":
        if value != int(value):
            return None, _problem("integer")
        value = int(value)
    if field.minimum is not None and value < field.minimum:
        return None, _problem("too_small", minimum=field.minimum)
    if field.maximum is not None and value > field.maximum:
        return None, _problem("too_large", maximum=field.maximum)
    return value, None


def _parse_number(given: Any) -> int | float | None:
    """The number in a text or value; whole numbers stay exact. None for what is none, infinities among them."""
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return given
    text = str(given).strip()
    try:
        if re.fullmatch(r"[+-]?\d{1,400}", text):
            return int(text)
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _check_boolean(given: Any) -> tuple[Any, Sentence | None]:
    if isinstance(given, bool):
        return given, None
    word = str(given).strip().lower()
    if word in ("true", "false"):
        return word == "true", None
    return None, _problem("boolean")


def _check_choices(field: FormField, given: Any) -> tuple[Any, Sentence | None]:
    picks = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not all(_known(field, pick) for pick in picks):
        return None, _problem("none_of_these")
    if not picks and not field.required and not field.min_length:
        return [], None
    least = field.min_length or (1 if field.required and field.min_length is None else 0)
    if len(picks) < least:
        return None, _problem("too_few", count=least)
    if field.max_length is not None and len(picks) > field.max_length:
        return None, _problem("too_many", count=field.max_length)
    return picks, None


def _known(field: FormField, value: Any) -> bool:
    # True equals 1 in Python, not in JSON.
    return any(type(value) is type(known) and value == known for known, _ in field.choices)


def _check_json(given: Any) -> tuple[Any, Sentence | None]:
    if not isinstance(given, str):
        return given, None
    try:
        value = json.loads(given)
        json.dumps(value, allow_nan=False)  # neither NaN nor a number too large for anybody, such as 1e999
    except (ValueError, RecursionError):
        return None, _problem("json")
    return value, None


# Out


def accept(content: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Send the form. Values of None are left out: an optional field that was left empty has no key."""
    if content is None:
        return {"action": "accept"}
    return {"action": "accept", "content": {name: value for name, value in content.items() if value is not None}}


def decline() -> dict[str, Any]:
    """The user says no to the server."""
    return {"action": "decline"}


def cancel_elicitation() -> dict[str, Any]:
    """The user closed the form without deciding."""
    return {"action": "cancel"}
