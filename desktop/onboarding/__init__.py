"""What the window shows before the first conversation, and the way in for who is not signed in."""
