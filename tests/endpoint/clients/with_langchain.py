"""Asks the endpoint through LangChain; in and out as `with_openai.py` says."""

from __future__ import annotations

import json
import sys
from typing import Any

import openai
from langchain_openai import ChatOpenAI  # type: ignore[import-not-found, unused-ignore]


def ask(chat: Any, mode: str, prompt: str) -> dict[str, Any]:
    messages = [("system", "Be brief."), ("human", prompt)]
    if mode == "stream":
        pieces = list(chat.stream(messages))
        reasons = [reason for piece in pieces if (reason := piece.response_metadata.get("finish_reason"))]
        texts = [piece.content for piece in pieces if piece.content]
        return {"text": "".join(texts), "pieces": len(texts), "finish_reason": "".join(reasons)}
    message = chat.invoke(messages)
    return {"text": message.content, "finish_reason": message.response_metadata["finish_reason"]}


def outcome_of(request: dict[str, str]) -> dict[str, Any]:
    try:
        return ask(ChatOpenAI(model=request["model"]), request["mode"], request["prompt"])
    except openai.APIStatusError as error:
        return {"error": {"status": error.status_code, "code": error.code, "message": error.message}}
    except Exception as error:
        return {"error": {"kind": type(error).__name__, "message": str(error)}}


if __name__ == "__main__":
    print(json.dumps([outcome_of(request) for request in json.load(sys.stdin)]))
