"""What stands in a conversation in which nothing was said yet."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop import theme
from desktop.translations import tr
from desktop.widgets import plain_label


class EmptyPage(QWidget):
    """Says where Claude works and what the keys of the field do. It lies over `place` and takes no clicks."""

    def __init__(self, place: QWidget) -> None:
        super().__init__(place)
        self.setObjectName("emptyPage")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = plain_label("", "question", wrap=True)
        asks = tr("It asks here before it changes anything, and when it needs a decision.")
        keys = tr("Enter sends, Shift+Enter begins a line, / lists the commands, @ the files.")
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.px(24)] * 4)
        column.setSpacing(theme.px(8))
        column.addStretch(2)
        for label in (self.title, plain_label(asks, "soft", wrap=True), plain_label(keys, "soft", wrap=True)):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addStretch(3)
        place.installEventFilter(self)
        self._place = place
        self.hide()

    def show_folder(self, name: str, *, shown: bool) -> None:
        """Be there or not, for a folder of this name."""
        self.title.setText(tr("What shall Claude do in {name}?", name=name))
        self.setVisible(shown)
        if shown:
            self.setGeometry(self._place.rect())
            self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.setGeometry(self._place.rect())
        return False
