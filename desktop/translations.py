"""The words of the interface in the person's language.

Every sentence is written in English in the code and looked up here: `tr("Send")`. A catalogue is a folder of JSON
files below `resources/translations/`, one a room, each a flat object from the English sentence to its translation.
A sentence that the catalogue lacks stays English, so nothing is ever blank.
"""

from __future__ import annotations

import json
import logging
from importlib import resources
from typing import Any

from PySide6.QtCore import QLocale

log = logging.getLogger("handraise.translations")

LANGUAGES = {"en": "English", "zh_TW": "繁體中文"}
"""Language code to its own name, in the order in which the settings show them."""

_catalogue: dict[str, str] = {}
_language = "en"


def set_language(code: str) -> str:
    """Switch the language. `code` is a key of `LANGUAGES` or "system"; returns the code that is in force.

    An unknown code falls back to English: a settings file from a newer version must not keep the window shut.
    """
    global _catalogue, _language
    if code == "system":
        code = system_language()
    if code not in LANGUAGES:
        log.info("No translation for %r: English is used", code)
        code = "en"
    _language = code
    _catalogue = {} if code == "en" else load_catalogue(code)
    return code


def language() -> str:
    """The code of the language in force."""
    return _language


def system_language() -> str:
    """The first language of the system's list that there is a catalogue for."""
    for name in QLocale.system().uiLanguages():
        tag = name.replace("-", "_")
        if tag.startswith(("zh_TW", "zh_Hant", "zh_HK", "zh_MO")):
            return "zh_TW"
        if tag.startswith("en"):
            return "en"
    return "en"


def load_catalogue(code: str) -> dict[str, str]:
    """All sentences of one language, merged from its files: {English: translation}."""
    folder = resources.files("resources").joinpath("translations", code)
    merged: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".json"):
            merged.update(json.loads(file.read_text(encoding="utf-8")))
    return merged


def tr(text: str, /, **values: Any) -> str:
    """The sentence in the person's language, with its `{named}` values filled in.

    Values are put in after the lookup and are never read as a template themselves: a brace in a file name stays a
    brace.
    """
    template = _catalogue.get(text, text)
    if not values:
        return template
    try:
        return template.format_map(values)
    except (KeyError, IndexError, ValueError):
        log.error("The translation of %r does not fit its values", text)
        return text.format_map(values)


def format_count(number: float) -> str:
    """A number as the person's locale writes it."""
    locale = QLocale(_language)
    return locale.toString(number) if isinstance(number, int) else locale.toString(number, "f", 2)
