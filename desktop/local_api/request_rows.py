"""What the endpoint was asked, as rows: who, which model, how it stands. Pure but for the list model at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.durations import elapsed
from desktop.translations import tr
from desktop.widgets import DotState
from protocol.chat_completions.journal import CLIENT_GONE, CLIENT_TOO_SLOW, OK, Entry, State

AnyIndex = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1


@dataclass(frozen=True)
class RequestRow:
    """One request to the endpoint.

    Attributes:
        key: as in `x-request-id`.
        client: what the client calls itself; its own words, so plain text.
        model: as the client named it, or what else it wants; "" where nobody knows.
        state: waiting for a free place, running, asking the person, or done.
        outcome: one word for how it ended, "" before that.
        status: the HTTP status of the reply, 0 where there was none.
        seconds: how long it has taken, or took.
        time: when it began, as the person's clock says it.
    """

    key: str
    client: str
    model: str
    state: State
    outcome: str
    status: int
    seconds: float
    time: str

    @property
    def is_live(self) -> bool:
        """Whether it goes on."""
        return self.state != "done"

    @property
    def who(self) -> str:
        """The client, or a word for one that does not say."""
        return self.client or tr("A program")

    @property
    def dot(self) -> DotState:
        """The dot before it."""
        if self.is_live:
            return "waiting" if self.state == "asking" else "working"
        return {OK: "done", CLIENT_GONE: "rest"}.get(self.outcome, "failed")  # type: ignore[return-value]

    @property
    def words(self) -> str:
        """How it stands."""
        states = {
            "waiting": tr("Waiting for a free place"),
            "running": tr("Working"),
            "asking": tr("Waiting for your answer"),
        }
        return states.get(self.state) or outcome_words(self.outcome, self.status)

    @property
    def duration(self) -> str:
        """How long it has taken, or took."""
        return elapsed(self.seconds)

    @property
    def whole(self) -> str:
        """All of it in one line, for screen readers and tooltips."""
        parts = [self.time, self.who, self.model, self.words, self.duration]
        return tr(", ").join(part for part in parts if part)


def row_of(entry: Entry, now: float) -> RequestRow:
    """An entry of the journal as a row. `now` in epoch seconds, for what still goes on."""
    model = tr("list of models") if entry.what == "models" else entry.model
    seconds = max(0.0, (now if entry.ended is None else entry.ended) - entry.arrived)
    began = time.strftime("%H:%M:%S", time.localtime(entry.arrived))
    return RequestRow(entry.request_id, entry.client, model, entry.state, entry.outcome, entry.status, seconds, began)


def outcome_words(outcome: str, status: int) -> str:
    """How a request ended, in words.

    Args:
        outcome: the journal's word: `ok`, what the client did, or the code of the error.
        status: the HTTP status, for a code that has no words of its own.
    """
    known = {
        OK: tr("Answered"),
        CLIENT_GONE: tr("The program hung up"),
        CLIENT_TOO_SLOW: tr("The program did not read its answer"),
        "server_busy": tr("Refused: too many at once"),
        "timeout": tr("Took too long"),
        "question_unanswered": tr("Nobody answered its question"),
        "plan_limit_reached": tr("The plan’s limit is reached"),
        "cli_failed": tr("Claude failed"),
        "cli_signed_out": tr("Claude is not signed in"),
        "cli_not_found": tr("Claude was not found"),
        "cli_too_old": tr("Claude is too old for this"),
        "shutting_down": tr("The local API was switched off"),
        "model_not_found": tr("Refused: no such model"),
        "unsupported_parameter": tr("Refused: asks for something unsupported"),
        "request_too_large": tr("Refused: too large"),
        "context_length_exceeded": tr("Too long for the model"),
        "no_api_key": tr("Refused: no token"),
        "invalid_api_key": tr("Refused: wrong token"),
        "foreign_origin": tr("Refused: comes from a web page"),
        "wrong_host": tr("Refused: asks for another host"),
    }
    if outcome in known:
        return known[outcome]
    if 400 <= status < 500:
        return tr("Refused ({code})", code=outcome or status)
    return tr("Failed ({code})", code=outcome or status)


class RequestsModel(QAbstractListModel):
    """The rows for the view, newest first. `show` changes only what differs, so that the selection stays."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[RequestRow] = []

    def show(self, rows: Sequence[RequestRow]) -> None:
        """Show these rows and no others."""
        new, old = list(rows), [row.key for row in self.rows]
        keys = [row.key for row in new]
        if not self._grow(new, keys, old):
            self.beginResetModel()
            self.rows = new
            self.endResetModel()
            return
        for number, row in enumerate(new):
            if self.rows[number] != row:
                self.rows[number] = row
                self.dataChanged.emit(self.index(number), self.index(number))

    def _grow(self, new: list[RequestRow], keys: list[str], old: list[str]) -> bool:
        """Put new rows on top and let old ones fall off at the end; False where more than that happened."""
        fresh = keys.index(old[0]) if old and old[0] in keys else len(keys)
        kept = len(keys) - fresh
        if keys[fresh:] != old[:kept]:
            return False
        if len(old) > kept:
            self.beginRemoveRows(QModelIndex(), kept, len(old) - 1)
            del self.rows[kept:]
            self.endRemoveRows()
        if fresh:
            self.beginInsertRows(QModelIndex(), 0, fresh - 1)
            self.rows[:0] = new[:fresh]
            self.endInsertRows()
        return True

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row.who} · {row.words}"
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.whole}\n{row.key}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.whole
        return None
