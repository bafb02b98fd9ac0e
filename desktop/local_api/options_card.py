"""What requests may do: parameters that are ignored, tools and their folder, the port."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop import theme
from desktop.folder_chooser import FolderChooser
from desktop.local_api.parts import Card, Confirming, Switch
from desktop.local_api.service import LocalApi
from desktop.translations import tr
from desktop.widgets import ElidedLabel, button, plain_label

MOST = 65535
"""The highest port that there is."""


class OptionsCard(Card):
    """The settings of the endpoint.

    Signals:
        lenient_wished(bool), tools_wished(bool), port_wished(int): the person wants it so.
        folder_chosen(path): requests shall work there.
    """

    lenient_wished = Signal(bool)
    tools_wished = Signal(bool)
    port_wished = Signal(int)
    folder_chosen = Signal(str)

    def __init__(self, api: LocalApi, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._api = api
        self._chooser = FolderChooser("localApiFolderDialog", self)
        self._chooser.chosen.connect(self.folder_chosen)
        self.confirming = Confirming(self)
        self.lenient = Switch("localApiLenient", tr("Ignore sampling parameters"), self)
        self.lenient.wished.connect(self.lenient_wished)
        about = tr(
            "Temperature, token limits and the like cannot be kept to here, so a request that sets them is refused. "
            "Switched on, they are ignored instead, and the answer’s header x-handraise-ignored names them."
        )
        self._add(self.lenient, about)
        self.tools = Switch("localApiTools", tr("Let requests use tools in a folder"), self)
        self.tools.wished.connect(self._on_tools)
        about = tr(
            "Every program with the token can then have Claude read there. Before it changes a file or runs a command, "
            "you are asked here, unless your own rules allow it. The folder’s own settings are not obeyed."
        )
        self._add(self.tools, about)
        self._add_folder()
        self._add_port()

    def _add(self, switch: Switch, about: str) -> None:
        column = QVBoxLayout()
        column.setSpacing(theme.px(2))
        column.addWidget(switch)
        words = plain_label(about, "soft", wrap=True)
        words.setContentsMargins(theme.px(26), 0, 0, 0)
        switch.setAccessibleDescription(about)
        column.addWidget(words)
        self.column.addLayout(column)

    def _add_folder(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(theme.px(26), 0, 0, 0)
        row.setSpacing(theme.px(8))
        self.folder = ElidedLabel("", "", self)
        self.folder.setObjectName("localApiFolder")
        self.choose = button(tr("Choose a folder…"), "localApiChooseFolder")
        self.choose.clicked.connect(self.choose_folder)
        row.addWidget(self.folder, 1)
        row.addWidget(self.choose)
        self.column.addLayout(row)

    def _add_port(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addWidget(plain_label(tr("Port")))
        self.port = QLineEdit(self)
        self.port.setObjectName("localApiPort")
        self.port.setAccessibleName(tr("Port"))
        self.port.setMaxLength(5)
        self.port.setPlaceholderText(tr("any free one"))
        self.port.setMaximumWidth(theme.px(120))
        self.port.editingFinished.connect(self._on_port)
        row.addWidget(self.port)
        row.addStretch(1)
        self.column.addLayout(row)

    def refresh(self) -> None:
        """Show what is in force."""
        settings = self._api.settings.settings
        self.lenient.setChecked(settings.local_api_lenient)
        self.tools.setChecked(self._api.folder is not None)
        self.folder.set_whole_text(settings.local_api_folder or tr("No folder was chosen yet."))
        self.folder.setProperty("role", "" if settings.local_api_folder else "soft")
        if not self.port.hasFocus():
            self.show_port()

    def show_port(self) -> None:
        """Show the port that is in force, whatever was typed."""
        port = self._api.settings.settings.local_api_port
        self.port.setText(str(port) if port else "")

    def choose_folder(self) -> None:
        """Let the person pick the folder."""
        start = self._api.settings.settings.local_api_folder or str(Path.home())
        self._chooser.open(tr("Choose the folder for the tools of requests"), start)

    def _on_tools(self, on: bool) -> None:
        """Without a folder there is nothing to switch on yet: ask for one."""
        if on and not self._api.settings.settings.local_api_folder:
            self.choose_folder()
        else:
            self.tools_wished.emit(on)

    def _on_port(self) -> None:
        # The question in place takes the focus, and with that the field is finished once more.
        text = self.port.text().strip() or "0"
        if not (text.isascii() and text.isdigit()) or int(text) > MOST:
            self.show_port()
            return
        port = int(text)
        if self.confirming.shown is None and port != self._api.settings.settings.local_api_port:
            self.port_wished.emit(port)
