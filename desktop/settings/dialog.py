"""The settings dialog. Every change is in force and saved at once; there is nothing to apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop import theme
from desktop.own_data import OwnData
from desktop.settings.data_part import DataPart
from desktop.settings.store import SettingsStore
from desktop.translations import LANGUAGES, tr
from desktop.widgets import button, hairline, plain_label, set_role, style_popup

PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
SCALES = (75, 90, 100, 110, 125, 150, 175, 200)


class SettingsDialog(QDialog):
    """What can be set.

    Signals:
        claude_changed: another program is to be used, or the key is kept or not: running CLIs have to be restarted.
        removal_wanted: Handraise's data is to be removed; the person has confirmed it.
    """

    claude_changed = Signal()
    removal_wanted = Signal()

    def __init__(
        self, store: SettingsStore, parent: QWidget | None = None, *, own: OwnData | None = None, claudes: Path = Path()
    ) -> None:
        """
        Args:
            store: what is shown and changed.
            parent: the window.
            own: where this program keeps its data; None leaves that part out.
            claudes: where Claude keeps its own.
        """
        super().__init__(parent)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._store = store
        self._own = own
        self._claudes = claudes
        self._file_dialog: QFileDialog | None = None
        self.problem = plain_label("", "soft", wrap=True)
        set_role(self.problem, tone="bad")
        self.problem.hide()
        self._build()

    def _build(self) -> None:
        settings = self._store.settings
        form = QFormLayout()
        form.setHorizontalSpacing(theme.px(16))
        form.setVerticalSpacing(theme.px(10))
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(self._label(tr("Claude program")), self._claude_row())
        self.theme = self._choice(
            "settingTheme", tr("Colours"),
            {"system": tr("As the system has them"), "light": tr("Light"), "dark": tr("Dark")}, settings.theme,
        )  # fmt: skip
        self.theme.activated.connect(lambda: self._change(theme=self.theme.currentData()))
        form.addRow(self._label(tr("Colours")), self.theme)
        self.language = self._choice(
            "settingLanguage", tr("Language"), {"system": tr("As the system has it"), **LANGUAGES}, settings.language
        )
        self.language.activated.connect(lambda: self._change(language=self.language.currentData()))
        form.addRow(self._label(tr("Language")), self.language)
        self.scale = self._choice(
            "settingTextScale", tr("Text size"),
            {str(scale): f"{scale} %" for scale in SCALES}, str(round(settings.text_scale * 100)),
        )  # fmt: skip
        self.scale.activated.connect(lambda: self._change(text_scale=int(self.scale.currentData()) / 100))
        form.addRow(self._label(tr("Text size")), self.scale)
        numbers = sorted({*PROCESSES, settings.max_processes})
        self.processes = self._choice(
            "settingMaxProcesses", tr("Conversations that may run at once"),
            {str(number): str(number) for number in numbers}, str(settings.max_processes),
        )  # fmt: skip
        self.processes.activated.connect(lambda: self._change(max_processes=int(self.processes.currentData())))
        form.addRow(self._label(tr("Running at once")), self.processes)
        page = QWidget(self)
        set_role(page, "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(theme.px(20), theme.px(20), theme.px(20), theme.px(12))
        column.setSpacing(theme.px(12))
        column.addLayout(form)
        for widget in (*self._switches(), *self._data()):
            column.addWidget(widget)
        column.addStretch(1)
        # A small screen, or large text, has no room for all of it.
        self.area = QScrollArea(self)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(page)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.area, 1)
        rows.addWidget(hairline(self))
        rows.addWidget(self._foot())
        self.resize(theme.px(560), min(theme.px(770), self.screen().availableGeometry().height() - theme.px(60)))

    def _foot(self) -> QWidget:
        """What stays in sight: what went wrong, and the way out."""
        made = QWidget(self)
        column = QVBoxLayout(made)
        column.setContentsMargins(theme.px(20), theme.px(12), theme.px(20), theme.px(12))
        column.setSpacing(theme.px(8))
        column.addWidget(self.problem)
        foot = QHBoxLayout()
        foot.addWidget(plain_label(tr("Language and text size change fully at the next start."), "soft", wrap=True), 1)
        close = button(tr("Close"), "settingsClose")
        close.clicked.connect(self.accept)
        foot.addWidget(close)
        column.addLayout(foot)
        return made

    def _data(self) -> list[QWidget]:
        if self._own is None:
            return []
        self.data_part = DataPart(self._own, self._claudes, self)
        self.data_part.removal_wanted.connect(self.removal_wanted)
        # The question stands at the end; its place is known once it is laid out.
        self.data_part.asked.connect(self._show_question)
        return [self.data_part]

    def _switches(self) -> list[QWidget]:
        settings = self._store.settings
        self.notify = self._switch("settingNotify", tr("Tell me when Claude asks and the window is not in front"))
        self.notify.setChecked(settings.notify)
        self.notify.toggled.connect(lambda on: self._change(notify=on))
        self.keep_key = self._switch("settingKeepApiKey", tr("Hand ANTHROPIC_API_KEY from my environment to Claude"))
        self.keep_key.setChecked(settings.keep_api_key)
        self.keep_key.toggled.connect(self._on_keep_key)
        about_key = plain_label(tr("With the key, Claude bills the API instead of using your plan."), "soft", wrap=True)
        about_key.setContentsMargins(theme.px(24), 0, 0, 0)
        self.updates = self._switch("settingCheckUpdates", tr("Look for a new release of Handraise once a day"))
        self.updates.setChecked(settings.check_updates)
        self.updates.toggled.connect(lambda on: self._change(check_updates=on))
        about_updates = plain_label(
            tr("GitHub is asked, and learns this program’s name and version, no more. Nothing is installed by itself."),
            "soft", wrap=True,
        )  # fmt: skip
        about_updates.setContentsMargins(theme.px(24), 0, 0, 0)
        return [self.notify, self.keep_key, about_key, self.updates, about_updates]

    def _show_question(self, asked: QWidget) -> None:
        QTimer.singleShot(0, asked, lambda: self.area.ensureWidgetVisible(asked))

    def _claude_row(self) -> QWidget:
        row = QWidget(self)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        self.claude = QLineEdit(self._store.settings.claude, row)
        self.claude.setObjectName("settingClaude")
        self.claude.setAccessibleName(tr("Claude program"))
        self.claude.setPlaceholderText(tr("Found by itself"))
        self.claude.editingFinished.connect(self._on_claude)
        browse = button(tr("Choose…"), "settingClaudeBrowse")
        browse.clicked.connect(self.choose_claude)
        layout.addWidget(self.claude, 1)
        layout.addWidget(browse)
        return row

    def choose_claude(self) -> None:
        """Let the person pick the program."""
        dialog = QFileDialog(self, tr("Choose the Claude program"))
        dialog.setObjectName("claudeDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._on_claude_chosen)
        self._file_dialog = dialog
        dialog.open()

    def _on_claude_chosen(self, path: str) -> None:
        if path:
            self.claude.setText(path)
            self._on_claude()

    def _on_claude(self) -> None:
        path = self.claude.text().strip()
        if path != self._store.settings.claude:
            self._change(claude=path)
            self.claude_changed.emit()

    def _on_keep_key(self, keep: bool) -> None:
        self._change(keep_api_key=keep)
        self.claude_changed.emit()

    def _change(self, **values: Any) -> None:
        problem = self._store.change(**values)
        self.problem.setText(str(problem) if problem else "")
        self.problem.setVisible(problem is not None)

    def _label(self, text: str) -> QWidget:
        return plain_label(text)

    def _choice(self, name: str, label: str, choices: dict[str, str], current: str) -> QComboBox:
        box = QComboBox(self)
        style_popup(box)
        box.setObjectName(name)
        box.setAccessibleName(label)
        for value, words in choices.items():
            box.addItem(words, value)
        box.setCurrentIndex(max(0, box.findData(current)))
        return box

    def _switch(self, name: str, words: str) -> QCheckBox:
        made = QCheckBox(words.replace("&", "&&"), self)
        made.setObjectName(name)
        made.setAccessibleName(words)
        return made
