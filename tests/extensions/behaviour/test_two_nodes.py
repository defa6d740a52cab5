"""The older APIs on two servers that share a log and a Redis."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from moot.providers.scripted import SayCue, ScriptedProvider, StallCue
from tests.extensions.turn_sessions.test_routes import Heard, Page, settled, sourced
from tests.support.redis import Redis, redis  # noqa: F401 - a fixture
from tests.web.behaviour.test_two_nodes import (
    check_no_key_can_be_lent,
    check_revoked,
    everything,
    nodes,
    patience,
    statuses,
)
from tests.web.routes.served import UNLIMITED, Served

__all__ = ["patience"]


async def test_what_is_revoked_at_one_server_ends_every_stream_at_all_of_them(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = ("/api/debates/{}/stream", "/api/debate/{}/stream")
    await check_revoked(tmp_path, redis, monkeypatch, *streams)


async def test_the_same_topic_is_one_debate_and_the_hour_is_one_hour(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    service = replace(UNLIMITED, variables={"MOOT_QUICK_PER_HOUR": 2, "MOOT_QUICK_CACHE_S": 60})
    async with nodes(tmp_path, redis, service, ScriptedProvider()) as two:

        async def ask(house: Served, topic: str) -> httpx.Response:
            return await house.http.post("/api/debate/create", json={"topic": topic, "maxRounds": 1})

        same = await asyncio.gather(
            *(ask(house, "One and the same topic") for _ in range(3) for house in two)
        )
        assert statuses(same) == {201: 6}
        assert len({reply.json()["debateId"] for reply in same}) == 1
        others = await asyncio.gather(*(ask(house, f"Topic {n}") for n in range(3) for house in two))
        assert statuses(others).keys() == {201, 429}
        refused = [reply for reply in others if reply.status_code == 429]
        assert all(3000 < int(reply.headers["retry-after"]) <= 3600 for reply in refused)
        assert len({r.json()["debateId"] for r in others if r.status_code == 201}) == 1
        assert b"One and the same" not in everything(redis)


async def test_an_opening_turn_that_is_asked_for_again_elsewhere_is_the_same(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    async with nodes(tmp_path, redis) as two:
        shape = Page(two[0], "scripted/a", "scripted/b").body
        asked = [h.http.post("/api/debate/stream/init", json=shape) for _ in range(3) for h in two]
        replies = await asyncio.gather(*asked)
        assert statuses(replies) == {200: 6}
        assert len({reply.json()["sessionId"] for reply in replies}) == 1


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_turn_goes_on_when_its_listener_comes_back_to_another_server(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
    comes_back: bool,
) -> None:
    impatient = replace(UNLIMITED, variables={"MOOT_TURN_GRACE_S": 0.2})
    provider = (
        ScriptedProvider(pace=0.01)
        if comes_back
        else ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    )
    async with nodes(tmp_path, redis, impatient, provider) as (one, other):
        shape = Page(one, "scripted/a", "scripted/b").body
        async with one.http.stream("POST", "/api/debate/stream", json=shape) as asked:
            session = asked.headers["x-session-id"]
            if comes_back:
                heard = await _moved(asked, other, session)
                assert heard.last == "complete", heard.end
        if not comes_back:
            assert (await settled(one, session)).status == "paused"


async def _moved(asked: httpx.Response, other: Served, session: str) -> Heard:
    async with other.http.stream("GET", f"/api/debate/stream/{session}") as joined:
        pieces = joined.aiter_bytes()
        first = await anext(pieces)
        await asked.aclose()
        return Heard(sourced(first + b"".join([piece async for piece in pieces])))


@pytest.mark.parametrize("path", ["/api/debate/create", "/api/debate/stream/init"])
async def test_where_others_run_the_debates_no_key_can_be_lent(tmp_path: Path, path: str) -> None:
    turn = {
        "modelId": "scripted/a",
        "topic": "Should keys be lent?",
        "role": "AFFIRMATIVE",
        "intensity": 3,
        "opponentMessage": None,
        "previousResponseId": None,
        "turnNumber": 1,
    }
    shape = {"topic": turn["topic"]} if path.endswith("create") else turn
    await check_no_key_can_be_lent(tmp_path, path, shape)
