"""The list that shows the transcript: it lays out what is in sight, and keeps in place what the person reads."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop import theme
from desktop.transcript.hands import Hands
from desktop.transcript.model import TranscriptModel
from desktop.transcript.row_list import NESTED, AnyIndex, RowList
from desktop.transcript.segments import paint_ring
from desktop.transcript.selection import Selection


class TranscriptDelegate(QStyledItemDelegate):
    """Paints a row from its cached layout."""

    def __init__(self, view: TranscriptList) -> None:
        super().__init__(view)
        self._view = view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        self._view.paint_row(painter, index.row(), option.rect)

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(self._view.column()[1], self._view.heights[index.row()])


class TranscriptList(RowList):
    """The rows of a transcript as they are seen and handled.

    Signals:
        link, file_link: an address or a path that was clicked.
        find_wanted: the person wants to search.
    """

    link = Signal(str)
    file_link = Signal(str)
    find_wanted = Signal()

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.selection = Selection(self)
        self.hands = Hands(self)
        self.setItemDelegate(TranscriptDelegate(self))
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        # Qt moves what is on the screen only where nothing can shine through.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        model.rowsRemoved.connect(self.selection.clear)
        model.modelReset.connect(self.selection.clear)
        self.start()

    def toggle(self, item_id: str) -> None:
        self.selection.forget_row(item_id)
        super().toggle(item_id)

    def show_row(self, index: int, y: int = -1, height: int = 0) -> None:
        """Bring a row into sight, or the part of it from `y` of that height."""
        for _attempt in range(4):  # laying it out can move it
            top = self.top_of(index) + max(y, 0)
            tall = height if y >= 0 else self.heights[index]
            room = self.viewport().height()
            bar = self.verticalScrollBar()
            if top < theme.px(8):
                bar.setValue(bar.value() + top - theme.px(24))
            elif top + tall > room - theme.px(8):
                bar.setValue(bar.value() + min(top - theme.px(24), top + tall - room + theme.px(24)))
            else:
                return

    # Painting

    def paint_row(self, painter: QPainter, index: int, rect: QRect) -> None:
        """Paint one row into its rectangle."""
        row = self.row(index)
        item_id = self.transcript.id_of(index)
        depth = self.transcript.depth_of(item_id)
        for level in range(depth):
            left = rect.left() - theme.px(NESTED) * (depth - level) + theme.px(10)
            painter.fillRect(left, rect.top() - 1, 1, rect.height() + 1, theme.role("line"))
        clip = painter.clipBoundingRect() if painter.hasClipping() else QRectF(self.viewport().rect())
        row.paint(painter, rect.left(), rect.top(), clip, self.selection.marks(index, row))
        if self.hands.rings(index):
            inner = QRectF(rect.left() - 5, rect.top() - 4, rect.width() + 10, rect.height() - row.below + 8)
            paint_ring(painter, inner, theme.px(14))

    # Qt overrides

    def scrollTo(
        self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if index.isValid():
            self.show_row(index.row())

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if self._busy:
            return
        bar = self.verticalScrollBar()
        self._set_following(bar.value() >= bar.maximum())
        self.settle()
        self.hands.scrolled()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        try:
            self._paint_rows(painter, event)
        finally:
            painter.end()  # a painter that an exception leaves open ends the whole process

    def _paint_rows(self, painter: QPainter, event: QPaintEvent) -> None:
        painter.setClipRegion(event.region())
        painter.fillRect(event.rect(), theme.role("background"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        option = QStyleOptionViewItem()
        delegate = self.itemDelegate()
        left, width = self.column()
        area = event.rect()
        for index, top in self.rows_in(area.top(), area.bottom() + 1):
            shift = self.shift_of(self.transcript.id_of(index))
            option.rect = QRect(left + shift, top, width - shift, self.heights[index])
            delegate.paint(painter, option, self.transcript.index(index))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hands.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hands.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.hands.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.hands.double_click(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.hands.menu(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.hands.key(event):
            event.ignore()

    def focusNextPrevChild(self, forward: bool) -> bool:
        return self.hands.tab(forward) or super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.hands.focused(event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            return self.hands.tool_tip(event)
        return super().viewportEvent(event)
