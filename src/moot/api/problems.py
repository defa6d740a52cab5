"""Problem details (RFC 9457): every error that leaves the server, and the only place with status codes.

The list of kinds is closed. A problem repeats nothing that the client sent, and contains no internal details.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from moot.api.v1.states import State, state_of
from moot.core.errors import (
    Fault,
    Invalid,
    KeyReused,
    MootError,
    Refused,
    StoreError,
    Unavailable,
    UnknownDebate,
)

MEDIA_TYPE = "application/problem+json"

ProblemKind = Literal[
    "validation", "malformed-request", "unauthorized", "forbidden", "forbidden-origin", "not-found",
    "method-not-allowed", "not-acceptable", "request-timeout", "conflict", "cursor-ahead",
    "idempotency-in-flight", "idempotency-mismatch", "payload-too-large", "uri-too-long",
    "unsupported-media-type", "misdirected-request", "upgrade-required", "rate-limit", "too-many-debates",
    "headers-too-large", "internal", "provider-unavailable", "storage", "shutting-down",
]  # fmt: skip


ErrorCode = Literal["INVALID_TOPIC", "INVALID_REQUEST", "RATE_LIMIT", "LLM_ERROR", "INTERNAL_ERROR"]
"""The codes of `/api/debate`, on its stream too."""
RETRYABLE: tuple[ProblemKind, ...] = (
    "request-timeout", "idempotency-in-flight", "rate-limit", "too-many-debates", "provider-unavailable",
    "storage", "shutting-down",
)  # fmt: skip
"""The kinds for which the same request may succeed later."""


class ProblemType(Struct, frozen=True):
    status: int
    title: str
    detail: str
    """The default detail of the problem."""


PROBLEM_TYPES: dict[ProblemKind, ProblemType] = {
    "validation": ProblemType(422, "Validation Failed", "Invalid request"),
    "malformed-request": ProblemType(400, "Malformed Request", "The request could not be read"),
    "unauthorized": ProblemType(401, "Authentication Required", "A valid bearer token is required"),
    "forbidden": ProblemType(403, "Forbidden", "This token does not allow that"),
    "forbidden-origin": ProblemType(403, "Origin Not Allowed", "Requests from this origin are not allowed"),
    "not-found": ProblemType(404, "Not Found", "There is nothing here"),
    "method-not-allowed": ProblemType(405, "Method Not Allowed", "This method is not allowed here"),
    "not-acceptable": ProblemType(
        406, "Not Acceptable", "This resource is only available as text/event-stream"
    ),
    "request-timeout": ProblemType(408, "Request Timeout", "The request was not sent in time"),
    "conflict": ProblemType(409, "Conflict", "This cannot be done now"),
    "cursor-ahead": ProblemType(409, "Conflict", "The last event id is ahead of the debate"),
    "idempotency-in-flight": ProblemType(
        409, "Conflict", "A request with this Idempotency-Key is being carried out"
    ),
    "idempotency-mismatch": ProblemType(
        422, "Idempotency Mismatch", "This Idempotency-Key was used with another request"
    ),
    "payload-too-large": ProblemType(413, "Payload Too Large", "The body may have at most 128 KiB"),
    "uri-too-long": ProblemType(414, "URI Too Long", "The query may have at most 8 KiB, the whole URI 16"),
    "unsupported-media-type": ProblemType(
        415, "Unsupported Media Type", "The body must be application/json in UTF-8, not compressed"
    ),
    "misdirected-request": ProblemType(
        421, "Misdirected Request", "This server does not answer for that host"
    ),
    "upgrade-required": ProblemType(426, "Upgrade Required", "This resource is a WebSocket"),
    "rate-limit": ProblemType(429, "Too Many Requests", "Too many requests; try again later"),
    "too-many-debates": ProblemType(
        429, "Too Many Requests", "Too many debates at a time; stop or finish one first"
    ),
    "headers-too-large": ProblemType(
        431, "Request Header Fields Too Large", "The headers may have at most 16 KiB"
    ),
    "internal": ProblemType(
        500, "Internal Server Error", "Something unexpected went wrong; the request id finds it in the log"
    ),
    "provider-unavailable": ProblemType(
        503, "LLM Provider Unavailable", "A model cannot be reached right now"
    ),
    "storage": ProblemType(
        503, "Service Unavailable", "The log cannot be written right now; try again later"
    ),
    "shutting-down": ProblemType(503, "Service Unavailable", "The server is about to stop; try again"),
}
HEADERS: dict[ProblemKind, dict[str, str]] = {
    "unauthorized": {"WWW-Authenticate": "Bearer"},
    "request-timeout": {"Connection": "close"},
    "payload-too-large": {"Connection": "close"},
    "headers-too-large": {"Connection": "close"},
    "upgrade-required": {"Upgrade": "websocket", "Connection": "Upgrade"},
    "idempotency-in-flight": {"Retry-After": "1"},
    "too-many-debates": {"Retry-After": "5"},
    "provider-unavailable": {"Retry-After": "5"},
    "storage": {"Retry-After": "5"},
    "shutting-down": {"Retry-After": "2"},
}


class ErrorResponse(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Problem details (RFC 9457). The list of types is closed."""

    type: Annotated[str, Meta(extra_json_schema={"enum": [f"/errors/{kind}" for kind in PROBLEM_TYPES]})]
    title: str
    status: Annotated[int, Meta(extra_json_schema={"minimum": 400, "maximum": 599})]
    detail: str
    instance: Annotated[str, Meta(description="The path of the request.")]
    request_id: Annotated[
        str, Meta(description="As in the header X-Request-Id; it finds the request in the server's log.")
    ]
    current_status: Annotated[
        str,
        Meta(
            description="The state of the debate, where that is the reason.",
            extra_json_schema={"enum": list(get_args(State))},
        ),
    ] = ""
    code: Annotated[
        str,
        Meta(
            description="At `/api/debate`, as in the events of its stream.",
            extra_json_schema={"enum": list(get_args(ErrorCode))},
        ),
    ] = ""
    message: Annotated[str, Meta(description="At `/api/debate`: the same as `detail`.")] = ""
    retryable: Annotated[
        bool | UnsetType,
        Meta(description="At `/api/debate`: whether the same request may succeed later."),
    ] = UNSET
    errors: Annotated[
        dict[str, list[str]],
        Meta(
            description="What is wrong with each field: members of `config` by their bare name, others by "
            "their path."
        ),
    ] = {}


