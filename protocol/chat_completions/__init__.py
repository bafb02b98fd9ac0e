"""The local endpoint: OpenAI's chat completions on 127.0.0.1, answered by a CLI that is already signed in.

The rooms: `request` (what a client asks, checked), `prompt` (as one user message), `backend` and its two kinds
(`claude_backend`, `command_backend`), `reply` (as OpenAI says it), `gate` (who may run now), `guards` (who may ask at
all), `server` (HTTP on aiohttp), `thread` (a loop of its own, for programs whose loop is busy).

A request's way through the server: `http_connection` (what aiohttp lacks), `exchange` (from the head to the reply's
last byte), `run` (the backend's generator in a task of its own), `answer` (in one piece or as a stream), `http_reply`
(the bytes, and clients that do not read); `journal` has a line for each.
"""
