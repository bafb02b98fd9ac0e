"""How a request's card takes its size: as high as its content where there is room, scrolling where there is not."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QLayoutItem, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop import theme

UNLIMITED = 16777215
"""Qt's own QWIDGETSIZE_MAX, which PySide does not export."""


class FlowLayout(QLayout):
    """Items in a row that wraps, each at its own size. Hidden ones take no room.

    Attributes:
        right: whether the rows stand at the right edge.
    """

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8, right: bool = False) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.right = right
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), apply=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, apply=True)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        if not shown:
            return QSize(0, 0)
        width = sum(hint.width() for hint in shown) + self.spacing() * (len(shown) - 1)
        return QSize(width, max(hint.height() for hint in shown))

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        rows: list[list[QLayoutItem]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            needed = item.sizeHint().width()
            if not rows or used + self.spacing() + needed > width:
                rows.append([])
                used = needed
            else:
                used += self.spacing() + needed
            rows[-1].append(item)
        return rows

    def _arrange(self, rect: QRect, *, apply: bool) -> int:
        y = rect.y()
        for row in self._rows(rect.width()):
            height = max(item.sizeHint().height() for item in row)
            total = sum(item.sizeHint().width() for item in row) + self.spacing() * (len(row) - 1)
            x = rect.right() + 1 - total if self.right and total <= rect.width() else rect.x()
            for item in row:
                hint = item.sizeHint()
                if apply:
                    top = y + (height - hint.height()) // 2
                    item.setGeometry(QRect(QPoint(x, top), QSize(min(hint.width(), rect.width()), hint.height())))
                x += hint.width() + self.spacing()
            y += height + self.spacing()
        return max(0, y - rect.y() - self.spacing())


class SplitRow(QWidget):
    """Two groups, one at each side; below one another where they do not fit side by side.

    Attributes:
        left, right: the layouts to add to.
    """

    def __init__(self, parent: QWidget | None = None, *, right_first: bool = False) -> None:
        super().__init__(parent)
        self._right_first = right_first
        self._left_box, self._right_box = QWidget(self), QWidget(self)
        self.left = FlowLayout(self._left_box)
        self.right = FlowLayout(self._right_box, right=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
            self.updateGeometry()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        left, right = self.left.sizeHint(), self.right.sizeHint()
        if self._side_by_side(width):
            return max(left.height(), right.height())
        heights = [layout.heightForWidth(width) for layout in (self.left, self.right)]
        return sum(heights) + (theme.px(8) if all(heights) else 0)

    def sizeHint(self) -> QSize:
        left, right = self.left.sizeHint(), self.right.sizeHint()
        return QSize(left.width() + theme.px(16) + right.width(), max(left.height(), right.height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.heightForWidth(self.width()))

    def _side_by_side(self, width: int) -> bool:
        return self.left.sizeHint().width() + theme.px(16) + self.right.sizeHint().width() <= width

    def _place(self) -> None:
        rect = self.rect()
        if self._side_by_side(rect.width()):
            left, right = self.left.sizeHint(), self.right.sizeHint()
            self._left_box.setGeometry(0, 0, left.width(), rect.height())
            self._right_box.setGeometry(rect.width() - right.width(), 0, right.width(), rect.height())
            for box, layout in ((self._left_box, self.left), (self._right_box, self.right)):
                spare = max(0, rect.height() - layout.sizeHint().height())
                layout.setGeometry(QRect(0, spare // 2, box.width(), rect.height() - spare))
            return
        pairs = [(self._left_box, self.left), (self._right_box, self.right)]
        y = 0
        for box, layout in reversed(pairs) if self._right_first else pairs:
            height = layout.heightForWidth(rect.width())
            box.setGeometry(0, y, rect.width(), height)
            y += height + (theme.px(8) if height else 0)


def inset_row(widget: QWidget, inset: int) -> QHBoxLayout:
    """A layout that holds one widget with room at its sides."""
    row = QHBoxLayout()
    row.setContentsMargins(inset, 0, inset, 0)
    row.addWidget(widget)
    return row


def free_height(widget: QWidget) -> None:
    """Undo `setFixedHeight`."""
    widget.setMinimumHeight(0)
    widget.setMaximumHeight(UNLIMITED)


class ContentScroll(QScrollArea):
    """A scroll area that wants to be as high as its content, up to a limit, and can be pressed down to a few lines.

    Attributes:
        content: the widget that is scrolled; the parent of what is added.
        column: its layout, to add to.
        limit: the most height it asks for, in pixels; None for as much as the content needs.
    """

    def __init__(self, parent: QWidget | None = None, *, least: int = 64, limit: int | None = None) -> None:
        super().__init__(parent)
        self.limit = limit
        self._sought: QWidget | None = None
        self._yielding: QWidget | None = None
        self._yields_to = 0
        self._least = least
        self.content = QWidget(self)
        self.column = QVBoxLayout(self.content)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self.content)
        self.content.installEventFilter(self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def add(self, widget: QWidget, inset: int = 0) -> None:
        """Add a widget, with room at both sides. Rows bring their own, for the focus ring; other widgets do not."""
        self.column.addLayout(inset_row(widget, inset))

    def add_yielding(self, widget: QWidget, least: int) -> None:
        """Add a widget under the rest that gets the room the rest leaves, but `least` pixels; then all of it scrolls.

        There can be one. `release` takes it out again.
        """
        self._yielding, self._yields_to = widget, least
        widget.setFixedHeight(least)
        self.column.addWidget(widget)
        self._fit()

    def release(self) -> None:
        """Take the yielding widget out of the column, if there is one; it stays a child until it is added elsewhere."""
        widget, self._yielding = self._yielding, None
        if widget is not None:
            self.column.removeWidget(widget)
            free_height(widget)
            self._fit()

    def keep_in_sight(self, widget: QWidget) -> None:
        """Scroll to a widget, also when it, or what is above it, is still about to grow."""
        self._sought = widget
        self._reveal(widget)
        QTimer.singleShot(50, self, self._look_again)

    def _look_again(self) -> None:
        sought, self._sought = self._sought, None
        if sought is not None and sought.isVisible():
            self._reveal(sought)

    def _reveal(self, widget: QWidget) -> None:
        # Not ensureWidgetVisible: of a text field that shows the line with the cursor, and cuts the rest.
        top = widget.mapTo(self.content, QPoint(0, 0)).y()
        bar, margin = self.verticalScrollBar(), theme.px(8)
        lowest = top + widget.height() + margin - self.viewport().height()
        bar.setValue(min(max(bar.value(), lowest), top - margin))

    def content_height(self) -> int:
        """How high the content would be at the present width, without a limit."""
        layout = self.column
        width = self.viewport().width()
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
        return height + self._yielded()

    def _yielded(self) -> int:
        """How much lower the yielding widget is than it would like to be."""
        widget = self._yielding
        if widget is None:
            return 0
        width = self.viewport().width()
        wanted = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        return max(wanted, self._yields_to) - widget.maximumHeight()

    def sizeHint(self) -> QSize:
        height = self.content_height()
        return QSize(theme.px(400), min(height, self.limit) if self.limit is not None else height)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(120), min(self._least, self.content_height()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        handled = super().eventFilter(watched, event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Only whole pages are scrolled by keys; arrows belong to the rows and to the dialog."""
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def _fit(self) -> None:
        # Not setWidgetResizable: it takes the size hints of wrapped text, which know no width, for its least height.
        if self._yielding is not None:
            wanted = self._yielding.maximumHeight() + self._yielded()
            left = self.viewport().height() - (self.content_height() - wanted)
            self._yielding.setFixedHeight(max(self._yields_to, min(left, wanted)))
        self.content.resize(self.viewport().width(), self.content_height() - self._yielded())
        self.updateGeometry()
        if self._sought is not None:
            self._reveal(self._sought)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.content.width() != self.viewport().width() or self._yielding is not None:
            self._fit()
