"""Which requests the guard refuses, and the headers of every reply."""

from __future__ import annotations

import asyncio
import gzip
from itertools import product

import pytest

from moot.providers.keys import Secret
from tests.web.apps import Echo, broken, half, page
from tests.web.conftest import Serving
from tests.web.raw_client import Line, exchange, request

JSON = b'{"topic": "Cats"}'


async def test_what_is_in_order_reaches_the_app_with_its_body(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    reply = await exchange(served.port, request("/api/x", "POST", JSON))
    assert reply.status == 200
    assert b'"who": "anyone"' in reply.body
    assert b"Cats" in reply.body
    assert reply.headers["x-request-id"].startswith("req_")
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "server" not in reply.headers


async def test_a_chunked_body_is_read_as_a_whole_and_its_trailers_are_no_headers(
    behind_guard: Serving,
) -> None:
    served = await behind_guard(Echo())
    head = request("/api/x", "POST", Transfer_Encoding="chunked", Content_Type="application/json")
    reply = await exchange(
        served.port, head, b"2\r\n[1\r\n", b"3\r\n,2]\r\n", b"0\r\nX-Trailer: 1\r\nHost: evil.example\r\n\r\n"
    )
    assert reply.status == 200
    assert b'"body": "[1,2]"' in reply.body
    assert b'"trailer": false' in reply.body


# --- media types ----------------------------------------------------------------------------------------


OTHER_MEDIA: list[dict[str, str | None]] = [
    {"Content_Type": "text/plain"},
    {"Content_Type": None},
    {"Content_Type": "application/json; charset=utf-16"},
    {"Content_Type": 'application/json; charset="utf-16"'},
    {"Content_Type": "application/jsonp"},
    {"Content_Type": "application/x-www-form-urlencoded"},
    {"Content_Type": "text/plain; application/json"},
    {"Content_Encoding": "gzip"},
    {"Content_Encoding": "identity, gzip"},
]


async def test_only_json_in_utf8_is_taken(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    for headers in OTHER_MEDIA:
        reply = await exchange(served.port, request("/api/x", "POST", JSON, **headers))
        assert (reply.status, reply.kind) == (415, "unsupported-media-type"), headers
    assert not echo.seen


@pytest.mark.parametrize(
    "media_type", ["application/json", "Application/JSON ; charset=UTF-8", 'application/json;charset="utf8"']
)
async def test_json_may_be_named_in_any_lawful_way(behind_guard: Serving, media_type: str) -> None:
    served = await behind_guard(Echo())
    reply = await exchange(served.port, request("/api/x", "POST", JSON, Content_Type=media_type))
    assert reply.status == 200


async def test_a_gzip_bomb_is_refused_unread(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    bomb = gzip.compress(bytes(50_000_000))
    reply = await exchange(served.port, request("/api/x", "POST", bomb[:40_000], Content_Encoding="gzip"))
    assert reply.kind == "unsupported-media-type"


async def test_an_empty_body_needs_no_type(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    for length in (None, "0"):
        reply = await exchange(served.port, request("/api/x", "POST", Content_Length=length))
        assert reply.status == 200


async def test_a_delete_may_have_a_body_of_any_type(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    reply = await exchange(served.port, request("/api/x", "DELETE", b"why not", Content_Type="text/plain"))
    assert reply.status == 200


async def test_some_paths_take_plain_text_but_not_from_pages(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), plain_text=("/api/debate",))
    own = {"Origin": "http://127.0.0.1"}
    for target, headers, status in [
        ("/api/debate", {}, 200),
        ("/api/debate", own, 415),
        ("/api/debate", {"Origin": "http://evil.example"}, 403),
        ("/api/v1/debates", {}, 415),
    ]:
        plain = request(target, "POST", JSON, Content_Type="text/plain;charset=UTF-8", **headers)
        assert (await exchange(served.port, plain)).status == status


# --- size and time --------------------------------------------------------------------------------------


async def test_a_body_that_is_announced_as_too_large_is_not_awaited(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    line = await Line.to(served.port)
    await line.send(request("/api/x", "POST", Content_Length="10000000", Content_Type="application/json"))
    reply = await line.reply()
    assert (reply.status, reply.kind) == (413, "payload-too-large")
    assert reply.headers["connection"] == "close"
    assert await line.rest() == b""
    assert not echo.seen


async def test_whoever_waits_for_100_continue_is_told_at_once(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    head = request(
        "/api/x", "POST", Content_Length="10000000", Content_Type="application/json", Expect="100-continue"
    )
    assert (await exchange(served.port, head)).kind == "payload-too-large"


async def test_a_chunked_body_without_end_is_cut_off(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    await line.send(request("/api/x", "POST", Transfer_Encoding="chunked", Content_Type="application/json"))
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    for _ in range(12):
        await line.send(chunk)
    reply = await line.reply()
    assert (reply.status, reply.kind) == (413, "payload-too-large")
    assert await line.rest() == b""


async def test_a_body_of_just_the_largest_size_passes(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    body = b'"' + b"a" * (128 * 1024 - 2) + b'"'
    assert (await exchange(served.port, request("/api/x", "POST", body))).status == 200
    assert (await exchange(served.port, request("/api/x", "POST", body + b" "))).status == 413


async def test_half_a_body_and_then_silence_is_a_timeout(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo, body_seconds=0.2)
    line = await Line.to(served.port)
    await line.send(request("/api/x", "POST", JSON, Content_Length="100"))
    reply = await line.reply()
    assert (reply.status, reply.kind) == (408, "request-timeout")
    assert await line.rest() == b""
    assert not echo.seen


async def test_a_client_that_leaves_while_sending_is_not_answered(
    behind_guard: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    line = await Line.to(served.port)
    await line.send(request("/api/x", "POST", JSON, Content_Length="100"))
    await line.close()
    assert (await exchange(served.port, request("/api/y"))).status == 200
    assert echo.seen == ["/api/y"]
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]


# --- hosts and origins ----------------------------------------------------------------------------------


HOSTS = [
    ("127.0.0.1", 200),
    ("localhost:8000", 200),
    ("LOCALHOST", 200),
    ("[::1]:8000", 200),
    ("moot.example.org", 200),
    ("evil.example", 421),
    ("localhost.evil.example", 421),
    ("127.0.0.1.evil.example", 421),
    ("moot.example.org.evil.example", 421),
    ("localhost@evil.example", 421),
    ("localhost:8000:9000", 421),
    ("", 421),
]


async def test_only_our_own_hosts_are_answered_for(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), hosts=("moot.example.org",))
    for host, status in HOSTS:
        reply = await exchange(served.port, request("/api/x", Host=host))
        assert reply.status == status, host
        assert status == 200 or reply.kind == "misdirected-request"


FOREIGN = [
    "http://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost:8000@evil",
    "https://127.0.0.1",
    "http://127.0.0.1:1",
    "",
    "*",
]


async def test_pages_of_other_origins_change_nothing(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    for origin, method in product(FOREIGN, ("POST", "DELETE", "PUT")):
        sent = request("/api/x", method, JSON, Origin=origin, Cookie="session=valid")
        reply = await exchange(served.port, sent)
        assert (reply.status, reply.kind) == (403, "forbidden-origin"), origin
        assert not [name for name in reply.headers if name.startswith("access-control")]
    assert not echo.seen


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_page_without_an_origin_betrays_itself_by_its_site(behind_guard: Serving, site: str) -> None:
    served = await behind_guard(Echo())
    sent = request("/api/x", "POST", JSON, Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")
    assert (await exchange(served.port, sent)).kind == "forbidden-origin"


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_our_own_pages_and_the_address_bar_are_welcome(behind_guard: Serving, site: str) -> None:
    served = await behind_guard(Echo())
    own = f"127.0.0.1:{served.port}"
    for origin in (f"http://{own}", None):
        sent = request("/api/x", "POST", JSON, Host=own, Origin=origin, Sec_Fetch_Site=site)
        assert (await exchange(served.port, sent)).status == 200


async def test_reading_is_left_to_the_browser_to_forbid(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    reply = await exchange(served.port, request("/api/x", Origin="http://evil.example"))
    assert reply.status == 200
    assert "access-control-allow-origin" not in reply.headers
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"


async def test_a_preflight_of_a_foreign_page_gets_nothing(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), origins=("https://app.example.org",))
    sent = request("/api/x", "OPTIONS", Origin="http://evil.example", Access_Control_Request_Method="POST")
    reply = await exchange(served.port, sent)
    assert reply.kind == "forbidden-origin"
    assert not [name for name in reply.headers if name.startswith("access-control")]


async def test_an_allowed_origin_is_allowed_exactly(behind_guard: Serving) -> None:
    origin = "https://app.example.org"
    served = await behind_guard(Echo(), origins=(origin,))
    asked = "content-type, x-provider-key-openai, x-evil"
    preflight = request(
        "/api/x",
        "OPTIONS",
        Origin=origin,
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers=asked,
    )
    reply = await exchange(served.port, preflight)
    assert reply.status == 204
    assert reply.headers["access-control-allow-origin"] == origin
    assert reply.headers["access-control-allow-headers"] == "content-type, x-provider-key-openai"
    reply = await exchange(served.port, request("/api/x", "POST", JSON, Origin=origin))
    assert reply.status == 200
    assert reply.headers["access-control-allow-origin"] == origin
    assert "Origin" in reply.headers["vary"]
    assert "X-Debate-Id" in reply.headers["access-control-expose-headers"]
    for other in ("https://app.example.org:444", "http://app.example.org", "https://app.example.org.evil"):
        assert (await exchange(served.port, request("/api/x", "POST", JSON, Origin=other))).status == 403


async def test_a_trusted_proxy_may_have_taken_the_encryption_off(behind_guard: Serving) -> None:
    sent = request(
        "/api/x", "POST", JSON, Host="moot.example.org", Origin="https://moot.example.org",
        X_Forwarded_Proto="https",
    )  # fmt: skip
    for proxies, status in [(("127.0.0.1",), 200), ((), 403)]:
        served = await behind_guard(Echo(), hosts=("moot.example.org",), proxies=proxies)
        assert (await exchange(served.port, sent)).status == status


# --- paths ----------------------------------------------------------------------------------------------


ODD_PATHS = (
    "//evil.example/..", "/api/v1//debates", "/a/..%2f..%2fetc%2fpasswd", "/%00", "/%ff", "/%2e%2e",
)  # fmt: skip


async def test_odd_paths_are_just_paths(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    for target in ODD_PATHS:
        reply = await exchange(served.port, request(target))
        assert reply.status == 200
        assert "location" not in reply.headers


# --- the way out ----------------------------------------------------------------------------------------


async def test_pages_carry_a_policy(behind_guard: Serving) -> None:
    served = await behind_guard(page)
    headers = (await exchange(served.port, request("/"))).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"


async def test_what_nobody_expected_is_a_problem_without_details(
    behind_guard: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    served = await behind_guard(broken)
    reply = await exchange(served.port, request("/api/x"))
    assert (reply.status, reply.kind) == (500, "internal")
    assert b"canary" not in reply.body
    logged = [record for record in caplog.records if record.name == "moot.web.middleware.http_exchange"]
    assert [getattr(record, "request_id", "") for record in logged] == [reply.headers["x-request-id"]]


async def test_half_a_reply_is_not_passed_off_as_a_whole_one(behind_guard: Serving) -> None:
    served = await behind_guard(half)
    line = await Line.to(served.port)
    await line.send(request("/api/x"))
    assert not (await line.rest()).endswith(b"0\r\n\r\n")


async def test_one_connection_serves_many_requests(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    ids: set[str] = set()
    for number in range(5):
        await line.send(request(f"/api/{number}", "POST", JSON))
        ids.add((await line.reply()).headers["x-request-id"])
    assert len(ids) == 5
    await line.close()


async def test_pipelined_requests_are_answered_in_order(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    await line.send(b"".join(request(f"/api/{number}") for number in range(3)))
    for number in range(3):
        assert f"/api/{number}".encode() in (await line.reply()).body
    await line.close()


async def test_a_head_request_has_the_headers_alone(behind_guard: Serving) -> None:
    served = await behind_guard(broken, token=Secret("t" * 20))
    line = await Line.to(served.port)
    await line.send(request("/api/x", "HEAD") + request("/api/y"))
    assert (await line.reply(head_only=True)).status == 401
    assert (await line.reply()).kind == "unauthorized"
    await asyncio.sleep(0)
    await line.close()
