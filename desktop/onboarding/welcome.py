"""The page without a conversation: what was found on this computer, and the first step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop import theme
from desktop.conversations import Surroundings
from desktop.conversations.notices import (
    Notice,
    claude_broken,
    claude_missing,
    login_unreadable,
    signed_out,
    too_old,
)
from desktop.sentences import said
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role
from desktop.window.notice_bar import NoticeBar
from protocol import claude as cli


@dataclass(frozen=True)
class Findings:
    """What is known about this computer.

    Attributes:
        words: one line for the page.
        notice: what stands in the way, or None.
        login: who is signed in, None when it was not asked.
    """

    words: str
    notice: Notice | None = None
    login: cli.Login | None = None


async def look_around(surroundings: Surroundings) -> Findings:
    """Find the CLI, its version and its login state. Never raises what it is there to find."""
    try:
        prepared = await surroundings.prepare()
    except cli.ClaudeNotFound as error:
        return Findings(tr("Claude Code was not found."), claude_missing(error))
    except cli.ClaudeBroken as error:
        return Findings(tr("Claude Code was found, and does not work."), claude_broken(error))
    version = ".".join(str(part) for part in prepared.version)
    words = tr("Claude Code {version} · {path}", version=version, path=prepared.claude.argv[0])
    explanation = cli.explain_version(prepared.version)
    if explanation:
        return Findings(words, too_old(said(explanation)))
    login = await surroundings.read_login()
    if login.logged_in is False and not prepared.environment.notable:
        notice = login_unreadable(login.problem) if login.problem else signed_out(draft_back=False)
        return Findings(words, notice, login)
    return Findings(words, None, login)


class WelcomePage(QWidget):
    """The first thing a person sees.

    Signals:
        start_in(Path): begin in this folder.
        choose_folder: pick a folder first.
        acted(key, name): a button of a notice.
    """

    start_in = Signal(object)
    choose_folder = Signal()
    acted = Signal(str, str)

    def __init__(self, last_folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        set_role(self, "page")
        self.title = plain_label(tr("What shall Claude work on?"), "question")
        self.found = plain_label(tr("Looking for Claude Code…"), "soft", wrap=True)
        self.found.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notices = NoticeBar(self)
        self.notices.acted.connect(self.acted)
        self.notices.dismissed.connect(lambda _: self.notices.show_notices([]))
        self.choose = button(tr("Choose a folder…"), "welcomeChooseFolder", "primary")
        self.choose.clicked.connect(self.choose_folder)
        self.again = button("", "welcomeLastFolder")
        self.again.clicked.connect(lambda: self.start_in.emit(Path(last_folder)))
        self._lay_out(last_folder)

    def _lay_out(self, last_folder: str) -> None:
        intro = plain_label(
            tr(
                "Claude works in one folder at a time. It asks here before it changes anything, "
                "and when it needs a decision."
            ),
            "soft",
            wrap=True,
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.px(8))
        buttons.addWidget(self.choose)
        if last_folder and Path(last_folder).name:
            words = tr("Go on in {name}", name=Path(last_folder).name)
            self.again.setText(words.replace("&", "&&"))
            self.again.setAccessibleName(words)
            self.again.setToolTip(last_folder)
            buttons.addWidget(self.again)
        else:
            self.again.hide()
        buttons.addStretch(1)
        inner = QWidget(self)
        inner.setMaximumWidth(theme.px(560))
        column = QVBoxLayout(inner)
        column.setSpacing(theme.px(12))
        for widget in (self.title, intro):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addSpacing(theme.px(12))
        column.addWidget(self.notices)
        column.addWidget(self.found)
        rows = QVBoxLayout(self)
        rows.addStretch(2)
        centred = QHBoxLayout()
        centred.addStretch(1)
        centred.addWidget(inner, 1000)
        centred.addStretch(1)
        rows.addLayout(centred)
        rows.addStretch(3)

    def show_findings(self, findings: Findings) -> None:
        """Say what was found, and what stands in the way."""
        self.found.setText(findings.words)
        self.notices.show_notices([findings.notice] if findings.notice else [])
