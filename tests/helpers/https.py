"""A proxy that plays the server which is asked for, with a certificate of an authority of its own."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path

SECONDS = 20.0


class Authority:
    """An authority and a server's certificate, made by `openssl`.

    Attributes:
        certificate: the authority's.
    """

    def __init__(self, folder: Path, host: str) -> None:
        self.certificate, key = folder / "authority.pem", folder / "authority.key"
        self._server, self._key = folder / "server.pem", folder / "server.key"
        new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        _openssl(*new, "-keyout", str(key), "-out", str(self.certificate), "-subj", "/CN=An authority of a test")
        signed = ["-CA", str(self.certificate), "-CAkey", str(key), "-addext", f"subjectAltName=DNS:{host}"]
        names = ["-subj", f"/CN={host}", "-addext", "basicConstraints=critical,CA:FALSE"]
        _openssl(*new, "-keyout", str(self._key), "-out", str(self._server), *names, *signed)

    def context(self) -> ssl.SSLContext:
        """A server's side of TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._server, self._key)
        return context

    def as_hashed_folder(self, folder: Path) -> Path:
        """A folder as Debian's /etc/ssl/certs is one: each certificate under the hash of its name."""
        folder.mkdir(parents=True)
        name = _openssl("x509", "-hash", "-noout", "-in", str(self.certificate)).strip()
        (folder / f"{name}.0").write_bytes(self.certificate.read_bytes())
        return folder


class Proxy:
    """Takes `CONNECT`, and is the server itself. Use it as a context manager.

    Attributes:
        asked: which servers were wanted.
        requests: the first lines that came through TLS.
    """

    def __init__(self, authority: Authority, answer: bytes) -> None:
        self.asked: list[str] = []
        self.requests: list[str] = []
        self._context = authority.context()
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(SECONDS)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.settimeout(SECONDS)
            with connection, contextlib.suppress(OSError):
                self._play(connection)

    def _play(self, connection: socket.socket) -> None:
        head = _head(connection)
        self.asked.append(head.split(" ")[1] if head.startswith("CONNECT ") else head)
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with self._context.wrap_socket(connection, server_side=True) as secure:
            self.requests.append(_head(secure).partition("\r\n")[0])
            length = f"Content-Length: {len(self._answer)}\r\n".encode()
            secure.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + length + b"\r\n" + self._answer)


def _head(connection: socket.socket) -> str:
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(4096)
        if not piece:
            raise OSError("it has hung up")
        read += piece
    return read.decode("latin-1")


def _openssl(*words: str) -> str:
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
