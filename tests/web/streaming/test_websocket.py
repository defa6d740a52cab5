"""The WebSocket of a debate: what it tells, what it heeds, and when it closes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from moot.providers.scripted import ScriptedProvider
from moot.settings import ServerSettings
from moot.web.server.websocket_protocol import WebSocketConnection
from tests.web.raw_client import Line
from tests.web.routes.served import UNLIMITED, Served, serving
from tests.web.routes.test_debate_routes import Failing, problem
from tests.web.server.test_http_protocol import frame, handshake


@asynccontextmanager
async def talking(
    house: Served, debate_id: str, query: str = "", **more: Any
) -> AsyncGenerator[ClientConnection]:
    url = f"{house.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws{query}"
    async with connect(url, compression=None, **more) as socket:
        yield socket


async def everything(socket: ClientConnection) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    try:
        while True:
            seen.append(json.loads(await socket.recv()))
    except ConnectionClosed:
        return seen


async def answer(socket: ClientConnection, message: Any) -> dict[str, Any]:
    """The reply to a message; events of the debate that come in between are passed over."""
    await socket.send(message if isinstance(message, str) else json.dumps(message))
    async with asyncio.timeout(60):
        while True:
            frame = json.loads(await socket.recv())
            if frame["id"] is None:
                return frame


async def closing(socket: ClientConnection) -> int | None:
    async with asyncio.timeout(60):
        await everything(socket)
    return socket.close_code


async def test_it_tells_what_the_stream_tells(served: Served) -> None:
    debate_id = await served.open()
    streamed = await served.follow(debate_id)
    async with talking(served, debate_id) as socket:
        seen = [(frame["event"], frame["id"], frame["data"]) for frame in await everything(socket)]
        assert seen == streamed
        assert socket.close_code == 1000


async def test_it_closes_where_a_debate_has_failed_and_says_why(tmp_path: Path) -> None:
    script = Failing("b")
    async with serving(tmp_path, provider=ScriptedProvider(script)) as house:
        debate_id = await house.open()
        async with talking(house, debate_id) as socket:
            seen = await everything(socket)
        assert [frame["event"] for frame in seen[-2:]] == ["status", "error"]
        assert (socket.close_code, socket.close_reason) == (
            4500,
            "The debate failed. After a retry or a judging, connect again after the last id.",
        )
        async with talking(house, debate_id, f"?after={seen[-1]['id']}") as socket:
            assert await everything(socket) == []
        assert socket.close_code == 4500
        script.broken.clear()
        await house.post(debate_id, "retry")
        async with talking(house, debate_id, f"?after={seen[-1]['id']}") as socket:
            assert (await everything(socket))[-1]["event"] == "complete"
        assert (socket.close_code, socket.close_reason) == (1000, "All has been told.")


async def test_it_resumes_after_any_frame(served: Served) -> None:
    debate_id = await served.open()
    streamed = await served.follow(debate_id)
    for place in (0, 5, len(streamed) - 2):
        async with talking(served, debate_id, f"?after={streamed[place][1]}") as socket:
            ids = [frame["id"] for frame in await everything(socket)]
        assert ids == [id for _, id, _ in streamed[place + 1 :]]
    async with talking(served, debate_id, f"?after={streamed[-1][1]}") as socket:
        assert await everything(socket) == []


async def test_events_and_answers_share_a_socket_without_loss(
    slow: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all events are written directly, without waking the task of the socket."""
    written: list[bytes] = []
    write_frames = WebSocketConnection.write_frames

    async def count(connection: WebSocketConnection, frames: bytes) -> None:
        written.append(frames)
        await write_frames(connection, frames)

    monkeypatch.setattr(WebSocketConnection, "write_frames", count)
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        for number in range(10):
            remark = {"type": "INJECT_CONTEXT", "data": {"additionalContext": f"Remark {number}."}}
            await socket.send(json.dumps(remark))
            await asyncio.sleep(0.02)
        seen = await everything(socket)
    events = [(frame["event"], frame["id"], frame["data"]) for frame in seen if frame["id"]]
    assert events == await slow.follow(debate_id)
    assert [frame["event"] for frame in seen if not frame["id"]] == ["ack"] * 10
    assert len(written) < 10 + len(events) / 2


