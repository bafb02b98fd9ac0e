"""Answers from Claude Code: a CLI of its own for each request, told nothing but what the client said."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from protocol import requests
from protocol.chat_completions import claude_failures as failures
from protocol.chat_completions.backend import (
    IMAGES,
    JSON_SCHEMA,
    REASONING_EFFORT,
    Caller,
    Event,
    Started,
)
from protocol.chat_completions.claude_answer import Answer
from protocol.chat_completions.claude_cli import (
    AFTER_AN_ANSWER,
    IN_THE_MIDDLE,
    MINIMUM,
    Cli,
    Failure,
    FindLaunch,
    Heard,
)
from protocol.chat_completions.claude_pool import OLDEST_SECONDS, Pool
from protocol.chat_completions.claude_questions import Questions
from protocol.chat_completions.errors import ApiError, cli_failed
from protocol.chat_completions.prompt import Prompt, render
from protocol.chat_completions.request import CompletionRequest
from protocol.claude import ClaudeNotFound
from protocol.messages import InitializeReply, ModelInfo
from protocol.session import RequestRefused, Session, SessionError

log = logging.getLogger(__name__)

_DEFAULT_MODEL: Final = "default"
_MODELS_ARE_NEW_SECONDS: Final = 60.0


@dataclass(frozen=True)
class ClaudeOptions:
    """How the Claude backend works.

    Attributes:
        tools_in: a folder in which the model has the CLI's tools; None for plain completions without any. The user's
            own settings count then, but not those that the folder brings, and permission modes of theirs neither.
        idle_timeout: seconds of silence after which an answer is given up; not while a person is asked. A tool that
            works gives a sign every 30 seconds.
        handshake_timeout: seconds until a CLI that does not come up counts as silent: for all before the prompt.
        oldest: seconds that a started CLI is kept for the next request.
    """

    tools_in: Path | None = None
    idle_timeout: float = 120.0
    handshake_timeout: float = 60.0
    oldest: float = OLDEST_SECONDS


class ClaudeBackend:
    """The backend `claude`: see `protocol.chat_completions.backend.Backend`."""

    def __init__(self, find: FindLaunch, options: ClaudeOptions | None = None) -> None:
        """`find` says which CLI to start; for the window's one: `lambda: find_launch(setting, env)`."""
        self._find = find
        self._options = options or ClaudeOptions()
        self._the_pool: Pool | None = None
        self._models: tuple[ModelInfo, ...] = ()
        self._learned_at = 0.0
        self._asking_models = asyncio.Lock()
        self._new_enough: set[tuple[str, ...]] = set()  # programs that need not be asked for their version again

    @property
    def supports(self) -> frozenset[str]:
        """Images, JSON schemas and the effort."""
        return frozenset((IMAGES, JSON_SCHEMA, REASONING_EFFORT))

    @property
    def reserve(self) -> Cli | None:
        """The CLI that is kept ready, None where there is none now."""
        return self._pool.reserve

    @property
    def _pool(self) -> Pool:
        if self._the_pool is None:
            self._the_pool = Pool(self._make, oldest=self._options.oldest)
        return self._the_pool

    def _make(self) -> Cli:
        return Cli(self._find, self._options.tools_in)

    async def start(self) -> None:
        """Start a CLI to have it ready. What goes wrong is said to the first request."""
        self._pool.refill()

    async def close(self) -> None:
        """End the CLI in reserve."""
        await self._pool.close()

    async def models(self) -> tuple[str, ...]:
        """The names that the CLI gives its models, short and full ones; asked once. Raises ApiError (502, 504)."""
        async with self._asking_models:  # however many want to know it: these CLIs have no place in the gate
            if not self._models:
                async with _Run(self, None) as run:
                    await run.prepare(choose=False)
        if not self._models:
            raise cli_failed("Claude Code does not say which models there are.")
        return _names(self._models)

    async def complete(self, request: CompletionRequest, caller: Caller) -> AsyncGenerator[Event, None]:
        """The answer of a CLI of its own, which is gone when the generator has ended. Raises ApiError."""
        prompt = render(request)
        loop = asyncio.get_running_loop()
        if self._models and loop.time() - self._learned_at < _MODELS_ARE_NEW_SECONDS:
            _check_choice(self._models, request)
        async with _Run(self, prompt, request) as run, contextlib.aclosing(run.answer(caller)) as events:
            async for event in events:
                yield event

    def _learn(self, reply: InitializeReply) -> None:
        if reply.models:
            self._models, self._learned_at = reply.models, asyncio.get_running_loop().time()


