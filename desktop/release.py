"""What GitHub says of the newest release, as far as it can be believed. Pure: bytes in, a release out."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

PROJECT = "handraise/handraise"
ADDRESS = f"https://api.github.com/repos/{PROJECT}/releases/latest"
"""Where is asked."""
PAGES = f"https://github.com/{PROJECT}/releases"
"""Where a person can read about releases and fetch them. Links to anywhere else are not shown."""
MOST_BYTES = 512 * 1024
"""An answer that is longer is none."""

_PAGE = re.compile(re.escape(PAGES) + r"(?:/[A-Za-z0-9._+-]+)*")
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")
_MOST_LINES = 30
_MOST_LETTERS = 3000


class OddAnswerError(ValueError):
    """This is no answer about a release; the text says why, for the log."""


@dataclass(frozen=True)
class Release:
    """A release.

    Attributes:
        version: without a `v`.
        page: an https address below `PAGES`.
        news: what is new, as plain text of a few lines; "" where nothing is said.
    """

    version: str
    page: str
    news: str


def newer_release(data: bytes, current: str) -> Release | None:
    """The release in an answer of GitHub's, None where it is not newer than `current`.

    Raises:
        OddAnswerError: the answer is something else.
    """
    if len(data) > MOST_BYTES:
        raise OddAnswerError(f"it is longer than {MOST_BYTES} bytes")
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise OddAnswerError(f"it is no JSON: {error}") from error
    if not isinstance(answer, dict):
        raise OddAnswerError("it is no JSON object")
    tag = answer.get("tag_name")
    found = _VERSION.fullmatch(tag) if isinstance(tag, str) else None
    if found is None:
        raise OddAnswerError("it names no version")
    if answer.get("draft") or answer.get("prerelease") or not is_newer(found[0], current):
        return None
    return Release(found[0].removeprefix("v"), _page(answer.get("html_url")), _news(answer.get("body")))


def is_newer(version: str, current: str) -> bool:
    """Whether `version` comes after `current`; a development version comes before the release of its number."""
    theirs, ours = _VERSION.match(version), _VERSION.match(current)
    if theirs is None or ours is None:
        return False
    if _numbers(theirs) == _numbers(ours):
        return ours.end() < len(current) and theirs.end() == len(version)
    return _numbers(theirs) > _numbers(ours)


def _numbers(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(number or 0) for number in found.groups())


def _page(address: Any) -> str:
    return address if isinstance(address, str) and _PAGE.fullmatch(address) else PAGES


def _news(body: Any) -> str:
    """The beginning of the notes, without anything that could hide or turn round what it stands beside."""
    if not isinstance(body, str):
        return ""
    text = "".join(
        letter for letter in body[: 4 * _MOST_LETTERS] if letter == "\n" or unicodedata.category(letter)[0] != "C"
    ).strip()
    lines = text[:_MOST_LETTERS].split("\n")
    cut = len(lines) > _MOST_LINES or len(text) > _MOST_LETTERS
    return "\n".join(line.rstrip() for line in lines[:_MOST_LINES]) + ("\n…" if cut else "")
