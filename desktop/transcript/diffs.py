"""What an edit changes, as rows with line numbers, and a view of them.

The rows come from what the tool was given (before it runs, with the file at hand) or from what it reported (after).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from desktop import theme
from desktop.translations import tr
from protocol.permissions import make_visible

RowKind = Literal["context", "added", "removed", "gap", "note"]
ReadFile = Callable[[str], str | None]
CONTEXT = 3
EDIT_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
MAX_COMPARED = 300_000
"""Lines before times lines after, up to which the two are compared line by line."""
MAX_PLACES = 50


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row. `old` and `new` are line numbers from 1, None where the line does not exist or is not known."""

    kind: RowKind
    text: str = ""
    old: int | None = None
    new: int | None = None

    @property
    def number(self) -> str:
        """The line number to show: the new one, or the old one of a removed line."""
        shown = self.old if self.kind == "removed" else self.new
        return "" if shown is None else str(shown)

    @property
    def sign(self) -> str:
        """The sign that says what happened, so that colour is not all that does."""
        return {"added": "+", "removed": "-"}.get(self.kind, " ")


def edit_rows(tool_name: str, input: Mapping[str, Any], read_file: ReadFile | None = None) -> list[DiffRow]:  # noqa: A002
    """What a call of an editing tool would change.

    Args:
        tool_name: Edit, Write, MultiEdit or NotebookEdit; any other gives no rows.
        input: the tool's input, as it came from the model.
        read_file: gives the text of a file before the edit, None if there is none. Without it, lines are compared
            but their numbers are not known.
    """
    path = _text(input.get("file_path") or input.get("notebook_path"))
    before = read_file(path) if read_file is not None and path else None
    if tool_name == "Write":
        return unified_rows(before or "", _text(input.get("content")))
    if tool_name == "NotebookEdit":
        return _notebook_rows(input)
    if tool_name == "Edit":
        return _edits_rows([input], before)
    if tool_name == "MultiEdit":
        edits = input.get("edits")
        return _edits_rows([edit for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else [],
                           before)
    return []


def result_rows(structured: Any) -> list[DiffRow]:
    """The rows of what an edit did, from the structured result of Edit, Write and MultiEdit. [] if it has none."""
    patch = structured.get("structuredPatch") if isinstance(structured, Mapping) else None
    rows: list[DiffRow] = []
    for hunk in patch if isinstance(patch, list) else ():
        lines = hunk.get("lines") if isinstance(hunk, Mapping) else None
        if not isinstance(lines, list):
            continue
        if rows:
            rows.append(DiffRow("gap"))
        rows += _hunk(lines, _number(hunk.get("oldStart")), _number(hunk.get("newStart")))
    return rows


def _hunk(lines: list[Any], old: int, new: int) -> Iterator[DiffRow]:
    for line in lines:
        text = _text(line)
        sign, words = text[:1], make_visible(text[1:])
        if sign == "-":
            yield DiffRow("removed", words, old=old)
            old += 1
        elif sign == "+":
            yield DiffRow("added", words, new=new)
            new += 1
        elif sign == "\\":
            yield DiffRow("note", tr("No line break at the end of the file"))
        else:
            yield DiffRow("context", words, old, new)
            old, new = old + 1, new + 1


def unified_rows(before: str, after: str, *, numbered: bool = True) -> list[DiffRow]:
    """What changed between two texts, with three lines around each change."""
    old, new = _lines(before), _lines(after)
    rows: list[DiffRow] = []
    for group in _groups(old, new):
        if rows:
            rows.append(DiffRow("gap"))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [DiffRow("context", old[i1 + k], i1 + k + 1, j1 + k + 1) for k in range(i2 - i1)]
            else:
                rows += [DiffRow("removed", old[i], old=i + 1) for i in range(i1, i2)]
                rows += [DiffRow("added", new[j], new=j + 1) for j in range(j1, j2)]
    if before and after and before.endswith("\n") != after.endswith("\n"):
        gone = before.endswith("\n")
        rows.append(DiffRow("note", tr("No line break at the end of the file") if gone
                            else tr("Adds a line break at the end of the file")))
    made = [DiffRow(row.kind, make_visible(row.text), row.old, row.new) for row in rows]
    return made if numbered else [DiffRow(row.kind, row.text) for row in made]


Opcode = tuple[str, int, int, int, int]


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[Opcode]]:
    """Changes with their context. Only what lies between the common beginning and end is compared."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    if head == old_end and head == new_end:
        return []
    codes: list[Opcode] = [("replace", head, old_end, head, new_end)]
    if (old_end - head) * (new_end - head) <= MAX_COMPARED:
        matcher = SequenceMatcher(None, old[head:old_end], new[head:new_end])
        codes = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    first = max(0, head - CONTEXT)
    codes = [("equal", first, head, first, head), *codes,
             ("equal", old_end, min(len(old), old_end + CONTEXT), new_end, min(len(new), new_end + CONTEXT))]
    return _split(codes)


def _split(codes: list[Opcode]) -> list[list[Opcode]]:
    """Groups of changes: a long equal stretch between two changes is cut to its ends."""
    groups: list[list[Opcode]] = [[]]
    for tag, i1, i2, j1, j2 in codes:
        if tag == "equal" and i2 - i1 > 2 * CONTEXT:
            groups[-1].append((tag, i1, i1 + CONTEXT, j1, j1 + CONTEXT))
            groups.append([(tag, i2 - CONTEXT, i2, j2 - CONTEXT, j2)])
        elif tag != "equal" or i2 > i1:
            groups[-1].append((tag, i1, i2, j1, j2))
    return [group for group in groups if any(code[0] != "equal" for code in group)]


def _edits_rows(edits: list[Mapping[str, Any]], before: str | None) -> list[DiffRow]:
    after = before
    for edit in edits:
        after = _applied(after, edit)
    if before is not None and after is not None:
        return unified_rows(before, after)
    rows: list[DiffRow] = []
    for edit in edits:
        if rows:
            rows.append(DiffRow("gap"))
        rows += unified_rows(_text(edit.get("old_string")), _text(edit.get("new_string")), numbered=False)
        if edit.get("replace_all"):
            rows.append(DiffRow("note", tr("Everywhere in the file")))
    return rows


def _applied(text: str | None, edit: Mapping[str, Any]) -> str | None:
    """A text after an edit. None when the edit's old text is not in it: then nothing is known about places."""
    old, new = _text(edit.get("old_string")), _text(edit.get("new_string"))
    if text is None:
        return None
    if not old:
        return new + text if not text else None
    if old not in text:
        return None
    if edit.get("replace_all"):
        return text.replace(old, new)
    return text.replace(old, new, 1) if text.count(old) == 1 else None