class _Run:
    """One CLI from the pool to its end."""

    def __init__(self, backend: ClaudeBackend, prompt: Prompt | None, request: CompletionRequest | None = None) -> None:
        self._backend = backend
        self._prompt = prompt
        self._request = request
        self._pool = backend._pool
        self._options = backend._options
        self._questions: Questions | None = None
        self._cli, self._in_reserve = self._pool.take()
        self._answered = False

    async def __aenter__(self) -> _Run:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._questions is not None:
                await self._questions.close()
        finally:
            try:
                await self._cli.close(AFTER_AN_ANSWER if self._answered else IN_THE_MIDDLE)
            finally:
                self._pool.refill()

    @property
    def _session(self) -> Session:
        assert self._cli.session is not None
        return self._cli.session

    # Before the prompt

    async def _shake_hands(self) -> None:
        try:
            await self._start()
        except (SessionError, ClaudeNotFound, OSError):
            if not self._in_reserve:
                raise
            log.info("the CLI in reserve was of no use; another one is started")
            await self._cli.close(IN_THE_MIDDLE)
            self._cli, self._in_reserve = self._pool.fresh(), False
            await self._start()
        await self._check_version()
        self._backend._learn(self._session.initialize_reply)

    async def _check_version(self) -> None:
        """The reply to the handshake tells it since some 2.1; where it does not, the program is asked."""
        told = self._session.initialize_reply.claude_code_version
        argv, known = self._cli.launch.argv, self._backend._new_enough
        if not told and argv in known:
            return
        version = told or await self._cli.version()
        if _numbers(version) < MINIMUM:
            raise failures.too_old(version)
        known.add(argv)

    async def _start(self) -> None:
        await self._cli.spawn()
        await self._session.start(self._handshake())

    def _handshake(self) -> dict[str, Any]:
        system = self._prompt.system if self._prompt is not None else ""
        schema = self._request.json_schema if self._request is not None else None
        if self._options.tools_in is not None:
            return requests.initialize(append_system_prompt=system, json_schema=schema)
        return requests.initialize(system_prompt=system, json_schema=schema)

    async def _choose(self) -> None:
        """The model and the effort, by requests, for arguments were fixed before anybody asked."""
        request = self._request
        assert request is not None
        model = _check_choice(self._session.initialize_reply.models, request)
        if request.model != _DEFAULT_MODEL:
            try:
                await self._session.set_model(request.model)
            except RequestRefused:
                raise failures.unknown_model(request.model) from None
        if request.reasoning_effort is not None:
            try:
                await self._session.request(requests.apply_flag_settings({"effortLevel": request.reasoning_effort}))
            except RequestRefused:
                levels = model.supported_effort_levels if model is not None else ()
                raise failures.unknown_effort(request.reasoning_effort, levels) from None

    async def prepare(self, *, choose: bool = True) -> None:
        """Everything before the prompt; nothing is spent until it is sent. Raises ApiError."""
        seconds = self._options.handshake_timeout
        try:
            async with asyncio.timeout(seconds):
                await self._shake_hands()
                if choose:
                    await self._choose()
        except TimeoutError:
            raise failures.silent_start(seconds) from None
        except ClaudeNotFound:
            raise failures.not_found() from None
        except (SessionError, OSError):
            raise failures.not_started() from None

    # The answer

    async def answer(self, caller: Caller) -> AsyncGenerator[Event, None]:
        """Send the prompt, once, and pass on what comes of it."""
        request, prompt = self._request, self._prompt
        assert request is not None
        assert prompt is not None
        await self.prepare()
        answer = Answer(in_pieces=request.stream or bool(request.stop), structured=request.json_schema is not None)
        self._questions = Questions(self._session, caller, self._cli.folder, self._fail)
        try:
            self._session.send(prompt.blocks, client_composed=True)
        except SessionError:
            raise failures.ended() from None
        self._cli.heard_at = asyncio.get_running_loop().time()
        while not answer.over:
            for event in await self._news(answer, self._questions):
                self._answered = answer.over
                if isinstance(event, Started):
                    self._pool.refill()  # now the model has work to do, not this computer
                yield event

    def _fail(self, error: ApiError) -> None:
        self._cli.heard.put_nowait(Failure(error))

    async def _news(self, answer: Answer, questions: Questions) -> Sequence[Event]:
        heard = await self._next(questions)
        if isinstance(heard, Failure):
            raise heard.error
        if isinstance(heard, Mapping):
            return answer.take(heard)
        questions.see(heard)
        if any(change.kind == "pending_removed" for change in heard):
            self._cli.heard_at = asyncio.get_running_loop().time()  # the silence was the person's
        if self._session.exit is not None and self._cli.heard.empty():
            raise failures.ended()
        return ()

    async def _next(self, questions: Questions) -> Heard:
        """What is heard next. Raises ApiError after too long a silence, but not while a person is asked."""
        loop, seconds = asyncio.get_running_loop(), self._options.idle_timeout
        while True:
            until = None if questions.open else self._cli.heard_at + seconds
            try:
                async with asyncio.timeout_at(until):
                    return await self._cli.heard.get()
            except TimeoutError:
                if not questions.open and loop.time() - self._cli.heard_at >= seconds:
                    raise failures.silent(seconds) from None


def _check_choice(models: Sequence[ModelInfo], request: CompletionRequest) -> ModelInfo | None:
    """The model that is asked for; None where the CLI lists none at all. Raises ApiError."""
    if not models:
        return None
    model = next((m for m in models if request.model == m.value), None)
    model = model or next((m for m in models if request.model == m.resolved_model), None)
    if model is None:
        raise failures.unknown_model(request.model)
    if request.reasoning_effort is not None:
        if not model.supports_effort:
            raise failures.no_effort()
        if request.reasoning_effort not in model.supported_effort_levels:
            raise failures.unknown_effort(request.reasoning_effort, model.supported_effort_levels)
    return model


def _names(models: Sequence[ModelInfo]) -> tuple[str, ...]:
    """What they can be called, each name once."""
    return tuple(dict.fromkeys(name for m in models for name in (m.value, m.resolved_model) if name))


def _numbers(version: str) -> tuple[int, ...]:
    """`2.1.332` for comparing; () for what is no version."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else ()
