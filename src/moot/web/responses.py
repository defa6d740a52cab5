"""Replies: a problem, or a shape as JSON. Headers of every reply are added by the middleware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Scope

from moot.api.problems import MEDIA_TYPE, Problem
from moot.core.ids import new_id
from moot.core.json_types import encoder
from moot.store.contract import RecordResult
from moot.web.middleware.headers import COMMON_HEADERS


def problem_reply(problem: Problem, scope: Scope) -> Response:
    """Also notes the kind of the problem in the scope, for the metrics."""
    state = scope["state"]
    state["problem"] = problem.kind
    body = problem.body(scope["path"], state["request_id"], coded=state.get("coded_errors", False))
    return Response(body, problem.status, problem.headers, MEDIA_TYPE)


def json_reply(shape: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Amounts of money are encoded as numbers."""
    return Response(encoder.encode(shape), status, headers, "application/json")


def replayed_header(outcome: RecordResult) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if outcome.replayed else {}


def raw_reply(problem: Problem, path: str) -> bytes:
    """A complete HTTP reply in bytes, for connections on which no request could be read."""
    request_id = new_id("req")
    body = problem.body(path, request_id)
    headers = {
        **COMMON_HEADERS,
        **problem.headers,
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "X-Request-Id": request_id,
        "Connection": "close",
    }
    lines = [
        f"HTTP/1.1 {problem.status} {problem.problem_type.title}",
        *(f"{n}: {v}" for n, v in headers.items()),
    ]
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body
