"""The chips of the top bar: a name, a value, and a choice or a meter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QComboBox, QSizePolicy, QWidget

from desktop import theme
from desktop.widgets import style_popup

ARROW = "▾"


@dataclass(frozen=True)
class Choice:
    """One value of a selector: what the CLI calls it, what the person reads, and more about it."""

    value: str
    words: str
    detail: str = ""


class ChipSelector(QComboBox):
    """A selector that looks like a chip: "Model Opus ▾". It shows what is in force, not what was clicked.

    Signals:
        picked(value): the person chose another value than the one in force.
    """

    picked = Signal(str)

    def __init__(self, name: str, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.label = label
        self.setAccessibleName(label)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._in_force = ""
        self._compact = False
        self._choices: list[Choice] = []
        self.activated.connect(self._on_activated)
        style_popup(self)

    def show_choices(self, choices: Sequence[Choice], in_force: str) -> None:
        """Show what can be chosen and what is in force. A value in force that is no choice is shown all the same."""
        shown = list(choices)
        if in_force and all(choice.value != in_force for choice in shown):
            shown.append(Choice(in_force, in_force))
        if shown != self._choices:
            self._choices = shown
            self.blockSignals(True)
            self.clear()
            for number, choice in enumerate(shown):
                self.addItem(choice.words, choice.value)
                self.setItemData(number, choice.detail or choice.words, Qt.ItemDataRole.ToolTipRole)
            self.blockSignals(False)
            self.updateGeometry()
        self._in_force = in_force
        self.put_back()
        self.setVisible(bool(shown))

    def put_back(self) -> None:
        """Show what is in force again."""
        index = self.findData(self._in_force)
        self.blockSignals(True)
        self.setCurrentIndex(index if index >= 0 else 0)
        self.blockSignals(False)
        current = next((choice for choice in self._choices if choice.value == self._in_force), None)
        self.setToolTip(current.detail if current is not None else "")
        self.setAccessibleDescription(self.currentText())
        self.updateGeometry()
        self.update()

    def set_compact(self, compact: bool) -> None:
        """Leave the name out, where there is little room; the value says enough."""
        self._compact = compact
        self.updateGeometry()
        self.update()

    def value(self) -> str:
        """What is in force."""
        return self._in_force

    def _on_activated(self, index: int) -> None:
        value = self.itemData(index)
        if isinstance(value, str) and value != self._in_force:
            self.picked.emit(value)

    def sizeHint(self) -> QSize:
        text = f"{'' if self._compact else self.label}{self.currentText()} {ARROW}"
        return QSize(chip_metrics().horizontalAdvance(text) + theme.px(30), theme.px(27))

    def minimumSizeHint(self) -> QSize:
        shortest = f"{'' if self._compact else self.label} {ARROW}"
        return QSize(chip_metrics().horizontalAdvance(shortest) + theme.px(50), theme.px(27))

    def showPopup(self) -> None:
        # The chip may be narrower than what there is to choose.
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + theme.px(16))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        # A wheel that passes over must not change the model.
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_chip(painter, self.rect(), focused=self.hasFocus())
        area = self.rect().adjusted(theme.px(10), 0, -theme.px(9), 0)
        if not self._compact:
            area = paint_label(painter, area, self.label)
        painter.setPen(theme.role("text" if self.isEnabled() else "soft"))
        text = painter.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, area.width() - theme.px(14)
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, f"{text} {ARROW}")


class ChipButton(QAbstractButton):
    """A button that looks like a chip: "Folder billing-service"."""

    def __init__(self, name: str, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._label = label
        self._compact = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_value(self, value: str) -> None:
        """Show what is in force."""
        self.setText(value)
        self.setAccessibleName(f"{self._label} {value}")
        self.updateGeometry()
        self.update()

    def set_compact(self, compact: bool) -> None:
        """Leave the name out, where there is little room."""
        self._compact = compact
        self.updateGeometry()
        self.update()

    def _shown_label(self) -> str:
        return "" if self._compact else self._label

    def sizeHint(self) -> QSize:
        width = chip_metrics().horizontalAdvance(f"{self._shown_label()}{self.text()}")
        return QSize(width + theme.px(28), theme.px(27))

    def minimumSizeHint(self) -> QSize:
        return QSize(chip_metrics().horizontalAdvance(self._shown_label()) + theme.px(60), theme.px(27))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_chip(painter, self.rect(), focused=self.hasFocus())
        area = self.rect().adjusted(theme.px(10), 0, -theme.px(10), 0)
        if not self._compact:
            area = paint_label(painter, area, self._label)
        painter.setPen(theme.role("text"))
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, area.width() + 1)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class ContextMeter(QWidget):
    """How full the context window is, as a bar and a number."""

    def __init__(self, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextMeter")
        self._label = label
        self._percent: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_percent(self, percent: int | None, words: str) -> None:
        """Show a share of 0 to 100, or nothing while it is unknown. `words` say it for screen readers."""
        self.setVisible(percent is not None)
        self._percent = percent
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        width = chip_metrics().horizontalAdvance(f"{self._label}100 %") + theme.px(98)
        return QSize(width, theme.px(27))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._percent is None:
            return
        painter = QPainter(self)
        paint_chip(painter, self.rect(), focused=False)
        area = paint_label(painter, self.rect().adjusted(theme.px(10), 0, -theme.px(10), 0), self._label)
        bar = QRectF(area.left(), area.center().y() - theme.px(2), theme.px(64), theme.px(6))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.role("line"))
        painter.drawRoundedRect(bar, 3, 3)
        colour = "bad" if self._percent >= 90 else "careful" if self._percent >= 75 else "accent"
        painter.setBrush(theme.role(colour))
        painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * self._percent / 100, bar.height()), 3, 3)
        painter.setPen(theme.role("text"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{self._percent} %")


def chip_metrics() -> QFontMetrics:
    """The measures of the chips' font."""
    return QFontMetrics(theme.text_font(theme.SECONDARY_SIZE))


def paint_chip(painter: QPainter, rect: QRect, *, focused: bool) -> None:
    """A chip's ground."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(theme.text_font(theme.SECONDARY_SIZE))
    painter.setPen(QPen(theme.role("accent"), 2) if focused else QPen(theme.role("line"), 1))
    painter.setBrush(theme.role("card"))
    inset = 1.0 if focused else 0.5
    painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), 8, 8)


def paint_label(painter: QPainter, area: QRect, label: str) -> QRect:
    """A chip's name in the soft colour; returns the area that is left for its value."""
    painter.setPen(theme.role("soft"))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
    return area.adjusted(painter.fontMetrics().horizontalAdvance(label) + theme.px(6), 0, 0, 0)
