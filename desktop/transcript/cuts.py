"""Where long blocks of Markdown are cut, so that no part of a text takes long to read or to lay out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD_AFTER = re.compile(r"(?<=\s)[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where long blocks are cut. All cuts depend only on what was written before them, never on when it came.

    Attributes:
        code_lines, code_chars: a chunk of code ends with the line that reaches one of them.
        table_rows: rows of a table chunk.
        paragraph: characters after which a paragraph goes on as a block of its own.
        deep: characters of unfinished text from which the cut is looked for inside quotes and list items too.
    """

    code_lines: int = 20
    code_chars: int = 1600
    table_rows: int = 12
    paragraph: int = 3000
    deep: int = 3000


LIMITS = Limits()


def split_code(text: str, limits: Limits, *, indented: bool = False) -> list[tuple[str, bool]]:
    """Code in chunks: (text without its last line break, whether a line break stood at its end).

    Each chunk depends only on the text after the chunk before it, so a chunk can be taken off the front at any time.
    """
    chunks: list[tuple[str, bool]] = []
    at, lines, start = 0, 0, 0
    while True:
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        if stop - start > limits.code_chars and at == start:
            cut = safe_cut(text, start + limits.code_chars, stop)
            if cut:
                chunks.append((text[start:cut], False))
                start = at = cut
                lines = 0
                continue
        if end < 0:
            break
        lines += 1
        at = end + 1
        full = lines >= limits.code_lines or at - start > limits.code_chars
        if full and not (indented and text[at : at + 1] in ("", "\n", " ", "\t")):
            chunks.append((text[start:end], True))
            start, lines = at, 0
    chunks.append((text[start:], True))
    return chunks


def safe_cut(text: str, at: int, stop: int) -> int:
    """The first place from `at` in one line where what follows cannot be taken for a fence or an indent. 0: none."""
    while at < stop:
        if text[at] not in " \t`~":
            return at
        at += 1
    return 0


def paragraph_cuts(content: str, limits: Limits) -> list[int]:
    """Where a very long paragraph is cut, as offsets. Each cut depends only on the text before it.

    What follows a cut begins with a letter, since the parser must not take it for a list or a heading.
    """
    cuts: list[int] = []
    start = 0
    while len(content) - start > limits.paragraph:
        window = content[start + limits.paragraph // 2 : start + limits.paragraph]
        cut = _best_cut(window)
        if not cut:
            cut = limits.paragraph - limits.paragraph // 2
            while start + limits.paragraph // 2 + cut < len(content):
                if content[start + limits.paragraph // 2 + cut].isalpha():
                    break
                cut += 1
            else:
                break
        start += limits.paragraph // 2 + cut
        cuts.append(start)
    return cuts


def _best_cut(window: str) -> int:
    """The last good place for a cut in a window: after a line, else a sentence, else a space. 0: none."""
    found = {"line": 0, "sentence": 0, "space": 0}
    for match in _WORD_AFTER.finditer(window):
        at = match.start()
        before = window[:at].rstrip(" \t")[-1:]
        kind = "line" if before == "\n" else "sentence" if before in ".!?" else "space"
        found[kind] = at
    for at in range(len(window) - 1, 0, -1):
        if window[at - 1] in "。！？" and window[at].isalpha():
            found["sentence"] = max(found["sentence"], at)
            break
    return found["line"] or found["sentence"] or found["space"]
