"""Draws `icons/handraise.svg` in every format that a desktop wants; the results are committed beside it.

    python resources/tools/make_icons.py

Needs Pillow (for `.ico` and `.icns`), which is no dependency of the app. Run it again after a change of the drawing.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parents[1] / "icons"
DRAWING = ICONS / "handraise.svg"
PNG_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
ICNS_SIZES = (16, 32, 64, 128, 256, 512, 1024)


def drawn(size: int) -> Image.Image:
    """The drawing as a picture of `size` by `size` pixels, rendered at that size and not scaled down."""
    picture = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(0)
    painter = QPainter(picture)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return Image.open(io.BytesIO(bytes(buffer.data().data()))).convert("RGBA")


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication([])
    pictures = {size: drawn(size) for size in {*PNG_SIZES, *ICO_SIZES, *ICNS_SIZES}}
    for size in PNG_SIZES:
        pictures[size].save(ICONS / f"handraise-{size}.png", optimize=True)
    for name, sizes in (("handraise.ico", ICO_SIZES), ("handraise.icns", ICNS_SIZES)):
        *others, largest = (pictures[size] for size in sizes)
        largest.save(ICONS / name, sizes=[(size, size) for size in sizes], append_images=others)
    del application


if __name__ == "__main__":
    main()
