"""Each kind of entry: what it shows, what it folds away, and what a click opens."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from desktop.transcript.card_segments import PictureSegment, PlainSegment
from desktop.transcript.pictures import read_thumbnail
from desktop.translations import set_language
from protocol import permissions, questions
from protocol.conversation import NoticeItem, UserItem
from protocol.messages import ImageBlock
from tests.helpers.cli_says import (
    assistant,
    block_start,
    init,
    json_delta,
    may_i,
    message_start,
    result,
    system,
    thinking,
    thinking_delta,
    tool_result,
    tool_use,
)
from tests.helpers.transcript import ShownTalk, edit


@pytest.fixture
def talk(qtbot: QtBot) -> ShownTalk:
    shown = ShownTalk(qtbot)
    shown.cli(init(cwd="/home/me/project"))
    return shown


def picture(width: int = 40, height: int = 30) -> ImageBlock:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    data = base64.b64encode(bytes(buffer.data().data())).decode()
    return ImageBlock.model_validate({"type": "image", "source": {"media_type": "image/png", "data": data}})


# Messages


def test_a_users_message_is_shown_as_it_was_typed(talk: ShownTalk) -> None:
    talk.user("Is **this** <b>bold</b>?\n    indented")
    assert talk.text().startswith("Is **this** <b>bold</b>?\n    indented")


def test_a_message_says_that_it_was_sent_until_something_comes_back(talk: ShownTalk) -> None:
    talk.user("hello")
    assert talk.text() == "hello\nSent"
    talk.says("hi")
    assert talk.text(0) == "hello"


@pytest.mark.parametrize(
    ("state", "words"),
    [("queued", "Queued: Claude reads it when this turn is over"), ("cancelled", "Withdrawn: Claude did not read it")],
)
def test_a_message_that_waits_or_was_withdrawn_says_so(talk: ShownTalk, state: Any, words: str) -> None:
    talk.user("hello", uuid="u1")
    talk.says("working")
    item = talk.only(UserItem)
    item.state = state
    talk.list.show_changes([item.id])
    assert talk.text(0) == f"hello\n{words}"


def test_pictures_are_shown_as_thumbnails(talk: ShownTalk, qtbot: QtBot) -> None:
    talk.user("look")
    item = talk.only(UserItem)
    item.images = (picture(), picture())
    talk.list.show_changes([item.id])
    (segment,) = (segment for segment in talk.row(0).segments if isinstance(segment, PictureSegment))
    qtbot.waitUntil(lambda: talk.list.pictures.get(item.images[0]) is not None)
    assert talk.list.pictures.get(item.images[0]).size().width() == 40  # type: ignore[union-attr]
    assert segment.height == 96


def test_a_picture_is_scaled_while_it_is_read_and_never_fetched() -> None:
    assert max(read_thumbnail(picture(3000, 200)).size().toTuple()) == 480  # type: ignore[operator]
    assert read_thumbnail(ImageBlock.model_validate({"source": {"type": "url", "url": "http://e.org/x.png"}})).isNull()
    broken = ImageBlock.model_validate({"source": {"media_type": "image/png", "data": "!!!"}})
    assert read_thumbnail(broken).isNull()
    svg = ImageBlock.model_validate({"source": {"media_type": "image/svg+xml", "data": "PHN2Zy8+"}})
    assert read_thumbnail(svg).isNull()


# Thinking


def test_thinking_is_folded_away_and_opens_by_a_click(talk: ShownTalk) -> None:
    talk.cli(assistant(thinking("First **this**, then that.")))
    assert talk.text() == "Thought"
    talk.click_words("Unfold")
    assert talk.text() == "Thought\nFirst this, then that."
    talk.click_words("Fold")
    assert talk.text() == "Thought"


def test_an_open_thought_grows_while_it_streams(talk: ShownTalk) -> None:
    talk.cli(message_start(), block_start(0, "thinking", thinking=""), thinking_delta("One. "))
    assert talk.text() == "Thinking…"
    talk.click_words("Unfold")
    talk.cli(thinking_delta("Two."))
    assert talk.text() == "Thinking…\nOne. Two."


# Tools


def test_a_call_shows_its_name_and_its_path_from_the_folder(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Read", file_path="/home/me/project/src/app.py")))
    assert talk.text() == "Read src/app.py running…"


def test_a_path_elsewhere_is_shown_whole(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Read", file_path="/home/me/project-two/app.py")))
    assert "/home/me/project-two/app.py" in talk.text()


def test_an_edit_is_open_and_shows_what_it_changes(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Edit", **edit("a = 1\n", "a = 2\n"))))
    assert talk.text() == "Edit app.py running…\n- a = 1\n+ a = 2"
    patch = [{"oldStart": 12, "newStart": 12, "lines": [" x", "-a = 1", "+a = 2"]}]
    talk.cli(tool_result("t1", "updated", tool_use_result={"structuredPatch": patch}))
    assert talk.text() == "Edit app.py\n  x\n- a = 1\n+ a = 2"


def test_a_long_diff_is_cut_and_shown_whole_on_demand(talk: ShownTalk) -> None:
    content = "".join(f"line {number}\n" for number in range(100))
    talk.cli(assistant(tool_use("t1", "Write", file_path="/x", content=content)))
    assert "line 19" in talk.text()
    assert "line 20" not in talk.text()
    talk.click_words("Show all 100 lines")
    assert "line 99" in talk.text()


def test_what_was_decided_stands_at_the_right(talk: ShownTalk) -> None:
    call = edit("a\n", "b\n")
    talk.cli(assistant(tool_use("t1", "Edit", **call)), may_i("r1", "t1", "Edit", input=call))
    assert talk.text() == "Edit app.py ● waiting for you"  # the dialog shows the change
    talk.answers("r1", permissions.allow(call))
    talk.cli(tool_result("t1", "updated"))
    assert talk.text() == "Edit app.py ✓ allowed once\n- a\n+ b"


def test_a_denied_call_says_so(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="rm x")), may_i("r1", "t1", input={"command": "rm x"}))
    talk.answers("r1", permissions.deny("No, keep it."))
    talk.cli(tool_result("t1", "No, keep it.", is_error=True))
    assert talk.text() == "Bash rm x ✕ denied\n$ rm x\nYou wrote: No, keep it."


def test_a_call_denied_without_words_does_not_show_the_clis_own_sentence(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="rm x")), may_i("r1", "t1", input={"command": "rm x"}))
    talk.answers("r1", permissions.deny(""))
    talk.cli(tool_result("t1", "The user doesn't want to proceed with this tool use.", is_error=True))
    talk.click_words("Unfold Bash")
    assert talk.text() == "Bash rm x ✕ denied\n$ rm x"


def test_a_command_is_folded_and_opens_with_its_output(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="make test", description="Run the tests")))
    talk.cli(tool_result("t1", "\x1b[32mok\x1b[0m\n2 passed"))
    assert talk.text() == "Bash make test 2 lines"
    talk.click_words("Unfold Bash")
    assert talk.text() == "Bash make test 2 lines\nRun the tests\n$ make test\nok\n2 passed"


def test_a_failed_command_is_open(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="false")), tool_result("t1", "boom", is_error=True))
    assert "✕ failed" in talk.text()
    assert "boom" in talk.text()


def test_hidden_characters_in_a_command_are_visible(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="echo \u202e\x1b[8mhidden")))
    assert "echo ⟨U+202E⟩⟨U+001B⟩[8mhidden" in talk.text()


def test_a_long_output_is_cut_and_shown_whole_on_demand(talk: ShownTalk) -> None:
    output = "\n".join(f"line {number}" for number in range(1000))
    talk.cli(assistant(tool_use("t1", "Bash", command="seq")), tool_result("t1", output, is_error=True))
    assert "line 11" in talk.text()
    assert "line 12" not in talk.text()
    talk.click_words("Show all 1,000 lines")
    assert talk.text().endswith("line 999")


def test_a_long_line_of_output_is_cut_too(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="x")), tool_result("t1", "y" * 9000, is_error=True))
    talk.click_words("Show all 9,000 characters")
    assert talk.text().endswith("\n" + "y" * 9000)


def test_of_an_output_of_megabytes_the_beginning_is_shown_and_the_rest_is_told(talk: ShownTalk) -> None:
    output = "words of output\n" * 100_000
    talk.cli(assistant(tool_use("t1", "Bash", command="x")), tool_result("t1", output, is_error=True))
    talk.click_words("Show all")
    assert talk.text().endswith("The rest is not shown: 600,000 more characters.")
    talk.list.hands.copy_message(0)
    assert talk.copied.count("words of output") == 100_000


def test_colours_of_an_output_reach_over_the_parts_it_is_laid_out_in(talk: ShownTalk) -> None:
    output = "\x1b[31m" + "\n".join(f"line {number}" for number in range(100)) + "\x1b[0m end"
    talk.cli(assistant(tool_use("t1", "Bash", command="x")), tool_result("t1", output, is_error=True))
    talk.click_words("Show all")
    coloured = [segment._colours for segment in talk.row(0).segments if isinstance(segment, PlainSegment)][-3:]
    assert [[tuple(part) for part in parts] for parts in coloured] == [
        [(0, 309, "bad")], [(0, 319, "bad")], [(0, 159, "bad")],
    ]  # fmt: skip


def test_the_path_is_shown_while_the_input_still_streams(talk: ShownTalk) -> None:
    talk.cli(message_start(), block_start(0, "tool_use", id="t1", name="Write", input={}))
    talk.cli(json_delta('{"file_path": "/home/me/project/new \\"file\\".py", "content": "x'))
    assert talk.text() == 'Write new "file".py writing…'


def test_todos_have_boxes(talk: ShownTalk) -> None:
    todos = [
        {"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"},
        {"content": "Test", "status": "pending"},
    ]  # fmt: skip
    talk.cli(assistant(tool_use("t1", "TodoWrite", todos=todos)))
    assert talk.text() == "To-do list running…\n☑  Read\n▶  Write\n☐  Test"


QUESTION = {"questions": [{"question": "Which <db>?", "header": "DB", "multiSelect": False,
                           "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}]}]}


def asked(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "AskUserQuestion", **QUESTION)))
    talk.cli(may_i("r1", "t1", "AskUserQuestion", input=QUESTION))


def test_an_answered_question_shows_what_was_chosen(talk: ShownTalk) -> None:
    asked(talk)
    assert talk.text() == "Question Which <db>? ● waiting for you"
    ask = questions.parse_questions(QUESTION)
    talk.answers("r1", questions.answered(ask, [questions.Answer(labels=("B",), notes="but later")], capabilities=()))
    talk.cli(tool_result("t1", "answered"))
    assert talk.text().startswith("Question ✓ answered\nWhich <db>?\nB")
    assert "but later" in talk.text()


def test_a_dismissed_question_says_so(talk: ShownTalk) -> None:
    asked(talk)
    talk.answers("r1", questions.dismissed())
    talk.cli(tool_result("t1", "dismissed", is_error=True))
    assert talk.text().startswith("Question dismissed\nWhich <db>?\nDismissed without an answer.")


def test_a_reply_instead_of_an_answer_is_shown(talk: ShownTalk) -> None:
    asked(talk)
    talk.answers("r1", questions.reply_instead("Neither, use files."))
    talk.cli(tool_result("t1", "Neither, use files.", is_error=True))
    assert talk.text() == "Question replied instead\nWhich <db>?\nNeither, use files."


def test_a_plan_is_read_as_markdown(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "ExitPlanMode", plan="# Plan\n\n- **one**\n- two")))
    assert talk.text() == "Plan running…\nPlan\n\n• one\n• two"


def test_an_unknown_tool_shows_its_input_and_result(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "mcp__jira__search", jql="x = 1", limit=5)), tool_result("t1", "found"))
    assert talk.text().startswith("jira · search")
    talk.click_words("Unfold")
    assert '"jql": "x = 1"' in talk.text()
    assert talk.text().endswith("found")


@pytest.mark.parametrize(
    "call",
    [{}, {"todos": "none"}, {"todos": [1, {"content": None}]}, {"questions": {"a": 1}}, {"file_path": 7, "edits": 3},
     {"plan": 5}, {"command": ["a"]}, {"prompt": {}, "description": []}],
)  # fmt: skip
def test_an_input_of_a_strange_shape_is_still_shown(talk: ShownTalk, call: dict[str, Any]) -> None:
    names = ["Bash", "Edit", "MultiEdit", "Write", "TodoWrite", "AskUserQuestion", "ExitPlanMode", "Task", "Grep"]
    for number, name in enumerate(names):
        talk.cli(assistant(tool_use(f"t{number}", name, **call), message_id=f"m{number}"))
        talk.cli(tool_result(f"t{number}", "x", is_error=True, tool_use_result=call))
    assert "cannot be shown" not in talk.all_text


# Subagents


def test_a_subagents_steps_are_inside_its_card(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Task", description="Find callers", prompt="Find every caller.")))
    talk.cli(assistant(tool_use("t2", "Grep", pattern="x"), message_id="m2", parent="t1"))
    talk.cli(assistant("Found **two**.", message_id="m3", parent="t1"))
    assert talk.all_text == "Subagent Find callers 1 step · running…"
    talk.click_words("Unfold", 0)
    assert talk.all_text.split("\n\n") == [
        "Subagent Find callers 1 step · running…\nFind every caller.", "Grep x running…", "Found two.",
    ]  # fmt: skip
    inner = talk.list.visualRect(talk.list.transcript.index(1))
    outer = talk.list.visualRect(talk.list.transcript.index(0))
    assert (inner.left(), inner.right()) == (outer.left() + 24, outer.right())
    talk.click_words("Fold", 0)
    assert "Grep" not in talk.all_text


def test_a_subagent_that_asks_says_so_on_its_own_card(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Task", description="Find callers", prompt="Find every caller.")))
    talk.cli(assistant(tool_use("t2", "Bash", command="ls"), message_id="m2", parent="t1"))
    assert talk.all_text == "Subagent Find callers 1 step · running…"
    talk.cli(may_i("r1", "t2", input={"command": "ls"}))
    assert talk.all_text == "Subagent Find callers 1 step · ● waiting for you"
    talk.answers("r1", permissions.allow({"command": "ls"}))
    assert talk.all_text == "Subagent Find callers 1 step · running…"


# Notices and ends


def test_a_notice_is_translated_with_its_values(talk: ShownTalk) -> None:
    talk.cli(system("api_retry", attempt=2, max_retries=10, retry_delay_ms=4000))
    assert "attempt 2 of 10" in talk.text()
    set_language("zh_TW")
    try:
        talk.list.store.clear()
        assert talk.text() == "伺服器沒有回應（第 2 次，共 10 次）。4 秒後再試。"
    finally:
        set_language("en")


def test_an_error_is_open_with_its_own_words_as_plain_text(talk: ShownTalk) -> None:
    talk._seen(talk.conversation.notice("error", "Claude could not answer.", "<b>API Error</b> {code}\u202e"))
    assert talk.text() == "Claude could not answer.\n<b>API Error</b> {code}⟨U+202E⟩"


def test_an_exit_says_why(talk: ShownTalk) -> None:
    talk._seen(talk.conversation.apply_exit(1, "Segmentation fault"))
    assert talk.text() == "Claude exited (code 1).\nSegmentation fault"
    assert isinstance(talk.conversation.items[-1], NoticeItem)


def test_the_end_of_a_turn_is_told_quietly(talk: ShownTalk) -> None:
    talk.begins()
    talk.says("done")
    talk.cli(result(duration_ms=72_400, usage={"output_tokens": 12_345}))
    assert talk.text() == "1 min 12 s · 12,345 tokens"


def test_everything_speaks_chinese(talk: ShownTalk) -> None:
    set_language("zh_TW")
    try:
        talk.cli(assistant(tool_use("t1", "Bash", command="ls")), tool_result("t1", "a\nb"))
        assert talk.text() == "Bash ls 2 行"
        talk.cli(assistant(thinking("x"), message_id="m2"))
        assert talk.text() == "思考內容"
        model = talk.list.transcript
        assert model.index(0).data(Qt.ItemDataRole.AccessibleTextRole) == "工具 Bash ls, 2 行"
    finally:
        set_language("en")


def test_copying_a_card_gives_its_words(talk: ShownTalk) -> None:
    talk.cli(assistant(tool_use("t1", "Bash", command="ls")), tool_result("t1", "a\nb"))
    talk.list.hands.copy_message(0)
    assert QGuiApplication.clipboard().text() == "Bash ls\na\nb"


