"""The check of a whole request: what is honoured is read, what is neutral passes, all else is refused by its name.

Nothing that would change the answer is dropped in silence. The one exception is asked for by the person whose endpoint
it is: the lenient mode lets the usual sampling parameters pass and lists them in `CompletionRequest.ignored`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from protocol.chat_completions.backend import JSON_SCHEMA, REASONING_EFFORT
from protocol.chat_completions.check_messages import read_messages
from protocol.chat_completions.check_values import (
    an_object,
    boolean,
    missing,
    one_of,
    only,
    refused,
    required_text,
    text,
    wrong_type,
    wrong_value,
)
from protocol.chat_completions.errors import ApiError
from protocol.chat_completions.json_reader import read_json
from protocol.chat_completions.request import CompletionRequest
from protocol.chat_completions.words import kind_of, printable, shown

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
"""Values of `reasoning_effort` that the CLI knows (its `--effort`). OpenAI's `none` and `minimal` it does not."""

MAX_STOPS: Final = 4

_SCHEMA_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A parameter that is not done.

    Attributes:
        wanted: its type and range in words.
        fits: whether a value has this type and range.
        neutral: whether a value asks for what happens anyway.
        hint: what to send instead.
    """

    wanted: str
    fits: Callable[[Any], bool]
    neutral: Callable[[Any], bool] = lambda _: False
    hint: str = ""


def _number(lowest: float, highest: float, neutral: float | None = None) -> _Rule:
    def fits(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= highest

    return _Rule(
        f"a number from {lowest:g} to {highest:g}",
        fits,
        lambda value: neutral is not None and value == neutral,
        "" if neutral is None else f"leave it out or send {neutral:g}",
    )


def _integer(lowest: int, highest: int, neutral: int | None = None, wanted: str = "") -> _Rule:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest

    hint = "" if neutral is None else f"leave it out or send {neutral}"
    return _Rule(wanted or f"an integer from {lowest} to {highest}", fits, lambda value: value == neutral, hint)


def _switched_off() -> _Rule:
    return _Rule("a boolean", lambda v: isinstance(v, bool), lambda v: v is False, "leave it out or send false")


def _any_text(value: Any) -> bool:
    return isinstance(value, str)


def _short_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 64


def _labels(value: Any) -> bool:
    """OpenAI's `metadata`: up to 16 pairs of strings of at most 64 and 512 characters."""
    return (
        isinstance(value, dict)
        and len(value) <= 16
        and all(len(k) <= 64 and isinstance(v, str) and len(v) <= 512 for k, v in value.items())
    )


def _biases(value: Any) -> bool:
    return isinstance(value, dict) and all(_number(-100, 100).fits(bias) for bias in value.values())


_TOKENS: Final = _integer(1, 2**63 - 1, wanted="a positive integer")

_SAMPLING: Final[Mapping[str, _Rule]] = {
    "temperature": _number(0, 2, 1),
    "top_p": _number(0, 1, 1),
    "frequency_penalty": _number(-2, 2, 0),
    "presence_penalty": _number(-2, 2, 0),
    "max_tokens": _TOKENS,
    "max_completion_tokens": _TOKENS,
    "seed": _integer(-(2**63), 2**63 - 1),
    "logit_bias": _Rule("an object of numbers from -100 to 100", _biases, lambda value: not value),
    "top_k": _integer(-1, 2**63 - 1),
    "min_p": _number(0, 1),
    "repetition_penalty": _number(0, 1000),
}
"""The usual sampling parameters, which the lenient mode ignores."""

_NOT_DONE: Final[Mapping[str, _Rule]] = {
    "n": _integer(1, 128, 1),
    "logprobs": _switched_off(),
    "store": _switched_off(),
    "tools": _Rule("an array", lambda v: isinstance(v, list), lambda v: not v, "the client's own tools are not done"),
    "tool_choice": _Rule(
        "a string or an object",
        lambda v: isinstance(v, str | dict),
        lambda v: v in ("none", "auto"),
        "the client's own tools are not done",
    ),
    "modalities": _Rule(
        "an array of strings",
        lambda v: isinstance(v, list) and all(isinstance(m, str) for m in v),
        lambda v: v == ["text"],
        'answers are text; leave it out or send ["text"]',
    ),
    "service_tier": _Rule("a string", _any_text, lambda v: v == "auto", "leave it out or send 'auto'"),
}
"""Parameters that must be neutral, in the lenient mode too."""

_INERT: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "user": ("a string", _any_text),
    "safety_identifier": ("a string of at most 64 characters", _short_text),
    "prompt_cache_key": ("a string", _any_text),
    "metadata": ("an object of at most 16 strings, names up to 64 and values up to 512 characters long", _labels),
}
"""Parameters that are for the books of a provider and never change an answer."""

_HONOURED: Final = (
    "model", "messages", "stream", "stream_options", "stop", "response_format", "reasoning_effort",
)  # fmt: skip


