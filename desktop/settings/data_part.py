"""The part of the settings about Handraise's own data: where it is, and how it is removed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop import theme
from desktop.local_api.parts import Confirmation
from desktop.own_data import OwnData
from desktop.translations import tr
from desktop.widgets import button, hairline, plain_label


class DataPart(QWidget):
    """Names the folders, and asks in place before it lets them be emptied.

    Signals:
        asked(QWidget): the question has appeared.
        removal_wanted: the person has confirmed it.
    """

    asked = Signal(QWidget)
    removal_wanted = Signal()

    def __init__(self, own: OwnData, claudes: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("settingData")
        self._confirmation: Confirmation | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, theme.px(4), 0, 0)
        self._column.setSpacing(theme.px(8))
        self._column.addWidget(hairline(self))
        self._column.addWidget(plain_label(tr("Handraise’s data"), "semibold"))
        about = tr("Settings, text that you have not sent, the log and the local API’s token are in:")
        self._column.addWidget(plain_label(about, "soft", wrap=True))
        self.folders = plain_label("\n".join(map(str, own.folders())), wrap=True)
        self.folders.setObjectName("settingDataFolders")
        self.folders.setFont(theme.code_font())
        self.folders.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.folders.setAccessibleName(tr("Folders of Handraise’s data"))
        self._column.addWidget(self.folders)
        self.stays = plain_label("", "soft", wrap=True)
        self.stays.setText(
            tr("Claude’s own data in {folder} (conversations, login) is not Handraise’s, and stays.", folder=claudes)
        )
        self._column.addWidget(self.stays)
        self.delete = button(tr("Delete Handraise’s data…"), "settingDataDelete", "danger")
        self.delete.clicked.connect(self._ask)
        row = QHBoxLayout()
        row.addWidget(self.delete)
        row.addStretch(1)
        self._column.addLayout(row)

    def _ask(self) -> None:
        sentence = tr(
            "Handraise ends what it runs, quits, and deletes its settings, unsent text, log and token for good. "
            "Your conversations with Claude stay."
        )
        asked = Confirmation(sentence, tr("Keep it"), tr("Delete and quit"), self)
        asked.setObjectName("settingDataConfirm")
        asked.keep.setObjectName("settingDataKeep")
        asked.confirm.setObjectName("settingDataConfirmed")
        asked.kept.connect(self._close)
        asked.confirmed.connect(self.removal_wanted)
        self._confirmation = asked
        self._column.addWidget(asked)
        self.delete.hide()
        asked.show()
        asked.keep.setFocus(Qt.FocusReason.OtherFocusReason)
        self.asked.emit(asked)

    def _close(self) -> None:
        asked, self._confirmation = self._confirmation, None
        if asked is not None:
            self._column.removeWidget(asked)
            asked.hide()
            asked.deleteLater()
        self.delete.show()
        self.delete.setFocus(Qt.FocusReason.OtherFocusReason)
