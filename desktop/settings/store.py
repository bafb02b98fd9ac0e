"""The settings file: JSON below the config folder, read tolerantly and written in one step."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from desktop.files import set_aside, write_atomically
from desktop.sentences import Sentence, sentence

log = logging.getLogger("handraise.settings")


class Settings(BaseModel):
    """Everything that can be set. A key that this version does not know is kept and written back."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)

    claude: str = ""
    """Path of the `claude` to run; empty means: look for it."""
    git_bash: str = ""
    """Path of the `bash.exe` that Claude uses on Windows; empty means: it finds one by itself."""
    theme: Literal["system", "light", "dark"] = "system"
    language: str = "system"
    """A key of `desktop.translations.LANGUAGES`, or "system"."""
    keep_api_key: bool = False
    """Whether ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN reach the CLI, which then bills the API."""
    max_processes: int = Field(default=8, ge=1, le=64)
    """How many CLIs may run at once. Eight at once have truncated `~/.claude.json` in the field."""
    text_scale: float = Field(default=1.0, ge=0.75, le=2.0)
    while_question_open: Literal["reply", "queue"] = "reply"
    """What the composer's text becomes while a question is open."""
    notify: bool = True
    """Whether a waiting request is announced by the desktop when the window is not in front."""
    check_updates: bool = False
    """Whether GitHub is asked once a day for a newer release."""
    trusted_folders: list[str] = Field(default_factory=list)
    last_folder: str = ""
    local_api: bool = False
    """Whether the local endpoint is on."""
    local_api_port: int = Field(default=8473, ge=0, le=65535)
    """The port of the local endpoint; 0 takes any free one at each start."""
    local_api_lenient: bool = False
    """Whether the usual sampling parameters, which are not done, are ignored instead of refused."""
    local_api_tools: bool = False
    """Whether requests may use tools, in `local_api_folder`; without a folder they may not."""
    local_api_folder: str = ""


class SettingsStore:
    """The settings in force and their file.

    Attributes:
        path: the file.
        settings: what is in force.
        problem: what the person must be told when the file could not be used as it was, else None.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: Sentence | None = None
        self._listeners: list[Callable[[Settings], None]] = []
        self.settings = self._load()

    def subscribe(self, listener: Callable[[Settings], None]) -> None:
        """Call `listener(settings)` after each change."""
        self._listeners.append(listener)

    def change(self, **values: Any) -> Sentence | None:
        """Set values and save them.

        Returns:
            None, or why the file could not be written; the values are in force either way.
        Raises:
            pydantic.ValidationError: a value is out of its range; nothing is changed then.
        """
        # The whole model at once, so that one bad value leaves all of them as they were.
        self.settings = Settings.model_validate({**self.settings.model_dump(), **values})
        problem = self._save()
        for listener in list(self._listeners):
            listener(self.settings)
        return problem

    def trusts(self, folder: Path) -> bool:
        """Whether the person has said that this folder's own settings may run."""
        return str(folder) in self.settings.trusted_folders

    def trust(self, folder: Path) -> Sentence | None:
        """Remember that the folder is trusted; returns what `change` returns."""
        if self.trusts(folder):
            return None
        return self.change(trusted_folders=[*self.settings.trusted_folders, str(folder)])

    def _save(self) -> Sentence | None:
        text = json.dumps(self.settings.model_dump(), ensure_ascii=False, indent=2) + "\n"
        try:
            write_atomically(self.path, text, durable=True)
        except OSError as error:
            log.warning("The settings could not be saved: %s", error)
            return sentence(
                "The settings could not be saved in {path}: {reason}.",
                path=self.path, reason=error.strerror or error,
            )  # fmt: skip
        return None

    def _load(self) -> Settings:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Settings()
        except (OSError, UnicodeDecodeError) as error:
            return self._start_afresh(str(error))
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            return self._start_afresh(str(error))
        if not isinstance(values, dict):
            return self._start_afresh("it is not a JSON object")
        return self._validated(values)

    def _start_afresh(self, reason: str) -> Settings:
        aside = set_aside(self.path)
        self.problem = sentence(
            "The settings file could not be read, so the defaults are used. It was kept as {kept}. ({reason})",
            kept=aside or self.path, reason=reason,
        )  # fmt: skip
        log.warning("Settings file set aside as %s: %s", aside, reason)
        return Settings()

    def _validated(self, values: dict[str, Any]) -> Settings:
        """The settings of a file; each value that does not fit gets its default, the others are kept."""
        dropped: list[str] = []
        for _ in range(len(Settings.model_fields) + 1):
            try:
                settings = Settings.model_validate(values)
            except ValidationError as error:
                bad = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
                dropped.extend(sorted(bad))
                values = {key: value for key, value in values.items() if key not in bad}
            else:
                break
        else:  # pragma: no cover (every round drops at least one key)
            settings = Settings()
        if dropped:
            self.problem = sentence(
                "Some settings had values that cannot be used, so their defaults are in force: {names}.",
                names=", ".join(dropped),
            )
            log.warning("Settings dropped: %s", dropped)
        return settings
