"""The open conversations: creates and restarts sessions, keeps drafts, tells views what changed."""

from __future__ import annotations

from desktop.conversations.collection import Conversations
from desktop.conversations.drafts import DraftStore
from desktop.conversations.open import OpenConversation
from desktop.conversations.surroundings import Surroundings

__all__ = ["Conversations", "DraftStore", "OpenConversation", "Surroundings"]
