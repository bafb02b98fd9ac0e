"""The sentences that `protocol` words for people have translations: no room of the window repeats them in `tr`."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.sentences import said
from desktop.translations import LANGUAGES, load_catalogue, set_language
from protocol.chat_completions import server, token_file
from protocol.claude import asking, locating, programs
from protocol.permissions import PROBLEM_TEMPLATES, TEMPLATES
from protocol.process import outcome
from protocol.routing import SENTENCES, RequestRefused, failure

TRANSLATED = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize(
    "templates",
    [
        pytest.param(TEMPLATES, id="suggestions"),
        pytest.param(PROBLEM_TEMPLATES, id="forms"),
        pytest.param(tuple(SENTENCES.values()), id="sessions"),
        pytest.param(tuple(outcome.SENTENCES.values()), id="starts"),
        pytest.param(tuple(outcome.ENDS.values()), id="ends"),
        pytest.param(tuple(programs.SENTENCES.values()), id="programs"),
        pytest.param(tuple(locating.SENTENCES.values()), id="locating"),
        pytest.param(tuple(asking.SENTENCES.values()), id="asking"),
        pytest.param(tuple(token_file.SENTENCES.values()), id="tokens"),
        pytest.param(tuple(server.SENTENCES.values()), id="endpoints"),
    ],
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


def test_a_reason_in_a_sentence_is_translated_with_it(tmp_path: Path) -> None:
    missing = tmp_path / "claude"
    with pytest.raises(locating.ClaudeNotFound) as caught:
        locating.find_claude(setting=str(missing), env={})
    assert str(caught.value) == f"The Claude program in the settings cannot be used: {missing} does not exist."
    set_language("zh_TW")
    try:
        assert str(said(caught.value)) == f"無法使用設定中的 Claude 程式：{missing} 不存在。"
    finally:
        set_language("en")


def test_a_refused_token_file_and_a_taken_port_are_translated(tmp_path: Path) -> None:
    damaged = token_file.TokenError("no token", tmp_path / "token")
    missing = token_file.TokenError("not read", tmp_path / "token", PermissionError(13, "Permission denied"))
    assert str(missing) == f"The token file {tmp_path / 'token'} cannot be read: Permission denied."
    taken = server.EndpointError("in use", port=8473)
    set_language("zh_TW")
    try:
        assert str(said(damaged)).startswith(f"權杖檔 {tmp_path / 'token'} 裡沒有")
        assert str(said(missing)) == f"無法讀取權杖檔 {tmp_path / 'token'}：Permission denied。"
        assert str(said(taken)) == "連接埠 8473 已被其他程式使用。請改用其他連接埠，或結束該程式。"
    finally:
        set_language("en")
