"""Who pays and who is signed in, seen from the model's end."""

from __future__ import annotations

from tests.helpers.app import AppUnderTest
from tests.helpers.person import Person
from tests.real_cli.model import Fail, ScriptedModel

KEY = "sk-ant-of-the-environment"


def test_a_key_in_the_environment_is_not_used_and_the_window_says_so(
    app: AppUnderTest, model: ScriptedModel
) -> None:
    app.env["ANTHROPIC_API_KEY"] = KEY
    model.script("Hello.")

    async def scenario(person: Person) -> None:
        await person.reads("ANTHROPIC_API_KEY")
        await person.send("Hello")
        await person.waits_until(lambda: "Hello." in app.transcript(), "the turn is over")

    app.run(scenario)

    token = app.cli.env["CLAUDE_CODE_OAUTH_TOKEN"]
    assert len(model.main_requests) == 1
    for request in model.requests:
        assert "x-api-key" not in request.headers
        assert KEY not in " ".join(request.headers.values())
    assert model.main_requests[0].headers["authorization"] == f"Bearer {token}"


def test_a_login_that_expires_between_two_messages_loses_no_word(app: AppUnderTest, model: ScriptedModel) -> None:
    expired = Fail(401, "authentication_error", "OAuth token has expired.")
    model.script("Hello.")
    model.when(text="A long second message", times=9, reply=expired)

    async def scenario(person: Person) -> None:
        await person.send("Hello")
        await person.waits_until(lambda: "Hello." in app.transcript(), "the first turn is over")
        await person.send("A long second message")
        await person.sees("notice_login")
        await person.reads("not signed in")
        await person.waits_until(
            lambda: "A long second message" in app.composer_text() + "\n".join(app.opened.recovered),
            "what was written can be sent again",
        )

    app.run(scenario)

    assert model.main_requests[-1].last_user_text.endswith("A long second message")


def test_after_signing_in_the_conversation_goes_on_where_it_was(app: AppUnderTest, model: ScriptedModel) -> None:
    expired = Fail(401, "authentication_error", "OAuth token has expired.")
    model.script("Hello.", *[expired] * 3)

    async def scenario(person: Person) -> None:
        await person.send("Hello")
        await person.waits_until(lambda: "Hello." in app.transcript(), "the first turn is over")
        await person.send("The second message")
        await person.sees("notice_login")
        before = app.session_pid()
        app.signs_in()
        await person.waits_until(lambda: app.session_pid() not in (None, before), "another CLI runs")
        model.clear_script()
        model.script("Welcome back.")
        if not app.composer_text():
            await person.click("useRecovered_0")
        await person.click("sendButton")
        await person.waits_until(lambda: "Welcome back." in app.transcript(), "the message was answered")

    app.run(scenario)

    last = model.main_requests[-1]
    assert last.last_user_text.endswith("The second message")
    assert "Hello." in last.everything, "the model was not given what had been said before"