def read_request(body: bytes, *, lenient: bool = False, supports: frozenset[str]) -> CompletionRequest:
    """What a client asks for.

    Args:
        body: the body of `POST /v1/chat/completions`.
        lenient: let the usual sampling parameters pass, and list them in `ignored`.
        supports: what the backend can do beyond text (`Backend.supports`).

    Raises:
        ApiError: 400; `param` names the field and `code` says why: `invalid_json`, `missing_required_parameter`,
            `invalid_type`, `invalid_value`, `unsupported_parameter`. Nothing else, whatever the bytes are.
    """
    fields = read_json(body)
    if not isinstance(fields, dict):
        raise ApiError(400, f"The body must be a JSON object, not {kind_of(fields)}.", code="invalid_type")
    ignored = _check_parameters(fields, lenient)
    stream = boolean(fields.get("stream"), "stream")
    return CompletionRequest(
        model=_model(fields),
        turns=read_messages(fields.get("messages"), supports),
        stream=stream,
        include_usage=_include_usage(fields.get("stream_options"), stream),
        stop=_stops(fields.get("stop")),
        reasoning_effort=_effort(fields.get("reasoning_effort"), supports),
        json_schema=_schema(fields.get("response_format"), supports),
        ignored=ignored,
    )


def _check_parameters(fields: Mapping[str, Any], lenient: bool) -> tuple[str, ...]:
    """Refuses what is not done, and returns what the lenient mode ignores."""
    ignored = []
    for name, value in fields.items():
        if value is None or name in _HONOURED:
            continue
        if name in _INERT:
            wanted, fits = _INERT[name]
            if not fits(value):
                raise _does_not_fit(name, wanted, value)
        elif not _neutral(name, value):
            if not (lenient and name in _SAMPLING):
                raise _not_done(name)
            ignored.append(name)
    return tuple(ignored)


def _neutral(name: str, value: Any) -> bool:
    rule = _SAMPLING.get(name) or _NOT_DONE.get(name)
    if rule is None:
        return False
    if not rule.fits(value):
        raise _does_not_fit(name, rule.wanted, value)
    return rule.neutral(value)


def _does_not_fit(name: str, wanted: str, value: Any) -> ApiError:
    """The type of the value may be right and only its range wrong, or that of something inside of it."""
    if kind_of(value) in wanted or (kind_of(value) == "a number" and "integer" in wanted):
        return wrong_value(name, f"must be {wanted}")
    return wrong_type(name, wanted, value)


def _not_done(name: str) -> ApiError:
    if name in _SAMPLING:
        hint = _SAMPLING[name].hint
        lenient = "the endpoint's lenient mode ignores it"
        return refused(name, f"{hint}; {lenient}" if hint else lenient)
    rule = _NOT_DONE.get(name)
    return refused(printable(name), rule.hint if rule else "")


def _model(fields: Mapping[str, Any]) -> str:
    model = required_text(fields, "model", "model")
    if not model.strip():
        raise wrong_value("model", "is empty")
    return model


def _include_usage(value: Any, stream: bool) -> bool:
    if value is None:
        return False
    options = an_object(value, "stream_options")
    if not stream:
        raise wrong_value("stream_options", "is only allowed when 'stream' is true")
    only(options, ("include_usage", "include_obfuscation"), "stream_options")
    if boolean(options.get("include_obfuscation"), "stream_options.include_obfuscation"):
        raise refused("stream_options.include_obfuscation", "leave it out or send false")
    return boolean(options.get("include_usage"), "stream_options.include_usage")


def _stops(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    elif not isinstance(value, list):
        raise wrong_type("stop", "a string or an array of strings", value)
    elif not 1 <= len(value) <= MAX_STOPS:
        raise wrong_value("stop", f"must hold 1 to {MAX_STOPS} strings; leave it out for none")
    stops = tuple(text(stop, f"stop[{index}]") for index, stop in enumerate(value))
    if not all(stops):
        raise wrong_value("stop", "must not hold an empty string")
    return stops


def _effort(value: Any, supports: frozenset[str]) -> str | None:
    if value is None:
        return None
    effort = text(value, "reasoning_effort")
    if REASONING_EFFORT not in supports:
        raise refused("reasoning_effort", "this endpoint's CLI has no such choice")
    return one_of(effort, EFFORTS, "reasoning_effort")


def _schema(value: Any, supports: frozenset[str]) -> dict[str, Any] | None:
    if value is None:
        return None
    form = an_object(value, "response_format")
    kind = required_text(form, "type", "response_format.type")
    if kind == "json_object":
        raise refused("response_format", "'json_object' is not done; send a 'json_schema'")
    one_of(kind, ("text", "json_schema"), "response_format.type")
    only(form, ("type", "json_schema") if kind == "json_schema" else ("type",), "response_format")
    if kind == "text":
        return None
    if JSON_SCHEMA not in supports:
        raise refused("response_format", "this endpoint's CLI cannot keep to a schema")
    at = "response_format.json_schema"
    if form.get("json_schema") is None:
        raise missing(at)
    return _named_schema(an_object(form["json_schema"], at), at)


def _named_schema(given: dict[str, Any], at: str) -> dict[str, Any]:
    """The schema, with the description that stands beside it written into it, since both are for the model."""
    only(given, ("name", "description", "schema", "strict"), at)
    name = required_text(given, "name", f"{at}.name")
    if not _SCHEMA_NAME.fullmatch(name):
        raise wrong_value(f"{at}.name", f"is {shown(name)}; it must be 1 to 64 letters, digits, '_' or '-'")
    boolean(given.get("strict"), f"{at}.strict")
    if given.get("schema") is None:
        raise missing(f"{at}.schema")
    schema = an_object(given["schema"], f"{at}.schema")
    if schema.get("type") != "object":
        raise wrong_value(f"{at}.schema", 'must say "type": "object" at its top')
    if given.get("description") is None:
        return schema
    said = [text(given["description"], f"{at}.description"), schema.get("description")]
    return {**schema, "description": "\n\n".join(dict.fromkeys(s for s in said if isinstance(s, str) and s))}
