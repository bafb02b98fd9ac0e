"""From an item of the conversation to its row, and to the words that a screen reader says."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from desktop import theme
from desktop.transcript.card_segments import PAD, HeaderSegment, PictureSegment, PlainSegment, chunks
from desktop.transcript.flow import MarkdownRow
from desktop.transcript.pieces import TextPiece
from desktop.transcript.rows import Frame, PlainRow, Row
from desktop.transcript.segments import Segment
from desktop.transcript.tool_rows import RowContext, tool_row
from desktop.transcript.tool_words import header, status
from desktop.translations import format_count, language, tr
from protocol.conversation import Item, NoticeItem, TextItem, ThinkingItem, ToolItem, TurnEndItem, UserItem
from protocol.permissions import make_visible

_USER_PAD = 14
_TONES = {"error": "bad", "exited": "bad", "warning": "careful", "retry": "careful"}


def make_row(item: Item, context: RowContext) -> Row:
    """The row of an item."""
    if isinstance(item, TextItem):
        return MarkdownRow(item.text, streaming=item.streaming)
    if isinstance(item, ToolItem):
        return tool_row(item, context)
    if isinstance(item, UserItem):
        return _user_row(item, context)
    if isinstance(item, ThinkingItem):
        return _thinking_row(item, context)
    if isinstance(item, NoticeItem):
        return _notice_row(item, context)
    if isinstance(item, TurnEndItem):
        return _turn_end_row(item)
    return PlainRow([])


def refresh(row: Row, item: Item) -> bool:
    """Bring a row up to date in place, if its kind can; False: make it anew."""
    thinks = isinstance(item, ThinkingItem) and item.streaming
    if isinstance(row, MarkdownRow) and (thinks or isinstance(item, TextItem)):
        assert isinstance(item, TextItem | ThinkingItem)
        row.show(item.text, streaming=item.streaming)
        return True
    return False


def _user_row(item: UserItem, context: RowContext) -> Row:
    pad = theme.px(_USER_PAD)
    segments: list[Segment] = []
    if item.images:
        images = item.images
        segments.append(PictureSegment(len(images), lambda index: context.picture(images[index]), indent=pad))
    role = "soft" if item.state == "cancelled" else "text"
    for index, (chunk, joint) in enumerate(chunks(item.text) if item.text else []):
        segment = PlainSegment(chunk, "body", role=role, indent=pad, right=pad, joint=joint)
        segment.gap = theme.px(8) if index == 0 and segments else 0
        segments.append(segment)
    words = user_state(item, context)
    if words:
        state = PlainSegment(words, "small", role="soft", indent=pad, right=pad)
        state.gap = theme.px(4)
        segments.append(state)
    frame = Frame(0, len(segments) - 1, "panel", "", 10, before=10, after=10)
    return PlainRow(segments, [frame] if segments else [])


def user_state(item: UserItem, context: RowContext | None) -> str:
    """What has become of a message, in words; "" once Claude has answered."""
    if item.state == "queued":
        return tr("Queued: Claude reads it when this turn is over")
    if item.state == "cancelled":
        return tr("Withdrawn: Claude did not read it")
    if item.state == "sent" and context is not None and not context.answered(item):
        return tr("Sent")
    return ""


def _thinking_row(item: ThinkingItem, context: RowContext) -> Row:
    opened = context.opened(item.id, False)
    head = HeaderSegment("thinking", thinking_words(item), "", opened=opened, pad=0, quiet=True)
    row = (MarkdownRow(item.text, streaming=item.streaming, lead=[head], indent=theme.px(20), soft=True) if opened
           else PlainRow([head]))
    row.below = theme.px(8)
    return row


def thinking_words(item: ThinkingItem) -> str:
    """The header of a thought."""
    if item.streaming:
        return tr("Thinking…")
    if item.duration_ms:
        return tr("Thought for {time}", time=duration(item.duration_ms))
    return tr("Thought")


def _notice_row(item: NoticeItem, context: RowContext) -> Row:
    opened = context.opened(item.id, item.kind in ("error", "exited"))
    tone = _TONES.get(item.kind, "soft")
    detail = make_visible(item.detail.strip())
    framed = item.kind in ("error", "exited", "warning")
    pad = PAD if framed else 0
    icon = {"exited": "exited", "info": "info"}.get(item.kind, item.kind)
    words = notice_words(item)
    segments: list[Segment] = [NoticeSegment(icon, words, tone, opens=bool(detail), opened=opened, pad=pad)]
    if detail and opened:
        for index, (chunk, joint) in enumerate(chunks(detail)):
            kind = "code" if item.kind in ("exited", "error") else "small"
            segment = PlainSegment(chunk, kind, role="soft", indent=theme.px(pad + 22), right=theme.px(pad))
            segment.gap = theme.px(2) if index == 0 else 0
            segment.joint = joint if index else "\n"
            segments.append(segment)
    frames = [Frame(0, len(segments) - 1, "card", "line", 10, after=10 if len(segments) > 1 else 0)] if framed else []
    return PlainRow(segments, frames)


class NoticeSegment(HeaderSegment):
    """A notice: an icon in its tone and words that wrap."""

    def __init__(self, icon: str, words: str, tone: str, *, opens: bool, opened: bool, pad: int) -> None:
        super().__init__(icon, words, "", opens=opens, opened=opened, pad=pad, words=words)
        self._icon_tone = tone
        self.pieces = [TextPiece(words, "body", role="soft" if tone == "soft" else "text")]

    def arrange(self, width: int) -> int:
        self._width = width
        piece = self.pieces[0]
        piece.x = self._pad + theme.px(22)
        right = self._pad + (theme.px(16) if self._opens else 0)
        piece.lay_out(max(width - piece.x - right, theme.px(60)))
        piece.y = theme.px(7) if self._pad else 0
        return piece.height + 2 * piece.y

    def icon_role(self) -> str:
        return self._icon_tone


def notice_words(item: NoticeItem) -> str:
    """A notice in the person's language. Values come from outside, so what is hidden in them is made visible."""
    values = {name: make_visible(str(value)) for name, value in item.values.items()}
    return tr(item.text, **values) if values else tr(item.text)


