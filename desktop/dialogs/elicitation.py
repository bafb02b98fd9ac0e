"""The elicitation dialog: an MCP server asks for values, or for a visit to a page."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop import theme
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.detail import DetailText
from desktop.dialogs.form_field import FieldRow
from desktop.dialogs.framed import Framed
from desktop.dialogs.layouts import ContentScroll
from desktop.dialogs.option_row import RING
from desktop.translations import tr
from desktop.widgets import button, plain_label
from protocol import permissions
from protocol.messages import Elicitation
from protocol.permissions import make_visible


def is_web_address(url: str) -> bool:
    """Whether an address may be handed to a browser: http or https, with a host, and nothing hidden in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    clean = not permissions.hidden_characters(url) and not any(character.isspace() for character in url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and clean


class ElicitationDialog(RequestDialog):
    """Asks what an MCP server wants to know. Ctrl+Enter sends, Enter goes to the next field, Esc cancels."""

    def __init__(self, request: Elicitation, context: DialogContext, parent: QWidget | None = None) -> None:
        super().__init__("elicitationDialog", context, parent)
        self.form = permissions.elicitation_form(request)
        self._is_page = self.form.mode == "url"
        server = make_visible(self.form.server) or tr("unnamed")
        title = tr("The MCP server “{server}” asks", server=server)
        self.setAccessibleName(title)
        self._title = title
        self.header.left.addWidget(plain_label(tr("MCP server {name}", name=server), "title"))
        self._scroll = ContentScroll(self, least=theme.px(140))
        side = theme.px(16) - RING
        self._scroll.column.setContentsMargins(side, 0, side, theme.px(4))
        self._scroll.column.setSpacing(theme.px(12))
        self.body.addWidget(self._scroll)
        message = plain_label(make_visible(self.form.message) or title, "question", wrap=True)
        message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._scroll.add(message, RING)
        self.rows = [] if self._is_page else [FieldRow(field, self._scroll.content) for field in self.form.fields]
        for row in self.rows:
            self._scroll.add(row)
        if self._is_page:
            self._build_page()
        self._build_footer()

    def summary(self) -> str:
        return self._title

    def first_focus(self) -> QWidget:
        if self._is_page:
            return self.address
        return self.rows[0].focus_target() if self.rows else self.decline_button

    def typed(self) -> str:
        return "\n\n".join(text for row in self.rows if (text := row.written()))

    def refuse(self) -> None:
        """Close without deciding; the server may ask again."""
        self.decide(permissions.cancel_elicitation())

    def refusal(self) -> tuple[str, str]:
        return tr("Close the form and throw away what you wrote?"), tr("Throw away")

    def enter_pressed(self) -> None:
        if self.rows:
            self.focusNextChild()

    def submit_pressed(self) -> None:
        if not self._is_page:
            self.accept_form()

    def accept_form(self) -> None:
        """Send the form; or show beside each field what is wrong, and go to the first."""
        checked = [(row, *row.check()) for row in self.rows]
        for row, _, fine in checked:
            if not fine:
                row.focus_target().setFocus(Qt.FocusReason.OtherFocusReason)
                self._scroll.keep_in_sight(row)
                return
        content = {row.field.name: value for row, value, _ in checked if value is not None}
        self.decide(permissions.accept(None if self._is_page else content))

    def _build_page(self) -> None:
        words = tr("It wants you to open this page. Look at the address first: it comes from the server.")
        self._scroll.add(plain_label(words, "soft", wrap=True), RING)
        self.address = DetailText(make_visible(self.form.url), self._scroll.content)
        self.address.setObjectName("elicitationUrl")
        self.address.setAccessibleName(tr("Address of the page"))
        self._scroll.add(Framed(self.address, self._scroll.content), RING)
        if not is_web_address(self.form.url):
            problem = plain_label(tr("This is no ordinary web address, so it is not opened from here."), wrap=True)
            problem.setProperty("tone", "careful")
            self._scroll.add(problem, RING)

    def _build_footer(self) -> None:
        cancel = button(tr("Close"), "cancelElicitation", "quiet", self)
        cancel.setToolTip(tr("Close without an answer (Esc)"))
        cancel.clicked.connect(self.escape)
        self.footer.left.addWidget(cancel)
        self.decline_button = button(tr("Decline"), "decline", "outline", self)
        self.decline_button.clicked.connect(lambda: self.decide(permissions.decline()))
        self.footer.right.addWidget(self.decline_button)
        if self._is_page and is_web_address(self.form.url):
            visit = button(tr("Open in the browser"), "openUrl", "outline", self)
            visit.clicked.connect(lambda: self.page_wanted.emit(self.form.url))
            self.guard.protect(visit)
            self.footer.right.addWidget(visit)
        words = tr("I have done it") if self._is_page else tr("Send to the server")
        self.accept_button = button(words, "accept", "outline" if self._is_page else "primary", self)
        self.accept_button.clicked.connect(self.accept_form)
        self.footer.right.addWidget(self.accept_button)
