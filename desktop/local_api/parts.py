"""Small widgets of the local API's page: cards, fields to copy from, a question in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from desktop import theme
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role

COPIED_MS = 1500


class Card(QFrame):
    """A round area with a column in it. Attributes: `column`, the layout to add to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.px(16), theme.px(14), theme.px(16), theme.px(14))
        self.column.setSpacing(theme.px(10))


class Switch(QCheckBox):
    """A check box that asks before it changes: the person's wish is told, and the mark follows what is in force.

    Signals:
        wished(bool): the person wants it so.
    """

    wished = Signal(bool)

    def __init__(self, name: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(words.replace("&", "&&"), parent)
        self.setObjectName(name)
        self.setAccessibleName(words)

    def nextCheckState(self) -> None:
        self.wished.emit(not self.isChecked())


class CopyButton(QPushButton):
    """Puts a text on the clipboard, and says so for a moment."""

    def __init__(self, name: str, accessible: str, text: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAutoDefault(False)
        set_role(self, "outline")
        self._accessible = accessible
        self._text = text
        # As wide as the longer of its two words, so that nothing beside it moves.
        self._words = (tr("Copy"), tr("Copied"))
        self._timer = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._timer.timeout.connect(lambda: self._say(copied=False))
        self.clicked.connect(self._copy)
        self._say(copied=False)

    def _copy(self) -> None:
        text = self._text()
        if text:
            QGuiApplication.clipboard().setText(text)
            self._say(copied=True)
            self._timer.start()

    def _say(self, *, copied: bool) -> None:
        self.setText(self._words[copied])
        self.setAccessibleName(self._words[True] if copied else self._accessible)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        widths = [self.fontMetrics().horizontalAdvance(word) for word in self._words]
        return QSize(hint.width() - self.fontMetrics().horizontalAdvance(self.text()) + max(widths), hint.height())


class FieldToCopy(QWidget):
    """A label, under it a text that can be selected but not changed, and buttons beside it.

    Attributes: `field`.
    """

    def __init__(self, name: str, label: str, buttons: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setObjectName(name)
        self.field.setReadOnly(True)
        self.field.setAccessibleName(label)
        self.field.setMinimumWidth(theme.px(80))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(4))
        column.addWidget(plain_label(label, "section"))
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addWidget(self.field, 1)
        for one in buttons:
            row.addWidget(one)
            self.field.setMinimumHeight(one.sizeHint().height())
        column.addLayout(row)
        # Tab goes on as one reads; Qt's order is the one in which they were made.
        for before, after in zip((self.field, *buttons), buttons, strict=False):
            QWidget.setTabOrder(before, after)

    def show_text(self, text: str) -> None:
        """Show a text from its beginning; a selection in the same text stays."""
        # What stands there in place of a text is no code.
        self.field.setFont(theme.code_font() if text else theme.text_font())
        if text != self.field.text():
            self.field.setText(text)
            self.field.setCursorPosition(0)


class Confirmation(QWidget):
    """A question in place, before something that cannot be undone. `keep` has the focus, and Esc presses it.

    Signals: confirmed, kept.
    """

    confirmed = Signal()
    kept = Signal()

    def __init__(self, sentence: str, keep: str, confirm: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("localApiConfirm")
        self.setAccessibleName(sentence)
        self.keep = button(keep, "localApiKeep")
        self.keep.setAccessibleDescription(sentence)
        self.confirm = button(confirm, "localApiConfirmed", "danger")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(8))
        column.addWidget(plain_label(sentence, "semibold", wrap=True))
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addStretch(1)
        row.addWidget(self.keep)
        row.addWidget(self.confirm)
        column.addLayout(row)
        self.keep.clicked.connect(self.kept)
        self.confirm.clicked.connect(self.confirmed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.kept.emit()
        else:
            super().keyPressEvent(event)


class Confirming(QObject):
    """Asks at the foot of a card, one question at a time, and gives the focus back."""

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._card = card
        self._is_moot: Callable[[], bool] = bool
        self.shown: Confirmation | None = None

    def ask(
        self,
        sentence: str,
        keep: str,
        confirm: str,
        action: Callable[[], None],
        otherwise: Callable[[], None],
        is_moot: Callable[[], bool] = bool,
    ) -> None:
        """Ask, and do `action` if it is confirmed, or else `otherwise`.

        Once `is_moot` there is nothing left to ask about, and `look_again` does what was wanted.
        """
        self.close()
        self._is_moot = is_moot
        back_to = QApplication.focusWidget()
        self.shown = Confirmation(sentence, keep, confirm, self._card)
        self.shown.confirmed.connect(lambda: self._end(back_to, action))
        self.shown.kept.connect(lambda: self._end(back_to, otherwise))
        self._card.column.addWidget(self.shown)
        self.shown.show()
        self.shown.keep.setFocus(Qt.FocusReason.OtherFocusReason)

    def look_again(self) -> None:
        """Something has changed: do what was wanted if nothing speaks against it any more."""
        if self.shown is not None and self._is_moot():
            self.shown.confirmed.emit()

    def close(self) -> None:
        """Take the question away; nothing is done."""
        shown, self.shown = self.shown, None
        if shown is not None:
            self._card.column.removeWidget(shown)
            shown.hide()
            shown.deleteLater()

    def _end(self, back_to: QWidget | None, action: Callable[[], None]) -> None:
        self.close()
        if back_to is not None and back_to.isVisible():
            back_to.setFocus(Qt.FocusReason.OtherFocusReason)
        action()
