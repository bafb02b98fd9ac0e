"""A minimal Debian in a folder, in which a package is installed as on a machine that was never used.

It is made by mmdebstrap from the mirrors of this machine's own apt, and is of the release that this machine runs: what
was frozen here asks for the glibc of here. `/proc` is mounted for one command at a time, in a mount namespace of that
command's own: whatever happens to the test, no mount is left that a removal of the folder could walk into, and no
process either.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.helpers.real_cli import cache_folder, locked
from tests.helpers.required import skip_or_fail

USER = "person"
HOME = "/home/工作 資料夾"
"""Where that user is at home in the clean Debian."""
MAKE_SECONDS = 600
RUN_SECONDS = 300

OF_THE_MIRROR = re.compile(r"^Acquire::(https?::|Retries|Check-|Force|Allow(Insecure|Weak|Downgrade)).* \"[^\"]+\";$")
"""The lines of `apt-config dump` that say how packages get here, and not which."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
NOT_OF_A_PACKAGE = re.compile(
    r"(proc|dev|sys|run|tmp|root|home|var/(lib/(dpkg|apt)|cache|log))(/|$)|etc/ld\.so\.cache$"
)
"""What lives and changes in a system, whatever is installed."""


class CannotMakeError(Exception):
    """There can be no clean Debian here; the text says why."""


def missing(reason: str) -> NoReturn:
    """Skip, unless HANDRAISE_REQUIRE_DEBIAN=1 wants that to be a failure."""
    skip_or_fail("HANDRAISE_REQUIRE_DEBIAN", reason)


