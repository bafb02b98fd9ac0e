"""A conversation of an earlier day, from the lines that the CLI keeps on disk.

They resemble the messages on stdout, with other names for some fields (`toolUseResult`, `compactMetadata`), and hold
much that is no part of the conversation: what was said to the model in the user's name, subagents, bookkeeping.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from protocol.conversation import notices as texts
from protocol.conversation.asking import decision_of, kind_of
from protocol.conversation.items import ToolItem
from protocol.conversation.local_commands import LocalCommands, typed_command
from protocol.conversation.notices import Notices
from protocol.conversation.speech import Speech
from protocol.conversation.tools import Tools
from protocol.conversation.transcript import Transcript
from protocol.conversation.users import UserMessages, text_of
from protocol.messages import (
    AssistantMessage,
    CompactBoundary,
    TextBlock,
    ToolResultBlock,
    UserMessage,
    parse_blocks,
    parse_message,
)

_INTERRUPTED = "[Request interrupted by user"


class Past:
    """Puts past entries into the parts of a conversation."""

    def __init__(
        self, transcript: Transcript, tools: Tools, speech: Speech, users: UserMessages, notices: Notices
    ) -> None:
        self._transcript = transcript
        self._tools = tools
        self._speech = speech
        self._users = users
        self._notices = notices
        self._commands = LocalCommands(transcript, notices)

    def entry(self, value: Mapping[str, Any]) -> None:
        """Takes one line. Subagents' lines and what only the model was told are left out."""
        if value.get("isSidechain") is True or value.get("isMeta") is True:
            return
        self._transcript.now = _seconds(value.get("timestamp"))
        kind = value.get("type")
        if kind == "system":
            self._system(value)
        elif kind == "attachment":
            self._attachment(value.get("attachment"), value)
        else:
            message = parse_message(dict(value))
            if isinstance(message, AssistantMessage):
                self._assistant(message)
            elif isinstance(message, UserMessage):
                self._user(message)

    def over(self) -> None:
        """That was all of it; what had no result then has none now."""
        self._tools.turn_over()
        self._notices.reset()

    def _assistant(self, message: AssistantMessage) -> None:
        if message.error or message.raw.get("isApiErrorMessage") is True:
            self._notices.error(message.error, None, text_of(message.content))
        else:
            self._speech.message(message)

    def _user(self, message: UserMessage) -> None:
        results = [block for block in message.content if isinstance(block, ToolResultBlock)]
        for block in results:
            structured = message.raw.get("toolUseResult") if len(results) == 1 else None
            self._tools.result(block, structured, {"non_execution_kind": message.raw.get("toolDenialKind")})
            item = self._tools.get(block.tool_use_id)
            if item is not None:
                self._decided(item, message.raw, structured)
        text = text_of(message.content)
        if results or self._commands.show(text):
            return
        if message.raw.get("isCompactSummary") is True:
            self._notices.summary(text)
        elif text.startswith(_INTERRUPTED):
            self._notices.add("stopped", texts.STOPPED)
        elif command := typed_command(text):
            self._users.past((TextBlock(text=command),), message.uuid)
        elif not text.lstrip().startswith("<"):  # <task-notification>, <system-reminder>, …
            self._users.past(message.content, message.uuid)

    def _decided(self, item: ToolItem, value: Mapping[str, Any], structured: object) -> None:
        """What the user decided that day: `permissionDecision` since 2.1.332, an answer's structured form before."""
        kind, answers = kind_of(item.name), structured.get("answers") if isinstance(structured, dict) else None
        told = value.get("permissionDecision")
        told = told if isinstance(told, dict) else {}
        source = told.get("source")
        by_user = isinstance(source, str) and source.startswith("user")
        allowed = told.get("decision") == "accept"
        if kind == "question" and isinstance(answers, dict):
            item.chosen = [(question, answer) for question, answer in answers.items() if isinstance(answer, str)]
            by_user = allowed = True
        if by_user:
            item.reply = "" if allowed else item.result_text
            result = {"behavior": "allow" if allowed else "deny", "updatedPermissions": source == "user_permanent"}
            item.decision = decision_of(kind, result, item.reply)
            if not allowed:
                item.status = "denied"

    def _system(self, value: Mapping[str, Any]) -> None:
        content, metadata = value.get("content"), value.get("compactMetadata")
        if value.get("subtype") == "compact_boundary":
            metadata = metadata if isinstance(metadata, dict) else {}
            boundary = {"trigger": metadata.get("trigger"), "pre_tokens": metadata.get("preTokens")}
            self._notices.compacted(CompactBoundary.read({"compact_metadata": boundary}))
        elif value.get("subtype") == "local_command" and isinstance(content, str):
            command = "" if self._commands.show(content) else typed_command(content)
            if command:
                self._users.past((TextBlock(text=command),), "")

    def _attachment(self, attachment: object, value: Mapping[str, Any]) -> None:
        """A message that was folded into the turn that ran is kept as an attachment of that turn."""
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            content = parse_blocks(attachment.get("prompt"))
            if content and attachment.get("commandMode", "prompt") == "prompt":
                uuid = attachment.get("source_uuid") or value.get("uuid")
                self._users.past(content, uuid if isinstance(uuid, str) else "")


def _seconds(timestamp: object) -> float:
    """Seconds since 1970 of an ISO timestamp, 0.0 for none."""
    try:
        return datetime.fromisoformat(timestamp).timestamp() if isinstance(timestamp, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
