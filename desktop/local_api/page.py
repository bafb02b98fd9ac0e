"""The page of the local API: how to get in, what requests may do, what was asked, and the questions in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop import theme
from desktop.composer.bars import RecoveredBar
from desktop.conversations import notices
from desktop.local_api.access_card import AccessCard
from desktop.local_api.options_card import OptionsCard
from desktop.local_api.parts import Card, Confirming
from desktop.local_api.request_list import RequestList
from desktop.local_api.service import LocalApi
from desktop.transcript.markdown import open_web_link
from desktop.translations import tr
from desktop.widgets import plain_label, set_role
from desktop.window.dialog_slot import DialogSlot
from desktop.window.notice_bar import NoticeBar

TYPED_MS = 500
CLOCK_MS = 1000


class LocalApiPage(QWidget):
    """A thin view of `LocalApi`."""

    def __init__(self, api: LocalApi, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.api = api
        self._file = ""
        self._folder = Path()
        self.setObjectName("localApiPage")
        self.setAccessibleName(tr("Local API"))
        set_role(self, "page")
        self.access = AccessCard(api, self)
        self.options = OptionsCard(api, self)
        self.requests = RequestList(self)
        self.slot = DialogSlot(api.asker, self)
        self.notices = NoticeBar(self)
        self.recovered = RecoveredBar(self, composer=False)
        self._typed_timer = QTimer(self, interval=TYPED_MS)
        self._typed_timer.timeout.connect(self.note_typed)
        self._clock = QTimer(self, interval=CLOCK_MS)
        self._clock.timeout.connect(self._tick)
        self._lay_out()
        self._connect()
        self.refresh()
        self._show_rows()
        self._refresh_slot()

    def _lay_out(self) -> None:
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, theme.px(20), 0, theme.px(16))
        self._column.setSpacing(theme.px(12))
        about = tr(
            "Programs on this computer that speak OpenAI’s protocol can use the Claude Code that is signed in here, on "
            "your plan and for you alone. Nobody gets in from elsewhere, and nobody without the token."
        )
        self._column.addWidget(plain_label(tr("Local API"), "question"))
        self._column.addWidget(plain_label(about, "soft", wrap=True))
        self._column.addWidget(self.access)
        self._column.addWidget(self.options)
        self._column.addWidget(plain_label(tr("Requests"), "section"))
        listed = Card(self)
        listed.column.setContentsMargins(*[theme.px(6)] * 4)
        listed.column.addWidget(self.requests)
        self._column.addWidget(listed, 1)
        self._scroll = QScrollArea(self)
        self._scroll.setObjectName("localApiScroll")
        self._scroll.setWidgetResizable(True)
        self._centred = _centred(content)
        self._scroll.setWidget(self._centred)
        # Qt's own minimum for a scroll area would push a request out of a low window.
        self._scroll.setMinimumHeight(1)
        self._scroll.verticalScrollBar().installEventFilter(self)
        self._lower = QWidget(self)
        lower = QVBoxLayout(self._lower)
        lower.setContentsMargins(0, theme.px(8), 0, theme.px(8))
        lower.setSpacing(theme.px(8))
        lower.addWidget(self.notices)
        lower.addWidget(self.recovered)
        self._foot = _centred(self._lower)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self._scroll, 1)
        rows.addWidget(self.slot)
        rows.addWidget(self._foot)

    def _connect(self) -> None:
        api, access, options = self.api, self.access, self.options
        api.changed.connect(self.refresh)
        api.requests_changed.connect(self._show_rows)
        api.texts.changed.connect(self._show_recovered)
        api.asker.typed_in_dialog = self.slot.typed
        api.asker.changed.connect(self._refresh_slot)
        access.switched.connect(self._on_switch)
        asks = options.confirming
        options.lenient_wished.connect(lambda on: self._if_nothing_ends(asks, lambda: api.set_lenient(on)))
        options.tools_wished.connect(lambda on: self._if_nothing_ends(asks, lambda: api.set_tools(on)))
        options.folder_chosen.connect(lambda path: self._if_nothing_ends(asks, lambda: api.set_tools(True, path)))
        options.port_wished.connect(lambda port: self._if_nothing_ends(asks, lambda: api.set_port(port)))
        self.slot.decided.connect(self._on_decided)
        self.slot.shown_changed.connect(self._fit_slot)
        self.slot.page_wanted.connect(open_web_link)
        self.slot.file_link.connect(self._ask_about_file)
        self.notices.acted.connect(self._on_notice)
        self.notices.dismissed.connect(lambda _: self._show_notice(None))
        self.recovered.copy.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.recovered.forget.connect(api.texts.forget_recovered)

    @property
    def parts(self) -> list[QWidget]:
        """The areas from top to bottom."""
        return [self._scroll, self.slot, self.notices, self.recovered]

    # The endpoint

    def refresh(self) -> None:
        """Show the state as it is now."""
        self.access.refresh()
        self.options.refresh()
        self._show_recovered()

    def _on_switch(self, on: bool) -> None:
        if on:
            self.api.set_on(True)
        else:
            self._if_nothing_ends(self.access.confirming, lambda: self.api.set_on(False))

    def _if_nothing_ends(self, confirming: Confirming, action: Callable[[], None]) -> None:
        """Do it at once, unless requests are under way: these would end, so ask."""
        live = self.api.live
        if not live or self.api.state != "on":
            action()
            return
        words = tr("1 request is under way and would end.")
        if live > 1:
            words = tr("{count} requests are under way and would end.", count=live)
        # Kept: the port that was typed is not in force.
        confirming.ask(
            words, tr("Let it go on"), tr("End and change"), action, self.options.show_port, lambda: not self.api.live
        )

    def _show_rows(self) -> None:
        self.requests.rows.show(self.api.rows)
        self.access.confirming.look_again()
        self.options.confirming.look_again()

    def _tick(self) -> None:
        """The durations of what goes on."""
        if any(row.is_live for row in self.api.rows):
            self.api.refresh_rows()

    # What waits for the person

    def lead_to(self, key: str) -> None:
        """Show a waiting question and give it the focus."""
        self.slot.lead_to(key)

    def _refresh_slot(self) -> None:
        had_focus = self._focus_is_in_slot()
        self.slot.refresh()
        self._fit_slot()
        if self.slot.shown is not None:
            self._typed_timer.start()
            return
        self._typed_timer.stop()
        if had_focus:
            self.requests.setFocus()

    def _focus_is_in_slot(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self.slot or self.slot.isAncestorOf(focused))

    def _on_decided(self, key: str, result: dict[str, Any]) -> None:
        typed = self.slot.typed(key)
        if not self.api.asker.answer(key, result, typed):
            # It was withdrawn in this very moment: nothing was sent, and what was typed is kept.
            self.api.texts.recover(typed)
            self._refresh_slot()

    def note_typed(self) -> None:
        """Tell the local API what stands in the questions now."""
        for key, text in self.slot.all_typed().items():
            self.api.texts.note_typed(key, text)

    def _show_recovered(self) -> None:
        self.recovered.show_texts(self.api.texts.recovered)
        self._fit_slot()

    # Links in plans and previews

    def _ask_about_file(self, path: str) -> None:
        """A file that Claude named is opened by its program only when the person has seen which one it is."""
        self._file = path
        if self.slot.shown is not None:
            self._folder = Path(self.slot.shown.context.cwd)
        self._show_notice(notices.open_file(path))

    def _on_notice(self, key: str, name: str) -> None:
        self._show_notice(None)
        path = self._folder / self._file
        if name == "open_file" and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self._show_notice(notices.file_not_opened(str(path)))

    def _show_notice(self, notice: notices.Notice | None) -> None:
        self.notices.show_notices([notice] if notice is not None else [])
        self._fit_slot()

    # Size

    def _fit_slot(self) -> None:
        shown = not self.notices.isHidden() or not self.recovered.isHidden()
        self._foot.setVisible(shown)
        self.slot.fit(self.height(), self._foot.sizeHint().height() if shown else 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The column stays in the middle, and so in line with the card below it, also beside a scroll bar.
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            bar = self._scroll.verticalScrollBar()
            side = theme.px(12) + (bar.sizeHint().width() if event.type() == QEvent.Type.Show else 0)
            self._centred.setContentsMargins(side - theme.px(12), 0, 0, 0)
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_slot()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_slot()
        self._clock.start()
        self.api.refresh_rows()
        if self.slot.shown is None and not event.spontaneous():
            self.access.switch.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        self.access.reveal(False)
        self.note_typed()


def _centred(content: QWidget) -> QWidget:
    """The column of the page: as wide as text is, in the middle."""
    content.setMaximumWidth(theme.column_width())
    whole = QWidget()
    row = QHBoxLayout(whole)
    row.setContentsMargins(theme.px(12), 0, theme.px(12), 0)
    row.addStretch(1)
    row.addWidget(content, 1000)
    row.addStretch(1)
    return whole
