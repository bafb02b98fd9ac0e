"""The settings dialog, and notifications that only lead to what waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from desktop import theme, translations
from desktop.notifications import Notifier, notification_words
from desktop.settings.dialog import SettingsDialog
from desktop.settings.store import SettingsStore
from desktop.window.main_window import MainWindow
from tests.helpers.desk import Desk, first_pending, question


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "config" / "settings.json")


@pytest.fixture
def dialog(store: SettingsStore, qtbot: QtBot) -> SettingsDialog:
    made = SettingsDialog(store)
    qtbot.addWidget(made)
    made.show()
    return made


def pick(dialog: SettingsDialog, name: str, words: str) -> None:
    box = dialog.findChild(QComboBox, name)
    assert box is not None
    index = box.findText(words)
    assert index >= 0
    box.setCurrentIndex(index)
    box.activated.emit(index)


@pytest.mark.parametrize(
    ("name", "words", "field", "value"),
    [
        ("settingTheme", "Dark", "theme", "dark"),
        ("settingLanguage", "繁體中文", "language", "zh_TW"),
        ("settingTextScale", "125 %", "text_scale", 1.25),
        ("settingMaxProcesses", "3", "max_processes", 3),
    ],
)
def test_a_choice_is_in_force_and_saved_at_once(
    store: SettingsStore, dialog: SettingsDialog, name: str, words: str, field: str, value: object
) -> None:
    pick(dialog, name, words)
    assert getattr(store.settings, field) == value
    assert getattr(SettingsStore(store.path).settings, field) == value


def test_another_program_and_the_key_say_that_claude_is_another(
    store: SettingsStore, dialog: SettingsDialog, qtbot: QtBot
) -> None:
    field = dialog.findChild(QLineEdit, "settingClaude")
    assert field is not None
    with qtbot.waitSignal(dialog.claude_changed):
        field.setText("/opt/claude")
        field.editingFinished.emit()
    assert store.settings.claude == "/opt/claude"
    keep = dialog.findChild(QCheckBox, "settingKeepApiKey")
    assert keep is not None
    assert not keep.isChecked()
    with qtbot.waitSignal(dialog.claude_changed):
        keep.click()
    assert store.settings.keep_api_key


def test_a_disk_that_does_not_take_it_is_said_in_the_dialog(
    store: SettingsStore, dialog: SettingsDialog, caplog: pytest.LogCaptureFixture
) -> None:
    store.path.parent.write_text("a file in the way", encoding="utf-8")
    pick(dialog, "settingTheme", "Dark")
    assert dialog.problem.isVisible()
    assert "could not be saved" in dialog.problem.text()
    assert "could not be saved" in caplog.text
    caplog.clear()


def test_everything_can_be_reached_by_keyboard_and_has_a_name(dialog: SettingsDialog) -> None:
    for kind in (QComboBox, QCheckBox, QLineEdit):
        for widget in dialog.findChildren(kind):
            assert widget.accessibleName() != "", widget.objectName()
            assert widget.focusPolicy() & widget.focusPolicy().TabFocus


def test_a_scheme_and_a_language_are_those_of_the_next_label(qapp: QApplication) -> None:
    try:
        translations.set_language("zh_TW")
        theme.apply(qapp, "dark", 1.0)
        assert translations.tr("Send") == "送出"
        assert theme.is_dark()
    finally:
        translations.set_language("en")
        theme.apply(qapp, "light", 1.0)


# Notifications


def test_a_click_leads_to_the_dialog_and_answers_nothing(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B")])
    notifier = Notifier(window, desk.settings, QIcon())
    notifier.opened.connect(window.lead_to)
    desk.conversations.request_added.connect(notifier.tell)
    window.hide()

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        assert not window.isVisible()
        notifier.on_clicked()
        assert window.isVisible()
        assert window.current is opened
        assert window.page is not None
        assert window.page.slot.shown_id == first_pending(opened)

    desk.run(story())
    notifier.close()


def test_a_notification_about_what_is_over_only_shows_the_window(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B")])
    notifier = Notifier(window, desk.settings, QIcon())
    notifier.opened.connect(window.lead_to)
    desk.conversations.request_added.connect(notifier.tell)

    async def story() -> None:
        opened = desk.conversations.start(desk.folder)
        await desk.until(lambda: opened.phase == "running")
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        await desk.conversations.remove(opened)
        notifier.on_clicked()
        assert window.isVisible()
        assert window.current is None

    desk.run(story())
    notifier.close()


def test_a_notification_names_the_conversation_and_not_what_is_asked(desk: Desk) -> None:
    desk.stand_in([question("What is the password of the vault?", "A", "B")])

    async def story() -> None:
        opened = await desk.open()
        opened.send("tidy up")
        await desk.until(lambda: opened.conversation.pending)
        words = notification_words(opened, opened.conversation.pending[first_pending(opened)])
        assert words == ("Claude has a question", "tidy up")

    desk.run(story())


def test_who_does_not_want_notifications_gets_none(desk: Desk, window: MainWindow) -> None:
    desk.stand_in([question("Which?", "A", "B")])
    desk.settings.change(notify=False)
    notifier = Notifier(window, desk.settings, QIcon())

    async def story() -> None:
        opened = await desk.open()
        opened.send("go")
        await desk.until(lambda: opened.conversation.pending)
        notifier.tell(opened, first_pending(opened))
        notifier.on_clicked()
        assert window.current is None

    desk.run(story())
    notifier.close()
