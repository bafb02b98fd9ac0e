"""Asks the endpoint with the command-line program `llm`; in and out as `with_openai.py` says.

`OPENAI_API_KEY` may be empty: then `llm` has no key for this model, and sends one that it made up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def introduce(model: str, token: str) -> None:
    """Tells `llm` of this model, as its user would in two files."""
    folder = Path(os.environ["LLM_USER_PATH"])
    entry = {"model_id": model, "model_name": model, "api_base": os.environ["OPENAI_BASE_URL"]}
    if token:
        entry["api_key_name"] = "handraise"
        (folder / "keys.json").write_text(json.dumps({"handraise": token}), encoding="utf-8")
    # JSON is YAML, too.
    (folder / "extra-openai-models.yaml").write_text(json.dumps([entry]), encoding="utf-8")


def outcome_of(request: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "llm", "prompt", "--model", request["model"], "--system", "Be brief."]
    command += [] if request["mode"] == "stream" else ["--no-stream"]
    done = subprocess.run(command, input=request["prompt"], capture_output=True, encoding="utf-8", check=False)
    return {"error": {"message": done.stderr}} if done.returncode else {"text": done.stdout.removesuffix("\n")}


def main() -> None:
    requests = json.load(sys.stdin)
    introduce(requests[0]["model"], os.environ.pop("OPENAI_API_KEY"))
    print(json.dumps([outcome_of(request) for request in requests]))


if __name__ == "__main__":
    main()