class Problem(MootError):
    """`current_status` is that of a debate in which a command is not possible; `code` is for clients of
    `/api/debate`. With `retryable=False` nobody is told to try again."""

    def __init__(
        self,
        kind: ProblemKind,
        detail: str = "",
        *,
        errors: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        current_status: str = "",
        code: ErrorCode | Literal[""] = "",
        retryable: bool = True,
    ) -> None:
        self.kind: ProblemKind = kind
        self.problem_type = PROBLEM_TYPES[kind]
        self.detail = detail or self.problem_type.detail
        self.errors = dict(errors or {})
        self.headers = {**HEADERS.get(kind, {}), **(headers or {})}
        self.retryable = retryable and kind in RETRYABLE
        if not self.retryable:
            self.headers.pop("Retry-After", None)
        self.current_status = current_status
        self.code: ErrorCode = code or self._usual_code()
        super().__init__(self.detail)

    @property
    def status(self) -> int:
        return self.problem_type.status

    def _usual_code(self) -> ErrorCode:
        if self.kind in ("rate-limit", "too-many-debates"):
            return "RATE_LIMIT"
        if self.kind == "provider-unavailable":
            return "LLM_ERROR"
        return "INVALID_REQUEST" if self.status < 500 else "INTERNAL_ERROR"

    def body(self, instance: str, request_id: str, *, coded: bool = False) -> bytes:
        """`coded`: with `message`, `code` and `retryable`, for clients of `/api/debate`."""
        reply = ErrorResponse(
            type=f"/errors/{self.kind}",
            title=self.problem_type.title,
            status=self.status,
            detail=self.detail,
            instance=instance,
            request_id=request_id,
            current_status=self.current_status,
            code=self.code if coded else "",
            message=self.detail if coded else "",
            retryable=self.retryable if coded else UNSET,
            errors=self.errors,
        )
        return msgspec.json.encode(reply)


def as_problem(error: Exception) -> Problem:
    """The problem that a client gets for an error. An unexpected one is `internal`, without details."""
    match error:
        case Problem():
            return error
        case KeyReused():
            return Problem("idempotency-mismatch")
        case Invalid():
            return Problem("validation", _first_sentence(str(error)), errors=error.problems)
        case UnknownDebate():
            return Problem("not-found", "There is no such debate")
        case Refused():
            detail = error.reason.rstrip(".")
            return Problem("conflict", detail, current_status=state_of(error.status))
        case StoreError():
            return Problem("storage")
        case Unavailable() | Fault():
            return Problem("provider-unavailable")
        case _:
            return Problem("internal")


def _first_sentence(text: str) -> str:
    """What comes before the first colon, which may introduce what was sent; always whole sentences, where
    there is one: "There is no provider called 'x'. Known: a, b." ends before "Known"."""
    before, colon, _ = text.partition(":")
    whole, stop, _ = before.rpartition(". ")
    return (whole if colon and stop else before).rstrip(".")
