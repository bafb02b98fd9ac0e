"""The sidebar: new conversation, search, the list, and who pays."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop import theme
from desktop.conversations import Conversations, OpenConversation
from desktop.keys import as_typed
from desktop.local_api.button import LocalApiButton
from desktop.translations import tr
from desktop.widgets import Dot, DotState, ElidedLabel, button, hairline, paint_dot, plain_label, set_role
from desktop.window.sidebar_model import CONVERSATION_ROLE, ENTRY_ROLE, Entry, SidebarModel

WIDTH = 256
REFRESH_MS = 100
AGES_MS = 30_000


class EntryDelegate(QStyledItemDelegate):
    """Paints a row: the dot, the title with `…`, the age at the right; or a folder's heading."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        entry: Entry = index.data(ENTRY_ROLE)
        return QSize(theme.px(100), theme.px(39 if entry.key else 33))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: Entry = index.data(ENTRY_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if entry.key:
            self._paint_conversation(painter, QRect(rect), entry, option.state)
        else:
            painter.setFont(theme.text_font(theme.SECONDARY_SIZE, semibold=True))
            painter.setPen(theme.role("soft"))
            area = rect.adjusted(theme.px(8), theme.px(8), -theme.px(8), 0)
            self._draw(painter, area, entry.title, Qt.AlignmentFlag.AlignLeft)
        painter.restore()

    def _paint_conversation(self, painter: QPainter, rect: QRect, entry: Entry, state: QStyle.StateFlag) -> None:
        card = QRectF(rect).adjusted(0.5, 2, -0.5, -2)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.role("accent_tint"))
            painter.drawRoundedRect(card, 8, 8)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.role("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(card.adjusted(0.5, 1, -0.5, -1), 8, 8)
        size = theme.px(10)
        dot = QRectF(rect.left() + theme.px(7), rect.center().y() - size / 2, size, size)
        paint_dot(painter, dot, entry.dot)
        painter.setFont(theme.text_font(12))
        painter.setPen(theme.role("soft"))
        age_width = painter.fontMetrics().horizontalAdvance(entry.age)
        age = QRect(rect.right() - age_width - theme.px(8), rect.top(), age_width + 2, rect.height())
        painter.drawText(age, Qt.AlignmentFlag.AlignVCenter, entry.age)
        painter.setFont(theme.text_font(semibold=entry.dot == "waiting"))
        painter.setPen(theme.role("text"))
        title = QRect(rect.left() + theme.px(30), rect.top(), 0, rect.height())
        title.setRight(age.left() - theme.px(8))
        self._draw(painter, title, entry.title, Qt.AlignmentFlag.AlignLeft)

    @staticmethod
    def _draw(painter: QPainter, area: QRect, text: str, align: Qt.AlignmentFlag) -> None:
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, align | Qt.AlignmentFlag.AlignVCenter, shown)


class AccountChip(QWidget):
    """Who is signed in, or who pays otherwise; and the way to the settings.

    Signals: sign_in, settings.
    """

    sign_in = Signal()
    settings = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("accountChip")
        self.dot = Dot(self)
        self.label = ElidedLabel("", "", self)
        self.sign_in_button = button(tr("Sign in"), "signInButton", "quiet")
        self.sign_in_button.hide()
        self.sign_in_button.clicked.connect(self.sign_in)
        self.settings_button = button("⚙", "settingsButton", "quiet")
        self.settings_button.setToolTip(as_typed(tr("Settings (Ctrl+,)")))
        self.settings_button.setAccessibleName(tr("Settings"))
        self.settings_button.clicked.connect(self.settings)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(7), 0, 0, 0)
        row.setSpacing(theme.px(12))
        row.addWidget(self.dot)
        row.addWidget(self.label, 1)
        row.addWidget(self.sign_in_button)
        row.addWidget(self.settings_button)

    def show_account(self, words: str, detail: str, dot: DotState, *, can_sign_in: bool) -> None:
        """Show who pays. `detail` is the tooltip."""
        self.dot.set_state(dot, words)
        self.label.set_whole_text(words)
        self.setToolTip(detail or words)
        self.setAccessibleName(words)
        self.setAccessibleDescription(detail)
        self.sign_in_button.setVisible(can_sign_in)


