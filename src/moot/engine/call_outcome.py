"""What a call comes to in the log: its usage and price, how it ended, and by what id it is known. Pure."""

from __future__ import annotations

from moot.core.errors import Fault
from moot.core.events import CallCompleted, CallFailed
from moot.core.pricing import at_least, cost, estimate_usage, plausible_usage, sent_tokens, text_bytes
from moot.core.terms import Money, Request, Usage
from moot.core.word_count import quarter_tokens, whole_tokens
from moot.engine.call_result import CallResult
from moot.engine.tool_session import pending_tool_calls


def call_completed(call: int, request: Request, heard: CallResult, *, ended: bool) -> CallCompleted:
    """`ended`: nothing follows that goes on from this call."""
    usage = _usage(request, heard)
    return CallCompleted(
        call=call,
        finish=heard.done.finish if heard.done else "unknown",
        usage=usage,
        cost=cost(request.model.price, usage),
        latency_ms=heard.latency_ms,
        first_token_ms=heard.first_token_ms,
        response_id=None if _has_no_successor(heard, ended=ended) else heard.response_id,
        truncated=heard.truncated,
        stored=heard.done.stored if heard.done else True,
        reason=heard.done.reason if heard.done else "",
        answered_by=heard.done.model if heard.done else "",
        request_id=heard.request_id,
        unread=heard.done.unread if heard.done else 0,
    )


def call_failed(
    call: int, request: Request, heard: CallResult, fault: Fault, wait: float | None
) -> CallFailed:
    usage = _usage(request, heard) if fault.billed else Usage()
    return CallFailed(
        call=call,
        kind=fault.kind,
        severity=fault.severity,
        message=str(fault),
        usage=usage,
        cost=cost(request.model.price, usage) if fault.billed else Money(0),
        latency_ms=heard.latency_ms,
        http_status=fault.http_status,
        retry_in_ms=None if wait is None else int(wait * 1000),
        billed=fault.billed,
        request_id=fault.request_id or heard.request_id,
    )


def _usage(request: Request, heard: CallResult) -> Usage:
    # Words put into its mouth were never generated.
    said = max(0, heard.size - heard.reasoning_size - quarter_tokens(request.prefill))
    guess = estimate_usage(sent_tokens(request), whole_tokens(said), whole_tokens(heard.reasoning_size))
    if heard.done is not None:
        chars = max(0, heard.chars - len(request.prefill)) + heard.reasoning_chars
        return plausible_usage(heard.done.usage, guess, text_bytes(request), chars)
    # What a reply tells before it breaks off is no final figure: Anthropic's begin with one token of output.
    return guess if heard.partial_usage is None else at_least(heard.partial_usage, guess)


def _has_no_successor(heard: CallResult, *, ended: bool) -> bool:
    """A reply that its provider could not go on from: we cut it off ourselves, or never answered it."""
    return heard.done is None or (ended and bool(pending_tool_calls(heard)))
