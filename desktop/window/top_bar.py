"""The top bar: folder, model, effort, mode, and how full the context is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop import theme
from desktop.conversations import OpenConversation
from desktop.folder_chooser import FolderChooser
from desktop.keys import as_typed
from desktop.translations import format_count, tr
from desktop.widgets import button
from desktop.window.chips import ChipButton, ChipSelector, Choice, ContextMeter
from desktop.window.wording import mode_words
from protocol.requests import MODES


def model_choices(opened: OpenConversation) -> tuple[list[Choice], str]:
    """The models of a conversation, and the value of the one in force."""
    conversation = opened.conversation
    choices = [
        Choice(model.value, model.display_name or model.value, model.description) for model in conversation.models
    ]
    chosen = opened.runner.choices.model
    if chosen and any(model.value == chosen for model in conversation.models):
        return choices, chosen
    for model in conversation.models:
        if conversation.model and conversation.model in (model.value, model.resolved_model):
            return choices, model.value
    if conversation.model:
        return choices, conversation.model
    return choices, choices[0].value if choices else ""


def effort_choices(opened: OpenConversation) -> tuple[list[Choice], str]:
    """The effort levels of the model in force; none where the CLI or the model has none."""
    _, value = model_choices(opened)
    model = next((model for model in opened.conversation.models if model.value == value), None)
    if model is None or not model.supports_effort or not opened.controls.effort:
        return [], ""
    return [Choice(level, level) for level in model.supported_effort_levels], opened.controls.effort


def mode_choices(opened: OpenConversation) -> tuple[list[Choice], str]:
    """The permission modes in words. Before the first turn the CLI names none, and starts in `default`."""
    choices = [Choice(mode, *mode_words(mode)) for mode in MODES]
    return choices, opened.runner.choices.mode or opened.conversation.permission_mode or "default"


class TopBar(QWidget):
    """What the shown conversation works with.

    Signals:
        folder_chosen(Path): the person picked a folder.
        sidebar_toggled: the button that shows or hides the sidebar in a narrow window.
    """

    folder_chosen = Signal(object)
    sidebar_toggled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self._opened: OpenConversation | None = None
        self._chooser = FolderChooser("folderDialog", self)
        self._chooser.chosen.connect(lambda path: self.folder_chosen.emit(Path(path)))
        self._narrow = False
        self.sidebar_button = button("☰", "sidebarButton", "quiet", self)
        self.sidebar_button.setAccessibleName(tr("Show the conversations"))
        self.sidebar_button.setToolTip(as_typed(tr("Show the conversations (Ctrl+B)")))
        self.sidebar_button.clicked.connect(self.sidebar_toggled)
        self.folder_button = ChipButton("folderChooser", tr("Folder"), self)
        self.folder_button.clicked.connect(self.choose_folder)
        self.model = ChipSelector("modelSelector", tr("Model"), self)
        self.effort = ChipSelector("effortSelector", tr("Effort"), self)
        self.mode = ChipSelector("modeSelector", tr("Mode"), self)
        self.context = ContextMeter(tr("Context"), self)
        self._connect()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(9))
        row.setSpacing(theme.px(8))
        for widget in (self.sidebar_button, self.folder_button, self.model, self.effort, self.mode):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.context)

    def _connect(self) -> None:
        self.model.picked.connect(self._on_model)
        self.effort.picked.connect(self._on_effort)
        self.mode.picked.connect(self._on_mode)

    def _on_model(self, value: str) -> None:
        if self._opened is not None:
            self._opened.controls.set_model(value)

    def _on_effort(self, value: str) -> None:
        if self._opened is not None:
            self._opened.controls.set_effort(value)

    def _on_mode(self, value: str) -> None:
        if self._opened is not None:
            self._opened.controls.set_mode(value)

    def show_conversation(self, opened: OpenConversation | None) -> None:
        """Show a conversation's settings as they are now."""
        self._opened = opened
        for selector in (self.model, self.effort, self.mode, self.folder_button):
            selector.setVisible(opened is not None)
        if opened is None:
            self.context.show_percent(None, "")
            return
        folder = opened.folder
        self.folder_button.show_value(folder.name or str(folder))
        if opened.is_untouched:
            hint = tr("{folder}\nClick to work in another folder.", folder=folder)
        else:
            hint = tr("{folder}\nClick to begin a new conversation in another folder.", folder=folder)
        self.folder_button.setToolTip(hint)
        self.model.show_choices(*model_choices(opened))
        self.effort.show_choices(*effort_choices(opened))
        self.mode.show_choices(*mode_choices(opened))
        self._show_context(opened)

    def _show_context(self, opened: OpenConversation) -> None:
        percent = opened.controls.context_percent
        words = ""
        if percent is not None:
            words = tr("The context window is {percent} % full ({tokens} tokens).",
                       percent=percent, tokens=format_count(opened.controls.context_tokens))  # fmt: skip
        self.context.show_percent(percent, words)

    def set_narrow(self, narrow: bool) -> None:
        """Whether there is little room: the sidebar's button is there, names, meter and effort make way."""
        self._narrow = narrow
        self.sidebar_button.setVisible(narrow)
        if narrow:
            self.context.hide()
            self.effort.hide()
        self._fit()

    def _fit(self) -> None:
        """Leave the names out where they would cut the values short."""
        chips = [chip for chip in (self.folder_button, self.model, self.effort, self.mode) if not chip.isHidden()]
        for chip in chips:
            chip.set_compact(False)
        others = [widget for widget in (self.sidebar_button, self.context) if not widget.isHidden()]
        needed = sum(widget.sizeHint().width() for widget in (*chips, *others))
        needed += theme.px(16) * 2 + theme.px(8) * (len(chips) + len(others))
        for chip in chips:
            chip.set_compact(self._narrow or needed > self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def choose_folder(self) -> None:
        """Let the person pick a folder."""
        start = self._opened.folder if self._opened is not None else Path.home()
        self._chooser.open(tr("Choose the folder in which Claude works"), str(start))
