"""The smoke test that a packaged app runs on itself.

    handraise --demo --smoke-test              on the stand-in, with the demo's first message
    handraise --smoke-test=PROMPT FOLDER       on the CLI that is found, with that message

It uses the window like a person would, by the names that outsiders may rely on: sends the message, answers the first
question with its first options, sees the answer in the transcript and the turn's end, and closes the window. It
proves that the package holds what it needs: Qt's plugins, the stand-in, the demo, the dialogs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtWidgets import QAbstractButton, QWidget

from protocol.conversation import TurnEndItem

if TYPE_CHECKING:
    from desktop.window.main_window import MainWindow

log = logging.getLogger("handraise.smoke")

DEADLINE = 60.0
"""Seconds for each step. Generous: a packaged app's first start reads everything from disk."""
LOOK_EVERY = 0.05
AFTER_ARRIVAL = 0.6
"""Seconds: a dialog ignores what comes in the first moment after it appeared, since that was meant for elsewhere."""

W = TypeVar("W", bound=QWidget)


class SmokeError(Exception):
    """A step did not come about; the text says which."""


async def play(window: MainWindow, prompt: str = "") -> None:
    """Play one question through the window; "" sends what stands in the composer. Raises SmokeError."""
    if prompt:
        await _there(window, QWidget, "composer")
        window.show_first_message(prompt)
    await _press(window, "sendButton")
    dialog = await _there(window, QWidget, "questionDialog")
    await asyncio.sleep(AFTER_ARRIVAL)
    question = 0
    while window.findChildren(QWidget, f"question_{question}"):
        await _press(dialog, f"option_{question}_0")
        await _press(dialog, "nextQuestion")
        question += 1
    await asyncio.sleep(AFTER_ARRIVAL)
    await _press(dialog, "submitAnswers")
    await _until(lambda: "answered" in _decisions(window), "the answer is in the transcript")
    if prompt:
        # The demo goes on with its next request, which is no part of this.
        await _until(lambda: _is_over(window), "the turn is over")
    log.info("Smoke test: one request with %d questions was answered", question)


def _decisions(window: MainWindow) -> list[str]:
    opened = window.current
    items = opened.conversation.items if opened is not None else ()
    return [str(getattr(item, "decision", "")) for item in items]


def _is_over(window: MainWindow) -> bool:
    opened = window.current
    return opened is not None and any(isinstance(item, TurnEndItem) for item in opened.conversation.items)


async def _press(root: QWidget, name: str) -> None:
    pressed = await _there(root, QAbstractButton, name)
    await _until(pressed.isEnabled, f"{name} can be pressed")
    pressed.click()


async def _there(root: QWidget, kind: type[W], name: str) -> W:
    def visible() -> W | None:
        return next((one for one in root.findChildren(kind, name) if one.isVisible()), None)

    await _until(lambda: visible() is not None, f"{name} is there")
    found = visible()
    assert found is not None
    return found


async def _until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        if time.monotonic() > deadline:
            raise SmokeError(f"After {DEADLINE:.0f} s it does not hold that {what}.")
        await asyncio.sleep(LOOK_EVERY)
