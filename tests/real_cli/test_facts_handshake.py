"""The start and the end of a session, on bare pipes, with every pinned CLI."""

from __future__ import annotations

import subprocess

from tests.helpers.raw_cli import RawCli
from tests.helpers.real_cli import RealCli
from tests.real_cli.model import Fail, ScriptedModel, Text


def test_the_pinned_package_is_the_version_that_it_says(each_claude: RealCli) -> None:
    done = subprocess.run([*each_claude.argv, "--version"], env=each_claude.env, capture_output=True, text=True)

    assert done.stdout.split()[0] == each_claude.version


def test_initialize_is_answered_with_what_the_session_offers(each_claude: RealCli) -> None:
    with RawCli(each_claude) as raw:
        payload = raw.initialize()

    assert {"commands", "models", "account"} <= payload.keys()
    assert {"name", "description", "argumentHint"} <= payload["commands"][0].keys()


def test_a_message_is_answered_and_the_turn_ends_with_a_result(each_claude: RealCli, model: ScriptedModel) -> None:
    model.script("Hello to you.")
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Hello there")
        result = raw.wait_for_result()
        code = raw.close()

    assert (result["subtype"], result["is_error"], result["result"]) == ("success", False, "Hello to you.")
    assert model.main_requests[0].last_user_text == "Hello there"
    assert code == 0


def test_the_text_comes_in_pieces_and_then_once_more_whole(each_claude: RealCli, model: ScriptedModel) -> None:
    model.script(Text("EC" + "HO", pieces=2))
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Say it")
        raw.wait_for_result()

    events = [m["event"] for m in raw.messages if m["type"] == "stream_event"]
    deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    whole = [m["message"]["content"] for m in raw.messages if m["type"] == "assistant"]
    assert deltas == ["EC", "HO"]
    assert whole == [[{"type": "text", "text": "ECHO"}]]


def test_the_newest_cli_says_when_the_turn_is_over(claude: RealCli, model: ScriptedModel) -> None:
    model.script("Done.")
    env = claude.env | {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
    with RawCli(claude, env=env) as raw:
        raw.initialize()
        raw.say("Go")
        idle = raw.wait_for(lambda m: m.get("subtype") == "session_state_changed" and m["state"] == "idle")

    assert idle["type"] == "system"


def test_the_oauth_token_is_the_login_and_no_api_key_is_sent(each_claude: RealCli, model: ScriptedModel) -> None:
    model.script("Hello.")
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Hello")
        raw.wait_for_result()

    token = each_claude.env["CLAUDE_CODE_OAUTH_TOKEN"]
    assert {request.headers.get("authorization") for request in model.main_requests} == {f"Bearer {token}"}
    assert all("x-api-key" not in request.headers for request in model.requests)


def test_an_api_key_left_in_the_environment_outranks_the_login(each_claude: RealCli, model: ScriptedModel) -> None:
    """The reason why the app takes the key out of the child's environment."""
    model.script("Hello.")
    env = each_claude.env | {"ANTHROPIC_API_KEY": "sk-ant-of-the-environment"}
    with RawCli(each_claude, env=env) as raw:
        raw.initialize()
        raw.say("Hello")
        raw.wait_for_result()

    assert model.main_requests[0].headers.get("x-api-key") == "sk-ant-of-the-environment"


def test_an_api_failure_is_a_result_that_calls_itself_a_success(each_claude: RealCli, model: ScriptedModel) -> None:
    model.when(reply=Fail(400, "invalid_request_error", "this is not to my liking"))
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.say("Hello")
        result = raw.wait_for_result()
        code = raw.close()

    assert (result["subtype"], result["is_error"]) == ("success", True)
    assert "this is not to my liking" in result["result"]
    assert code == 1


def test_one_malformed_line_ends_the_whole_session(each_claude: RealCli) -> None:
    with RawCli(each_claude) as raw:
        raw.initialize()
        raw.send_bytes(b'{"type": "user", \n')

        assert raw.process.wait(20) == 1


def test_resuming_an_unknown_conversation_fails_in_words(each_claude: RealCli) -> None:
    unknown = "01234567-89ab-cdef-0123-456789abcdef"
    with RawCli(each_claude, "--resume", unknown) as raw:
        code = raw.process.wait(30)

    assert code == 1
    assert f"No conversation found with session ID: {unknown}" in raw.everything
