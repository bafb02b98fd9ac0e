"""Draws `icons/handraise.svg` in every format that a desktop wants; the results are committed beside it.

    python resources/tools/make_icons.py

Needs Pillow (for `.ico` and `.icns`), which is no dependency of the app. Run it again after a change of the drawing.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parents[1] / "icons"
DRAWING = ICONS / "handraise.svg"
PNG_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
ICNS_SIZES = (32, 64, 128, 256, 512, 1024)
ICNS_SMALL = {b"ic04": 16, b"ic05": 32}
"""The two for old screens, which Pillow does not write."""


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


def parts(icns: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The pictures of an `.icns` file, each with its four letters; not its table of contents, which is no duty."""
    at = 8
    while at < len(icns):
        kind, length = struct.unpack_from(">4sI", icns, at)
        if kind != b"TOC ":
            yield kind, icns[at + 8 : at + length]
        at += length


def argb(picture: Image.Image) -> bytes:
    """A small picture as macOS' own `iconutil` writes it, since an app's icon shows no PNG of these sizes.

    The four letters, then each channel as runs: a byte N below 128, and N + 1 bytes as they are. The format also has
    runs of one repeated byte, which would save some 2 KB. https://en.wikipedia.org/wiki/Apple_Icon_Image_format
    """
    red, green, blue, alpha = (channel.tobytes() for channel in picture.split())
    runs = b""
    for channel in (alpha, red, green, blue):
        for at in range(0, len(channel), 128):
            run = channel[at : at + 128]
            runs += bytes([len(run) - 1]) + run
    return b"ARGB" + runs


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication([])
    pictures = {size: drawn(size) for size in {*PNG_SIZES, *ICO_SIZES, *ICNS_SIZES, *ICNS_SMALL.values()}}
    for size in PNG_SIZES:
        pictures[size].save(ICONS / f"handraise-{size}.png", optimize=True)
    for name, sizes in (("handraise.ico", ICO_SIZES), ("handraise.icns", ICNS_SIZES)):
        *others, largest = (pictures[size] for size in sizes)
        largest.save(ICONS / name, sizes=[(size, size) for size in sizes], append_images=others)
    icns = ICONS / "handraise.icns"
    entries = [(kind, argb(pictures[size])) for kind, size in ICNS_SMALL.items()] + list(parts(icns.read_bytes()))
    body = b"".join(struct.pack(">4sI", kind, len(data) + 8) + data for kind, data in entries)
    icns.write_bytes(struct.pack(">4sI", b"icns", len(body) + 8) + body)
    del application


if __name__ == "__main__":
    main()
