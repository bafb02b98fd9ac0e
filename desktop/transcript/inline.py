"""The words inside one Markdown block: plain text plus spans that say how parts of it look.

No Qt and no HTML here. What a model writes becomes text; a span can only make it bold, italic, struck, monospace or a
link, so nothing it writes can load, run or imitate a part of the interface.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

BOLD, ITALIC, STRIKE, CODE, LINK, SOFT = 1, 2, 4, 8, 16, 32
"""Flags of `Span.style`, joined with `|`."""

LinkKind = Literal["web", "file", "none"]
_WEB_SCHEMES = frozenset({"http", "https", "mailto"})
_BARE_URL = re.compile(r"https?://[^\s<>\"'`]+")
_CONTROL = re.compile(r"[\x00-\x1f]")
_TRAILING = ".,;:!?*_~"


class Span(NamedTuple):
    """A part of a text: `start` and `length` in UTF-16 code units, as Qt counts; `href` of a link, else ""."""

    start: int
    length: int
    style: int
    href: str


@dataclass(frozen=True, slots=True)
class Inline:
    """A paragraph's text and its spans, which never overlap and are in order. Line breaks are `\\n`."""

    text: str = ""
    spans: tuple[Span, ...] = ()


def utf16_length(text: str) -> int:
    """The length as Qt counts it: a character beyond U+FFFF is two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for character in text if character > "\uffff")


def link_kind(href: str) -> LinkKind:
    """Where a link leads: `web` opens in the browser, `file` is asked about first, `none` is not a link for us.

    Only http, https and mailto count as web. A path, or a file: address, is a file. Everything else (javascript:,
    data:, a custom scheme that starts some program) is shown as text.
    """
    href = href.strip()
    if not href or href.startswith("#") or _CONTROL.search(href):
        return "none"
    try:
        parts = urlsplit(href)
    except ValueError:
        return "none"
    scheme = parts.scheme.lower()
    if scheme in _WEB_SCHEMES:
        return "web" if scheme == "mailto" or parts.netloc else "none"
    if scheme == "file" or len(scheme) == 1:  # one letter is a Windows drive
        return "file"
    # A `//host/share` address would make Windows sign in to a stranger's server as soon as it is touched.
    return "none" if scheme or parts.netloc or href.startswith(("\\\\", "//")) else "file"


def link_path(href: str) -> str:
    """The path that a `file` link means, with percent signs decoded."""
    return unquote(urlsplit(href).path) if href.lower().startswith("file:") else unquote(href)


class _Writer:
    """Collects text and spans."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.spans: list[Span] = []
        self.length = 0

    def add(self, text: str, style: int = 0, href: str = "") -> None:
        length = utf16_length(text)
        if style:
            last = self.spans[-1] if self.spans else None
            if last and last.start + last.length == self.length and last.style == style and last.href == href:
                self.spans[-1] = Span(last.start, last.length + length, style, href)
            else:
                self.spans.append(Span(self.length, length, style, href))
        self.parts.append(text)
        self.length += length

    def add_linked(self, text: str, style: int) -> None:
        """Text in which bare web addresses become links."""
        at = 0
        if "://" in text:
            for match in _BARE_URL.finditer(text):
                address = _trimmed(match.group())
                if link_kind(address) != "web":
                    continue
                self.add(text[at : match.start()], style)
                self.add(address, style | LINK, address)
                at = match.start() + len(address)
        if at < len(text):
            self.add(text[at:], style)

    def done(self) -> Inline:
        return Inline("".join(self.parts), tuple(self.spans))


def _trimmed(address: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    while address and (address[-1] in _TRAILING or (address[-1] == ")" and address.count("(") < address.count(")"))):
        address = address[:-1]
    return address


def inline_from_tokens(tokens: Sequence[Token] | None) -> Inline:
    """The text and spans of the children of markdown-it's `inline` token."""
    writer = _Writer()
    style, hrefs = 0, [""]
    flags = {"strong": BOLD, "em": ITALIC, "s": STRIKE}
    for token in tokens or ():
        kind = token.type
        if kind == "text":
            if style & LINK:
                writer.add(token.content, style, hrefs[-1])
            else:
                writer.add_linked(token.content, style)
        elif kind in ("softbreak", "hardbreak"):
            writer.add("\n", style, hrefs[-1] if style & LINK else "")
        elif kind == "code_inline":
            writer.add(token.content, style | CODE, hrefs[-1] if style & LINK else "")
        elif kind == "link_open":
            href = str(token.attrs.get("href", ""))
            hrefs.append(href)
            style = style | LINK if link_kind(href) != "none" else style & ~LINK
        elif kind == "link_close":
            href = hrefs.pop()
            if not style & LINK and href:
                writer.add(f" ({href})", SOFT)  # not a link for us, but nothing that was written is hidden
            style &= ~LINK
        elif kind == "image":
            _add_image(writer, token, style)
        elif kind[-5:] == "_open" and kind[:-5] in flags:
            style |= flags[kind[:-5]]
        elif kind[-6:] == "_close" and kind[:-6] in flags:
            style &= ~flags[kind[:-6]]
        else:
            writer.add(token.content, style)
    return writer.done()


def _add_image(writer: _Writer, token: Token, style: int) -> None:
    """An image is never loaded: its description stands there, as a link to where it is."""
    source = str(token.attrs.get("src", ""))
    words = inline_from_tokens(token.children).text or source
    kind = link_kind(source)
    if kind == "none":
        writer.add(f"[{words}] ({source})", style & ~LINK | SOFT)
    else:
        writer.add(f"[{words}]", style | LINK, source)
