"""Which conversations exist. Nothing is kept unless FAKE_CLI_SESSIONS names a folder; then resume is checked too."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

from fake_cli.arguments import Arguments
from fake_cli.scenario import Scenario


class Memory:
    """Attributes: `session_id`; `is_unknown` when `--resume` named a conversation that does not exist."""

    def __init__(self, arguments: Arguments, options: dict[str, Any]) -> None:
        folder = os.environ.get("FAKE_CLI_SESSIONS")
        self._folder = Path(folder) if folder else None
        self._used: list[int] = []
        resumed = arguments.get("--resume")
        self.session_id = resumed or arguments.get("--session-id") or options.get("session_id") or str(uuid.uuid4())
        self.is_unknown = False
        if resumed:
            known = self._load(resumed)
            self.is_unknown = options.get("resume") == "unknown" or not known
            if arguments.has("--fork-session") and not self.is_unknown:
                self.session_id = str(uuid.uuid4())

    def restore(self, scenario: Scenario) -> None:
        """Turns that were used before the restart are used up."""
        for index in self._used:
            if index < len(scenario.turns):
                scenario.turns[index].used = True

    def save(self, scenario: Scenario) -> None:
        """After a turn that the model took part in: only then does the real one find it again."""
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            used = [index for index, turn in enumerate(scenario.turns) if turn.used]
            (self._folder / f"{self.session_id}.json").write_text(json.dumps({"used": used}), encoding="utf-8")

    def _load(self, session_id: str) -> bool:
        if self._folder is None:
            return True
        try:
            kept = json.loads((self._folder / f"{session_id}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        self._used = list(kept["used"])
        return True