@dataclass(frozen=True)
class CleanDebian:
    """A Debian below `root`, to run commands in."""

    root: Path

    def command(self, *command: str, user: str = "", **environment: str) -> list[str]:
        """What runs that command inside, at home, with these variables and hardly any other.

        All that it starts ends with it: it is the first process of its own namespace.
        """
        variables = {"HOME": HOME if user else "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        variables |= {} if user else _of_this_machine()
        return [
            "unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc",
            "chroot", *([f"--userspec={user}"] if user else []), str(self.root),
            "env", "-i", *(f"{name}={value}" for name, value in (variables | environment).items()),
            "sh", "-c", 'cd && "$@"; exit $?', "sh", *command,
        ]  # fmt: skip

    def run(self, *command: str, user: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs it to its end, whatever that is."""
        return subprocess.run(
            self.command(*command, user=user, **environment), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=RUN_SECONDS, check=False,
        )  # fmt: skip

    def do(self, *command: str) -> str:
        """Runs it as root; what it said. It must succeed."""
        done = self.run(*command, DEBIAN_FRONTEND="noninteractive")
        assert done.returncode == 0, f"{command}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def install(self, *packages: str) -> str:
        """Installs packages, or files by their path inside, with what they depend on and nothing more."""
        return self.do("apt-get", "install", "--yes", "--no-install-recommends", *packages)

    def add(self, file: Path, place: str) -> str:
        """Copies a file to that place inside, for everybody to read; gives the place."""
        target = self.root / place.lstrip("/")
        shutil.copyfile(file, target)
        target.chmod(0o644)
        return place

    def home(self) -> Path:
        """The user's home, as seen from here."""
        return self.root / HOME.lstrip("/")

    def files(self) -> dict[str, str]:
        """Everything but what changes by itself: its path, and what it is."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            inside = Path(folder).relative_to(self.root)
            folders[:] = [name for name in folders if not NOT_OF_A_PACKAGE.match((inside / name).as_posix())]
            for name in (*folders, *names):
                place = (inside / name).as_posix()
                if not NOT_OF_A_PACKAGE.match(place):
                    found[place] = _kind(self.root / place)
        return found


def _kind(path: Path) -> str:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"a link to {path.readlink()}"
    size = f"of {found.st_size} bytes" if stat.S_ISREG(found.st_mode) else ""
    return f"{stat.filemode(found.st_mode)} {found.st_uid}:{found.st_gid} {size}"


def make(folder: Path) -> CleanDebian:
    """A fresh one below `folder`, with an ordinary user. Raises CannotMakeError."""
    if os.geteuid() != 0:
        raise CannotMakeError("only root can make a clean Debian.")
    for program in ("mmdebstrap", "unshare", "apt-get"):
        if shutil.which(program) is None:
            raise CannotMakeError(f"{program} is not installed.")
    root = folder / "debian"
    root.mkdir(parents=True)
    with tarfile.open(_base()) as archive:
        archive.extractall(root, filter="fully_trusted")
    # Every folder above must let the user through, which pytest's own do not.
    for above in root.parents:
        if above.stat().st_uid == 0 and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)
    made = CleanDebian(root)
    made.do("useradd", "--create-home", "--home-dir", HOME, USER)
    made.do("apt-get", "update")
    return made


def _base() -> Path:
    """The archive of a fresh installation, at most a week old."""
    release = platform.freedesktop_os_release()
    suite = release.get("VERSION_CODENAME", "")
    if release.get("ID") != "debian" or not suite:
        raise CannotMakeError("this machine is no Debian, so its apt knows no mirror of one.")
    lines, settings = _sources(suite), _settings()
    week = "{}-{}".format(*datetime.date.today().isocalendar())
    key = hashlib.sha256("\n".join((lines, settings, week)).encode()).hexdigest()[:12]
    store = cache_folder() / "debian"
    store.mkdir(parents=True, exist_ok=True)
    target = store / f"{suite}-{key}.tar"
    with locked(store / ".lock"):
        if not target.exists():
            for older in store.glob("*.tar"):
                older.unlink()
            _bootstrap(suite, lines, settings, target)
    return target


def _bootstrap(suite: str, lines: str, settings: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        options = Path(work) / "apt.conf"
        options.write_text(settings, encoding="utf-8")
        made = Path(work) / "base.tar"
        command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--aptopt={options}"]
        # A minimal Debian trusts no certificate of the web and no keys but Debian's.
        for file in [*re.findall(r"signed-by=(/[^] ]+)", lines), *([str(CERTIFICATES)] if "https:" in lines else [])]:
            command.append(f'--setup-hook=install -D -m 644 {shlex.quote(file)} "$1"{shlex.quote(file)}')
        command += ["--dpkgopt=force-unsafe-io", suite, str(made), "-"]
        done = subprocess.run(
            ["unshare", "--mount", *command], input=lines, capture_output=True, text=True, timeout=MAKE_SECONDS,
            env=os.environ | {"TMPDIR": work, "LC_ALL": "C.UTF-8"}, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise CannotMakeError(f"mmdebstrap made no {suite}:\n{done.stderr[-2000:]}")
        made.rename(target)


def _sources(suite: str) -> str:
    """The lines of a `sources.list` for the machine's own mirrors of that release of Debian."""
    found: dict[str, None] = {}
    wanted = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)"
    for line in _said("apt-get", "indextargets", "--format", wanted, "Created-By: Packages").splitlines():
        address, release, component, origin = line.split(" ", 3)
        of_debian = origin in ("Debian", "$(ORIGIN)")  # the latter where nothing was fetched yet
        if release in (suite, f"{suite}-updates", f"{suite}-security") and component == "main" and of_debian:
            found[f"deb {_trust(address)}{address} {release} main"] = None
    if not found:
        raise CannotMakeError(f"this machine's apt knows no mirror of {suite}.")
    return "\n".join(found) + "\n"


def _trust(address: str) -> str:
    """Whom this machine trusts for that mirror, as the options of a line; apt itself does not tell."""
    options: dict[str, None] = {}
    places = Path("/etc/apt/sources.list.d")
    for file in (Path("/etc/apt/sources.list"), *sorted(places.glob("*.list")), *sorted(places.glob("*.sources"))):
        text = file.read_text("utf-8", "replace") if file.is_file() else ""
        for piece in text.split("\n\n") if file.suffix == ".sources" else text.splitlines():
            if address.rstrip("/") in piece:
                keys = re.findall(r"(?im)^[^#]*signed-by\s*[=:]\s*(/[^]\s]+)", piece)
                options |= {f"signed-by={key}": None for key in keys}
                if re.search(r"(?im)^[^#]*\btrusted\s*[=:]\s*yes\b", piece):
                    options["trusted=yes"] = None
    return f"[{' '.join(options)}] " if options else ""


def _settings() -> str:
    """How this machine's apt reaches its mirrors, as lines of an `apt.conf`."""
    lines = [line for line in _said("apt-config", "dump").splitlines() if OF_THE_MIRROR.match(line)]
    return "\n".join([*lines, 'Acquire::Languages "none";', 'Acquire::Retries "3";', ""])


def _of_this_machine() -> dict[str, str]:
    return {name: os.environ[name] for name in PROXIES if name in os.environ}


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
