"""Clients that hang up, half or whole, at any moment: no error of ours, and no traceback in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from moot.web.routes.health import PATHS as HEALTH
from tests.web.apps import Echo, Endless, large, talk
from tests.web.conftest import Served, Serving
from tests.web.raw_client import Line, exchange, request
from tests.web.route_table import ROUTES
from tests.web.server.test_http_protocol import BAD_FRAMES, frame, handshake

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Generator[None]:
    """Nothing was logged as an error, by us or by anybody."""
    caplog.set_level(logging.INFO)
    yield
    loud = [r for r in caplog.get_records("call") if r.exc_info or r.levelno >= logging.WARNING]
    assert [(record.name, record.getMessage(), record.exc_text) for record in loud] == []
    answered = [getattr(r, "status", 0) for r in caplog.get_records("call") if r.name == "moot.access"]
    assert 500 not in answered


def reset(line: Line) -> None:
    """Go without a word of goodbye: what has not been read is thrown away."""
    if line.writer.is_closing():
        return
    raw: Any = line.writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.writer.transport.abort()


def shut(line: Line) -> None:
    line.writer.close()


LEAVE: dict[str, Callable[[Line], None]] = {"closes": shut, "resets": reset}


async def settled(served: Served) -> None:
    """Whatever was asked has been gone through."""
    async with asyncio.timeout(60):
        while served.server.server_state.tasks or served.server.server_state.connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


# --- requests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
async def test_a_client_of_any_route_may_hang_up(serving: Serving, leave: Callable[[Line], None]) -> None:
    served = await serving(requests_per_minute=None, streams_per_client=None)
    for method, path, _, _ in ROUTES:
        target = path.replace("{debateId}", "deb_00000000000000000000000000")
        target = target.replace("{name}", "x").replace("{", "").replace("}", "")
        for headers in ({}, {"Content-Type": "application/json", "Content-Length": "0"}):
            line = await Line.to(served.port)
            await line.send(request(target, method, **headers))
            leave(line)
    await settled(served)


async def test_a_whole_request_reaches_its_route_though_the_client_has_gone(behind_guard: Serving) -> None:
    seen: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.05)
        seen.append(await Request(scope, receive).body())
        await Response("done")(scope, receive, send)

    served = await behind_guard(app)
    for leave in LEAVE.values():
        line = await Line.to(served.port)
        await line.send(request("/api/x", "POST"))
        await asyncio.sleep(0.01)
        leave(line)
    await settled(served)
    assert seen == [b"", b""]


# --- half-closed ------------------------------------------------------------------------------------------


async def half_closed(served: Served, *sent: bytes) -> Line:
    line = await Line.to(served.port)
    for data in sent:
        await line.send(data)
    line.writer.write_eof()
    return line


async def test_a_half_closed_request_gets_its_reply(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    for sent in (request("/api/a"), request("/api/b", "POST", b"{}"), request("/api/c", "POST")):
        line = await half_closed(served, sent)
        reply = await line.reply()
        assert reply.status == 200
        assert await line.rest() == b""
    assert echo.seen == ["/api/a", "/api/b", "/api/c"]
    await settled(served)


async def test_all_requests_of_a_half_closed_line_are_answered(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await half_closed(served, request("/api/a") + request("/api/b") + request("/api/c", "POST", b"{}"))
    assert [(await line.reply()).status for _ in range(3)] == [200, 200, 200]
    assert await line.rest() == b""


async def test_a_half_closed_line_reads_a_large_reply_to_its_end(behind_guard: Serving) -> None:
    served = await behind_guard(large)
    line = await Line.to(served.port)
    await line.send(request("/api/large"))
    await line.reader.readuntil(b"\r\n\r\n")
    line.writer.write_eof()
    assert len(await line.rest()) == 20_000_000


@pytest.mark.parametrize("sent", [b"", b"GET / HT", request("/api/x", "POST", b"{}", Content_Length="9")])
async def test_half_a_request_and_the_end_is_no_request(behind_guard: Serving, sent: bytes) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    line = await half_closed(served, sent)
    assert await line.rest() == b""
    assert not echo.seen
    await settled(served)


async def test_a_viewer_who_half_closes_has_left(serving: Serving) -> None:
    """Else nobody could tell one who has gone from one who still reads."""
    served = await serving()
    assert served.arena is not None
    setup = await served.arena.setup("Who is still there?", model="scripted/demo")
    debate_id = (await served.arena.create(setup)).debate.id
    line = await Line.to(served.port)
    await line.send(request(f"/api/v1/debates/{debate_id}/stream"))
    await line.reader.readuntil(b"\r\n\r\n")
    line.writer.write_eof()
    await line.rest()
    await settled(served)


# --- WebSockets -------------------------------------------------------------------------------------------

EARLY = {
    **{name: sent for name, (sent, _) in BAD_FRAMES.items()},
    "a close": frame(b"\x03\xe8", 8),
    "a ping": frame(b"ping", 9),
    "a ping and a close": frame(b"ping", 9) + frame(b"\x03\xe8", 8),
    "no UTF-8 and a ping": frame(b"\xff\xfe") + frame(b"ping", 9) + frame(b"\x03\xe8", 8),
    "many messages": frame(b"{}") * 1000,
}


async def slow_talk(scope: Scope, receive: Receive, send: Send) -> None:
    """Accepts after a while, as a server whose store is busy."""
    await asyncio.sleep(0.05)
    await talk(scope, receive, send)


@pytest.mark.parametrize("early", EARLY.values(), ids=EARLY)
async def test_frames_before_the_handshake_is_answered_wait_for_it(
    behind_guard: Serving, early: bytes
) -> None:
    served = await behind_guard(slow_talk)
    line = await Line.to(served.port)
    await line.send(handshake())
    await asyncio.sleep(0.01)
    await line.send(early)
    reply = await line.reply()
    assert reply.status == 101
    await line.close()
    await settled(served)


@pytest.mark.parametrize("apart", [False, True], ids=["in one packet", "in two"])
async def test_what_is_said_before_the_handshake_is_answered_is_heard(
    behind_guard: Serving, apart: bool
) -> None:
    served = await behind_guard(slow_talk)
    line = await Line.to(served.port)
    said = frame(b"hello")
    await line.send(handshake() + said[: 0 if apart else 4])
    await asyncio.sleep(0.01)
    await line.send(said[0 if apart else 4 :])
    assert (await line.reply()).status == 101
    assert await line.reader.readexactly(7) == b"\x81\x05hello"
    await line.close()
    await settled(served)


async def test_two_who_write_to_a_socket_may_both_learn_that_its_client_has_gone(
    behind_guard: Serving,
) -> None:
    """The second is told by Starlette in other words than the first."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        with suppress(WebSocketDisconnect):
            while True:
                await websocket.send_text("still there?")
                await asyncio.sleep(0)
        await websocket.send_text("and now?")

    served = await behind_guard(app)
    line = await Line.to(served.port)
    await line.send(handshake())
    assert (await line.reply()).status == 101
    reset(line)
    await settled(served)


