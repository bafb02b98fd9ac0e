"""What Windows shows as a program's details, made from the version at build time.

`build.spec` writes `version_file(…)` beside its work files and names it as EXE(version=…). Run as a program it prints
the four numbers of the version, for the installer: `python resources/windows/version_info.py --numbers`.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PUBLISHER = "The Handraise authors"

_TEMPLATE = """\
# UTF-8
VSVersionInfo(
  ffi=FixedFileInfo(
    filevers={numbers}, prodvers={numbers}, mask=0x3F, flags={flags}, OS=0x40004, fileType=0x1, subtype=0x0,
    date=(0, 0)
  ),
  kids=[
    StringFileInfo([StringTable('040904B0', [{strings}])]),
    VarFileInfo([VarStruct('Translation', [0x0409, 1200])])
  ]
)
"""
_PRERELEASE = 0x2
"""VS_FF_PRERELEASE of the Windows API."""


def version() -> str:
    """`desktop.__version__`, read without importing the package and what it needs."""
    tree = ast.parse((ROOT / "desktop" / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise LookupError("desktop/__init__.py has no __version__")


def numbers(text: str) -> tuple[int, int, int, int]:
    """The leading numbers of a version as Windows wants them: four, each below 65536.

    Raises ValueError for what does not begin with a number, or has one that is too large.
    """
    found = re.match(r"\d+(?:\.\d+)*", text)
    if found is None:
        raise ValueError(f"{text!r} does not begin with a number")
    parts = [int(part) for part in found[0].split(".")][:4]
    if max(parts) > 0xFFFF:
        raise ValueError(f"{text!r} has a number above 65535")
    first, second, third, fourth = (*parts, 0, 0, 0)[:4]
    return first, second, third, fourth


def version_file(text: str, file_name: str, description: str) -> str:
    """The text of PyInstaller's version file.

    Args:
        text: the version, as in "0.1.0".
        file_name: of the program, as in "handraise.exe".
        description: what the task manager calls it.
    """
    final = re.fullmatch(r"\d+(?:\.\d+)*", text) is not None
    table = {
        "CompanyName": PUBLISHER,
        "FileDescription": description,
        "FileVersion": text,
        "InternalName": Path(file_name).stem,
        "LegalCopyright": f"{PUBLISHER}, MIT License",
        "OriginalFilename": file_name,
        "ProductName": "Handraise",
        "ProductVersion": text,
    }
    strings = ", ".join(f"StringStruct({key!r}, {value!r})" for key, value in table.items())
    return _TEMPLATE.format(numbers=numbers(text), flags=0 if final else _PRERELEASE, strings=strings)


if __name__ == "__main__":
    if sys.argv[1:] == ["--numbers"]:
        print(".".join(map(str, numbers(version()))))
    elif not sys.argv[1:]:
        print(version())
    else:
        sys.exit("Say --numbers, or nothing for the version itself.")
