"""Errors of the client: the server refuses, cannot be reached, or is not understood."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.errors import MootError, Unavailable
from moot.core.json_types import decode_value

PROBLEM = "application/problem+json"
TRANSIENT_STATUSES = (429, 500, 502, 503, 504)
"""Statuses after which a second attempt may succeed."""


class ProblemDetails(Struct, frozen=True, rename="camel"):
    """Problem details (RFC 9457), as the server sends them."""

    status: int = 0
    title: str = ""
    detail: str = ""
    type: str = "about:blank"
    instance: str = ""
    request_id: str = ""
    current_status: str = ""
    """Of a conflict: the present status of the debate."""
    errors: dict[str, list[str]] = {}

    @property
    def kind(self) -> str:
        """The last word of the type: `validation`, `conflict`, `not-found` …"""
        return self.type.rpartition("/")[2]


class ApiError(MootError):
    """The server refused the request."""

    def __init__(self, problem: ProblemDetails, retry_after: float | None = None) -> None:
        fields = "; ".join(f"{field}: {', '.join(problems)}" for field, problems in problem.errors.items())
        message = problem.detail or problem.title or f"The server answered with {problem.status}"
        super().__init__(f"{message} ({fields})" if fields else message)
        self.problem = problem
        self.retry_after = retry_after
        """The seconds to wait before another attempt, if the server says so."""

    @property
    def type(self) -> str:
        return self.problem.type

    @property
    def title(self) -> str:
        return self.problem.title

    @property
    def status(self) -> int:
        return self.problem.status

    @property
    def detail(self) -> str:
        return self.problem.detail

    @property
    def errors(self) -> dict[str, list[str]]:
        return self.problem.errors

    @property
    def request_id(self) -> str:
        """Identifies this request in the log of the server."""
        return self.problem.request_id

    @property
    def transient(self) -> bool:
        return self.status in TRANSIENT_STATUSES


class Unreachable(Unavailable):
    """The server cannot be reached; `fix` says what to do."""

    def __init__(self, server: str, what: str = "No Moot server answers at {server}.") -> None:
        super().__init__(
            what.format(server=server),
            "Start one with `moot serve`, or say where it is: --server URL, or MOOT_SERVER.",
        )
        self.server = server


class Unreadable(MootError):
    """The server sent something that this client does not understand: is it a newer Moot, or none at all?"""


def api_error(status: int, reason: str, media_type: str, body: bytes, retry_after: str = "") -> ApiError:
    """The error of a reply with a status of 300 or more, also of a proxy's, which has no problem document."""
    problem = ProblemDetails(
        status=status, title=reason, detail=f"The server answered with {status} {reason}."
    )
    if media_type == PROBLEM:
        problem = decode(body, ProblemDetails)
    return ApiError(problem, _seconds(retry_after))


def decode(body: bytes, shape: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=shape, dec_hook=decode_value)
    except msgspec.DecodeError as error:
        raise Unreadable from error


def _seconds(retry_after: str) -> float | None:
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
