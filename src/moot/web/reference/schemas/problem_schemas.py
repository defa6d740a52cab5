"""A problem, whichever it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.api.problems import PROBLEM_TYPES, ProblemKind
from moot.api.v1.states import State
from moot.web.reference.schemas.base_schemas import LEFT_OUT, Reply

_KINDS: tuple[ProblemKind, ...] = tuple(PROBLEM_TYPES)


class ErrorResponse(Reply):
    """Problem details (RFC 9457). The list of types is closed."""

    type: Annotated[str, Field(json_schema_extra={"enum": [f"/errors/{kind}" for kind in _KINDS]})]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    instance: str
    """The path that was asked for."""
    request_id: str
    """Also in the header X-Request-Id; it finds the request in the server's log."""
    errors: dict[str, list[str]] = LEFT_OUT
    """What is wrong with each field: members of `config` by their bare name, others by their path."""
    current_status: State = LEFT_OUT
    """Of a debate that is in no state for what was asked."""
    code: Literal["INVALID_TOPIC"] = LEFT_OUT
    """At `/api/debate`, where the topic is not one."""
