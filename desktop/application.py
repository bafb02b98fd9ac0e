"""The window's program: starts Qt, shows the window, ends everything in an orderly way."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QThread, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QIcon

from desktop import __version__, logs, loop, theme, translations, windows_shell
from desktop.crash import CrashHooks
from desktop.demo import Demo
from desktop.instance import SingleInstance, Wish
from desktop.opening import Opened, has_display, instance_of, settings_path, window_memory
from desktop.paths import config_dir, data_dir
from desktop.qt_application import QtApplication, qt_application
from desktop.settings import Settings, SettingsStore
from desktop.signals import SignalWatcher
from desktop.translations import tr
from desktop.window.main_window import MainWindow

log = logging.getLogger("handraise.application")

FINE, FAILED = 0, 1
SCREEN_IS_GONE = "The screen that Handraise was shown on is gone, so Handraise has ended. What you had typed is kept."
TOKEN = "XDG_ACTIVATION_TOKEN"
OF_THIS_START = (TOKEN, "DESKTOP_STARTUP_ID")
"""A desktop gives these to one window; no program that is started from it may have them."""
FIRST_PAINT_SECONDS = 0.02
CLOSE_SECONDS = 15.0
"""How long the CLIs may take to leave: the ladder's three steps, and the readers after them."""
TURN_SECONDS = CLOSE_SECONDS + loop.CANCEL_SECONDS + 5.0
"""How long a start waits for a window that is closing: as long as that can take."""
TURN_PAUSE = 0.2


def main(
    folder: Path | None, *, demo: bool = False, smoke_test: str | None = None, env: Mapping[str, str] = os.environ,
    opened: Opened | None = None,
) -> int:
    """Show the window until it is closed, or until the smoke test is through; returns the exit code.

    Args:
        folder: begin a conversation there.
        demo: on the stand-in, in a folder of its own.
        smoke_test: the message that the smoke test sends, "" for the demo's own; None for a person's window.
        env: the environment.
        opened: the empty window, where it is on the screen already.
    """
    if opened is None and not has_display(env):
        print("There is no display to show the window on. Start it in a desktop session.", file=sys.stderr)
        return FAILED
    env = {name: value for name, value in env.items() if name not in OF_THIS_START}
    if not demo:
        return _main(folder, env, None, smoke_test=smoke_test, opened=opened)
    try:
        made = Demo.create()
    except OSError as error:
        print(f"The demo could not make its folder: {error.strerror or error}.", file=sys.stderr)
        return FAILED
    try:
        demo_env = made.environment(env, translations.set_language("system"))
        return _main(made.folder, demo_env, made, smoke_test=smoke_test)
    finally:
        made.remove()


def _main(
    folder: Path | None, env: dict[str, str], demo: Demo | None, *, smoke_test: str | None, opened: Opened | None = None
) -> int:
    try:
        instance = opened.instance if opened is not None else instance_of(env)
    except OSError as error:
        print(f"The settings folder {config_dir(env)} cannot be used: {error.strerror or error}.", file=sys.stderr)
        return FAILED
    if opened is None and (code := _hand_over(instance, folder)) is not None:
        return code
    logs.set_up(env)
    hooks = CrashHooks(data_dir(env) / "crash.log")
    left = hooks.install()
    qInstallMessageHandler(_on_qt_message)
    for kind, message in opened.said if opened is not None else ():
        _on_qt_message(kind, None, message)
    try:
        application = Application(folder, env, instance, hooks, demo, opened.window if opened is not None else None)
        application.smoke_test = smoke_test
        qInstallMessageHandler(partial(_on_qt_message, keep_typed=application.keep_typed))
        code = loop.run(application.run(left), application.qt, on_stopped=application.end_without_screen)
        return FAILED if application.lost_screen else code
    finally:
        qInstallMessageHandler(None)
        instance.release()
        hooks.remove()
        logs.close()


def _hand_over(instance: SingleInstance, folder: Path | None) -> int | None:
    """Let another window of this config folder do what is wanted. None when there is none, and this one's turn is now.

    One that is closing hears nothing any more; one that has just begun hears nothing yet. No application object is
    needed for this, and one of `QCoreApplication` could not be followed by the window's.
    """
    deadline = time.monotonic() + TURN_SECONDS
    while not instance.claim():
        if not instance.is_taken:
            words = f"The settings folder {instance.folder} cannot be used: nothing can be written there."
            print(words, file=sys.stderr)
            return FAILED
        windows_shell.allow_foreground(instance.other_pid())
        answer = instance.tell(Wish(str(folder) if folder is not None else "", os.environ.get(TOKEN, "")))
        if answer == "done":
            return FINE
        if answer == "silent" or not instance.can_be_told or time.monotonic() > deadline:
            pid = instance.other_pid()
            which = f" (process {pid})" if pid else ""
            print(f"Handraise runs already{which} but does not answer. End it, then start again.", file=sys.stderr)
            return FAILED
        time.sleep(TURN_PAUSE)
    return None