async def test_nothing_follows_the_answer_to_a_closing_frame(slow: Served) -> None:
    debate_id = await slow.open()
    line = await Line.to(int(slow.url.rpartition(":")[2]))
    await line.send(handshake(f"/api/v1/debates/{debate_id}/ws"))
    assert (await line.reply()).status == 101
    await line.reader.readexactly(1000)
    await line.send(frame(b"\x03\xe8", 8))
    assert (await line.rest()).endswith(b"\x88\x02\x03\xe8")


async def test_a_plain_request_is_told_to_upgrade(served: Served) -> None:
    debate_id = await served.open()
    reply = await served.get(debate_id, "ws")
    problem(reply, 426, "upgrade-required")
    assert reply.headers["upgrade"] == "websocket"


@pytest.mark.parametrize(
    ("path", "status"), [("deb_none/ws", 404), ("{}/ws?after=abc", 400), ("{}/ws?after=9999", 409)]
)
async def test_a_handshake_is_refused_with_a_problem(slow: Served, path: str, status: int) -> None:
    debate_id = await slow.open()
    url = f"{slow.url.replace('http', 'ws', 1)}/api/v1/debates/{path.format(debate_id)}"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url):
            pass
    reply = refused.value.response
    assert reply.status_code == status
    assert json.loads(reply.body)["status"] == status


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_a_foreign_page_gets_no_socket(slow: Served, origin: str) -> None:
    debate_id = await slow.open()
    with pytest.raises(InvalidStatus) as refused:
        async with talking(slow, debate_id, additional_headers={"Origin": origin}):
            pass
    assert refused.value.response.status_code == 403


async def test_commands_are_carried_out_and_acknowledged(slow: Served) -> None:
    debate_id = await slow.open()
    await slow.until(debate_id, lambda status: bool(status["speaking"]))
    async with talking(slow, debate_id) as socket:
        paused = await answer(socket, {"type": "PAUSE"})
        assert (paused["event"], paused["data"]["currentStatus"]) == ("ack", "paused")
        remark = {"type": "INJECT_CONTEXT", "data": {"additionalContext": "Think of small firms."}}
        assert (await answer(socket, remark))["data"]["status"] == "queued"
        assert (await answer(socket, {"type": "RESUME"}))["data"]["currentStatus"] != "paused"
        assert (await answer(socket, {"type": "SKIP"}))["event"] == "ack"
        assert (await answer(socket, {"type": "STOP"}))["event"] == "ack"
    assert (await slow.over(debate_id))["stopped"] is True
    assert [remark.text for remark in (await slow.arena.state(debate_id)).remarks] == [
        "Think of small firms."
    ]


async def test_a_skip_names_its_turn_over_the_socket_too(slow: Served) -> None:
    debate_id = await slow.open()
    [speaker] = (await slow.until(debate_id, lambda status: bool(status["speaking"])))["speaking"]
    async with talking(slow, debate_id) as socket:
        skip = {"type": "SKIP", "data": {"turn": speaker["turn"]}}
        assert (await answer(socket, skip))["event"] == "ack"
        await slow.until(debate_id, lambda status: [one["turn"] for one in status["speaking"]] == [2])
        assert (await answer(socket, skip))["event"] == "ack"
        late = await answer(socket, {"type": "SKIP", "data": {"turn": 7}})
        assert (late["event"], late["data"]["code"]) == ("error", "CONFLICT")
        assert (await slow.get(debate_id, "status")).json()["speaking"][0]["turn"] == 2
        await answer(socket, {"type": "PAUSE", "data": {"now": True}})
        silent = await answer(socket, {"type": "SKIP"})
        assert (silent["event"], silent["data"]["code"]) == ("error", "CONFLICT")
    assert (await slow.arena.state(debate_id)).skipped == ()


