"""Asks the endpoint with OpenAI's client for Python, of whichever release this Python has.

Every script in this folder reads a JSON array of requests on stdin (each with `mode`, `model`, `prompt`), takes address
and token from `OPENAI_BASE_URL` and `OPENAI_API_KEY`, sends them one after the other, and prints a JSON array: what a
program that uses the client sees of each.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from openai import APIStatusError, OpenAI


def ask(client: OpenAI, mode: str, model: str, prompt: str) -> dict[str, Any]:
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]
    if mode == "models":
        return {"models": [found.id for found in client.models.list()], "one": client.models.retrieve(model).id}
    if mode == "stream":
        return streamed(client, model, messages)
    if mode == "parse":
        return parsed(client, model, messages)
    completion = client.chat.completions.create(model=model, messages=messages)
    choice = completion.choices[0]
    usage = completion.usage
    return {
        "text": choice.message.content,
        "finish_reason": choice.finish_reason,
        "usage": None if usage is None else [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
    }


def streamed(client: OpenAI, model: str, messages: Any) -> dict[str, Any]:
    pieces, reasons, usage = [], [], None
    stream = client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            pieces += [choice.delta.content] if choice.delta.content else []
            reasons += [choice.finish_reason] if choice.finish_reason else []
    return {
        "text": "".join(pieces),
        "pieces": len(pieces),
        "finish_reason": reasons[0] if len(reasons) == 1 else reasons,
        "usage": None if usage is None else [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
    }


def parsed(client: OpenAI, model: str, messages: Any) -> dict[str, Any]:
    from pydantic import BaseModel

    class Animal(BaseModel):
        name: str
        legs: int

    completion = client.chat.completions.parse(model=model, messages=messages, response_format=Animal)
    animal = completion.choices[0].message.parsed
    return {"parsed": None if animal is None else animal.model_dump()}


def outcome_of(client: OpenAI, request: dict[str, str]) -> dict[str, Any]:
    try:
        return ask(client, request["mode"], request["model"], request["prompt"])
    except APIStatusError as error:
        return {"error": {"status": error.status_code, "code": error.code, "message": error.message}}
    except Exception as error:
        return {"error": {"kind": type(error).__name__, "message": str(error)}}


if __name__ == "__main__":
    print(json.dumps([outcome_of(OpenAI(), request) for request in json.load(sys.stdin)]))
