"""What the stand-in accepts from a host. Each check returns what is wrong, as a sentence, or None.

The real CLI ignores much of this in silence, or waits for ever, or runs something that was not shown. A test
must not have to notice that, so the stand-in ends at once and says why.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any

_BLOCKS: dict[str, tuple[str, ...]] = {"text": ("text",), "image": ("source",), "document": ("source",)}


def user_message(message: Mapping[str, Any]) -> str | None:
    inner = message.get("message")
    if not isinstance(inner, dict):
        return "A user message needs a `message` object."
    problem = _content(inner.get("content"))
    if problem:
        return problem
    if not isinstance(message.get("session_id", ""), str):
        return "`session_id` of a user message must be a string."
    if message.get("parent_tool_use_id") is not None and not isinstance(message["parent_tool_use_id"], str):
        return "`parent_tool_use_id` of a user message must be null or a string."
    if "client_composed" in message and not isinstance(message["client_composed"], bool):
        return "`client_composed` of a user message must be true or false."
    if "uuid" in message and not is_uuid(message["uuid"]):
        return f"`uuid` of a user message is no UUID: {message['uuid']!r}."
    return None


def _content(content: Any) -> str | None:
    if isinstance(content, str):
        return None
    if not isinstance(content, list) or not content:
        return "`content` of a user message must be a string or a list of blocks that is not empty."
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in _BLOCKS:
            return f"A user message cannot hold a block of type {kind!r}."
        if any(key not in block for key in _BLOCKS[kind]):
            return f"A {kind} block lacks {', '.join(_BLOCKS[kind])}."
        source = block.get("source")
        if kind == "image" and not _is_image_source(source):
            return "The source of an image needs type base64, a media_type image/… and data."
    return None


def _is_image_source(source: Any) -> bool:
    if not isinstance(source, dict) or source.get("type") != "base64":
        return False
    media_type = source.get("media_type")
    is_image = isinstance(media_type, str) and media_type.startswith("image/")
    return is_image and isinstance(source.get("data"), str) and bool(source["data"])


def is_uuid(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def control_request(message: Mapping[str, Any]) -> str | None:
    if not isinstance(message.get("request_id"), str) or not message["request_id"]:
        return "A control_request needs a `request_id`, a string."
    request = message.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("subtype"), str):
        return "A control_request needs a `request` object with a `subtype`."
    return None


def handshake(request: Mapping[str, Any]) -> str | None:
    """The real one is ended by some of these with the first turn, and passes over others."""
    system = request.get("systemPrompt", "")
    texts = system if isinstance(system, list) else [system]
    if not all(isinstance(text, str) for text in texts):
        return "`systemPrompt` of initialize must be a text, or a list of texts."
    if not isinstance(request.get("appendSystemPrompt", ""), str):
        return "`appendSystemPrompt` of initialize must be a text."
    if not isinstance(request.get("jsonSchema", {}), dict):
        return "`jsonSchema` of initialize must be an object."
    return None


def control_response(message: Mapping[str, Any]) -> str | None:
    response = message.get("response")
    if not isinstance(response, dict):
        return "A control_response needs a `response` object."
    if "request_id" in message and "request_id" not in response:
        return "`request_id` of a control_response belongs inside `response`, not beside it."
    if not isinstance(response.get("request_id"), str):
        return "A control_response needs a `request_id` inside `response`."
    if response.get("subtype") not in ("success", "error"):
        return f"`subtype` of a control_response is success or error, not {response.get('subtype')!r}."
    if response["subtype"] == "error" and not (isinstance(response.get("error"), str) and response["error"]):
        return "An error reply needs `error`, a text."
    if response["subtype"] == "success" and not isinstance(response.get("response"), dict):
        return "A success reply needs a `response` object inside `response`."
    return None


def permission_result(result: Mapping[str, Any], shown: Any, suggestions: Collection[Any], plan: bool) -> str | None:
    """`shown` is the input that the host was given; `suggestions` what it may send back as updatedPermissions."""
    if "allow" in result:
        return 'The reply {"allow": …} is refused by every CLI since 2.0.71: it is {"behavior": "allow", …}.'
    if result.get("behavior") == "deny":
        if not isinstance(result.get("message"), str) or not result["message"]:
            return "A deny needs a `message`, a text for the model."
        return None if isinstance(result.get("interrupt", False), bool) else "`interrupt` must be true or false."
    if result.get("behavior") != "allow":
        return f"`behavior` is allow or deny, not {result.get('behavior')!r}."
    if not isinstance(result.get("updatedInput"), dict):
        return "An allow needs `updatedInput`, an object: older CLIs refuse it otherwise."
    return _permission_updates(result.get("updatedPermissions", []), suggestions, plan) or (
        None if shown is None or result["updatedInput"] == shown else "`updatedInput` is not the input that was shown."
    )


def _permission_updates(updates: Any, suggestions: Collection[Any], plan: bool) -> str | None:
    if not isinstance(updates, list):
        return "`updatedPermissions` must be a list."
    for update in updates:
        mode_after_plan = plan and isinstance(update, dict) and update.get("type") == "setMode"
        if update not in suggestions and not mode_after_plan:
            return f"`updatedPermissions` holds something that was never suggested: {json.dumps(update)}"
    return None


def question_answers(updated: Mapping[str, Any], questions: list[Any], capabilities: Collection[str]) -> str | None:
    """Checks an allow of AskUserQuestion; `updated` is its updatedInput."""
    if updated.get("questions") != questions:
        return "`updatedInput.questions` must be the questions as they were received."
    answers = updated.get("answers")
    if not isinstance(answers, dict):
        return "`updatedInput` of AskUserQuestion needs `answers`, an object."
    texts = [question.get("question") for question in questions if isinstance(question, dict)]
    strange = [key for key in answers if key not in texts]
    if strange:
        return f"An answer's key is not the text of a question, character by character: {strange[0]!r}."
    if any(not isinstance(value, str) or not value for value in answers.values()):
        return "An answer must be a text that is not empty."
    if not answers and not updated.get("response"):
        return "An allow with no answers at all: a dismissed card is a deny with a message."
    return _annotations(updated.get("annotations", {}), questions, answers, capabilities)


def _annotations(
    annotations: Any, questions: list[Any], answers: Mapping[str, str], capabilities: Collection[str]
) -> str | None:
    if not isinstance(annotations, dict):
        return "`annotations` must be an object."
    by_text = {question.get("question"): question for question in questions if isinstance(question, dict)}
    for text, note in annotations.items():
        if text not in by_text or not isinstance(note, dict):
            return f"An annotation's key is not the text of a question: {text!r}."
        if not isinstance(note.get("notes", ""), str):
            return "`notes` of an annotation must be a text."
        if "unanswered" in note:
            if "ask_user_question_unanswered_v1" not in capabilities:
                return "`unanswered` was sent to a CLI that does not announce ask_user_question_unanswered_v1."
            if text in answers or note["unanswered"] != "skipped":
                return "`unanswered` is \"skipped\", and only for a question without an answer."
        previews = [option.get("preview") for option in by_text[text].get("options", []) if isinstance(option, dict)]
        if "preview" in note and note["preview"] not in previews:
            return "`preview` of an annotation is not the preview of one of the options."
    return None


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}


def elicitation_result(result: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    action = result.get("action")
    if action not in ("accept", "decline", "cancel"):
        return f"`action` of an elicitation is accept, decline or cancel, not {action!r}."
    if action != "accept" or not schema:
        return None
    content = result.get("content")
    if not isinstance(content, dict):
        return "An accepted elicitation needs `content`, an object."
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in content]
    if missing:
        return f"`content` lacks the required field {missing[0]!r}."
    for name, value in content.items():
        if name not in properties:
            return f"`content` has a field that the form has not: {name!r}."
        problem = _field(name, value, properties[name])
        if problem:
            return problem
    return None


def _field(name: str, value: Any, schema: Mapping[str, Any]) -> str | None:
    check = _TYPES.get(str(schema.get("type")))
    if check and not check(value):
        return f"The field {name!r} must be of type {schema['type']}, not {value!r}."
    choices = schema.get("enum") or [option.get("const") for option in schema.get("oneOf", [])]
    if choices and value not in choices:
        return f"The field {name!r} holds no offered choice: {value!r}."
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"The field {name!r} is out of range: {value!r}."
    return None


def has_lone_surrogate(value: Any) -> bool:
    """Whether half an emoji is somewhere in a JSON value; such a line cannot be passed on as UTF-8."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return any(has_lone_surrogate(key) or has_lone_surrogate(item) for key, item in value.items())
    return isinstance(value, list) and any(has_lone_surrogate(item) for item in value)
