"""How much a streaming answer costs the window: `python -m tests.benchmarks.transcript`.

100 KB of Markdown arrive in pieces of four bytes, as `stream_event` messages through a `Conversation` into a
`TranscriptView`. Two figures count: the GUI thread's time as a multiple of one full render of the same text, and the
longest time during which the event loop does not turn. Both are told as CPU time of the GUI thread and on the wall
clock: on a busy machine the wall clock also counts the others.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QObject, QTimer
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from desktop import theme
from desktop.garbage import QuietCollector
from desktop.transcript import TranscriptView
from desktop.transcript.lexers import lexer_for
from protocol.conversation import Conversation, TextItem
from protocol.messages import parse_message
from protocol.wire import DamagedLine, LineReader, encode_line

SIZE = 100_000
PIECE = 4
PER_TURN = 32
"""Pieces that one turn of the event loop takes from the reader: about what arrives while a frame is painted."""

PARAGRAPH = (
    "The ledger keeps **every entry** twice, once for each side, and the sum over both is *always* zero. See `post()` "
    "in [ledger/models.py](ledger/models.py) and the notes at https://example.org/notes for how ~~rounding~~ cents are "
    "carried. "
)
CODE = '''def settle(entries: list[Entry], day: date) -> Decimal:
    """Sum up one day.

    Entries of other days are left alone.
    """
    total = Decimal(0)
    for entry in entries:  # in order of arrival
        if entry.day == day and entry.state != "open":
            total += entry.amount * {number}
    return total
'''


def realistic(size: int = SIZE) -> str:
    """An answer as long ones are: headings, paragraphs, lists, tables, code in two languages, quotes, Chinese."""
    parts: list[str] = []
    length = number = 0
    while length < size:
        number += 1
        rows = "".join(f"| account {number}-{row} | {row * 37:,} | `state_{row}` of **{row}** |\n" for row in range(6))
        items = "".join(f"{row + 1}. Step {row} of part {number}: move `table_{row}` and check it\n   - then *verify*\n"
                        for row in range(5))
        section = (
            f"## Part {number}: what moves\n\n{PARAGRAPH * 3}\n\n{items}\n{PARAGRAPH}\n\n"
            f"```python\n{CODE.replace('{number}', str(number)) * 3}```\n\n"
            f"| Account | Rows | Note |\n|:--|--:|---|\n{rows}\n"
            f"> A quoted remark about part {number}, which matters.\n\n"
            f"中文段落 {number}:資料庫遷移之前,請先確認**所有**帳目都已經結清,並且備份`ledger.db`。"
            "如果發現差額,請回報給負責的同事,不要自行修改。\n\n"
            f"```json\n{{\"part\": {number}, \"done\": false, \"names\": [\"a\", \"b\"]}}\n```\n\n"
            "- [x] copied\n- [ ] checked\n\n"
        )
        parts.append(section)
        length += len(section.encode())
    return "".join(parts).encode()[:size].decode("utf-8", "ignore")


def one_paragraph(size: int = SIZE) -> str:
    """One paragraph without a line break."""
    return (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size]


def one_fence(size: int = SIZE) -> str:
    """One block of code."""
    return "```python\n" + (CODE.replace("{number}", "7") * (size // len(CODE) + 1))[:size] + "\n```\n"


def one_table(size: int = SIZE) -> str:
    """One table."""
    row = "| account of somebody | 1,234 | `state` of **many** |\n"
    return "| Account | Rows | Note |\n|---|--:|---|\n" + row * (size // len(row))


def one_list(size: int = SIZE) -> str:
    """One list."""
    item = "- item {number} with `code` and **weight**, about as long as items are\n"
    return "".join(item.format(number=number) for number in range(size // 66))


TEXTS = {"realistic": realistic, "paragraph": one_paragraph, "fence": one_fence, "table": one_table, "list": one_list}


def pieces(text: str) -> list[str]:
    """The text in pieces of about four bytes, characters whole."""
    found: list[str] = []
    piece, length = "", 0
    for character in text:
        size = len(character.encode())
        if piece and length + size > PIECE:
            found.append(piece)
            piece, length = "", 0
        piece, length = piece + character, length + size
    return [*found, piece] if piece else found


def event(body: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stream_event", "event": body, "parent_tool_use_id": None, "session_id": "s", "uuid": "u"}


def begin() -> list[dict[str, Any]]:
    return [
        event({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
                                                     "model": "m", "content": [], "usage": {}}}),
        event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ]


def delta(text: str) -> dict[str, Any]:
    return event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})


def end(text: str) -> list[dict[str, Any]]:
    return [
        {"type": "assistant", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                                          "content": [{"type": "text", "text": text}], "usage": {}},
         "parent_tool_use_id": None, "session_id": "s", "uuid": "v"},
        event({"type": "content_block_stop", "index": 0}),
        event({"type": "message_stop"}),
    ]


def full_render(text: str) -> float:
    """CPU seconds to show a finished message whole: parse it, lay all of it out, paint all of it."""
    view = TranscriptView(Conversation())
    view.resize(1000, 760)
    view.show()
    QApplication.processEvents()
    started = time.thread_time()
    from desktop.transcript.flow import MarkdownRow

    row = MarkdownRow(text)
    row.complete()
    row.prepare(760)
    row.lay_out(0, 1e9)
    image = QImage(760, 760, QImage.Format.Format_ARGB32_Premultiplied)
    for top in range(0, row.height, 760):
        image.fill(QColor("white"))
        painter = QPainter(image)
        painter.translate(0, -top)
        painter.setClipRect(0, top, 760, 760)
        row.paint(painter, 0, 0, painter.clipBoundingRect())
        painter.end()
    spent = time.thread_time() - started
    view.close()
    view.deleteLater()
    QApplication.processEvents()
    return spent


@dataclass
class Measured:
    """One stream: seconds of the GUI thread in all and in its longest turn, on the CPU and on the wall."""

    cpu: float = 0.0
    wall: float = 0.0
    worst_cpu: float = 0.0
    worst_wall: float = 0.0
    protocol: float = 0.0
    turns: list[float] = field(default_factory=list)


class Stream(QObject):
    """Feeds pieces, a few each turn of the event loop, and watches how long the turns take."""

    def __init__(self, text: str, per_turn: int) -> None:
        super().__init__()
        self.conversation = Conversation()
        self.view = TranscriptView(self.conversation)
        self.view.resize(1000, 760)
        self.view.show()
        self.measured = Measured()
        self._lines = [*map(encode_line, begin()), *(encode_line(delta(piece)) for piece in pieces(text)),
                       *map(encode_line, end(text))]
        self._reader = LineReader()
        self._per_turn = per_turn
        self._at = 0
        self._quiet = 0
        self._loop = QEventLoop()
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)

    def run(self) -> Measured:
        QApplication.processEvents()
        self._cpu, self._wall = time.thread_time(), time.perf_counter()
        first = self._cpu, self._wall
        self._timer.start()
        self._loop.exec()
        self.measured.cpu = time.thread_time() - first[0]
        self.measured.wall = time.perf_counter() - first[1]
        return self.measured

    def _turn(self) -> None:
        self._note()
        if self._at < len(self._lines):
            started = time.thread_time()
            changes = []
            for line in self._reader.feed(b"".join(self._lines[self._at : self._at + self._per_turn])):
                assert not isinstance(line, DamagedLine)
                changes += self.conversation.apply(parse_message(line))
            self.measured.protocol += time.thread_time() - started
            self._at += self._per_turn
            self.view.apply_changes(changes)
        else:
            self._quiet += 1
            time.sleep(0.002)
            if self._quiet > 60:
                self._timer.stop()
                self._loop.quit()
        self._note()

    def _note(self) -> None:
        """The time since the last note is one uninterrupted piece of work, or a part of it and its painting."""
        cpu, wall = time.thread_time(), time.perf_counter()
        spent = cpu - self._cpu
        self.measured.turns.append(spent)
        self.measured.worst_cpu = max(self.measured.worst_cpu, spent)
        self.measured.worst_wall = max(self.measured.worst_wall, wall - self._wall)
        self._cpu, self._wall = cpu, wall


def measure(name: str, per_turn: int) -> dict[str, float]:
    """Stream one kind of text."""
    text = TEXTS[name]()
    full = median(full_render(text) for _round in range(3))
    gc.collect()
    stream = Stream(text, per_turn)
    measured = stream.run()
    shown = stream.conversation.items[0]
    assert isinstance(shown, TextItem)
    assert shown.text == text
    stream.view.close()
    stream.view.deleteLater()
    QApplication.processEvents()
    return {
        "full_render_ms": full * 1000,
        "gui_ms": measured.cpu * 1000,
        "protocol_ms": measured.protocol * 1000,
        "ratio": measured.cpu / full,
        "worst_pause_cpu_ms": measured.worst_cpu * 1000,
        "worst_pause_wall_ms": measured.worst_wall * 1000,
        "pauses_over_16_ms": sum(1 for turn in measured.turns if turn > 0.016),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(TEXTS), help="one kind of text")
    parser.add_argument("--per-turn", type=int, default=PER_TURN, help="pieces a turn of the event loop")
    arguments = parser.parse_args()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply(application, "light")
    for language in ("python", "json"):  # fonts and lexers are read once in a program's life
        lexer_for(language)
    full_render(realistic(4000))
    collector = QuietCollector()  # as the app does
    figures: dict[str, dict[str, float]] = {}
    for name in [arguments.only] if arguments.only else TEXTS:
        figures[name] = found = measure(name, arguments.per_turn)
        print(f"{name:10} one full render {found['full_render_ms']:6.0f} ms, streamed {found['gui_ms']:6.0f} ms "
              f"(of it protocol {found['protocol_ms']:4.0f} ms) = {found['ratio']:5.1f} times; worst pause "
              f"{found['worst_pause_cpu_ms']:5.1f} ms of CPU, {found['worst_pause_wall_ms']:5.1f} ms on the wall; "
              f"{found['pauses_over_16_ms']} over 16 ms")
    collector.stop()
    ratios = {name: round(found["ratio"], 2) for name, found in figures.items()}
    ratios["worst_pause_ms"] = round(max(found["worst_pause_cpu_ms"] for found in figures.values()), 2)
    print(json.dumps({"name": "transcript", "ratios": ratios, "limits": {"times_full_render": 15, "pause_ms": 16},
                      "figures": {name: {key: round(value, 2) for key, value in found.items()}
                                  for name, found in figures.items()}}))


if __name__ == "__main__":
    main()
