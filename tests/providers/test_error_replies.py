"""What services say against us, and what is made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.providers.error_replies import fault_from_error, fault_from_response, parse_retry_after
from tests.support.for_each import for_each


@pytest.mark.parametrize(
    ("status", "said", "kind", "severity"),
    [
        (400, {"error": {"message": "bad", "type": "invalid_request_error"}}, "bad_request", "permanent"),
        (400, {"error": {"type": "exceed_context_size_error", "code": 400}}, "too_long", "unusable"),
        (400, {"error": {"code": "context_length_exceeded"}}, "too_long", "unusable"),
        (400, {"error": {"code": "model_not_found"}}, "unknown_model", "permanent"),
        (400, {"error": {"code": "previous_response_not_found"}}, "chain_lost", "unusable"),
        (400, {"error": "registry/gemma:2b does not support tools"}, "tools_refused", "unusable"),
        (
            400,
            {"error": {"message": "Hosted tool 'web_search' is not supported"}},
            "tools_refused",
            "unusable",
        ),
        (
            404,
            {"error": {"message": "No endpoints found that support tool use."}},
            "tools_refused",
            "unusable",
        ),
        (400, {"error": {"code": "tool_use_failed"}}, "malformed", "unusable"),
        (401, {"error": {"message": "Incorrect API key"}}, "bad_key", "permanent"),
        (401, {"detail": "Invalid API Key"}, "bad_key", "permanent"),
        (402, {}, "billing", "permanent"),
        (403, {"error": "region"}, "forbidden", "permanent"),
        (404, {"error": {"code": 404}}, "unknown_model", "permanent"),
        (408, {}, "timeout", "transient"),
        (409, {}, "server_error", "transient"),
        (413, {}, "too_long", "unusable"),
        (418, {}, "bad_request", "permanent"),
        (422, {}, "bad_request", "permanent"),
        (429, {"error": {"type": "rate_limit_error"}}, "rate_limited", "transient"),
        (429, {"error": {"code": "insufficient_quota"}}, "billing", "permanent"),
        (500, {}, "server_error", "transient"),
        (502, "<html>bad gateway</html>", "server_error", "transient"),
        (503, {"error": {"message": "Loading model"}}, "overloaded", "transient"),
        (504, {}, "server_error", "transient"),
        (529, {}, "overloaded", "transient"),
        (302, {}, "redirected", "permanent"),
    ],
)
def test_what_a_status_means(status: int, said: Any, kind: str, severity: str) -> None:
    told = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    fault = fault_from_response(status, {}, told, now=0)
    assert (fault.kind, fault.severity, fault.http_status) == (kind, severity, status)
    assert not fault.billed


def test_an_error_without_a_status_is_the_services_own() -> None:
    assert fault_from_error("it broke").kind == "server_error"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 50.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "9" * 400}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, now=10) == seconds


@pytest.mark.parametrize(
    ("delay", "seconds"), [("48s", 48.0), ("1.5s", 1.5), ("soon", None), (48, None), ("9" * 400 + "s", None)]
)
def test_how_long_to_wait_may_stand_in_the_body(delay: Any, seconds: float | None) -> None:
    details = [7, {"reason": "X"}, {"retryDelay": delay}]
    assert fault_from_error({"error": {"code": 429, "details": details}}).retry_after == seconds


ODD = [None, True, 0, 429, 1.5, "", "x", [], [[]], [None], {}, {"error": {}}, {"a": [{}]}]


@for_each("odd", ODD)
@for_each("name", ["error", "detail", "message", "code", "details", "metadata"])
def test_a_complaint_of_any_shape_is_one(name: str, odd: Any) -> None:
    for told in (odd, {name: odd}, {"error": {name: odd}}, [{"error": {name: odd}}]):
        assert fault_from_error(told).kind
        assert fault_from_response(400, {}, json.dumps(told).encode(), now=0).http_status == 400


def test_a_complaint_without_bottom_is_one() -> None:
    deep = b"[" * 10_000
    assert fault_from_response(500, {}, b'{"error":{"message":' + deep, now=0).kind == "server_error"
    nested: Any = "x"
    for _ in range(5_000):
        nested = [nested]
    # How deep a value may be before it is left out depends on the Python.
    assert set(fault_from_error({"message": nested}).detail) <= set('[]"x')