@pytest.mark.parametrize("early", EARLY.values(), ids=EARLY)
@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
async def test_a_socket_may_be_left_at_any_moment(
    serving: Serving, early: bytes, leave: Callable[[Line], None]
) -> None:
    served = await serving(streams_per_client=None, requests_per_minute=None)
    assert served.arena is not None
    setup = await served.arena.setup("Who is still there?", model="scripted/demo", rounds=1)
    debate_id = (await served.arena.create(setup, start=True)).debate.id
    for target in (debate_id, "deb_00000000000000000000000000"):
        for pause in (None, 0.0, 0.001, 0.02):
            line = await Line.to(served.port)
            await line.send(handshake(f"/api/v1/debates/{target}/ws"))
            if pause is not None:
                await asyncio.sleep(pause)
            await line.send(early)
            leave(line)
    await settled(served)


@pytest.mark.parametrize("early", EARLY.values(), ids=EARLY)
async def test_a_handshake_that_is_refused_is_refused_whatever_comes_behind_it(
    serving: Serving, early: bytes
) -> None:
    served = await serving()
    line = await Line.to(served.port)
    await line.send(handshake("/api/v1/debates/deb_00000000000000000000000000/ws") + early[:100])
    assert (await line.reply()).status == 404
    await line.close()
    await settled(served)


# --- what is described ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HEALTH)
async def test_whatever_a_probe_is_told_is_described(serving: Serving, path: str) -> None:
    served = await serving(header_seconds=0.1, body_seconds=0.1)
    described = (await exchange(served.port, request("/openapi.json"))).body

    declared = {int(status) for status in json.loads(described)["paths"][path]["get"]["responses"]}
    told = set[int]()
    for sent in (
        request(path),
        request(path)[:-2],
        request(path, Content_Length="9"),
        request(path, Content_Length="999999999"),
        request(path, Host="evil.example"),
        request(path, X_Long="a" * 20_000),
        request(f"{path}?{'a' * 9000}"),
    ):
        told.add((await exchange(served.port, sent)).status)
    assert {200, 408, 413, 414, 421, 431} == told
    assert told <= declared


async def test_a_stream_ends_for_one_who_left_before_it_began(behind_guard: Serving) -> None:
    served = await behind_guard(endless := Endless())
    line = await Line.to(served.port)
    await line.send(request("/api/x"))
    reset(line)
    await endless.end()
    await settled(served)
