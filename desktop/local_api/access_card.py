"""The switch, the address and the token."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from desktop import theme
from desktop.dialogs.layouts import SplitRow
from desktop.local_api.parts import Card, Confirming, CopyButton, FieldToCopy, Switch
from desktop.local_api.service import LocalApi, State
from desktop.translations import tr
from desktop.widgets import Dot, DotState, button, plain_label, set_role


def state_words(state: State) -> tuple[DotState, str]:
    """The dot and the words for what the endpoint is at."""
    known: dict[State, tuple[DotState, str]] = {
        "off": ("rest", tr("Off")),
        "starting": ("working", tr("Starting")),
        "on": ("done", tr("On")),
        "stopping": ("working", tr("Ending")),
        "failed": ("failed", tr("Could not start")),
    }
    return known[state]


class AccessCard(Card):
    """How programs get in.

    Signals:
        switched(bool): the person wants it on or off.
    """

    switched = Signal(bool)

    def __init__(self, api: LocalApi, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._api = api
        self.confirming = Confirming(self)
        self.switch = Switch("localApiSwitch", tr("Local API"), self)
        self.switch.wished.connect(self.switched)
        self.dot = Dot(self)
        self.state = plain_label("", "soft")
        self.state.setObjectName("localApiState")
        head = SplitRow(self)
        head.left.addWidget(self.switch)
        head.right.addWidget(self.dot)
        head.right.addWidget(self.state)
        self.column.addWidget(head)
        self._add_problem()
        self._add_address()
        self._add_token()

    def _add_problem(self) -> None:
        self.problem = plain_label("", wrap=True)
        self.problem.setObjectName("localApiProblem")
        set_role(self.problem, tone="bad")
        self.again = button(tr("Try again"), "localApiTryAgain")
        self.again.clicked.connect(self._api.try_again)
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addWidget(self.problem, 1)
        row.addWidget(self.again)
        self.column.addLayout(row)

    def _add_address(self) -> None:
        copy = CopyButton("localApiCopyAddress", tr("Copy the address"), lambda: self._api.url, self)
        self.address = FieldToCopy("localApiAddress", tr("Address (base URL)"), [copy], self)
        self.address.field.setPlaceholderText(tr("Shown when it is on"))
        self.copy_address = copy
        self.column.addWidget(self.address)

    def _add_token(self) -> None:
        self.show_token = button(tr("Show"), "localApiShowToken")
        self.show_token.setAccessibleName(tr("Show the token"))
        self.show_token.clicked.connect(self._on_show)
        copy = CopyButton("localApiCopyToken", tr("Copy the token"), self._api.token, self)
        self.renew = button(tr("Renew"), "localApiRenewToken")
        self.renew.setAccessibleName(tr("Renew the token"))
        self.renew.clicked.connect(self._ask_to_renew)
        self.copy_token = copy
        self.token = FieldToCopy("localApiToken", tr("Token (API key)"), [self.show_token, copy, self.renew], self)
        self.token.field.setPlaceholderText(tr("Made when it is first switched on"))
        self.column.addWidget(self.token)
        self.reveal(False)

    def _on_show(self) -> None:
        self.reveal(self.token.field.echoMode() != QLineEdit.EchoMode.Normal)

    def reveal(self, shown: bool) -> None:
        """Show the token in the clear, or dots."""
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.token.field.setEchoMode(mode)
        self.token.field.setCursorPosition(0)
        self.show_token.setText(tr("Hide") if shown else tr("Show"))
        self.show_token.setAccessibleName(tr("Hide the token") if shown else tr("Show the token"))

    def _ask_to_renew(self) -> None:
        self.confirming.ask(
            tr("Programs that use the present token get no answers any more."),
            tr("Keep it"), tr("Renew the token"), self._api.renew_token, self.refresh,
        )  # fmt: skip

    def refresh(self) -> None:
        """Show what is in force."""
        api = self._api
        self.switch.setChecked(api.is_wanted)
        dot, words = state_words(api.state)
        self.dot.set_state(dot, words)
        self.dot.setVisible(dot != "rest")
        self.state.setText(words)
        self.problem.setText(str(api.problem) if api.problem is not None else "")
        self.problem.setVisible(api.problem is not None)
        self.again.setVisible(api.state == "failed")
        self.address.show_text(api.url)
        self.copy_address.setEnabled(bool(api.url))
        token = api.token() if api.has_token else ""
        self.token.show_text(token)
        for part in (self.show_token, self.copy_token, self.renew):
            part.setEnabled(bool(token))
