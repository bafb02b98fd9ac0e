"""Dialogs for what cannot be asked: a request nobody knows, and questions nobody could answer."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from desktop import theme
from desktop.dialogs.base import DialogContext, RequestDialog
from desktop.dialogs.detail import DetailText
from desktop.dialogs.framed import Framed
from desktop.dialogs.layouts import ContentScroll
from desktop.dialogs.permission_view import readable_json
from desktop.translations import tr
from desktop.widgets import button, plain_label
from protocol.permissions import make_visible


class UnknownDialog(RequestDialog):
    """Shows a request as it came, and can only refuse it."""

    def __init__(
        self, title: str, words: str, raw: Any, refusal: dict[str, Any], context: DialogContext,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """`title` and `words` are in the person's language; `raw` is shown as JSON; `refusal` is what is sent."""
        super().__init__("unknownDialog", context, parent)
        self._refusal = refusal
        self.setAccessibleName(title)
        self._title = title
        scroll = ContentScroll(self, least=theme.px(100))
        side = theme.px(16)
        scroll.column.setContentsMargins(side, 0, side, theme.px(4))
        scroll.column.setSpacing(theme.px(6))
        scroll.column.addWidget(plain_label(title, "question", wrap=True))
        scroll.column.addWidget(plain_label(words, "soft", wrap=True))
        self.detail = DetailText(make_visible(readable_json(raw)), scroll.content)
        self.detail.setObjectName("unknownDetail")
        self.detail.setAccessibleName(tr("The request as it came"))
        scroll.column.addWidget(Framed(self.detail, scroll.content))
        self.body.addWidget(scroll)
        self.refuse_button = button(tr("Refuse"), "refuse", "outline", self)
        self.refuse_button.clicked.connect(self.refuse)
        self.footer.right.addWidget(self.refuse_button)

    def summary(self) -> str:
        return self._title

    def first_focus(self) -> QWidget:
        return self.detail

    def refuse(self) -> None:
        self.decide(self._refusal)
