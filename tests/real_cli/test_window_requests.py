"""Permissions, plans, forms and pictures in the window, with the newest CLI below."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage

from tests.helpers.app import AppUnderTest
from tests.helpers.mcp import use_mcp_server
from tests.helpers.person import Person, text_of
from tests.real_cli.model import ScriptedModel, Text, ToolUse

MAKE = ToolUse("Bash", {"command": "touch made_by_the_test", "description": "Make a file"})


class TestPermissions:
    def test_allowed_once_runs_what_was_shown_and_asks_again(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(MAKE, MAKE, "Made twice.")
        shown: list[str] = []

        async def scenario(person: Person) -> None:
            await person.send("Make it")
            for _ in range(2):
                shown.append(text_of(await person.sees("permissionDetail")))
                await person.click("allowOnce")
                await person.sees_no_more("permissionDialog", patience=5)
                await person.waits_until(
                    lambda: person.is_seen("permissionDialog") or "Made twice." in app.transcript(), "it goes on"
                )
            await person.waits_until(lambda: "Made twice." in app.transcript(), "the turn is over")

        app.run(scenario)

        assert ["touch made_by_the_test" in text for text in shown] == [True, True]
        assert (app.cli.project / "made_by_the_test").exists()
        assert not any(result.is_error for result in model.tool_results())

    def test_allowed_always_is_not_asked_again(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(MAKE, MAKE, "Made twice.")

        async def scenario(person: Person) -> None:
            await person.send("Make it")
            await person.click("allowAlways_0")
            await person.sees_no_more("permissionDialog")
            await person.waits_until(lambda: "Made twice." in app.transcript(), "the turn is over")
            assert app.requests_asked == 1

        app.run(scenario)

        settings = (app.cli.project / ".claude" / "settings.local.json").read_text(encoding="utf-8")
        assert "touch made_by_the_test" in settings
        assert not any(result.is_error for result in model.tool_results())

    def test_denied_with_words_does_not_run_and_the_model_hears_the_words(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script(MAKE, "As you wish.")

        async def scenario(person: Person) -> None:
            await person.send("Make it")
            await person.sees("permissionDialog")
            await person.write("denyReason", "Not here: use /tmp 好嗎")
            await person.click("deny")
            await person.waits_until(lambda: "As you wish." in app.transcript(), "the turn went on")

        app.run(scenario)

        (result,) = model.tool_results()
        assert result.is_error
        assert "Not here: use /tmp 好嗎" in result.text
        assert not (app.cli.project / "made_by_the_test").exists()

    def test_enter_alone_allows_nothing(self, app: AppUnderTest, model: ScriptedModel) -> None:
        model.script(MAKE, "As you wish.")

        async def scenario(person: Person) -> None:
            await person.send("Make it")
            await person.sees("permissionDialog")
            for _ in range(3):
                await person.keys(Qt.Key.Key_Return)
            assert person.is_seen("permissionDialog")
            assert not (app.cli.project / "made_by_the_test").exists()
            await person.press("permissionDialog", Qt.Key.Key_Escape)
            await person.waits_until(lambda: "As you wish." in app.transcript(), "the turn went on")

        app.run(scenario)

        assert model.tool_results()[0].is_error


class TestPlans:
    PLAN = "# The plan\n\n1. Read the old code\n2. Write the new"

    def plan(self) -> list[object]:
        return [Text("Here is my plan."), ToolUse("ExitPlanMode", {"plan": self.PLAN})]

    def test_an_approved_plan_is_begun_and_edits_are_not_asked_for(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        write = ToolUse("Write", {"file_path": str(app.cli.project / "new.txt"), "content": "new\n"})
        model.script(self.plan(), write, "Done.")

        async def scenario(person: Person) -> None:
            await person.choose("modeSelector", "plan")
            await person.send("Renew it")
            text = text_of(await person.sees("planText"))
            assert "Read the old code" in text
            await person.click("approveAcceptEdits")
            await person.waits_until(lambda: "Done." in app.transcript(), "the turn is over")
            assert app.conversation.permission_mode == "acceptEdits"
            assert app.requests_asked == 1

        app.run(scenario)

        assert not model.tool_results()[0].is_error
        assert (app.cli.project / "new.txt").read_text(encoding="utf-8") == "new\n"

    def test_after_the_other_approval_each_edit_is_asked_for(self, app: AppUnderTest, model: ScriptedModel) -> None:
        write = ToolUse("Write", {"file_path": str(app.cli.project / "new.txt"), "content": "new\n"})
        model.script(self.plan(), write, "Done.")

        async def scenario(person: Person) -> None:
            await person.choose("modeSelector", "plan")
            await person.send("Renew it")
            await person.click("approveAskEach")
            await person.sees("permissionDialog")
            assert not (app.cli.project / "new.txt").exists()
            await person.click("allowOnce")
            await person.waits_until(lambda: "Done." in app.transcript(), "the turn is over")

        app.run(scenario)

        assert (app.cli.project / "new.txt").exists()

    def test_a_plan_that_is_sent_back_reaches_the_model_with_the_feedback(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        model.script(self.plan(), "I think again.")

        async def scenario(person: Person) -> None:
            await person.choose("modeSelector", "plan")
            await person.send("Renew it")
            await person.sees("planDialog")
            await person.write("planFeedback", "Keep the old one as well")
            await person.click("keepPlanning")
            await person.waits_until(lambda: "I think again." in app.transcript(), "the turn went on")
            assert app.conversation.permission_mode == "plan"

        app.run(scenario)

        (result,) = model.tool_results()
        assert result.is_error
        assert "Keep the old one as well" in result.text


class TestForms:
    def test_a_form_of_an_mcp_server_is_filled_in_and_the_server_gets_it(
        self, app: AppUnderTest, model: ScriptedModel
    ) -> None:
        use_mcp_server(app.cli)
        model.when(text="Deploy it", tool_result=False, reply=ToolUse("mcp__demo__ask_user", {"topic": "deploy"}))
        model.when(tool_result=True, reply="Deployed.")

        async def scenario(person: Person) -> None:
            await person.waits_until(app.mcp_is_connected, "the MCP server is there")
            await person.send("Deploy it")
            await person.click("allowOnce")
            await person.sees("elicitationDialog")
            await person.reads("How shall I deploy?")
            await person.click("accept")
            assert person.is_seen("elicitationDialog"), "a form without its required fields was sent"
            await person.choose("field_region", words="Europe")
            await person.write("field_servers", "3")
            await person.write("field_note", "為了測試")
            await person.click("field_confirm")
            await person.click("accept")
            await person.waits_until(lambda: "Deployed." in app.transcript(), "the turn is over")

        app.run(scenario)

        told = model.tool_results()[0].text
        assert '"action": "accept"' in told
        assert '"region": "eu"' in told
        assert '"servers": 3' in told
        assert '"confirm": true' in told
        assert "\\u70ba\\u4e86\\u6e2c\\u8a66" in told

    def test_a_declined_form_tells_the_server_so(self, app: AppUnderTest, model: ScriptedModel) -> None:
        use_mcp_server(app.cli)
        model.when(text="Deploy it", tool_result=False, reply=ToolUse("mcp__demo__ask_user", {"topic": "deploy"}))
        model.when(tool_result=True, reply="Not deployed.")

        async def scenario(person: Person) -> None:
            await person.waits_until(app.mcp_is_connected, "the MCP server is there")
            await person.send("Deploy it")
            await person.click("allowOnce")
            await person.click("decline")
            await person.waits_until(lambda: "Not deployed." in app.transcript(), "the turn is over")

        app.run(scenario)

        assert '"action": "decline"' in model.tool_results()[0].text


class TestPictures:
    def test_a_picture_from_the_clipboard_reaches_the_model_with_the_words(
        self, app: AppUnderTest, model: ScriptedModel, tmp_path: Path
    ) -> None:
        model.script("A red square.")
        picture = QImage(64, 64, QImage.Format.Format_RGB32)
        picture.fill(QColor("red"))

        async def scenario(person: Person) -> None:
            await person.ready("composer")
            QGuiApplication.clipboard().setImage(picture)
            await person.press("composer", Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
            await person.send("What is this?")
            await person.waits_until(lambda: "A red square." in app.transcript(), "the turn is over")

        app.run(scenario)

        request = model.main_requests[0]
        (source,) = request.images
        assert source["type"] == "base64"
        assert source["media_type"].startswith("image/")
        assert len(source["data"]) > 50
        assert "What is this?" in request.last_user_text
