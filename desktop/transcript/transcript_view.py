"""The transcript with its search bar and the button that leads back to the latest message."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop import theme
from desktop.transcript.find_bar import FindBar
from desktop.transcript.list_view import TranscriptList
from desktop.transcript.markdown import open_web_link
from desktop.transcript.model import TranscriptModel
from desktop.transcript.row_list import FRAME
from desktop.translations import tr
from desktop.widgets import button
from protocol.conversation import Change, Conversation


class TranscriptView(QWidget):
    """Shows a conversation and follows it.

    Signals:
        file_link: a path that was clicked; the receiver asks before anything is opened.
        following_changed: whether the latest message is kept in sight.
    """

    file_link = Signal(str)
    following_changed = Signal(bool)

    def __init__(self, conversation: Conversation | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(tr("Conversation"))
        self.model = TranscriptModel(conversation, self)
        self.list = TranscriptList(self.model, self)
        self.list.setObjectName("transcriptList")
        self.list.setAccessibleName(tr("Messages"))
        self.setFocusProxy(self.list)
        self.find_bar = FindBar(self.list, self)
        self.find_bar.hide()
        self.latest = button(tr("Jump to latest"), "jumpToLatest", "chip", self)
        self.latest.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.latest.hide()
        self.latest.clicked.connect(self.list.follow)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.list, 1)
        self._dirty: dict[str, None] = {}
        self._timer = QTimer(self, singleShot=True, interval=round(FRAME * 1000))
        self._timer.timeout.connect(self._render)
        self.list.followed.connect(self._followed)
        self.list.link.connect(open_web_link)
        self.list.file_link.connect(self.file_link)
        self.list.find_wanted.connect(self.find_bar.open)
        self.list.installEventFilter(self)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Show another conversation, from its end."""
        self._timer.stop()
        self._dirty.clear()
        self.find_bar.close_bar()
        self.model.set_conversation(conversation)

    def conversation(self) -> Conversation | None:
        """The conversation that is shown."""
        return self.model.conversation

    def apply_changes(self, changes: Sequence[Change]) -> None:
        """Follow changes of the conversation.

        Rows come and go at once; how they look is brought up to date together, at most 30 times a second.
        """
        before = self.model.rowCount()
        self._dirty.update(dict.fromkeys(self.model.apply(changes)))
        if (self._dirty or self.model.rowCount() != before) and not self._timer.isActive():
            self._timer.start()

    def _render(self) -> None:
        if self.isVisible():  # what nobody sees is laid out when it is seen
            self.flush()

    def flush(self) -> None:
        """Bring everything that is shown up to date now."""
        self._timer.stop()
        dirty, self._dirty = list(self._dirty), {}
        self.list.show_changes(dirty)
        self.model.told(dirty)

    def plain_text(self) -> str:
        """All words that are shown, for tests and assistive tools."""
        self.flush()
        rows = (index for index in range(self.model.rowCount()) if not self.list.hidden(index))
        return "\n\n".join(filter(None, (self.list.whole_text(index) for index in rows)))

    def _followed(self, following: bool) -> None:
        self.latest.setVisible(not following)
        self._place_button()
        self.following_changed.emit(following)

    def _place_button(self) -> None:
        size = self.latest.sizeHint()
        x = (self.width() - size.width()) // 2
        self.latest.setGeometry(x, self.height() - size.height() - theme.px(12), size.width(), size.height())
        self.latest.raise_()

    # Qt overrides

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.flush()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place_button()
        return super().eventFilter(watched, event)
