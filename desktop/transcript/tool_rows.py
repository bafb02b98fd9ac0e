"""Tool calls as cards: a header that opens, and a body for each kind of tool."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from PySide6.QtGui import QImage

from desktop import theme
from desktop.transcript.ansi import Coloured, read_output
from desktop.transcript.card_segments import (
    PAD,
    ButtonSegment,
    HeaderSegment,
    PictureSegment,
    PlainSegment,
    chunks,
    diff_segments,
)
from desktop.transcript.diffs import EDIT_TOOLS, DiffRow, edit_rows, result_rows
from desktop.transcript.flow import MarkdownRow
from desktop.transcript.inline import utf16_length
from desktop.transcript.rows import Frame, PlainRow, Row
from desktop.transcript.segments import Segment
from desktop.transcript.tool_words import AGENTS, MONOSPACE, REFUSALS, WAITING, header, question_texts, status
from desktop.translations import format_count, tr
from protocol.conversation import Item, TextItem, ToolItem
from protocol.messages import ImageBlock
from protocol.permissions import make_visible

MOST_CHARS = 1_000_000
"""Characters of an output that are shown at most, even on demand. Copying the message gives all of it."""
CUT_LINES, CUT_DIFF, CUT_CHARS = 12, 20, 4000


class RowContext(Protocol):
    """What rows need to know beyond their item."""

    @property
    def cwd(self) -> str:
        """The folder that paths are shown from."""

    def opened(self, item_id: str, default: bool) -> bool:
        """Whether the person has a card open."""

    def shows_all(self, item_id: str) -> bool:
        """Whether the person asked for all of a long output."""

    def children(self, tool_use_id: str) -> Sequence[Item]:
        """What a subagent said and did."""

    def picture(self, image: ImageBlock) -> QImage | None:
        """A thumbnail, None while it is being read."""

    def answered(self, item: Item) -> bool:
        """Whether anything came after a message."""


def opens_by_itself(item: ToolItem) -> bool:
    """Whether a card is open as long as nobody closed it: what one wants to see without asking.

    While it waits for the person, the dialog below shows the same, and has the room.
    """
    if item.status in ("streaming", "waiting"):
        return False
    shown = (*EDIT_TOOLS, "TodoWrite", "AskUserQuestion", "ExitPlanMode")
    return item.name in shown or item.status == "failed" or bool(item.reply)


def tool_row(item: ToolItem, context: RowContext) -> Row:
    """The card of a call."""
    opened = context.opened(item.id, opens_by_itself(item))
    plan = item.input.get("plan") if item.name == "ExitPlanMode" and opened else None
    body = _Body(item, context).segments() if opened and not plan else []
    icon, name, argument = header(item, context.cwd)
    words, tone = status(item)
    if item.name in AGENTS:
        words, tone = _agent_words(item, context, words, tone)
    head = HeaderSegment(
        icon, name, argument, words, tone=tone, opened=opened, monospace=item.name in MONOSPACE, ruled=bool(body),
        words=f"{name} {argument}".strip(),
    )
    if isinstance(plan, str):
        return MarkdownRow(plan, lead=[head, *body], indent=theme.px(PAD), card=True)
    segments: list[Segment] = [head, *body]
    if body:
        body[0].gap = theme.px(7)
    frame = Frame(0, len(segments) - 1, "card", "line", 10, after=8 if body else 0)
    return PlainRow(segments, [frame])


def _agent_words(item: ToolItem, context: RowContext, words: str, tone: str) -> tuple[str, str]:
    """What a subagent is at: its steps, and whether one of them waits for the person."""
    steps = [child for child in context.children(item.tool_use_id) if isinstance(child, ToolItem)]
    if not steps:
        return words, tone
    if any(step.status == "waiting" for step in steps):
        words, tone = tr(WAITING[0]), WAITING[1]
    counted = tr("1 step") if len(steps) == 1 else tr("{count} steps", count=format_count(len(steps)))
    return (f"{counted} · {words}" if words else counted), tone


class _Body:
    """Makes the body of one card."""

    def __init__(self, item: ToolItem, context: RowContext) -> None:
        self._item = item
        self._context = context
        self._made: list[Segment] = []

    def segments(self) -> list[Segment]:
        item = self._item
        makers: dict[str, Callable[[], None]] = {
            **dict.fromkeys(EDIT_TOOLS, self._edit),
            **dict.fromkeys(AGENTS, self._agent),
            "Bash": self._bash, "PowerShell": self._bash,
            "TodoWrite": self._todos, "AskUserQuestion": self._question, "ExitPlanMode": self._plan,
            "Read": self._result, "Grep": self._search, "Glob": self._search,
        }
        makers.get(item.name, self._other)()
        if item.reply and item.name != "AskUserQuestion":
            reply = make_visible(item.reply)
            words = tr("You wrote: {text}", text=reply) if item.decision else tr("Refused: {text}", text=reply)
            self._plain(words, role="soft")
        if item.result_images:
            images = item.result_images
            self._add(PictureSegment(len(images), lambda index: self._context.picture(images[index]),
                                     indent=theme.px(PAD)), theme.px(8))
        return self._made

    def _add(self, segment: Segment, gap: int = 0) -> None:
        segment.gap = gap
        self._made.append(segment)

    def _plain(
        self, text: str, kind: str = "small", *, role: str = "text", gap: int = 4, colours: Sequence[Coloured] = ()
    ) -> None:
        """Text in chunks, the first with a gap above."""
        at, waiting = 0, deque(colours)
        for index, (chunk, joint) in enumerate(chunks(text)):
            start = at + len(joint)
            at = start + utf16_length(chunk)
            inside, pad = _inside(waiting, start, at), theme.px(PAD)
            segment = PlainSegment(chunk, kind, role=role, indent=pad, right=pad, colours=inside, joint=joint)
            if index == 0:
                segment.joint = "\n"
            self._add(segment, theme.px(gap) if index == 0 else 0)

    def _cut(self, text: str, limit: int = CUT_LINES) -> str:
        """The beginning of a long text, unless the person asked for all of it; then a button follows."""
        if self._context.shows_all(self._item.id):
            return text[:MOST_CHARS]
        lines = text.split("\n", limit)
        shown = "\n".join(lines[:limit])[:CUT_CHARS]
        return shown if len(shown) < len(text.rstrip("\n")) else text.rstrip("\n")

    def _show_all(self, shown: str, whole: str) -> None:
        if self._context.shows_all(self._item.id):
            if len(shown) < len(whole):
                rest = format_count(len(whole) - len(shown))
                self._plain(tr("The rest is not shown: {count} more characters.", count=rest), role="soft")
        elif len(shown) < len(whole.rstrip("\n")):
            count = whole.count("\n") + 1
            words = (tr("Show all {count} lines", count=format_count(count)) if count > 1
                     else tr("Show all {count} characters", count=format_count(len(whole))))
            self._add(ButtonSegment(words, "show_all", self._item.id, indent=theme.px(PAD)))

    def _output(self, text: str, role: str = "text") -> None:
        if not text.strip():
            return
        shown = self._cut(text)
        words, colours = read_output(shown)
        self._plain(words, "code", role=role, gap=6, colours=colours)
        self._show_all(shown, text)

    def _result(self) -> None:
        item = self._item
        if item.decision in REFUSALS:
            return  # the result is the CLI's own sentence about it, or what the person wrote
        if item.result_text:
            self._output(item.result_text, "bad" if item.is_error else "text")
        elif item.status == "done" and not item.result_images:
            self._plain(tr("No output"), role="soft")

    def _bash(self) -> None:
        command = make_visible(str(self._item.input.get("command") or ""))
        words = self._item.input.get("description")
        if isinstance(words, str) and words:
            self._plain(make_visible(words), role="soft")
        if command:
            ranges = [Coloured(0, 1, "soft")]
            self._plain(f"$ {command}", "code", colours=ranges)
        self._result()

    def _search(self) -> None:
        item = self._item
        words = [f"{key}: {value}" for key, value in item.input.items() if key != "pattern" and value not in ("", None)]
        if words:
            self._plain(make_visible(" · ".join(words)), role="soft")
        self._result()

    def _edit(self) -> None:
        item = self._item
        rows, total = self._diff()
        shown = rows if self._context.shows_all(item.id) or total <= CUT_DIFF + 4 else rows[:CUT_DIFF]
        self._made += diff_segments(shown)
        if len(shown) < total:
            words = tr("Show all {count} lines", count=format_count(total))
            self._add(ButtonSegment(words, "show_all", item.id, indent=theme.px(PAD)))
        if not rows and item.status == "done":
            self._plain(tr("Nothing changed"), role="soft")
        if item.is_error or item.status == "failed":
            self._result()

    def _diff(self) -> tuple[list[DiffRow], int]:
        """The rows of an edit, as many as are shown at least, and how many there are."""
        item = self._item
        rows = result_rows(item.structured)
        content = item.input.get("content")
        if not rows and item.name == "Write" and isinstance(content, str) and not self._context.shows_all(item.id):
            head = "\n".join(content.split("\n", CUT_DIFF + 5)[: CUT_DIFF + 5])
            total = content.count("\n") + (not content.endswith("\n"))
            return edit_rows("Write", {"content": head}), total
        rows = rows or edit_rows(item.name, item.input)
        return rows, len(rows)

    def _todos(self) -> None:
        todos = self._item.input.get("todos")
        for todo in todos if isinstance(todos, list) else ():
            if not isinstance(todo, Mapping):
                continue
            state = todo.get("status")
            words = make_visible(str(todo.get("content") or todo.get("activeForm") or ""))
            mark = {"completed": "☑", "in_progress": "▶"}.get(str(state), "☐")
            role = "soft" if state == "completed" else "text"
            kind = "small-bold" if state == "in_progress" else "small"
            self._plain(f"{mark}  {words}", kind, role=role, gap=2)
        if self._item.is_error:
            self._result()

    def _question(self) -> None:
        item = self._item
        for question, answer in item.chosen:
            self._plain(make_visible(question), role="soft", gap=6)
            self._plain(make_visible(answer), "bold", gap=0)
        if item.chosen:
            return
        for question in question_texts(item.input):
            self._plain(make_visible(question), role="soft", gap=4)
        if item.reply:
            self._plain(make_visible(item.reply), "bold", gap=2)
        elif item.decision == "dismissed":
            self._plain(tr("Dismissed without an answer."), gap=2)
        elif item.is_error and item.result_text:
            self._result()

    def _plan(self) -> None:
        if self._item.is_error:
            self._result()

    def _agent(self) -> None:
        item = self._item
        prompt = item.input.get("prompt")
        if isinstance(prompt, str) and prompt:
            shown = self._cut(make_visible(prompt))
            self._plain(shown, role="soft")
            self._show_all(shown, prompt)
        said = {child.text.strip() for child in self._context.children(item.tool_use_id) if isinstance(child, TextItem)}
        if item.result_text and not any(text and text in item.result_text for text in said):
            self._result()

    def _other(self) -> None:
        item = self._item
        if item.input:
            shown = self._cut(as_json(item.input))
            self._plain(shown, "code", role="soft")
        self._result()


def _inside(waiting: deque[Coloured], start: int, end: int) -> list[Coloured]:
    """The coloured parts between two places, counted from the first; what reaches further stays in the queue."""
    found: list[Coloured] = []
    while waiting and waiting[0].start < end:
        part = waiting[0]
        first, last = max(part.start, start), min(part.start + part.length, end)
        if first < last:
            found.append(Coloured(first - start, last - first, part.role))
        if part.start + part.length > end:
            break
        waiting.popleft()
    return found


def as_json(value: Any) -> str:
    """A tool's input for reading, hidden characters visible."""
    try:
        return make_visible(json.dumps(value, ensure_ascii=False, indent=2))
    except (TypeError, ValueError):
        return make_visible(str(value))
