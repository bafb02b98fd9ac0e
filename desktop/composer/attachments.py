"""Pictures and long pasted texts that go with a message: what is taken, and what is refused in words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageWriter

from desktop.sentences import Sentence, sentence

MAX_ENCODED_BYTES = 5 * 1024 * 1024
"""The Messages API refuses a picture whose base64 text is longer than this."""
MAX_IMAGE_BYTES = MAX_ENCODED_BYTES // 4 * 3
MAX_IMAGES = 20
"""Pictures in one message; above this number the API also lowers the size of each."""
MAX_SIDE = 8000
"""Pixels; the API refuses a picture that is wider or higher."""

LONG_TEXT = 20_000
LONG_LINE = 4_000
"""Characters. Qt lays a line out anew at each key, and one of 1,000,000 characters stops the window for a minute,
so a longer paste becomes an attachment of the message instead of text in the field."""


@dataclass(frozen=True)
class Image:
    """A picture that will be sent.

    Attributes:
        data: the file as it is.
        media_type: one of the four that the API takes.
        name: what the person sees; a file name or "".
    """

    data: bytes
    media_type: str
    name: str = ""

    @cached_property
    def digest(self) -> str:
        """Names the picture's content, for the file that keeps it with the draft."""
        return hashlib.sha256(self.data).hexdigest()[:32]


def media_type_of(data: bytes) -> str | None:
    """The picture's media type by its first bytes, whatever its name says; None for what the API does not take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def check_image(data: bytes, name: str, already: int = 0) -> Image | Sentence:
    """A picture that can be sent, or the sentence that says why not and what to do.

    Args:
        data: the file's bytes.
        name: what to call it in the sentence.
        already: how many pictures the message has.
    """
    if already >= MAX_IMAGES:
        return sentence("A message takes up to {count} pictures. Send these first.", count=MAX_IMAGES)
    media_type = media_type_of(data)
    if media_type is None:
        return sentence(
            "“{name}” is not a PNG, JPEG, GIF or WebP picture, which are the kinds Claude takes. Convert it first.",
            name=name,
        )
    if len(data) > MAX_IMAGE_BYTES:
        return sentence(
            "“{name}” is {size} MB. Claude takes pictures up to {limit} MB: make it smaller and add it again.",
            name=name, size=_megabytes(len(data)), limit=_megabytes(MAX_IMAGE_BYTES),
        )  # fmt: skip
    return Image(data, media_type, name)


def image_file(path: Path, already: int = 0) -> Image | Sentence:
    """A picture from a file. Raises nothing: what cannot be read is a sentence."""
    try:
        if path.stat().st_size > 64 * MAX_IMAGE_BYTES:
            data = b"\x89PNG\r\n\x1a\n".ljust(MAX_IMAGE_BYTES + 1)
        else:
            data = path.read_bytes()
    except OSError as error:
        return sentence("“{name}” could not be read: {reason}.", name=path.name, reason=error.strerror or error)
    return check_image(data, path.name, already)


def clipboard_image(image: QImage, already: int = 0) -> Image | Sentence:
    """A picture from the clipboard, which has no file: as PNG, or as JPEG where the PNG would be too large."""
    if max(image.width(), image.height()) > MAX_SIDE:
        return sentence("The picture is wider or higher than {side} pixels: make it smaller first.", side=MAX_SIDE)
    data = _encode(image, "PNG", 80)
    if len(data) > MAX_IMAGE_BYTES:
        data = _encode(image, "JPEG", 90)
    return check_image(data, "clipboard.png" if data[:1] == b"\x89" else "clipboard.jpg", already)


def is_long(text: str) -> bool:
    """Whether a pasted text is too long for the field."""
    return len(text) > LONG_TEXT or any(len(line) > LONG_LINE for line in text.split("\n"))


def is_image_name(name: str) -> bool:
    """Whether a dropped file is meant as a picture."""
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp"))


def whole_text(typed: str, pasted: list[str]) -> str:
    """The message: what is in the field, then each long pasted text after an empty line."""
    return "\n\n".join(part for part in (typed, *pasted) if part.strip())


def _encode(image: QImage, kind: str, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind.encode()))
    writer.setQuality(quality)
    writer.write(image)
    return bytes(buffer.data().data())


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
