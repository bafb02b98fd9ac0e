"""The place where what waits for the person stands: one at a time, in order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop import theme
from desktop.conversations import OpenConversation
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.registry import dialog_for
from desktop.files import read_beginning
from desktop.translations import tr
from desktop.widgets import button, plain_label
from protocol.conversation import PendingRequest, ToolItem
from protocol.permissions import plan_text

LEAST_TRANSCRIPT = 120
"""Pixels of the transcript that a request never covers; in a low window a smaller part, see `least_transcript`."""


def least_transcript(page_height: int) -> int:
    """How much of the transcript stays in sight beside a request: less where the request itself would be cut."""
    return min(LEAST_TRANSCRIPT, max(32, page_height // 4 - 60))


class Requests(Protocol):
    """Where requests come from."""

    @property
    def pending(self) -> Mapping[str, PendingRequest]:
        """What waits, in order of arrival, by the key that its answer goes to."""

    def context(self, key: str) -> DialogContext:
        """What the dialog of a request should know besides it."""


@dataclass(frozen=True)
class ConversationRequests:
    """The requests of one conversation."""

    opened: OpenConversation

    @property
    def pending(self) -> Mapping[str, PendingRequest]:
        return self.opened.conversation.pending

    def context(self, key: str) -> DialogContext:
        conversation = self.opened.conversation
        pending = conversation.pending[key]
        return DialogContext(
            conversation_title=self.opened.title,
            agent=pending.agent,
            since=pending.at,
            capabilities=conversation.capabilities,
            cwd=str(self.opened.folder),
            plan=plan_of(self.opened, pending) if pending.kind == "plan" else "",
        )


class DialogSlot(QWidget):
    """Shows the requests of one conversation, or of the local API.

    The others wait behind the first; with the two arrows one can look at them and answer in any order, for each is
    answered by its id. A dialog that was begun keeps what was typed while another is shown.

    Signals:
        decided(request_id, result): the person's answer.
        shown_changed: another request is shown, or none.
        page_wanted(address): the person asked to open this http or https address.
        file_link(path): the person clicked a link to this path, in a plan or a preview.
    """

    decided = Signal(str, object)
    shown_changed = Signal()
    page_wanted = Signal(str)
    file_link = Signal(str)

    def __init__(self, requests: Requests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialogSlot")
        self._requests = requests
        self._dialogs: dict[str, RequestDialog] = {}
        self._shown = ""
        self.many = plain_label("", "soft")
        self.many.setObjectName("manyRequests")
        self.previous = button("‹", "previousRequest", "quiet")
        self.previous.setAccessibleName(tr("The request before this one"))
        self.next = button("›", "nextRequest", "quiet")
        self.next.setAccessibleName(tr("The request after this one"))
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self._head = QWidget(self)
        head = QHBoxLayout(self._head)
        head.setContentsMargins(theme.px(16), 0, theme.px(16), 0)
        head.addStretch(1)
        for widget in (self.previous, self.many, self.next):
            head.addWidget(widget)
        head.addStretch(1)
        self._head.hide()
        # The dialog's own box, so that one that is moved out leaves its notice where it was.
        self._box = QWidget(self)
        self._box_column = QVBoxLayout(self._box)
        self._box_column.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self._box, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    @property
    def shown(self) -> RequestDialog | None:
        """The dialog that is shown."""
        return self._dialogs.get(self._shown)

    @property
    def shown_id(self) -> str:
        """The request that is shown, "" for none."""
        return self._shown

    def refresh(self) -> None:
        """Show what waits now: the one that was shown if it still waits, else the first."""
        pending = self._requests.pending
        for request_id in list(self._dialogs):
            # One that is over while its request still waits was not accepted: it is asked anew.
            if request_id not in pending or self._dialogs[request_id].is_over:
                self._close(request_id)
        if self._shown not in pending:
            self._show(next(iter(pending), ""))
        self._show_many()

    def lead_to(self, request_id: str) -> None:
        """Show a request and give it the focus, because the person asked for it."""
        if request_id in self._requests.pending:
            self._show(request_id)
            self._show_many()
            if self.shown is not None:
                self.shown.take_focus()

    def step(self, by: int) -> None:
        """Show the request before or after."""
        ids = list(self._requests.pending)
        if self._shown in ids and ids:
            self._show(ids[(ids.index(self._shown) + by) % len(ids)])
            self._show_many()

    def typed(self, request_id: str) -> str:
        """What stands in the dialog of a request, "" when it has none or nothing."""
        dialog = self._dialogs.get(request_id)
        return dialog.typed() if dialog is not None else ""

    def all_typed(self) -> dict[str, str]:
        """What stands in the dialogs, by request id."""
        return {request_id: dialog.typed() for request_id, dialog in self._dialogs.items()}

    def _show(self, request_id: str) -> None:
        if request_id == self._shown and (not request_id or request_id in self._dialogs):
            return
        before = self.shown
        self._shown = request_id
        if before is not None and not before.is_moved_out:
            before.hide()
        if request_id:
            dialog = self._dialogs.get(request_id) or self._make(request_id)
            if not dialog.is_moved_out:
                dialog.show()
        self.setVisible(bool(request_id))
        self.updateGeometry()
        self.shown_changed.emit()

    def _make(self, request_id: str) -> RequestDialog:
        pending = self._requests.pending[request_id]
        dialog = dialog_for(pending, self._requests.context(request_id), self._box)
        dialog.decided.connect(lambda result: self._on_decided(request_id, result))
        dialog.page_wanted.connect(self.page_wanted)
        dialog.file_link.connect(self.file_link)
        dialog.moved_out.connect(lambda _: self.updateGeometry())
        dialog.installEventFilter(self)
        self._dialogs[request_id] = dialog
        self._box_column.addWidget(dialog, 1, Qt.AlignmentFlag.AlignHCenter)
        return dialog

    def _on_decided(self, request_id: str, result: dict[str, Any]) -> None:
        self.decided.emit(request_id, result)

    def _close(self, request_id: str) -> None:
        dialog = self._dialogs.pop(request_id)
        dialog.removeEventFilter(self)
        dialog.withdraw()
        self._box_column.removeWidget(dialog)
        dialog.deleteLater()
        if self._shown == request_id:
            self._shown = ""
            self.shown_changed.emit()

    def _show_many(self) -> None:
        ids = list(self._requests.pending)
        self._head.setVisible(len(ids) > 1)
        if self._shown in ids:
            self.many.setText(tr("{number} of {count}", number=ids.index(self._shown) + 1, count=len(ids)))
        self.setVisible(bool(ids))

    def wanted_height(self) -> int:
        """What the shown dialog would like, in pixels."""
        if not self._shown:
            return 0
        head = self._head.sizeHint().height() if not self._head.isHidden() else 0
        return head + self._box_column.sizeHint().height()

    def least_height(self) -> int:
        """What the shown dialog cannot do without: its questions, one row to scroll in, and its buttons."""
        dialog = self.shown
        layout = dialog.layout() if dialog is not None and not dialog.is_moved_out else None
        head = self._head.sizeHint().height() if not self._head.isHidden() else 0
        return head + (layout.minimumSize().height() if layout is not None else 0)

    def fit(self, page_height: int, others: int) -> None:
        """Take the height that the shown dialog wants, as long as some of what was said stays in sight.

        Args:
            page_height: of the page, in pixels.
            others: what the page's other fixed parts take of it.
        """
        if self.shown is None:
            return
        room = page_height - others
        height = min(self.wanted_height(), room - least_transcript(page_height))
        # In a very low window a request with its buttons comes before the last lines of the transcript.
        height = max(height, min(self.least_height(), room), 0)
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:
        return QSize(theme.column_width(), self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The dialog's content has another height now: a page was turned, a note opened.
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.updateGeometry()
            self.shown_changed.emit()
        return False


def plan_of(opened: OpenConversation, pending: PendingRequest, read: Callable[[str], str | None] | None = None) -> str:
    """The text of the plan that a request is about, wherever this CLI has put it."""
    tool_input: dict[str, Any] = {}
    if pending.tool_item_id is not None:
        item = opened.conversation.item(pending.tool_item_id)
        if isinstance(item, ToolItem):
            tool_input = item.input
    return plan_text(getattr(pending.request, "input", {}), tool_input, read or read_beginning)
