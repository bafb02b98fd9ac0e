"""Runs before all else in the frozen app on Linux: keeps the program's file open from which it was started.

WORKAROUND: PyInstaller's loader opens the program by its path for each module it loads. Once a newer version was
installed over a running one, that path is another file, in which the modules lie elsewhere: whatever is loaded late (a
lexer of Pygments, a dialog) fails with `zlib.error: incorrect header check` (PyInstaller's ZlibArchiveReader.extract).
The open file stays what it was, whoever replaces its name.
"""

import os
import sys


def hold() -> None:
    """Let the loader read from the open file. Without /proc, or with another loader, all stays as it was."""
    try:
        from pyimod02_importers import pyz_archive  # type: ignore[import-not-found] # PyInstaller puts it in
    except ImportError:
        return
    if pyz_archive._filename != sys.executable and not os.path.samefile(pyz_archive._filename, sys.executable):
        return
    held = os.open(pyz_archive._filename, os.O_RDONLY | os.O_CLOEXEC)
    path = f"/proc/{os.getpid()}/fd/{held}"
    if os.path.exists(path):
        pyz_archive._filename = path
    else:
        os.close(held)


hold()
