"""Lessons that were learned once, each as a small check of the source with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("protocol", "desktop", "fake_cli")
LONGEST_FILE = 500
"""Lines. A file that outgrows its room is split, so that a reader can hold it in the head."""


def sources(*packages: str) -> Iterator[Path]:
    for package in packages or SHIPPED:
        yield from sorted((ROOT / package).rglob("*.py"))


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each call in a file; only the last part where the receiver is an expression."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node.lineno, dotted(node.func)


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def offences(forbidden: tuple[str, ...], *packages: str, allowed: tuple[str, ...] = ()) -> list[str]:
    found = []
    for path in sources(*packages):
        name = path.relative_to(ROOT).as_posix()
        if name in allowed:
            continue
        found += [f"{name}:{line} {call}" for line, call in calls(path) if call.endswith(forbidden)]
    return found


def test_there_is_something_to_check() -> None:
    assert len(list(sources())) > 20


def test_every_folder_of_code_is_a_package() -> None:
    """A folder without `__init__.py` works in a checkout and is missing from what is installed."""
    folders = {path.parent for path in sources()}
    assert [folder.relative_to(ROOT).as_posix() for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_nested_event_loops_are_banned() -> None:
    """`exec()` in a coroutine stops qasync's other tasks for good; so do the static helpers that call it.

    `desktop/opening.py` waits for a paint before there is a loop in which another could be nested.
    """
    nested = (
        ".exec", ".exec_", "processEvents", "QMessageBox.information", "QMessageBox.warning", "QMessageBox.critical",
        "QMessageBox.question", "QMessageBox.about", "QInputDialog.getText", "QInputDialog.getItem",
        "QInputDialog.getInt", "QInputDialog.getMultiLineText", "QFileDialog.getOpenFileName",
        "QFileDialog.getOpenFileNames", "QFileDialog.getSaveFileName", "QFileDialog.getExistingDirectory",
        "QColorDialog.getColor", "QFontDialog.getFont",
    )  # fmt: skip
    assert offences(nested, "desktop", allowed=("desktop/opening.py",)) == []


def test_labels_are_made_by_the_helper_that_makes_them_plain() -> None:
    """QLabel guesses rich text, and would draw a model's HTML."""
    assert offences(("QLabel",), "desktop", allowed=("desktop/widgets.py",)) == []


def test_tasks_are_started_where_they_cannot_be_lost() -> None:
    """A task without a strong reference can vanish, and what it raises is never seen.

    `desktop/run.py` has no window's loop, and awaits the two that it starts.
    """
    allowed = ("desktop/loop.py", "desktop/run.py")
    assert offences((".create_task", "ensure_future"), "desktop", allowed=allowed) == []


def test_no_shell_ever_sees_a_command() -> None:
    offenders = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                offenders.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert offenders == []
    assert offences(("os.system", "os.popen", "subprocess.getoutput")) == []


def test_colours_are_named_in_one_place() -> None:
    """Widgets ask for a role. A hex value elsewhere is wrong in one of the two schemes."""
    import re

    hex_value = re.compile(r"""["']#[0-9A-Fa-f]{6}["']""")
    offenders = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources("desktop")
        if path.name != "theme.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if hex_value.search(line)
    ]
    assert offenders == []


@pytest.mark.parametrize("package", SHIPPED)
def test_files_stay_readable(package: str) -> None:
    sizes = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n") for path in sources(package)}
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


@pytest.mark.parametrize("package", SHIPPED)
def test_every_public_class_and_module_says_what_it_is(package: str) -> None:
    silent = []
    for path in sources(package):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if tree.body and ast.get_docstring(tree) is None:
            silent.append(name)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node) is None:
                silent.append(f"{name}: {node.name}")
    assert silent == []
