"""Picking a folder."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget


class FolderChooser(QObject):
    """Lets the person pick a folder, in one dialog at a time.

    Signals:
        chosen(path): the person picked this folder; `str`, never empty.
    """

    chosen = Signal(str)

    def __init__(self, name: str, owner: QWidget) -> None:
        """`name` is the dialog's object name; it opens over the window of `owner`."""
        super().__init__(owner)
        self._name = name
        self._owner = owner
        self._dialog: QFileDialog | None = None

    def open(self, title: str, start: str) -> None:
        """Open the dialog at the folder `start`, or bring the one that is open to the front."""
        if self._dialog is not None:
            self._dialog.raise_()
            return
        dialog = QFileDialog(self._owner.window(), title, start)
        dialog.setObjectName(self._name)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._on_selected)
        dialog.finished.connect(self._on_over)
        self._dialog = dialog
        dialog.open()

    def _on_selected(self, path: str) -> None:
        if path:
            self.chosen.emit(path)

    def _on_over(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None
