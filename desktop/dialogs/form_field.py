"""One field of an MCP server's form: its label, its control, and what is wrong with what was given."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from desktop import theme
from desktop.dialogs.layouts import inset_row
from desktop.dialogs.option_row import RING, CheckRow
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr
from desktop.widgets import plain_label, set_role, style_popup
from protocol.permissions import FormField, check_field, make_visible

_EXAMPLES = {
    "date": "2026-12-31", "date-time": "2026-12-31T18:00:00Z", "email": "name@example.com", "uri": "https://example.com",
}  # fmt: skip
"""What a value of a format looks like, shown while the field is empty."""


class FieldRow(QWidget):
    """A field of the form.

    Attributes:
        control: the widget that is filled in; named `field_{name}`.

    Signals:
        changed: something else is given now.
    """

    changed = Signal()

    def __init__(self, field: FormField, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        self._touched = False
        self._checked_once = False
        title = make_visible(field.title)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(4))
        if field.kind != "boolean":
            shown = title if field.required else tr("{title} (optional)", title=title)
            column.addLayout(inset_row(plain_label(shown, "semibold", wrap=True), RING))
            if field.description:
                column.addLayout(inset_row(plain_label(make_visible(field.description), "soft", wrap=True), RING))
        self.control = self._make_control(title)
        self.control.setObjectName(f"field_{field.name}")
        self.control.setAccessibleName(title)
        self.control.setAccessibleDescription(make_visible(field.description))
        column.addLayout(inset_row(self.control, 0 if field.kind in ("boolean", "choices") else RING))
        self._problem = plain_label("", wrap=True)
        self._problem.setObjectName(f"problem_{field.name}")
        self._problem.setProperty("tone", "bad")
        self._problem.hide()
        column.addLayout(inset_row(self._problem, RING))

    def given(self) -> Any:
        """What is given, as `check_field` takes it."""
        control = self.control
        if isinstance(control, QLineEdit):
            return control.text()
        if isinstance(control, WritingField):
            return control.text()
        if isinstance(control, CheckRow):
            # An optional yes or no that nobody touched is no answer, and not a no.
            known = self._touched or self.field.required or isinstance(self.field.default, bool)
            return control.isChecked() if known else None
        if isinstance(control, QComboBox):
            chosen = control.currentIndex() - 1
            return self.field.choices[chosen][0] if chosen >= 0 else None
        picks = [value for (value, _), row in zip(self.field.choices, self._rows, strict=True) if row.isChecked()]
        return picks if picks or self._touched or self.field.required else None

    def check(self) -> tuple[Any, bool]:
        """The value to send and whether it is fine; shows what is wrong beside the field."""
        self._checked_once = True
        value, problem = check_field(self.field, self.given())
        words = "" if problem is None else tr(problem.words.template, **problem.words.values)
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        set_role(self.control, problem=bool(words))
        self.control.setAccessibleDescription(words or make_visible(self.field.description))
        return value, problem is None

    def written(self) -> str:
        """What was written with the keyboard, "" where nothing was, or only the default stands there."""
        given = self.given()
        return given.strip() if isinstance(given, str) and self._touched and self.field.kind != "choice" else ""

    def focus_target(self) -> QWidget:
        return self._rows[0] if self.field.kind == "choices" else self.control

    def _make_control(self, title: str) -> QWidget:
        match self.field.kind:
            case "boolean":
                return self._make_check(title)
            case "choice":
                return self._make_choice()
            case "choices":
                return self._make_choices()
            case "json":
                text = "" if self.field.default is None else json.dumps(self.field.default, ensure_ascii=False)
                written = WritingField("", title, tr("A JSON value"), least_lines=2)
                written.setText(text)
                written.textChanged.connect(self._change)
                return written
        line = QLineEdit()
        if self.field.format in _EXAMPLES:
            line.setPlaceholderText(tr("For example {value}", value=_EXAMPLES[self.field.format]))
        if isinstance(self.field.default, (str, int, float)) and not isinstance(self.field.default, bool):
            line.setText(str(self.field.default))
        line.textChanged.connect(self._change)
        return line

    def _make_check(self, title: str) -> QWidget:
        row = CheckRow(title, make_visible(self.field.description), "", self)
        row.setChecked(self.field.default is True)
        row.toggled.connect(self._change)
        row.moved.connect(lambda step: self.focusNextPrevChild(step > 0))
        return row

    def _make_choice(self) -> QWidget:
        box = QComboBox()
        style_popup(box)
        box.addItem(tr("Choose…"))
        for value, title in self.field.choices:
            box.addItem(make_visible(title))
            if self.field.default is not None and value == self.field.default:
                box.setCurrentIndex(box.count() - 1)
        box.currentIndexChanged.connect(self._change)
        return box

    def _make_choices(self) -> QWidget:
        group = QWidget(self)
        column = QVBoxLayout(group)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        defaults = self.field.default if isinstance(self.field.default, list) else []
        self._rows = [CheckRow(make_visible(title), "", "", group) for _, title in self.field.choices]
        for number, ((value, _), row) in enumerate(zip(self.field.choices, self._rows, strict=True)):
            row.setObjectName(f"field_{self.field.name}_{number}")
            row.setChecked(value in defaults)
            row.toggled.connect(self._change)
            row.moved.connect(lambda step, number=number: self._move(number + step))
            column.addWidget(row)
        return group

    def _move(self, number: int) -> None:
        self._rows[max(0, min(len(self._rows) - 1, number))].setFocus()

    def _change(self) -> None:
        self._touched = True
        if self._checked_once:
            self.check()
        self.changed.emit()
