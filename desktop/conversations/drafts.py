"""What a person typed and nobody has received yet, on the disk, so that no crash can take it.

One JSON file a conversation, replaced in one step; pictures lie beside them, named by their content. The files of a
run that ended well and left nothing unsent are removed, so what is found at the next start is what was lost.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from desktop.composer.attachments import Image
from desktop.files import remove_quietly, set_aside, write_atomically
from protocol.conversation import UserItem
from protocol.requests import image_block, text_block

log = logging.getLogger("handraise.drafts")


class KeptImage(BaseModel):
    """A picture of a draft; its bytes are in a file of their own."""

    digest: str = Field(pattern=r"^[0-9a-f]{32}$")
    media_type: str
    name: str = ""


class Outgoing(BaseModel):
    """A message on its way to Claude.

    Attributes:
        uuid: its id on the wire.
        state: "waiting" until it is written to the CLI, "sent" until the CLI has shown that it read it.
    """

    uuid: str = Field(default_factory=lambda: str(uuid.uuid4()))
    text: str = ""
    images: list[KeptImage] = Field(default_factory=list)
    state: Literal["waiting", "sent"] = "waiting"


class Draft(BaseModel):
    """Everything of a conversation that would be lost with the program.

    Attributes:
        key: the conversation's, stable over restarts; also the file's name.
        session_id: what `--resume` would continue, "" for a conversation that Claude has not saved.
        text, images: the composer's content.
        typed: what stands in open dialogs, by request id.
        recovered: texts that lost their place and wait to be taken up.
        outgoing: messages that are not proved as received, oldest first.
    """

    model_config = ConfigDict(extra="ignore")

    key: str = Field(pattern=r"^[0-9a-f]{32}$")
    folder: str = ""
    session_id: str = ""
    title: str = ""
    text: str = ""
    images: list[KeptImage] = Field(default_factory=list)
    typed: dict[str, str] = Field(default_factory=dict)
    recovered: list[str] = Field(default_factory=list)
    outgoing: list[Outgoing] = Field(default_factory=list)
    saved_at: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost."""
        typed = any(text.strip() for text in self.typed.values())
        return not (self.text.strip() or self.images or typed or self.recovered or self.outgoing)

    def all_images(self) -> Iterable[KeptImage]:
        yield from self.images
        for message in self.outgoing:
            yield from message.images


def new_key() -> str:
    """A key for a new conversation."""
    return uuid.uuid4().hex


class DraftStore:
    """The folder of the drafts. One program at a time writes it (the single instance sees to that).

    Attributes:
        problem: why the last save failed, "" when it worked. The caller tells the person once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = ""
        self._stored: set[str] = set()
        self._unstored: dict[str, Image] = {}  # what the disk did not take: still there for this run

    def keep_image(self, image: Image) -> KeptImage:
        """Put a picture's bytes on the disk, once; returns what a draft holds of it."""
        kept = KeptImage(digest=image.digest, media_type=image.media_type, name=image.name)
        if kept.digest not in self._stored:
            self._unstored[kept.digest] = image
            self._store(kept.digest)
        return kept

    def _store(self, digest: str) -> bool:
        image = self._unstored.get(digest)
        if image is None:
            return True
        path = self._image_path(digest)
        try:
            if not path.exists():
                write_atomically(path, base64.b64encode(image.data).decode("ascii"))
        except OSError as error:
            self._failed(error)
            return False
        self._stored.add(digest)
        del self._unstored[digest]
        return True

    def read_image(self, kept: KeptImage) -> Image | None:
        """A kept picture, or None when its file is gone or damaged."""
        unstored = self._unstored.get(kept.digest)
        if unstored is not None:
            return unstored
        try:
            data = base64.b64decode(self._image_path(kept.digest).read_bytes(), validate=True)
        except (OSError, ValueError):
            return None
        return Image(data, kept.media_type, kept.name)

    def save(self, draft: Draft) -> bool:
        """Write a draft with its pictures, or remove its file when it holds nothing.

        Returns False (and sets `problem`) on failure.
        """
        self.problem = ""
        if draft.is_empty:
            self.remove(draft.key)
            return True
        draft.saved_at = time.time()
        # Not pydantic's own JSON: it refuses half an emoji, which a title or the name of a folder can hold.
        text = json.dumps(draft.model_dump(), indent=1)
        try:
            write_atomically(self._path(draft.key), text)
        except OSError as error:
            self._failed(error)
            return False
        return all(self._store(image.digest) for image in draft.all_images())

    def remove(self, key: str) -> None:
        """Forget a conversation's draft."""
        remove_quietly(self._path(key))

    def load(self) -> list[Draft]:
        """All drafts, oldest first. A damaged file is kept aside and logged; pictures nobody needs are removed."""
        drafts = []
        all_read = True
        for path in sorted(self.folder.glob("*.json")):
            try:
                draft = Draft.model_validate(json.loads(path.read_bytes()))
            except (ValidationError, ValueError, RecursionError) as error:
                log.warning("A draft could not be read and was kept as %s: %s", set_aside(path), _what_is_wrong(error))
                all_read = False
                continue
            except OSError as error:
                log.warning("A draft could not be read: %s", error)
                all_read = False
                continue
            if not draft.is_empty:
                drafts.append(draft)
        if all_read:  # else a picture that seems to be nobody's may be one of theirs
            self._sweep(drafts)
        return sorted(drafts, key=lambda draft: draft.saved_at)

    def _sweep(self, drafts: list[Draft]) -> None:
        wanted = {image.digest for draft in drafts for image in draft.all_images()}
        for path in self.folder.glob("*.image"):
            if path.stem not in wanted:
                remove_quietly(path)
        for path in self.folder.glob(".*.new"):
            with contextlib.suppress(OSError):
                # The leavings of a write that was killed half-way.
                if time.time() - path.stat().st_mtime > 60:
                    path.unlink()

    def _failed(self, error: OSError) -> None:
        self.problem = error.strerror or str(error)
        log.warning("A draft could not be saved: %s", error)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _image_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.image"


def _what_is_wrong(error: Exception) -> str:
    """For the log: without the person's words, which the error itself quotes."""
    if not isinstance(error, ValidationError):
        return str(error)
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems)


def images_of(message: UserItem) -> list[Image]:
    """The pictures of a message that was sent, to be attached anew."""
    found = []
    for block in message.images:
        with contextlib.suppress(ValueError):
            found.append(Image(base64.b64decode(block.data, validate=True), block.media_type))
    return found


def content_blocks(text: str, images: Iterable[Image]) -> str | list[dict[str, object]]:
    """The content of a user message: the text alone, or blocks when there are pictures."""
    pictures = [image_block(image.data, image.media_type) for image in images]
    if not pictures:
        return text
    return [*pictures, text_block(text)] if text.strip() else pictures
