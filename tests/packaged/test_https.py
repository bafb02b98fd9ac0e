"""The frozen app speaks TLS, and believes whom the distribution believes, wherever that keeps its certificates.

The look for a new release is the one thing that needs it. It is led through a proxy that plays GitHub.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from desktop.settings_file import FILE_NAME
from desktop.updates import FIRST_MS
from tests.helpers.https import Authority, Proxy

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have one place for certificates"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificates, is not there"),
]

HOST = "api.github.com"
ANSWER = json.dumps({"tag_name": "v99.0.0", "html_url": "https://github.com/handraise/handraise/releases"}).encode()
SECONDS = FIRST_MS / 1000 + 60
IN_ITS_ETC = ("passwd", "ld.so.cache", "fonts", "nsswitch.conf")
"""What a program wants of /etc that has nothing to do with certificates."""


def like_debian(authority: Authority, folder: Path) -> tuple[Path, str]:
    return authority.as_hashed_folder(folder / "certs"), "/etc/ssl/certs"


def like_fedora(authority: Authority, folder: Path) -> tuple[Path, str]:
    bundle = folder / "etc" / "pki" / "tls" / "certs" / "ca-bundle.crt"
    bundle.parent.mkdir(parents=True)
    shutil.copyfile(authority.certificate, bundle)
    for name in IN_ITS_ETC:
        path = Path("/etc", name)
        if path.is_dir():
            shutil.copytree(path, folder / "etc" / name, symlinks=True)
        elif path.exists():
            shutil.copyfile(path, folder / "etc" / name)
    return folder / "etc", "/etc"


def mounted(source: Path, target: str) -> list[str] | None:
    """What starts a program for which `source` is at `target`; None where this system does not allow that."""
    script = f'mount --bind "$0" {target} && exec "$@"'
    start = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(source)]
    tried = subprocess.run([*start, "/bin/true"], capture_output=True, text=True, timeout=60, check=False)
    return start if tried.returncode == 0 else None


@dataclass(frozen=True)
class Look:
    """What came of one look for a release."""

    log: str
    asked: list[str]
    requests: list[str]


def look(program: Path, home: Path, start: list[str], authority: Authority) -> Look:
    """Runs the app until it has looked for a release, or has failed to."""
    (home / "config").mkdir(parents=True)
    (home / "config" / FILE_NAME).write_text(json.dumps({"check_updates": True}), encoding="utf-8")
    log = home / "handraise.log"
    with Proxy(authority, ANSWER) as proxy:
        env = {
            "HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen",
            "HANDRAISE_CONFIG_DIR": str(home / "config"), "HANDRAISE_DATA_DIR": str(home / "data"),
            "HANDRAISE_LOG": str(log), "https_proxy": proxy.url,
        }  # fmt: skip
        app = subprocess.Popen([*start, str(program)], cwd=home, env=env, stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + SECONDS
            said = ""
            while not proxy.requests and "could not be asked" not in said:
                assert app.poll() is None, f"it has ended with {app.returncode}:\n{said}"
                assert time.monotonic() < deadline, f"it has not looked: {proxy.asked}\n{said}"
                time.sleep(0.1)
                said = log.read_text("utf-8") if log.exists() else ""
        finally:
            app.terminate()
            app.wait(60)
    return Look(said, proxy.asked, proxy.requests)


@pytest.fixture(scope="module")
def looks(frozen_app: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Look]:
    """A look on each kind of system, all at once: the app lets a while go by before it looks."""
    folder = tmp_path_factory.mktemp("https")
    authority = Authority(folder, HOST)
    worlds: dict[str, list[str] | None] = {"a stranger": []}
    for name, place in (("Debian", like_debian), ("Fedora", like_fedora)):
        worlds[name] = mounted(*place(authority, folder / f"of {name}"))
    with ThreadPoolExecutor() as pool:
        begun = {
            name: pool.submit(look, frozen_app, folder / name, start, authority)
            for name, start in worlds.items()
            if start is not None
        }
        return {name: running.result() for name, running in begun.items()}


@pytest.mark.parametrize("distribution", ["Debian", "Fedora"])
def test_it_believes_the_distributions_certificates(distribution: str, looks: dict[str, Look]) -> None:
    if distribution not in looks:
        pytest.skip("nothing can be mounted here")
    found = looks[distribution]
    assert found.asked == [f"{HOST}:443"], found.log
    assert found.requests == ["GET /repos/handraise/handraise/releases/latest HTTP/1.1"], found.log


def test_it_believes_nobody_else(looks: dict[str, Look]) -> None:
    found = looks["a stranger"]
    assert "SSL handshake failed" in found.log
    assert (found.asked, found.requests) == ([f"{HOST}:443"], [])
