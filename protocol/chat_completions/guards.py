"""Who may ask at all: the checks that need no more than a request's head, in the order in which they are made.

A web page can make its reader's browser send requests to 127.0.0.1. What stands against it: `Host` must be ours (a
name of the page's own that points to 127.0.0.1, DNS rebinding, is not), no `Origin` but ours, no `Sec-Fetch-Site` that
names another site, a token that no page knows, and a media type that a form cannot send. Node's fetch sends
`Sec-Fetch-Mode: cors` without being a page, so that header says nothing.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from protocol.chat_completions.errors import AUTHENTICATION, PERMISSION, ApiError
from protocol.permissions import make_visible

LONGEST_CLIENT: Final = 60
"""Characters of a client's name."""

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"

_DIGITS: Final = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Head:
    """A request's head.

    Attributes:
        method: as sent.
        target: the request target as sent, with the query.
        headers: the values of each header, by its name in lower case, in the order sent.
    """

    method: str
    target: str
    headers: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str | None:
        """A header's value; None where it is missing or stands there more than once."""
        values = self.headers.get(name, ())
        return values[0].strip() if len(values) == 1 else None

    @property
    def path(self) -> str:
        """The path, decoded, without the query."""
        return unquote(self.target.partition("?")[0])

    @property
    def what(self) -> str:
        """What is asked for: `completion`, `models`, or `other` for what does not exist."""
        if self.path == CHAT:
            return "completion"
        return "models" if self.path == MODELS or self.path.startswith(MODELS + "/") else "other"

    @property
    def allowed_method(self) -> str:
        """What `Allow` says in the reply to a method that the path does not know."""
        return "POST" if self.path == CHAT else "GET"

    @property
    def wants_to_be_told(self) -> bool:
        """Whether the client sends its body only when it is told to."""
        return "expect" in self.headers

    @property
    def client(self) -> str:
        """What the client calls itself: the first product of its `User-Agent`, short and printable, or ""."""
        words = " ".join(self.headers.get("user-agent", ())).split()
        return make_visible(words[0][:LONGEST_CLIENT])[:LONGEST_CLIENT] if words else ""


def check(head: Head, port: int, token: str, most: int) -> None:
    """Whether somebody may ask here, and asks for something that exists.

    Args:
        head: the request's.
        port: the one we listen on.
        token: the one that opens the endpoint.
        most: bytes that all headers may have.

    Raises:
        ApiError: 431, 421, 403, 401, 404 or 405, whichever comes first.
    """
    if sum(len(name) + len(value) + 4 for name, values in head.headers.items() for value in values) > most:
        raise ApiError(431, "The request's headers are too long.", code="headers_too_large")
    check_host(head, port)
    check_origin(head, port)
    check_token(head, token)
    check_path(head)


def check_host(head: Head, port: int) -> None:
    """421 unless exactly one `Host` names this very server, by one of its three names and with its port."""
    host = head.one("host")
    if host is None or host.lower() not in _own_hosts(port) or not head.target.startswith("/"):
        raise wrong_host(port)


def wrong_host(port: int) -> ApiError:
    """The request is meant for somebody else, or does not say for whom."""
    message = f"This server answers only requests for 127.0.0.1:{port} (also localhost and [::1]), named so in `Host`."
    return ApiError(421, message, code="wrong_host")


def check_origin(head: Head, port: int) -> None:
    """403 for what a web page of another origin had sent."""
    own = {f"http://{host}" for host in _own_hosts(port)}
    foreign = [origin for origin in head.headers.get("origin", ()) if origin.strip().lower() not in own]
    sites = {site.strip().lower() for site in head.headers.get("sec-fetch-site", ())}
    if foreign or sites - {"same-origin", "none"}:
        raise ApiError(
            403,
            "This server does not answer web pages. It is for programs on this computer.",
            kind=PERMISSION,
            code="foreign_origin",
        )


def check_token(head: Head, token: str) -> None:
    """401 unless `Authorization: Bearer` carries the token. Compared in constant time, on bytes."""
    given = head.one("authorization")
    if given is None:
        raise _unauthorised("The token is missing: `Authorization: Bearer …` (the API key).", "missing_api_key")
    scheme, _, value = given.partition(" ")
    theirs = value.strip().encode("utf-8", "surrogateescape")
    right = hmac.compare_digest(theirs, token.encode())
    if scheme.lower() != "bearer" or not right:
        message = (
            "The token (API key) is wrong. The right one is shown where the endpoint is switched on, and in its file."
        )
        raise _unauthorised(message, "invalid_api_key")


def check_path(head: Head) -> None:
    """404 for what does not exist, 405 for what cannot be done with it."""
    if head.what == "other":
        raise ApiError(404, f"There is no such path here, only {CHAT} and {MODELS}.", code="not_found")
    if head.method != head.allowed_method:
        raise ApiError(405, f"This path knows only {head.allowed_method}.", code="method_not_allowed")


def check_body(head: Head, most: int) -> None:
    """What the head says about the body, before any of it is read.

    Args:
        head: the request's.
        most: bytes that a body may have.

    Raises:
        ApiError: 415 for another media type or a compressed body, 413 for one that is too long, 417 for an `Expect`
            that nobody knows.
    """
    media_type, *parameters = (head.one("content-type") or "").lower().split(";")
    charsets = {word.strip().replace('"', "") for word in parameters if word.strip().startswith("charset=")}
    if media_type.strip() != "application/json" or charsets - {"charset=utf-8", "charset=us-ascii"}:
        raise ApiError(415, "The body has to be JSON: `Content-Type: application/json`.", code="unsupported_media_type")
    codings = {coding.strip().lower() for coding in head.headers.get("content-encoding", ())}
    if codings - {"", "identity"}:
        raise ApiError(415, "A compressed body (`Content-Encoding`) is not taken.", code="unsupported_media_type")
    length = head.one("content-length")
    if length is not None and (not _DIGITS.fullmatch(length) or int(length) > most):
        raise too_large(most)
    if {value.strip().lower() for value in head.headers.get("expect", ())} - {"100-continue"}:
        raise ApiError(417, "Of `Expect`, only `100-continue` is known.", code="expectation_failed")


def too_large(most: int) -> ApiError:
    """The body is longer than it may be."""
    return ApiError(413, f"The body is too large: at most {most} bytes.", code="request_too_large")


def _own_hosts(port: int) -> set[str]:
    names = ("127.0.0.1", "localhost", "[::1]")
    with_port = {f"{name}:{port}" for name in names}
    return with_port | set(names) if port == 80 else with_port


def _unauthorised(message: str, code: str) -> ApiError:
    return ApiError(401, message, kind=AUTHENTICATION, code=code)
