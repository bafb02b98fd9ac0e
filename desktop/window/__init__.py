"""The main window: sidebar, top bar, the page of a conversation, the place for what waits, status line."""
