"""Markdown as a flat list of blocks, each of which can be laid out by itself.

A list item, a chunk of a code block or of a table is a block of its own, so that a very long list, fence or table
costs no more at a time than a short one. What contains a block (quotes, list items) is its `path`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from desktop.transcript.cuts import LIMITS, Limits, paragraph_cuts, split_code
from desktop.transcript.inline import Inline, inline_from_tokens

BlockKind = Literal["paragraph", "heading", "code", "table", "rule"]
Marker = tuple[int, str]
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_MARKED = re.compile(r"[\\`*_~\[\]<&\n]|://")


NO_WORDS = Inline()


@dataclass(frozen=True, slots=True)
class Block:
    """One block.

    Attributes:
        path: what it sits in, outermost first: `q` for a quote, `l` for a list item.
        markers: (depth in `path` from 1, text) of list items that begin here; text is "•", "3." or "☐"/"☑".
        level: 1 to 6 of a heading.
        inline, source: the words of a paragraph or heading, and the Markdown they came from.
        language, code: of a code block; `code` has no line break at its end.
        part: 0, or which continuation of a code block, table or paragraph that was cut.
        joint: for a continuation: what stood at the cut: a line break, a space or nothing.
        rows, cells: of a table, as words and as the Markdown they came from; the first row of part 0 is the header.
        aligns: of a table's columns: "left", "center", "right" or "".
    """

    kind: BlockKind
    path: str = ""
    markers: tuple[Marker, ...] = ()
    level: int = 0
    inline: Inline = NO_WORDS
    source: str = ""
    language: str = ""
    code: str = ""
    part: int = 0
    joint: str = "\n"
    rows: tuple[tuple[Inline, ...], ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    aligns: tuple[str, ...] = ()


def plain_text(blocks: Sequence[Block]) -> str:
    """What copying these blocks gives: the words as shown, code without its fences."""
    parts: list[str] = []
    previous: Block | None = None
    for block in blocks:
        if previous is not None:
            parts.append(separator(previous, block))
        parts.append(block_text(block))
        previous = block
    return "".join(parts)


def separator(previous: Block, block: Block) -> str:
    """What stands between two blocks in copied text."""
    if block.part and block.kind == previous.kind:
        return block.joint
    if block.markers and previous.path and "l" in block.path:
        return "\n"
    return "\n\n"


def block_text(block: Block) -> str:
    """One block as plain text."""
    if block.kind == "code":
        return block.code
    if block.kind == "rule":
        return "---"
    if block.kind == "table":
        return "\n".join("\t".join(cell.text for cell in row) for row in block.rows)
    indent = "  " * (block.path.count("l") - 1)
    markers = "".join(f"{text} " for _depth, text in block.markers)
    return (indent + markers if markers else "") + block.inline.text


@dataclass(slots=True)
class Resume:
    """How a text that goes on in the middle of a block is read.

    Attributes:
        prefix: lines that put the parser into the same place again.
        glue: what stands before the first line, since the cut took the containers' marks with it.
        ordinals: numbers of the first list items that open, one a list level.
        skip: how many blocks at the start only stand for the prefix.
        part: of the first block, when it is a continuation.
        joint: of the first block, when it is a continuation.
        rows: rows at the start of the first table that only stand for the prefix.
        words: whether the first block goes on with words, which then are no table's header.
    """

    prefix: str = ""
    glue: str = ""
    ordinals: tuple[int, ...] = ()
    skip: int = 0
    part: int = 0
    joint: str = "\n"
    rows: int = 0
    words: bool = False


@dataclass(slots=True)
class Leaf:
    """A block's tokens in the text, from which blocks are made: `first` to `last` are lines, as the parser counts."""

    token: Token
    kind: BlockKind
    path: str
    first: int
    last: int
    markers: tuple[Marker, ...] = ()
    containers: tuple[Token, ...] = ()
    items: tuple[int, ...] = ()
    rows: list[tuple[int, list[Token]]] = field(default_factory=list)


References = MutableMapping[str, Any]
"""Link definitions that were read so far, by label in the parser's normal form."""


def _new_parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML is text; any link target parses, `inline` judges it."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _short_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, unless its header is longer than a paragraph may be: such a line was settled as words already."""
    if start == state.env["words"]:
        return False
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    return len(line.strip()) <= state.env["longest"] and table(state, start, end, silent)


