"""The parts that other rooms use: the view of Markdown and the view of a diff."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop import theme
from desktop.transcript.diffs import DiffView, edit_rows
from desktop.transcript.markdown import SHOWN_CHARS, MarkdownView

TEXT = """# Plan

Move **everything** to `sqlite`, see [the page](https://example.org) and [the file](src/a.py).

1. one
   - nested
2. two

```python
def f():
    return "x"
```

| a | b |
|--|--|
| 1 | 2 |

> quoted
"""


@pytest.fixture
def view(qtbot: QtBot) -> MarkdownView:
    made = MarkdownView(TEXT)
    qtbot.addWidget(made)
    return made


def test_markdown_is_shown_as_words_with_formats(view: MarkdownView) -> None:
    shown = view.toPlainText()
    for words in ("Plan", "Move everything to sqlite", "1.\u2002one", "•\u2002nested", 'return "x"', "quoted"):
        assert words in shown
    assert "**" not in shown
    assert "```" not in shown
    assert view.markdown() == TEXT


def test_code_has_colours(view: MarkdownView) -> None:
    cursor = view.document().find("def")
    assert cursor.charFormat().foreground().color() == theme.role("accent")


def test_html_in_markdown_is_text(view: MarkdownView) -> None:
    view.set_markdown('<b>bold</b> <img src="x.png"> &lt;i&gt;')
    assert view.toPlainText() == '<b>bold</b> <img src="x.png"> <i>'


def test_nothing_is_ever_loaded(view: MarkdownView, tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    QImage(4, 4, QImage.Format.Format_RGB32).save(str(picture))
    image = QTextDocument.ResourceType.ImageResource.value
    assert view.loadResource(image, QUrl.fromLocalFile(str(picture))) is None
    view.set_markdown(f"![a cat]({picture})")
    assert view.toPlainText() == "[a cat]"
    assert "\ufffc" not in view.document().toRawText()


def test_links_open_in_the_browser_and_files_only_ask(
    view: MarkdownView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view.anchorClicked.emit(QUrl("https://example.org"))
    with qtbot.waitSignal(view.file_link) as told:
        view.anchorClicked.emit(QUrl("src/a.py"))
    view.anchorClicked.emit(QUrl("javascript:alert(1)"))
    assert opened == ["https://example.org"]
    assert told.args == ["src/a.py"]
    assert view.source() == QUrl()


def test_a_far_too_long_text_is_cut_and_says_so(view: MarkdownView) -> None:
    view.set_markdown("word " * (SHOWN_CHARS // 5 + 100))
    assert "The rest is not shown: 500 more characters." in view.toPlainText()


def test_a_new_scheme_colours_the_text_anew(view: MarkdownView) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    theme.apply(application, "dark")
    try:
        cursor = view.document().find("Move")
        assert cursor.charFormat().foreground().color() == theme.role("text")
        assert theme.role("text").lightness() > 200
    finally:
        theme.apply(application, "light")


# Diffs


def test_a_diff_shows_signs_and_numbers(qtbot: QtBot) -> None:
    rows = edit_rows("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, lambda path: "1\nx\n3\n")
    diff = DiffView(rows)
    qtbot.addWidget(diff)
    diff.resize(400, 200)
    diff.show()
    assert diff.toPlainText() == "  1\n- x\n+ y\n  3"
    assert [row.number for row, _rect in diff.visible_rows()] == ["1", "2", "2", "3"]
    assert diff.isReadOnly()
    assert diff.rows() == rows


def test_a_diff_has_a_tint_for_what_is_added_and_removed(qtbot: QtBot) -> None:
    diff = DiffView(edit_rows("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}))
    qtbot.addWidget(diff)
    diff.resize(400, 200)
    diff.show()
    qtbot.waitExposed(diff)
    image = diff.viewport().grab().toImage()
    bands = {row.kind: round(rect.center().y()) for row, rect in diff.visible_rows()}
    right = image.width() - 4
    assert image.pixelColor(right, bands["removed"]) == theme.role("removed")
    assert image.pixelColor(right, bands["added"]) == theme.role("added")


def test_a_diff_of_ten_thousand_lines_is_there_at_once(qtbot: QtBot) -> None:
    content = "".join(f"line {number}\n" for number in range(10_000))
    diff = DiffView(edit_rows("Write", {"file_path": "a", "content": content}))
    qtbot.addWidget(diff)
    diff.resize(400, 300)
    diff.show()
    qtbot.waitExposed(diff)
    assert len(list(diff.visible_rows())) < 40
    assert diff.document().blockCount() == 10_000


def test_the_text_of_a_diff_can_be_selected_with_the_keyboard(qtbot: QtBot) -> None:
    diff = DiffView(edit_rows("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}))
    qtbot.addWidget(diff)
    flags = diff.textInteractionFlags()
    assert flags & Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert not flags & Qt.TextInteractionFlag.TextEditable
