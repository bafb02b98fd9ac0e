"""From a pending request to the dialog that asks it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.elicitation import ElicitationDialog
from desktop.dialogs.permission import PermissionDialog
from desktop.dialogs.plan import PlanDialog
from desktop.dialogs.question import QuestionDialog
from desktop.dialogs.unknown import UnknownDialog
from desktop.translations import tr
from protocol import permissions, questions
from protocol.conversation import PendingRequest
from protocol.messages import CanUseTool, Elicitation
from protocol.permissions import make_visible


def dialog_for(pending: PendingRequest, context: DialogContext, parent: QWidget | None = None) -> RequestDialog:
    """The dialog for a request; never raises, and never one that allows more than it shows.

    AskUserQuestion is always the question dialog, whatever the permission mode and whatever kind it was filed under:
    as a mere permission it would be "allowed" without an answer.
    """
    request = pending.request
    if isinstance(request, CanUseTool):
        if request.tool_name == permissions.QUESTION_TOOL:
            return _question_dialog(request, context, parent)
        if request.tool_name == permissions.PLAN_TOOL:
            return PlanDialog(request, context, parent)
        return PermissionDialog(request, context, parent)
    if isinstance(request, Elicitation):
        return ElicitationDialog(request, context, parent)
    words = tr("This version of Handraise does not know this kind of request. It can be read here, and refused.")
    refusal = permissions.deny("This client does not know this kind of request.")
    return UnknownDialog(tr("Claude asks for something unknown"), words, request.raw, refusal, context, parent)


def _question_dialog(request: CanUseTool, context: DialogContext, parent: QWidget | None) -> RequestDialog:
    try:
        ask = questions.parse_questions(request.input)
    except questions.UnusableQuestions as problem:
        what = make_visible(str(problem))
        words = tr("What was wrong: {problem} Claude is told so, and can ask again.", problem=what)
        title = tr("Claude asked in a form that cannot be shown")
        return UnknownDialog(title, words, request.input, questions.unusable(str(problem)), context, parent)
    return QuestionDialog(ask, context, parent)
