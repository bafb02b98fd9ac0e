"""A read-only view of Markdown for plans and previews: text with formats, nothing that loads or runs."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import (
    QBrush,
    QDesktopServices,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from desktop import theme
from desktop.transcript.block_stream import read_blocks
from desktop.transcript.blocks import Block, plain_text
from desktop.transcript.highlight import START, State, colour, read_parts
from desktop.transcript.inline import (
    BOLD,
    CODE,
    ITALIC,
    LINK,
    SOFT,
    STRIKE,
    Inline,
    Span,
    link_kind,
    link_path,
    utf16_length,
)
from desktop.translations import tr

HEADING_SIZES = {1: 20.0, 2: 17.0, 3: 15.0}
SHOWN_CHARS = 400_000
"""Of a longer text only the beginning is shown, and the view says so: a plan is read by a person."""


def open_web_link(href: str) -> None:
    """Open an address in the browser. Whatever is not http, https or mailto is left alone."""
    if link_kind(href) == "web":
        QDesktopServices.openUrl(QUrl(href))


class MarkdownView(QTextBrowser):
    """Shows Markdown. HTML in it is text, images are named and not loaded.

    Signals:
        file_link: a path that a link means; the receiver asks before anything is opened.
    """

    file_link = Signal(str)

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markdown = ""
        self.setReadOnly(True)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.anchorClicked.connect(self._follow)
        theme.theme.changed.connect(self._render)
        self.set_markdown(text)

    def set_markdown(self, text: str) -> None:
        """Show a text. What was shown before is gone."""
        self._markdown = text
        self._render()

    def markdown(self) -> str:
        """The Markdown as it was given."""
        return self._markdown

    def plain_text(self) -> str:
        """The words without Markdown's marks."""
        return plain_text(read_blocks(self._markdown))

    def _render(self) -> None:
        shown = self._markdown[:SHOWN_CHARS]
        blocks = read_blocks(shown)
        if len(shown) < len(self._markdown):
            note = tr("The rest is not shown: {count} more characters.", count=len(self._markdown) - len(shown))
            blocks.append(Block("paragraph", inline=Inline(note, (Span(0, len(note), SOFT, ""),))))
        self.clear()
        self.document().setDefaultFont(theme.text_font())
        self.document().setDocumentMargin(theme.px(4))
        _DocumentWriter(self.textCursor()).write(blocks)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _follow(self, url: QUrl) -> None:
        href = url.toString()
        kind = link_kind(href)
        if kind == "web":
            open_web_link(href)
        elif kind == "file":
            self.file_link.emit(link_path(href))

    # Qt overrides

    def setMarkdown(self, markdown: str) -> None:
        self.set_markdown(markdown)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever loaded: neither from the network nor from the disk."""
        return None


class _DocumentWriter:
    """Writes blocks into a document at a cursor."""

    def __init__(self, cursor: QTextCursor) -> None:
        self._cursor = cursor
        self._fresh = True
        self._state: State = START

    def write(self, blocks: list[Block]) -> None:
        self._cursor.beginEditBlock()
        for index, block in enumerate(blocks):
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            last = not (following and following.kind == block.kind and following.part)
            if block.kind == "code":
                self._code(block, last)
            elif block.kind == "table":
                self._table(block)
            elif block.kind == "rule":
                self._block(self._format(block))
                self._cursor.insertText("―" * 24, _character(SOFT))
            else:
                self._words(block)
        self._cursor.endEditBlock()

    def _block(self, form: QTextBlockFormat) -> None:
        if self._fresh:
            self._cursor.setBlockFormat(form)
            self._fresh = False
        else:
            self._cursor.insertBlock(form)

    def _format(self, block: Block) -> QTextBlockFormat:
        form = QTextBlockFormat()
        form.setLeftMargin(theme.px(22) * len(block.path))
        form.setTopMargin(0 if block.part else theme.px(1 if block.path else 5))
        form.setBottomMargin(theme.px(1 if block.path else 5))
        # Qt counts from the font's own line height, which is about 1.2 already.
        form.setLineHeight(125, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        return form

    def _words(self, block: Block) -> None:
        form = self._format(block)
        if block.level:
            form.setHeadingLevel(block.level)
            form.setTopMargin(theme.px(12))
        if block.markers:
            form.setTextIndent(-theme.px(20))
        self._block(form)
        markers = "".join(f"{text}\u2002" for _depth, text in block.markers)
        if markers:
            self._cursor.insertText(markers, _character(SOFT))
        insert_inline(self._cursor, block.inline, base=SOFT if "q" in block.path else 0, level=block.level)

    def _code(self, block: Block, last: bool) -> None:
        if not block.part:
            self._state = START
        parts, self._state = read_parts(block.language, block.code, self._state)
        lines = block.code.split("\n")
        starts = [(part.start, part.start + part.length, part.role) for part in parts]
        at = 0
        if not block.part:
            self._open_panel(len(block.path))
        for line in lines:
            form = QTextBlockFormat()
            form.setLineHeight(130, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            self._block(form)
            length = utf16_length(line)
            self._code_line(line, at, starts)
            at += length + 1
        if last:
            self._leave()

    def _open_panel(self, depth: int) -> None:
        """A frame with a ground and room in it; what is written next stands inside."""
        form = QTextFrameFormat()
        form.setBackground(theme.role("code"))
        form.setPadding(theme.px(8))
        form.setTopMargin(theme.px(6))
        form.setBottomMargin(theme.px(6))
        form.setLeftMargin(theme.px(22) * depth)
        self._shrink_empty_block()
        self._cursor.insertFrame(form)
        self._fresh = True

    def _leave(self) -> None:
        """Go on after a frame or a table. Qt has put an empty block there, which the next one uses."""
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._fresh = True
        self._shrink_empty_block()

    def _shrink_empty_block(self) -> None:
        """Take the room from the empty block that Qt wants before and after a frame."""
        if self._fresh:
            form = QTextBlockFormat()
            form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            self._cursor.setBlockFormat(form)

    def _code_line(self, line: str, at: int, parts: list[tuple[int, int, str]]) -> None:
        plain = QTextCharFormat()
        plain.setFont(theme.code_font())
        plain.setForeground(theme.role("text"))
        begin = self._cursor.position()
        self._cursor.insertText(line, plain)
        end = self._cursor.position()
        for start, stop, role in parts:
            first, after = max(start - at, 0) + begin, min(stop - at + begin, end)
            if first < after:
                form = QTextCharFormat(plain)
                form.setForeground(colour(role))
                painter = QTextCursor(self._cursor.document())
                painter.setPosition(first)
                painter.setPosition(after, QTextCursor.MoveMode.KeepAnchor)
                painter.setCharFormat(form)

    def _table(self, block: Block) -> None:
        columns = max((len(row) for row in block.rows), default=0)
        if not columns:
            return
        form = QTextTableFormat()
        form.setBorder(1)
        form.setBorderBrush(QBrush(theme.role("line")))
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderCollapse(True)
        form.setCellPadding(theme.px(6))
        form.setTopMargin(0 if block.part else theme.px(6))
        form.setBottomMargin(theme.px(6))
        form.setLeftMargin(theme.px(22) * len(block.path))
        form.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
        self._shrink_empty_block()
        table = self._cursor.insertTable(len(block.rows), columns, form)
        for y, row in enumerate(block.rows):
            for x, cell in enumerate(row):
                cursor = table.cellAt(y, x).firstCursorPosition()
                insert_inline(cursor, cell, base=BOLD if y == 0 and not block.part else 0)
        self._leave()


def insert_inline(cursor: QTextCursor, inline: Inline, *, base: int = 0, level: int = 0) -> None:
    """Put words with their spans into a document. Offsets count as Qt does."""
    encoded = inline.text.encode("utf-16-le", "surrogatepass")
    at = 0
    for span in (*inline.spans, Span(len(encoded) // 2, 0, 0, "")):
        for start, length, style, href in ((at, span.start - at, 0, ""), span):
            if length > 0:
                words = encoded[start * 2 : (start + length) * 2].decode("utf-16-le", "replace")
                cursor.insertText(words.replace("\n", "\u2028"), _character(style | base, href, level))
        at = span.start + span.length


def _character(style: int, href: str = "", level: int = 0) -> QTextCharFormat:
    form = QTextCharFormat()
    font = theme.code_font() if style & CODE else theme.text_font(HEADING_SIZES.get(level, theme.TEXT_SIZE))
    font.setWeight(QFont.Weight.DemiBold if style & BOLD or level else QFont.Weight.Normal)
    font.setItalic(bool(style & ITALIC))
    font.setStrikeOut(bool(style & STRIKE))
    form.setFont(font)
    form.setForeground(theme.role("soft" if style & SOFT else "text"))
    if style & CODE:
        form.setBackground(theme.role("code"))
    if style & LINK and href:
        form.setAnchor(True)
        form.setAnchorHref(href)
        form.setForeground(theme.role("accent"))
        form.setFontUnderline(True)
        form.setToolTip(href.replace("<", "‹"))
    return form
