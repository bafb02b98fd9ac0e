"""Writing a message: keys, input methods, pictures, long pastes, completion, history."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from desktop.composer import Composer, attachments
from desktop.composer.attachments import MAX_IMAGE_BYTES, MAX_IMAGES, Image


class Sent(list[tuple[str, list[Image]]]):
    def take(self, text: str, images: list[Image]) -> None:
        self.append((text, images))


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer()
    qtbot.addWidget(made)
    made.resize(700, 120)
    made.show()
    qtbot.waitExposed(made)
    made.editor.setFocus()
    return made


@pytest.fixture
def sent(composer: Composer) -> Sent:
    made = Sent()
    composer.send_requested.connect(made.take)
    return made


def png() -> bytes:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    made = attachments.clipboard_image(image)
    assert isinstance(made, Image)
    return made.data


def paste(composer: Composer, source: QMimeData) -> None:
    composer.editor.insertFromMimeData(source)


def mime(text: str = "", urls: list[Path] | None = None, image: QImage | None = None) -> QMimeData:
    made = QMimeData()
    if text:
        made.setText(text)
    if urls:
        made.setUrls([QUrl.fromLocalFile(str(path)) for path in urls])
    if image is not None:
        made.setImageData(image)
    return made


# Keys


def test_enter_sends(composer: Composer, sent: Sent) -> None:
    QTest.keyClicks(composer.editor, "hello")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == [("hello", [])]


def test_the_keypads_enter_and_ctrl_enter_send_too(composer: Composer, sent: Sent) -> None:
    QTest.keyClicks(composer.editor, "a")
    QTest.keyClick(composer.editor, Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [text for text, _ in sent] == ["a", "a"]


def test_shift_enter_begins_a_new_line(composer: Composer, sent: Sent) -> None:
    QTest.keyClicks(composer.editor, "one")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.editor, "two")
    assert sent == []
    assert composer.text() == "one\ntwo"


def test_the_text_stays_until_somebody_has_taken_it(composer: Composer, sent: Sent) -> None:
    QTest.keyClicks(composer.editor, "hello")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.text() == "hello"
    composer.clear()
    assert composer.text() == ""


def test_enter_in_an_input_methods_composition_does_not_send(composer: Composer, sent: Sent) -> None:
    QTest.keyClicks(composer.editor, "x")
    QApplication.sendEvent(composer.editor, QInputMethodEvent("ㄋㄧˇ", []))
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("你好")
    QApplication.sendEvent(composer.editor, commit)
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == [("x你好", [])]


def test_nothing_or_only_blanks_is_not_sent(composer: Composer, sent: Sent) -> None:
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    QTest.keyClicks(composer.editor, "   ")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    assert not composer.send_button.isEnabled()
    assert composer.send_button.toolTip() != ""


def test_the_field_grows_with_the_text_and_stops_at_ten_lines(composer: Composer) -> None:
    one = composer.editor.height()
    composer.editor.set_text("\n".join("abc"))
    three = composer.editor.height()
    composer.editor.set_text("\n".join(["x"] * 60))
    assert one < three < composer.editor.height()
    assert composer.editor.height() <= 10 * composer.editor.fontMetrics().lineSpacing() + 20


# The buttons


def test_stop_is_there_only_while_claude_works(composer: Composer, qtbot: QtBot) -> None:
    assert not composer.stop_button.isVisible()
    composer.set_busy(True)
    with qtbot.waitSignal(composer.stop_requested):
        composer.stop_button.click()


def test_a_message_while_claude_works_says_that_it_will_be_queued(composer: Composer) -> None:
    composer.set_busy(True)
    assert not composer.send_button.isVisible()
    QTest.keyClicks(composer.editor, "and this")
    assert composer.send_button.isVisible()
    assert composer.send_button.text() == "Queue"


def test_while_a_question_is_open_the_composer_says_what_the_text_becomes(composer: Composer, qtbot: QtBot) -> None:
    composer.set_busy(True)
    composer.set_question("reply")
    assert "becomes your reply" in composer.editor.placeholderText()
    QTest.keyClicks(composer.editor, "neither")
    assert composer.send_button.text() == "Reply"
    with qtbot.waitSignal(composer.switch_requested):
        composer.switch_button.click()
    composer.set_question("queue")
    assert composer.send_button.text() == "Queue"
    assert composer.text() == "neither"
    composer.set_question("")
    assert not composer.switch_button.isVisible()


def test_a_reply_with_pictures_is_queued_and_says_so(composer: Composer, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    composer.set_question("reply")
    composer.set_content("like this")
    composer.add_images([str(tmp_path / "a.png")])
    assert not composer.is_reply
    assert composer.note.isVisible()
    assert composer.send_button.text() != "Reply"


# Pictures


def test_a_pasted_picture_is_attached_and_can_be_removed(composer: Composer, sent: Sent) -> None:
    image = QImage(20, 20, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    paste(composer, mime(image=image))
    assert [one.media_type for one in composer.images()] == ["image/png"]
    assert composer.attachments.isVisible()
    remove = composer.attachments.findChild(QPushButton)
    assert isinstance(remove, QPushButton)
    assert "clipboard.png" in remove.accessibleName()
    remove.click()
    assert composer.images() == []
    assert not composer.attachments.isVisible()


def test_a_picture_alone_can_be_sent(composer: Composer, sent: Sent, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    paste(composer, mime(urls=[tmp_path / "a.png"]))
    composer.submit()
    assert sent[0][0] == ""
    assert sent[0][1][0].name == "a.png"


def test_dropped_files_that_are_no_pictures_are_named_by_their_path(composer: Composer, tmp_path: Path) -> None:
    paths = [tmp_path / "notes.txt", tmp_path / "my plan.md"]
    paste(composer, mime(urls=paths))
    assert composer.text() == f'{paths[0]} "{paths[1]}" '
    assert composer.images() == []


def test_text_copied_from_an_office_program_is_pasted_as_text(composer: Composer) -> None:
    paste(composer, mime(text="a cell", image=QImage(5, 5, QImage.Format.Format_RGB32)))
    assert composer.text() == "a cell"
    assert composer.images() == []


def test_a_picture_that_is_too_large_is_refused_in_words(composer: Composer, tmp_path: Path) -> None:
    big = tmp_path / "big.png"
    big.write_bytes(png().ljust(MAX_IMAGE_BYTES + 1, b"\0"))
    composer.add_images([str(big)])
    assert composer.images() == []
    assert composer.problem.isVisible()
    assert "big.png" in composer.problem.text()
    assert "3.9 MB" in composer.problem.text()


def test_a_file_that_only_calls_itself_a_picture_is_refused_in_words(composer: Composer, tmp_path: Path) -> None:
    fake = tmp_path / "fake.png"
    fake.write_text("<svg/>", encoding="utf-8")
    composer.add_images([str(fake), str(tmp_path / "missing.png")])
    assert composer.images() == []
    assert "fake.png" in composer.problem.text()
    assert "missing.png" in composer.problem.text()


def test_one_picture_too_many_is_refused_and_the_others_stay(composer: Composer, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    composer.add_images([str(tmp_path / "a.png")] * (MAX_IMAGES + 1))
    assert len(composer.images()) == MAX_IMAGES
    assert str(MAX_IMAGES) in composer.problem.text()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n..", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"BM....", None),
        (b"", None),
    ],
)
def test_the_kind_of_a_picture_is_read_from_its_bytes(data: bytes, media_type: str | None) -> None:
    assert attachments.media_type_of(data) == media_type


# Long texts


@pytest.mark.parametrize("text", ["x" * 1_000_000, "word " * 200_000, "a line of text\n" * 70_000])
def test_a_megabyte_is_pasted_at_once_and_sent_whole(composer: Composer, sent: Sent, text: str) -> None:
    QTest.keyClicks(composer.editor, "Look:")
    started = time.perf_counter()
    paste(composer, mime(text=text))
    QTest.keyClicks(composer.editor, " please")
    assert time.perf_counter() - started < 1.0
    composer.submit()
    assert sent[0][0] == f"Look: please\n\n{text}"


def test_a_long_draft_comes_back_whole(composer: Composer) -> None:
    composer.set_content("y" * 500_000)
    assert composer.text() == "y" * 500_000


# Completion


def rows(composer: Composer) -> list[str]:
    if composer.popup.isHidden():
        return []
    return [composer.popup.list.item(row).text() for row in range(composer.popup.list.count())]


def test_a_slash_at_the_beginning_offers_the_commands(composer: Composer, sent: Sent) -> None:
    composer.set_commands([("compact", "Free up context"), ("clear", "Start anew"), ("review", "Review a diff")])
    QTest.keyClicks(composer.editor, "/c")
    assert rows(composer) == ["/compact   Free up context", "/clear   Start anew"]
    QTest.keyClick(composer.editor, Qt.Key.Key_Down)
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.text() == "/clear "
    assert sent == []
    assert rows(composer) == []


def test_escape_closes_the_list_and_keeps_the_text(composer: Composer) -> None:
    composer.set_commands([("compact", "")])
    QTest.keyClicks(composer.editor, "/com")
    QTest.keyClick(composer.editor, Qt.Key.Key_Escape)
    assert rows(composer) == []
    assert composer.text() == "/com"


def test_a_command_that_is_written_out_is_sent_by_enter(composer: Composer, sent: Sent) -> None:
    composer.set_commands([("compact", "Free up context")])
    QTest.keyClicks(composer.editor, "/compact")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == [("/compact", [])]


def test_an_at_sign_asks_for_files_and_takes_the_chosen_one(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.file_query) as blocker:
        QTest.keyClicks(composer.editor, "see @mod")
    assert blocker.args == ["mod"]
    composer.offer_files("mod", ["models.py", "my models.py"])
    QTest.keyClick(composer.editor, Qt.Key.Key_Down)
    QTest.keyClick(composer.editor, Qt.Key.Key_Tab)
    assert composer.text() == 'see @"my models.py" '


def test_an_answer_for_an_older_query_is_dropped(composer: Composer) -> None:
    QTest.keyClicks(composer.editor, "@modx")
    composer.offer_files("mod", ["models.py"])
    assert rows(composer) == []


# History


def test_up_in_an_empty_field_brings_the_sent_messages_back(composer: Composer) -> None:
    for text in ("first", "second"):
        composer.set_content(text)
        composer.clear()
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.text() == "second"
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.text() == "first"
    QTest.keyClick(composer.editor, Qt.Key.Key_Down)
    QTest.keyClick(composer.editor, Qt.Key.Key_Down)
    assert composer.text() == ""


def test_up_never_replaces_what_was_typed(composer: Composer) -> None:
    composer.set_content("sent")
    composer.clear()
    QTest.keyClicks(composer.editor, "half a thought")
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.text() == "half a thought"
