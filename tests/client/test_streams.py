"""Streams that come back: whatever breaks, one list of events, and each of them once."""

from __future__ import annotations

import random
from contextlib import aclosing

import pytest

from moot.client import ApiError, AsyncClient, Complete, Event, State, StreamTimeouts, Unreachable, Unreadable
from tests.client.canned_server import HANG_UP, STREAM, answer, problem, serve_answers

BRIEF = StreamTimeouts(silence=5, absence=0.3)


def frame(id: str, name: str = "participant") -> bytes:
    logged = '"timestamp":"2024-12-03T05:30:00.000Z","seq":1'
    payloads = {
        "participant": '{"participantId":"p","participantName":"A","roundNumber":1,"chunk":"w","done":false,'
        f'"turn":1,"speech":1,"phase":"opening","attempt":1,{logged}}}',
        "status": f'{{"debateId":"deb_1","state":"debating","currentRound":1,"new":[1],{logged}}}',
        "complete": '{"debateId":"deb_1","totalRounds":1,"finalCost":0.1,"duration":2,"verdict":null,'
        f'"stopped":false,"reason":"completed",{logged}}}',
    }
    return f"event: {name}\nid: {id}\ndata: {payloads[name]}\n\n".encode()


IDS = ["1", "2.1", "2.2", "2", "5", "10.1", "10", "11"]
WHOLE = (
    b"retry: 1\n\n" + frame("1", "status") + b"".join(frame(id) for id in IDS[1:-1]) + frame("11", "complete")
)


async def follow(url: str, **options: object) -> list[Event]:
    async with AsyncClient(url, timeouts=BRIEF) as client:
        return [event async for event in client.stream("deb_1", **options)]  # type: ignore[arg-type]  # given on


async def test_a_whole_stream_is_typed_and_ends_with_complete():
    async with serve_answers(STREAM + WHOLE) as server:
        events = await follow(server.url)
    assert [event.id for event in events] == IDS
    assert isinstance(events[0].data, State)
    assert isinstance(events[-1].data, Complete)
    assert str(events[-1].data.final_cost) == "0.1"
    assert server.requests[0].headers["accept"] == "text/event-stream"


@pytest.mark.parametrize("seed", range(20))
async def test_a_stream_cut_at_random_bytes_gives_the_same_list(seed: int):
    dice = random.Random(seed)
    answers, start = [], 0
    for _ in range(4):
        # What a server sends to one who comes back begins after the last whole event that it had sent.
        rest = WHOLE[start:] if start else WHOLE
        cut = dice.randrange(len(rest) // 2)
        answers.append(STREAM + b"retry: 1\n\n" + rest[:cut])
        start += rest[:cut].rfind(b"\n\n") + 2 if b"\n\n" in rest[:cut] else 0
    answers.append(STREAM + WHOLE[start:])
    async with serve_answers(*answers) as server:
        events = await follow(server.url)
    assert [event.id for event in events] == IDS


async def test_it_goes_on_after_the_last_whole_event():
    first = frame("1", "status") + frame("2.1") + frame("2")[:-1]
    async with serve_answers(STREAM + b"retry: 1\n\n" + first, STREAM + WHOLE) as server:
        events = await follow(server.url)
    assert [event.id for event in events] == IDS
    assert "last-event-id" not in server.requests[0].headers
    assert server.requests[1].headers["last-event-id"] == "2.1"


async def test_what_was_seen_before_is_passed_over():
    async with serve_answers(STREAM + WHOLE) as server:
        events = await follow(server.url, after="2.2")
    assert [event.id for event in events] == IDS[3:]
    assert server.requests[0].headers["last-event-id"] == "2.2"


async def test_204_is_the_end():
    async with serve_answers(answer("204 No Content")) as server:
        assert await follow(server.url, after=11) == []


async def test_it_waits_where_a_server_asks_for_it():
    busy = problem("429 Too Many Requests", b'{"status":429}', Retry_After="0")
    away = problem("503 Service Unavailable", b'{"status":503}', Retry_After="0")
    async with (
        serve_answers(STREAM + b"retry: 1\n\n" + frame("1", "status"), busy, away, STREAM + WHOLE) as server,
        AsyncClient(server.url) as client,
    ):
        events = [event async for event in client.stream("deb_1")]
    assert [event.id for event in events] == IDS
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "1", "1", "1"]


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "not-found"), (401, "unauthorized"), (409, "cursor-ahead")]
)
async def test_it_gives_up_where_a_server_says_no(status: int, kind: str):
    body = f'{{"type":"/errors/{kind}","status":{status},"title":"No","detail":"There is nothing here"}}'
    async with serve_answers(problem(f"{status} No", body.encode())) as server:
        with pytest.raises(ApiError, match="There is nothing here") as raised:
            await follow(server.url)
    assert raised.value.problem.kind == kind


