"""A client of the local endpoint as plain as can be, for a thread."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

MODEL = "told"
SECONDS = 60.0


class Client:
    """One connection to an endpoint, used from a thread.

    Attributes:
        status, body: of the reply; 0 and {} where there was none.
        headers: of the reply, in lower case.
    """

    def __init__(self, url: str, token: str, name: str = "openai-python/3.57") -> None:
        self._port = urlsplit(url).port
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": name}
        self._connection: http.client.HTTPConnection | None = None
        self.status = 0
        self.body: dict[str, Any] = {}
        self.headers: dict[str, str] = {}

    def models(self) -> Client:
        """Ask for the models."""
        return self._do("GET", "/v1/models", None)

    def complete(self, text: str, model: str = MODEL, **more: Any) -> Client:
        """Ask for a completion, and wait for all of it."""
        message = {"role": "user", "content": text}
        return self._do("POST", "/v1/chat/completions", {"model": model, "messages": [message], **more})

    @property
    def text(self) -> str:
        """The answer's words."""
        return str(self.body["choices"][0]["message"]["content"])

    @property
    def code(self) -> str:
        """The code of the error."""
        return str(self.body["error"]["code"])

    def hang_up(self) -> None:
        """End the connection, whatever goes on."""
        connection = self._connection
        if connection is not None and connection.sock is not None:
            # Not `close` alone: the thread that reads holds the socket open.
            connection.sock.shutdown(2)

    def _do(self, method: str, path: str, body: Any) -> Client:
        self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = self._connection.getresponse()
            raw = reply.read()
            self.status = reply.status
            self.headers = {name.lower(): value for name, value in reply.getheaders()}
            self.body = json.loads(raw) if raw.startswith(b"{") else {"raw": raw.decode("utf-8", "replace")}
        except (OSError, http.client.HTTPException):
            self.status, self.body = 0, {}
        finally:
            self._connection.close()
        return self