async def test_a_remark_under_a_key_is_kept_once(slow: Served) -> None:
    debate_id = await slow.open()
    message = {"type": "INJECT_CONTEXT", "data": {"additionalContext": "Once."}, "key": "k1"}
    for _ in range(2):
        async with talking(slow, debate_id) as socket:
            assert (await answer(socket, message))["event"] == "ack"
    assert len((await slow.arena.state(debate_id)).remarks) == 1


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("not json", "MALFORMED"),
        ("[]", "MALFORMED"),
        ("{}", "MALFORMED"),
        ('{"type":"SELF_DESTRUCT"}', "UNKNOWN_TYPE"),
        ('{"type":7}', "VALIDATION"),
        ('{"type":"PAUSE","extra":1}', "VALIDATION"),
        ('{"type":"INJECT_CONTEXT"}', "VALIDATION"),
        ('{"type":"INJECT_CONTEXT","data":{"additionalContext":""}}', "VALIDATION"),
        ('{"type":"INJECT_CONTEXT","data":{"additionalContext":7}}', "VALIDATION"),
        ('{"type":"INJECT_CONTEXT","data":{"additionalContext":"\\u0007bell"}}', "VALIDATION"),
        (json.dumps({"type": "INJECT_CONTEXT", "data": {"additionalContext": "x" * 2001}}), "VALIDATION"),
        ('{"type":"RESUME"}', "CONFLICT"),
    ],
)
async def test_a_bad_message_is_answered_and_the_socket_stays_open(
    slow: Served, message: str, code: str
) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        frame = await answer(socket, message)
        assert (frame["event"], frame["data"]["code"], frame["data"]["type"]) == ("error", code, "validation")
        assert (await answer(socket, {"type": "PAUSE"}))["event"] == "ack"
        if "INJECT" in message:
            assert list(frame["data"]["errors"]) == ["additionalContext"]


async def test_who_goes_on_talking_nonsense_is_let_go(slow: Served) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        for _ in range(5):
            await socket.send("nonsense")
        assert await closing(socket) == 1008


async def test_who_talks_too_fast_is_warned_and_then_let_go(slow: Served) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as other, talking(slow, debate_id) as socket:
        for _ in range(100):
            await socket.send('{"type":"SELF_DESTRUCT"}')
        seen = await everything(socket)
        assert socket.close_code == 1008
        assert any(frame["data"].get("code") == "RATE_LIMIT" for frame in seen)
        assert (await answer(other, {"type": "PAUSE"}))["event"] == "ack"


async def test_commands_count_to_the_limit_of_their_client_like_requests(tmp_path: Path) -> None:
    limited = replace(UNLIMITED, requests_per_minute=20)
    async with (
        serving(tmp_path, limited, provider=ScriptedProvider(pace=0.008)) as house,
        AsyncExitStack() as stack,
    ):
        debate_id = await house.open(maxRounds=2)
        sockets = [await stack.enter_async_context(talking(house, debate_id)) for _ in range(6)]
        reply = await house.get(debate_id, "status")
        left = int(reply.headers["x-ratelimit-remaining"])
        assert left == 20 - 8, "the opening, six handshakes and this one"
        remark = {"type": "INJECT_CONTEXT", "data": {"additionalContext": "Mind the cost."}}
        frames = [await answer(sockets[number % 6], remark) for number in range(30)]
        assert [frame["event"] for frame in frames] == ["ack"] * left + ["error"] * (30 - left)
        refused = frames[-1]["data"]
        assert refused["code"] == "RATE_LIMIT"
        assert 1 <= refused["retryAfter"] <= 60
        assert len((await house.arena.state(debate_id)).remarks) == left
        problem(await house.get(debate_id, "status"), 429, "rate-limit")


async def test_bytes_are_not_words(slow: Served) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        await socket.send(b"{}")
        assert await closing(socket) == 1003


async def test_a_message_that_is_too_long_closes_the_socket(slow: Served) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        await socket.send("x" * (64 * 1024 + 1))
        assert await closing(socket) == 1009


async def test_a_deleted_debate_says_goodbye(slow: Served) -> None:
    debate_id = await slow.open()
    async with talking(slow, debate_id) as socket:
        await socket.recv()
        await slow.http.delete(f"/api/v1/debates/{debate_id}")
        seen = await everything(socket)
    assert (seen[-1]["event"], seen[-1]["data"]["retryable"]) == ("error", False)


async def test_a_server_that_stops_asks_viewers_to_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.05)) as house:
        debate_id = await house.open()
        async with talking(house, debate_id) as socket:
            await socket.recv()
            await house.arena.followers.close()
            assert await closing(socket) == 1012


async def test_sockets_count_as_streams(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, streams_per_client=1)
    async with serving(tmp_path, service, provider=ScriptedProvider(pace=0.05)) as house:
        debate_id = await house.open()
        async with talking(house, debate_id):
            with pytest.raises(InvalidStatus) as refused:
                async with talking(house, debate_id):
                    pass
            assert refused.value.response.status_code == 429