def _on_qt_message(
    kind: QtMsgType, context: object, message: str, keep_typed: Callable[[], None] = lambda: None
) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    logging.getLogger("handraise.qt").log(levels.get(kind, logging.ERROR), "%s", message)
    if kind == QtMsgType.QtFatalMsg:
        # Qt ends the process after this; without a word nobody would know why.
        print(message, file=sys.stderr)
    elif message.startswith("The Wayland connection broke"):
        # Here, too, and at once: Qt calls exit() for Wayland, where for X it only stops its loop.
        _tell_of_lost_screen()
        keep_typed()


def _tell_of_lost_screen() -> None:
    log.error(SCREEN_IS_GONE)
    print(SCREEN_IS_GONE, file=sys.stderr)


class Application(QObject):
    """The parts of the running program, and their end.

    Attributes:
        smoke_test: what the smoke test sends before it leaves, "" for the demo's own message; None waits for a person.

    Signals: report(text): something failed; it may be emitted from any thread.
    """

    report = Signal(str)

    def __init__(
        self, folder: Path | None, env: dict[str, str], instance: SingleInstance, hooks: CrashHooks, demo: Demo | None,
        window: MainWindow | None = None,
    ) -> None:
        """`window` is the empty one, where it is on the screen already."""
        self.qt = qt_application()
        self.qt.setWindowIcon(QIcon(theme.icon_path("handraise.svg")))
        super().__init__()
        self.env = env
        self.demo = demo
        self.smoke_test: str | None = None
        self._folder = folder
        self._instance = instance
        self._hooks = hooks
        self._told_report = False
        self._stop = asyncio.Event()
        self.lost_screen = False
        self.settings = SettingsStore(settings_path(env))
        self._apply(self.settings.settings)
        self.window = window or MainWindow(window_memory(env))
        self.window.closing.connect(self._end)
        if isinstance(self.qt, QtApplication):
            self.qt.quit_wanted.connect(self._end)
        if self.window.was_closed or (isinstance(self.qt, QtApplication) and self.qt.is_quit_wanted):
            self._end()  # in the window's first moment, when nobody listened
        # The end of the session may leave no time for more than this.
        self.qt.commitDataRequest.connect(self._on_session_ends)
        self.settings.subscribe(self._apply)
        self.qt.styleHints().colorSchemeChanged.connect(lambda: self._apply(self.settings.settings))

    async def run(self, left_by_crash: str) -> int:
        """Show the window and wait until it is closed. Returns the exit code."""
        code = FINE
        started = time.perf_counter()
        loop.set_reporter(self._hooks.caught)
        self._hooks.listen(self.report.emit)
        signals = SignalWatcher(lambda number: self._end())
        self._build()
        # At once: what fails while the window comes up is told, too.
        self.report.connect(self._on_report)
        if not self.window.isVisible() and not self._stop.is_set():
            self.window.show()
            await self._painted()
        log.info("Handraise %s: the window is there after %.2f s", __version__, time.perf_counter() - started)
        try:
            self._begin(left_by_crash)
            if self.smoke_test is not None:
                code = await self._test_itself(self.smoke_test)
            else:
                await self._stop.wait()
            await self._close()
        finally:
            signals.close()
            self._hooks.listen(None)
            loop.set_reporter(None)
        return code

    def end_without_screen(self) -> None:
        """Qt stopped its loop: its window system is gone. What was typed is kept, and the CLIs are ended in order."""
        self.lost_screen = True
        _tell_of_lost_screen()
        self._end()

    def _on_session_ends(self) -> None:
        self.keep_typed()
        self.window.keep_geometry()
        self._hooks.forget()

    def keep_typed(self) -> None:
        """What was typed is kept at once: the process may be ended without another word."""
        if QThread.currentThread() is self.thread():
            self.window.keep_typed()

    def _end(self) -> None:
        """`run` ends now. A later start that wants something waits for its turn instead of being heard by nobody."""
        self._stop.set()
        self._instance.stop_listening()

    async def _test_itself(self, prompt: str) -> int:
        from desktop import smoke

        try:
            await smoke.play(self.window, prompt)
        except smoke.SmokeError as problem:
            print(problem, file=sys.stderr)
            return FAILED
        return FAILED if self._told_report else FINE

    async def _painted(self) -> None:
        """Let the window appear before anything else is loaded."""
        for _ in range(2):
            await asyncio.sleep(FIRST_PAINT_SECONDS / 2)

    def _build(self) -> None:
        from desktop.conversations import Conversations, DraftStore, Surroundings
        from desktop.local_api.service import LocalApi
        from desktop.notifications import Notifier

        surroundings = Surroundings(self.settings, self.env)
        self.conversations = Conversations(self.settings, surroundings, DraftStore(data_dir(self.env) / "drafts"))
        self.local_api = LocalApi(self.settings, surroundings, data_dir(self.env))
        self.window.furnish(self.conversations, self.settings, self.local_api)
        self.notifier = Notifier(self.window, self.settings, self.qt.windowIcon(), self)
        self.conversations.request_added.connect(self.notifier.tell)
        self.local_api.asker.request_added.connect(self.notifier.tell_of_local_api)
        self.notifier.opened.connect(self.window.lead_to)
        self._instance.wished.connect(self._on_wish)
        self._instance.listen()

    def _begin(self, left_by_crash: str) -> None:
        """What happens once the window is there."""
        from desktop.conversations.notices import Notice
        from desktop.sentences import sentence

        if self.settings.problem is not None:
            self.window.show_notice(Notice("settings", "careful", self.settings.problem))
        if left_by_crash:
            words = sentence("Handraise ended unexpectedly the last time. What you had typed is kept.")
            self.window.show_notice(Notice("crash", "careful", words, left_by_crash))
        restored = self.conversations.restore()
        if self._folder is not None:
            opened = self.window.open_folder(self._folder)
            if self.demo is not None and opened.texts.is_empty:
                self.window.show_first_message(
                    tr("Split the ledger out of the monolith. Keep the old reads working until the migration is done.")
                )
        elif restored:
            self.window.show_conversation(restored[-1])
        if isinstance(self.qt, QtApplication):
            for path in self.qt.early_folders():
                self.window.open_folder(Path(path))
            self.qt.folder_wanted.connect(lambda path: self._on_wish(Wish(path)))
        self.window.take_early_keys()
        self.window.look_around_soon()
        self.local_api.begin()

    def _apply(self, settings: Settings) -> None:
        translations.set_language(settings.language)
        theme.apply(self.qt, settings.theme, settings.text_scale)

    def _on_wish(self, wish: Wish) -> None:
        """A second start: it wants the window in front, and maybe a folder in it."""
        if self._stop.is_set():
            log.info("What is to be opened comes too late: this window is closing")
            return
        if wish.token and self.qt.platformName().startswith("wayland"):
            os.environ[TOKEN] = wish.token  # where Qt looks for it, and takes it away again
        self.window.come_to_front()
        os.environ.pop(TOKEN, None)
        if wish.folder and Path(wish.folder).is_dir():
            self.window.open_folder(Path(wish.folder))

    def _on_report(self, text: str) -> None:
        """Something failed: the person is told once; what comes after is in the log."""
        from desktop.conversations.notices import Notice
        from desktop.sentences import sentence

        if self._told_report:
            return
        self._told_report = True
        words = sentence("A part of Handraise failed. You can go on; if something does not react, restart it.")
        self.window.show_notice(Notice("crash", "bad", words, text))

    async def _close(self) -> None:
        """The window goes at once, the CLIs by their ladder, within a deadline."""
        self._end()
        if self.window.isVisible():  # it was not the window that ended this
            self.window.keep_geometry()
        for widget in self.qt.topLevelWidgets():
            widget.hide()
        self.notifier.close()
        try:
            await asyncio.wait_for(self._close_all(), CLOSE_SECONDS)
        except TimeoutError:
            log.error("The conversations or the local API did not end within %.0f s", CLOSE_SECONDS)
        await loop.cancel_spawned()  # what it finds out at last is shown by parts of the window
        self.report.disconnect(self._on_report)
        self.window.deleteLater()

    async def _close_all(self) -> None:
        await asyncio.gather(self.conversations.close_all(), self.local_api.close())
