"""Requests damaged at random, thousands of them: each is answered or hung up on, and nothing breaks.

Good requests are cut, doubled, mixed with one another and have bits turned over. Whatever comes of that, the
reply is ours, never an internal error, and comes soon; and the server serves on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from tests.web.raw_client import Line
from tests.web.routes import debates_in_every_state
from tests.web.routes.bad_input_rows import DEBATES, create, get, handshake, post, request
from tests.web.routes.served import UNLIMITED, serving
from tests.web.server.test_http_protocol import frame

HASTY = replace(UNLIMITED, header_seconds=0.4, body_seconds=0.4)
AT_ONCE = 48
PATIENCE = 60.0
DECLARED = {f"/errors/{kind}" for kind in ("storage", "shutting-down", "provider-unavailable")}


def good(debate_id: str) -> list[bytes]:
    this = f"{DEBATES}/{debate_id}"
    return [
        create(debates_in_every_state.mooted("speaking")),
        create(
            debates_in_every_state.mooted("waiting"),
            Idempotency_Key="once",
            X_Provider_Key_groq="gsk-1234567890",
        ),
        get(f"{DEBATES}?limit=5&offset=0&status=debating"),
        get(f"{this}/status", Authorization="Bearer nobody-needs-this"),
        get(f"{this}/stream?extended=true", Accept="text/event-stream", Last_Event_ID="2.1"),
        get(f"{this}/transcript?format=markdown"),
        get(f"{this}/events?after=1&limit=10", X_Forwarded_For="10.0.0.1"),
        post(f"{this}/rounds", {"action": "next_round"}),
        post(f"{this}/inject", {"text": "Hear, hear. 😀"}, Origin="http://127.0.0.1"),
        post(f"{this}/pause"),
        post(f"{this}/pause", Transfer_Encoding="chunked", Content_Type="application/json")
        + b"2\r\n{}\r\n0\r\n\r\n",
        handshake(f"{this}/ws?after=0") + frame(b'{"type":"PAUSE"}') + frame(b"", 9),
        request(DEBATES, "OPTIONS", Origin="http://127.0.0.1", Access_Control_Request_Method="POST"),
        get("/openapi.json"),
        get("/metrics"),
    ]


# --- damage -------------------------------------------------------------------------------------------


def flipped(dice: Random, sent: bytes, _other: bytes) -> bytes:
    changed = bytearray(sent)
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def cut(dice: Random, sent: bytes, _other: bytes) -> bytes:
    return sent[: dice.randrange(len(sent))]


def gapped(dice: Random, sent: bytes, _other: bytes) -> bytes:
    start, end = span(dice, sent)
    return sent[:start] + sent[end:]


def doubled(dice: Random, sent: bytes, _other: bytes) -> bytes:
    start, end = span(dice, sent)
    return sent[:end] + sent[start:end] * dice.choice((1, 1, 2, 50)) + sent[end:]


def spliced(dice: Random, sent: bytes, other: bytes) -> bytes:
    return sent[: dice.randrange(len(sent))] + other[dice.randrange(len(other)) :]


def stuffed(dice: Random, sent: bytes, _other: bytes) -> bytes:
    place = dice.randrange(len(sent))
    return sent[:place] + dice.randbytes(dice.choice((1, 2, 16, 500))) + sent[place:]


def mixed(dice: Random, sent: bytes, other: bytes) -> bytes:
    """The lines of both, in any order."""
    first, *lines = sent.split(b"\r\n")
    lines += other.split(b"\r\n")[1:]
    dice.shuffle(lines)
    return b"\r\n".join((first, *lines, b"", b""))


def inside(dice: Random, sent: bytes, other: bytes) -> bytes:
    """The body alone, with its length as it then is; or the address, as far as it may be written."""
    head, _, cargo = sent.partition(b"\r\n\r\n")
    harm = dice.choice((flipped, cut, gapped, doubled, spliced, stuffed))
    if cargo:
        cargo = harm(dice, cargo, other.partition(b"\r\n\r\n")[2] or b"{}")
        head = re.sub(rb"(?i)(content-length: )\d+", rb"\g<1>%d" % len(cargo), head)
        return head + b"\r\n\r\n" + cargo
    method, _, rest = sent.partition(b" ")
    target, _, rest = rest.partition(b" ")
    target = quote(harm(dice, target or b"/", other[:80]), safe="/?&=%.:-").encode()
    return b" ".join((method, target, rest))


Damage = Callable[[Random, bytes, bytes], bytes]
DAMAGES: tuple[Damage, ...] = (
    flipped, cut, gapped, doubled, spliced, stuffed, mixed, inside, inside, inside, inside,
)  # fmt: skip


def span(dice: Random, sent: bytes) -> tuple[int, int]:
    start = dice.randrange(len(sent))
    return start, min(len(sent), start + dice.choice((1, 2, 5, 20, 100)))


def damaged(dice: Random, requests: list[bytes]) -> bytes:
    sent = dice.choice(requests)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        sent = dice.choice(DAMAGES)(dice, sent or b"\0", dice.choice(requests))
    return sent


# --- what comes of it ---------------------------------------------------------------------------------


async def outcome(port: int, sent: bytes) -> int:
    """The status of the reply, 0 where the line was closed without one."""
    line = await Line.to(port)
    try:
        await line.send(sent)
        async with asyncio.timeout(PATIENCE):
            head = await line.reader.readuntil(b"\r\n\r\n")
            status, length = int(head.split(b" ", 2)[1]), length_in(head)
            reply = await line.reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            pytest.fail(f"half an answer to {sent!r}")
        return 0
    except ConnectionError:
        return 0
    except TimeoutError:
        pytest.fail(f"no answer to {sent!r}")
    finally:
        await line.close()
    check(sent, status, head, reply)
    return status


def length_in(head: bytes) -> int:
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return int(lengths[0].partition(b":")[2]) if lengths else 0


def check(sent: bytes, status: int, head: bytes, reply: bytes) -> None:
    assert b"\r\nx-request-id: req_" in head.lower() or status == 100, (sent, head)
    if status < 400:
        return
    assert b"\r\ncontent-type: application/problem+json\r\n" in head.lower(), (sent, head)
    told = json.loads(reply)
    assert told["status"] == status
    assert status < 500 or told["type"] in DECLARED, (sent, told)


async def survive(data: Path, caplog: pytest.LogCaptureFixture, mutations: int, seed: int) -> Counter[int]:
    dice, seen, turn = Random(seed), Counter[int](), asyncio.Semaphore(AT_ONCE)

    async def send(port: int, sent: bytes) -> None:
        async with turn:
            seen[await outcome(port, sent)] += 1

    async with serving(data, HASTY, provider=debates_in_every_state.moody()) as house:
        requests = good(await debates_in_every_state.opened(house, "speaking"))
        port = int(house.url.rpartition(":")[2])
        for start in range(0, mutations, 500):
            batch = [damaged(dice, requests) for _ in range(min(500, mutations - start))]
            await asyncio.gather(*(send(port, sent) for sent in batch))
        assert (await house.http.get(DEBATES)).status_code == 200
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    return seen


async def test_two_thousand_damaged_requests_do_no_harm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = await survive(tmp_path, caplog, 2_000, seed=4)
    assert seen.total() == 2_000
    assert {101, 200, 400, 404, 408, 409, 422} <= seen.keys()


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_twenty_thousand_damaged_requests_do_no_harm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await survive(tmp_path, caplog, 20_000, seed=5)).total() == 20_000
