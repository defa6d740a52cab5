"""The provider faults as data: how each is played, and what a debate, its viewers and its ledger make of it.

Class T is transient (tried again up to three times), P permanent (never again), U an unusable answer (one
more chance), and - is no failure at all. A fault may have several cases; unless it says otherwise, a case is
played at the second call, where the second seat gives its first speech.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from moot.core.errors import FaultKind, FaultSeverity
from moot.core.terms import Truncation
from tests.faults import fault_acts
from tests.faults.fault_acts import bills, bytes_of, framed, in_packets, refuse, says, slow_down, tells
from tests.faults.fault_server import Act, Door
from tests.faults.wire_formats import WireName

FAULTS: dict[str, tuple[str, str]] = {
    "F01": ("T", "connection refused"),
    "F02": ("T", "the name cannot be resolved"),
    "F03": ("P", "certificate expired, of another host, or signed by nobody"),
    "F04": ("T", "connect hangs before TLS"),
    "F05": ("P", "401 invalid key"),
    "F06": ("P", "403 region or permission"),
    "F07": ("P", "out of money, which looks like a rate limit"),
    "F08": ("P", "404 unknown model"),
    "F09": ("P", "400 invalid request"),
    "F10": ("U", "400 context length exceeded"),
    "F11": ("T", "408, 409"),
    "F12": ("U", "413 request too large"),
    "F13": ("T", "429 with Retry-After"),
    "F14": ("T", "429 with Retry-After as a date, in the past, as nonsense, of a day"),
    "F15": ("T", "429 without Retry-After"),
    "F16": ("T", "500, 502 with a page, 503, 504"),
    "F17": ("T", "529 overloaded"),
    "F18": ("T", "200, and the first event is an error"),
    "F19": ("P", "redirect to another host"),
    "F20": ("U", "a page or JSON where a stream was asked for"),
    "F21": ("T", "silence before the first byte"),
    "F22": ("T", "stall in mid-stream"),
    "F23": ("T", "a trickle for ever"),
    "F24": ("T", "reset in mid-stream"),
    "F25": ("T", "clean end without a terminal event"),
    "F26": ("-", "characters cut, broken, and cut off"),
    "F27": ("T", "malformed JSON in one event"),
    "F28": ("-", "every legal form of server-sent events"),
    "F29": ("-", "unknown events and fields, [DONE] or none"),
    "F30": ("-", "usage missing"),
    "F31": ("-", "usage absurd"),
    "F32": ("U", "empty completion"),
    "F33": ("-", "refusal"),
    "F34": ("-", "content filter, before or in the middle of the text"),
    "F35": ("-", "cut at the token limit"),
    "F36": ("-", "response id missing"),
    "F37": ("U", "previous response not found"),
    "F38": ("-", "another's response id, or the same twice"),
    "F39": ("U", "sequence numbers doubled, missing, out of order"),
    "F40": ("-", "the full text differs from the deltas"),
    "F41": ("U", "a huge delta"),
    "F42": ("P", "a stream without end"),
    "F43": ("-", "a hundred thousand deltas of one letter"),
    "F44": ("-", "thoughts and words by turns"),
    "F45": ("-", "thoughts between tags in the text"),
    "F46": ("U", "tool calls that go wrong"),
    "F47": ("U", "a ballot that is none"),
    "F48": ("-", "winner and scores disagree"),
    "F49": ("-", "clocks that are wrong"),
    "F50": ("T", "a kept connection closed as it is used again"),
    "F51": ("U", "headers or packing without measure"),
    "F52": ("-", "a cookie"),
    "F53": ("-", "an event that asks the page to run code"),
    "F54": ("-", "kill -9 in mid-stream"),
}


class Fails(Struct, frozen=True):
    """One attempt that comes to nothing, as the log tells it."""

    kind: FaultKind
    severity: FaultSeverity = "transient"
    status: int | None = None
    billed: bool = True
    words: bool = False
    """Something was heard, and is struck."""
    wait: Literal["backoff", "at once", "none"] | float = "backoff"
    """None: it is the last attempt. A number: at least so many seconds."""


class Case(Struct, frozen=True):
    fault: str
    name: str
    acts: tuple[Act | Door, ...]
    """Played from call `at` on, one each."""
    fails: tuple[Fails, ...] = ()
    then: Literal["answered", "failed", "stopped"] = "answered"
    """What comes after the failures: an answer, a failed turn in a debate that goes on, a debate in error."""
    at: int = 2
    wire: WireName = "chat"
    tls: bool = False
    hasty: bool = False
    """Silence is not borne for long."""
    elsewhere: Literal["", "nowhere", "no name"] = ""
    """Where the second seat's calls go instead."""
    calls: int | None = None
    """That reach the server, where this does not follow from the rest."""
    options: dict[str, Any] = {}
    truncated: Truncation | None = None
    refusal: bool = False
    degraded: str = ""
    marked: int | None = None
    """The turn that is marked as degraded, where it is another one."""
    suspect: bool = False
    estimated: bool = False
    wordless: bool = False
    """The answer has not a word."""

    @property
    def id(self) -> str:
        return f"{self.fault}-{self.name.replace(' ', '-')}"