async def test_a_server_that_never_was_there_is_an_error_at_once():
    async with serve_answers() as server:
        pass
    with pytest.raises(Unreachable, match="No Moot server answers at") as raised:
        await follow(server.url)
    assert "moot serve" in raised.value.fix


async def test_one_that_stays_away_is_an_error_in_the_end():
    async with serve_answers(STREAM + b"retry: 1\n\n" + frame("1", "status"), *[HANG_UP] * 500) as server:
        with pytest.raises(Unreachable, match="broke off"):
            await follow(server.url)


async def test_a_page_in_place_of_a_stream_is_no_stream():
    async with serve_answers(answer("200 OK", b"<h1>Welcome</h1>", "text/html")) as server:
        with pytest.raises(Unreadable, match="newer Moot"):
            await follow(server.url)


async def test_what_has_no_place_in_the_log_is_told_too():
    gone = (
        b'event: error\ndata: {"type":"validation","message":"It was deleted.","retryable":false,'
        b'"timestamp":"2024-12-03T05:30:00.000Z"}\n\n'
    )
    nothing = problem("404 Not Found", b'{"status":404,"detail":"There is nothing here"}')
    async with (
        serve_answers(STREAM + b"retry: 1\n\n" + frame("1", "status") + gone, nothing) as server,
        AsyncClient(server.url) as client,
        aclosing(client.stream("deb_1")) as stream,
    ):
        events = [await anext(stream), await anext(stream)]
        with pytest.raises(ApiError, match="There is nothing here"):
            await anext(stream)
    assert [(event.name, event.id) for event in events] == [("status", "1"), ("error", "")]


async def test_what_an_extended_stream_adds_comes_as_it_is():
    added = b'event: reasoning\nid: 1\ndata: {"chunk":"hm"}\n\n'
    async with serve_answers(STREAM + added + WHOLE[WHOLE.index(b"event: participant") :]) as server:
        events = await follow(server.url, extended=True)
    assert events[0] == Event("reasoning", "1", {"chunk": "hm"})
    assert server.requests[0].target == "/api/v1/debates/deb_1/stream?extended=true"


async def test_the_log_has_what_is_hidden_and_what_is_unknown():
    lines = (
        '{"seq":1,"at":"2026-01-02T03:04:05Z","event":{"type":"debate.started"}}',
        '{"seq":2,"at":"2026-01-02T03:04:05Z","event":{"type":"hidden"}}',
        '{"seq":3,"at":"2026-01-02T03:04:05Z","event":{"type":"debate.sung","key":"C minor"}}',
    )
    native = "".join(f"id: {place}\ndata: {line}\n\n" for place, line in enumerate(lines, 1)).encode()
    async with (
        serve_answers(STREAM + native, answer("204 No Content")) as server,
        AsyncClient(server.url) as client,
    ):
        records = [record async for record in client.log("deb_1")]
    assert [(one.seq, one.kind, one.event is None) for one in records] == [
        (1, "debate.started", False),
        (2, "hidden", True),
        (3, "debate.sung", True),
    ]
    assert server.requests[0].target == "/api/v1/debates/deb_1/events/stream"
