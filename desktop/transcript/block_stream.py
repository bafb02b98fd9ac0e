"""Markdown that arrives in pieces: blocks that will not change any more, plus a short tail that may.

Only the tail is parsed again when more arrives. A block is settled once a complete line after it shows that it has
ended; a very long one is settled in chunks. Where a cut goes through a block, `Resume` puts the parser back into the
same place. However the text is cut on its way, the blocks come out the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.token import Token

from desktop.transcript.blocks import (
    Block,
    Leaf,
    References,
    Resume,
    blocks_of_leaf,
    joint_of,
    leaf_cuts,
    leaves,
    parse,
    parse_on,
    reread,
)
from desktop.transcript.cuts import LIMITS, Limits, paragraph_cuts, split_code

SLICE = 1600
"""Characters that are parsed at a time at most, when much text comes at once."""

_NONE = 1 << 60
_ITEM = re.compile(r"( {0,3})([-+*]|\d{1,9}[.)])( *)(.?)")


class BlockStream:
    """Reads one message.

    Attributes:
        stable: the blocks that are settled.
        tail: the blocks of the text after them, as it is now.
    """

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.stable: list[Block] = []
        self.tail: list[Block] = []
        self._limits = limits
        self._references: References = {}
        self._rest = ""
        self._held = ""
        self._resume = Resume()
        self._seen = 0
        self._changed = _NONE

    def feed(self, text: str) -> None:
        """Take the next piece, of any size, and bring `stable` and `tail` up to date."""
        self.add(text)
        while self.step():
            pass

    def add(self, text: str) -> None:
        """Take the next piece without reading it yet; `step` reads."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        if self._held:
            text = text[:-1]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._rest += text.replace("\0", "\ufffd")

    def step(self) -> bool:
        """Read on, at most `SLICE` characters. Returns whether there is more to read."""
        size = SLICE
        while True:
            text, whole = self._slice(size)
            progress = len(text) > self._seen and self._settle(text)
            if progress or whole:
                break
            size *= 2
        if not whole:
            self.tail = []
            return True
        if progress:
            return True
        if len(text) > self._seen:
            self._define(self._resume.prefix + self._resume.glue + text)
        self._seen = len(text)
        self.tail = self._read_tail()
        return False

    def finish(self) -> None:
        """The message has ended and was read: a link definition in its last line counts without a line break too."""
        self._define(self._resume.prefix + self._resume.glue + self._rest)

    @property
    def waiting(self) -> int:
        """Characters that were added and are not settled."""
        return len(self._rest)

    def take_changes(self) -> int:
        """The first settled block that had to be read again since the last call; a very large number for none."""
        changed, self._changed = self._changed, _NONE
        return changed

    def blocks(self) -> list[Block]:
        """All blocks, settled or not."""
        return [*self.stable, *self.tail]

    def _slice(self, size: int) -> tuple[str, bool]:
        """The next complete lines to read, and whether they are all there are.

        A line that is not complete counts only when it is very long: until then its next character could change
        what it is.
        """
        rest = self._rest
        if len(rest) > size:
            end = rest.rfind("\n", 0, size) + 1
            return rest[: end or max(size, self._limits.paragraph + 200)], False
        end = rest.rfind("\n") + 1
        partial = len(rest) - end
        if partial > min(self._limits.paragraph, self._limits.code_chars) + 80:
            return rest, True
        return rest[:end], True

    def _read_tail(self) -> list[Block]:
        references = dict(self._references)
        found = list(leaves(parse_on(self._resume, self._rest, references, self._limits), self._resume))
        return self._make(found, references)

    def _make(self, found: Sequence[Leaf], references: References) -> list[Block]:
        """Blocks of leaves that begin at the resumed place."""
        made: list[Block] = []
        for number, leaf in enumerate(found[self._resume.skip :]):
            first = self._resume if number == 0 else None
            made += blocks_of_leaf(leaf, references, self._limits, first)
        return made

    def _settle(self, text: str) -> bool:
        """Settle what is sure in these complete lines. Returns whether anything was."""
        source = self._resume.prefix + self._resume.glue + text
        found = list(leaves(parse_on(self._resume, text, dict(self._references), self._limits), self._resume))
        if len(found) <= self._resume.skip:
            return False
        reader = _Source(source, found, self._limits, self._resume)
        cut = reader.inside()
        inside = cut is not None
        cut = cut or reader.before(len(found) - 1, self._resume.skip)
        if cut is None:
            return False
        offset, keep, resume = cut
        if inside and len(found) - 1 == self._resume.skip:
            resume.part += self._resume.part
        taken = offset - len(self._resume.prefix) - len(self._resume.glue)
        if taken <= 0 or not self._fits(resume, text[taken:], found[-1]):
            return False
        self._define(source[:offset])
        made = self._make(found[:keep], self._references)
        while inside and made and made[-1].part >= resume.part:
            made.pop()  # the last chunk is the one that may grow
        self.stable += made
        self._rest = self._rest[taken:]
        self._resume = resume
        self._seen = 0
        return True

    def _fits(self, resume: Resume, rest: str, last: Leaf) -> bool:
        """Whether the parser comes back to the same place. An exotic container is better read again than wrong."""
        if not (resume.prefix or resume.glue or resume.part) and rest[:1] not in " \t":
            return True
        found = list(leaves(parse_on(resume, rest, {}, self._limits), resume))
        if len(found) <= resume.skip:
            return False
        leaf = found[resume.skip]
        return leaf.path == last.path and leaf.kind == last.kind and bool(leaf.markers) == (
            bool(last.markers) and not resume.part
        )

    def _define(self, settled: str) -> None:
        """Learn the link definitions in settled text, and read blocks again that used them before."""
        if "]:" not in settled:
            return
        known = set(self._references)
        parse(settled, self._references, self._limits)
        fresh = [label.lower() for label in self._references if label not in known]
        if not fresh:
            return
        for index, block in enumerate(self.stable):
            texts = [block.source, *(cell for row in block.cells for cell in row)]
            if any("[" in text for text in texts):
                again = reread(block, self._references)
                if again != block:
                    self.stable[index] = again
                    self._changed = min(self._changed, index)