def transient(fault: str, name: str, act: Act | Door, kind: FaultKind, **more: Any) -> Case:
    """Fails once; the next attempt is answered."""
    return _failing(fault, name, (act,), kind, "transient", "answered", more)


def exhausted(fault: str, name: str, act: Act | Door, kind: FaultKind, **more: Any) -> Case:
    """Fails four times; the turn is given up and the debate goes on."""
    return _failing(fault, name, (act,) * 4, kind, "transient", "failed", more)


def permanent(fault: str, name: str, act: Act | Door, kind: FaultKind, **more: Any) -> Case:
    return _failing(fault, name, (act,), kind, "permanent", "stopped", more)


def unusable(fault: str, name: str, act: Act, kind: FaultKind, times: int = 1, **more: Any) -> Case:
    """Once is forgiven, twice is not."""
    then = "answered" if times == 1 else "failed"
    return _failing(fault, name, (act,) * times, kind, "unusable", then, more)


def harmless(fault: str, name: str, act: Act, **more: Any) -> Case:
    return Case(fault, name, (act,), **more)


IN_FAILURE = ("status", "billed", "words", "wait")


def _failing(
    fault: str,
    name: str,
    played: tuple[Act | Door, ...],
    kind: FaultKind,
    severity: FaultSeverity,
    then: Any,
    more: dict[str, Any],
) -> Case:
    told = {key: more.pop(key) for key in IN_FAILURE if key in more}
    fails = [Fails(kind, severity, **told) for _ in played]
    if then != "answered":
        fails[-1] = Fails(kind, severity, **{**told, "wait": "none"})
    return Case(fault, name, played, tuple(fails), then, **more)


UNBILLED = {"billed": False}
RATE = {"billed": False, "status": 429}
TOO_LONG = refuse(400, code="context_length_exceeded", type="invalid_request_error")

UNREACHABLE = (
    *[Fails("unreachable", billed=False)] * 3,
    Fails("unreachable", billed=False, wait="none"),
)

