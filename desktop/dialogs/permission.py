"""The permission dialog: what a tool would do, in full, and the ways to allow or refuse it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop import theme
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.choice_row import ChoiceRow
from desktop.dialogs.detail import DetailDiff, DetailText, diff_of
from desktop.dialogs.framed import Framed
from desktop.dialogs.layouts import ContentScroll
from desktop.dialogs.option_row import RING
from desktop.dialogs.permission_view import permission_view
from desktop.dialogs.writing_field import WritingField
from desktop.translations import tr
from desktop.widgets import button, plain_label, set_role
from protocol import permissions
from protocol.messages import CanUseTool
from protocol.permissions import Suggestion

_LONG_COMMAND = 300
_LONGEST_SCOPE = 4_000


class PermissionDialog(RequestDialog):
    """Asks whether a tool may run.

    Nothing in it is allowed by Enter alone: no button is the default, and the focus lands on the detail, or on "Deny"
    where the CLI advises against it. Enter in the field for a reason refuses with it; Esc refuses. The input that is
    shown is the input that is sent back.
    """

    def __init__(self, request: CanUseTool, context: DialogContext, parent: QWidget | None = None) -> None:
        super().__init__("permissionDialog", context, parent)
        self._request = request
        self.view = permission_view(request)
        self.setAccessibleName(str(self.view.question))
        self.header.left.addWidget(plain_label(self.view.tool, "title"))
        if self.view.server:
            self.header.left.addWidget(plain_label(tr("MCP server {name}", name=self.view.server), "soft"))
        self._scroll = ContentScroll(self, least=theme.px(140))
        self._column = self._scroll.column
        side = theme.px(16) - RING
        self._column.setContentsMargins(side, 0, side, 0)
        self._column.setSpacing(0)
        self.body.addWidget(self._scroll)
        self._build_words()
        self._build_detail()
        self._build_suggestions()
        self._build_reason()
        self._build_footer()

    def summary(self) -> str:
        return str(self.view.question)

    def first_focus(self) -> QWidget:
        return self.deny_button if self._request.default_to_no else self.detail

    def typed(self) -> str:
        return self.reason.text().strip()

    def refuse(self) -> None:
        """Refuse, with the reason as what Claude reads."""
        self.decide(permissions.deny(self.typed()))

    def refusal(self) -> tuple[str, str]:
        return tr("Deny, with what you wrote as the reason?"), tr("Deny")

    def enter_pressed(self) -> None:
        if self.reason.hasFocus() and self.typed():
            self.refuse()

    def submit_pressed(self) -> None:
        self.enter_pressed()

    def _build_words(self) -> None:
        self._scroll.add(plain_label(str(self.view.question), "question", wrap=True), RING)
        self._column.addSpacing(theme.px(6))
        for line in self.view.lines:
            self._scroll.add(plain_label(str(line), "soft", wrap=True), RING)
            self._column.addSpacing(theme.px(4))
        if self.view.has_hidden:
            words = tr("Careful: this contains characters that cannot be seen. They are shown as ⟨U+…⟩.")
            warning = plain_label(f"⚠ {words}", wrap=True)
            warning.setObjectName("hiddenWarning")
            warning.setProperty("tone", "careful")
            self._scroll.add(warning, RING)
            self._column.addSpacing(theme.px(4))

    def _build_detail(self) -> None:
        content = self._scroll.content
        rows = diff_of(self._request.tool_name, self._request.input) if self.view.kind == "edit" else []
        if rows:
            path = plain_label(self.view.path, "semibold", wrap=True)
            path.setObjectName("permissionPath")
            path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._scroll.add(path, RING)
            self._column.addSpacing(theme.px(2))
        self.detail: QWidget = DetailDiff(rows, content) if rows else DetailText(self.view.detail, content)
        self.detail.setObjectName("permissionDetail")
        self.detail.setAccessibleName(tr("What would change") if rows else tr("What would run"))
        self._column.addSpacing(theme.px(4))
        self._scroll.add(Framed(self.detail, content, ground="card" if rows else "code"), RING)
        self._column.addSpacing(theme.px(10))

    def _build_suggestions(self) -> None:
        self.always: list[ChoiceRow] = []
        scopes = [(self._scope(suggestion), suggestion) for suggestion in permissions.suggestions(self._request)]
        # What nobody would read to its end is not offered: no "always" reaches further than its words.
        offered = [(number, *scope) for number, scope in enumerate(scopes) if len(scope[0]) <= _LONGEST_SCOPE]
        if not offered:
            return
        self._scroll.add(plain_label(tr("Allow this, and from now on:"), "soft"), RING)
        for number, scope, suggestion in offered:
            row = ChoiceRow(scope, f"allowAlways_{number}", self._scroll.content)
            row.clicked.connect(lambda _checked=False, chosen=suggestion: self._allow(chosen))
            self.guard.protect(row)
            self.always.append(row)
            self._scroll.add(row)
        self._column.addSpacing(theme.px(6))

    def _scope(self, suggestion: Suggestion) -> str:
        """What a suggestion does. A long command in it is the one shown above, and is not written out again."""
        values = dict(suggestion.words.values)
        command = self.view.detail
        if self.view.kind == "command" and len(command) > _LONG_COMMAND:
            begun = tr("{beginning}… (the whole command above)", beginning=command[:_LONG_COMMAND])
            values = {name: value.replace(command, begun) for name, value in values.items()}
        return tr(suggestion.words.template, **values)

    def _build_reason(self) -> None:
        hint = tr("To refuse: say why, or what to do instead (optional)")
        self.reason = WritingField("denyReason", tr("Reason for refusing"), hint, self._scroll.content)
        self._scroll.add(self.reason, RING)
        self._column.addSpacing(theme.px(4))

    def _build_footer(self) -> None:
        stop = button(tr("Deny and stop"), "denyAndStop", "quiet", self)
        stop.setToolTip(tr("Refuse, and end Claude’s turn"))
        stop.clicked.connect(lambda: self.decide(permissions.deny(self.typed(), interrupt=True)))
        self.footer.left.addWidget(stop)
        self.deny_button = button(tr("Deny"), "deny", "outline", self)
        self.deny_button.setToolTip(tr("Refuse; Claude goes on without it (Esc)"))
        self.deny_button.clicked.connect(self.refuse)
        self.allow_button = button(tr("Allow once"), "allowOnce", "outline", self)
        self.allow_button.clicked.connect(lambda: self._allow(None))
        self.guard.protect(self.allow_button)
        self.footer.right.addWidget(self.deny_button)
        self.footer.right.addWidget(self.allow_button)
        if self._request.default_to_no:
            set_role(self.deny_button, "primary")

    def _allow(self, suggestion: Suggestion | None) -> None:
        updates = [suggestion.raw] if suggestion is not None else []
        result = permissions.allow(self._request.input, updates)
        if self.typed():
            sentence = tr("What you wrote goes to Claude only with a refusal. Allow without it?")
            self.ask_in_card(sentence, tr("Allow"), lambda: self.decide(result))
        else:
            self.decide(result)
