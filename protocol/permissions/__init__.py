"""Permission requests: what they mean in words, and the decisions about them, plans and elicitation forms included.

| module | what lives there |
|---|---|
| `decisions` | allow, deny, and the decisions about plans |
| `suggestions` | the CLI's own offers of "always", each with its true scope in words |
| `elicitation` | the form an MCP server asks for: fields, checks, replies |
| `visible` | hidden characters made visible |
| `words` | sentences that a window can translate |
"""

from __future__ import annotations

from protocol.permissions.decisions import (
    DENIED,
    KEEP_PLANNING,
    PLAN_TOOL,
    QUESTION_TOOL,
    allow,
    approve_plan,
    deny,
    keep_planning,
    plan_text,
)
from protocol.permissions.elicitation import (
    PROBLEM_TEMPLATES,
    ElicitationForm,
    FormField,
    accept,
    cancel_elicitation,
    check_field,
    decline,
    elicitation_form,
)
from protocol.permissions.suggestions import TEMPLATES, Suggestion, describe_update, suggestions
from protocol.permissions.visible import hidden_characters, make_visible
from protocol.words import Sentence, Words

__all__ = [
    "DENIED",
    "KEEP_PLANNING",
    "PLAN_TOOL",
    "PROBLEM_TEMPLATES",
    "QUESTION_TOOL",
    "TEMPLATES",
    "ElicitationForm",
    "FormField",
    "Sentence",
    "Suggestion",
    "Words",
    "accept",
    "allow",
    "approve_plan",
    "cancel_elicitation",
    "check_field",
    "decline",
    "deny",
    "describe_update",
    "elicitation_form",
    "hidden_characters",
    "keep_planning",
    "make_visible",
    "plan_text",
    "suggestions",
]
