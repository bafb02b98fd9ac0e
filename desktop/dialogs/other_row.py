"""The row for an answer in one's own words."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop import theme
from desktop.dialogs.option_row import RING, CheckRow, RadioRow, option_row
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr

_INDENT = 41


class OtherRow(QWidget):
    """ "Other…" as a row like the options, with its text field inside once it is chosen.

    The field lies over the row, not in it: a text field is no part of a radio button to an assistive tool.

    Attributes:
        row: the radio button or check box; None where a question has no options, and there is only the field.
        field: what is written.

    Signals:
        left(int): an arrow key leaves the field upwards (-1) or downwards (1).
    """

    left = Signal(int)

    def __init__(self, index: int, number: int, *, several: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.row: RadioRow | CheckRow | None = None
        if number:
            key = str(number + 1) if number < 9 else ""
            words = tr("Say it in your own words")
            self.row = option_row(tr("Other…"), words, key, several=several, parent=self)
            self.row.setObjectName(f"other_{index}")
        self.field = WritingField(
            f"otherText_{index}", tr("Your own answer"), tr("Your answer"), self, least_lines=1 if number else 2
        )
        self.field.installEventFilter(self)
        self.field.setVisible(self.row is None)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_state(self, chosen: bool) -> None:
        """Show whether it is chosen."""
        if self.row is not None:
            self.row.show_checked(chosen)
            if self.field.isHidden() == chosen:
                self.field.setVisible(chosen)
                self._changed_height()

    def heightForWidth(self, width: int) -> int:
        field = self.field.wanted_height() if not self.field.isHidden() else 0
        if self.row is None:
            return field + 2 * RING
        return self.row.row_height(width) + (field + theme.px(4) if field else 0)

    def hasHeightForWidth(self) -> bool:
        return True

    def sizeHint(self) -> QSize:
        return QSize(theme.px(320), self.heightForWidth(max(self.width(), theme.px(200))))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(160), theme.px(40))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field:
            if event.type() == QEvent.Type.LayoutRequest or event.type() == QEvent.Type.Resize:
                self._changed_height()
            elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._leave(event)
        return super().eventFilter(watched, event)

    def _leave(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if self.row is None or event.modifiers() or event.key() not in steps:
            return False
        cursor = self.field.textCursor()
        way = cursor.MoveOperation.Up if event.key() == Qt.Key.Key_Up else cursor.MoveOperation.Down
        if cursor.movePosition(way):
            return False
        self.left.emit(steps[Qt.Key(event.key())])
        return True

    def _changed_height(self) -> None:
        self.updateGeometry()
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        field_height = self.field.wanted_height()
        if self.row is None:
            self.field.setGeometry(RING, RING, self.width() - 2 * RING, field_height)
            return
        self.row.setGeometry(self.rect())
        left, right = RING + theme.px(_INDENT), RING + theme.px(12)
        top = self.height() - RING - theme.px(10) - field_height
        self.field.setGeometry(left, top, self.width() - left - right, field_height)
        self.field.raise_()
