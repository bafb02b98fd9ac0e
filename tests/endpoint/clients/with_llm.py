"""Asks the endpoint with the command-line program `llm`; in and out as `with_openai.py` says.

`OPENAI_API_KEY` may be empty: then `llm` has no key for this model, and sends one that it made up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    request = json.load(sys.stdin)
    token = os.environ.pop("OPENAI_API_KEY")
    folder = Path(os.environ["LLM_USER_PATH"])
    model = {"model_id": request["model"], "model_name": request["model"], "api_base": os.environ["OPENAI_BASE_URL"]}
    if token:
        model["api_key_name"] = "handraise"
        (folder / "keys.json").write_text(json.dumps({"handraise": token}), encoding="utf-8")
    # JSON is YAML, too.
    (folder / "extra-openai-models.yaml").write_text(json.dumps([model]), encoding="utf-8")
    command = [sys.executable, "-m", "llm", "prompt", "--model", request["model"], "--system", "Be brief."]
    command += [] if request["mode"] == "stream" else ["--no-stream"]
    done = subprocess.run(command, input=request["prompt"], capture_output=True, encoding="utf-8", check=False)
    if done.returncode == 0:
        print(json.dumps({"text": done.stdout.removesuffix("\n")}))
    else:
        print(json.dumps({"error": {"message": done.stderr}}))


if __name__ == "__main__":
    main()
