"""What the window says when something is not as it should be: each a sentence that says what to do. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from desktop.sentences import Sentence, said, sentence
from protocol.claude import needs_git_bash
from protocol.process import Exit

Tone = Literal["info", "careful", "bad"]
ActionName = Literal[
    "restart", "stop", "sign_in", "choose_claude", "choose_folder", "trust", "distrust", "start_anew", "install_help",
    "settings", "open_file", "choose_git_bash", "open_release",
]  # fmt: skip


@dataclass(frozen=True)
class Action:
    """A button of a notice. `primary` is the safe next step; at most one a notice."""

    name: ActionName
    words: Sentence
    primary: bool = False


@dataclass(frozen=True)
class Notice:
    """One notice.

    Attributes:
        key: there is one notice a key in a conversation; a new one takes the place of the old.
        text: what happened and what to do.
        detail: more, as it came: the end of stderr. Shown in monospace, can be copied.
        detail_words: what the detail is, for screen readers.
        actions: the buttons.
        can_dismiss: whether it may be put away. What blocks the conversation may not.
    """

    key: str
    tone: Tone
    text: Sentence
    detail: str = ""
    actions: tuple[Action, ...] = ()
    can_dismiss: bool = True
    detail_words: Sentence = field(default_factory=lambda: sentence("What Claude’s program wrote last"))


RESTART = Action("restart", sentence("Restart"), primary=True)
TRY_AGAIN = Action("restart", sentence("Try again"), primary=True)
SIGN_IN = Action("sign_in", sentence("Sign in"), primary=True)
CHOOSE_CLAUDE = Action("choose_claude", sentence("Choose the program…"))
CHOOSE_GIT_BASH = Action("choose_git_bash", sentence("Choose bash.exe…"), primary=True)
CHOOSE_FOLDER = Action("choose_folder", sentence("Choose another folder…"))
START_ANEW = Action("start_anew", sentence("Start a new conversation"), primary=True)
STOP = Action("stop", sentence("Stop"))


def claude_missing(error: object) -> Notice:
    """No `claude` was found."""
    return Notice(
        "start", "bad", said(error),
        actions=(Action("install_help", sentence("How to install it"), primary=True), CHOOSE_CLAUDE,
                 Action("restart", sentence("Look again"))),
        can_dismiss=False,
    )  # fmt: skip


def claude_broken(error: object) -> Notice:
    """There is one and it does not work."""
    actions = _ways_on(getattr(error, "detail", ""))
    return Notice("start", "bad", said(error), actions=actions, can_dismiss=False)


def start_failed(error: object, detail: str = "") -> Notice:
    """The handshake did not come about."""
    return Notice("start", "bad", said(error), detail, _ways_on(detail), can_dismiss=False)


def _ways_on(detail: str) -> tuple[Action, ...]:
    """What may help where a CLI does not start, by what it printed."""
    if needs_git_bash(detail):
        return (CHOOSE_GIT_BASH, Action("restart", sentence("Try again")))
    return (TRY_AGAIN, CHOOSE_CLAUDE)


def start_broke(detail: str) -> Notice:
    """The start failed in a way that nobody foresaw."""
    return Notice("start", "bad", sentence("Claude could not be started."), detail, (TRY_AGAIN, CHOOSE_CLAUDE))


def folder_gone(folder: Path) -> Notice:
    """The conversation's folder is not there (any more)."""
    text = sentence("The folder {folder} is not there, so Claude cannot work in it. Put it back, or choose another.",
                    folder=folder)  # fmt: skip
    return Notice("start", "bad", text, actions=(TRY_AGAIN, CHOOSE_FOLDER), can_dismiss=False)


def too_old(explanation: object) -> Notice:
    """The CLI chats, but cannot ask."""
    return Notice("version", "careful", said(explanation))


def exit_words(ended: Exit | None) -> Sentence:
    """How the CLI ended, in the person's language."""
    if ended is not None and (ended.code, ended.signal) != (None, None):
        return said(ended.sentence)
    return sentence("Claude has exited.")


def exited(ended: Exit | None, *, unsent: bool, gave_up: object = None) -> Notice:
    """The CLI ended and nobody had asked it to.

    Args:
        ended: how.
        unsent: whether a message had not reached it.
        gave_up: why it had to be ended from here, if so; that says more than how it then went.
    """
    said_it = str(exit_words(ended) if gave_up is None else said(gave_up))
    stderr_tail = ended.stderr_tail if ended is not None else ""
    if unsent:
        text = sentence("{what} What it had not received is kept. Restart to go on where it was.", what=said_it)
    else:
        text = sentence("{what} Restart to go on where it was.", what=said_it)
    return Notice("start", "bad", text, stderr_tail.strip(), (RESTART,), can_dismiss=False)


