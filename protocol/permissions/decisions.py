"""The decisions about a tool call, in the form every supported CLI accepts.

* An allow always carries `updatedInput`: CLIs before 2.1.3xx refuse it otherwise. It is the input that was shown.
* A deny always carries a `message`: it is what the model gets to read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

PLAN_TOOL: Final = "ExitPlanMode"
QUESTION_TOOL: Final = "AskUserQuestion"

DENIED: Final = "The user did not allow this."
KEEP_PLANNING: Final = "The user wants to keep planning. Do not start yet."


def allow(tool_input: Mapping[str, Any], updated_permissions: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Let the call run with exactly this input.

    Args:
        tool_input: the input that was shown to the user.
        updated_permissions: suggestions of the same request, as they came (`Suggestion.raw`); they are echoed, never
            made up.
    """
    result: dict[str, Any] = {"behavior": "allow", "updatedInput": dict(tool_input)}
    if updated_permissions:
        result["updatedPermissions"] = list(updated_permissions)
    return result


def deny(message: str, interrupt: bool = False) -> dict[str, Any]:
    """Refuse the call; the model reads `message` and goes on, unless `interrupt` ends the turn too."""
    result: dict[str, Any] = {"behavior": "deny", "message": message if message.strip() else DENIED}
    if interrupt:
        result["interrupt"] = True
    return result


def approve_plan(tool_input: Mapping[str, Any], mode: str | None = None) -> dict[str, Any]:
    """Approve a plan. The CLI falls back to the mode before planning; `mode` picks another one for this session."""
    if mode is None:
        return allow(tool_input)
    return allow(tool_input, [{"type": "setMode", "mode": mode, "destination": "session"}])


def keep_planning(feedback: str = "") -> dict[str, Any]:
    """Go on planning, with the user's feedback for the model."""
    return deny(feedback if feedback.strip() else KEEP_PLANNING)


def plan_text(
    tool_input: Mapping[str, Any],
    tool_use_input: Mapping[str, Any] | None = None,
    read_file: Callable[[str], str | None] = lambda path: None,
) -> str:
    """The plan to approve, as Markdown; "" if it is nowhere to be found.

    Args:
        tool_input: `input` of the `can_use_tool` request. Some CLIs (2.1.332) send it empty.
        tool_use_input: `input` of the `tool_use` block with the same id.
        read_file: gives the text of a file, or None where it cannot be read.
    """
    for source in (tool_input, tool_use_input or {}):
        plan = source.get("plan")
        if isinstance(plan, str) and plan.strip():
            return plan
        path = source.get("planFilePath")
        if isinstance(path, str) and path:
            text = read_file(path)
            if text is not None and text.strip():
                return text
    return ""
