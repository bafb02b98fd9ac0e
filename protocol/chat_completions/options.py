"""How the endpoint behaves: its port and its limits."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_PORT = 8473


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """The limits of one endpoint. Times in seconds, sizes in bytes.

    Attributes:
        port: on 127.0.0.1; 0 for any that is free.
        lenient: ignore the usual sampling parameters, and say so in `x-handraise-ignored`, where a strict endpoint
            refuses them.
        timeout: what a request may take in all, the time in which a person is asked not counted.
        idle_timeout: how long the CLI may say nothing.
        max_concurrent: how many answers are written at once.
        queue: how many more requests may wait.
        question_seconds: until when, from the arrival of a request without streaming, a person can answer. Clients on
            Node hang up after 300 s without headers.
        stream_question_seconds: the same with streaming.
        keepalive: between two signs of life in a stream; also how long its status is held back at most.
        header_timeout: from a connection's start, or a request's first byte, until its headers are complete.
        body_timeout: for reading a body.
        write_timeout: how long a client may read nothing while there is something for it.
        idle_connection: how long a connection between two requests is kept.
        models_timeout: for the list of models.
        max_body: of a request.
        max_headers: of a request's headers together.
        max_output: of an answer, in UTF-8.
        max_connections: at once. What comes on top is refused with a 503, twice as many without a word.
        closing: how long the end may take that the requests and the CLIs are waited for.
    """

    port: int = DEFAULT_PORT
    lenient: bool = False
    timeout: float = 600.0
    idle_timeout: float = 120.0
    max_concurrent: int = 2
    queue: int = 8
    question_seconds: float = 285.0
    stream_question_seconds: float = 3600.0
    keepalive: float = 15.0
    header_timeout: float = 5.0
    body_timeout: float = 15.0
    write_timeout: float = 30.0
    idle_connection: float = 60.0
    models_timeout: float = 60.0
    max_body: int = 1024 * 1024
    max_headers: int = 32 * 1024
    max_output: int = 8 * 1024 * 1024
    max_connections: int = 64
    closing: float = 8.0
