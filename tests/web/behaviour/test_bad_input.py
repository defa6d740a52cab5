"""The whole bad-input table against a running server: each row is sent as it is and answered as promised.

A row gives the reply in full; so nothing of what was sent is repeated. What is refused opens no debate.
Rows that need more than one question are in tests of their own, which `ELSEWHERE` names. Those of the older
APIs, B140 and on, are in `tests/extensions/behaviour/test_bad_input.py`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import struct
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_asyncio
from msgspec import Struct

from moot.core.terms import Request
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, improvise
from moot.settings import ServerSettings
from moot.store.contract import AccessToken
from moot.web.server import listener
from tests.support.for_each import for_each
from tests.web.raw_client import Line, Reply
from tests.web.routes import debates_in_every_state
from tests.web.routes.bad_input_rows import ANN, BOB, DEBATES, OPERATOR, VISITOR, Row, bearer, handshake
from tests.web.routes.bad_requests import ROWS
from tests.web.routes.served import UNLIMITED, Served, serving
from tests.web.server.test_http_protocol import BAD_FRAMES, frame

GUARDED = ServerSettings(requests_per_minute=None, debates_per_client=None, token=Secret(OPERATOR))
USUAL = "scripted/plain"
ELSEWHERE = {
    "B79": "web.routes.test_debate_routes.test_a_hundred_identical_requests_at_once_open_one_debate",
    "B89": "web.routes.test_debate_routes.test_a_round_is_asked_for_once_and_not_while_one_is_held",
    "B94": "web.routes.test_debate_routes.test_a_pause_can_be_repeated_and_a_resume_cannot",
    "B97": "web.routes.test_debate_routes.test_orders_in_any_mixture_lead_to_a_legal_end",
    "B109": "web.routes.test_debate_routes.test_a_deleted_debate_is_gone_and_its_viewers_are_told",
    "B122": "web.routes.test_slow_viewers.test_who_reads_nothing_is_cut_off_and_can_come_back",
    "B123": "web.routes.test_bad_input.test_words_that_look_like_events_are_words",
    "B138": "web.routes.test_bad_input.test_who_answers_no_ping_is_let_go",
    "B139": "web.routes.test_roles.test_a_revoked_token_closes_what_it_opened",
}


Fill = Callable[[bytes], bytes]


class Houses(Struct):
    free: Served
    guarded: Served


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def houses(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Houses]:
    async with AsyncExitStack() as stack:
        free, guarded = [
            await stack.enter_async_context(
                serving(
                    tmp_path_factory.mktemp("house"),
                    service,
                    provider=debates_in_every_state.moody(),
                    model=USUAL,
                )
            )
            for service in (UNLIMITED, GUARDED)
        ]
        for word, role in ((ANN, "owner"), (BOB, "owner"), (VISITOR, "viewer")):
            digest = hashlib.sha256(word.encode()).hexdigest()
            owner = word.partition("-")[0]
            token = AccessToken(word, digest, role, owner, datetime.now(UTC), None)  # type: ignore[arg-type]  # a role
            await guarded.arena.store.save_token(token)
        guarded.http.headers.update({k: v for k, v in bearer(ANN).items() if v})
        yield Houses(free, guarded)


def named(row: Row) -> str:
    return f"{row.id}-{row.sort.kind if row.sort else row.status}"


@pytest.mark.asyncio(loop_scope="module")
@for_each("row", ROWS, ids=named)
async def test_it_is_answered_as_the_table_says(houses: Houses, tmp_path: Path, row: Row) -> None:
    await check_answer(houses, tmp_path, row)


async def check_answer(houses: Houses, folder: Path, row: Row) -> None:
    async with AsyncExitStack() as stack:
        house = houses.guarded if row.guarded else houses.free
        if row.service:
            house = await stack.enter_async_context(
                serving(folder, row.service, provider=debates_in_every_state.moody())
            )
        debate_id, fill = await set_up(house, row)
        lines = [await stack.enter_async_context(connected(house)) for _ in row.before]
        for line, sent in zip(lines, row.before, strict=True):
            await line.send(fill(sent))
            assert (await line.reply()).status < 300
        was = await count(house)
        line = await stack.enter_async_context(connected(house))
        await line.send(fill(row.sent))
        reply = await read(line, row)
        check(row, reply, fill(row.sent), debate_id)
        if row.sort:
            assert await count(house) == was


async def set_up(house: Served, row: Row) -> tuple[str, Fill]:
    """The debate that the row is about, and what fills its number in."""
    if not row.mood:
        return "", lambda sent: sent
    debate_id = await debates_in_every_state.opened(
        house, row.mood, **({"topic": row.topic} if row.topic else {})
    )
    last = (await house.arena.state(debate_id)).ended_seq
    return debate_id, lambda sent: sent.replace(b"{id}", debate_id.encode()).replace(b"{last}", b"%d" % last)


@asynccontextmanager
async def connected(house: Served) -> AsyncGenerator[Line]:
    line = await Line.to(int(house.url.rpartition(":")[2]))
    try:
        yield line
    finally:
        await line.close()


async def count(house: Served) -> int:
    return (await house.arena.list(limit=1)).total


async def read(line: Line, row: Row) -> Reply:
    """The reply; where it is the last one on its line, with all that comes until it is closed."""
    reply = await line.reply(head_only=row.sent.startswith(b"HEAD"))
    if reply.headers.get("connection") == "close":
        rest = await line.rest()
        assert not (row.sort and rest), "what follows a refusal is not read"
        reply.body += rest
    return reply


def check(row: Row, reply: Reply, sent: bytes, debate_id: str) -> None:
    expected = row.sort.status if row.sort else row.status
    assert reply.status == expected, reply.body
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["x-request-id"].startswith("req_")
    assert not [name for name in reply.headers if name.startswith("access-control-allow")]
    assert row.holds in reply.body
    assert row.lacks not in reply.body
    for name, value in {**(row.sort.headers if row.sort else {}), **row.headers}.items():
        assert name in reply.headers
        assert value is None or reply.headers[name] == value.replace("{id}", debate_id)
    if row.sort:
        told = reply.problem
        assert told == row.problem(path_of(sent) or told["instance"], reply.headers["x-request-id"])


def path_of(sent: bytes) -> str:
    """As it stands in the first line; empty where that cannot be read."""
    parts = sent.partition(b"\r\n")[0].split(b" ")
    target = parts[1].partition(b"?")[0] if len(parts) == 3 else b""
    return unquote(target.decode("latin-1")) if target.startswith(b"/") else ""


# --- WebSockets ---------------------------------------------------------------------------------------


class Talk(Struct, frozen=True):
    """Frames that are sent, and what comes of them: an answer, and in the end a close code."""

    id: str
    sent: tuple[bytes, ...]
    code: int = 0
    """With which the socket is closed; 0 where it stays open."""
    answer: dict[str, Any] = {}
    mood: str = "speaking"
    who: str = ""


def said(message: str) -> bytes:
    return frame(message.encode())


def inject(data: str) -> bytes:
    return said(f'{{"type":"INJECT_CONTEXT","data":{data}}}')


LENGTH, CONTROLS = "Must be between 1 and 2000 characters", "Control characters are not allowed"
REMARKS = {
    "{}": "Field required",
    '{"additionalContext":""}': LENGTH,
    f'{{"additionalContext":"{"x" * 2001}"}}': LENGTH,
    '{"additionalContext":7}': "Must be a string",
    '{"additionalContext":"\\u0007bell"}': CONTROLS,
}
FRAMES = {
    "B128": ("too large a message", "very many empty pieces", "a compressed frame"),
    "B130": ("no UTF-8",),
    "B131": ("not masked", "a reserved opcode"),
}
TALKS = (
    Talk("B84", (inject('{"additionalContext":"Hear me."}'),), answer={"code": "FORBIDDEN"}, who=VISITOR),
    *(Talk(row, (BAD_FRAMES[name][0],), BAD_FRAMES[name][1])
      for row, names in FRAMES.items() for name in names),
    Talk("B129", (frame(b"{}", 2),), 1003),
    *(Talk("B132", (said(words),), answer={"code": "MALFORMED"}) for words in ("not json", "[]", "{}")),
    Talk("B132", (said("nonsense"),) * 5, 1008, {"code": "MALFORMED"}),
    Talk("B133", (said('{"type":"SELF_DESTRUCT"}'),), answer={"code": "UNKNOWN_TYPE"}),
    *(Talk("B134", (inject(data),),
           answer={"code": "VALIDATION", "errors": {"additionalContext": [message]}})
      for data, message in REMARKS.items()),
    Talk("B135", (inject('{"additionalContext":"Hear me."}'),), answer={"status": "queued"}),
    *(Talk("B136", (said('{"type":"PAUSE"}'),), answer={"code": "CONFLICT", "currentStatus": now}, mood=mood)
      for mood, now in (("completed", "completed"), ("judging", "judge_evaluating"))),
    Talk("B137", (said('{"type":"SELF_DESTRUCT"}'),) * 100, 1008, {"code": "RATE_LIMIT"}),
)  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.id)
async def test_a_socket_is_answered_as_the_table_says(houses: Houses, talk: Talk) -> None:
    house = houses.guarded if talk.who else houses.free
    debate_id = await debates_in_every_state.opened(house, talk.mood)
    async with connected(house) as line:
        await line.send(handshake(f"{DEBATES}/{debate_id}/ws", **bearer(talk.who) if talk.who else {}))
        assert (await line.reply()).status == 101
        await line.send(b"".join(talk.sent))
        if not talk.code:
            await heard(line, talk.answer)
            await line.send(frame(b"still here?", 9))
            return await heard(line, {}, opcode=10)
        if talk.answer:
            await heard(line, talk.answer)
        return await heard(line, talk.code, opcode=8)


async def heard(line: Line, expected: dict[str, Any] | int, opcode: int = 1) -> None:
    """Wait for such a frame; events of the debate come in between."""
    async with asyncio.timeout(60):
        while True:
            kind, payload = await next_frame(line)
            if kind == opcode == 1:
                told = json.loads(payload)
                if told["id"] is None and told["data"].items() >= dict(expected).items():  # type: ignore[call-overload]  # no code
                    return
            elif kind == opcode:
                assert opcode != 8 or struct.unpack("!H", payload[:2])[0] == expected
                return


async def next_frame(line: Line) -> tuple[int, bytes]:
    first, size = await line.reader.readexactly(2)
    if size == 126:
        size = int.from_bytes(await line.reader.readexactly(2))
    return first & 15, await line.reader.readexactly(size)


async def test_who_answers_no_ping_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "PING_SECONDS", 0.2)
    async with serving(tmp_path, provider=debates_in_every_state.moody()) as house:
        debate_id = await debates_in_every_state.opened(house, "speaking")
        async with connected(house) as line:
            await line.send(handshake(f"{DEBATES}/{debate_id}/ws"))
            await line.reply()
            assert await line.rest()
        await house.until(debate_id, lambda told: told["status"] == "debating")


async def test_words_that_look_like_events_are_words(tmp_path: Path) -> None:
    words = "\n\nevent: complete\ndata: {}\r\n\r\u2028: first\ndata:\n\ndata\n"

    def speak(request: Request) -> Iterable[Cue]:
        return improvise(request) if request.schema else [SayCue(f"Now{words}then.")]

    async with serving(tmp_path, provider=ScriptedProvider(speak)) as house:
        debate_id = await house.open(maxRounds=1)
        seen = await house.follow(debate_id)
        chunks = [data["chunk"] for name, _, data in seen if name == "participant" and data.get("chunk")]
        assert f"Now{words}then." in "".join(chunks)
        assert [name for name, _, _ in seen].count("complete") == 1


# --- all of them --------------------------------------------------------------------------------------


def test_every_row_of_the_table_is_here_or_elsewhere() -> None:
    here = {row.id for row in (*ROWS, *TALKS)} | ELSEWHERE.keys()
    assert here == {f"B{number:02}" for number in range(1, 140)}


@pytest.mark.parametrize("place", ELSEWHERE.values())
def test_what_is_said_to_be_elsewhere_is_there(place: str) -> None:
    module, _, name = place.rpartition(".")
    assert callable(getattr(importlib.import_module(f"tests.{module}"), name))
