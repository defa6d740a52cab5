"""Every recording of a real service is replayed over loopback, and what is heard is what was sent.

The recordings are not part of the project. Put them into the folder that `MOOT_RECORDINGS` names, or beside
the repository as `../shared/recordings`: any file found there is replayed.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, Model, Request
from moot.engine.call import CallResult
from moot.providers.client import ProviderClient
from moot.providers.contract import ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from tests.providers.recordings import Recording, expected, folder, found, heard, wire_format

ASK = Request(Model("recorded", "m"), "Answer.", (ChatMessage("user", "Go."),), max_tokens=100)
NOT_OURS = {"content-length", "transfer-encoding", "content-encoding", "connection", "date", "server"}
ABSENT = f"no recordings in {folder()}: put them there, or name their folder in MOOT_RECORDINGS"


def cases() -> list[object]:
    together = [(recording, packets) for recording in found() for packets in ("whole", "in pieces")]
    if not together:
        return [pytest.param(None, "", id="none", marks=pytest.mark.skip(reason=ABSENT))]
    return [pytest.param(*each, id=f"{each[0]['id']} {each[1]}") for each in together]


@pytest.mark.parametrize(("recording", "packets"), cases())
async def test_what_was_sent_is_what_is_heard(recording: Recording, packets: str) -> None:
    ear, fault = await listen(recording, [1 << 20] if packets == "whole" else [*range(1, 97)])
    assert heard(recording, ear, fault) == expected(recording)


async def listen(recording: Recording, sizes: list[int]) -> tuple[CallResult, Fault | None]:
    """What our client makes of it, and how it failed if it did."""
    server = TestServer(replaying(recording, sizes))
    await server.start_server()
    client = ProviderClient(wire_format(recording), str(server.make_url("/v1")), key="sk-replayed")
    ear, fault = CallResult(), None
    try:
        await hear(client, ear)
    except Fault as raised:
        fault = raised
    finally:
        await client.close()
        await server.close()
    return ear, fault


async def hear(client: ProviderClient, ear: CallResult) -> None:
    async with aclosing(client.stream(ASK)) as chunks:
        async for chunk in chunks:
            match chunk:
                case ReplyDelta(text, kind, segment):
                    ear.add_delta(segment, kind, text)
                case ReplySegment(segment):
                    ear.segments[segment.index] = segment
                case ReplyStarted(response_id):
                    ear.response_id = response_id
                case ReplyDone():
                    ear.done = chunk
                case _:
                    pass


def replaying(recording: Recording, sizes: list[int]) -> web.Application:
    told = recording["response"]
    headers = {name: value for name, value in told["headers"].items() if name not in NOT_OURS}
    dice = random.Random(recording["id"])

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=int(told["status"]), headers=headers)
        await response.prepare(request)
        left = told["body"].encode("utf-8", "surrogatepass")
        while left:
            size = dice.choice(sizes)
            await response.write(left[:size])
            await asyncio.sleep(0)
            left = left[size:]
        await response.write_eof()
        return response

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    return app
