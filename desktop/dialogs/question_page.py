"""One question of a set: its text, its options as rows, "Other…", a note, and the preview beside them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QCursor, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.answer_sheet import AnswerSheet
from desktop.dialogs.layouts import ContentScroll, free_height
from desktop.dialogs.option_row import RING, CheckRow, RadioRow, option_row
from desktop.dialogs.other_row import OtherRow
from desktop.dialogs.preview import STRIP, PreviewPanel
from desktop.dialogs.shown import DESCRIPTION, LABEL, PREVIEW, QUESTION, shown
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr
from desktop.widgets import plain_label

_SIDE_BY_SIDE = 600
"""From this width on (at 100 %) the preview stands beside the options; below it, under them."""
_PREVIEW_SHARE = 0.372
_ROWS_FIRST = 5
"""Up to so many rows are shown before the preview under them gets more than a strip; of more, some always scroll."""
_DIGITS = 9

Row = RadioRow | CheckRow


class QuestionPage(QWidget):
    """Shows one question of a sheet and writes what the person does into it.

    Signals:
        changed: the sheet is no longer what it was.
    """

    changed = Signal()

    def __init__(self, sheet: AnswerSheet, index: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._sheet, self._index = sheet, index
        self.question = sheet.question(index)
        self._hovered: int | None = None
        self._seen: int | None = None
        self._pointer = QCursor.pos()
        self.setObjectName(f"question_{index}")
        self.setAccessibleName(shown(self.question.text, QUESTION))
        self._build()
        self.refresh()

    def text(self) -> str:
        """The question."""
        return self.question.text

    @property
    def rows(self) -> list[Row]:
        """The rows that can be chosen, "Other…" last."""
        return [*self._options, *([self.other.row] if self.other.row is not None else [])]

    def first_focus(self) -> QWidget:
        """The chosen row, else the first; without options the text field."""
        if not self._options or self._sheet.other_is_chosen(self._index):
            return self.other.field
        chosen = self._sheet.chosen(self._index)
        return self._options[chosen[0] if chosen else 0]

    def press_digit(self, digit: int) -> bool:
        """Choose the row with this number (from 1), or toggle it where several may be chosen."""
        rows = self.rows
        if not 1 <= digit <= min(len(rows), _DIGITS):
            return False
        rows[digit - 1].setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._choose(digit - 1)
        return True

    def open_note(self) -> None:
        """Show the field for a note and put the cursor there."""
        self._note_box.show()
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._scroll.keep_in_sight(self.note)

    def note_is_open(self) -> bool:
        return not self._note_box.isHidden()

    def show_problem(self, sentence: str) -> None:
        """Say why it cannot go on, or take that back with ""."""
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self.other.field.set_problem(bool(sentence) and self._sheet.mark(self._index) == "incomplete")

    def refresh(self) -> None:
        """Show what the sheet says."""
        for option, row in enumerate(self._options):
            row.show_checked(self._sheet.is_chosen(self._index, option))
        self.other.show_state(self._sheet.other_is_chosen(self._index))
        self._show_preview()

    def _build(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(theme.px(10))
        side = theme.px(16)
        heading = ContentScroll(self, least=theme.px(24), limit=theme.px(150))
        label = plain_label(shown(self.question.text, QUESTION), "question", wrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        heading.column.addWidget(label)
        heading.column.setContentsMargins(side, theme.px(2), side, theme.px(2))
        outer.addWidget(heading)
        if self.question.multi_select and self.question.options:
            hint = plain_label(tr("Choose one or more."), "soft")
            hint.setContentsMargins(side, 0, side, 0)
            outer.addWidget(hint)
        self._middle = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._middle.setContentsMargins(side - RING, 0, side, 0)
        self._middle.setSpacing(side - RING)
        self._scroll = ContentScroll(self, least=theme.px(72))
        self._build_rows()
        self._middle.addWidget(self._scroll, 1)
        self.preview = PreviewPanel(self)
        self.preview.setVisible(any(option.preview for option in self.question.options))
        self._middle.addWidget(self.preview)
        outer.addLayout(self._middle, 1)
        self._problem = plain_label("", wrap=True)
        self._problem.setProperty("tone", "bad")
        self._problem.setObjectName(f"problem_{self._index}")
        self._problem.setContentsMargins(side, 0, side, 0)
        self._problem.hide()
        outer.addWidget(self._problem)

    def _build_rows(self) -> None:
        several = self.question.multi_select
        content = self._scroll.content
        self._options: list[Row] = []
        for option, said in enumerate(self.question.options):
            key = str(option + 1) if option < _DIGITS else ""
            label, description = shown(said.label, LABEL), shown(said.description, DESCRIPTION)
            row = option_row(label, description, key, several=several, parent=content)
            row.setObjectName(f"option_{self._index}_{option}")
            row.toggled.connect(lambda checked, option=option: self._toggled(option, checked))
            row.moved.connect(lambda step, option=option: self._move(option, step))
            row.looked_at.connect(lambda looked, option=option: self._look(option, looked))
            row.pointed_at.connect(lambda place, option=option: self._point(option, place))
            self._options.append(row)
            self._scroll.column.addWidget(row)
        self.other = OtherRow(self._index, len(self._options), several=several, parent=content)
        if self.other.row is not None:
            last = len(self._options)
            self.other.row.toggled.connect(lambda checked: self._toggled(last, checked))
            self.other.row.moved.connect(lambda step: self._move(last, step))
            self.other.row.looked_at.connect(lambda looked: self._look(last, looked))
            self.other.row.pointed_at.connect(lambda place: self._point(last, place))
        self.other.left.connect(lambda step: self._move(len(self._options), step))
        self.other.field.textChanged.connect(self._write_other)
        self._scroll.column.addWidget(self.other)
        self._scroll.column.addWidget(self._build_note(content))

    def _build_note(self, parent: QWidget) -> QWidget:
        self._note_box = QWidget(parent)
        column = QVBoxLayout(self._note_box)
        column.setContentsMargins(RING, theme.px(8), RING, RING)
        column.setSpacing(theme.px(4))
        column.addWidget(plain_label(tr("Note to Claude, sent with the answer"), "soft"))
        self.note = WritingField(f"notes_{self._index}", tr("Note"), tr("What Claude should know about this answer"))
        self.note.textChanged.connect(self._write_note)
        column.addWidget(self.note)
        self._note_box.hide()
        return self._note_box

    def _toggled(self, row: int, checked: bool) -> None:
        """A row was toggled: by the person, by an assistive tool, or by `refresh` to show what the sheet says."""
        sheet, index = self._sheet, self._index
        known = sheet.is_chosen(index, row) if row < len(self._options) else sheet.other_is_chosen(index)
        # A radio button that goes out makes room for another, which speaks for itself.
        if checked != known and (checked or self.question.multi_select):
            self._choose(row)

    def _choose(self, row: int) -> None:
        if row < len(self._options):
            self._sheet.choose(self._index, row)
        else:
            self._sheet.choose_other(self._index)
            if self._sheet.other_is_chosen(self._index):
                self.other.show_state(True)
                self.other.field.setFocus(Qt.FocusReason.OtherFocusReason)
                self._scroll.keep_in_sight(self.other)
        self._touched()

    def _write_other(self) -> None:
        self._sheet.write_other(self._index, self.other.field.text())
        self._touched()

    def _write_note(self) -> None:
        self._sheet.write_notes(self._index, self.note.text())
        self.changed.emit()

    def _touched(self) -> None:
        self.show_problem("")
        self.refresh()
        self.changed.emit()

    def _move(self, row: int, step: int) -> None:
        rows = self.rows
        if rows:
            target = rows[max(0, min(len(rows) - 1, row + step))]
            target.setFocus(Qt.FocusReason.TabFocusReason)
            self._scroll.keep_in_sight(target)

    def _point(self, row: int, place: QPoint) -> None:
        # Window systems also report a "move" to the same place when something appears, or scrolls, under the pointer.
        if place != self._pointer:
            self._pointer = place
            if self._hovered != row:
                self._look(row, True)

    def _look(self, row: int, looked: bool) -> None:
        if looked:
            self._hovered = self._seen = row
            if row < len(self._options) and self._options[row].hasFocus():
                self._scroll.keep_in_sight(self._options[row])
        elif self._hovered == row:
            focused = [index for index, one in enumerate(self.rows) if one.hasFocus()]
            self._hovered = focused[0] if focused else None
        self._show_preview()

    def _show_preview(self) -> None:
        if self.preview.isHidden():
            return
        chosen = self._sheet.chosen(self._index)
        # The keyboard may go into the preview itself, which must not take it away.
        number = self._hovered if self._hovered is not None else chosen[-1] if chosen else self._seen
        if number is None or number >= len(self._options):
            self.preview.show_hint(tr("Point at an option to see its preview."))
            return
        option = self.question.options[number]
        label = self._options[number].text()
        if option.preview:
            self.preview.show_preview(label, shown(option.preview, PREVIEW))
        else:
            self.preview.show_hint(tr("“{label}” has no preview.", label=label))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pointer = QCursor.pos()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= theme.px(_SIDE_BY_SIDE)
        self.preview.set_beside(round(self.width() * _PREVIEW_SHARE) if beside else None)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._middle.direction() != direction:
            self._middle.setDirection(direction)
            if not self.preview.isHidden():
                self._place_preview(beside)

    def _place_preview(self, beside: bool) -> None:
        focused = self.preview.prose.hasFocus()
        if beside:
            self._scroll.release()
            free_height(self.preview)
            self._middle.addWidget(self.preview)
        elif len(self.rows) <= _ROWS_FIRST:
            self._middle.removeWidget(self.preview)
            self._scroll.add_yielding(self.preview, theme.px(STRIP))
        else:
            self.preview.setFixedHeight(theme.px(STRIP))
        # Another parent hides a widget, and a hidden one loses the focus.
        self.preview.show()
        if focused:
            self.preview.prose.setFocus(Qt.FocusReason.OtherFocusReason)