class Sidebar(QWidget):
    """All of it.

    Signals:
        new_wanted: a new conversation.
        chosen(OpenConversation): one is to be shown.
        close_wanted(OpenConversation): one is to be closed for good.
        left: Esc, with nothing left to clear.
    """

    new_wanted = Signal()
    chosen = Signal(object)
    close_wanted = Signal(object)
    left = Signal()

    def __init__(self, conversations: Conversations, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setAccessibleName(tr("Conversations"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "panel")
        self.setFixedWidth(theme.px(WIDTH))
        self._conversations = conversations
        self.model = SidebarModel(lambda: conversations, parent=self)
        self._current = ""
        self._edge = hairline(self, vertical=True)
        self._build()
        # A flood of changes is one redraw.
        self._refresh_timer = QTimer(self, interval=REFRESH_MS, singleShot=True)
        self._refresh_timer.timeout.connect(self.refresh)
        self._ages = QTimer(self, interval=AGES_MS)
        self._ages.timeout.connect(self.refresh)
        self._ages.start()
        for signal in (conversations.added, conversations.removed):
            signal.connect(self.refresh)
        conversations.changed.connect(self.refresh_soon)

    def _build(self) -> None:
        name = plain_label("Handraise", "title")
        self.new_button = button(tr("＋ New conversation"), "newConversation", parent=self)
        self.new_button.setAccessibleName(tr("New conversation"))
        self.new_button.setToolTip(as_typed(tr("New conversation in this folder (Ctrl+N)")))
        self.new_button.clicked.connect(self.new_wanted)
        self.search = QLineEdit(self)
        self.search.setObjectName("searchConversations")
        self.search.setPlaceholderText(tr("Search titles and contents"))
        self.search.setAccessibleName(tr("Search the conversations"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._on_search)
        self.list = QListView(self)
        self.list.setObjectName("conversationList")
        self.list.setAccessibleName(tr("Conversations"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(EntryDelegate(self.list))
        self.list.setUniformItemSizes(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.clicked.connect(self._on_chosen)
        self.list.activated.connect(self._on_chosen)
        self.nothing = plain_label(tr("No conversation holds these words."), "soft", wrap=True)
        self.nothing.hide()
        close = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list)
        close.setContext(Qt.ShortcutContext.WidgetShortcut)
        close.activated.connect(self._on_delete)
        self.local_api = LocalApiButton(self)
        self.local_api.hide()
        self.account = AccountChip(self)
        column = QVBoxLayout(self)
        margin = theme.px(12)
        column.setContentsMargins(margin, margin, margin, theme.px(8))
        column.setSpacing(theme.px(12))
        head = QHBoxLayout()
        head.setContentsMargins(4, 0, 0, 0)
        head.addWidget(name)
        column.addLayout(head)
        column.addWidget(self.new_button)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        foot = QVBoxLayout()
        foot.setSpacing(theme.px(4))
        foot.addWidget(self.local_api)
        foot.addWidget(self.account)
        column.addLayout(foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._edge.setGeometry(self.width() - 1, 0, 1, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.search.text():
            self.search.clear()
        else:
            self.left.emit()

    def refresh(self) -> None:
        """Show the list as it is now."""
        # Who walks the list with the arrows is not pulled back by whatever happens in a conversation.
        walked = self._key_at_hand() if self.list.hasFocus() else ""
        self.model.refresh()
        self.nothing.setVisible(bool(self.model.query.strip()) and self.model.rowCount() == 0)
        self._select(walked if self.model.row_of(walked) >= 0 else self._current)

    def refresh_soon(self) -> None:
        """Show the list as it is in a moment; many calls in a row are one."""
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def set_current(self, opened: OpenConversation | None) -> None:
        """Mark the one that is shown."""
        self._current = opened.key if opened is not None else ""
        self.refresh()
        self._select(self._current)

    def _key_at_hand(self) -> str:
        return self.list.currentIndex().data(CONVERSATION_ROLE) or ""

    def _select(self, key: str) -> None:
        row = self.model.row_of(key)
        if row < 0:
            self.list.setCurrentIndex(QModelIndex())
        elif self.list.currentIndex().row() != row:
            self.list.setCurrentIndex(self.model.index(row))

    def _on_search(self, text: str) -> None:
        self.model.search(text)
        self.refresh()

    def _on_chosen(self, index: QModelIndex) -> None:
        opened = self._conversations.by_key(index.data(CONVERSATION_ROLE) or "")
        if opened is not None:
            self.chosen.emit(opened)

    def _on_delete(self) -> None:
        opened = self._conversations.by_key(self._key_at_hand())
        if opened is not None:
            self.close_wanted.emit(opened)
