"""Many debates that use one service, which serves only a few calls at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.core.events import CallFailed
from moot.core.state import Debate
from moot.core.terms import FREE, Model
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.wire_formats import openai_chat_request
from moot.rules.runner_timings import RunnerTimings
from tests.engine.conftest import OpenArena

DEBATES = 100
PLACES = 5
MODEL = Model("busy", "m", price=FREE)


class Busy:
    """A service with so many places; whoever comes too many is told so."""

    def __init__(self) -> None:
        self.serving = self.most = self.served = self.refused = 0
        self.connections: set[object] = set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.connections.add(request.transport)
        if self.serving >= PLACES:
            self.refused += 1
            return web.json_response({"error": {"type": "rate_limit_error"}}, status=429)
        self.serving += 1
        self.most = max(self.most, self.serving)
        try:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for word in ("One", " more", " reason."):
                await response.write(_chunk({"content": word}))
                await asyncio.sleep(0.001)
            await response.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
        finally:
            self.serving -= 1
        self.served += 1
        return response


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


@pytest.fixture
async def busy() -> AsyncGenerator[tuple[Busy, ProviderClient]]:
    service = Busy()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", service.answer)
    server = TestServer(app)
    await server.start_server()
    yield service, ProviderClient(openai_chat_request.wire_format(), str(server.make_url("/v1")), key="k")
    await server.close()


async def test_a_hundred_debates_get_through_a_narrow_door(
    open_arena: OpenArena, busy: tuple[Busy, ProviderClient]
) -> None:
    service, client = busy
    pace = RunnerTimings(retry_base=0.02, first_byte=5, between_bytes=5, tick=0.01)
    async with open_arena(busy=client, pace=pace) as arena:
        held = await asyncio.gather(*(_hold(arena) for _ in range(DEBATES)))
    debates = [debate for debate, _ in held]
    assert {debate.status for debate in debates} == {"completed"}
    assert all(turn.state == "completed" for debate in debates for turn in debate.turns)
    assert service.served == 2 * DEBATES
    assert service.most <= PLACES
    # Each refusal is in the log; after the first rush there are few.
    assert sum(failed for _, failed in held) == service.refused < DEBATES
    # Connections are used again across debates.
    assert len(service.connections) < DEBATES


async def _hold(arena: Arena) -> tuple[Debate, int]:
    setup = await arena.setup("One thing is better", model=MODEL, turns=2, judge="none")
    debate_id = (await arena.create(setup)).debate.id
    await arena.start(debate_id)
    failed = sum([isinstance(r.event, CallFailed) async for r in arena.watch(debate_id)])
    return await arena.state(debate_id), failed
