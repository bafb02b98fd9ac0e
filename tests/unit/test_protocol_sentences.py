"""The sentences that `protocol` words for people have translations: no room of the window repeats them in `tr`."""

from __future__ import annotations

import pytest

from desktop.translations import LANGUAGES, load_catalogue
from protocol.permissions import PROBLEM_TEMPLATES, TEMPLATES
from protocol.routing import SENTENCES, RequestRefused, failure

TRANSLATED = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize(
    "templates", [TEMPLATES, PROBLEM_TEMPLATES, tuple(SENTENCES.values())], ids=["suggestions", "forms", "sessions"]
)
def test_every_sentence_is_translated(code: str, templates: tuple[str, ...]) -> None:
    catalogue = load_catalogue(code)
    assert [template for template in templates if template not in catalogue] == []


def test_an_error_of_a_session_still_knows_its_words() -> None:
    error = failure("silent", "what stderr said", request="get_usage", seconds=3)
    assert str(error) == "Claude did not answer “get_usage” within 3 seconds.\nwhat stderr said"
    assert error.sentence.words.values == {"request": "get_usage", "seconds": "3"}  # type: ignore[attr-defined]


def test_a_refusal_says_the_clis_own_words() -> None:
    assert str(RequestRefused("Not in this mode", "some_code")) == "Not in this mode"
