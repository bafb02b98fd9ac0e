"""The local endpoint in the window: its switch, address and token, what it is asked, and what its clients ask for."""