REFUSED = (
    Case("F01", "for good", (), UNREACHABLE, "failed", elsewhere="nowhere", calls=4),
    Case("F02", "for good", (), UNREACHABLE, "failed", elsewhere="no name", calls=4),
    permanent("F03", "expired", Door("expired"), "tls", tls=True, **UNBILLED),
    permanent("F03", "wrong host", Door("wrong_host"), "tls", tls=True, **UNBILLED),
    permanent("F03", "self-signed", Door("self_signed"), "tls", tls=True, **UNBILLED),
    transient("F04", "once", Door(hangs=True), "timeout", tls=True, hasty=True, **UNBILLED),
    permanent(
        "F05", "in words", refuse(401, code="invalid_api_key", message="Incorrect API key provided"),
        "bad_key", status=401, billed=False,
    ),
    permanent("F05", "in part", fault_acts.refuse_in_part(401), "bad_key", status=401, billed=False),
    permanent("F06", "region", refuse(403, code="unsupported"), "forbidden", status=403, billed=False),
    permanent("F07", "402", refuse(402), "billing", status=402, billed=False),
    permanent(
        "F07", "429 quota", refuse(429, code="insufficient_quota", type="insufficient_quota"),
        "billing", **RATE,
    ),
    permanent(
        "F07", "429 spend limit",
        refuse(429, type="rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
        "billing", **RATE,
    ),
    permanent(
        "F07", "400 spend limit",
        refuse(400, type="invalid_request_error", message="You have reached your API usage limits."),
        "billing", status=400, billed=False,
    ),
    permanent("F08", "404", refuse(404, code="model_not_found"), "unknown_model", status=404, billed=False),
    permanent(
        "F09", "temperature", refuse(400, type="invalid_request_error", param="temperature"),
        "bad_request", status=400, billed=False,
    ),
    permanent(
        "F10", "nothing to leave out", TOO_LONG, "too_long", status=400, billed=False, at=1,
    ),
    unusable(
        "F10", "trimmed", TOO_LONG, "too_long", at=3, status=400, billed=False, wait="at once",
        degraded="context_trimmed",
    ),
    unusable(
        "F10", "still too long", TOO_LONG, "too_long", 2, at=3, status=400, billed=False, wait="at once",
    ),
    transient("F11", "408", refuse(408), "timeout", status=408, billed=False),
    transient(
        "F11", "409", refuse(409, type="invalid_request_error"), "server_error", status=409, billed=False
    ),
    unusable(
        "F12", "trimmed", refuse(413, code="request_too_large"), "too_long", at=3, status=413, billed=False,
        wait="at once", degraded="context_trimmed",
    ),
    transient("F13", "a moment", slow_down("0.2"), "rate_limited", wait=0.2, **RATE),
    transient(
        "F13", "in the body", refuse(429, details=[{"retryDelay": "0.2s"}], type="RESOURCE_EXHAUSTED"),
        "rate_limited", wire="google", wait=0.2, **RATE,
    ),
    Case(
        "F13", "longer than the turn", (slow_down("7"),),
        (Fails("rate_limited", wait="none", **RATE),), "failed", options={"turn_seconds": 5.0},
    ),
    transient("F14", "date", fault_acts.slow_down_until(1), "rate_limited", wait=1.0, **RATE),
    transient("F14", "past date", fault_acts.slow_down_until(-60), "rate_limited", **RATE),
    transient("F14", "nonsense", slow_down("abc"), "rate_limited", **RATE),
    Case("F14", "a day", (slow_down("86400"),), (Fails("rate_limited", wait="none", **RATE),), "failed"),
    transient("F15", "once", refuse(429, code="rate_limit_exceeded"), "rate_limited", **RATE),
    transient(
        "F15", "with an advertisement", refuse(429, type="requests", message="Rate limit. See /billing"),
        "rate_limited", **RATE,
    ),
    exhausted("F15", "to the end", refuse(429), "rate_limited", **RATE),
    transient("F16", "500", refuse(500), "server_error", status=500, billed=False),
    transient("F16", "502 page", fault_acts.page(502), "server_error", status=502, billed=False),
    transient("F16", "503", refuse(503), "overloaded", status=503, billed=False),
    transient("F16", "504", refuse(504), "server_error", status=504, billed=False),
    exhausted("F16", "to the end", refuse(500), "server_error", status=500, billed=False),
    transient("F17", "529", refuse(529, type="overloaded_error"), "overloaded", status=529, billed=False),
    transient("F18", "chat", fault_acts.complains("overloaded_error"), "overloaded", **UNBILLED),
    transient(
        "F18", "anthropic", fault_acts.complains("overloaded_error"), "overloaded",
        wire="anthropic", **UNBILLED,
    ),
    transient(
        "F18", "responses", fault_acts.complains("server_error"), "server_error",
        wire="responses", **UNBILLED,
    ),
    transient(
        "F18", "google", fault_acts.complains("server_error"), "server_error", wire="google", **UNBILLED,
    ),
    transient("F18", "failed", fault_acts.fails_at_once(), "server_error", wire="responses", **UNBILLED),
    transient(
        "F18", "failed with a bill", fault_acts.fails_at_once(billed=True), "server_error", wire="responses",
    ),
    transient(
        "F18", "anthropic, begun", fault_acts.fails_after_start, "overloaded", wire="anthropic", **UNBILLED,
    ),
    permanent("F19", "301", fault_acts.redirect(301), "redirected", status=301, billed=False),
    permanent("F19", "302", fault_acts.redirect(302), "redirected", status=302, billed=False),
)  # fmt: skip


DEADLINE = {"turn_seconds": 0.5}
BROKEN = (
    unusable("F20", "page", fault_acts.page(), "malformed", **UNBILLED),
    unusable("F20", "page twice", fault_acts.page(), "malformed", 2, **UNBILLED),
    unusable(
        "F20", "page called a stream", fault_acts.page(kind="text/event-stream"), "malformed", **UNBILLED
    ),
    harmless("F20", "whole JSON", fault_acts.whole),
    unusable("F20", "other JSON", fault_acts.other_json, "malformed", **UNBILLED),
    transient("F21", "once", fault_acts.never_answers, "timeout", hasty=True),
    exhausted("F21", "to the end", fault_acts.never_answers, "timeout", hasty=True),
    transient("F22", "once", fault_acts.stalls, "stalled", words=True, hasty=True),
    Case(
        "F22", "at the deadline", (fault_acts.stalls,), (Fails("timeout", words=True, wait="none"),),
        options=DEADLINE, truncated="timeout", estimated=True,
    ),
    Case(
        "F23", "without words", (fault_acts.trickles,), (Fails("timeout", wait="none"),), "failed",
        options=DEADLINE,
    ),
    Case(
        "F23", "with words", (fault_acts.dawdles,), (Fails("timeout", words=True, wait="none"),),
        options=DEADLINE, truncated="timeout", estimated=True,
    ),
    transient("F24", "once", fault_acts.resets, "disconnected", words=True),
    exhausted("F24", "to the end", fault_acts.resets, "disconnected", words=True),
    transient("F24", "before any event", fault_acts.resets_after_head, "disconnected", **UNBILLED),
    transient("F25", "once", fault_acts.ends_early, "disconnected", words=True),
    exhausted("F25", "to the end", fault_acts.ends_early, "disconnected", words=True),
    transient("F25", "before any event", fault_acts.says_nothing, "disconnected", **UNBILLED),
    transient("F25", "responses", fault_acts.ends_early, "disconnected", words=True, wire="responses"),
    transient("F25", "anthropic", fault_acts.ends_early, "disconnected", words=True, wire="anthropic"),
    transient("F25", "google", fault_acts.ends_early, "disconnected", words=True, wire="google"),
    transient("F25", "[DONE]", fault_acts.done_early, "disconnected", words=True),
    transient("F25", "[DONE] responses", fault_acts.done_early, "disconnected", words=True, wire="responses"),
    transient("F25", "[DONE] anthropic", fault_acts.done_early, "disconnected", words=True, wire="anthropic"),
    transient("F25", "[DONE] google", fault_acts.done_early, "disconnected", words=True, wire="google"),
)  # fmt: skip
NUL_TEXT = "Zoos are\0 cruel, and nothing is cut off at a NUL."
WIRES: tuple[WireName, ...] = ("chat", "responses", "anthropic", "google")
HARD_TO_READ = (
    harmless("F26", "cut over packets", in_packets(3)),
    harmless("F26", "broken", bytes_of(fault_acts.broken_byte), degraded="utf8"),
    *(harmless("F26", f"NUL {wire}", says(text=NUL_TEXT), degraded="utf8", wire=wire) for wire in WIRES),
    transient("F26", "cut off", bytes_of(fault_acts.broken_letter, reported=False), "malformed", words=True),
    transient("F27", "one event", bytes_of(fault_acts.broken_json, reported=False), "malformed", words=True),
    transient("F27", "bottomless", bytes_of(fault_acts.bottomless, reported=False), "malformed"),
    harmless("F28", "CRLF", framed("\r\n")),
    harmless("F28", "CR", framed("\r")),
    harmless("F28", "no space", framed(colon=":")),
    harmless("F28", "comments", framed(between=b": still here\n")),
    harmless("F28", "byte order mark", framed(first=b"\xef\xbb\xbf")),
    harmless("F28", "many lines", bytes_of(fault_acts.many_lines)),
    harmless("F28", "no blank line at the end", bytes_of(fault_acts.unfinished_line)),
    harmless("F28", "packets of one byte", in_packets(1)),
    harmless("F29", "chat", bytes_of(fault_acts.with_strangers)),
    harmless("F29", "responses", bytes_of(fault_acts.with_strangers), wire="responses"),
    harmless("F29", "anthropic", bytes_of(fault_acts.with_strangers), wire="anthropic"),
    harmless("F29", "google", bytes_of(fault_acts.with_strangers), wire="google"),
    harmless("F30", "missing", bills(None), estimated=True),
    harmless("F31", "negative", bills({"prompt_tokens": -5, "completion_tokens": -5}), suspect=True),
    harmless("F31", "immense", bills({"prompt_tokens": 10**12, "completion_tokens": 10**12}), suspect=True),
    harmless("F31", "a word", bills({"prompt_tokens": "many", "completion_tokens": "few"}), suspect=True),
    harmless("F31", "too few", bills({"prompt_tokens": 300, "completion_tokens": 1}), suspect=True),
)
UNSATISFYING = (
    unusable("F32", "once", says(text="", thought=""), "empty"),
    unusable("F32", "twice", says(text="", thought=""), "empty", 2),
    harmless("F33", "chat", says(refused=True), refusal=True),
    harmless("F33", "responses", says(refused=True), refusal=True, wire="responses"),
    harmless(
        "F33", "anthropic", fault_acts.refuses_before_any_word, refusal=True, wire="anthropic",
        wordless=True,
    ),
    harmless(
        "F33", "anthropic, begun", says(refused=True, text=""), refusal=True, wire="anthropic",
    ),
    harmless("F34", "in the middle", says(finish="filter"), truncated="filter"),
    harmless("F34", "responses", says(finish="filter"), truncated="filter", wire="responses"),
    harmless("F34", "google", says(finish="filter"), truncated="filter", wire="google"),
    Case(
        "F34", "before any word", (says(text="", thought="", finish="filter"),),
        (Fails("filtered", "unusable", wait="none"),), "failed",
    ),
    harmless("F35", "chat", says(finish="length"), truncated="max_tokens"),
    harmless("F35", "responses", says(finish="length"), truncated="max_tokens", wire="responses"),
    harmless("F35", "anthropic", says(finish="length"), truncated="max_tokens", wire="anthropic"),
    harmless("F35", "google", says(finish="length"), truncated="max_tokens", wire="google"),
)  # fmt: skip
CHAINED = (
    harmless("F36", "missing", says(id=""), at=1, wire="responses", degraded="chain", marked=3),
    unusable(
        "F37", "once", fault_acts.forgets, "chain_lost", at=3, wire="responses", status=400, billed=False,
        wait="at once", degraded="chain",
    ),
    harmless("F39", "doubled", tells(fault_acts.doubled), wire="responses"),
    harmless("F39", "out of order", tells(fault_acts.swapped), wire="responses", degraded="mended"),
    harmless("F39", "missing", tells(fault_acts.lost), wire="responses", degraded="mended"),
    harmless("F40", "another text", fault_acts.retells, wire="responses", degraded="mended"),
)  # fmt: skip
IMMODERATE = (
    unusable("F41", "beyond all measure", fault_acts.huge(5_000_000), "malformed"),
    unusable(
        "F41",
        "before any word",
        bytes_of(fault_acts.swollen, reported=False),
        "malformed",
        wire="anthropic",
    ),
    harmless("F41", "beyond the cap", fault_acts.huge(1_000_000), truncated="cap", estimated=True),
    harmless("F42", "words", fault_acts.endless("content"), truncated="cap", estimated=True),
    unusable("F42", "thoughts", fault_acts.endless("reasoning_content"), "empty", 2, words=True),
    harmless(
        "F42", "both", fault_acts.endless("content", "reasoning_content"), truncated="cap", estimated=True
    ),
    harmless("F44", "by turns", tells(fault_acts.interspersed)),
    harmless("F45", "cut tags", tells(fault_acts.leaked)),
    harmless("F45", "responses", tells(fault_acts.leaked_whole), wire="responses"),
    harmless("F45", "anthropic", tells(fault_acts.leaked_whole), wire="anthropic"),
    harmless("F45", "google", tells(fault_acts.leaked_whole), wire="google"),
    unusable("F51", "one great header", fault_acts.one_great_header, "malformed"),
    unusable("F51", "many headers", fault_acts.many_headers, "malformed"),
    unusable("F51", "gzip", fault_acts.gzip_bomb, "malformed"),
    harmless("F53", "execute", bytes_of(fault_acts.with_orders)),
)


NO_BALLOTS: dict[str, Act] = {
    "not JSON": says(text="The winner is clearly Birch!"),
    "a score of 101": fault_acts.scores(101),
    "no number": fault_acts.scores(float("nan")),
    "a score in quotes": fault_acts.scores("85"),
    "an unknown winner": fault_acts.votes(lambda ballot: {**ballot, "winner": "Oak"}),
    "somebody missing": fault_acts.votes(lambda ballot: {**ballot, "speakers": {}}),
    "two ballots": fault_acts.says_twice,
}
JUDGED = (
    *(unusable("F47", name, act, "malformed", at=4, words=True) for name, act in NO_BALLOTS.items()),
    harmless("F48", "lower score wins", fault_acts.votes(fault_acts.contradicting), at=4),
)
CASES = (
    *REFUSED, *BROKEN, *HARD_TO_READ, *UNSATISFYING, *CHAINED, *IMMODERATE, *JUDGED,
)  # fmt: skip
