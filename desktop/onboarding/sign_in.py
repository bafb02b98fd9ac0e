"""Signing in: runs `claude auth login` where the person can see it. The app never touches a token itself."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from desktop import loop, theme
from desktop.reader import run_qthread
from desktop.sentences import said
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role
from protocol.process import CliProcess, Exit, StartError
from protocol.pump import StderrTail, StreamWriter, read_stream

log = logging.getLogger("handraise.sign_in")

_ADDRESS = re.compile(r"https://[^\s\x1b]+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
MAX_SHOWN = 20_000


def address_in(text: str) -> str:
    """The first https address in what the CLI printed, "" for none."""
    found = _ADDRESS.search(_ESCAPES.sub("", text))
    return found.group(0) if found else ""


def plain(text: str) -> str:
    """Terminal output as plain text: without escape sequences and carriage returns."""
    return _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


class SignIn(QObject):
    """One run of `claude auth login`.

    Signals:
        printed(text): it said something.
        ended(Exit): it is over; code 0 means signed in.
    """

    printed = Signal(str)
    ended = Signal(object)
    _received = Signal(bytes)

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._argv = [*argv, "auth", "login"]
        self._env = dict(env)
        self._process: CliProcess | None = None
        self._writer: StreamWriter | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # From the reading thread to this one: Qt queues it.
        self._received.connect(self._on_received)

    async def run(self) -> Exit:
        """Run it to its end. Raises StartError."""
        home = self._env.get("HOME") or self._env.get("USERPROFILE") or str(Path.home())
        # It opens the browser: that one is the person's own, and stays when this ends.
        process = await loop.on_thread(lambda: CliProcess.start(self._argv, Path(home), self._env, detached_too=False))
        self._process = process
        self._writer = StreamWriter(process.stdin, name="sign-in stdin", run_thread=run_qthread)
        tail = StderrTail(process.stderr, name="sign-in stderr", run_thread=run_qthread)
        reader = run_qthread(lambda: read_stream(process.stdout, self._received.emit), "sign-in stdout")
        try:
            await loop.on_thread(process.wait, None)
        finally:
            # Also when the program is closed meanwhile: no thread of it may be left behind.
            ended = await loop.on_thread(lambda: process.close(self._writer, tail=tail))
            await loop.on_thread(reader.join, 3.0)
        if ended.stderr_tail:
            self.printed.emit(plain(ended.stderr_tail))
        self.ended.emit(ended)
        return ended

    def say(self, text: str) -> None:
        """Hand a line to it, such as the code that the browser showed."""
        if self._writer is not None:
            self._writer.put(text.encode("utf-8", "replace") + b"\n")

    def cancel(self) -> None:
        """End it."""
        process, writer = self._process, self._writer
        if process is not None and writer is not None and process.poll() is None:
            process.terminate_tree()

    def _on_received(self, data: bytes) -> None:
        self.printed.emit(plain(self._decoder.decode(data)))


class SignInDialog(QDialog):
    """Shows what `claude auth login` says, and takes the code where it asks for one. Never modal to the app.

    Signals:
        signed_in: it ended well.
    """

    signed_in = Signal()

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("signInDialog")
        self.setWindowTitle(tr("Sign in to Claude"))
        self.sign_in = SignIn(argv, env, self)
        self.sign_in.printed.connect(self._on_printed)
        self.sign_in.ended.connect(self._on_ended)
        self._address = ""
        self._over = False
        self.words = plain_label(
            tr("Claude’s own program signs you in with the browser. Handraise never sees your password or token."),
            "soft", wrap=True,
        )  # fmt: skip
        self.output = QPlainTextEdit(self)
        self.output.setObjectName("signInOutput")
        self.output.setReadOnly(True)
        self.output.setMaximumBlockCount(500)
        self.output.setFont(theme.code_font())
        self.output.setAccessibleName(tr("What Claude’s program says"))
        self.browser = button(tr("Open the browser again"), "signInBrowser")
        self.browser.setEnabled(False)
        self.browser.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._address)))
        self.code = QLineEdit(self)
        self.code.setObjectName("signInCode")
        self.code.setPlaceholderText(tr("Code from the browser, if it shows one"))
        self.code.setAccessibleName(tr("Code from the browser"))
        self.code.returnPressed.connect(self._hand_over)
        self.hand_over = button(tr("Hand over"), "signInHandOver", "primary")
        self.hand_over.clicked.connect(self._hand_over)
        self.cancel = button(tr("Cancel"), "signInCancel", "quiet")
        self.cancel.clicked.connect(self.reject)
        self._lay_out()

    def _lay_out(self) -> None:
        entry = QHBoxLayout()
        entry.addWidget(self.code, 1)
        entry.addWidget(self.hand_over)
        foot = QHBoxLayout()
        foot.addWidget(self.cancel)
        foot.addStretch(1)
        foot.addWidget(self.browser)
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.px(16)] * 4))
        column.setSpacing(theme.px(10))
        column.addWidget(self.words)
        column.addWidget(self.output, 1)
        column.addLayout(entry)
        column.addLayout(foot)
        self.resize(theme.px(560), theme.px(360))

    def start(self) -> None:
        """Show it and run the program."""
        self.open()
        loop.spawn(self._run(), "signing in")

    async def _run(self) -> None:
        try:
            await self.sign_in.run()
        except StartError as error:
            self._fail(str(said(error)))

    def _hand_over(self) -> None:
        text = self.code.text().strip()
        if text and not self._over:
            self.sign_in.say(text)
            self.code.clear()

    def _on_printed(self, text: str) -> None:
        if len(self.output.toPlainText()) < MAX_SHOWN:
            self.output.moveCursor(self.output.textCursor().MoveOperation.End)
            self.output.insertPlainText(text)
        address = address_in(self.output.toPlainText())
        if address:
            self._address = address
            self.browser.setEnabled(True)

    def _on_ended(self, ended: Exit) -> None:
        self._over = True
        if ended.code == 0:
            self.accept()
            self.signed_in.emit()
        else:
            self._fail(tr("Signing in did not work. Close this and try again."))

    def _fail(self, text: str) -> None:
        self._over = True
        self.words.setText(text)
        set_role(self.words, tone="bad")
        self.cancel.setText(tr("Close"))
        self.hand_over.setEnabled(False)

    def done(self, result: int) -> None:
        """Qt's word for the end: the program must not outlive the dialog."""
        if not self._over:
            self.sign_in.cancel()
        super().done(result)
