"""Slash commands that the CLI runs itself, without the model, and what they print."""

from __future__ import annotations

import re

from protocol.conversation import notices as texts
from protocol.conversation.items import TextItem
from protocol.conversation.notices import Notices
from protocol.conversation.transcript import Transcript

CLEARING = frozenset({"/clear", "/reset", "/new"})

_OUTPUT = re.compile(r"\s*<local-command-(stdout|stderr)>(.*?)(?:</local-command-\1>)?\s*\Z", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_COMPACTED = "Compacted"  # a notice says so already


class LocalCommands:
    """Shows what local commands print. New CLIs send it as an assistant message instead."""

    def __init__(self, transcript: Transcript, notices: Notices) -> None:
        self._transcript = transcript
        self._notices = notices

    def show(self, text: str) -> bool:
        """Takes a made-up user message; False if it is no command's output."""
        match = _OUTPUT.match(text)
        if match is None:
            return False
        output = match[2].strip()
        if match[1] == "stderr":
            self._notices.add("error", texts.FROM_CLAUDE, message=output)
        elif output and output != _COMPACTED:
            self._transcript.add(TextItem(self._transcript.new_id(), text=output))
        return True


def typed_command(text: str) -> str:
    """What the user typed, from the form in which the CLI keeps a command; "" if it is none."""
    name = _COMMAND.search(text)
    if name is None:
        return ""
    arguments = _ARGUMENTS.search(text)
    return f"{name[1]} {arguments[1].strip() if arguments else ''}".strip()
