"""Blocking work beside an event loop, for programs that must not hang at their end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from protocol.pump import run_plain_thread

log = logging.getLogger(__name__)

T = TypeVar("T")


def run_job(loop: asyncio.AbstractEventLoop, job: Callable[[], T], name: str) -> asyncio.Future[T]:
    """Run `job` on a thread of its own; the future gets what it returns or raises.

    Not on a thread of the loop's pool: the end of a program waits for those, whatever they wait for.
    """
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            outcome = partial(_settle, future, future.set_result, job())
        except BaseException as error:  # whatever it is, somebody waits
            outcome = partial(_settle, future, future.set_exception, error)
        try:
            loop.call_soon_threadsafe(outcome)
        except RuntimeError:
            log.debug("the loop was closed before “%s” was done", name)

    run_plain_thread(run, name)
    return future


def _settle(future: asyncio.Future[T], settle: Callable[[Any], None], value: object) -> None:
    if not future.done():
        settle(value)


async def settled(future: asyncio.Future[Any]) -> bool:
    """Wait until the future is done, come what may; True if the waiting task was cancelled meanwhile."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled
