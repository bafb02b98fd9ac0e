"""The live list of requests: a view over `RequestsModel`, painted row by row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop import theme
from desktop.local_api.request_rows import ROW_ROLE, RequestRow, RequestsModel
from desktop.translations import tr
from desktop.widgets import paint_dot, plain_label

ROW_HEIGHT = 36
LEAST_ROWS = 4


class RowDelegate(QStyledItemDelegate):
    """Paints a row: the dot, who and which model at the left; how it stands and how long at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(theme.px(100), theme.px(ROW_HEIGHT))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: RequestRow = index.data(ROW_ROLE)
        rect: QRect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.role("accent_tint"))
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 8, 8)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.role("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), 8, 8)
        size = theme.px(10)
        paint_dot(painter, QRectF(rect.left() + theme.px(8), rect.center().y() - size / 2, size, size), row.dot)
        self._paint_words(painter, rect.adjusted(theme.px(28), 0, -theme.px(10), 0), row)
        painter.restore()

    def _paint_words(self, painter: QPainter, area: QRect, row: RequestRow) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        gap = theme.px(12)
        painter.setFont(theme.text_font(theme.SECONDARY_SIZE))
        painter.setPen(theme.role("soft"))
        metrics = painter.fontMetrics()
        duration = QRect(area)
        # Wide enough for minutes, so that the words beside it do not move every second.
        duration.setLeft(area.right() - max(metrics.horizontalAdvance(text) for text in ("00:00", row.duration)))
        painter.drawText(duration, middle | Qt.AlignmentFlag.AlignRight, row.duration)
        words = QRect(area)
        words.setRight(duration.left() - gap)
        words.setLeft(words.right() - min(metrics.horizontalAdvance(row.words), area.width() * 3 // 5))
        painter.setPen(theme.role({"failed": "bad", "waiting": "accent"}.get(row.dot, "soft")))
        painter.drawText(words, middle, metrics.elidedText(row.words, Qt.TextElideMode.ElideRight, words.width()))
        left = QRect(area)
        left.setRight(words.left() - gap)
        painter.setFont(theme.text_font())
        painter.setPen(theme.role("text"))
        metrics = painter.fontMetrics()
        who = metrics.elidedText(row.who, Qt.TextElideMode.ElideRight, left.width())
        painter.drawText(left, middle, who)
        left.setLeft(left.left() + metrics.horizontalAdvance(who) + theme.px(8))
        if row.model and left.width() > theme.px(40):
            painter.setFont(theme.text_font(theme.SECONDARY_SIZE))
            painter.setPen(theme.role("soft"))
            metrics = painter.fontMetrics()
            painter.drawText(left, middle, metrics.elidedText(row.model, Qt.TextElideMode.ElideRight, left.width()))


class RequestList(QListView):
    """The list, with a word where it is empty. Attributes: `rows`, its model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("localApiRequests")
        self.setAccessibleName(tr("Requests"))
        self.rows = RequestsModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(RowDelegate(self))
        self.setUniformItemSizes(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(theme.px(ROW_HEIGHT * LEAST_ROWS))
        self.nothing = plain_label(tr("Nothing was asked yet."), "soft", parent=self.viewport())
        self.nothing.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for signal in (self.rows.modelReset, self.rows.rowsInserted, self.rows.rowsRemoved):
            signal.connect(self._show_nothing)

    def _show_nothing(self) -> None:
        self.nothing.setVisible(not self.rows.rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.nothing.setGeometry(self.viewport().rect())
