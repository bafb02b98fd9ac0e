"""What goes wrong, as a client hears it: an HTTP status and OpenAI's error object."""

from __future__ import annotations

from typing import Any, Final

INVALID_REQUEST: Final = "invalid_request_error"
AUTHENTICATION: Final = "authentication_error"
PERMISSION: Final = "permission_error"
RATE_LIMIT: Final = "rate_limit_error"
SERVER: Final = "server_error"


class ApiError(Exception):
    """A request that gets no answer, or that ends in the middle of one.

    Attributes:
        status: the HTTP status; where the reply has begun already, only the body is said, as an event.
        message: a sentence for the client's user, without a path, a prompt or anything that the CLI printed.
        kind: OpenAI's `type` of error, such as `invalid_request_error`.
        param: the field that is wrong, such as `messages[0].content`, or None.
        code: a word for programs, such as `model_not_found`, or None.
        retry_after: whole seconds for `Retry-After`, or None.
        should_retry: False tells OpenAI's own clients (`x-should-retry`) not to send it again by themselves, because
            that would only spend the plan once more; None says nothing.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = INVALID_REQUEST,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param
        self.code = code
        self.retry_after = retry_after
        self.should_retry = should_retry

    def body(self) -> dict[str, Any]:
        """The JSON that says it: `{"error": {message, type, param, code}}`, all four always there."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


def unsupported(param: str, message: str) -> ApiError:
    """A parameter that would change the answer and is not done here."""
    return ApiError(400, message, param=param, code="unsupported_parameter")


def cli_failed(message: str, code: str = "cli_failed") -> ApiError:
    """The CLI did not start, failed, or said nothing usable."""
    return ApiError(502, message, kind=SERVER, code=code, should_retry=False)


def timed_out(message: str) -> ApiError:
    """The CLI, or the person who was asked, took too long."""
    return ApiError(504, message, kind=SERVER, code="timeout", should_retry=False)


def plan_limit_reached(message: str) -> ApiError:
    """The plan of the person is used up for now. Never an answer, and not to be tried again at once."""
    return ApiError(429, message, kind=RATE_LIMIT, code="plan_limit_reached", should_retry=False)
