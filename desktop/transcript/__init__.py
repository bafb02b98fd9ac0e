"""The transcript: what was said and done in a conversation, as a list that streams."""