def _notebook_rows(call: Mapping[str, Any]) -> list[DiffRow]:
    cell = _text(call.get("cell_id"))
    mode = call.get("edit_mode")
    words = {"delete": tr("Deletes cell {cell}", cell=cell), "insert": tr("Adds a cell after {cell}", cell=cell)}
    rows = [DiffRow("note", make_visible(words.get(str(mode), tr("Replaces cell {cell}", cell=cell))))]
    if mode != "delete":
        rows += [DiffRow("added", make_visible(line)) for line in _lines(_text(call.get("new_source")))]
    return rows


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 1


class DiffView(QPlainTextEdit):
    """Shows rows of a diff, read-only: numbers at the left, a sign and a tint a line, long lines wrapped.

    The signs are part of the text, so that copying and screen readers get them too.
    """

    def __init__(self, rows: Sequence[DiffRow] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[DiffRow] = []
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "bare")
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName(tr("Changes"))
        self._gutter = _Gutter(self)
        self.updateRequest.connect(self._gutter.follow)
        theme.theme.changed.connect(self._restyle)
        self.set_rows(rows)

    def set_rows(self, rows: Sequence[DiffRow]) -> None:
        """Show these rows instead."""
        self._rows = list(rows)
        self.setPlainText("\n".join(shown_text(row) for row in self._rows))
        self._restyle()

    def rows(self) -> list[DiffRow]:
        """What is shown."""
        return list(self._rows)

    def _restyle(self) -> None:
        self.setFont(theme.code_font())
        self.setStyleSheet(f"font-size: {theme.px(theme.CODE_SIZE)}px;")
        self.document().setDefaultFont(theme.code_font())
        width = self.fontMetrics().horizontalAdvance("0") * max((len(row.number) for row in self._rows), default=0)
        self.setViewportMargins(width + theme.px(22) if width else 0, 0, 0, 0)
        self.viewport().update()
        self._gutter.update()

    def visible_rows(self) -> Iterator[tuple[DiffRow, QRectF]]:
        """The rows in sight with their rectangles in the viewport."""
        block = self.firstVisibleBlock()
        while block.isValid() and block.blockNumber() < len(self._rows):
            rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if rect.top() > self.viewport().height():
                return
            yield self._rows[block.blockNumber()], rect
            block = block.next()

    # Qt overrides

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        for row, rect in self.visible_rows():
            if row.kind in ("added", "removed"):
                painter.fillRect(QRectF(0, rect.top(), self.viewport().width(), rect.height()), theme.role(row.kind))
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(area.left(), area.top(), self.viewportMargins().left(), area.height())

    def sizeHint(self) -> QSize:
        lines = min(max(len(self._rows), 1), 16)
        return QSize(theme.px(480), lines * self.fontMetrics().lineSpacing() + theme.px(10))


class _Gutter(QWidget):
    """The line numbers of a `DiffView`."""

    def __init__(self, view: DiffView) -> None:
        super().__init__(view)
        self._view = view

    def follow(self, rect: QRect, dy: int) -> None:
        if dy:
            self.scroll(0, dy)
        else:
            self.update(0, rect.y(), self.width(), rect.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(theme.code_font())
        for row, rect in self._view.visible_rows():
            if row.kind in ("added", "removed"):
                painter.fillRect(QRectF(0, rect.top(), self.width(), rect.height()), theme.role(row.kind))
            painter.setPen(theme.role("soft"))
            box = QRectF(0, rect.top(), self.width() - theme.px(10), self._view.fontMetrics().lineSpacing())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.number)


def shown_text(row: DiffRow) -> str:
    """A row's text with its sign, as it is shown."""
    if row.kind == "gap":
        return "⋯"
    return row.text if row.kind == "note" else f"{row.sign} {row.text}"
