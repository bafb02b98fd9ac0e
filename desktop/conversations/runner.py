"""Starts, continues and ends the CLI of one conversation. It decides nothing about texts; see `open.py`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from desktop import loop
from desktop.conversations import notices
from desktop.conversations.notices import Notice
from desktop.conversations.surroundings import Prepared, Surroundings
from desktop.conversations.trust import own_settings
from desktop.logs import wire_log
from desktop.reader import run_qthread
from desktop.settings import SettingsStore
from protocol import claude as cli
from protocol.conversation import Change, Conversation
from protocol.session import Session, SessionError, SessionOptions

log = logging.getLogger("handraise.conversations")

Phase = Literal["unstarted", "untrusted", "queued", "starting", "running", "exited", "failed", "closed"]
NO_CONVERSATION = "No conversation found"
"""How the CLI begins its refusal to resume an id it has no file of."""


class Places(Protocol):
    """Who limits how many CLIs run at once."""

    async def enter(self, who: object, on_wait: Callable[[], None]) -> None: ...

    def leave(self, who: object) -> None: ...


@dataclass
class Choices:
    """What the person chose for the conversation; a restart keeps it. None is the CLI's own default."""

    model: str | None = None
    mode: str | None = None
    effort: str | None = None


class Resume:
    """Which saved conversation a restart continues.

    A resumed CLI answers with a new session id, which has no file until a turn has ended well. So the old id is kept
    until the new one is proved.
    """

    def __init__(self, session_id: str = "") -> None:
        self.proved = session_id
        self.hoped = ""
        self._given_up = ""

    def seen(self, session_id: str) -> None:
        """The CLI names its session."""
        if session_id and session_id not in (self.proved, self._given_up):
            self.hoped = session_id

    def prove(self, session_id: str) -> None:
        """A turn has ended under this id: it is saved."""
        if session_id:
            self.proved, self.hoped = session_id, ""

    def forget(self) -> None:
        """Nothing of it was saved, or it is not wanted any more. The id may still be named until the next one is."""
        self._given_up = self.hoped or self.proved
        self.proved = self.hoped = ""

    def cleared(self, session_id: str) -> None:
        """The conversation was cleared: a restart must not bring back what was said before."""
        self.forget()
        self.seen(session_id)

    def candidates(self) -> list[str]:
        """What to try, in this order. Without a proved id the hoped one may have been saved after all."""
        return [one for one in (self.proved, self.hoped) if one]


class NotSavedError(Exception):
    """Every candidate was refused: Claude has no conversation to go on with."""


