"""The row of what goes with a message: thumbnails and long pasted texts, each with its own way out."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from desktop import theme
from desktop.composer.attachments import Image
from desktop.translations import format_count, tr
from desktop.widgets import button, plain_label, set_role

THUMBNAIL = 40


class AttachmentsBar(QWidget):
    """Attached pictures and texts, in the order in which they came.

    Attributes:
        images: the pictures.
        texts: the long pasted texts.

    Signals:
        changed: one was added or removed.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attachments")
        self.images: list[Image] = []
        self.texts: list[str] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._row.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def add_image(self, image: Image) -> None:
        self.images.append(image)
        self._rebuild()

    def add_text(self, text: str) -> None:
        self.texts.append(text)
        self._rebuild()

    def clear(self) -> None:
        if self.images or self.texts:
            self.images, self.texts = [], []
            self._rebuild()

    def _remove_image(self, image: Image) -> None:
        self.images = [one for one in self.images if one is not image]
        self._rebuild()

    def _remove_text(self, text: str) -> None:
        self.texts = [one for one in self.texts if one is not text]
        self._rebuild()

    def _rebuild(self) -> None:
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for image in self.images:
            self._row.addWidget(self._image_chip(image))
        for text in self.texts:
            self._row.addWidget(self._text_chip(text))
        self.setVisible(bool(self.images or self.texts))
        self.changed.emit()

    def _image_chip(self, image: Image) -> QWidget:
        name = image.name or tr("Picture")
        chip, row = self._chip()
        picture = plain_label()
        pixmap = QPixmap()
        if pixmap.loadFromData(image.data):
            size = QSize(theme.px(THUMBNAIL), theme.px(THUMBNAIL))
            picture.setPixmap(pixmap.scaled(size, Qt.AspectRatioMode.KeepAspectRatio,
                                            Qt.TransformationMode.SmoothTransformation))  # fmt: skip
        else:
            picture.setText(name)
        picture.setAccessibleName(name)
        picture.setToolTip(name)
        row.insertWidget(0, picture)
        remove = self._remove_button(tr("Remove the picture “{name}”", name=name))
        remove.clicked.connect(lambda: self._remove_image(image))
        row.addWidget(remove)
        return chip

    def _text_chip(self, text: str) -> QWidget:
        chip, row = self._chip()
        lines = text.count("\n") + 1
        size = tr("Pasted text, {size} characters, {lines} lines",
                  size=format_count(len(text)), lines=format_count(lines))  # fmt: skip
        label = plain_label(size, "soft")
        label.setToolTip(tr("It is sent after what is in the field. It begins: {text}", text=text[:200]))
        row.insertWidget(0, label)
        remove = self._remove_button(tr("Remove the pasted text"))
        remove.clicked.connect(lambda: self._remove_text(text))
        row.addWidget(remove)
        return chip

    def _chip(self) -> tuple[QFrame, QHBoxLayout]:
        chip = QFrame(self)
        set_role(chip, "code")
        row = QHBoxLayout(chip)
        row.setContentsMargins(6, 4, 4, 4)
        row.setSpacing(4)
        return chip, row

    def _remove_button(self, words: str) -> QPushButton:
        remove = button("×", "", "quiet")
        remove.setFixedSize(theme.px(26), theme.px(26))
        remove.setStyleSheet("padding: 0; min-height: 0;")
        remove.setToolTip(words)
        remove.setAccessibleName(words)
        return remove
