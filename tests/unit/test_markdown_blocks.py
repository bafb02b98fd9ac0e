"""Markdown as blocks: the same whichever way it arrives, nothing hidden, nothing run."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.transcript.block_stream import SLICE, BlockStream, read_blocks
from desktop.transcript.blocks import Block, Resume, blocks_of_leaf, leaves, parse, plain_text
from desktop.transcript.cuts import Limits
from desktop.transcript.inline import BOLD, CODE, ITALIC, LINK, STRIKE, Inline, Span, link_kind, link_path

TINY = Limits(code_lines=3, code_chars=40, table_rows=2, paragraph=60, deep=50)
"""Limits so small that short texts are cut in every way."""

FRAGMENTS = [
    "# Head\n", "para text here ", "more words, and a. Next ", "\n", "\n\n", "- item\n", "  - nested\n", "    deep\n",
    "1. one\n", "1. uno\n", "10) ten\n", "> quote ", "> - q\n", "> ", "```py\n", "```\n", "  ```\n", "code(x)\n",
    "    indented\n", "| a | b |\n|--|--|\n", "| 1 | 2 |\n", "---\n", "===\n", "[x] ", "- [ ] task\n", "**b** ", "`c` ",
    "[ref] ", "[ref]: http://e.org\n", "<b>", "漢字測試。句子二", "😀", "~~~\n", "  b\n", "      six\n", "* star\n",
    "\\", "\t",
    "![i](x.png) ", "* * *\n", "\r\n", "+ plus\n", "a-word-without-any-space-in-it-that-is-longer-than-a-chunk ",
]  # fmt: skip

markdown = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=50).map("".join)
cuts = st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=30)


def streamed(text: str, sizes: list[int], limits: Limits) -> list[Block]:
    """The blocks of a text that arrives in pieces of these sizes, over and over."""
    stream = BlockStream(limits)
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        stream.feed(text[at : at + size])
        at, number = at + size, number + 1
    stream.finish()
    return stream.blocks()


def uncut(text: str, limits: Limits) -> list[Block]:
    """The blocks of a text that is parsed once, as a whole."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tokens = parse(text, {}, limits)
    return [block for leaf in leaves(tokens, Resume()) for block in blocks_of_leaf(leaf, {}, limits)]


def shape(blocks: list[Block]) -> list[tuple[object, ...]]:
    """Blocks without their words' spans, which depend on link definitions elsewhere."""
    return [(b.kind, b.path, b.markers, b.level, b.source, b.language, b.code, b.cells, b.part, b.joint)
            for b in blocks]


@settings(max_examples=250, deadline=None)
@given(markdown, cuts)
def test_text_that_arrives_in_any_pieces_gives_the_blocks_of_the_whole_text(text: str, sizes: list[int]) -> None:
    assert streamed(text, sizes, TINY) == read_blocks(text, TINY)


@settings(max_examples=250, deadline=None)
@given(markdown)
def test_settling_blocks_early_changes_nothing_about_what_they_are(text: str) -> None:
    assert shape(read_blocks(text, TINY)) == shape(uncut(text, TINY))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), cuts)
def test_any_text_at_all_can_be_read(text: str, sizes: list[int]) -> None:
    assert streamed(text, sizes, TINY) == read_blocks(text, TINY)


def test_a_settled_block_is_never_touched_again() -> None:
    stream = BlockStream()
    stream.feed("# Title\n\nFirst paragraph.\n\nSecond\nparagraph")
    settled = list(stream.stable)
    stream.feed(", still growing.\n\n- and a list\n")
    assert [block.inline.text for block in settled] == ["Title", "First paragraph."]
    assert all(now is before for now, before in zip(stream.stable, settled, strict=False))


@pytest.mark.parametrize(
    "text",
    [
        "words without end, " * 5300,
        "漢字測試沒有空格也沒有標點" * 7700,
        "```python\n" + "value = compute(1, 2)  # and so on\n" * 3000,
        "```\n" + "x" * 100_000,
        "| a | b |\n|---|---|\n" + "| cell | other |\n" * 6000,
        "- an item of a very long list\n" * 3400,
        "1. item\n\n   ```\n" + "   code in a list\n" * 5500,
        "> quoted words that go on and on\n" * 3000,
    ],
    ids=["paragraph", "chinese", "fence", "one line of code", "table", "list", "fence in a list", "quote"],
)
def test_the_part_that_is_read_again_stays_short_in_100_kb_of_anything(text: str) -> None:
    stream = BlockStream()
    longest = 0
    for at in range(0, len(text), 500):
        stream.feed(text[at : at + 500])
        longest = max(longest, stream.waiting)
    assert longest < 9000


def test_much_text_at_once_is_read_in_short_steps() -> None:
    stream = BlockStream()
    stream.add("Some **words** in a paragraph.\n\n- item\n- item\n\n```py\nx = 1\n```\n\n" * 1500)
    waiting = [stream.waiting]
    while stream.step():
        waiting.append(stream.waiting)
    assert max(before - after for before, after in pairwise(waiting)) <= 2 * SLICE


# What is in a block


def words(text: str) -> Inline:
    return read_blocks(text)[0].inline


def test_emphasis_code_and_strikethrough_become_spans_of_plain_text() -> None:
    assert words("a **b** *c* `d` ~~e~~") == Inline(
        "a b c d e", (Span(2, 1, BOLD, ""), Span(4, 1, ITALIC, ""), Span(6, 1, CODE, ""), Span(8, 1, STRIKE, ""))
    )


def test_spans_count_as_qt_does_with_two_units_for_an_emoji() -> None:
    assert words("😀 **b**").spans == (Span(3, 1, BOLD, ""),)


