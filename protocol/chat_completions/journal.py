"""What the endpoint did: a bounded list for the person, and one quiet line of log for each request."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

log = logging.getLogger(__name__)

State = Literal["waiting", "running", "asking", "done"]

OK = "ok"
CLIENT_GONE = "client_gone"
CLIENT_TOO_SLOW = "client_too_slow"
SHUTTING_DOWN = "shutting_down"


@dataclass(frozen=True, slots=True)
class Entry:
    """One request, as it stands. It holds nothing of what was asked or answered.

    Attributes:
        request_id: as in `x-request-id`.
        method: `POST`, …
        what: `completion`, `models`, or `other` for a path that does not exist.
        client: what the client calls itself, short and printable; "" for nothing.
        model: as the client named it, short; "" while it is not known.
        stream: whether the answer comes in pieces.
        state: `waiting` until it may run, `running`, `asking` while a person is asked, `done`.
        outcome: "" until it is done; then `ok`, `client_gone`, `client_too_slow` or the `code` of its error.
        status: the HTTP status of the reply; 0 where there was none (yet).
        arrived: when its headers were complete, seconds since 1970.
        ended: the same for its end; None until it is done.
        bytes_in: of its body.
        bytes_out: of the reply's body.
    """

    request_id: str
    method: str = ""
    what: str = "other"
    client: str = ""
    model: str = ""
    stream: bool = False
    state: State = "waiting"
    outcome: str = ""
    status: int = 0
    arrived: float = 0.0
    ended: float | None = None
    bytes_in: int = 0
    bytes_out: int = 0


class Journal:
    """The requests that run, and the last ones that ended. Used on the server's loop; `entries` from any thread.

    Args:
        keep: how many requests that are done stay in the list.

    Attributes:
        on_change: is told of every change, on the server's thread. It must not block.
    """

    def __init__(self, *, keep: int = 200, on_change: Callable[[Entry], None] | None = None) -> None:
        self.on_change = on_change
        self._keep = keep
        self._live: dict[str, Entry] = {}
        self._done: OrderedDict[str, Entry] = OrderedDict()
        self._snapshot: tuple[Entry, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """The oldest first: those that are done, then those that run."""
        return self._snapshot

    def begin(self, entry: Entry) -> None:
        """A request has arrived."""
        entry = replace(entry, arrived=time.time())
        self._live[entry.request_id] = entry
        self._changed(entry)

    def update(self, request_id: str, **changes: Any) -> None:
        """Something is known about a request that runs: any fields of `Entry`. Nothing for one that is done."""
        entry = self._live.get(request_id)
        if entry is not None:
            self._live[request_id] = replace(entry, **changes)
            self._changed(self._live[request_id])

    def end(self, request_id: str, outcome: str, *, status: int, bytes_out: int) -> None:
        """A request is over; says so in the log."""
        entry = self._live.pop(request_id, None)
        if entry is None:
            return
        entry = replace(
            entry,
            state="done",
            outcome=outcome,
            status=status,
            bytes_out=bytes_out,
            ended=max(time.time(), entry.arrived),
        )
        self._done[request_id] = entry
        while len(self._done) > self._keep:
            self._done.popitem(last=False)
        log.info("%s", _line(entry))
        self._changed(entry)

    def _changed(self, entry: Entry) -> None:
        self._snapshot = (*self._done.values(), *self._live.values())
        if self.on_change is None:
            return
        try:
            self.on_change(entry)
        except Exception:  # whoever shows the list must not break what it shows
            log.exception("the list of requests could not be shown")


def _line(entry: Entry) -> str:
    """What the log says: words of our own and numbers, nothing that came from outside."""
    seconds = (entry.ended or entry.arrived) - entry.arrived
    way = f"{entry.what}{' stream' if entry.stream else ''}"
    return (
        f"{entry.request_id} {way}: {entry.status or 'no reply'} {entry.outcome}, {seconds:.3f} s,"
        f" {entry.bytes_in} bytes in, {entry.bytes_out} bytes out"
    )
