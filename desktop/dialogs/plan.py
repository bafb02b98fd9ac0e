"""The plan dialog: what Claude intends to do, and whether it may begin."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop import theme
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.framed import Framed
from desktop.dialogs.layouts import inset_row
from desktop.dialogs.prose import ProseView
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role
from protocol import permissions
from protocol.messages import CanUseTool
from protocol.permissions import make_visible


class PlanDialog(RequestDialog):
    """Asks whether a plan may be carried out.

    Both approvals are plain buttons; Enter approves nothing. Esc, and Enter in the field for feedback, keep planning.
    """

    def __init__(self, request: CanUseTool, context: DialogContext, parent: QWidget | None = None) -> None:
        super().__init__("planDialog", context, parent)
        self._input = request.input
        self.setAccessibleName(tr("Claude proposes a plan"))
        self.header.left.addWidget(plain_label(tr("Plan"), "title"))
        side = theme.px(16)
        text = make_visible(context.plan or permissions.plan_text(request.input))
        self.plan = ProseView("planText", tr("The plan"), self, limit=420)
        self.plan.set_markdown(text or tr("Claude sent no text with this plan. It may be in the conversation above."))
        self.plan.file_link.connect(self.file_link)
        frame = Framed(self.plan, self, ground="card", pad=10)
        self.body.addLayout(inset_row(frame, side), 1)
        hint = tr("To keep planning: say what should be different (optional)")
        self.feedback = WritingField("planFeedback", tr("Feedback on the plan"), hint, self)
        self.feedback.textChanged.connect(self._refresh)
        self.body.addLayout(inset_row(self.feedback, side))
        self._build_footer()

    def summary(self) -> str:
        return tr("Claude proposes a plan")

    def first_focus(self) -> QWidget:
        return self.plan

    def typed(self) -> str:
        return self.feedback.text().strip()

    def refuse(self) -> None:
        """Keep planning, with the feedback as what Claude reads."""
        self.decide(permissions.keep_planning(self.typed()))

    def refusal(self) -> tuple[str, str]:
        return tr("Keep planning, with what you wrote as feedback?"), tr("Keep planning")

    def enter_pressed(self) -> None:
        if self.feedback.hasFocus() and self.typed():
            self.refuse()

    def submit_pressed(self) -> None:
        self.enter_pressed()

    def _build_footer(self) -> None:
        self.keep_button = button(tr("Keep planning"), "keepPlanning", "outline", self)
        self.keep_button.setToolTip(tr("Claude goes on planning, with your feedback (Esc)"))
        self.keep_button.clicked.connect(self.refuse)
        self.footer.left.addWidget(self.keep_button)
        approvals = (
            ("approveAskEach", tr("Begin, ask before each edit"), None),
            ("approveAcceptEdits", tr("Begin, edit files without asking"), "acceptEdits"),
        )
        for name, words, mode in approvals:
            made = button(words, name, "outline", self)
            made.clicked.connect(lambda _checked=False, mode=mode: self._approve(mode))
            self.guard.protect(made)
            self.footer.right.addWidget(made)

    def _refresh(self) -> None:
        set_role(self.keep_button, "primary" if self.typed() else "outline")

    def _approve(self, mode: str | None) -> None:
        result = permissions.approve_plan(self._input, mode)
        if self.typed():
            sentence = tr("What you wrote goes to Claude only with “Keep planning”. Begin without it?")
            self.ask_in_card(sentence, tr("Begin"), lambda: self.decide(result))
        else:
            self.decide(result)
