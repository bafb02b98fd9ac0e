"""Every sentence of the interface has its translation, and fits its values."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import translations
from desktop.translations import LANGUAGES, load_catalogue, set_language, tr

ROOT = Path(__file__).resolve().parents[2]
CALLS = ("tr", "sentence")
"""What takes an English sentence: for now, and for later."""

TRANSLATED = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language("en")


def sentences() -> dict[str, str]:
    """Each literal given to `tr`, with a place where it stands."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "desktop").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.setdefault(first.value, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_sentence_is_translated(code: str) -> None:
    catalogue = load_catalogue(code)
    missing = {text: place for text, place in sentences().items() if text not in catalogue}
    assert missing == {}


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_translation_uses_the_values_of_its_sentence(code: str) -> None:
    wrong = {text: said for text, said in load_catalogue(code).items() if fields(said) != fields(text)}
    assert wrong == {}


def test_an_unknown_sentence_stays_as_it_is() -> None:
    set_language("zh_TW")
    assert tr("A sentence that no catalogue has, {name}", name="x{y}") == "A sentence that no catalogue has, x{y}"


def test_an_unknown_language_falls_back_to_english() -> None:
    assert set_language("tlh") == "en"


def test_a_translation_that_does_not_fit_is_not_a_crash(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(translations, "_catalogue", {"Exited ({code})": "結束（{kode}）"})
    assert tr("Exited ({code})", code=3) == "Exited (3)"
    assert "does not fit" in caplog.text
    caplog.clear()
