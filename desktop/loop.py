"""The event loop of the window: the one module that imports qasync.

Qt's loop and asyncio's are the same loop here. Two rules keep it alive, and this module exists so that nobody has
to remember them elsewhere:

* A nested event loop (`QDialog.exec()`, a static dialog helper) inside a coroutine stops qasync's other tasks for
  good. `finished()` opens a dialog and awaits its end instead.
* A task that nobody awaits dies without a word. `spawn()` keeps a strong reference and reports what it raises.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import qasync
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QDialog

from desktop.garbage import QuietCollector
from protocol.jobs import run_job

log = logging.getLogger("handraise.loop")

T = TypeVar("T")
Reporter = Callable[[BaseException, str], None]

CANCEL_SECONDS = 20.0
"""How long the end waits for cancelled tasks. The slowest of them ends a CLI, by the ladder's three steps."""

STOPPED_PAUSE = 0.005

_tasks: set[asyncio.Task[Any]] = set()
_reporter: Reporter | None = None


def set_reporter(reporter: Reporter | None) -> None:
    """Name the function that is told of each lost exception: `reporter(exception, where)`, on the GUI thread.

    Without a reporter the exception is logged as an error with its traceback.
    """
    global _reporter
    _reporter = reporter


def report(exception: BaseException, where: str) -> None:
    """Hand over an exception that nobody else will see. `where` is a few words for the log."""
    log.error("Lost exception in %s", where, exc_info=exception)
    if _reporter is not None:
        _reporter(exception, where)


def spawn(coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
    """Start a task that cannot be lost: it is referenced until it ends, and what it raises is reported.

    Args:
        coroutine: what to run on the running loop.
        name: a few words that say what it does; they go into the report.
    """
    task = asyncio.get_running_loop().create_task(coroutine, name=name)
    _tasks.add(task)
    task.add_done_callback(_on_task_done)
    return task


def _on_task_done(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if task.cancelled():
        return
    exception = task.exception()
    if exception is not None:
        report(exception, task.get_name())


def spawned() -> frozenset[asyncio.Task[Any]]:
    """The tasks of `spawn` that have not ended. For the orderly shutdown, and for tests that look for leaks."""
    return frozenset(_tasks)


async def cancel_spawned() -> None:
    """Cancel what `spawn` started and wait until it has ended, but not for ever: the program must end."""
    current = asyncio.current_task()
    tasks = [task for task in _tasks if task is not current]
    for task in tasks:
        task.cancel()
    if tasks:
        _, left = await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        for task in left:
            log.error("The task “%s” did not end when it was cancelled", task.get_name())


async def on_thread(function: Callable[..., T], *args: Any) -> T:
    """Run a blocking function on a thread of its own and await what it returns.

    The thread is a daemon, and not one of a pool: a call that never returns (a dead network drive, a login shell
    that waits for input) must neither use up a pool nor keep the program from ending.
    """
    name = getattr(function, "__name__", "on_thread")
    return await run_job(asyncio.get_running_loop(), partial(function, *args), name)


async def finished(dialog: QDialog) -> int:
    """Open a dialog without a nested loop and await its result (`QDialog.DialogCode` as an int)."""
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def on_finished(result: int) -> None:
        if not future.done():
            future.set_result(result)

    dialog.finished.connect(on_finished)
    dialog.open()
    try:
        return await future
    finally:
        dialog.finished.disconnect(on_finished)


class _Loop(qasync.QEventLoop):  # type: ignore[misc]
    """qasync's, with asyncio's way to run until something is done.

    WORKAROUND: qasync's own handles Qt's events once more after the loop, and then no loop is the running one: a task
    that goes on in that moment, such as when Qt has stopped the loop of a lost screen, fails with "no running event
    loop".
    """

    def run_until_complete(self, future: Coroutine[Any, Any, T] | asyncio.Future[T]) -> T:
        task = asyncio.ensure_future(future, loop=self)

        def stop(_: asyncio.Future[T]) -> None:
            self.stop()

        # asyncio goes on after a KeyboardInterrupt, since that leaves its own loop; PySide keeps it inside.
        task.add_done_callback(stop)
        try:
            return asyncio.BaseEventLoop.run_until_complete(self, task)
        finally:
            task.remove_done_callback(stop)


def make_loop(application: QCoreApplication | None = None) -> asyncio.AbstractEventLoop:
    """A qasync loop on the application, with the handler for exceptions that asyncio itself catches.

    Args:
        application: the QApplication; the existing one when left out.
    """
    application = application or QApplication.instance()
    loop: asyncio.AbstractEventLoop = _Loop(application, already_running=False)
    loop.set_exception_handler(_on_loop_exception)
    return loop


def _on_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    exception = context.get("exception")
    message = str(context.get("message", "the event loop"))
    if isinstance(exception, BaseException):
        report(exception, message)
    else:
        log.error("The event loop says: %s", message)


def _until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T], on_stopped: Callable[[], None] | None) -> T:
    deadline: float | None = None
    while True:
        try:
            return loop.run_until_complete(task)
        except RuntimeError:
            # asyncio's "Event loop stopped before Future completed", or what the task itself has raised.
            if task.done() or on_stopped is None or (deadline is not None and time.monotonic() > deadline):
                raise
        if deadline is None:
            deadline = time.monotonic() + CANCEL_SECONDS
            on_stopped()
        # Qt stops it each time that it notices; what happens in between is enough to come to an end.
        time.sleep(STOPPED_PAUSE)


def run(
    main: Coroutine[Any, Any, int],
    application: QCoreApplication | None = None,
    *,
    on_stopped: Callable[[], None] | None = None,
) -> int:
    """Run `main` on the window's loop until it returns, end what it left behind, and return its exit code.

    Args:
        main: what to run.
        application: the QApplication; the existing one when left out.
        on_stopped: is called when Qt itself stops the loop before `main` has returned, which it does when the screen
            is gone. It has to see to it that `main` returns now.
    """
    loop = make_loop(application)
    asyncio.set_event_loop(loop)
    collector = QuietCollector()
    try:
        code = _until_done(loop, loop.create_task(main, name="the program"), on_stopped)
        _until_done(loop, loop.create_task(cancel_spawned(), name="the end"), lambda: None)
        return code
    finally:
        collector.stop()
        asyncio.set_event_loop(None)
        loop.close()
        # WORKAROUND: qasync's loop is a reference cycle that holds QObjects with timers: not to be left to a thread.
        del loop
        gc.collect()
