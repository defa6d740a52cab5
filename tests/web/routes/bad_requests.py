"""The bad-input table, B01 to B127: every way to ask wrongly over HTTP, and the whole answer to it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from moot import formats
from moot.providers.endpoints import ENDPOINTS
from moot.settings import ServerSettings
from tests.api.setup_bodies import LEFT_OUT
from tests.api.v1.test_bodies import MODEL, many
from tests.api.v1.test_bodies import ROWS as BODIES
from tests.web.routes.bad_input_rows import (
    AHEAD,
    AUTH,
    BIG,
    BOB,
    CON,
    CROWD,
    DEBATES,
    FORBIDDEN,
    HDR,
    HOST,
    INVALID,
    MAL,
    MED,
    MISMATCH,
    MNA,
    NACC,
    NF,
    NO_DEBATE,
    OPERATOR,
    ORI,
    RATE,
    RTO,
    UPG,
    URI,
    VAL,
    VISITOR,
    Row,
    bearer,
    create,
    example,
    get,
    handshake,
    post,
    raw,
    request,
    written,
)  # fmt: skip
from tests.web.routes.debates_in_every_state import mooted

EVIL = "http://evil.example"
JSON = "Content-Type: application/json"
THIS = f"{DEBATES}/{{id}}"
HASTY = ServerSettings(requests_per_minute=None, header_seconds=0.3, body_seconds=0.3)
COUNTED = ServerSettings(requests_per_minute=100)
FIRST = ("oxford", "lincoln-douglas", "roundtable")
FORMATS = f"Must be one of: {', '.join((*FIRST, *(n for n in formats.names() if n not in FIRST)))}"
SPENT = {"x-ratelimit-remaining": "0", "x-ratelimit-limit": "100", "x-ratelimit-reset": None}
NOT_OURS = "The last event id is not one of ours"
STATES = "initializing, awaiting_arguments, debating, judge_evaluating, completed, error, paused"


def providers() -> str:
    named = ["anthropic", "openai", "google", "mistral"]
    others = ["scripted", "local", "human", *(endpoint.name for endpoint in ENDPOINTS)]
    return f"Must be one of: {', '.join(dict.fromkeys((*named, *others)))}"


TRANSPORT = (
    Row(id="B01", sent=get("/api/v1/nope"), sort=NF),
    Row(id="B02", sent=request(DEBATES, "PUT"), sort=MNA, headers={"allow": "GET, HEAD, POST"}),
    Row(id="B03", sent=request("/", "TRACE"), sort=MNA),
    Row(id="B04", sent=create(Content_Type="text/plain"), sort=MED),
    Row(id="B05", sent=create(Content_Type=None), sort=MED),
    Row(id="B06", sent=create(json.dumps(example()).encode("utf-16"),
                              Content_Type="application/json; charset=utf-16"), sort=MED),
    Row(id="B07", sent=create(bytes(1000), Content_Encoding="gzip"), sort=MED),
    Row(id="B08", sent=raw(f"POST {DEBATES} HTTP/1.1", JSON, "Content-Length: 10000000"), sort=BIG),
    Row(id="B09", sent=raw(f"POST {DEBATES} HTTP/1.1", JSON, "Transfer-Encoding: chunked",
                           body=b"30000\r\n" + b" " * 0x30000), sort=BIG),
    Row(id="B10", sent=raw(f"POST {DEBATES} HTTP/1.1", JSON, "Content-Length: 4",
                           "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + create()),
        sort=MAL, headers={"connection": "close"}),
    Row(id="B11", sent=raw(f"POST {DEBATES} HTTP/1.1", JSON, "Content-Length: 3", "Content-Length: 4",
                           body=b"abcd"), sort=MAL, headers={"connection": "close"}),
    Row(id="B12", sent=get(DEBATES, X_Long="a" * 17 * 1024), sort=HDR),
    Row(id="B12", sent=raw(f"GET {DEBATES} HTTP/1.1", *["X-A: a"] * 200), sort=HDR),
    Row(id="B13", sent=get(f"{DEBATES}?q={'a' * 9 * 1024}"), sort=URI),
    Row(id="B14", sent=get(DEBATES, Host="evil.example"), sort=HOST),
    Row(id="B15", sent=f"GET {DEBATES} HTTP/1.1\r\n\r\n".encode(), sort=MAL),
    Row(id="B15", sent=raw(f"GET {DEBATES} HTTP/1.1", "Host: 127.0.0.1"), sort=MAL),
    Row(id="B15", sent=get(f"{EVIL}{DEBATES}"), sort=HOST),
    Row(id="B16", sent=create(Origin=EVIL), sort=ORI),
    Row(id="B17", sent=create(Origin="null"), sort=ORI),
    *(Row(id="B18", sent=create(Origin=origin), sort=ORI)
      for origin in ("http://localhost.evil.example", "http://127.0.0.1.evil.example",
                     "http://localhost:8000@evil")),
    Row(id="B19", sent=create(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors"), sort=ORI),
    Row(id="B20", sent=create(Origin=EVIL, Cookie="session=1"), sort=ORI),
    Row(id="B21", sent=request(DEBATES, "OPTIONS", Origin=EVIL, Access_Control_Request_Method="POST"),
        sort=ORI),
    Row(id="B22", sent=f"GET {DEBATES} HTTP/1.1\r\nX-Slow: a".encode(), sort=RTO, service=HASTY),
    Row(id="B23", sent=raw(f"POST {DEBATES} HTTP/1.1", JSON, "Content-Length: 100", body=b"{"), sort=RTO,
        service=HASTY),
    Row(id="B24", sent=get(DEBATES), sort=AUTH, guarded=True, headers={"www-authenticate": "Bearer"}),
    *(Row(id="B24", sent=get(DEBATES, Authorization=words), sort=AUTH, guarded=True,
          headers={"www-authenticate": 'Bearer error="invalid_token"'})
      for words in ("Bearer wrong", "bearer    ", "Bearer", "")),
    Row(id="B25", sent=get(DEBATES, X_Api_Key=OPERATOR), sort=AUTH, guarded=True),
    Row(id="B25", sent=get(f"{DEBATES}?token={OPERATOR}"), sort=AUTH, guarded=True),
    Row(id="B25", sent=raw(f"GET {DEBATES} HTTP/1.1", "Authorization: Bearer wrong",
                           f"Authorization: Bearer {OPERATOR}"), sort=AUTH, guarded=True),
    *(Row(id="B26", sent=get(target), sort=NF)
      for target in (f"{DEBATES}/..%2f..%2f..%2fetc%2fpasswd/transcript", "/docs/..%2f..%2fapp.py")),
    *(Row(id="B26", sent=get(f"{DEBATES}/{name}/transcript"), sort=NF, detail=NO_DEBATE)
      for name in ("%2e%2e", "%00", "%ff")),
    *(Row(id="B27", sent=get(target), sort=NF) for target in ("//evil.example/..", "/api/v1//debates")),
    Row(id="B28", sent=get("/static/app.js", Range="bytes=" + ",".join(["0-0"] * 1000)), status=200),
    *(Row(id="B29", sent=sent, sort=RATE, headers=SPENT, service=COUNTED, before=(get(DEBATES),) * 100)
      for sent in (get(DEBATES), get("/api/v1/nope"), create({}))),
    Row(id="B30", sent=get(DEBATES, X_Forwarded_For="8.8.8.8", X_Real_IP="8.8.4.4"), sort=RATE,
        headers=SPENT, service=COUNTED,
        before=tuple(get(DEBATES, X_Forwarded_For=f"10.0.0.{n}", Forwarded=f"for=10.0.1.{n}")
                     for n in range(100))),
    *(Row(id="B31", sent=raw("GET / HTTP/1.1", header), sort=MAL, headers={"connection": "close"})
      for header in ("X-A: a\rb", "X-A: a\nX-B: b", "X-A: a\r\n b", "X A: a")),
    Row(id="B32", sent=b"GET /\r\n", sort=RTO, service=HASTY),
    Row(id="B32", sent=raw("GET / HTTP/9.9"), sort=MAL),
    Row(id="B32", sent=bytes.fromhex("16030100a5010000a10303") + bytes(160), sort=MAL),
    Row(id="B32", sent=Random(4).randbytes(1_000_000), sort=MAL),
)  # fmt: skip

CREATING = (
    Row(id="B33", sent=create(b"", Content_Type="application/json"), sort=MAL,
        detail="Request body is required"),
    Row(id="B34", sent=create(b'{"topic":'), sort=MAL,
        detail="The body is not valid JSON: see line 1, column 10"),
    *(Row(id="B35", sent=create(body), sort=VAL, detail=INVALID, errors={"body": "Must be an object"})
      for body in (b"[]", b'"x"', b"null", b"7")),
    Row(id="B36", sent=create(written(topic='"A topic \udcff with one"')), sort=MAL,
        detail="The body is not valid UTF-8"),
    Row(id="B36", sent=create(b"\xef\xbb\xbf" + json.dumps(example()).encode()), status=201),
    *(Row(id="B37", sent=create(written(config__costLimit=value)), sort=MAL,
          detail="A number is too large" if "e" in value else "NaN and Infinity are not JSON")
      for value in ("NaN", "Infinity", "-Infinity", "1e999")),
    Row(id="B38", sent=create(written(topic='"\\ud800 abcdefghij"')), sort=MAL,
        detail="A string holds half of a surrogate pair"),
    Row(id="B39", sent=create(b"[" * 100_000), sort=MAL,
        detail="The JSON is nested more than 32 levels deep"),
    Row(id="B40", sent=create(written(config__maxRounds="9" * 5000)), sort=MAL,
        detail="A number has too many digits"),
    Row(id="B41", sent=create(b'{"topic":"a topic","topic":"b topic"}'), sort=MAL, detail="Duplicate member"),
    *(Row(id=name.split()[0], sent=create(example(**changes)), sort=VAL, detail=INVALID, errors=errors)
      for name, changes, errors in BODIES
      if name.startswith("B") and name.split()[0] not in ("B52", "B54", "B56", "B58", "B59")),
    *(Row(id="B47", sent=create(example(topic=topic)), status=201)
      for topic in ("x" * 10, "x" * 500, "\U0001f389" * 500)),
    Row(id="B51", sent=create(example(topic="A topic \u202e with a turn")), status=201),
    Row(id="B52", sent=create(example(format=LEFT_OUT)), sort=VAL, detail=INVALID,
        errors={"format": "Field required"}),
    *(Row(id="B52", sent=create(example(format=name)), sort=VAL, detail=INVALID, errors={"format": FORMATS})
      for name in ("Oxford", "parliament")),
    *(Row(id="B54", sent=create(json.dumps(example(participants=seats), separators=(",", ":")).encode()),
          sort=VAL, detail=INVALID, errors={"participants": "Maximum 4 participants allowed"})
      for seats in (many(5), [*many(4), *[0] * 10_000])),
    Row(id="B56", sent=create(example(participants__0__model__provider="skynet")), sort=VAL, detail=INVALID,
        errors={f"{MODEL}.provider": providers()}),
    Row(id="B58", sent=create(example(participants__0__model={"provider": "local", "modelId": "unheard-of"})),
        sort=VAL, detail=INVALID, errors={f"{MODEL}.modelId": "Unknown model"}),
    Row(id="B59", sent=create(example(participants__0__model__provider="groq")), sort=VAL, detail=INVALID,
        errors={f"{MODEL}.provider": "No API key configured for this provider"}),
    Row(id="B71", sent=create(example(config__costLimit=0.11, config__warnAtCost=LEFT_OUT)), status=201),
    Row(id="B75", sent=create(json.dumps(example()).encode() + b" " * 128 * 1024), sort=BIG),
    Row(id="B76", sent=create(mooted("speaking")), sort=CROWD, before=(create(mooted("speaking")),) * 10,
        service=ServerSettings(requests_per_minute=None)),
    Row(id="B77", sent=create(Idempotency_Key="a"), status=201, headers={"idempotent-replayed": "true"},
        before=(create(Idempotency_Key="a"),)),
    Row(id="B78", sent=create(example(topic="Another topic"), Idempotency_Key="b"), sort=MISMATCH,
        before=(create(Idempotency_Key="b"),)),
    Row(id="B80", sent=create(Idempotency_Key="k" * 256), sort=MAL,
        detail="An idempotency key has 1 to 255 characters"),
    Row(id="B80", sent=create(Idempotency_Key=""), sort=MAL,
        detail="An idempotency key has 1 to 255 characters"),
    Row(id="B80", sent=create(Idempotency_Key="cl\u00e9"), sort=MAL,
        detail="An idempotency key has printable ASCII characters only"),
    Row(id="B81", sent=create({"topik": "x", "format": 1, "participants": [{"name": 1}], "judge": {},
                               "config": {"maxRounds": 0, "costLimit": 0, "autoJudge": 1}}),
        sort=VAL, detail=INVALID, errors={
            "topic": "Field required", "format": "Must be a string", "topik": "Unknown field",
            "participants": "Minimum 2 participants required", "participants.0.name": "Must be a string",
            "participants.0.model": "Field required",
            "participants.0.position": "Must be one of: for, against, neutral",
            "judge.name": "Field required", "judge.model": "Field required",
            "maxRounds": "Must be between 1 and 10", "costLimit": "Must be greater than 0.10",
            "autoJudge": "Must be a boolean",
        }),
)  # fmt: skip

ACTIONS = {"action": "Must be one of: next_round, skip_to_judge"}
EXPORTS = {"format": "Must be one of: json, markdown, html, replay"}
LIMIT = {"limit": "Must be between 1 and 100"}
OFFSET = {"offset": "Must be between 0 and 1000000000"}
NEXT: dict[str, Any] = {"action": "next_round"}
EACH: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/status", None), ("GET", "/stream", None), ("GET", "/transcript", None),
    ("POST", "/rounds", NEXT), ("POST", "/judge", None), ("POST", "/pause", None),
    ("POST", "/resume", None), ("POST", "/stop", None), ("DELETE", "", None),
)  # fmt: skip
STRANGE = (
    "deb_01HZ9X8K7M3QR5TNVWXYZ12345",
    "deb_",
    "'%3B%20DROP%20TABLE",
    "x" * 10_000,
    "%C3%A9%F0%9F%8E%89",
)
SCANDAL = "<script>alert(1)</script> ]]> ``` # Judge's Verdict"
SANDBOX = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}


def each(method: str, path: str, body: Any, **headers: str | None) -> bytes:
    return request(path, method, json.dumps(body).encode() if body else b"", **headers)


STEERING = (
    *(Row(id="B82", sent=each(method, f"{DEBATES}/{name}{what}", body), sort=NF, detail=NO_DEBATE)
      for name in STRANGE for method, what, body in EACH),
    *(Row(id="B83", sent=each(method, THIS + what, body, **bearer(BOB)), sort=NF, detail=NO_DEBATE,
          mood="speaking", guarded=True)
      for method, what, body in (*EACH, ("POST", "/inject", {"text": "Hear me."}))),
    Row(id="B83", sent=handshake(f"{THIS}/ws", **bearer(BOB)), sort=NF, detail=NO_DEBATE, mood="speaking",
        guarded=True),
    Row(id="B84", sent=post(f"{THIS}/pause", **bearer(VISITOR)), sort=FORBIDDEN, mood="speaking",
        detail="A viewer's token allows no changes", guarded=True),
    Row(id="B85", sent=post(f"{THIS}/rounds", {}), sort=VAL, mood="waiting",
        errors={"action": "Field required"}),
    *(Row(id="B85", sent=post(f"{THIS}/rounds", {"action": action}), sort=VAL, mood="waiting", errors=ACTIONS)
      for action in ("explode", ["next_round"])),
    Row(id="B86", sent=post(f"{THIS}/rounds", NEXT), sort=CON, detail="A round is in progress",
        mood="speaking", now="debating"),
    Row(id="B87", sent=post(f"{THIS}/rounds", NEXT), sort=CON, detail="All rounds have been held",
        mood="held", now="awaiting_arguments"),
    *(Row(id="B88", sent=post(f"{THIS}/rounds", NEXT), sort=CON, detail="The debate is not running",
          mood=mood, now=mood) for mood in ("paused", "completed", "error")),
    Row(id="B89", sent=post(f"{THIS}/rounds", NEXT), before=(post(f"{THIS}/rounds", NEXT),), sort=CON,
        detail="A round is in progress", mood="waiting", now="debating"),
    Row(id="B90", sent=post(f"{THIS}/judge"), sort=CON, detail="Nothing to judge", mood="speaking",
        now="debating"),
    Row(id="B91", sent=post(f"{THIS}/judge"), before=(post(f"{THIS}/judge"),), sort=CON, mood="said",
        detail="The debate cannot be judged now", now="judge_evaluating"),
    Row(id="B92", sent=post(f"{THIS}/judge", {"reason": "x" * 2001}), sort=VAL, mood="said",
        errors={"reason": "Must be at most 2000 characters"}),
    Row(id="B92", sent=post(f"{THIS}/judge", {"reason": 7}), sort=VAL, mood="said",
        errors={"reason": "Must be a string"}),
    Row(id="B93", sent=post(f"{THIS}/judge"), status=202, mood="said"),
    Row(id="B94", sent=post(f"{THIS}/pause"), status=200, mood="paused"),
    *(Row(id="B95", sent=post(f"{THIS}/pause"), sort=CON, mood=mood, now=now,
          detail="Only a running debate can be paused")
      for mood, now in (("completed",) * 2, ("error",) * 2, ("judging", "judge_evaluating"))),
    Row(id="B96", sent=post(f"{THIS}/resume"), sort=CON, detail="The debate is not paused", mood="speaking",
        now="debating"),
    Row(id="B98", sent=post(f"{THIS}/stop"), sort=CON, detail="The debate is over", mood="completed",
        now="completed"),
    Row(id="B98", sent=post(f"{THIS}/stop"), status=200, mood="stopped"),
    Row(id="B99", sent=post(f"{THIS}/pause", {}), status=200, mood="speaking"),
    Row(id="B99", sent=post(f"{THIS}/pause", {"x": 1}), sort=VAL, errors={"x": "Unknown field"},
        mood="speaking"),
    Row(id="B99", sent=post(f"{THIS}/pause", b"{"), sort=MAL, mood="speaking",
        detail="The body is not valid JSON: see line 1, column 2"),
    *(Row(id="B100", sent=get(f"{THIS}/transcript?{query}"), sort=VAL, errors=EXPORTS, mood="completed")
      for query in ("format=pdf", "format=", "format=json&format=html")),
    *(Row(id="B101", sent=get(f"{THIS}/transcript"), status=200, mood="said", holds=words)
      for words in (b'"verdict": null', b'"completedAt": null')),
    *(Row(id="B102", sent=get(f"{THIS}/transcript?format={form}"), status=200, mood="completed",
          topic=SCANDAL, lacks=b"<script>",
          headers={"content-disposition": f'attachment; filename="{{id}}.{ending}"', **SANDBOX})
      for form, ending in (("html", "html"), ("markdown", "md"))),
    *(Row(id="B103", sent=get(f"{DEBATES}?limit={value}"), sort=VAL, errors=LIMIT)
      for value in ("0", "-1", "101", "abc", "1e2", "%D9%A3", "")),
    *(Row(id="B104", sent=get(f"{DEBATES}?offset={value}"), sort=VAL, errors=OFFSET)
      for value in ("-1", "9223372036854775808", "1.5")),
    *(Row(id="B105", sent=get(f"{DEBATES}?offset=1000000"), status=200, mood="completed", holds=words)
      for words in (b'"debates":[]', b'"hasMore":false')),
    Row(id="B106", sent=get(f"{DEBATES}?status=bogus"), sort=VAL,
        errors={"status": f"Must be one of: {STATES}"}),
    Row(id="B107", sent=get(f"{DEBATES}?limit=1&limit=2"), sort=VAL,
        errors={"limit": "Given more than once"}),
    *(Row(id=row, sent=sent, before=(request(THIS, "DELETE"),), sort=NF, detail=NO_DEBATE, mood="speaking")
      for row, sent in (("B108", request(THIS, "DELETE")), ("B109", get(f"{THIS}/stream")))),
    Row(id="B110", sent=request(THIS, "DELETE", b"{not read", Content_Type="text/plain"), status=204,
        mood="speaking"),
    Row(id="B110", sent=request(DEBATES, "DELETE"), sort=MNA, headers={"allow": "GET, HEAD, POST"}),
)  # fmt: skip

STREAM = {"content-type": "text/event-stream"}
SHORT = {"Connection": "close"}

FOLLOWING = (
    Row(id="B111", sent=get(f"{DEBATES}/deb_unknown/stream"), sort=NF, detail=NO_DEBATE),
    Row(id="B112", sent=get(f"{THIS}/stream", Accept="application/json"), sort=NACC, mood="speaking"),
    *(Row(id="B112", sent=get(f"{THIS}/stream", Accept=accept), status=200, headers=STREAM, mood="completed")
      for accept in ("*/*", None, "text/event-stream")),
    *(Row(id="B113", sent=get(f"{THIS}/stream", Last_Event_ID=value), sort=MAL, detail=NOT_OURS,
          mood="completed") for value in ("abc", "-1", "1e3", "0x10", "0.1", "9" * 10_000, str(2**64))),
    Row(id="B114", sent=get(f"{THIS}/stream", Last_Event_ID="99999"), sort=AHEAD, mood="completed"),
    Row(id="B115", sent=get(f"{THIS}/stream", Last_Event_ID="3", **SHORT), status=200, headers=STREAM,
        mood="completed", lacks=b"id: 3\n", holds=b"event: complete"),
    Row(id="B116", sent=get(f"{THIS}/stream?lastEventId=99999", Last_Event_ID="3", **SHORT), status=200,
        headers=STREAM, mood="completed", lacks=b"id: 3\n", holds=b"event: complete"),
    Row(id="B117", sent=get(f"{THIS}/stream", Last_Event_ID="{last}"), status=204, mood="completed"),
    *(Row(id="B118", sent=get(f"{THIS}/stream", **SHORT), status=200, headers=STREAM, mood="completed",
          holds=words) for words in (b"id: 2\n", b"event: complete")),
    Row(id="B119", sent=post(f"{THIS}/stream"), sort=MNA, headers={"allow": "GET, HEAD"}, mood="speaking"),
    Row(id="B120", sent=request(f"{THIS}/stream", "HEAD", **SHORT), status=200, headers=STREAM,
        mood="speaking"),
    Row(id="B121", sent=get(f"{THIS}/stream"), sort=RATE, detail="Too many streams at a time; close one",
        before=(get(f"{THIS}/stream"),) * 50, mood="speaking",
        service=ServerSettings(requests_per_minute=None)),
    Row(id="B124", sent=get(f"{THIS}/ws"), sort=UPG, mood="speaking"),
    *(Row(id="B125", sent=handshake(f"{THIS}/ws", Origin=origin), sort=ORI, mood="speaking")
      for origin in (EVIL, "null")),
    Row(id="B126", sent=handshake(f"{THIS}/ws"), sort=AUTH, mood="speaking", guarded=True),
    Row(id="B127", sent=handshake(f"{THIS}/ws", Sec_WebSocket_Version="12"), sort=UPG, mood="speaking"),
    Row(id="B127", sent=handshake(f"{THIS}/ws", Sec_WebSocket_Key="short"), sort=MAL, mood="speaking"),
)  # fmt: skip

ROWS = (*TRANSPORT, *CREATING, *STEERING, *FOLLOWING)