_inline_parser = _new_parser()
_block_parser = _new_parser()
_block_parser.disable(["inline"])  # words are read block by block, after long ones were cut
_block_parser.block.ruler.at("table", _short_table, {"alt": ["paragraph", "reference"]})


def parse(text: str, references: References, limits: Limits = LIMITS) -> list[Token]:
    """The block tokens of a text. Link definitions in it are added to `references`. Never raises."""
    return _block_parser.parse(text, {"references": references, "longest": limits.paragraph, "words": -1})


def parse_on(resume: Resume, text: str, references: References, limits: Limits) -> list[Token]:
    """The block tokens of a text that goes on in the middle of a block."""
    words = resume.prefix.count("\n") if resume.words else -1
    source = resume.prefix + resume.glue + text
    return _block_parser.parse(source, {"references": references, "longest": limits.paragraph, "words": words})


def parse_words(source: str, references: References) -> Inline:
    """The words of one paragraph, heading or cell."""
    if not _MARKED.search(source):
        return Inline(source.strip())
    tokens = _inline_parser.parseInline(source, {"references": references})
    return inline_from_tokens(tokens[0].children) if tokens else Inline()


def leaves(tokens: list[Token], resume: Resume) -> Iterator[Leaf]:
    """The blocks of a token stream, outermost containers opened and closed."""
    walker = _Walker(resume)
    for token in tokens:
        yield from walker.feed(token)


class _Walker:
    """Keeps what is open while tokens go by."""

    def __init__(self, resume: Resume) -> None:
        self.containers: list[Token] = []
        self.path = ""
        self.lists: list[list[int]] = []
        self.ordinals = list(resume.ordinals)
        self.items: list[int] = []
        self.to_skip = resume.skip
        self.pending: list[Marker] = []
        self.table: Leaf | None = None

    def feed(self, token: Token) -> Iterator[Leaf]:
        kind = token.type
        if self.table is not None:
            yield from self._in_table(token, self.table)
        elif kind == "blockquote_open":
            self.containers.append(token)
            self.path += "q"
        elif kind in ("bullet_list_open", "ordered_list_open"):
            if self.pending:
                yield self._leaf(token, "paragraph", empty=True)  # `- - a`: the outer item shows its own marker
            first = self.ordinals.pop(0) if self.ordinals else int(token.attrs.get("start", 1) or 0)
            self.lists.append([kind == "ordered_list_open", first])
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif kind == "list_item_open":
            self._open_item(token)
        elif kind == "list_item_close":
            if self.pending:
                yield self._leaf(self.containers[-1], "paragraph", empty=True)
            self._close()
            self.items.pop()
        elif kind == "blockquote_close":
            self._close()
        elif kind == "table_open":
            self.table = self._leaf(token, "table")
        elif kind == "inline":
            yield self._leaf(token, "heading" if self._heading else "paragraph")
        elif kind in ("fence", "code_block"):
            yield self._leaf(token, "code")
        elif kind == "hr":
            yield self._leaf(token, "rule")
        self._heading = token if kind == "heading_open" else None

    _heading: Token | None = None

    def _open_item(self, token: Token) -> None:
        self.containers.append(token)
        self.path += "l"
        ordered, number = self.lists[-1]
        self.items.append(number)
        self.lists[-1][1] += 1
        self.pending.append((len(self.path), f"{number}{token.markup}" if ordered else "•"))

    def _close(self) -> None:
        self.containers.pop()
        self.path = self.path[:-1]

    def _leaf(self, token: Token, kind: BlockKind, *, empty: bool = False) -> Leaf:
        first, last = token.map or (0, 0)
        markers, self.pending = tuple(self.pending), []
        leaf = Leaf(token, kind, self.path, first, last, markers, tuple(self.containers), tuple(self.items))
        if empty:
            leaf.token = Token("inline", "", 0, children=[])
            leaf.last = first
        elif kind == "heading" and self._heading is not None:
            token.meta.update(heading=int(self._heading.tag[1:]), atx=self._heading.markup.startswith("#"))
            leaf.first, leaf.last = self._heading.map or (first, last)
        if self.to_skip:
            self.to_skip -= 1
        else:
            self.ordinals.clear()  # they are for the lists that open before the first block, not for later ones
        return leaf

    def _in_table(self, token: Token, table: Leaf) -> Iterator[Leaf]:
        if token.type == "tr_open":
            table.rows.append(((token.map or (0, 0))[0], []))
        elif token.type == "inline":
            table.rows[-1][1].append(token)
        elif token.type == "th_open":
            table.token.meta.setdefault("aligns", []).append(str(token.attrs.get("style", ""))[11:])
        elif token.type == "table_close":
            self.table = None
            yield table


