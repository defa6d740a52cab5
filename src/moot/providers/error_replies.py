"""Classifies the errors that services report, in a reply or within a stream, as a `Fault`.

Services agree on little. Some statuses decide by themselves; otherwise the first known phrase in the code,
type or message does. How long to wait before a retry is read here too, in all its spellings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from moot.core.errors import Fault, FaultKind, FaultSeverity
from moot.providers.lenient_json import as_text, get_dicts, get_path, get_string, parse_or_text

FAULT_BY_STATUS: dict[int, tuple[FaultKind, FaultSeverity]] = {
    400: ("bad_request", "permanent"),
    401: ("bad_key", "permanent"),
    402: ("billing", "permanent"),
    403: ("forbidden", "permanent"),
    404: ("unknown_model", "permanent"),
    408: ("timeout", "transient"),
    409: ("server_error", "transient"),
    413: ("too_long", "unusable"),
    422: ("bad_request", "permanent"),
    429: ("rate_limited", "transient"),
    503: ("overloaded", "transient"),
    529: ("overloaded", "transient"),
}

# The first phrase found in the service's code, type or message decides. A spent budget often looks like a
# rate limit, and a rate limit often mentions billing, so the order matters.
FAULT_BY_PHRASE: tuple[tuple[FaultKind, FaultSeverity, tuple[str, ...]], ...] = (
    ("billing", "permanent", (
        "insufficient_quota", "spend_limit", "spend limit", "spending limit", "usage_limit",
        "api usage limits", "credit balance", "credit_balance", "insufficient credits",
    )),
    ("rate_limited", "transient", ("resource_exhausted", "rate_limit", "rate limit")),
    ("billing", "permanent", ("billing",)),
    ("too_long", "unusable", (
        "context_length", "context size", "context length", "context window", "context limit",
        "exceed_context", "prompt is too long", "input is too long", "maximum prompt length",
        "string too long", "input token count", "reduce the length", "request_too_large",
    )),
    ("unknown_model", "permanent", ("model_not_found", "model not found")),
    ("seal_refused", "unusable", ("encrypted_content", "encrypted content")),
    ("chain_lost", "unusable", ("previous_response", "zero data retention", "items are not persisted")),
    ("filtered", "unusable", ("content_filter", "flagged")),
    ("bad_key", "permanent", (
        "invalid_api_key", "api_key_invalid", "api key not valid", "incorrect api key",
        "authentication_error",
    )),
    ("summary_refused", "unusable", ("reasoning.summary", "verified to generate reasoning summar")),
    ("schema_refused", "unusable", (
        "json_validate_failed", "response_format", "json_schema", "response_schema", "responseschema",
        "schema in generationconfig", "output_config.format", "compiled grammar", "text.format",
    )),
    ("tools_refused", "unusable", (
        "does not support tool", "does not support function", "support tool use", "hosted tool",
        "web search is not", "search as tool is not", "search grounding is not", "code execution is not",
        "tool calling` is not supported", "function calling is not", "function calling is unsupported",
    )),
    ("malformed", "unusable", ("tool_use_failed",)),
    ("overloaded", "transient", ("overloaded",)),
)  # fmt: skip
DECISIVE_STATUSES = {401, 402, 408, 413}
"""Statuses that decide without a phrase."""


def fault_from_response(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Fault:
    """The fault for a reply with a status other than 200."""
    if 300 <= status < 400:
        return Fault("redirected", "permanent", http_status=status, billed=False)
    return fault_from_error(parse_or_text(body), status, retry_after=parse_retry_after(headers, now))


def fault_from_error(error: Any, status: int | None = None, *, retry_after: float | None = None) -> Fault:
    """The fault for an error object, in a body or within a stream."""
    details = _innermost(error)
    words = _error_text(details)
    status = status or _status_in(details)
    kind, severity = _classify(status, words.lower())
    return Fault(
        kind,
        severity,
        http_status=status,
        retry_after=retry_after or _retry_delay_in(details),
        # A refusal is not billed; for a reply that had begun the caller sets it.
        billed=False,
        detail=words,
    )


def _classify(status: int | None, words: str) -> tuple[FaultKind, FaultSeverity]:
    if status == 403 and "reasoning.summary" in words:
        return "summary_refused", "unusable"
    if status == 403:
        return ("filtered", "unusable") if "flagged" in words else FAULT_BY_STATUS[status]
    if status not in DECISIVE_STATUSES and not (status and status >= 500):
        for kind, severity, phrases in FAULT_BY_PHRASE:
            if any(phrase in words for phrase in phrases):
                return kind, severity
    if "context size" in words:
        # llama.cpp reports a full context within a reply as its own failure.
        return "too_long", "unusable"
    if status in FAULT_BY_STATUS:
        return FAULT_BY_STATUS[status]
    # Some use this type for a conflict too, which is worth another try: a status takes precedence.
    is_our_error = status < 500 if status else "invalid_request" in words
    return ("bad_request", "permanent") if is_our_error else ("server_error", "transient")


def _innermost(error: Any) -> Any:
    """The object that describes the error, without what it is wrapped in."""
    while (inner := _wrapped(error)) is not None:
        error = inner
    return error


def _wrapped(error: Any) -> Any:
    if isinstance(error, list):
        return cast("list[Any]", error)[0] if error else None
    detail = get_path(error, "detail")
    return get_path(error, "error") or (cast("Any", detail) if isinstance(detail, dict) else None)


def _error_text(error: Any) -> str:
    if not isinstance(error, dict):
        return as_text(error)
    parts = [get_path(error, key) for key in ("code", "type", "status", "param", "message", "detail")]
    parts += [get_path(error, "metadata", "raw"), get_path(error, "details", "error_code")]
    parts += [detail.get("reason") for detail in get_dicts(error, "details")]
    return " ".join(as_text(part) for part in parts if part)


def _status_in(error: Any) -> int | None:
    for key in ("code", "status_code", "status"):
        value = get_path(error, key)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def _retry_delay_in(error: Any) -> float | None:
    """Google sends the time to wait in the body: {"retryDelay": "48s"}."""
    for detail in get_dicts(error, "details"):
        delay = get_string(detail, "retryDelay")
        if match := re.fullmatch(r"(\d{1,9}(?:\.\d+)?)s", delay):
            return float(match[1])
    return None


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds to wait by Retry-After, in any of its spellings; None for a past date or nonsense."""
    retry_after = headers.get("retry-after", "").strip()
    waits = [_number(retry_after), _number(headers.get("retry-after-ms", "").strip()) / 1000]
    if retry_after and not waits[0]:
        # A date is by the clock of the service, which may differ from ours.
        waits.append(_timestamp(retry_after) - (_timestamp(headers.get("date", "")) or now))
    longest = max(waits)
    return longest if longest > 0 else None


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d+)?", text) else 0.0


def _timestamp(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return 0.0
