"""The transcript: what was said and done in a conversation, as a list that streams."""

from __future__ import annotations

from desktop.transcript.model import TranscriptModel
from desktop.transcript.transcript_view import TranscriptView

__all__ = ["TranscriptModel", "TranscriptView"]
