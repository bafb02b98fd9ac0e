"""The token that opens the endpoint: 32 random bytes in a file that only its owner reads."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from protocol.words import Sentence

T = TypeVar("T")

TOKEN_BYTES: Final = 32
_SHAPE: Final = re.compile(r"[0-9a-f]{64}")
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
_IN_CHILDREN_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
_HELD_SECONDS: Final = 0.5
_POLL: Final = 0.02
_NOT_WAITING: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe in the file's place must not keep the reader


def without_token(env: Mapping[str, str], token: str) -> dict[str, str]:
    """An environment for a CLI, without whatever holds the token.

    Its user exports it for programs (as `OPENAI_API_KEY`), perhaps for all; the model's tools must not find it there.
    """
    return {name: value for name, value in env.items() if not token or token not in value}


SENTENCES: Final = {
    "link": "The token file {path} is a link. Look why, then delete it; a new one is made at the next start.",
    "no file": "The token file {path} is no file. Look why, then delete it; a new one is made at the next start.",
    "no token": "The token file {path} holds no token of this program. Look why, then delete it; a new one is made "
    "at the next start.",
    "not ours": "The token file {path} belongs to another user. Look why, then delete it; a new one is made at the "
    "next start.",
    "open": "The token file {path} can be read by other users of this computer. Look why, then delete it; a new one "
    "is made at the next start.",
    "not read": "The token file {path} cannot be read: {reason}.",
    "not made": "The token file {path} cannot be made: {reason}.",
    "not written": "The token file {path} cannot be written: {reason}.",
    "not replaced": "The token file {path} cannot be replaced: {reason}.",
}
"""Why the token's file cannot be used, as templates for a translator's catalogue."""


class TokenError(Exception):
    """The file cannot be used. The text is a `Sentence` that says what to do, and holds no token."""

    def __init__(self, what: str, path: Path, error: OSError | None = None) -> None:
        """Of `SENTENCES[what]`; `error` has the reason, where there is one."""
        values = {"path": str(path)}
        if error is not None:
            values["reason"] = error.strerror or type(error).__name__
        self.sentence = Sentence(SENTENCES[what], values)
        super().__init__(self.sentence)


def _patiently(call: Callable[[], T], system: str = os.name) -> T:
    """What `call` returns; Windows refuses a file for the moment in which another of us takes one of its names away."""
    deadline = time.monotonic() + _HELD_SECONDS
    while True:
        try:
            return call()
        except PermissionError:
            if system != "nt" or time.monotonic() >= deadline:
                raise
            time.sleep(_POLL)


class TokenFile:
    """A file with one token in it. The token is never part of a message or of the log.

    Args:
        path: the file; its folder is made, for its owner alone, where there is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"TokenFile({str(self.path)!r})"

    def read_or_create(self) -> str:
        """The token in the file, a new one where there is no file.

        Raises:
            TokenError: the file is a link, somebody else's, readable for others, damaged, or cannot be read or made.
        """
        try:
            return self._read()
        except FileNotFoundError:
            pass
        try:
            return self._put_in_place()
        except FileExistsError:  # another of us was faster, or a link that leads nowhere lies there
            try:
                return self._read()
            except FileNotFoundError as error:
                raise TokenError("link", self.path) from error

    def renew(self) -> str:
        """A new token in the place of the old one, which is worth nothing from then on.

        The file is replaced in one step: whoever reads it has the old or the new one.

        Raises:
            TokenError: the file cannot be written, or is one that `read_or_create` would refuse.
        """
        try:
            self._check(os.lstat(self.path))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise TokenError("not read", self.path, error) from error
        new = self._new_name()
        token = self._create(new)
        try:
            _patiently(lambda: os.replace(new, self.path))
        except OSError as error:
            new.unlink(missing_ok=True)
            raise TokenError("not replaced", self.path, error) from error
        return token

    def _put_in_place(self) -> str:
        """Makes the file, complete from its first moment on, where there is none. Raises FileExistsError."""
        new = self._new_name()
        token = self._create(new)
        try:
            os.link(new, self.path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            return self._create(self.path)
        finally:
            _patiently(lambda: new.unlink(missing_ok=True))
        return token

    def _new_name(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.new")

    def _read(self) -> str:
        try:
            flags = os.O_RDONLY | _NO_LINKS | _IN_CHILDREN_CLOSED | _NOT_WAITING
            handle = _patiently(lambda: os.open(self.path, flags))
        except FileNotFoundError:
            raise
        except OSError as error:
            if self.path.is_symlink():
                raise TokenError("link", self.path) from error
            raise TokenError("not read", self.path, error) from error
        try:
            # Asked of the open file: what lies at the path can be another one a moment later.
            self._check(os.fstat(handle))
            text = os.read(handle, 200).decode("ascii", "replace").strip()
        except OSError as error:
            raise TokenError("not read", self.path, error) from error
        finally:
            os.close(handle)
        if not _SHAPE.fullmatch(text):
            raise TokenError("no token", self.path)
        return text

    def _check(self, status: os.stat_result) -> None:
        if stat.S_ISLNK(status.st_mode):
            raise TokenError("link", self.path)
        if not stat.S_ISREG(status.st_mode):
            raise TokenError("no file", self.path)
        if os.name != "posix":  # on Windows the user's own folders are closed to others by their access lists
            return
        if status.st_uid != os.geteuid():
            raise TokenError("not ours", self.path)
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise TokenError("open", self.path)

    def _create(self, path: Path) -> str:
        token = secrets.token_hex(TOKEN_BYTES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:  # FileExistsError, too: a file lies where the folder should be
            raise TokenError("not made", self.path, error) from error
        try:
            # O_EXCL follows no link and takes nobody's prepared file.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _IN_CHILDREN_CLOSED, 0o600)
        except FileExistsError:
            raise
        except OSError as error:
            raise TokenError("not made", self.path, error) from error
        try:
            with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
                if os.name == "posix":
                    os.fchmod(file.fileno(), 0o600)  # whatever the umask took
                file.write(token + "\n")
        except OSError as error:
            path.unlink(missing_ok=True)
            raise TokenError("not written", self.path, error) from error
        return token
