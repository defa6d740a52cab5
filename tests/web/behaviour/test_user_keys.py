"""Provider keys that come with a request: used for one debate, kept in memory, and never shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.providers.endpoints import ENDPOINTS
from moot.settings import ServerSettings
from moot.store.sqlite.store import SqliteStore
from tests.support.responses_service import Replica
from tests.web.routes.served import BODY, Served, serving
from tests.web.routes.test_debate_routes import problem

KEY = "sk-lent-0123456789abcdefghijklmnop"
LENT = {"X-Provider-Key-openai": KEY}


def asking_openai(**config: Any) -> dict[str, Any]:
    shape = deepcopy(BODY)
    for seat in shape["participants"]:
        seat["model"] = {"provider": "openai", "modelId": "gpt-4.1-mini"}
    shape["config"].update(config)
    return shape


@asynccontextmanager
async def house_beside(replica: Replica, data: Path, **more: Any) -> AsyncGenerator[Served]:
    openai = next(endpoint for endpoint in ENDPOINTS if endpoint.name == "openai")
    others = tuple(endpoint for endpoint in ENDPOINTS if endpoint.name != "openai")
    store = SqliteStore.open(data / "moot.db")
    endpoints = (*others, replace(openai, base_url=replica.url))
    async with serving(data, store=store, endpoints=endpoints, **more) as house:
        yield house


async def test_a_debate_is_held_with_the_key_that_came_with_it(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        refused = await house.http.post("/api/v1/debates", json=asking_openai())
        errors = problem(refused, 422, "validation")["errors"]
        assert errors["participants.0.model.provider"] == ["No API key configured for this provider"]
        reply = await house.http.post("/api/v1/debates", json=asking_openai(), headers=LENT)
        assert reply.status_code == 201, reply.text
        debate_id = reply.json()["id"]
        assert (await house.over(debate_id))["status"] == "completed"
        assert len(replica.calls) == 4
        log = (await house.get(debate_id, "events?limit=1000")).text
        call = (await house.get(debate_id, "calls/1")).text
        assert KEY not in log + call + reply.text
    assert not [path for path in tmp_path.iterdir() if path.is_file() and KEY.encode() in path.read_bytes()]


async def test_a_lent_key_does_not_outlive_its_process_and_the_debate_waits_for_it(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica:
        async with house_beside(replica, tmp_path) as house:
            shape = asking_openai(autoProgress=False)
            reply = await house.http.post("/api/v1/debates", json=shape, headers=LENT)
            debate_id = reply.json()["id"]
            await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        async with house_beside(replica, tmp_path, recover=True) as house:
            await house.post(debate_id, "rounds", {"action": "next_round"})
            status = await house.until(debate_id, lambda status: status["status"] == "paused")
            assert status["status"] == "paused"
            log = (await house.get(debate_id, "events?limit=1000")).json()["events"]
            reasons = [e["event"]["reason"] for e in log if e["event"]["type"] == "debate.paused"]
            assert reasons == ["Key needed for openai."]
            assert (await house.post(debate_id, "resume", headers=LENT)).status_code == 200
            await house.until(debate_id, lambda s: any(part["responses"] for part in s["rounds"]))
            await house.post(debate_id, "rounds", {"action": "skip_to_judge"})


async def test_a_key_for_nobody_is_refused_without_being_repeated(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        for name in ("nobody", "scripted", "local"):
            headers = {f"X-Provider-Key-{name}": KEY}
            reply = await house.http.post("/api/v1/debates", json=BODY, headers=headers)
            problem(reply, 422, "validation")
            assert KEY not in reply.text


async def test_the_estimate_of_a_debate_is_a_range(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        reply = await house.http.post("/api/v1/estimate", json=asking_openai(), headers=LENT)
        assert reply.status_code == 200, reply.text
        figures = reply.json()
        assert 0 < figures["low"] < figures["high"]
        assert figures["unpriced"] == ["scripted/j"] or figures["unpriced"] == []
        assert (await house.http.get("/api/v1/debates")).json()["pagination"]["total"] == 0


async def test_a_key_in_use_is_not_taken_away_by_whatever_else_is_asked(tmp_path: Path) -> None:
    """Some clients send the header with everything; others send another key, or at the wrong time."""
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        shape = asking_openai(autoProgress=False)
        debate_id = (await house.http.post("/api/v1/debates", json=shape, headers=LENT)).json()["id"]
        await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        held = house.arena.user_keys.provider(debate_id, "openai")
        wrong = {"X-Provider-Key-anthropic": "sk-ant-of-another-0123456789"}
        for headers in (LENT, wrong, {"X-Provider-Key-openai": "sk-other-0123456789abcdef"}):
            assert (
                await house.post(debate_id, "inject", {"text": "Go on."}, headers=headers)
            ).status_code == 202
            problem(await house.post(debate_id, "resume", headers=headers), 409, "conflict")
        assert house.arena.user_keys.by_debate() == {debate_id: ("openai",)}
        assert house.arena.user_keys.provider(debate_id, "openai") is held
        await house.post(debate_id, "rounds", {"action": "next_round"})
        await house.until(debate_id, lambda s: sum(len(part["responses"]) for part in s["rounds"]) == 2)
        assert {call.status for call in replica.calls} == {200}


async def test_the_operators_key_never_stands_in_for_one_that_was_lent(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica:
        async with house_beside(replica, tmp_path) as house:
            shape = asking_openai(autoProgress=False)
            debate_id = (await house.http.post("/api/v1/debates", json=shape, headers=LENT)).json()["id"]
            await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        environ = {"OPENAI_API_KEY": KEY}
        async with house_beside(replica, tmp_path, recover=True, environ=environ) as house:
            await house.post(debate_id, "rounds", {"action": "next_round"})
            status = await house.until(debate_id, lambda status: status["status"] == "paused")
            assert status["pausedFor"] == "Key needed for openai."
    assert not replica.calls


async def test_keys_of_a_debate_that_was_refused_are_not_kept(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, debates_per_client=1)
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path, service=service) as house:
        shape = asking_openai(autoProgress=False)
        first = await house.http.post("/api/v1/debates", json=shape, headers=LENT)
        for _ in range(3):
            problem(
                await house.http.post("/api/v1/debates", json=shape, headers=LENT), 429, "too-many-debates"
            )
        assert list(house.arena.user_keys.by_debate()) == [first.json()["id"]]
        await house.post(first.json()["id"], "abort")
        async with asyncio.timeout(60):
            while house.arena.user_keys.by_debate():  # noqa: ASYNC110 - there is nothing that could be waited for
                await asyncio.sleep(0.01)