class _Source:
    """A parsed text and the places where it can be cut: (offset, leaves to keep, how to go on)."""

    def __init__(self, text: str, found: list[Leaf], limits: Limits, resume: Resume) -> None:
        self._text = text
        self._rows_before = resume.rows if len(found) - 1 == resume.skip else 0
        self._found = found
        self._limits = limits
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def _line(self, number: int) -> str:
        end = self._starts[number + 1] - 1 if number + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[number] : end]

    def before(self, last: int, skip: int) -> tuple[int, int, Resume] | None:
        """The cut before the last leaf: no deeper into its containers than it takes to keep the tail short."""
        leaf = self._found[last]
        lines = sorted({*((token.map or [0])[0] for token in leaf.containers), leaf.first})
        best: tuple[int, int, Resume] | None = None
        for line in lines:
            keep = next(index for index, other in enumerate(self._found) if other.first >= line)
            if keep <= skip:
                continue
            inner = [token for token in leaf.containers if (token.map or [0])[0] < line]
            opened = [token for token in leaf.containers if (token.map or [0])[0] <= line]
            resume = self._resume_in(inner, leaf, len([token for token in opened if _is_item(token)]))
            if resume is None:
                continue
            best = (self._starts[line], keep, resume)
            if len(self._text) - self._starts[line] <= self._limits.deep:
                break
        return best

    def inside(self) -> tuple[int, int, Resume] | None:
        """The cut before the last chunk of the last leaf, when it has more than one."""
        leaf = self._found[-1]
        keep = len(self._found)
        if leaf.kind == "code":
            return self._inside_code(leaf, keep)
        if leaf.kind == "table":
            return self._inside_table(leaf, keep)
        cuts = self._word_cuts(leaf) if leaf.kind != "rule" else []
        before = leaf.token.content[: cuts[-1]] if cuts else ""
        line = leaf.first + before.count("\n")
        # A line of its own brings its containers' marks along, unless it left them out, as a lazy continuation may.
        glued = not before.endswith("\n") or self._content(leaf.containers, line) is None
        resume = self._resume_in(leaf.containers, leaf, len(leaf.items), glued=glued) if cuts else None
        if resume is None:
            return None
        resume.part, resume.words = len(cuts), True
        resume.joint = joint_of(before[len(before.rstrip(" \t\n")) :])
        offset = self._offset(leaf, cuts[-1], 0)
        return (offset, keep, resume) if offset is not None else None

    def _word_cuts(self, leaf: Leaf) -> list[int]:
        """Cuts that are sure. The last line may turn out to be a table's header, and none of the paragraph then."""
        cuts = leaf_cuts(leaf, self._limits)
        content = leaf.token.content
        begin = content.rfind("\n") + 1
        if cuts and "|" in content[begin:] and len(content[begin:].strip()) <= self._limits.paragraph:
            cuts = paragraph_cuts(content[: max(begin - 1, 0)], self._limits)
        return cuts

    def _inside_code(self, leaf: Leaf, keep: int) -> tuple[int, int, Resume] | None:
        fence = leaf.token.type == "fence"
        content = leaf.token.content
        if not fence:
            content = content.rstrip("\n")
        chunks = split_code(content, self._limits, indented=not fence)
        if len(chunks) < 2:
            return None
        start = sum(len(text) + ended for text, ended in chunks[:-1])
        middle = not chunks[-2][1]
        resume = self._resume_in(leaf.containers, leaf, len(leaf.items), glued=middle)
        if resume is None:
            return None
        if fence:
            outer = "".join(self._marks(leaf.containers, leaf.first) or ())
            resume.prefix += outer + self._fence(leaf) + "\n"
        elif middle:
            resume.glue += "    "
        resume.part, resume.joint = len(chunks) - 1, "" if middle else "\n"
        offset = self._offset(leaf, start, 1 if fence else 0)
        return (offset, keep, resume) if offset is not None else None

    def _inside_table(self, leaf: Leaf, keep: int) -> tuple[int, int, Resume] | None:
        chunks = (len(leaf.rows) - 1 - self._rows_before) // self._limits.table_rows
        if chunks < 1:
            return None
        resume = self._resume_in(leaf.containers, leaf, len(leaf.items))
        outer = self._marks(leaf.containers, leaf.first)
        head = self._content(leaf.containers, leaf.first)
        rule = self._content(leaf.containers, leaf.first + 1)
        if resume is None or outer is None or head is None or rule is None:
            return None
        resume.prefix += f"{''.join(outer)}{head}\n{''.join(outer)}{rule}\n"
        resume.part, resume.rows = chunks, 1
        line = leaf.rows[self._rows_before + chunks * self._limits.table_rows][0]
        return self._starts[line], keep, resume

    def _fence(self, leaf: Leaf) -> str:
        """The line that opens a fence, without its containers."""
        line = self._content(leaf.containers, leaf.first)
        return line if line is not None else leaf.token.markup + leaf.token.info

    def _offset(self, leaf: Leaf, at: int, lines: int) -> int | None:
        """The place in the text of a place in a leaf's content; `lines` is how many lines of it are no content.

        Counted from the end of the line, since containers take their marks from its beginning. None where the
        parser turned a tab into spaces, so that the places cannot be told.
        """
        content = leaf.token.content
        number = leaf.first + lines + content.count("\n", 0, at)
        begin = content.rfind("\n", 0, at) + 1
        if begin == at:
            return self._starts[number] if number < len(self._starts) else None
        end = content.find("\n", at)
        words = content[begin : len(content) if end < 0 else end]
        line = self._line(number)
        line = line if line.endswith(words) else line.rstrip()
        return self._starts[number] + len(line) - len(words) + at - begin if line.endswith(words) else None

    def _resume_in(
        self, containers: Sequence[Token], leaf: Leaf, items: int, *, glued: bool = False
    ) -> Resume | None:
        """How to go on inside these containers. None where their marks cannot be told from the text."""
        ordinals = leaf.items[:items]
        if not containers:
            return Resume(ordinals=ordinals)
        marks = self._marks(containers, leaf.first)
        if marks is None:
            return None
        glue = "".join(marks) if glued else ""
        if not any(_is_item(token) for token in containers):
            return Resume(glue=glue, ordinals=ordinals)
        opened = ""
        for token, mark in zip(containers, marks, strict=True):
            opened += f"{token.info}{token.markup}".ljust(len(mark)) if _is_item(token) else "> "
        blank = "".join(marks).rstrip()
        # Each item that opens gives a block of its own: the outer ones an empty one, the last one the `x`.
        return Resume(f"{opened}x\n{blank}\n", glue, ordinals, skip=sum(map(_is_item, containers)))

    def _marks(self, containers: Sequence[Token], line: int) -> list[str] | None:
        """What a line begins with to stay inside these containers, one string a container."""
        marks: list[str] = []
        for index, token in enumerate(containers):
            if not _is_item(token):
                marks.append("> ")
                continue
            first = (token.map or [0])[0]
            text = self._content(containers[:index], first)
            match = _ITEM.match(text) if text is not None else None
            if match is None:
                return None
            before, marker, after, word = match.groups()
            space = len(after) if word and 1 <= len(after) <= 4 else 1
            width = len(before) + len(marker) + space
            if word == "\t" or width - len(marker) > 4:
                return None
            marks.append(" " * width)
        return marks

    def _content(self, containers: Sequence[Token], number: int) -> str | None:
        """A line without the marks of its containers. None where they are not all there, or with tabs."""
        line = self._line(number)
        marks = self._marks(containers, number) if containers else []
        if marks is None or (containers and "\t" in line[:20]):
            return None
        for token, mark in zip(containers, marks, strict=True):
            if not _is_item(token):
                stripped = line.lstrip(" ")
                if not stripped.startswith(">"):
                    return None
                line = stripped[2:] if stripped.startswith("> ") else stripped[1:]
            elif (token.map or [0])[0] == number or not line[: len(mark)].strip():
                line = line[len(mark) :]
            else:
                return None
        return line


def _is_item(token: Token) -> bool:
    return token.type == "list_item_open"


def read_blocks(text: str, limits: Limits = LIMITS) -> list[Block]:
    """The blocks of a whole text."""
    stream = BlockStream(limits)
    stream.feed(text)
    stream.finish()
    return stream.blocks()