def _turn_end_row(item: TurnEndItem) -> Row:
    words = turn_end_words(item)
    if not words:
        return PlainRow([])
    row = PlainRow([PlainSegment(words, "small", role="soft")])
    row.below = theme.px(20)
    return row


def turn_end_words(item: TurnEndItem) -> str:
    """How long a turn took and how much was written."""
    parts = []
    if item.duration_ms >= 1000:
        parts.append(duration(item.duration_ms))
    tokens = item.usage.get("output_tokens")
    if isinstance(tokens, int) and tokens > 0:
        parts.append(tr("1 token") if tokens == 1 else tr("{count} tokens", count=format_count(tokens)))
    return " · ".join(parts)


def duration(milliseconds: float) -> str:
    """A time as people say it."""
    seconds = round(milliseconds / 1000)
    if milliseconds < 10_000:
        return tr("{seconds} s", seconds=QLocale(language()).toString(milliseconds / 1000, "f", 1))
    if seconds < 60:
        return tr("{seconds} s", seconds=seconds)
    if seconds < 3600:
        return tr("{minutes} min {seconds} s", minutes=seconds // 60, seconds=seconds % 60)
    return tr("{hours} h {minutes} min", hours=seconds // 3600, minutes=seconds % 3600 // 60)


def source_text(item: Item) -> str:
    """What "Copy message" copies: Markdown as it was written, a tool call as its input and result."""
    if isinstance(item, UserItem | TextItem | ThinkingItem):
        return item.text
    if isinstance(item, ToolItem):
        return tool_text(item)
    if isinstance(item, NoticeItem):
        return "\n".join(part for part in (notice_words(item), item.detail) if part)
    return turn_end_words(item) if isinstance(item, TurnEndItem) else ""


def tool_text(item: ToolItem) -> str:
    """A tool call as text."""
    name, argument = header(item, "")[1:]
    parts = [f"{name} {argument}".strip()]
    parts += [f"{question} → {answer}" for question, answer in item.chosen]
    parts += [part for part in (item.reply, item.result_text) if part]
    return "\n".join(parts)


def accessible_text(item: Item, cwd: str = "") -> str:
    """Role and words of an item, for screen readers and for finding."""
    if isinstance(item, UserItem):
        state = user_state(item, None)
        return tr("You: {text}", text=item.text) + (f" ({state})" if state else "")
    if isinstance(item, TextItem):
        return tr("Claude: {text}", text=item.text)
    if isinstance(item, ThinkingItem):
        return thinking_words(item)
    if isinstance(item, ToolItem):
        _icon, name, argument = header(item, cwd)
        words = tr("Tool {name} {argument}", name=name, argument=argument).strip()
        answers = "; ".join(f"{question} → {answer}" for question, answer in item.chosen)
        return ", ".join(part for part in (words, status(item)[0], answers, item.reply) if part)
    if isinstance(item, NoticeItem):
        return tr("Notice: {text}", text=" ".join(part for part in (notice_words(item), item.detail) if part))
    if isinstance(item, TurnEndItem):
        return tr("Turn finished: {text}", text=turn_end_words(item))
    return ""
