"""Signs Windows programs with signtool, where a certificate is given; says so where none is.

    python resources/windows/sign.py handraise.exe handraise-cli.exe

HANDRAISE_PFX_FILE names the certificate, HANDRAISE_PFX_PASSWORD is its password, HANDRAISE_TIMESTAMP_URL the time
stamping service, if not the usual one. Without the first nothing is signed and the exit code is 0: a build without
secrets is a whole build. Half of the secrets is a mistake, and fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMESTAMP_URL = "http://timestamp.digicert.com"
"""RFC 3161; plain HTTP on purpose, since the reply is signed itself."""


def signtool() -> str | None:
    """The newest signtool of the Windows SDK; the one on PATH comes first."""
    on_path = shutil.which("signtool")
    if on_path is not None:
        return on_path
    kits = Path(os.environ.get("PROGRAMFILES(X86)", r"C:\Program Files (x86)")) / "Windows Kits" / "10" / "bin"
    found = sorted(kits.glob("10.*/x64/signtool.exe"), key=lambda path: [int(n) for n in path.parts[-3].split(".")])
    return str(found[-1]) if found else None


def command(tool: str, files: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The call of signtool: SHA-256 for the file and for the time stamp."""
    return [
        tool, "sign", "/fd", "sha256", "/f", env["HANDRAISE_PFX_FILE"], "/p", env["HANDRAISE_PFX_PASSWORD"],
        "/tr", env.get("HANDRAISE_TIMESTAMP_URL") or TIMESTAMP_URL, "/td", "sha256", "/d", "Handraise", *files,
    ]  # fmt: skip


def main(files: Sequence[str], env: Mapping[str, str] = os.environ) -> int:
    """Sign the files; returns the exit code."""
    if not files:
        print("Name the files to sign.", file=sys.stderr)
        return 2
    # Before anything else, so that a build without a certificate finds a wrong path, too.
    absent = [name for name in files if not Path(name).is_file()]
    if absent:
        print(f"There is nothing to sign at {', '.join(absent)}.", file=sys.stderr)
        return 1
    given = [name for name in ("HANDRAISE_PFX_FILE", "HANDRAISE_PFX_PASSWORD") if env.get(name)]
    if not given:
        print(f"NOT SIGNED, since HANDRAISE_PFX_FILE is not set: {', '.join(files)}")
        return 0
    if len(given) == 1:
        print(f"{given[0]} is set without the other; both are needed to sign.", file=sys.stderr)
        return 1
    tool = signtool()
    if tool is None:
        print("signtool is missing; the Windows SDK brings it.", file=sys.stderr)
        return 1
    # The password is an argument of signtool, so the command itself is never printed.
    if subprocess.run(command(tool, files, env), check=False).returncode != 0:
        print("signtool failed.", file=sys.stderr)
        return 1
    print(f"Signed: {', '.join(files)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
