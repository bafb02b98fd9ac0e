"""Makes a Windows Python whose language is another one: its code page of files and pipes goes by that.

    python -m tests.helpers.code_page zh-CN     prints the path of such a Python, made beside the one that runs this

The system's own code page changes only with a restart. Since Windows 11 and Server 2025 a program may ask for one in
its manifest, by the name of a language.
https://learn.microsoft.com/windows/win32/sbscs/application-manifests#activecodepage
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

_SETTINGS_END = re.compile(r"</(?:\w+:)?windowsSettings>")
_CODE_PAGE = '<activeCodePage xmlns="http://schemas.microsoft.com/SMI/2019/WindowsSettings">{language}</activeCodePage>'
_MANIFEST = 24
"""RT_MANIFEST; the one of a program has the number 1."""


def with_code_page(manifest: str, language: str) -> str:
    """A program's manifest that asks for the code page of that language, such as "zh-CN".

    Raises ValueError when the manifest has no settings, or names a code page already.
    """
    ends = _SETTINGS_END.findall(manifest)
    if len(ends) != 1 or "activeCodePage" in manifest:
        raise ValueError("the manifest is not one of Python's")
    return manifest.replace(ends[0], _CODE_PAGE.format(language=language) + ends[0])


def python_in(language: str) -> Path:
    """A copy of this Python, beside it since it needs its libraries, that speaks that language."""
    import win32api

    original = Path(sys.executable)
    copy = original.with_name(f"python-{language}.exe")
    shutil.copyfile(original, copy)
    module = win32api.LoadLibraryEx(str(original), 0, 2)  # as data
    (said_in,) = win32api.EnumResourceLanguages(module, _MANIFEST, 1)
    manifest = win32api.LoadResource(module, _MANIFEST, 1, said_in).decode("utf-8")
    win32api.FreeLibrary(module)
    handle = win32api.BeginUpdateResource(str(copy), False)
    win32api.UpdateResource(handle, _MANIFEST, 1, with_code_page(manifest, language).encode("utf-8"), said_in)
    win32api.EndUpdateResource(handle, False)
    return copy


if __name__ == "__main__":
    print(python_in(sys.argv[1]))