class Runner:
    """One conversation's CLI.

    Attributes:
        phase: what it is at; `on_phase` is called after each change.
        session: the running session, or the last one; None before the first start.
        folder: where the conversation began; a resume only works there.
    """

    def __init__(
        self,
        folder: Path,
        conversation: Conversation,
        surroundings: Surroundings,
        settings: SettingsStore,
        places: Places,
        *,
        session_id: str = "",
        on_changes: Callable[[Sequence[Change]], None],
        on_phase: Callable[[], None],
        on_notice: Callable[[Notice], None],
    ) -> None:
        self.folder = folder
        self.conversation = conversation
        self.choices = Choices()
        self.resume = Resume(session_id)
        self.phase: Phase = "unstarted"
        self.session: Session | None = None
        self.prepared: Prepared | None = None
        self.handshake_timeout = 60.0
        self._surroundings = surroundings
        self._settings = settings
        self._places = places
        self._on_changes = on_changes
        self._on_phase = on_phase
        self._on_notice = on_notice
        self._generation = 0
        self._place = object()

    @property
    def is_live(self) -> bool:
        """Whether a CLI can be written to."""
        return self.phase == "running" and self.session is not None and self.session.running

    @property
    def is_under_way(self) -> bool:
        """Whether a start is being made, so that another would be one too many."""
        return self.phase in ("queued", "starting", "running")

    async def start(self) -> bool:
        """Bring a CLI up, continuing what was saved. Returns whether it runs; what failed is a notice."""
        if self.is_under_way:
            return self.is_live
        self._generation += 1
        generation = self._generation
        place = self._place = object()
        started = False
        self._set_phase("starting")
        try:
            started = await self._start(generation, place)
        except Exception as error:  # whatever it is: "starting" must not be the last word
            loop.report(error, "starting Claude")
            self._fail(generation, notices.start_broke(str(error)))
        finally:
            if not started:
                self._places.leave(place)
        return started

    async def _start(self, generation: int, place: object) -> bool:
        """Every `await` may see the start overtaken, by a close or another start: then the generation is another."""
        await self._close_session()  # one CLI at a time: the one before may still be ending
        if generation != self._generation or not await self._folder_is_fit(generation):
            return False
        await self._places.enter(place, self._on_queue)
        if generation != self._generation:
            return False
        self._set_phase("starting")
        return await self._start_in_a_place(generation)

    async def _start_in_a_place(self, generation: int) -> bool:
        try:
            self.prepared = await self._surroundings.prepare()
            started = await self._start_session(self.prepared, generation)
        except cli.ClaudeNotFound as error:
            self._fail(generation, notices.claude_missing(error))
        except cli.ClaudeBroken as error:
            self._fail(generation, notices.claude_broken(error))
        except NotSavedError:
            self._fail(generation, notices.not_saved())
        except SessionError as error:
            self._surroundings.forget()
            detail = error.detail or self._stderr_tail()
            self._fail(generation, notices.start_failed(cli.explain_failure(detail) or error, detail))
        else:
            if started:
                self._set_phase("running")
                self._say_version(self.prepared)
            return started
        return False

    async def _folder_is_fit(self, generation: int) -> bool:
        # Not `Path.is_dir`: it raises for a network drive that does not answer.
        if not await loop.on_thread(os.path.isdir, self.folder):
            self._fail(generation, notices.folder_gone(self.folder))
            return False
        if self._settings.trusts(self.folder):
            return generation == self._generation
        files = await loop.on_thread(own_settings, self.folder, self._surroundings.environ)
        if files and generation == self._generation:
            self._set_phase("untrusted")
            self._on_notice(notices.untrusted(self.folder, files))
            return False
        return generation == self._generation

    async def _start_session(self, prepared: Prepared, generation: int) -> bool:
        """One session, or one for each saved id that may be continued; raises what the last one raised.

        False when the start was overtaken meanwhile: then none of them runs.
        """
        candidates: list[str | None] = [*self.resume.candidates()] or [None]
        for place, session_id in enumerate(candidates):
            if generation != self._generation:
                break
            session = self.session = self._session(prepared, session_id)
            try:
                await session.start()
            except SessionError as error:
                if session_id is None or not self._nothing_saved(error):
                    raise
                log.info("Claude has no conversation %s", session_id)
                if place == len(candidates) - 1:
                    raise NotSavedError from error
            else:
                if generation == self._generation:
                    return True
                await session.close()
                break
        return False

    def _session(self, prepared: Prepared, resume: str | None) -> Session:
        options = SessionOptions(
            argv=prepared.claude.argv, cwd=self.folder, env=prepared.environment.env,
            model=self.choices.model, permission_mode=self.choices.mode, resume=resume,
            handshake_timeout=self.handshake_timeout,
        )  # fmt: skip
        return Session(
            options, conversation=self.conversation, on_changes=self._on_changes, run_thread=run_qthread,
            log=wire_log(self._surroundings.environ),
        )  # fmt: skip

    def _nothing_saved(self, error: SessionError) -> bool:
        return NO_CONVERSATION in str(error) or NO_CONVERSATION in self._stderr_tail()

    def _stderr_tail(self) -> str:
        ended = self.session.exit if self.session is not None else None
        return ended.stderr_tail if ended is not None else ""

    def ended(self) -> None:
        """The session is over; called by the owner when the conversation says so."""
        if self.phase == "running":
            self._places.leave(self._place)
            self._set_phase("exited")

    async def close(self) -> None:
        """End the CLI by the ladder, or give up a start that is under way. Can be called at any time."""
        self._generation += 1
        place = self._place
        self._set_phase("closed")
        try:
            await self._close_session()
        finally:
            self._places.leave(place)

    async def stop_for_restart(self) -> bool:
        """End the CLI so that `start` can follow. False when another start or close has come in between."""
        generation = self._generation + 1
        await self.close()
        if generation != self._generation:
            return False
        self._set_phase("exited")
        return True

    async def _close_session(self) -> None:
        if self.session is not None:
            await self.session.close()

    def _on_queue(self) -> None:
        self._set_phase("queued")
        self._on_notice(notices.queued(self._settings.settings.max_processes))

    def _fail(self, generation: int, notice: Notice) -> None:
        if generation == self._generation:
            self._set_phase("failed")
            self._on_notice(notice)

    def _say_version(self, prepared: Prepared) -> None:
        explanation = cli.explain_version(prepared.version)
        if explanation:
            self._on_notice(notices.too_old(explanation))

    def _set_phase(self, phase: Phase) -> None:
        if phase != self.phase:
            self.phase = phase
            self._on_phase()
