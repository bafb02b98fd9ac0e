"""The composer: the field, its attachments, and the two buttons. It knows no conversation; its page connects it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop import theme
from desktop.composer import attachments
from desktop.composer.attachments import Image
from desktop.composer.attachments_bar import AttachmentsBar
from desktop.composer.completion import (
    Candidate,
    History,
    Wanted,
    completed,
    file_candidates,
    matching_commands,
    wanted_at,
)
from desktop.composer.completion_popup import CompletionPopup
from desktop.composer.editor import Editor
from desktop.keys import as_typed
from desktop.sentences import Sentence
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role

FILE_QUERY_MS = 120
NARROW = 380
"""Pixels at 100 % below which the field has no room for a whole sentence."""
QuestionUse = Literal["", "reply", "queue"]


class Composer(QFrame):
    """Where a message is written.

    Signals:
        send_requested(text, images): Enter or Send, with something to send. The field is cleared by `clear`, which
            the receiver calls once it has the text in its own hands.
        stop_requested: the Stop button.
        edited: the text or what is attached has changed; the draft is to be kept.
        file_query(query): paths are wanted for an `@` mention; answer with `offer_files`.
        switch_requested: while a question is open, the person wants the text to be the other of reply and message.
    """

    send_requested = Signal(str, list)
    stop_requested = Signal()
    edited = Signal()
    file_query = Signal(str)
    switch_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerFrame")
        set_role(self, "request")
        self.editor = Editor(self)
        self.attachments = AttachmentsBar(self)
        self.problem = plain_label("", "soft", wrap=True)
        set_role(self.problem, tone="bad")
        self.problem.hide()
        self.note = plain_label(tr("Pictures cannot be part of a reply: this will be queued as a message."), "soft")
        self.note.setWordWrap(True)
        self.note.hide()
        self.send_button = button(tr("Send"), "sendButton", "primary")
        self.stop_button = button(tr("Stop"), "stopButton")
        self.stop_button.setToolTip(as_typed(tr("Stop what Claude is doing. The conversation stays. (Ctrl+.)")))
        self.switch_button = button("", "replyOrQueue", "quiet")
        self.history = History()
        self._commands: list[tuple[str, str]] = []
        self._busy = False
        self._use: QuestionUse = ""
        self._wanted: Wanted | None = None
        self._file_timer = QTimer(self)
        self._file_timer.setSingleShot(True)
        self._file_timer.setInterval(FILE_QUERY_MS)
        self._lay_out()
        self.popup = CompletionPopup(self.editor)
        self._connect()
        self._refresh()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.editor, 1)
        row.addWidget(self.switch_button)
        row.addWidget(self.stop_button)
        row.addWidget(self.send_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(self.attachments)
        layout.addWidget(self.problem)
        layout.addWidget(self.note)
        layout.addLayout(row)

    def _connect(self) -> None:
        self.editor.submitted.connect(self.submit)
        self.editor.resized.connect(lambda: self.editor.setPlaceholderText(self._placeholder()))
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.cursorPositionChanged.connect(self._complete)
        self.editor.older_wanted.connect(lambda: self._walk(self.history.older(self.editor.toPlainText())))
        self.editor.newer_wanted.connect(lambda: self._walk(self.history.newer(self.editor.toPlainText())))
        self.editor.images_offered.connect(self.add_images)
        self.editor.long_text_pasted.connect(self.add_text)
        self.attachments.changed.connect(self._on_attachments_changed)
        self.send_button.clicked.connect(self.submit)
        self.stop_button.clicked.connect(self.stop_requested)
        self.switch_button.clicked.connect(self.switch_requested)
        self.popup.chosen.connect(self._put_in)
        self._file_timer.timeout.connect(self._ask_for_files)

    # What is in it

    def text(self) -> str:
        """The whole message: the field and the long pasted texts."""
        return attachments.whole_text(self.editor.toPlainText(), self.attachments.texts)

    def images(self) -> list[Image]:
        return list(self.attachments.images)

    def has_content(self) -> bool:
        return bool(self.editor.toPlainText().strip() or self.attachments.texts or self.attachments.images)

    def set_content(self, text: str, images: Sequence[Image] = ()) -> None:
        """Replace everything: a kept draft, or nothing."""
        self.attachments.clear()
        self.editor.set_text("")
        self.say("")
        self.add_text(text)
        for image in images:
            self.attachments.add_image(image)

    def add_text(self, text: str) -> None:
        """Put a text behind what is there; one too long for the field becomes an attachment."""
        if attachments.is_long(text):
            self.attachments.add_text(text)
        elif text:
            present = self.editor.toPlainText()
            cursor = self.editor.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            cursor.insertText(f"\n{text}" if present.strip() and not present.endswith("\n") else text)
            self.editor.setTextCursor(cursor)
            self.editor.ensureCursorVisible()

    def add_images(self, offered: Sequence[QImage | str]) -> None:
        """Attach pictures (QImage or file path); what cannot be attached is said in the composer."""
        problems = []
        for one in offered:
            already = len(self.attachments.images)
            if isinstance(one, QImage):
                made = attachments.clipboard_image(one, already)
            else:
                made = attachments.image_file(Path(one), already)
            if isinstance(made, Sentence):
                problems.append(str(made))
            else:
                self.attachments.add_image(made)
        self.say(" ".join(problems))

    def clear(self) -> None:
        """Empty the composer: its content is in other hands now."""
        self.history.add(self.editor.toPlainText())
        self.set_content("")

    def say(self, text: str) -> None:
        """Show a sentence above the field, or none."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    # What it may do

    def set_busy(self, busy: bool) -> None:
        """Whether Claude is at work: there is something to stop, and a message would be queued."""
        self._busy = busy
        self._refresh()

    def set_question(self, use: QuestionUse) -> None:
        """What the text becomes while a question is open; "" while none is."""
        self._use = use
        self._refresh()

    @property
    def is_reply(self) -> bool:
        """Whether what is written now would be the reply to the open question. Pictures cannot be part of one."""
        return self._use == "reply" and not self.attachments.images

    def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """The CLI's commands as (name, description)."""
        self._commands = list(commands)

    def submit(self) -> None:
        """Hand the message over, if there is one."""
        if self.editor.composing:
            return
        if not self.has_content():
            self.editor.setFocus()
            return
        self.say("")
        self.popup.hide()
        self.send_requested.emit(self.text(), self.images())

    def _refresh(self) -> None:
        content = self.has_content()
        self.stop_button.setVisible(self._busy)
        # While Claude works and nothing is typed, Stop alone stands there: nothing to press by mistake.
        self.send_button.setVisible(content or not self._busy)
        self.send_button.setEnabled(content)
        words, hint = self._send_words()
        self.send_button.setText(words)
        self.send_button.setAccessibleName(words)
        self.send_button.setToolTip(hint if content else tr("Write a message first"))
        self.editor.setPlaceholderText(self._placeholder())
        self._refresh_switch()

    def _send_words(self) -> tuple[str, str]:
        if self.is_reply:
            return tr("Reply"), tr("Sends this as your reply to the open question (Enter)")
        if self._busy:
            return tr("Queue"), tr("Claude reads this as soon as it can (Enter)")
        return tr("Send"), tr("Sends the message (Enter; Shift+Enter begins a new line)")

    def _placeholder(self) -> str:
        if self.editor.width() < theme.px(NARROW):
            return tr("Your reply") if self._use == "reply" else tr("Message Claude")
        if self._use == "reply":
            return tr("Message Claude. While a question is open this becomes your reply to it.")
        if self._use == "queue":
            return tr("Message Claude. It is queued, and read after the question is answered.")
        if self._busy:
            return tr("Message Claude. It is read as soon as Claude can.")
        return tr("Message Claude")

    def _refresh_switch(self) -> None:
        words = tr("Queue instead") if self._use == "reply" else tr("Make it the reply")
        self.switch_button.setText(words)
        self.switch_button.setAccessibleName(words)
        pictures = self._use == "reply" and bool(self.attachments.images)
        self.switch_button.setVisible(bool(self._use) and not pictures)
        if self._use == "reply":
            hint = tr("What you write becomes your reply to the open question. Press to queue it as a message instead.")
        else:
            hint = tr("What you write is queued as a message. Press to make it your reply to the open question.")
        self.switch_button.setToolTip(hint)
        self.note.setVisible(pictures)

    def _on_text_changed(self) -> None:
        self._refresh()
        self.edited.emit()
        self._complete()

    def _on_attachments_changed(self) -> None:
        self._refresh()
        self.edited.emit()

    def _walk(self, text: str | None) -> None:
        if text is not None:
            self.editor.set_text(text)

    # Completion

    def _complete(self) -> None:
        position = self.editor.textCursor().position()
        if self.editor.composing or not self.editor.hasFocus():
            self._wanted = None
        else:
            self._wanted = wanted_at(self.editor.toPlainText(), position)
        if self._wanted is None:
            self.popup.offer([])
        elif self._wanted.kind == "command":
            found = matching_commands(self._commands, self._wanted.query)
            exact = len(found) == 1 and found[0].label == f"/{self._wanted.query}"
            self.popup.offer([] if exact else found)
        else:
            self._file_timer.start()

    def _ask_for_files(self) -> None:
        if self._wanted is not None and self._wanted.kind == "file":
            self.file_query.emit(self._wanted.query)

    def offer_files(self, query: str, paths: Sequence[str]) -> None:
        """Show paths for a query; an answer that comes after more was typed is dropped."""
        if self._wanted is not None and self._wanted.kind == "file" and self._wanted.query == query:
            self.popup.offer(file_candidates(paths))

    def _put_in(self, candidate: Candidate) -> None:
        if self._wanted is None:
            return
        position = self.editor.textCursor().position()
        text, place = completed(self.editor.toPlainText(), self._wanted, position, candidate)
        self.editor.set_text(text)
        cursor = self.editor.textCursor()
        cursor.setPosition(place)
        self.editor.setTextCursor(cursor)