@pytest.mark.parametrize(
    "html",
    ["<b>bold</b>", '<img src="http://tracker.example/x.png">', "<script>alert(1)</script>", "<!-- hidden -->",
     "<a href='javascript:x()'>y</a>", "<div>\n\nin a block\n\n</div>"],
)
def test_html_is_shown_as_the_text_it_is(html: str) -> None:
    assert "".join(plain_text(read_blocks(html)).split()) == "".join(html.split())


def test_an_entity_is_the_character_it_stands_for() -> None:
    assert words("a &lt;b&gt; &amp;").text == "a <b> &"


def test_an_image_is_named_and_linked_and_nothing_else() -> None:
    assert words("![a cat](https://example.org/cat.png)") == Inline(
        "[a cat]", (Span(0, 7, LINK, "https://example.org/cat.png"),)
    )


def test_an_image_inside_the_text_itself_is_not_even_linked() -> None:
    inline = words("![x](data:image/png;base64,AAAA)")
    assert inline.text == "[x] (data:image/png;base64,AAAA)"
    assert not any(span.style & LINK for span in inline.spans)


def test_a_bare_address_is_a_link_without_the_punctuation_around_it() -> None:
    inline = words("See https://example.org/a(b)?x=1, then (https://example.org).")
    assert [span.href for span in inline.spans] == ["https://example.org/a(b)?x=1", "https://example.org"]


@pytest.mark.parametrize(
    ("href", "kind"),
    [
        ("https://example.org", "web"), ("HTTP://EXAMPLE.ORG/x", "web"), ("mailto:a@example.org", "web"),
        ("src/app.py", "file"), ("/etc/hosts", "file"), ("file:///etc/hosts", "file"), ("C:/Users/x", "file"),
        ("javascript:alert(1)", "none"), ("JaVaScRiPt:alert(1)", "none"), ("data:text/html,x", "none"),
        ("vbscript:x", "none"), ("ms-settings:", "none"), ("#section", "none"), ("", "none"), ("https:", "none"),
        ("//host/share", "none"), ("\\\\host\\share", "none"), ("java\nscript:x", "none"), ("http://[", "none"),
    ],
)  # fmt: skip
def test_only_web_and_mail_addresses_and_files_are_links(href: str, kind: str) -> None:
    assert link_kind(href) == kind


def test_a_link_that_leads_nowhere_safe_shows_its_target_as_text() -> None:
    inline = words("[click me](javascript:alert(1))")
    assert inline.text == "click me (javascript:alert(1))"
    assert not any(span.style & LINK for span in inline.spans)


def test_the_path_of_a_file_link_is_decoded() -> None:
    assert link_path("file:///home/me/a%20b.txt") == "/home/me/a b.txt"
    assert link_path("docs/a%20b.md") == "docs/a b.md"


def test_a_definition_that_comes_last_makes_links_of_what_came_before() -> None:
    stream = BlockStream()
    stream.feed("See [the guide].\n\n# More\n\nWords.\n\n")
    assert stream.blocks()[0].inline.text == "See [the guide]."
    stream.feed("[the guide]: https://example.org/guide")
    stream.finish()
    assert stream.blocks()[0].inline == Inline("See the guide.", (Span(4, 9, LINK, "https://example.org/guide"),))


def test_lists_keep_their_numbers_however_they_were_written() -> None:
    blocks = read_blocks("3. a\n3. b\n   - x\n     1) y\n3. c\n")
    assert [(block.path, block.markers) for block in blocks] == [
        ("l", ((1, "3."),)), ("l", ((1, "4."),)), ("ll", ((2, "•"),)), ("lll", ((3, "1)"),)), ("l", ((1, "5."),)),
    ]  # fmt: skip


def test_tasks_have_a_box_for_a_marker() -> None:
    blocks = read_blocks("- [x] done\n- [ ] open\n- [link](a.md)\n")
    assert [(block.markers[0][1], block.inline.text) for block in blocks] == [
        ("☑", "done"), ("☐", "open"), ("•", "link"),
    ]  # fmt: skip


def test_a_table_has_rows_of_cells_and_its_columns_sides() -> None:
    (table,) = read_blocks("| Name | Size |\n|:--|--:|\n| `a` | 1 |\n")
    assert [[cell.text for cell in row] for row in table.rows] == [["Name", "Size"], ["a", "1"]]
    assert table.aligns == ("left", "right")


def test_a_line_break_in_a_paragraph_is_kept() -> None:
    assert words("Roses are red\nViolets are blue").text == "Roses are red\nViolets are blue"


# Copying


def test_copied_code_is_exactly_what_stood_between_the_fences() -> None:
    code = "\n".join(f"    line {number}\t# {number}" for number in range(500)) + "\n\n  end"
    assert plain_text(read_blocks(f"```py\n{code}\n```")) == code


def test_one_line_of_code_of_any_length_is_copied_in_one_piece() -> None:
    line = "x = [" + ", ".join(str(number) for number in range(5000)) + "]"
    assert plain_text(read_blocks(f"```py\n{line}\n```")) == line


def test_a_very_long_paragraph_is_copied_with_all_its_words() -> None:
    paragraph = " ".join(f"word{number}" for number in range(4000))
    copied = plain_text(read_blocks(paragraph))
    assert copied.split() == paragraph.split()


def test_lists_are_copied_with_their_markers_and_indents() -> None:
    text = "Before\n\n1. one\n   - two\n\nAfter"
    assert plain_text(read_blocks(text)) == "Before\n\n1. one\n  • two\n\nAfter"


def test_a_table_is_copied_as_cells_between_tabs() -> None:
    assert plain_text(read_blocks("| a | b |\n|--|--|\n| 1 | 2 |")) == "a\tb\n1\t2"