def line_lost() -> Notice:
    """A line past the cap was dropped; what it held is on the CLI's side only."""
    text = sentence("Something that Claude sent was too long and is missing above. Restart to go on where it was.")
    return Notice("line", "careful", text, actions=(RESTART,))


def not_saved() -> Notice:
    """Resume found no conversation: Claude had not saved anything of it."""
    text = sentence(
        "Claude has saved nothing of this conversation, so it cannot go on where it was. What you wrote is kept: "
        "a new conversation in the same folder can take it up, but Claude will not know what was said above."
    )
    return Notice("start", "careful", text, actions=(START_ANEW,), can_dismiss=False)


def begun_anew() -> Notice:
    """The conversation goes on as a new one."""
    return Notice("anew", "info", sentence("This is a new conversation: Claude does not know what was said above."))


def untrusted(folder: Path, files: Sequence[str]) -> Notice:
    """The folder brings settings that a CLI would obey."""
    text = sentence(
        "{folder} has its own settings for Claude ({files}). They can run programs and allow tools on this computer. "
        "Start Claude here only if you trust who wrote them.",
        folder=folder, files=", ".join(files),
    )  # fmt: skip
    actions = (Action("trust", sentence("Trust this folder")), CHOOSE_FOLDER)
    return Notice("start", "careful", text, actions=actions, can_dismiss=False)


def queued(limit: int) -> Notice:
    """Too many CLIs run already."""
    text = sentence(
        "Waiting: {limit} conversations run already. This one starts as soon as one of them ends. "
        "What you write meanwhile is kept.",
        limit=limit,
    )
    actions = (Action("settings", sentence("Change the number…")),)
    return Notice("start", "info", text, actions=actions, can_dismiss=False)


def signed_out(*, draft_back: bool) -> Notice:
    """The account is not, or no longer, signed in."""
    if draft_back:
        text = sentence("Claude is not signed in. Sign in, and this conversation goes on; your message is kept below.")
    else:
        text = sentence("Claude is not signed in. Sign in to go on; the conversation is kept.")
    return Notice("login", "careful", text, actions=(SIGN_IN,))


def login_unreadable(reason: object) -> Notice:
    """Nobody seems to be signed in, because what keeps the login did not hand it out."""
    look_again = Action("restart", sentence("Look again"), primary=True)
    return Notice("login", "careful", said(reason), actions=(look_again, Action("sign_in", sentence("Sign in"))))


def api_key_removed(names: Sequence[str]) -> Notice:
    """Said once: the key in the environment would have billed the API."""
    text = sentence(
        "{names} in your environment would bill the API instead of your plan, so Claude was started without it. "
        "The settings can keep it.",
        names=", ".join(names),
    )
    return Notice("api_key", "info", text, actions=(Action("settings", sentence("Settings…")),))


def no_sign_of_life(minutes: int) -> Notice:
    """Nothing has come for a long time, and no tool is running."""
    text = sentence(
        "No sign of life from Claude for {minutes} min. The network may be slow: wait, stop this turn, or restart.",
        minutes=minutes,
    )
    return Notice("silence", "careful", text, actions=(STOP, Action("restart", sentence("Restart"))))


def refused(what: Sentence, error: object) -> Notice:
    """The CLI did not take a change of model or mode; the selector has gone back."""
    text = sentence("{what}: {reason}", what=str(what), reason=str(said(error)))
    return Notice("refused", "careful", text)


def new_release(version: str, current: str, page: str, news: str) -> Notice:
    """There is a newer Handraise; nothing is installed."""
    text = sentence(
        "Handraise {version} has been released; this is {current}. Nothing is installed by itself: {page}",
        version=version, current=current, page=page,
    )  # fmt: skip
    action = Action("open_release", sentence("Open the page"), primary=True)
    return Notice("update", "info", text, news, (action,), detail_words=sentence("What is new in this release"))


def open_file(path: str) -> Notice:
    """A link to a file was clicked."""
    text = sentence("Open {path} with its program?", path=path)
    return Notice("file", "info", text, actions=(Action("open_file", sentence("Open")),))


def file_not_opened(path: str) -> Notice:
    """The system has no program for the file, or the file is not there."""
    return Notice("file", "careful", sentence("{path} could not be opened.", path=path))


def draft_not_saved(reason: str) -> Notice:
    """The disk does not take the drafts; a crash would lose them."""
    text = sentence("What you type cannot be kept on the disk ({reason}): a crash would lose it.", reason=reason)
    return Notice("draft", "careful", text)
