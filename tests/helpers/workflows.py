"""What a workflow of GitHub says: its scripts, and the names in its expressions that nothing defines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}|\bif\"?: \"(.*?)\"", re.DOTALL)
_NAME = re.compile(r"\b(needs|steps|matrix|env)\.([\w-]+)(?:\.outputs\.([\w-]+))?")


def bash_scripts(workflow: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and text of every script of a workflow that bash runs.

    A step without a shell of its own or of its job's gets bash on Linux and macOS, PowerShell on Windows.
    """
    for job_name, job in workflow["jobs"].items():
        usual = "bash" if all(not system.startswith("windows") for system in systems(job)) else "pwsh"
        usual = job.get("defaults", {}).get("run", {}).get("shell", usual)
        for number, step in enumerate(job["steps"], 1):
            if "run" in step and step.get("shell", usual) == "bash":
                yield f"{job_name}, step {number}", step["run"]


def systems(job: dict[str, Any]) -> list[str]:
    """The systems on which a job runs, with those of its matrix."""
    named = re.fullmatch(r"\$\{\{ matrix\.([\w-]+) \}\}", job["runs-on"])
    return [job["runs-on"]] if named is None else matrix(job)[named[1]]


def matrix(job: dict[str, Any]) -> dict[str, list[Any]]:
    """All values of each name in a job's matrix."""
    said = dict(job.get("strategy", {}).get("matrix", {}))
    found: dict[str, list[Any]] = {}
    for row in said.pop("include", []):
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return {name: [*found.get(name, []), *values] for name, values in said.items()} | {
        name: values for name, values in found.items() if name not in said
    }


def undefined_names(workflow: dict[str, Any]) -> list[str]:
    """The names in a workflow's expressions that it does not define; GitHub takes such a name for an empty text."""
    found = []
    for job_name, job in workflow["jobs"].items():
        earlier: set[str] = set()
        outer = {key: value for key, value in job.items() if key not in ("steps", "outputs")}
        parts = [(outer, {}), *((step, step.get("env", {})) for step in job["steps"]), (job.get("outputs", {}), {})]
        for part, own_env in parts:
            for kind, name, output in _names(part):
                known = {
                    "needs": _needed(job), "steps": earlier, "matrix": set(matrix(job)),
                    "env": {*workflow.get("env", {}), *job.get("env", {}), *own_env},
                }[kind]  # fmt: skip
                theirs = workflow["jobs"].get(name, {}).get("outputs", {}) if kind == "needs" else None
                if name not in known or (output and theirs is not None and output not in theirs):
                    found.append(f"{job_name}: {kind}.{name}" + (f".outputs.{output}" if output else ""))
            if "id" in part:
                earlier.add(part["id"])
    return found


def _needed(job: dict[str, Any]) -> set[str]:
    needs = job.get("needs", [])
    return {needs} if isinstance(needs, str) else set(needs)


def _names(part: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Kind, name and output of what the expressions in a part of a workflow name."""
    for expression in _EXPRESSION.findall(json.dumps(part)):
        yield from _NAME.findall("".join(expression))