def blocks_of_leaf(
    leaf: Leaf, references: References, limits: Limits = LIMITS, resume: Resume | None = None
) -> list[Block]:
    """The blocks of one leaf: one, or several where it is longer than the limits. `resume` for a continuation."""
    resume = resume or Resume()
    if leaf.kind == "rule":
        return [Block("rule", leaf.path, leaf.markers)]
    if leaf.kind == "code":
        return _code_blocks(leaf, limits, resume)
    if leaf.kind == "table":
        return _table_blocks(leaf, references, limits, resume)
    return _word_blocks(leaf, references, limits, resume)


def reread(block: Block, references: References) -> Block:
    """The same block with its words read again, after a link definition that it may use came later."""
    if block.kind == "table":
        rows = tuple(tuple(parse_words(cell, references) for cell in row) for row in block.cells)
        return replace(block, rows=rows)
    return replace(block, inline=parse_words(block.source, references)) if block.source else block


def _code_blocks(leaf: Leaf, limits: Limits, resume: Resume) -> list[Block]:
    part = resume.part
    language = leaf.token.info.strip().split(" ")[0] if leaf.token.info.strip() else ""
    text = leaf.token.content
    if leaf.token.type == "fence":
        if not text and part:
            return []
        text = text[:-1] if text.endswith("\n") else text
    else:
        text = text.rstrip("\n")
    made: list[Block] = []
    joint = resume.joint
    for piece, ended in split_code(text, limits, indented=leaf.token.type == "code_block"):
        markers = leaf.markers if not made else ()
        made.append(Block("code", leaf.path, markers, language=language, code=piece, part=part, joint=joint))
        part += 1
        joint = "\n" if ended else ""
    return made


def _table_blocks(leaf: Leaf, references: References, limits: Limits, resume: Resume) -> list[Block]:
    part = resume.part
    cells = [tuple(cell.content for cell in row) for _line, row in leaf.rows[resume.rows :]]
    aligns = tuple(leaf.token.meta.get("aligns", ()))
    made: list[Block] = []
    for at in range(0, len(cells), limits.table_rows):
        markers = leaf.markers if not part else ()
        chunk = tuple(cells[at : at + limits.table_rows])
        rows = tuple(tuple(parse_words(cell, references) for cell in row) for row in chunk)
        made.append(Block("table", leaf.path, markers, rows=rows, cells=chunk, aligns=aligns, part=part))
        part += 1
    return made


def _word_blocks(leaf: Leaf, references: References, limits: Limits, resume: Resume) -> list[Block]:
    level = int(leaf.token.meta.get("heading", 0))
    content, markers = leaf.token.content, leaf.markers
    cuts = leaf_cuts(leaf, limits)
    part, joint = resume.part, resume.joint
    made: list[Block] = []
    for start, end in zip((0, *cuts), (*cuts, len(content)), strict=True):
        last = end == len(content)
        piece = content[start:end]
        words = piece if last else piece.rstrip(" \t\n")
        gap = piece[len(words) :]
        if markers and not start:
            words, markers = _task(words, markers)
        kind: BlockKind = "heading" if level and last else "paragraph"
        made.append(Block(
            kind, leaf.path, () if start else markers, level if last else 0, parse_words(words, references), words,
            part=part, joint=joint,
        ))
        part += 1
        joint = joint_of(gap)
    return made


def leaf_cuts(leaf: Leaf, limits: Limits) -> list[int]:
    """Where the words of a leaf are cut, as offsets in its content. A `# heading` is one line and stays whole."""
    if len(leaf.token.content) <= limits.paragraph or leaf.token.meta.get("atx"):
        return []
    return paragraph_cuts(leaf.token.content, limits)


def joint_of(gap: str) -> str:
    """What the white space at a cut comes to."""
    return "\n" if "\n" in gap else gap[:1]


def _task(words: str, markers: tuple[Marker, ...]) -> tuple[str, tuple[Marker, ...]]:
    """A list item's words without the `[ ]` of a task list, and its marker as a box."""
    match = _TASK.match(words)
    if not match or markers[-1][1] != "•":
        return words, markers
    box = "☐" if match.group(1) == " " else "☑"
    return words[match.end() :], (*markers[:-1], (markers[-1][0], box))
