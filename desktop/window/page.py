"""One conversation in the window: what was said, what waits for the person, and the composer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from desktop import loop, theme
from desktop.composer import Composer
from desktop.composer.attachments import Image
from desktop.composer.bars import OutboxBar, RecoveredBar
from desktop.composer.composer import QuestionUse
from desktop.conversations import OpenConversation, notices
from desktop.settings import SettingsStore
from desktop.transcript import TranscriptView
from desktop.transcript.markdown import open_web_link
from desktop.widgets import set_role
from desktop.window.dialog_slot import ConversationRequests, DialogSlot
from desktop.window.empty_page import EmptyPage
from desktop.window.notice_bar import NoticeBar
from protocol.conversation import Change

TYPED_MS = 500
"""How often what stands in the dialogs is noted for the draft."""


class ConversationPage(QWidget):
    """A thin view: it shows what the conversation is, and hands over what the person does.

    Signals:
        notice_acted(key, name): a button of a notice that the window has to see to.
    """

    notice_acted = Signal(str, str)

    def __init__(self, opened: OpenConversation, settings: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.opened = opened
        self._settings = settings
        self._file = ""
        set_role(self, "page")
        self.transcript = TranscriptView(opened.conversation, self)
        # Qt's own minimum for a scroll area would push a request over the composer in a low window.
        self.transcript.setMinimumHeight(1)
        self.empty = EmptyPage(self.transcript)
        self.slot = DialogSlot(ConversationRequests(opened), self)
        self.notices = NoticeBar(self)
        self.outbox = OutboxBar(self)
        self.recovered = RecoveredBar(self)
        self.composer = Composer(self)
        self._typed_timer = QTimer(self)
        self._typed_timer.setInterval(TYPED_MS)
        self._typed_timer.timeout.connect(self.note_typed)
        self._lay_out()
        self.composer.set_content(opened.draft, opened.texts.images)
        self._connect()
        self.refresh()
        self.slot.refresh()

    def _lay_out(self) -> None:
        self._lower = QWidget(self)
        self._lower.setMaximumWidth(theme.column_width())
        column = QVBoxLayout(self._lower)
        column.setContentsMargins(0, 0, 0, theme.px(8))
        column.setSpacing(theme.px(8))
        for widget in (self.notices, self.outbox, self.recovered, self.composer):
            column.addWidget(widget)
        centred = QHBoxLayout()
        centred.setContentsMargins(theme.px(12), 0, theme.px(12), 0)
        centred.addStretch(1)
        centred.addWidget(self._lower, 1000)
        centred.addStretch(1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.transcript, 1)
        rows.addWidget(self.slot)
        rows.addLayout(centred)

    def _connect(self) -> None:
        opened, composer = self.opened, self.composer
        opened.changed.connect(self._on_changes)
        opened.state_changed.connect(self.refresh)
        opened.texts.put_back.connect(self._put_back)
        opened.typed_in_dialog = self.slot.typed
        composer.send_requested.connect(self._send)
        composer.stop_requested.connect(opened.stop)
        composer.edited.connect(self._on_edited)
        composer.file_query.connect(self._look_for_files)
        composer.switch_requested.connect(self._switch_use)
        self.slot.decided.connect(self._on_decided)
        self.slot.shown_changed.connect(self._fit_slot)
        self.slot.page_wanted.connect(open_web_link)
        self.slot.file_link.connect(self._ask_about_file)
        self.notices.acted.connect(self._on_notice)
        self.notices.dismissed.connect(opened.clear_notices)
        self.outbox.take_back.connect(opened.take_back)
        self.recovered.use.connect(self._use_recovered)
        self.recovered.copy.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.recovered.forget.connect(opened.texts.forget_recovered)
        self.transcript.file_link.connect(self._ask_about_file)

    @property
    def parts(self) -> list[QWidget]:
        """The areas from top to bottom."""
        return [self.transcript, self.slot, self.notices, self.outbox, self.recovered, self.composer]

    # The conversation

    def refresh(self) -> None:
        """Show the state as it is now."""
        opened = self.opened
        self.notices.show_notices(opened.notices.values())
        self.outbox.show_queued(opened.queued, running=opened.runner.is_under_way)
        self.recovered.show_texts(opened.recovered)
        self.composer.set_busy(opened.runner.is_live and opened.conversation.state in ("running", "requires_action"))
        self.composer.set_question(self._use())
        self.composer.set_commands([(one.name, one.description) for one in opened.conversation.commands])
        self._show_empty()
        self._fit_slot()

    def _show_empty(self) -> None:
        opened = self.opened
        nothing = not opened.conversation.items and not opened.conversation.pending and opened.phase != "untrusted"
        if nothing != self.empty.isVisibleTo(self):
            self.empty.show_folder(opened.folder.name or str(opened.folder), shown=nothing)

    def _on_changes(self, changes: Sequence[Change]) -> None:
        self.transcript.apply_changes(changes)
        self._show_empty()
        if any(change.kind.startswith("pending") for change in changes):
            self._refresh_slot()

    def _refresh_slot(self) -> None:
        had_focus = self._focus_is_in_slot()
        self.slot.refresh()
        if self.slot.shown is None:
            self._typed_timer.stop()
            if had_focus:
                self.composer.editor.setFocus()
        else:
            self._typed_timer.start()

    def _focus_is_in_slot(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self.slot or self.slot.isAncestorOf(focused))

    def lead_to(self, request_id: str) -> None:
        """Show a waiting request and give it the focus."""
        self.slot.lead_to(request_id)

    # The composer

    def _use(self) -> QuestionUse:
        if self.opened.open_question is None:
            return ""
        return self._settings.settings.while_question_open

    def _switch_use(self) -> None:
        other = "queue" if self._settings.settings.while_question_open == "reply" else "reply"
        self._settings.change(while_question_open=other)
        self.refresh()
        self.composer.editor.setFocus()

    def _send(self, text: str, images: list[Image]) -> None:
        question = self.opened.open_question
        as_reply = self.composer.is_reply and question is not None
        # First cleared, then sent: what comes back from a failed start must not be wiped away again.
        self.composer.clear()
        self.opened.send(text, images, as_reply=as_reply)
        self.transcript.list.follow()

    def _on_edited(self) -> None:
        self.opened.texts.set_draft(self.composer.text(), self.composer.images())

    def _put_back(self, text: str, images: list[Image]) -> None:
        present = self.composer.text()
        if present == text and self.composer.images() == images:
            return
        if not self.composer.has_content():
            self.composer.set_content(text, images)
        else:
            self.composer.add_text(text)
            for image in images:
                self.composer.attachments.add_image(image)
        self.composer.editor.setFocus()

    def _use_recovered(self, text: str) -> None:
        self.composer.add_text(text)
        self.opened.texts.forget_recovered(text)
        self.composer.editor.setFocus()

    def _look_for_files(self, query: str) -> None:
        if self.opened.runner.is_live:
            loop.spawn(self._offer_files(query), "looking for files")

    async def _offer_files(self, query: str) -> None:
        self.composer.offer_files(query, await self.opened.controls.files(query))

    # What waits for the person

    def _on_decided(self, request_id: str, result: dict[str, Any]) -> None:
        typed = self.slot.typed(request_id)
        if not self.opened.answer(request_id, result):
            # It was withdrawn in this very moment: nothing was sent, and what was typed is kept.
            self.opened.texts.recover(typed)
            self._refresh_slot()

    def note_typed(self) -> None:
        """Tell the conversation what stands in its open requests now."""
        for request_id, text in self.slot.all_typed().items():
            self.opened.texts.note_typed(request_id, text)

    def _on_notice(self, key: str, name: str) -> None:
        opened = self.opened
        own = {
            "restart": opened.restart, "stop": opened.stop, "trust": opened.trust, "start_anew": opened.start_anew,
            "open_file": self._open_file,
        }  # fmt: skip
        if name in own:
            if key != "start":
                opened.clear_notices(key)
            own[name]()
        else:
            self.notice_acted.emit(key, name)

    def _ask_about_file(self, path: str) -> None:
        """A file that Claude named is opened by its program only when the person has seen which one it is."""
        self._file = path
        self.opened.add_notice(notices.open_file(path))

    def _open_file(self) -> None:
        path = self.opened.folder / self._file
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.opened.add_notice(notices.file_not_opened(str(path)))

    # Size

    def _fit_slot(self) -> None:
        """The request gets the height it wants, as long as some of the transcript stays in sight."""
        self.slot.fit(self.height(), self._lower.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_slot()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_slot()
        if self.slot.shown is not None:
            self._typed_timer.start()
        elif not event.spontaneous():
            self.composer.editor.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.note_typed()
