"""Thumbnails of pictures in messages, read on other threads."""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from contextlib import suppress

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRunnable, QSize, Qt, QThreadPool, Signal
from PySide6.QtGui import QImage, QImageReader

from protocol.messages import ImageBlock

SIDE = 480
"""Longest side of a thumbnail in pixels: twice what is shown, for dense screens."""
KEPT = 60
_FORMATS = {"image/png": b"png", "image/jpeg": b"jpeg", "image/gif": b"gif", "image/webp": b"webp"}


class _Bridge(QObject):
    """Signals: `ready` with a key and the picture, null if it cannot be read."""

    ready = Signal(object, QImage)


class _Job(QRunnable):
    """Reads one picture."""

    def __init__(self, key: int, image: ImageBlock, bridge: _Bridge) -> None:
        super().__init__()
        self.setAutoDelete(False)  # Python owns it: `Pictures` keeps it until it has run
        self._key, self._image, self._bridge = key, image, bridge

    def run(self) -> None:
        image = read_thumbnail(self._image)
        with suppress(RuntimeError):  # the window may have been closed meanwhile, and the bridge with it
            self._bridge.ready.emit(self._key, image)


def read_thumbnail(block: ImageBlock) -> QImage:
    """A picture from its base64, scaled down; null if it cannot be read. Only the four formats of the API are tried."""
    kind = _FORMATS.get(block.media_type)
    if kind is None:
        return QImage()
    try:
        data = base64.b64decode(block.data)
    except (binascii.Error, ValueError):
        return QImage()
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind))
    size = reader.size()
    if size.isValid() and max(size.width(), size.height()) > SIDE:
        reader.setScaledSize(size.scaled(QSize(SIDE, SIDE), Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()


class Pictures(QObject):
    """Signals: `changed` when a thumbnail that was asked for can be painted."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._images: OrderedDict[int, tuple[ImageBlock, QImage | None]] = OrderedDict()
        self._jobs: dict[int, _Job] = {}
        self._bridge = _Bridge(self)
        self._bridge.ready.connect(self._take)

    def get(self, block: ImageBlock) -> QImage | None:
        """The thumbnail; None while it is being read."""
        key = id(block)
        found = self._images.get(key)
        if found is not None and found[0] is block:
            self._images.move_to_end(key)
            return found[1]
        self._images[key] = (block, None)
        while len(self._images) > KEPT:
            self._images.popitem(last=False)
        job = self._jobs[key] = _Job(key, block, self._bridge)
        QThreadPool.globalInstance().start(job)
        return None

    def _take(self, key: int, image: QImage) -> None:
        self._jobs.pop(key, None)
        found = self._images.get(key)
        if found is not None:
            self._images[key] = (found[0], image)
            self.changed.emit()
